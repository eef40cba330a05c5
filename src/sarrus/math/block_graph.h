// Symbolic phase of the block-sparse factorisations on a graph of nodes (docs/theory/newton.md §2.1).
//
// H has one dense block row per node, with n_t rows (any size). The elimination order (minimum degree) and the fill
// depend on the set of edges alone, not on earlier ones, and are reused while it is unchanged. Numeric factorisations
// on the same graph (BlockLLT, BlockLU) share one object of this class.
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
  // Memory of the ordering, which may serve several graphs in turn.
  struct Ordering {
    // By node: its columns (how many: column_count), then neighbours that none of them has.
    std::vector<int> list, list_start, list_end, column_count, degree;
    std::vector<char> absorbed;  // by column: another one has all of its nodes
    std::vector<std::uint32_t> mark, second_mark, outside_stamp;
    std::vector<int> outside;          // by column
    std::vector<std::uint64_t> least;  // tree of (degree, node)
    std::uint32_t stamp = 0, second_stamp = 0;
  };
  // Symbolic phase for sorted unique edge keys. Returns false if the edges were those of the last call, in
  // which case nothing is done.
  bool analyse(std::span<const std::uint64_t> edges, Ordering& memory);
  bool analyse(std::span<const std::uint64_t> edges) {
    Ordering memory;
    return analyse(edges, memory);
  }

  BlockRef diagonal(int node) const;
  BlockRef off_diagonal(int a, int b) const;  // the edge must exist

  int node_count() const { return static_cast<int>(size_.size()); }
  int block_count() const { return static_cast<int>(row_.size()) + node_count(); }
  std::int64_t update_count() const;
  int analyses() const { return analyses_; }   // how often the symbolic phase ran
  std::int64_t work() const { return work_; }  // entries of lists that the last ordering looked at
  int value_count() const { return value_count_; }
  bool all_six() const { return all_six_; }
  int node_size(int node) const { return size_[static_cast<std::size_t>(node)]; }
  int node_start(int node) const { return node_start_[static_cast<std::size_t>(node)]; }
  // Offset of a node in vectors whose nodes are padded like the columns; of `node_count()`: their size.
  int padded_start(int node) const { return padded_start_[static_cast<std::size_t>(node)]; }
  static int pad(int n) { return (n + 3) & ~3; }

  // --- for the numeric phases; positions count in the order of elimination ---------------------------------
  int position(int node) const { return position_[static_cast<std::size_t>(node)]; }
  int node_at(int position) const { return node_at_[static_cast<std::size_t>(position)]; }
  int size_at(int position) const { return node_size(node_at(position)); }
  int diagonal_offset(int position) const { return diagonal_offset_[static_cast<std::size_t>(position)]; }
  // Off-diagonal blocks of a column: indices [column_begin(k), column_begin(k + 1)) of row() and block_offset().
  int column_begin(int position) const { return column_start_[static_cast<std::size_t>(position)]; }
  int row(int index) const { return row_[static_cast<std::size_t>(index)]; }
  int block_offset(int index) const { return block_offset_[static_cast<std::size_t>(index)]; }
  // The connected components: their positions, ascending. Nothing done to one changes another.
  int component_count() const { return static_cast<int>(component_begin_.size()) - 1; }
  int component_of(int position) const { return component_of_[static_cast<std::size_t>(position)]; }
  std::span<const int> component(int i) const {
    const int* all = component_positions_.data();
    return {all + component_begin_[static_cast<std::size_t>(i)],
            all + component_begin_[static_cast<std::size_t>(i) + 1]};
  }
  // The updates (i, j) -= (i, k) (j, k)' of column k: f(target, left, right), indices of row() and block_offset() for
  // the blocks (i, j), (i, k) and (j, k); a target of -1: the diagonal block of position j = i. The rows of column k
  // behind j are among those of column j, so that one walk finds them.
  template <class F>
  void for_each_update(int k, const F& f) const {
    const int end = column_begin(k + 1);
    for (int right = column_begin(k); right < end; ++right) {
      f(-1, right, right);
      int target = column_begin(row(right));
      for (int left = right + 1; left < end; ++left, ++target) {
        while (row(target) != row(left)) ++target;
        f(target, left, right);
      }
    }
  }

 private:
  void order_and_fill();
  void place_blocks();
  void find_components();
  void list_neighbours();
  void collect_column(int node);
  void explain(int node, int column);
  void count_neighbours(int node, int column);
  int outside_of(int column);
  void set_key(int node, std::uint64_t key);
  void set_degree(int node, int degree) {
    set_key(node, static_cast<std::uint64_t>(degree) << 32 | static_cast<std::uint64_t>(node));
  }
  int find_row(int column, int row) const;  // index into row_, -1 if absent

  std::vector<int> size_;        // by node
  std::vector<int> node_start_;  // unpadded offset of the node's components
  std::vector<int> padded_start_;
  std::vector<std::uint64_t> edges_;
  bool analysed_ = false;
  bool all_six_ = false;
  int analyses_ = 0;
  int value_count_ = 0;

  Ordering* o_ = nullptr;  // while it runs
  std::int64_t work_ = 0;

  std::vector<int> position_;         // node -> elimination position
  std::vector<int> node_at_;          // elimination position -> node
  std::vector<int> column_start_;     // by position, into row_
  std::vector<int> row_;              // row positions of the off-diagonal blocks, ascending within a column
  std::vector<int> block_offset_;     // parallel to row_
  std::vector<int> diagonal_offset_;  // by position
  std::vector<int> component_of_, component_positions_, component_begin_ = {0};
};

}  // namespace sarrus
