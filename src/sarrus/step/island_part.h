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
  // What the rows of the part have (impulses) into the rows of the whole, and back.
  void scatter(const ConstraintProblem& whole, std::span<const double> part, std::span<double> lambda) const;
  void gather(const ConstraintProblem& whole, std::span<const double> lambda, std::span<double> part) const;
  // The same of velocities, by node.
  void scatter_nodes(const ConstraintProblem& whole, const VecX& part, VecX& u) const;
  void gather_nodes(const ConstraintProblem& whole, const VecX& u, VecX& part) const;
  // A block of the part in the whole.
  int block_of_whole(int block) const { return blocks_[static_cast<std::size_t>(block)]; }

 private:
  ConstraintProblem problem_;
  std::vector<int> node_of_;  // of the part, by node of the whole; -1: not in it
  std::vector<int> nodes_, sizes_, blocks_;
};

}  // namespace sarrus
