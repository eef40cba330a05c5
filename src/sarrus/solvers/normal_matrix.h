// H = A + J' G J, factored on the node graph (docs/theory/newton.md §2), A the masses and G block diagonal by
// constraint.
//
// Woodbury: with E = diag(1/(R_i + shift_i)) and G = E,
//   (D + R + shift)^-1 r = E r - E J H^-1 J' E r
// so every solver that needs (D + R + shift)^-1 works with blocks the size of a node and never forms D.
//
// Of a constraint problem: diagonal G >= 0, Cholesky. Of an island (ncp_problem.h): G is diagonal on scalar rows and
// any 3x3 matrix on contacts; symmetric H goes to Cholesky, others to LU, in the same memory as far as that goes.
#pragma once

#include <span>
#include <vector>

#include "sarrus/math/block_llt.h"
#include "sarrus/math/block_lu.h"
#include "sarrus/solvers/ncp_problem.h"

namespace sarrus {

class NormalMatrix {
 public:
  // The numbers of the factor are in memory that others use in turn (block_llt.h): between prepare() and the last
  // solve() of a problem nobody else does.
  void use(std::shared_ptr<FactorMemory> memory) { llt_.use(std::move(memory)); }

  // Symbolic phase for the problem's graph; does nothing but index blocks if the graph is that of the last call.
  void prepare(const ConstraintProblem& problem) { prepare(problem, problem.blocks); }
  void prepare(const NcpProblem& problem);

  // Numeric phase. False if H is singular, not positive definite (symmetric) or not finite.
  // `g` by row; of an island by scalar row, and `cones` by contact: row-major 3x3, symmetric with `symmetric`.
  bool factor(const ConstraintProblem& problem, std::span<const double> g) {
    return factor(problem, problem.blocks, g);
  }
  bool factor(const NcpProblem& problem, const double* g, const double* cones, bool symmetric);
  // The same with J of some blocks from the first on.
  void prepare(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks);
  bool factor(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks, std::span<const double> g);

  // What prepare() makes of a graph.
  struct PairBlock {
    int offset;
    bool row_is_first;  // rows of the stored block belong to the first node of the pair
    bool first;         // no earlier pair adds to this block, nor do masses
  };
  // A component of the graph: ends of its fill and of its blocks in their order.
  struct Part {
    int fill_end, blocks_end;
  };
  struct BlockPlace {
    int block, pair;
  };
  struct Analysis {
    BlockGraph graph;
    std::vector<int> node_size;
    std::vector<int> signature;    // sizes and nodes of the blocks
    std::vector<PairBlock> pairs;  // per constraint block, its node pairs (k <= l) in order
    std::vector<int> fill;         // offsets of the blocks that no pair adds to, by component of the graph
    std::vector<Part> parts;       // by component; none if it is one
    std::vector<BlockPlace> order;
    std::size_t weighted = 0;  // numbers of G J of one block, at most
  };
  // Puts away what the last prepare() made and takes another one up, for matrices of several graphs in turn.
  void exchange(Analysis& other);

  // out = H^-1 J' lambda of the blocks of the last factor().
  void solve(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks, std::span<const double> lambda,
             VecX& out);
  // w <- H^-1 w, components in node order, or padded by node.
  void solve(VecX& w) { llt_.solve(w); }
  void solve(double* padded) const;

  const BlockLLT& llt() const { return llt_; }
  int factorisations() const { return factorisations_; }
  void reset_count() { factorisations_ = 0; }

 private:
  // Whether the blocks have the nodes of those of the last call; kept for the next one.
  template <class Blocks>
  bool same_signature(const Blocks& blocks);
  template <class Problem, class Blocks>
  void index(const Problem& problem, const Blocks& blocks);
  template <class Problem, class Blocks>
  bool assemble_and_factor(const Problem& problem, const Blocks& blocks, const double* g, const double* cones,
                           bool symmetric);
  template <class Problem, class Blocks>
  void add_blocks(const Problem& problem, const Blocks& blocks, const double* g, const double* cones);
  void find_first();
  static const PairBlock* add_block_six(const ConstraintProblem& problem, const ConstraintBlock& block, const double* g,
                                        const PairBlock* pair, double* H);
  template <class Blocks>
  void divide(const Blocks& blocks);
  void assemble_part(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks, const double* g,
                     int part);
  bool factor_six(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks, const double* g);

  BlockLLT llt_;
  BlockLU lu_;
  bool symmetric_ = true;
  int factorisations_ = 0;
  std::vector<int> node_size_;
  std::vector<int> signature_;  // sizes and nodes of the blocks
  std::vector<std::uint64_t> edges_;
  std::vector<PairBlock> pairs_;   // per constraint block, its node pairs (k <= l) in order
  std::vector<int> fill_;          // offsets of the blocks that no pair adds to, by component
  std::vector<Part> parts_;        // by component; none if it is one
  std::vector<BlockPlace> order_;  // blocks by component
  std::vector<char> touched_;      // by off-diagonal block
  std::size_t weighted_size_ = 0;
  std::vector<double> weighted_;  // G J of one block
};

}  // namespace sarrus
