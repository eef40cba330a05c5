// The rows that Gauss-Seidel sweeps visit, shared by the splitting family and the box solvers.
//
//   sigma_i = v_f,i + R_i lambda_i + J_i w,   w = M^-1 J' lambda;     lambda_i += d  =>  w += M^-1 J_i' d
//
// w (m/s, rad/s) is kept by node, so a sweep costs O(rows) and D = J M^-1 J' is never formed; only M^-1 J' and, for a
// moment, the diagonal blocks are.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sarrus/math/growing_vector.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

struct SweepBlock {
  BlockKind kind = BlockKind::joint;
  int rows = 0;
  int row = 0;
  int nodes = 0;
  int velocity[kMaxBlockNodes] = {};  // where the node's part of w starts
  int width[kMaxBlockNodes] = {};     // size of the node
  int jac[kMaxBlockNodes] = {};       // offset of the row-major (rows x width) block in J and in M^-1 J'
  int local = 0;                      // for the user: where the block's own data are
};

// Memory only grows. The problem must outlive the sweeps.
class SweepRows {
 public:
  using SmallMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMaxBlockRows, kMaxBlockRows>;

  // Blocks in the problem's order, and M^-1 J'.
  void load(const ConstraintProblem& p) {
    problem_ = &p;
    blocks.clear();
    response_.resize(p.jacobian.size());
    for (const ConstraintBlock& block : p.blocks) {
      SweepBlock& b = blocks.emplace_back();
      b.kind = block.kind;
      b.rows = block.rows;
      b.row = block.row;
      b.nodes = block.nodes;
      for (int k = 0; k < b.nodes; ++k) {
        const auto node = static_cast<std::size_t>(block.node[k]);
        b.velocity[k] = p.node_offset[node];
        b.width[k] = p.node_size[node];
        b.jac[k] = block.jac[k];
        const double* W = p.mass_inverse.data() + p.mass_offset[node];
        for (int r = 0; r < b.rows; ++r) respond(W, b.jac[k] + r * b.width[k], b.width[k]);
      }
    }
  }

  // D_kk + R_k
  SmallMatrix diagonal_block(const SweepBlock& b) const {
    SmallMatrix D = SmallMatrix::Zero(b.rows, b.rows);
    for (int k = 0; k < b.nodes; ++k) {
      for (int r = 0; r < b.rows; ++r) {
        const double* MinvJt = response_.data() + b.jac[k] + r * b.width[k];
        for (int q = 0; q <= r; ++q) {
          const double* J = problem_->jacobian.data() + b.jac[k] + q * b.width[k];
          for (int c = 0; c < b.width[k]; ++c) D(r, q) += MinvJt[c] * J[c];
        }
      }
    }
    for (int r = 0; r < b.rows; ++r) {
      D(r, r) += problem_->R[static_cast<std::size_t>(b.row + r)];
      for (int q = 0; q < r; ++q) D(q, r) = D(r, q);
    }
    return D;
  }

  // sigma of row r of a block, whose impulse is `lambda`.
  double velocity(const SweepBlock& b, int r, double lambda) const {
    const ConstraintProblem& p = *problem_;
    double v = p.v_free[b.row + r] + p.R[static_cast<std::size_t>(b.row + r)] * lambda;
    for (int k = 0; k < b.nodes; ++k) {
      const double* J = p.jacobian.data() + b.jac[k] + r * b.width[k];
      const double* wk = w.data() + b.velocity[k];
      if (b.width[k] == 6) {
        v += Eigen::Map<const Vec6>(J).dot(Eigen::Map<const Vec6>(wk));
      } else {
        for (int c = 0; c < b.width[k]; ++c) v += J[c] * wk[c];
      }
    }
    return v;
  }

  void add_impulse(const SweepBlock& b, int r, double change) {
    for (int k = 0; k < b.nodes; ++k) {
      const double* column = response_.data() + b.jac[k] + r * b.width[k];
      double* wk = w.data() + b.velocity[k];
      if (b.width[k] == 6) {
        Eigen::Map<Vec6>(wk) += change * Eigen::Map<const Vec6>(column);
      } else {
        for (int c = 0; c < b.width[k]; ++c) wk[c] += change * column[c];
      }
    }
  }

  std::vector<SweepBlock> blocks;
  GrowingVector w;

 protected:
  const ConstraintProblem* problem_ = nullptr;

 private:
  // M^-1 of one node times the row of J at `offset`; W is symmetric.
  void respond(const double* W, int offset, int n) {
    const double* J = problem_->jacobian.data() + offset;
    for (int c = 0; c < n; ++c) {
      double s = 0;
      for (int i = 0; i < n; ++i) s += W[c * n + i] * J[i];
      response_[static_cast<std::size_t>(offset + c)] = s;
    }
  }

  std::vector<double> response_;  // M^-1 J', laid out like J
};

}  // namespace sarrus
