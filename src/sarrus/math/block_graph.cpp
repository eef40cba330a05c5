#include "sarrus/math/block_graph.h"

#include <algorithm>
#include <bit>

#include "sarrus/math/dissection.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr std::uint64_t kEliminated = ~std::uint64_t{0};
constexpr int kLarge = 1500;  // nodes: where another order may be worth its price

// What is needed of a graph that is large, one for all graphs of a thread.
struct Dissected {
  Dissection dissection;
  const std::uint8_t* stages = nullptr;                   // by node; none: all are of the same one
  std::vector<int> row, column_start, position, node_at;  // of the order without stages
};
thread_local Dissected dissected;

// Stages come before degrees.
int by_stage(int node, int degree) {
  return dissected.stages == nullptr ? degree : degree + (dissected.stages[node] << 24);
}

}  // namespace

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
  column_start_.resize(n + 1);
  for (std::vector<int>* v : {&position_, &node_at_, &diagonal_offset_}) v->resize(n);
  edges_.clear();
  analysed_ = false;
}

bool BlockGraph::analyse(std::span<const std::uint64_t> edges, Ordering& memory) {
  if (analysed_ && std::equal(edges.begin(), edges.end(), edges_.begin(), edges_.end())) return false;
  edges_.assign(edges.begin(), edges.end());
  o_ = &memory;
  order_and_fill();
  o_ = nullptr;
  place_blocks();
  find_components();
  analysed_ = true;
  ++analyses_;
  return true;
}

// Minimum degree; ties go to the lower node. Eliminating p connects its neighbours, and the neighbours that remain are
// the rows of p's column. That column stands for the edges among them: a node keeps a list of columns that hold it
// (a column that has eliminated a node of another one replaces it) and of neighbours that no such column explains. The
// two never outgrow the neighbours that the node has in the graph, so they share the place of those.
//
// Large graphs are ordered once more, by the stages of nested dissection and within them by degree, and keep the order
// that needs fewer updates.
void BlockGraph::order_and_fill() {
  const int n = node_count();
  const auto eliminate = [&] {
    row_.clear();
    for (int k = 0; k < n; ++k) {
      const int p = static_cast<int>(o_->least[1] & 0xffffffffu);
      set_key(p, kEliminated);
      position_[at(p)] = k;
      node_at_[at(k)] = p;
      column_start_[at(k)] = static_cast<int>(row_.size());
      collect_column(p);
      column_start_[at(k) + 1] = static_cast<int>(row_.size());
      for (int r = column_start_[at(k)]; r < column_start_[at(k) + 1]; ++r) explain(row_[at(r)], k);
      for (int r = column_start_[at(k)]; r < column_start_[at(k) + 1]; ++r) count_neighbours(row_[at(r)], k);
    }
  };
  const auto finish = [&] {
    for (int& r : row_) r = position_[at(r)];
    for (int k = 0; k < n; ++k) {
      std::sort(row_.begin() + column_start_[at(k)], row_.begin() + column_start_[at(k) + 1]);
    }
  };
  list_neighbours();
  if (n < kLarge) {
    eliminate();
    finish();
    return;
  }
  Dissected& d = dissected;
  const struct Reset {  // also where memory runs out in between: the next graph of this thread has stages of its own
    ~Reset() { dissected.stages = nullptr; }
  } reset;
  const std::span<const std::uint8_t> stages = d.dissection.find(o_->list_start, o_->list_end, o_->list);
  eliminate();
  if (std::all_of(stages.begin(), stages.end(), [](std::uint8_t s) { return s == 0; })) {
    finish();
    return;
  }
  const std::int64_t updates = update_count();
  const std::int64_t work = work_;
  d.row = row_;
  d.column_start = column_start_;
  d.position = position_;
  d.node_at = node_at_;
  d.stages = stages.data();
  list_neighbours();
  eliminate();
  d.stages = nullptr;
  if (update_count() >= updates) {
    row_ = d.row;
    column_start_ = d.column_start;
    position_ = d.position;
    node_at_ = d.node_at;
    work_ = work;
  }
  finish();
}

void BlockGraph::list_neighbours() {
  const auto n = at(node_count());
  for (std::vector<int>* v : {&o_->list_start, &o_->list_end, &o_->outside}) v->resize(n);
  o_->degree.assign(n, 0);
  o_->column_count.assign(n, 0);
  o_->absorbed.assign(n, 0);
  for (std::vector<std::uint32_t>* v : {&o_->mark, &o_->second_mark, &o_->outside_stamp}) v->assign(n, 0);
  o_->stamp = o_->second_stamp = 0;
  work_ = 0;
  for (const std::uint64_t e : edges_) {
    ++o_->degree[e >> 32];
    ++o_->degree[e & 0xffffffffu];
  }
  int start = 0;
  for (std::size_t i = 0; i < n; ++i) {
    o_->list_start[i] = o_->list_end[i] = start;
    start += o_->degree[i];
  }
  o_->list.resize(at(start));
  o_->least.assign(2 * std::bit_ceil(n), kEliminated);
  for (std::size_t i = 0; i < n; ++i) set_degree(static_cast<int>(i), by_stage(static_cast<int>(i), o_->degree[i]));
  for (const std::uint64_t e : edges_) {
    const auto a = static_cast<std::size_t>(e >> 32);
    const auto b = static_cast<std::size_t>(e & 0xffffffffu);
    o_->list[at(o_->list_end[a]++)] = static_cast<int>(b);
    o_->list[at(o_->list_end[b]++)] = static_cast<int>(a);
  }
}

// The least key of all is at the root of a binary tree of least keys.
void BlockGraph::set_key(int node, std::uint64_t key) {
  std::size_t i = o_->least.size() / 2 + at(node);
  o_->least[i] = key;
  while (i > 1) {
    i /= 2;
    const std::uint64_t smaller = std::min(o_->least[2 * i], o_->least[2 * i + 1]);
    if (o_->least[i] == smaller) return;
    o_->least[i] = smaller;
  }
}

// Appends the neighbours of p, all marked by the present stamp; the columns that hold p end here.
void BlockGraph::collect_column(int p) {
  o_->mark[at(p)] = ++o_->stamp;
  const auto add = [&](int i) {
    ++work_;
    if (o_->mark[at(i)] == o_->stamp) return;
    o_->mark[at(i)] = o_->stamp;
    row_.push_back(i);
  };
  const int columns_end = o_->list_start[at(p)] + o_->column_count[at(p)];
  for (int l = o_->list_start[at(p)]; l < columns_end; ++l) {
    const auto e = at(o_->list[at(l)]);
    o_->absorbed[e] = 1;
    for (int r = column_start_[e]; r < column_start_[e + 1]; ++r) add(row_[at(r)]);
  }
  for (int l = columns_end; l < o_->list_end[at(p)]; ++l) add(o_->list[at(l)]);
}

// Column k, whose nodes are marked, explains neighbours of i: they leave its list, and so do columns that ended.
void BlockGraph::explain(int i, int k) {
  int* const first = o_->list.data() + o_->list_start[at(i)];
  int* const columns_end = first + o_->column_count[at(i)];
  int* const end = o_->list.data() + o_->list_end[at(i)];
  work_ += end - first;
  int* const columns = std::remove_if(first, columns_end, [&](int e) { return o_->absorbed[at(e)] != 0; });
  int* const others_end = std::remove_if(columns_end, end, [&](int v) { return o_->mark[at(v)] == o_->stamp; });
  // What made i a neighbour has left, the node k itself or a column that held it, so there is room for column k.
  int* new_end = others_end;
  if (columns == columns_end) {
    *new_end++ = *columns;
  } else {
    new_end = std::copy(columns_end, others_end, columns + 1);
  }
  *columns = k;
  o_->column_count[at(i)] = static_cast<int>(columns + 1 - first);
  o_->list_end[at(i)] = static_cast<int>(new_end - o_->list.data());
}

// Neighbours of i: those of column k, and those that only other columns of i or its list have. Columns within column k
// end here.
void BlockGraph::count_neighbours(int i, int k) {
  int* const first = o_->list.data() + o_->list_start[at(i)];
  int* columns_end = first + o_->column_count[at(i)];
  int* const end = o_->list.data() + o_->list_end[at(i)];
  int degree = column_start_[at(k) + 1] - column_start_[at(k)] - 1;
  int others = 0;  // columns
  int outside = 0;
  for (const int* e = first; e != columns_end; ++e) {
    if (*e == k) continue;
    const int more = outside_of(*e);
    if (more == 0) continue;
    ++others;
    outside = more;
  }
  if (columns_end == end && others <= 1) {
    set_degree(i, by_stage(i, degree + outside));
    return;
  }
  ++o_->second_stamp;
  const auto add = [&](int v) {
    ++work_;
    if (o_->mark[at(v)] == o_->stamp || o_->second_mark[at(v)] == o_->second_stamp) return;
    o_->second_mark[at(v)] = o_->second_stamp;
    ++degree;
  };
  for (const int* e = first; e != columns_end; ++e) {
    if (*e == k || outside_of(*e) == 0) continue;
    for (int r = column_start_[at(*e)]; r < column_start_[at(*e) + 1]; ++r) add(row_[at(r)]);
  }
  for (const int* v = columns_end; v != end; ++v) add(*v);
  set_degree(i, by_stage(i, degree));
}

// Nodes of a column that the present one does not have.
int BlockGraph::outside_of(int column) {
  const auto e = at(column);
  if (o_->outside_stamp[e] == o_->stamp) return o_->outside[e];
  int count = 0;
  for (int r = column_start_[e]; r < column_start_[e + 1]; ++r) count += o_->mark[at(row_[at(r)])] != o_->stamp;
  work_ += column_start_[e + 1] - column_start_[e];
  o_->outside_stamp[e] = o_->stamp;
  o_->outside[e] = count;
  if (count == 0) o_->absorbed[e] = 1;
  return count;
}

void BlockGraph::place_blocks() {
  const int n = node_count();
  block_offset_.resize(row_.size());
  int offset = 0;
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

// The first row of a column is its parent in the tree of elimination.
void BlockGraph::find_components() {
  const auto n = at(node_count());
  component_of_.resize(n);
  component_positions_.resize(n);
  int count = 0;
  for (std::size_t k = n; k-- > 0;) {
    const bool root = column_start_[k] == column_start_[k + 1];
    component_of_[k] = root ? count++ : component_of_[at(row_[at(column_start_[k])])];
  }
  component_begin_.assign(at(count + 1), 0);
  for (const int c : component_of_) ++component_begin_[at(c) + 1];
  for (int c = 0; c < count; ++c) component_begin_[at(c) + 1] += component_begin_[at(c)];
  // Filling from the back moves the ends to the begins.
  for (std::size_t k = n; k-- > 0;)
    component_positions_[at(--component_begin_[at(component_of_[k]) + 1])] = static_cast<int>(k);
  for (int c = 0; c < count; ++c) component_begin_[at(c)] = component_begin_[at(c) + 1];
  component_begin_[at(count)] = static_cast<int>(n);
}

std::int64_t BlockGraph::update_count() const {
  std::int64_t count = 0;
  for (int k = 0; k < node_count(); ++k) {
    const std::int64_t rows = column_begin(k + 1) - column_begin(k);
    count += rows * (rows + 1) / 2;
  }
  return count;
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
