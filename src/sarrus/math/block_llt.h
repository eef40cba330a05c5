// Block-sparse Cholesky factorisation H = L L' on a graph of nodes (spec/newton.md §2.1-2.3).
//
// H has one dense block row per node, with n_t rows (any size; 6 has its own fast path). The symbolic phase
// (elimination order by minimum degree, fill, update list) is reused while the set of edges is unchanged.
// Diagonal blocks are stored inverted (Lambda_k = L_kk^-1), so that solving needs products only:
//   factor  k ascending:  A_kk = L_kk L_kk',  L_ik = A_ik Lambda_k',  A_ij -= L_ik L_jk'
//   solve   w_k <- Lambda_k w_k,  w_i -= L_ik w_k;    backwards  w_k -= L_ik' w_i,  w_k <- Lambda_k' w_k
// Blocks are column-major with the leading dimension padded to a multiple of 4 (one or two AVX2 registers per
// column for n_t = 6); the padding stays zero.
//
// Ordering by hand instead of by SuiteSparse's AMD: contact graphs change during a simulation, the symbolic
// phase therefore runs inside step(), where AMD would allocate. All memory here is reused.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/math/types.h"

namespace sarrus {

class BlockLLT {
 public:
  // Sizes of the nodes; forgets any analysis.
  void set_nodes(std::span<const int> sizes);

  // Key of the edge between two different nodes.
  static std::uint64_t edge_key(int a, int b) {
    const auto lo = static_cast<std::uint64_t>(a < b ? a : b);
    const auto hi = static_cast<std::uint64_t>(a < b ? b : a);
    return lo << 32 | hi;
  }
  // Symbolic phase for sorted unique edge keys. Returns false if the edges were those of the last call, in
  // which case nothing is done.
  bool analyse(std::span<const std::uint64_t> edges);

  // Position of a block in the value array, and how it is stored.
  struct BlockRef {
    int offset = 0;        // of element (0, 0)
    int ld = 0;            // leading dimension
    bool row_is_a = true;  // rows belong to the first node asked for
  };
  BlockRef diagonal(int node) const;
  BlockRef off_diagonal(int a, int b) const;  // the edge must exist

  void set_zero();
  double* values() { return values_.data(); }

  // False if a pivot is not positive (H not positive definite, or not finite).
  bool factor();
  // Solves H x = b in place; components in node order, unpadded. factor() must have succeeded.
  void solve(VecX& b);

  int node_count() const { return static_cast<int>(size_.size()); }
  int block_count() const { return static_cast<int>(row_.size()) + node_count(); }
  int update_count() const { return static_cast<int>(updates_.size()); }
  int analyses() const { return analyses_; }  // how often the symbolic phase ran

 private:
  struct Update {
    int target;  // block offset of (i, j)
    int left;    // of (i, k)
    int right;   // of (j, k)
    int rows, cols, inner;
    int ld_target_left, ld_right;
  };

  void order_and_fill();
  void place_blocks();
  void list_updates();
  int find_row(int column, int row) const;  // index into row_, -1 if absent
  static int pad(int n) { return (n + 3) & ~3; }

  std::vector<int> size_;        // by node
  std::vector<int> node_start_;  // unpadded offset of the node's components
  std::vector<std::uint64_t> edges_;
  bool analysed_ = false;
  bool all_six_ = false;
  int analyses_ = 0;

  std::vector<std::uint64_t> adjacency_;  // bit matrix used by the ordering
  std::vector<int> degree_;
  std::vector<int> position_;         // node -> elimination position
  std::vector<int> node_at_;          // elimination position -> node
  std::vector<int> column_start_;     // by position, into row_
  std::vector<int> row_;              // row positions of the off-diagonal blocks, ascending within a column
  std::vector<int> block_offset_;     // parallel to row_
  std::vector<int> diagonal_offset_;  // by position
  std::vector<int> update_start_;     // by position, into updates_
  std::vector<Update> updates_;
  std::vector<int> padded_start_;  // by position, into work_
  std::vector<double> values_;
  std::vector<double> scratch_;
  std::vector<double> work_;
};

}  // namespace sarrus
