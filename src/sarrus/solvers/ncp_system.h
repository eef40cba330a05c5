// H = A + J' G J on the node graph of one island, with G block diagonal by constraint: diagonal for scalar rows, any
// 3x3 matrix for contacts (spec/newton.md §2.5). Symmetric H goes to Cholesky, the others to LU.
#pragma once

#include <vector>

#include "sarrus/math/block_llt.h"
#include "sarrus/math/block_lu.h"
#include "sarrus/solvers/ncp_problem.h"

namespace sarrus {

class NcpSystem {
 public:
  // Symbolic phase; only indexes blocks if the graph is that of the last call.
  void prepare(const NcpProblem& problem);

  // `g` by scalar row, `cones` by contact: row-major 3x3. With `symmetric` the cones must be symmetric. False if H is
  // singular, not positive definite (symmetric) or not finite.
  bool factor(const NcpProblem& problem, const double* g, const double* cones, bool symmetric);
  // w <- H^-1 w, padded by node.
  void solve(double* w) const;

  int factorisations() const { return factorisations_; }
  void reset_count() { factorisations_ = 0; }
  const BlockGraph& graph() const { return llt_.graph(); }

 private:
  struct PairBlock {
    int offset;
    bool row_is_first;  // rows of the stored block belong to the first node of the pair
  };

  void add_blocks(const NcpProblem& problem, const double* g, const double* cones, bool symmetric);

  BlockLLT llt_;
  BlockLU lu_;
  bool symmetric_ = true;
  int factorisations_ = 0;
  std::vector<int> node_size_;
  std::vector<std::uint64_t> edges_;
  std::vector<PairBlock> pairs_;  // per constraint block, its node pairs (k <= l) in order
  std::vector<double> weighted_;
};

}  // namespace sarrus
