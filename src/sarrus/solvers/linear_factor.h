// The joint rows b of a constraint problem and those soft ones that are taken along, factored once
// (docs/theory/newton.md §8):
//
//   K = M + J_b' G J_b,   G_i = 1/(R_i + eps D_ii),   D_ii = J_i M^-1 J_i',   eps = 3e-9
//
// G in kg or kg m^2, rows and nodes as in constraint_problem.h.
// The graph of K has edges of joint and soft blocks only, so it is that of the model: contacts that come and go leave
// it alone. One factor serves the correction of biases, the reduced contact problem (reduction.h), and the projection
// of poses onto the joints. eps balances the contraction eps / (smallest eigenvalue of D) of a pass against the
// round-off eps_machine / eps; redundant rows need it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "sarrus/math/growing_vector.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/solvers/normal_matrix.h"

namespace sarrus {

// Whether an impulse is expected to stay inside of its bounds: without bounds, or by a tenth of their distance.
inline bool well_inside(double lower, double upper, double expected) {
  constexpr double kInside = 0.1;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (lower == -kInfinity && upper == kInfinity) return true;
  const double margin = kInside * (upper - lower);
  return expected != 0 && expected > lower + margin && expected < upper - margin;
}

class LinearFactor {
 public:
  // Soft blocks of the problem that the next factors of it take along, by block: 1. They are taken for rows without
  // bounds, and are part of the metric of step().
  void take_along(const ConstraintProblem& problem, std::span<const std::uint8_t> soft) {
    taken_.assign(soft.begin(), soft.end());
    taken_of_ = &problem;
  }
  // Factors K of the problem's joint and soft blocks, which must have their diagonal; the problem must stay as it is
  // while the factor is in use, but for blocks added behind and biases. False, and no factor, if K is not positive
  // definite.
  bool factor(const ConstraintProblem& problem);
  void forget() { problem_ = taken_of_ = nullptr; }
  bool is_of(const ConstraintProblem& problem) const { return problem_ == &problem; }

  double weight(int row) const { return weight_[row]; }  // G; 0 for soft rows that are not taken along
  const BlockLLT& llt() const { return normal_.llt(); }
  // Memory for factors that are made, used and left within one solve or one projection.
  const std::shared_ptr<FactorMemory>& spare() const { return spare_; }

  // out = -K^-1 J_b' G residual over the joint blocks of the problem.
  void step(const GrowingVector& residual, VecX& out);

 private:
  NormalMatrix normal_;
  std::shared_ptr<FactorMemory> spare_ = std::make_shared<FactorMemory>();
  const ConstraintProblem* problem_ = nullptr;
  const ConstraintProblem* taken_of_ = nullptr;
  std::vector<std::uint8_t> taken_;
  std::span<const ConstraintBlock> blocks() const { return {problem_->blocks.data(), block_count_}; }
  std::size_t block_count_ = 0;
  int joint_rows_ = 0, rows_ = 0;
  GrowingVector weight_, weighted_;
};

}  // namespace sarrus
