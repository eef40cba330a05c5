#include "sarrus/problem/constraint_problem.h"

#include <cassert>
#include <limits>

namespace sarrus {
namespace {

using RowMap6 = Eigen::Map<const Eigen::Matrix<double, 1, 6>>;

}  // namespace

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
  mass.assign(static_cast<std::size_t>(block), 0.0);
  mass_inverse.assign(static_cast<std::size_t>(block), 0.0);
  u_free.setZero(velocity);
}

void ConstraintProblem::clear_constraints() {
  blocks.clear();
  jacobian.clear();
  R.clear();
  bias.clear();
  lower.clear();
  upper.clear();
  rows_ = 0;
  for (int& n : kind_rows_) n = 0;
}

ConstraintBlock& ConstraintProblem::add_block(BlockKind kind, int rows, std::span<const int> nodes) {
  assert(blocks.empty() || blocks.back().kind <= kind);
  ConstraintBlock b;
  b.kind = kind;
  b.rows = static_cast<std::int16_t>(rows);
  b.nodes = static_cast<std::int16_t>(nodes.size());
  b.row = rows_;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    b.node[k] = nodes[k];
    b.jac[k] = static_cast<int>(jacobian.size());
    jacobian.resize(jacobian.size() + static_cast<std::size_t>(rows * node_size[static_cast<std::size_t>(nodes[k])]),
                    0.0);
  }
  rows_ += rows;
  kind_rows_[static_cast<std::size_t>(kind)] += rows;
  const auto n = static_cast<std::size_t>(rows_);
  R.resize(n, 0.0);
  bias.resize(n, 0.0);
  lower.resize(n, -std::numeric_limits<double>::infinity());
  upper.resize(n, std::numeric_limits<double>::infinity());
  blocks.push_back(b);
  return blocks.back();
}

void ConstraintProblem::finish() {
  v_free.resize(rows_);
  multiply_J(u_free, v_free);
  for (int i = 0; i < rows_; ++i) v_free[i] += bias[static_cast<std::size_t>(i)];
}

void ConstraintProblem::multiply_J(std::span<const ConstraintBlock> of, const VecX& u, Eigen::Ref<VecX> out) const {
  for (const ConstraintBlock& b : of) {
    for (int r = 0; r < b.rows; ++r) out[b.row + r] = 0;
    for (int k = 0; k < b.nodes; ++k) {
      const auto node = static_cast<std::size_t>(b.node[k]);
      const int n = node_size[node];
      const double* J = jacobian.data() + b.jac[k];
      const double* uk = u.data() + node_offset[node];
      if (n == 6) {
        const Eigen::Map<const Vec6> u6(uk);
        for (int r = 0; r < b.rows; ++r) out[b.row + r] += RowMap6(J + 6 * r) * u6;
      } else {
        for (int r = 0; r < b.rows; ++r) {
          double s = 0;
          for (int c = 0; c < n; ++c) s += J[r * n + c] * uk[c];
          out[b.row + r] += s;
        }
      }
    }
  }
}

void ConstraintProblem::multiply_Jt(std::span<const ConstraintBlock> of, std::span<const double> lambda,
                                    VecX& out) const {
  out.setZero();
  for (const ConstraintBlock& b : of) {
    for (int k = 0; k < b.nodes; ++k) {
      const auto node = static_cast<std::size_t>(b.node[k]);
      const int n = node_size[node];
      const double* J = jacobian.data() + b.jac[k];
      double* w = out.data() + node_offset[node];
      const double* l = lambda.data() + b.row;
      if (n == 6) {
        Eigen::Map<Vec6> w6(w);
        for (int r = 0; r < b.rows; ++r) w6 += l[r] * RowMap6(J + 6 * r).transpose();
      } else {
        for (int r = 0; r < b.rows; ++r) {
          for (int c = 0; c < n; ++c) w[c] += l[r] * J[r * n + c];
        }
      }
    }
  }
}

namespace {

void multiply_blocks(const ConstraintProblem& p, const std::vector<double>& blocks, const VecX& in, VecX& out) {
  for (std::size_t i = 0; i < p.node_size.size(); ++i) {
    const int n = p.node_size[i];
    const double* B = blocks.data() + p.mass_offset[i];
    const int o = p.node_offset[i];
    if (n == 6) {
      out.segment<6>(o).noalias() = Eigen::Map<const Mat6>(B) * in.segment<6>(o);
    } else {
      out.segment(o, n).noalias() = Eigen::Map<const MatX>(B, n, n) * in.segment(o, n);
    }
  }
}

}  // namespace

void ConstraintProblem::multiply_M(const VecX& u, VecX& out) const { multiply_blocks(*this, mass, u, out); }
void ConstraintProblem::multiply_M_inverse(const VecX& f, VecX& out) const {
  multiply_blocks(*this, mass_inverse, f, out);
}

void ConstraintProblem::diagonal_D(std::span<const ConstraintBlock> of, Eigen::Ref<VecX> out) const {
  for (const ConstraintBlock& b : of) {
    for (int r = 0; r < b.rows; ++r) {
      double d = R[static_cast<std::size_t>(b.row + r)];
      for (int k = 0; k < b.nodes; ++k) {
        const auto node = static_cast<std::size_t>(b.node[k]);
        const int n = node_size[node];
        const double* J = jacobian.data() + b.jac[k] + r * n;
        const double* W = mass_inverse.data() + mass_offset[node];
        for (int c = 0; c < n; ++c) {
          double s = 0;
          for (int i = 0; i < n; ++i) s += W[c * n + i] * J[i];
          d += s * J[c];
        }
      }
      out[b.row + r] = d;
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

MatX ConstraintProblem::dense_D() const {
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
