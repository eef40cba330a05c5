#include "sarrus/solvers/ncp_problem.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/block_graph.h"
#include "sarrus/math/cones.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {}  // namespace

void NcpProblem::load_nodes(const ConstraintProblem& problem, std::span<const int> nodes) {
  node_size.clear();
  node_start.clear();
  mass_offset.clear();
  mass.clear();
  mass_inverse.clear();
  padded_size_ = 0;
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
  double total_mass = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int n = node_size[i];
    u_free.segment(node_start[i], n) = problem.u_free.segment(problem.node_offset[at(nodes[i])], n);
    double largest = 0;
    for (int k = 0; k < n; ++k) largest = std::max(largest, mass[at(mass_offset[i] + k * (BlockGraph::pad(n) + 1))]);
    total_mass += largest;
  }
  plausible_impulse_ = padded_size_ == 0 ? 0.0 : total_mass * u_free.cwiseAbs().maxCoeff();
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

// D_ii + R_ii of a row, unscaled.
double NcpProblem::diagonal(const NcpBlock& b, int r) const {
  double d = R[b.row + r];
  for (int k = 0; k < b.nodes; ++k) {
    const int n = node_size[at(b.node[k])];
    const int ld = b.width[k];
    const double* J = jacobian.data() + b.jac[k] + r * ld;
    const double* W = mass_inverse.data() + mass_offset[at(b.node[k])];
    for (int c = 0; c < n; ++c) {
      double s = 0;
      for (int i = 0; i < ld; ++i) s += W[c * ld + i] * J[i];
      d += s * J[c];
    }
  }
  return d;
}

void NcpProblem::scale_rows() {
  for (const NcpBlock& b : blocks) {
    double d[kMaxBlockRows];
    for (int r = 0; r < b.rows; ++r) d[r] = diagonal(b, r);
    if (b.contact) d[0] = d[1] = d[2] = (d[0] + d[1] + d[2]) / 3.0;
    for (int r = 0; r < b.rows; ++r) {
      const double scale = 1.0 / std::sqrt(std::max(d[r], 1e-300));
      p[b.row + r] = scale;
      for (int k = 0; k < b.nodes; ++k) {
        double* J = jacobian.data() + b.jac[k] + r * b.width[k];
        for (int c = 0; c < b.width[k]; ++c) J[c] *= scale;
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
  physical_ = problem.physical;
  load_nodes(problem, nodes);
  blocks.clear();
  jacobian.clear();
  source.clear();
  rows_ = 0;
  const auto has_friction = [](const ConstraintBlock& b) { return b.kind == BlockKind::contact && b.mu > 0; };
  for (const int i : block_list) {
    if (!has_friction(problem.blocks[at(i)])) load_block(problem, problem.blocks[at(i)], local_node, false);
  }
  scalar_blocks = static_cast<int>(blocks.size());
  scalar_rows = rows_;
  for (const int i : block_list) {
    if (has_friction(problem.blocks[at(i)])) load_block(problem, problem.blocks[at(i)], local_node, true);
  }
  for (GrowingVector* v : {&p, &R, &bias, &v_free, &lower, &upper}) v->resize(rows_);
  largest_v_free_ = 0;
  for (int i = 0; i < rows_; ++i) {
    const std::size_t s = at(source[at(i)]);
    R[i] = problem.R[s];
    bias[i] = problem.bias[s];
    v_free[i] = problem.v_free[static_cast<Eigen::Index>(s)];
    lower[i] = problem.lower[s];
    upper[i] = problem.upper[s];
    largest_v_free_ = std::max(largest_v_free_, std::abs(v_free[i]));
  }
  for (const int i : block_list) {
    const ConstraintBlock& b = problem.blocks[at(i)];
    if (b.kind == BlockKind::soft || b.kind == BlockKind::joint) continue;
    if (b.kind == BlockKind::contact) {  // tangential rows that were left out count in S, too
      for (int r = 0; r < 3; ++r) largest_v_free_ = std::max(largest_v_free_, std::abs(problem.v_free[b.row + r]));
    }
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

void NcpProblem::evaluate(const GrowingVector& lambda, GrowingVector& u, GrowingVector& sigma,
                          GrowingVector& scratch) const {
  multiply_Jt(lambda.data(), scratch.data());
  multiply_A_inverse(scratch.data(), u.data());
  u += u_free;
  multiply_J(u.data(), sigma.data());
  sigma += bias + R.cwiseProduct(lambda);
}

NcpResidual NcpProblem::residual(const GrowingVector& lambda, const GrowingVector& sigma) const {
  NcpResidual out;
  double size = 0;
  for (int i = 0; i < scalar_rows; ++i) {
    const double l = lambda[i] * p[i];
    const double v = sigma[i] / p[i];
    const double natural = std::abs(l - std::clamp(l - v, lower[i] * p[i], upper[i] * p[i]));
    // A row without bounds is judged by its velocity; l - (l - v) would lose digits.
    const double joint = std::abs(v);
    const bool free = lower[i] == -kInf && upper[i] == kInf;
    out.natural = std::max(out.natural, free ? joint : natural);
    size = std::max(size, std::abs(l));
    if (!(natural <= kInf)) out.natural = kInf;  // NaN
  }
  for (std::size_t i = at(scalar_blocks); i < blocks.size(); ++i) {
    const NcpBlock& b = blocks[i];
    const double scale = p[b.row];
    const Vec3 l = scale * lambda.segment<3>(b.row);
    Vec3 v = sigma.segment<3>(b.row) / scale;
    if (law == Law::ncp) v[2] += de_saxce(v, b.mu);
    const double natural = (l - project_cone(l - v, b.mu)).cwiseAbs().maxCoeff();
    if (!(natural <= kInf)) out.natural = kInf;
    out.natural = std::max(out.natural, natural);
    size = std::max(size, l.cwiseAbs().maxCoeff());
  }
  out.scale = physical_ ? std::max({1.0, largest_v_free_, std::min(size, plausible_impulse_)})
                        : std::max({1e-300, largest_v_free_, size});
  return out;
}

double NcpProblem::raw_size(const GrowingVector& lambda) const {
  double size = largest_v_free_;
  for (int i = 0; i < rows_; ++i) size = std::max(size, std::abs(p[i] * lambda[i]));
  return size;
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
