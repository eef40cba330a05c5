// Block-sparse Cholesky factorisation H = L L' on a graph of nodes (docs/theory/newton.md §2.3).
//
// Diagonal blocks are stored inverted (Lambda_k = L_kk^-1), so that solving needs products only:
//   factor  k ascending:  A_kk = L_kk L_kk',  L_ik = A_ik Lambda_k',  A_ij -= L_ik L_jk'
//   solve   w_k <- Lambda_k w_k,  w_i -= L_ik w_k;    backwards  w_k -= L_ik' w_i,  w_k <- Lambda_k' w_k
// Nodes of more than 16 components keep L_kk itself and use triangular solves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sarrus/math/block_graph.h"
#include "sarrus/math/types.h"

namespace sarrus {

// Numbers of a factor. Several factorisations may have the same ones in turn: who is not the last that factored here
// has no factor any more.
struct FactorMemory {
  std::vector<double> numbers;
  const void* owner = nullptr;
};

class BlockLLT {
 public:
  using BlockRef = sarrus::BlockRef;

  BlockLLT() = default;
  BlockLLT(const BlockLLT&) = delete;
  BlockLLT& operator=(const BlockLLT&) = delete;

  // Numbers that others use, too, from now on.
  void use(std::shared_ptr<FactorMemory> memory);
  // To be called before the matrix is written: numbers that somebody else had are zero then.
  void claim();

  // The graph; see BlockGraph.
  void set_nodes(std::span<const int> sizes);
  static std::uint64_t edge_key(int a, int b) { return BlockGraph::edge_key(a, b); }
  bool analyse(std::span<const std::uint64_t> edges);
  // Puts the graph away and takes up another one.
  void exchange(BlockGraph& other);
  BlockRef diagonal(int node) const { return graph_.diagonal(node); }
  BlockRef off_diagonal(int a, int b) const { return graph_.off_diagonal(a, b); }
  const BlockGraph& graph() const { return graph_; }
  int node_count() const { return graph_.node_count(); }
  int block_count() const { return graph_.block_count(); }
  std::int64_t update_count() const { return graph_.update_count(); }
  int analyses() const { return graph_.analyses(); }

  void set_zero();
  double* values() { return memory_->numbers.data(); }

  // False if a pivot is not positive (H not positive definite, or not finite).
  bool factor();
  // The same of a component of the graph; several may be factored at the same time.
  bool factor(std::span<const int> positions);
  // Solves H x = b in place; components in node order, unpadded. factor() must have succeeded.
  void solve(VecX& b);
  // The same of a component.
  void solve(std::span<const int> positions, VecX& b);
  // The same on a vector whose nodes start at graph().padded_start(), with zero padding.
  void solve_padded(double* w) const;
  // Its two halves on some nodes that no edge joins with others, given by their positions in the order of elimination,
  // ascending: w <- L^-1 w and w <- L^-T w.
  void forward(std::span<const int> positions, double* w) const;
  void backward(std::span<const int> positions, double* w) const;
  const double* values() const { return memory_->numbers.data(); }

 private:
  double* node(double* w, int position) const { return w + graph_.padded_start(graph_.node_at(position)); }
  void take_memory();
  void take_numbers();
  bool factor_column(int position);
  void load(int position, const double* b, double* w) const;
  void store(int position, const double* w, double* b) const;
  void eliminate(int position, double* w) const;
  void substitute(int position, double* w) const;

  BlockGraph graph_;
  BlockGraph::Ordering ordering_;
  std::shared_ptr<FactorMemory> memory_ = std::make_shared<FactorMemory>();
  std::vector<double> work_;
};

}  // namespace sarrus
