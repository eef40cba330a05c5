#include "sarrus/math/block_graph.h"

#include <algorithm>
#include <bit>

namespace sarrus {

void BlockGraph::set_nodes(std::span<const int> sizes) {
  size_.assign(sizes.begin(), sizes.end());
  const std::size_t n = size_.size();
  node_start_.resize(n);
  int start = 0;
  int padded = 0;
  padded_start_.resize(n + 1);
  all_six_ = true;
  for (std::size_t i = 0; i < n; ++i) {
    node_start_[i] = start;
    start += size_[i];
    padded_start_[i] = padded;
    padded += pad(size_[i]);
    all_six_ = all_six_ && size_[i] == 6;
  }
  padded_start_[n] = padded;
  const std::size_t words = (n + 63) / 64;
  adjacency_.resize(n * words);
  degree_.resize(n);
  position_.resize(n);
  node_at_.resize(n);
  column_start_.resize(n + 1);
  diagonal_offset_.resize(n);
  update_start_.resize(n + 1);
  edges_.clear();
  analysed_ = false;
}

bool BlockGraph::analyse(std::span<const std::uint64_t> edges) {
  if (analysed_ && std::equal(edges.begin(), edges.end(), edges_.begin(), edges_.end())) return false;
  edges_.assign(edges.begin(), edges.end());
  order_and_fill();
  place_blocks();
  list_updates();
  analysed_ = true;
  ++analyses_;
  return true;
}

// Minimum degree on a bit matrix; ties go to the lower node. Eliminating p connects its neighbours, and the
// neighbours that remain are the rows of p's column.
void BlockGraph::order_and_fill() {
  const int n = node_count();
  const std::size_t words = (static_cast<std::size_t>(n) + 63) / 64;
  const auto row = [&](int i) { return adjacency_.data() + static_cast<std::size_t>(i) * words; };
  std::fill(adjacency_.begin(), adjacency_.end(), 0);
  std::fill(degree_.begin(), degree_.end(), 0);
  for (const std::uint64_t e : edges_) {
    const int a = static_cast<int>(e >> 32);
    const int b = static_cast<int>(e & 0xffffffffu);
    row(a)[b / 64] |= std::uint64_t{1} << (b % 64);
    row(b)[a / 64] |= std::uint64_t{1} << (a % 64);
    ++degree_[static_cast<std::size_t>(a)];
    ++degree_[static_cast<std::size_t>(b)];
  }
  constexpr int kEliminated = 1 << 30;
  row_.clear();
  for (int k = 0; k < n; ++k) {
    const auto least = std::min_element(degree_.begin(), degree_.end());
    const int p = static_cast<int>(least - degree_.begin());
    *least = kEliminated;
    position_[static_cast<std::size_t>(p)] = k;
    node_at_[static_cast<std::size_t>(k)] = p;
    column_start_[static_cast<std::size_t>(k)] = static_cast<int>(row_.size());
    const std::uint64_t* pr = row(p);
    for (std::size_t w = 0; w < words; ++w) {
      for (std::uint64_t bits = pr[w]; bits != 0; bits &= bits - 1) {
        row_.push_back(static_cast<int>(w * 64) + std::countr_zero(bits));
      }
    }
    for (std::size_t r = static_cast<std::size_t>(column_start_[static_cast<std::size_t>(k)]); r < row_.size(); ++r) {
      const int i = row_[r];
      std::uint64_t* ir = row(i);
      int degree = 0;
      for (std::size_t w = 0; w < words; ++w) ir[w] |= pr[w];
      ir[i / 64] &= ~(std::uint64_t{1} << (i % 64));
      ir[p / 64] &= ~(std::uint64_t{1} << (p % 64));
      for (std::size_t w = 0; w < words; ++w) degree += std::popcount(ir[w]);
      degree_[static_cast<std::size_t>(i)] = degree;
    }
  }
  column_start_[static_cast<std::size_t>(n)] = static_cast<int>(row_.size());
  for (int& r : row_) r = position_[static_cast<std::size_t>(r)];
  for (int k = 0; k < n; ++k) {
    std::sort(row_.begin() + column_start_[static_cast<std::size_t>(k)],
              row_.begin() + column_start_[static_cast<std::size_t>(k) + 1]);
  }
}

void BlockGraph::place_blocks() {
  const int n = node_count();
  block_offset_.resize(row_.size());
  int offset = 0;
  const auto size_at = [&](int pos) {
    return size_[static_cast<std::size_t>(node_at_[static_cast<std::size_t>(pos)])];
  };
  for (int k = 0; k < n; ++k) {
    const auto ks = static_cast<std::size_t>(k);
    const int nk = size_at(k);
    diagonal_offset_[ks] = offset;
    offset += pad(nk) * nk;
    for (int r = column_start_[ks]; r < column_start_[ks + 1]; ++r) {
      block_offset_[static_cast<std::size_t>(r)] = offset;
      offset += pad(size_at(row_[static_cast<std::size_t>(r)])) * nk;
    }
  }
  value_count_ = offset;
}

void BlockGraph::list_updates() {
  const int n = node_count();
  updates_.clear();
  const auto size_at = [&](int pos) {
    return size_[static_cast<std::size_t>(node_at_[static_cast<std::size_t>(pos)])];
  };
  for (int k = 0; k < n; ++k) {
    const auto ks = static_cast<std::size_t>(k);
    update_start_[ks] = static_cast<int>(updates_.size());
    for (int b = column_start_[ks]; b < column_start_[ks + 1]; ++b) {
      const int j = row_[static_cast<std::size_t>(b)];
      for (int a = b; a < column_start_[ks + 1]; ++a) {
        const int i = row_[static_cast<std::size_t>(a)];
        Update u;
        u.target = i == j ? diagonal_offset_[static_cast<std::size_t>(j)]
                          : block_offset_[static_cast<std::size_t>(find_row(j, i))];
        u.left = block_offset_[static_cast<std::size_t>(a)];
        u.right = block_offset_[static_cast<std::size_t>(b)];
        u.rows = size_at(i);
        u.cols = size_at(j);
        u.inner = size_at(k);
        u.ld_target_left = pad(u.rows);
        u.ld_right = pad(u.cols);
        updates_.push_back(u);
      }
    }
  }
  update_start_[static_cast<std::size_t>(n)] = static_cast<int>(updates_.size());
}

int BlockGraph::find_row(int column, int row) const {
  const auto first = row_.begin() + column_start_[static_cast<std::size_t>(column)];
  const auto last = row_.begin() + column_start_[static_cast<std::size_t>(column) + 1];
  const auto it = std::lower_bound(first, last, row);
  return it != last && *it == row ? static_cast<int>(it - row_.begin()) : -1;
}

BlockRef BlockGraph::diagonal(int node) const {
  const int k = position_[static_cast<std::size_t>(node)];
  return {diagonal_offset_[static_cast<std::size_t>(k)], pad(size_[static_cast<std::size_t>(node)]), true};
}

BlockRef BlockGraph::off_diagonal(int a, int b) const {
  const int pa = position_[static_cast<std::size_t>(a)];
  const int pb = position_[static_cast<std::size_t>(b)];
  const bool row_is_a = pa > pb;
  const int r = find_row(std::min(pa, pb), std::max(pa, pb));
  return {block_offset_[static_cast<std::size_t>(r)], pad(size_[static_cast<std::size_t>(row_is_a ? a : b)]), row_is_a};
}

}  // namespace sarrus
