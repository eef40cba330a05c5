#include "sarrus/solvers/ncp_problem.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/block_graph.h"
#include "sarrus/math/cones.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// Room for n, and for some more if it has to grow.
template <class List>
void reserve(List& list, std::size_t n) {
  if (list.capacity() < n) list.reserve(n + n / 8);
}

}  // namespace

void NcpProblem::load_nodes(const ConstraintProblem& problem, std::span<const int> nodes) {
  node_size.clear();
  node_start.clear();
  mass_offset.clear();
  mass.clear();
  mass_inverse.clear();
  padded_size_ = 0;
  std::size_t entries = 0;
  for (const int node : nodes)
    entries += at(BlockGraph::pad(problem.node_size[at(node)]) * problem.node_size[at(node)]);
  for (auto* v : {&mass, &mass_inverse}) reserve(*v, entries);
  for (auto* v : {&node_size, &node_start, &mass_offset}) reserve(*v, nodes.size());
  for (const int node : nodes) {
    const int n = problem.node_size[at(node)];
    const int ld = BlockGraph::pad(n);
    node_size.push_back(n);
    node_start.push_back(padded_size_);
    mass_offset.push_back(static_cast<int>(mass.size()));
    padded_size_ += ld;
    const auto block = mass.size();
    mass.resize(block + at(ld * n), 0.0);
    mass_inverse.resize(block + at(ld * n), 0.0);
    const int from = problem.mass_offset[at(node)];
    for (int c = 0; c < n; ++c) {
      std::copy_n(problem.mass.data() + from + c * n, n, mass.data() + block + at(c * ld));
      std::copy_n(problem.mass_inverse.data() + from + c * n, n, mass_inverse.data() + block + at(c * ld));
    }
  }
  u_free.resize(padded_size_);
  u_free.setZero();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    u_free.segment(node_start[i], node_size[i]) =
        problem.u_free.segment(problem.node_offset[at(nodes[i])], node_size[i]);
  }
}

void NcpProblem::load_block(const ConstraintProblem& problem, const ConstraintBlock& b, std::span<const int> local_node,
                            bool contact) {
  const bool frictionless = b.kind == BlockKind::contact && !contact;
  NcpBlock block;
  block.contact = contact;
  block.rows = frictionless ? 1 : b.rows;
  block.row = rows_;
  block.nodes = b.nodes;
  block.mu = b.mu;
  const int first = b.row + (frictionless ? 2 : 0);
  for (int k = 0; k < b.nodes; ++k) {
    const int node = local_node[at(b.node[k])];
    const int n = node_size[at(node)];
    block.node[k] = node;
    block.column[k] = node_start[at(node)];
    block.width[k] = BlockGraph::pad(n);
    block.jac[k] = static_cast<int>(jacobian.size());
    jacobian.resize(jacobian.size() + at(block.rows * block.width[k]), 0.0);
    for (int r = 0; r < block.rows; ++r) {
      std::copy_n(problem.jacobian.data() + b.jac[k] + (first - b.row + r) * n, n,
                  jacobian.data() + block.jac[k] + r * block.width[k]);
    }
  }
  for (int r = 0; r < block.rows; ++r) source.push_back(first + r);
  rows_ += block.rows;
  blocks.push_back(block);
}

void NcpProblem::scale_rows() {
  for (const NcpBlock& b : blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      for (int r = 0; r < b.rows; ++r) {
        double* J = jacobian.data() + b.jac[k] + r * b.width[k];
        for (int c = 0; c < b.width[k]; ++c) J[c] *= p[b.row + r];
      }
    }
  }
  R = R.cwiseProduct(p).cwiseProduct(p);
  bias = bias.cwiseProduct(p);
  v_free = v_free.cwiseProduct(p);
  lower = lower.cwiseQuotient(p);
  upper = upper.cwiseQuotient(p);
}

void NcpProblem::load(const ConstraintProblem& problem, std::span<const int> block_list, std::span<const int> nodes,
                      std::span<const int> local_node) {
  load_nodes(problem, nodes);
  blocks.clear();
  jacobian.clear();
  source.clear();
  rows_ = 0;
  const auto has_friction = [](const ConstraintBlock& b) { return b.kind == BlockKind::contact && b.mu > 0; };
  std::size_t entries = 0, most_rows = 0;
  for (const int i : block_list) {
    const ConstraintBlock& b = problem.blocks[at(i)];
    const int rows = b.kind == BlockKind::contact && b.mu == 0 ? 1 : b.rows;
    most_rows += at(rows);
    for (int k = 0; k < b.nodes; ++k) entries += at(rows * BlockGraph::pad(problem.node_size[at(b.node[k])]));
  }
  reserve(blocks, block_list.size());
  reserve(jacobian, entries);
  reserve(source, most_rows);
  for (const int i : block_list) {
    if (!has_friction(problem.blocks[at(i)])) load_block(problem, problem.blocks[at(i)], local_node, false);
  }
  scalar_blocks = static_cast<int>(blocks.size());
  scalar_rows = rows_;
  for (const int i : block_list) {
    if (has_friction(problem.blocks[at(i)])) load_block(problem, problem.blocks[at(i)], local_node, true);
  }
  for (GrowingVector* v : {&p, &R, &bias, &v_free, &lower, &upper, &least_size}) v->resize(rows_);
  for (int i = 0; i < rows_; ++i) {
    const std::size_t s = at(source[at(i)]);
    p[i] = problem.scale[source[at(i)]];
    R[i] = problem.R[s];
    bias[i] = problem.bias[s];
    v_free[i] = problem.v_free[source[at(i)]];
    lower[i] = problem.lower[s];
    upper[i] = problem.upper[s];
    least_size[i] = problem.least_size[source[at(i)]];
  }
  // Limits and frictionless contacts; contact rows keep infinite bounds, which nobody reads.
  int scalar = 0;
  for (const int i : block_list) {
    const ConstraintBlock& b = problem.blocks[at(i)];
    if (has_friction(b)) continue;
    const NcpBlock& mine = blocks[at(scalar++)];
    if (b.kind != BlockKind::limit && b.kind != BlockKind::contact) continue;
    for (int r = 0; r < mine.rows; ++r) {
      lower[mine.row + r] = 0;
      upper[mine.row + r] = kInf;
    }
  }
  scale_rows();
  bounded_rows = 0;
  for (int i = 0; i < scalar_rows; ++i) bounded_rows += std::isfinite(lower[i]) || std::isfinite(upper[i]) ? 1 : 0;
}

namespace {

// Sum over the nodes of row r of the Jacobian times the velocities. One horizontal sum for all nodes.
template <int WIDTH>
double row_times(const NcpBlock& b, const double* jacobian, const double* u, int r) {
  if constexpr (WIDTH > 0) {
    using Row = Eigen::Map<const Eigen::Array<double, WIDTH, 1>>;
    if (b.nodes == 1) return (Row(jacobian + b.jac[0] + r * WIDTH) * Row(u + b.column[0])).sum();
    return (Row(jacobian + b.jac[0] + r * WIDTH) * Row(u + b.column[0]) +
            Row(jacobian + b.jac[1] + r * WIDTH) * Row(u + b.column[1]))
        .sum();
  }
  double lane[4] = {};
  for (int k = 0; k < b.nodes; ++k) {
    const int width = b.width[k];
    const double* J = jacobian + b.jac[k] + r * width;
    const double* x = u + b.column[k];
    for (int c = 0; c < width; c += 4) {
      for (int i = 0; i < 4; ++i) lane[i] += J[c + i] * x[c + i];
    }
  }
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// y += X' x.
template <int WIDTH>
void add_rows_transposed_times(double* __restrict y, const double* __restrict X, const double* __restrict x, int rows,
                               int width_size) {
  if constexpr (WIDTH > 0) {
    using Row = Eigen::Array<double, WIDTH, 1>;
    Row acc = Eigen::Map<const Row>(y);
    for (int r = 0; r < rows; ++r) acc += Eigen::Map<const Row>(X + r * WIDTH) * x[r];
    Eigen::Map<Row>(y, WIDTH) = acc;
  } else {
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < width_size; ++c) y[c] += X[r * width_size + c] * x[r];
    }
  }
}

template <int LD, int N>
void multiply_fixed(double* __restrict y, const double* __restrict T, const double* __restrict x) {
  using Column = Eigen::Array<double, LD, 1>;
  Column acc = Column::Zero();
  for (int k = 0; k < N; ++k) acc += Eigen::Map<const Column>(T + k * LD) * x[k];
  Eigen::Map<Column>(y, LD) = acc;
}

}  // namespace

void NcpProblem::multiply_J(const double* u, double* out) const {
  for (const NcpBlock& b : blocks) {
    const bool eight = b.width[0] == 8 && (b.nodes == 1 || (b.nodes == 2 && b.width[1] == 8));
    for (int r = 0; r < b.rows; ++r) {
      out[b.row + r] = eight ? row_times<8>(b, jacobian.data(), u, r) : row_times<0>(b, jacobian.data(), u, r);
    }
  }
}

void NcpProblem::multiply_Jt(const double* lambda, double* out) const {
  std::fill(out, out + padded_size_, 0.0);
  for (const NcpBlock& b : blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      const double* J = jacobian.data() + b.jac[k];
      if (b.width[k] == 8) {
        add_rows_transposed_times<8>(out + b.column[k], J, lambda + b.row, b.rows, 8);
      } else {
        add_rows_transposed_times<0>(out + b.column[k], J, lambda + b.row, b.rows, b.width[k]);
      }
    }
  }
}

void NcpProblem::multiply_A(const GrowingVector& u, GrowingVector& out) const {
  for (std::size_t i = 0; i < node_size.size(); ++i) {
    const int n = node_size[i];
    const int ld = BlockGraph::pad(n);
    const Eigen::Map<const MatX, 0, Eigen::OuterStride<>> A(mass.data() + mass_offset[i], n, n,
                                                            Eigen::OuterStride<>(ld));
    out.segment(node_start[i], ld).setZero();
    out.segment(node_start[i], n).noalias() = A * u.segment(node_start[i], n);
  }
}

void NcpProblem::multiply_A_inverse(const double* f, double* out) const {
  for (std::size_t i = 0; i < node_size.size(); ++i) {
    const int n = node_size[i];
    const int o = node_start[i];
    const double* W = mass_inverse.data() + mass_offset[i];
    if (n == 6) {
      multiply_fixed<8, 6>(out + o, W, f + o);
      continue;
    }
    const int ld = BlockGraph::pad(n);
    std::fill(out + o, out + o + ld, 0.0);
    for (int c = 0; c < n; ++c) {
      for (int r = 0; r < ld; ++r) out[o + r] += W[c * ld + r] * f[o + c];
    }
  }
}

double NcpProblem::size(const double* impulse, const double* du) const {
  double largest = 0;
  for (std::size_t i = 0; i < node_size.size(); ++i) {
    double energy = 0;
    for (int k = node_start[i]; k < node_start[i] + node_size[i]; ++k) energy += impulse[k] * du[k];
    largest = std::max(largest, energy);
  }
  return std::sqrt(largest);
}

double NcpProblem::evaluate(const GrowingVector& lambda, GrowingVector& u, GrowingVector& sigma,
                            GrowingVector& scratch) const {
  multiply_Jt(lambda.data(), scratch.data());
  multiply_A_inverse(scratch.data(), u.data());
  const double S = size(scratch.data(), u.data());
  u += u_free;
  multiply_J(u.data(), sigma.data());
  sigma += bias + R.cwiseProduct(lambda);
  return S;
}

double NcpProblem::error(const GrowingVector& lambda, const GrowingVector& sigma, double size) const {
  double worst = 0;
  bool finite = true;
  const auto raise = [&](double value) {
    worst = std::max(worst, value);
    finite = finite && value <= std::numeric_limits<double>::max();  // NaN is not
  };
  for (int i = 0; i < scalar_rows; ++i) {
    const double l = lambda[i], v = sigma[i], q = p[i];
    if (criterion == Criterion::energy) {
      raise(natural_map(l, v, lower[i], upper[i]) / std::max(size, least_size[i]));
    } else if (criterion == Criterion::absolute) {
      raise(natural_map(l * q, v / q, lower[i] * q, upper[i] * q));
    } else {
      raise(violation(l * q, v / q, lower[i] * q, upper[i] * q).largest());
    }
  }
  for (std::size_t i = at(scalar_blocks); i < blocks.size(); ++i) {
    const NcpBlock& b = blocks[i];
    const Vec3 l = lambda.segment<3>(b.row);
    const Vec3 v = sigma.segment<3>(b.row);
    const double q = p[b.row];
    if (criterion == Criterion::energy) {
      raise(natural_map(l, v, b.mu, law) / std::max(size, least_size[b.row]));
    } else if (criterion == Criterion::absolute) {
      raise(natural_map(l * q, v / q, b.mu, law));
    } else {
      raise(violation(l * q, v / q, b.mu).largest());
    }
  }
  return finite ? worst : kInf;
}

void NcpProblem::project(GrowingVector& lambda) const {
  for (int i = 0; i < scalar_rows; ++i) lambda[i] = std::clamp(lambda[i], lower[i], upper[i]);
  for (std::size_t i = at(scalar_blocks); i < blocks.size(); ++i) {
    const NcpBlock& b = blocks[i];
    lambda.segment<3>(b.row) = project_cone(lambda.segment<3>(b.row), b.mu);
  }
}

void NcpProblem::gather(std::span<const double> whole, GrowingVector& lambda) const {
  for (int i = 0; i < rows_; ++i) lambda[i] = whole[at(source[at(i)])] / p[i];
}

void NcpProblem::scatter(const GrowingVector& lambda, std::span<double> whole) const {
  for (int i = 0; i < rows_; ++i) whole[at(source[at(i)])] = lambda[i] * p[i];
}

}  // namespace sarrus
