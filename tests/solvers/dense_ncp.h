// One island of a problem, and its operators as dense matrices, for comparisons with the Newton solvers.
#pragma once

#include <vector>

#include "sarrus/solvers/island_solver.h"
#include "solvers/problem_surgery.h"
#include "support/dense.h"

namespace sarrus::testing {

// The whole problem as one island, whether its graph is connected or not.
inline void load(NcpSearch& search, const ConstraintProblem& p, double tolerance = 1e-12) {
  const std::vector<int> blocks = counting(p.blocks.size());
  const std::vector<int> nodes = counting(p.node_size.size());
  search.problem.load(p, blocks, nodes, nodes);
  search.begin(tolerance, 1 << 30);
}

inline GrowingVector growing(const VecX& v) {
  GrowingVector out;
  out.resize(v.size());
  out = v;
  return out;
}

inline VecX sigma_of(const NcpProblem& p, const VecX& lambda) {
  GrowingVector u, sigma, scratch;
  u.resize(p.padded_size());
  scratch.resize(p.padded_size());
  sigma.resize(p.rows());
  p.evaluate(growing(lambda), u, sigma, scratch);
  return sigma;
}

// Scaled J with padded columns.
inline MatX dense_J(const NcpProblem& p) {
  MatX J(p.rows(), p.padded_size());
  VecX column(p.rows());
  for (int i = 0; i < p.padded_size(); ++i) {
    const VecX unit = VecX::Unit(p.padded_size(), i);
    p.multiply_J(unit.data(), column.data());
    J.col(i) = column;
  }
  return J;
}

// Mass matrix, one on padded components, which nothing touches.
inline MatX dense_A(const NcpProblem& p) {
  MatX A = MatX::Identity(p.padded_size(), p.padded_size());
  for (std::size_t i = 0; i < p.node_size.size(); ++i) {
    const int n = p.node_size[i];
    const int ld = BlockGraph::pad(n);
    for (int c = 0; c < n; ++c) {
      for (int r = 0; r < n; ++r) {
        A(p.node_start[i] + r, p.node_start[i] + c) = p.mass[static_cast<std::size_t>(p.mass_offset[i] + c * ld + r)];
      }
    }
  }
  return A;
}

// D + R, scaled.
inline MatX dense_DR(const NcpProblem& p) {
  const MatX J = dense_J(p);
  MatX D = J * test::inverse(dense_A(p)) * J.transpose();
  for (int i = 0; i < p.rows(); ++i) D(i, i) += p.R[i];
  return D;
}

}  // namespace sarrus::testing
