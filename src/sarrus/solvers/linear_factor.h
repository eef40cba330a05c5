// The joint rows b of a constraint problem, factored once (docs/theory/newton.md §8):
//
//   K = M + J_b' G J_b,   G_i = 1/(R_i + eps D_ii),   D_ii = J_i M^-1 J_i',   eps = 3e-9
//
// G in kg or kg m^2, rows and nodes as in constraint_problem.h.
// The graph of K has edges of joint blocks only, so it is that of the model: contacts that come and go leave it alone.
// One factor serves the correction of biases, the reduced contact problem (reduction.h), and the projection of poses
// onto the joints. eps balances the contraction eps / (smallest eigenvalue of D) of a pass against the round-off
// eps_machine / eps; redundant rows need it.
#pragma once

#include <span>

#include "sarrus/math/growing_vector.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/solvers/normal_matrix.h"

namespace sarrus {

class LinearFactor {
 public:
  // Factors K of the problem's joint blocks, which must have their diagonal; the problem must stay as it is while the
  // factor is in use, but for blocks added behind and biases. False, and no factor, if K is not positive definite.
  bool factor(const ConstraintProblem& problem);
  void forget() { problem_ = nullptr; }
  bool is_of(const ConstraintProblem& problem) const { return problem_ == &problem; }

  double weight(int row) const { return weight_[row]; }  // G
  const BlockLLT& llt() const { return normal_.llt(); }

  // out = -K^-1 J' G residual over the joint blocks of the problem.
  void step(const GrowingVector& residual, VecX& out);

 private:
  NormalMatrix normal_;
  const ConstraintProblem* problem_ = nullptr;
  std::span<const ConstraintBlock> joints() const { return {problem_->blocks.data(), block_count_}; }
  std::size_t block_count_ = 0;
  int row_count_ = 0;
  GrowingVector weight_, weighted_;
};

}  // namespace sarrus
