// H = M + J' G J with diagonal G >= 0, factored on the node graph (spec/newton.md §2.5, 2.7).
//
// Woodbury: with E = diag(1/(R_i + shift_i)) and G = E,
//   (D + R + shift)^-1 r = E r - E J H^-1 J' E r
// so every solver that needs (D + R + shift)^-1 works with blocks the size of a node and never forms D.
#pragma once

#include <span>
#include <vector>

#include "sarrus/math/block_llt.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

class NormalMatrix {
 public:
  // Symbolic phase for the problem's graph; does nothing but index blocks if the graph is that of the last call.
  void prepare(const ConstraintProblem& problem) { prepare(problem, problem.blocks); }
  // Numeric phase with weights g by row. False if H is not positive definite or not finite.
  bool factor(const ConstraintProblem& problem, std::span<const double> g) {
    return factor(problem, problem.blocks, g);
  }
  // The same with J of some blocks from the first on.
  void prepare(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks);
  bool factor(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks, std::span<const double> g);
  // w <- H^-1 w, components in node order.
  void solve(VecX& w) { llt_.solve(w); }

  const BlockLLT& llt() const { return llt_; }

 private:
  struct PairBlock {
    int offset;
    int ld;
    bool row_is_first;  // rows of the stored block belong to the first node of the pair
  };

  BlockLLT llt_;
  std::vector<int> node_size_;
  std::vector<std::uint64_t> edges_;
  std::vector<PairBlock> pairs_;  // per constraint block, its node pairs (k <= l) in order
};

}  // namespace sarrus
