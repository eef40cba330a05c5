// Some islands of a constraint problem as a problem of their own: what is solved again where the rest is kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

class IslandPart {
 public:
  // Takes the islands whose mark is not zero; the order of nodes and blocks is that of the whole.
  void take(const ConstraintProblem& whole, std::span<const std::uint8_t> marked);
  const ConstraintProblem& problem() const { return problem_; }
  // Impulses of the part into those of the whole.
  void scatter(const ConstraintProblem& whole, std::span<const double> part, std::span<double> lambda) const;

 private:
  ConstraintProblem problem_;
  std::vector<int> node_of_;  // of the part, by node of the whole; -1: not in it
  std::vector<int> nodes_, sizes_, blocks_;
};

}  // namespace sarrus
