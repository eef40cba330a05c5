#include "sarrus/problem/constraint_problem.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "sarrus/math/six.h"
#include "sarrus/math/tools.h"
#include "sarrus/math/workers.h"

namespace sarrus {
namespace {

constexpr int kLeastBlocks = 128;  // or nodes: some 5 us, what it takes to share a loop

// x' A x of one node.
inline double quadratic(const double* A, const double* x, int n) {
  if (n == 6) return quadratic_six(A, 6, x);
  double sum = 0;
  for (int c = 0; c < n; ++c) {
    for (int i = 0; i < n; ++i) sum += x[c] * A[c * n + i] * x[i];
  }
  return sum;
}

}  // namespace

int Islands::root(int node) {
  while (parent_[at(node)] != node) {
    parent_[at(node)] = parent_[at(parent_[at(node)])];
    node = parent_[at(node)];
  }
  return node;
}

void Islands::find(int node_count, std::span<const ConstraintBlock> all) {
  parent_.resize(at(node_count));
  std::iota(parent_.begin(), parent_.end(), 0);
  island_.assign(at(node_count), -1);
  local_node_.assign(at(node_count), -1);
  for (const ConstraintBlock& b : all) {
    for (int k = 0; k < b.nodes; ++k) {
      island_[at(b.node[k])] = 0;  // touched
      if (k == 0) continue;
      const int x = root(b.node[0]);
      const int y = root(b.node[k]);
      parent_[at(std::max(x, y))] = std::min(x, y);
    }
  }
  // Roots come before the other nodes of their islands.
  count_ = 0;
  for (int i = 0; i < node_count; ++i) {
    if (island_[at(i)] < 0) continue;
    const int r = root(i);
    island_[at(i)] = r == i ? count_++ : island_[at(r)];
  }
  node_begin_.assign(at(count_ + 1), 0);
  block_begin_.assign(at(count_ + 1), 0);
  for (const int island : island_) {
    if (island >= 0) ++node_begin_[at(island + 1)];
  }
  for (const ConstraintBlock& b : all) {
    if (b.nodes > 0) ++block_begin_[at(of(b) + 1)];
  }
  std::partial_sum(node_begin_.begin(), node_begin_.end(), node_begin_.begin());
  std::partial_sum(block_begin_.begin(), block_begin_.end(), block_begin_.begin());
  nodes_.resize(at(node_begin_.back()));
  blocks_.resize(at(block_begin_.back()));
  // Filling from the back moves the ends to the begins.
  for (int i = node_count - 1; i >= 0; --i) {
    if (of_node(i) >= 0) nodes_[at(--node_begin_[at(of_node(i) + 1)])] = i;
  }
  for (int i = static_cast<int>(all.size()) - 1; i >= 0; --i) {
    if (all[at(i)].nodes > 0) blocks_[at(--block_begin_[at(of(all[at(i)]) + 1)])] = i;
  }
  for (auto* begins : {&node_begin_, &block_begin_}) {
    std::rotate(begins->begin(), begins->begin() + 1, begins->end());
  }
  node_begin_.back() = static_cast<int>(nodes_.size());
  block_begin_.back() = static_cast<int>(blocks_.size());
  for (int island = 0; island < count_; ++island) {
    int place = 0;
    for (const int node : nodes(island)) local_node_[at(node)] = place++;
  }
}

void ConstraintProblem::set_nodes(std::span<const int> sizes) {
  node_size.assign(sizes.begin(), sizes.end());
  node_offset.resize(sizes.size());
  mass_offset.resize(sizes.size());
  int velocity = 0;
  int block = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    node_offset[i] = velocity;
    mass_offset[i] = block;
    velocity += sizes[i];
    block += sizes[i] * sizes[i];
  }
  velocity_size_ = velocity;
  all_six_ = std::all_of(sizes.begin(), sizes.end(), [](int n) { return n == 6; });
  mass.assign(static_cast<std::size_t>(block), 0.0);
  mass_inverse.assign(static_cast<std::size_t>(block), 0.0);
  u_free.setZero(velocity);
}

void ConstraintProblem::keep_blocks(int count) {
  for (std::size_t i = blocks.size(); i-- > at(count);) {
    const ConstraintBlock& b = blocks[i];
    kind_rows_[static_cast<std::size_t>(b.kind)] -= b.rows;
    rows_ = b.row;
    if (b.nodes > 0) entries_ = b.jac[0];
  }
  blocks.resize(std::min(blocks.size(), at(count)));
  make_room(0, 0);
  measured_blocks_ = 0;
}

void ConstraintProblem::make_room(int rows, int entries) {
  jacobian.resize(at(entries_ + entries), 0.0);
  const std::size_t n = at(rows_ + rows);
  R.resize(n, 0.0);
  bias.resize(n, 0.0);
  lower.resize(n, -kInf);
  upper.resize(n, kInf);
}

ConstraintBlock& ConstraintProblem::add_block(BlockKind kind, int rows, std::span<const int> nodes) {
  assert(blocks.empty() || blocks.back().kind <= kind);
  ConstraintBlock& b = blocks.emplace_back();
  b.kind = kind;
  b.rows = static_cast<std::int16_t>(rows);
  b.nodes = static_cast<std::int16_t>(nodes.size());
  b.row = rows_;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    b.node[k] = nodes[k];
    b.jac[k] = entries_;
    entries_ += rows * node_size[at(nodes[k])];
  }
  rows_ += rows;
  kind_rows_[static_cast<std::size_t>(kind)] += rows;
  if (jacobian.size() < at(entries_) || R.size() < at(rows_)) make_room(0, 0);
  return b;
}

void ConstraintProblem::measure_rows() {
  diagonal.resize(rows_);  // keeps what is there
  const std::span<const ConstraintBlock> all(blocks);
  diagonal_D_plus_R(all.subspan(at(measured_blocks_)), diagonal);
  measured_blocks_ = static_cast<int>(blocks.size());
}

void ConstraintProblem::finish() {
  v_free.resize(rows_);
  multiply_J(u_free, v_free);
  for (int i = 0; i < rows_; ++i) v_free[i] += bias[at(i)];
  measure_rows();
  measured_blocks_ = 0;  // whoever changes rows and finishes them again has them measured again
  islands.find(node_count(), blocks);
  scale_rows();
  size_rows();
}

void ConstraintProblem::scale_rows() {
  scale.resize(rows_);
  Workers::here().ranges(static_cast<int>(blocks.size()), kLeastBlocks, [&](int begin, int end) {
    const int first = blocks[at(begin)].row;
    const int rows = blocks[at(end - 1)].row + blocks[at(end - 1)].rows - first;
    auto part = scale.segment(first, rows);
    part = diagonal.segment(first, rows);
    for (int i = end; i-- > begin && blocks[at(i)].kind == BlockKind::contact;) {
      const ConstraintBlock& b = blocks[at(i)];
      scale.segment<3>(b.row).setConstant(b.mu > 0 ? diagonal.segment<3>(b.row).sum() / 3.0 : diagonal[b.row + 2]);
    }
    part = part.cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  });
}

void ConstraintProblem::size_rows() {
  constexpr double kSpeed = 1;  // m/s, rad/s
  constexpr double kMostEnergy = 1000;
  least_size.resize(rows_);
  least_size = scale.cwiseProduct(v_free).cwiseAbs();
  if (physical) least_size = least_size.cwiseMax(kSpeed * scale);
  Workers::here().each(islands.count(), [&](int island, int) {
    double largest = 1e-300;
    double energy = 0;
    for (const int i : islands.blocks(island)) {
      const ConstraintBlock& b = blocks[at(i)];
      double* sizes = least_size.data() + b.row;
      if (b.kind == BlockKind::contact) {
        sizes[0] = sizes[1] = sizes[2] = std::max({sizes[0], sizes[1], sizes[2]});
      }
      for (int r = 0; r < b.rows; ++r) largest = std::max(largest, sizes[r]);
    }
    for (const int k : islands.nodes(island)) {
      const double* u = u_free.data() + node_offset[at(k)];
      energy = std::max(energy, quadratic(mass.data() + mass_offset[at(k)], u, node_size[at(k)]));
    }
    energy = std::sqrt(energy);
    for (const int i : islands.blocks(island)) {
      const ConstraintBlock& b = blocks[at(i)];
      double* sizes = least_size.data() + b.row;
      for (int r = 0; r < b.rows; ++r) {
        sizes[r] = physical ? std::max(sizes[r], std::min(kMostEnergy * sizes[r], energy)) : largest;
      }
    }
  });
}

namespace {

// Of a block all of whose nodes have six components, where node k starts at 6 k: nearly all there are.
inline void multiply_J_six(const ConstraintBlock& b, const double* jacobian, const double* u, double* out) {
  const double* J[kMaxBlockNodes];
  Six x[kMaxBlockNodes];
  for (int k = 0; k < b.nodes; ++k) {
    J[k] = jacobian + b.jac[k];
    x[k] = Six::load(u + 6 * b.node[k]);
  }
  multiply_rows_six(b.nodes, b.rows, J, x, out);
}

inline void add_Jt_six(const ConstraintBlock& b, const double* jacobian, const double* lambda, double* out) {
  for (int k = 0; k < b.nodes; ++k) {
    const double* J = jacobian + b.jac[k];
    double* w = out + 6 * b.node[k];
    Six sum = Six::load(w);
    for (int r = 0; r < b.rows; ++r) sum.add(Spread(lambda + r), J + 6 * r);
    sum.store(w);
  }
}

}  // namespace

void ConstraintProblem::multiply_J(const ConstraintBlock& b, const double* u, double* out) const {
  if (all_six_ && b.nodes > 0) {
    multiply_J_six(b, jacobian.data(), u, out);
  } else {
    multiply_J_any(b, u, out);
  }
}

void ConstraintProblem::add_Jt(const ConstraintBlock& b, const double* lambda, double* out) const {
  if (all_six_) {
    add_Jt_six(b, jacobian.data(), lambda, out);
  } else {
    add_Jt_any(b, lambda, out);
  }
}

void ConstraintProblem::multiply_J_any(const ConstraintBlock& b, const double* u, double* out) const {
  for (int r = 0; r < b.rows; ++r) out[r] = 0;
  for (int k = 0; k < b.nodes; ++k) {
    const int n = node_size[at(b.node[k])];
    const double* J = jacobian.data() + b.jac[k];
    const double* uk = u + node_offset[at(b.node[k])];
    for (int r = 0; r < b.rows; ++r) {
      double s = 0;
      for (int c = 0; c < n; ++c) s += J[r * n + c] * uk[c];
      out[r] += s;
    }
  }
}

void ConstraintProblem::add_Jt_any(const ConstraintBlock& b, const double* lambda, double* out) const {
  for (int k = 0; k < b.nodes; ++k) {
    const int n = node_size[at(b.node[k])];
    const double* J = jacobian.data() + b.jac[k];
    double* w = out + node_offset[at(b.node[k])];
    for (int r = 0; r < b.rows; ++r) {
      for (int c = 0; c < n; ++c) w[c] += lambda[r] * J[r * n + c];
    }
  }
}

void ConstraintProblem::multiply_J(std::span<const ConstraintBlock> of, const VecX& u, Eigen::Ref<VecX> out) const {
  Workers::here().ranges(static_cast<int>(of.size()), kLeastBlocks, [&](int begin, int end) {
    for (const ConstraintBlock& b : of.subspan(at(begin), at(end - begin))) {
      if (all_six_) {
        multiply_J_six(b, jacobian.data(), u.data(), out.data() + b.row);
      } else {
        multiply_J_any(b, u.data(), out.data() + b.row);
      }
    }
  });
}

void ConstraintProblem::multiply_Jt(std::span<const ConstraintBlock> of, std::span<const double> lambda,
                                    VecX& out) const {
  out.setZero();
  if (!all_six_) {
    for (const ConstraintBlock& b : of) add_Jt(b, lambda.data() + b.row, out.data());
    return;
  }
  for (const ConstraintBlock& b : of) add_Jt_six(b, jacobian.data(), lambda.data() + b.row, out.data());
}

void ConstraintProblem::multiply_J(std::span<const int> of, const VecX& u, Eigen::Ref<VecX> out) const {
  for (const int i : of) {
    const ConstraintBlock& b = blocks[at(i)];
    if (all_six_) {
      multiply_J_six(b, jacobian.data(), u.data(), out.data() + b.row);
    } else {
      multiply_J_any(b, u.data(), out.data() + b.row);
    }
  }
}

void ConstraintProblem::add_Jt(std::span<const int> of, std::span<const double> lambda, VecX& out) const {
  for (const int i : of) {
    const ConstraintBlock& b = blocks[at(i)];
    if (all_six_) {
      add_Jt_six(b, jacobian.data(), lambda.data() + b.row, out.data());
    } else {
      add_Jt_any(b, lambda.data() + b.row, out.data());
    }
  }
}

namespace {

void multiply_block(const ConstraintProblem& p, std::size_t node, const std::vector<double>& blocks, const VecX& in,
                    VecX& out) {
  const int n = p.node_size[node];
  const double* B = blocks.data() + p.mass_offset[node];
  const int o = p.node_offset[node];
  if (n == 6) {
    times_six(B, 6, in.data() + o).store(out.data() + o);
  } else {
    out.segment(o, n).noalias() = Eigen::Map<const MatX>(B, n, n) * in.segment(o, n);
  }
}

}  // namespace

void ConstraintProblem::multiply_M(const VecX& u, VecX& out) const {
  Workers::here().ranges(node_count(), kLeastBlocks, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) multiply_block(*this, at(i), mass, u, out);
  });
}
void ConstraintProblem::multiply_M_inverse(const VecX& f, VecX& out) const {
  Workers::here().ranges(node_count(), kLeastBlocks, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) multiply_block(*this, at(i), mass_inverse, f, out);
  });
}
void ConstraintProblem::multiply_M_inverse(std::span<const int> of, const VecX& f, VecX& out) const {
  for (const int i : of) multiply_block(*this, at(i), mass_inverse, f, out);
}

void ConstraintProblem::diagonal_D_plus_R(std::span<const ConstraintBlock> of, Eigen::Ref<VecX> out) const {
  Workers::here().ranges(static_cast<int>(of.size()), kLeastBlocks, [&](int begin, int end) {
    for (const ConstraintBlock& b : of.subspan(at(begin), at(end - begin))) measure_block(b, out.data() + b.row);
  });
}

void ConstraintProblem::measure_block(const ConstraintBlock& b, double* d) const {
  std::copy_n(R.data() + b.row, b.rows, d);
  for (int k = 0; k < b.nodes; ++k) {
    const int n = node_size[at(b.node[k])];
    const double* W = mass_inverse.data() + mass_offset[at(b.node[k])];
    const double* J = jacobian.data() + b.jac[k];
    if (n == 6) {
      add_quadratics_six(W, b.rows, J, d);
    } else {
      for (int r = 0; r < b.rows; ++r) d[r] += quadratic(W, J + r * n, n);
    }
  }
}

MatX ConstraintProblem::dense_J() const {
  MatX J = MatX::Zero(rows_, velocity_size_);
  for (const ConstraintBlock& b : blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      const auto node = static_cast<std::size_t>(b.node[k]);
      const int n = node_size[node];
      for (int r = 0; r < b.rows; ++r) {
        for (int c = 0; c < n; ++c) {
          J(b.row + r, node_offset[node] + c) += jacobian[static_cast<std::size_t>(b.jac[k] + r * n + c)];
        }
      }
    }
  }
  return J;
}

MatX ConstraintProblem::dense_D_plus_R() const {
  const MatX J = dense_J();
  MatX W = MatX::Zero(velocity_size_, velocity_size_);
  for (std::size_t i = 0; i < node_size.size(); ++i) {
    const int n = node_size[i];
    W.block(node_offset[i], node_offset[i], n, n) = Eigen::Map<const MatX>(mass_inverse.data() + mass_offset[i], n, n);
  }
  MatX D = J * W * J.transpose();
  for (int i = 0; i < rows_; ++i) D(i, i) += R[static_cast<std::size_t>(i)];
  return D;
}

}  // namespace sarrus
