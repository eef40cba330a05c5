// Symbolic phase of the block-sparse factorisations on a graph of nodes (docs/theory/newton.md §2.1).
//
// H has one dense block row per node, with n_t rows (any size). The elimination order (minimum degree), the fill and
// the list of updates depend on the set of edges alone and are reused while it is unchanged. Numeric factorisations on
// the same graph (BlockLLT, BlockLU) share one object of this class.
//
// Blocks are column-major with the leading dimension padded to a multiple of 4 (n_t = 6: two AVX2 registers a column);
// the padding stays zero. Storage: per column k of the factor the diagonal block, then the blocks (i, k), i ascending
// in the order of elimination.
//
// Ordering by hand instead of by SuiteSparse's AMD: contact graphs change during a simulation, the symbolic
// phase therefore runs inside step(), where AMD would allocate. All memory here is reused.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sarrus {

// Position of a block in a value array, and how it is stored.
struct BlockRef {
  int offset = 0;        // of element (0, 0)
  int ld = 0;            // leading dimension
  bool row_is_a = true;  // rows belong to the first node asked for
};

class BlockGraph {
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

  BlockRef diagonal(int node) const;
  BlockRef off_diagonal(int a, int b) const;  // the edge must exist

  int node_count() const { return static_cast<int>(size_.size()); }
  int block_count() const { return static_cast<int>(row_.size()) + node_count(); }
  int update_count() const { return static_cast<int>(updates_.size()); }
  int analyses() const { return analyses_; }  // how often the symbolic phase ran
  int value_count() const { return value_count_; }
  bool all_six() const { return all_six_; }
  int node_size(int node) const { return size_[static_cast<std::size_t>(node)]; }
  int node_start(int node) const { return node_start_[static_cast<std::size_t>(node)]; }
  // Offset of a node in vectors whose nodes are padded like the columns; of `node_count()`: their size.
  int padded_start(int node) const { return padded_start_[static_cast<std::size_t>(node)]; }
  static int pad(int n) { return (n + 3) & ~3; }

  // --- for the numeric phases; positions count in the order of elimination ---------------------------------
  struct Update {  // (i, j) -= (i, k) (j, k)'
    int target;    // block offset of (i, j)
    int left;      // of (i, k)
    int right;     // of (j, k)
    int rows, cols, inner;
    int ld_target_left, ld_right;
  };
  int position(int node) const { return position_[static_cast<std::size_t>(node)]; }
  int node_at(int position) const { return node_at_[static_cast<std::size_t>(position)]; }
  int diagonal_offset(int position) const { return diagonal_offset_[static_cast<std::size_t>(position)]; }
  // Off-diagonal blocks of a column: indices [column_begin(k), column_begin(k + 1)) of row() and block_offset().
  int column_begin(int position) const { return column_start_[static_cast<std::size_t>(position)]; }
  int row(int index) const { return row_[static_cast<std::size_t>(index)]; }
  int block_offset(int index) const { return block_offset_[static_cast<std::size_t>(index)]; }
  std::span<const Update> updates(int position) const {
    const int begin = update_start_[static_cast<std::size_t>(position)];
    const int end = update_start_[static_cast<std::size_t>(position) + 1];
    return std::span<const Update>(updates_).subspan(static_cast<std::size_t>(begin),
                                                     static_cast<std::size_t>(end - begin));
  }

 private:
  void order_and_fill();
  void place_blocks();
  void list_updates();
  int find_row(int column, int row) const;  // index into row_, -1 if absent

  std::vector<int> size_;        // by node
  std::vector<int> node_start_;  // unpadded offset of the node's components
  std::vector<int> padded_start_;
  std::vector<std::uint64_t> edges_;
  bool analysed_ = false;
  bool all_six_ = false;
  int analyses_ = 0;
  int value_count_ = 0;

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
};

}  // namespace sarrus
