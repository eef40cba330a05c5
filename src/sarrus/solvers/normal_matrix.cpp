#include "sarrus/solvers/normal_matrix.h"

#include <algorithm>
#include <atomic>

#include "sarrus/math/six.h"
#include "sarrus/math/tools.h"
#include "sarrus/math/workers.h"

namespace sarrus {
namespace {

// Rows of the Jacobian have the size of the node, those of an island its padded size.
int width(const ConstraintProblem& p, const ConstraintBlock& b, int k) { return p.node_size[at(b.node[k])]; }
int width(const NcpProblem&, const NcpBlock& b, int k) { return b.width[k]; }
int mass_stride(const ConstraintProblem&, int n) { return n; }
int mass_stride(const NcpProblem&, int n) { return BlockGraph::pad(n); }
bool has_cone(const ConstraintBlock&) { return false; }
bool has_cone(const NcpBlock& b) { return b.contact; }

// H += X' Y on a column-major block with leading dimension ld; X: rows x wx, Y: rows x wy, row-major. Columns of H
// beyond those of the node do not exist, hence nc <= wy.
template <int WX, int NC>
void add_product(double* __restrict H, int ld, const double* __restrict X, int wx_size, const double* __restrict Y,
                 int wy, int rows, int nc_size) {
  const int wx = WX > 0 ? WX : wx_size;
  const int nc = NC > 0 ? NC : nc_size;
  for (int c = 0; c < nc; ++c) {
    if constexpr (WX == 6) {
      Six sum = Six::load(H + c * ld);
      for (int i = 0; i < rows; ++i) sum.add(Y[i * wy + c], X + i * WX);
      sum.store(H + c * ld);
    } else if constexpr (WX > 0) {
      using Column = Eigen::Array<double, WX, 1>;
      Column sum = Eigen::Map<const Column>(H + c * ld);
      for (int i = 0; i < rows; ++i) sum += Eigen::Map<const Column>(X + i * WX) * Y[i * wy + c];
      Eigen::Map<Column>(H + c * ld, WX) = sum;
    } else {
      for (int i = 0; i < rows; ++i) {
        const double y = Y[i * wy + c];
        for (int r = 0; r < wx; ++r) H[c * ld + r] += X[i * wx + r] * y;
      }
    }
  }
}

// Y = G X for one contact, transposed: Y = G' X.
template <int WIDTH>
void weigh_cone(double* __restrict Y, const double* __restrict G, bool transposed, const double* __restrict X,
                int width_size) {
  const int width = WIDTH > 0 ? WIDTH : width_size;
  for (int i = 0; i < 3; ++i) {
    const double a = transposed ? G[i] : G[3 * i];
    const double b = transposed ? G[3 + i] : G[3 * i + 1];
    const double c = transposed ? G[6 + i] : G[3 * i + 2];
    for (int r = 0; r < width; ++r) Y[i * width + r] = a * X[r] + b * X[width + r] + c * X[2 * width + r];
  }
}

void weigh_rows(double* __restrict Y, const double* __restrict g, const double* __restrict X, int rows, int width) {
  for (int i = 0; i < rows; ++i) {
    for (int r = 0; r < width; ++r) Y[i * width + r] = g[i] * X[i * width + r];
  }
}

bool all_zero(const double* x, int n) {
  return std::all_of(x, x + n, [](double v) { return v == 0; });
}

}  // namespace

void NormalMatrix::exchange(Analysis& other) {
  llt_.exchange(other.graph);
  node_size_.swap(other.node_size);
  signature_.swap(other.signature);
  pairs_.swap(other.pairs);
  fill_.swap(other.fill);
  parts_.swap(other.parts);
  order_.swap(other.order);
  std::swap(weighted_size_, other.weighted);
  weighted_.resize(std::max(weighted_.size(), weighted_size_));
}

template <class Blocks>
bool NormalMatrix::same_signature(const Blocks& blocks) {
  std::size_t n = 0;
  bool same = true;
  const auto put = [&](int x) {
    if (n == signature_.size()) {
      signature_.push_back(x);
      same = false;
    } else if (signature_[n] != x) {
      signature_[n] = x;
      same = false;
    }
    ++n;
  };
  for (const auto& b : blocks) {
    put(b.rows << 4 | b.nodes);
    for (int k = 0; k < b.nodes; ++k) put(b.node[k]);
  }
  same = same && n == signature_.size();
  signature_.resize(n);
  return same && llt_.analyses() > 0;
}

template <class Problem, class Blocks>
void NormalMatrix::index(const Problem& p, const Blocks& blocks) {
  if (node_size_ != p.node_size) {
    node_size_ = p.node_size;
    llt_.set_nodes(node_size_);
    signature_.clear();
  }
  if (same_signature(blocks)) return;
  edges_.clear();
  std::size_t largest = 0;
  for (const auto& b : blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      largest = std::max(largest, at(b.rows * width(p, b, k)));
      for (int l = k + 1; l < b.nodes; ++l) edges_.push_back(BlockGraph::edge_key(b.node[k], b.node[l]));
    }
  }
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  llt_.analyse(edges_);
  pairs_.clear();
  for (const auto& b : blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      for (int l = k; l < b.nodes; ++l) {
        const BlockRef ref = k == l ? llt_.diagonal(b.node[k]) : llt_.off_diagonal(b.node[k], b.node[l]);
        pairs_.push_back({ref.offset, ref.row_is_a, k != l});
      }
    }
  }
  find_first();
  divide(blocks);
  weighted_size_ = 2 * kMaxBlockNodes * largest;
  weighted_.resize(std::max(weighted_.size(), weighted_size_));
}

void NormalMatrix::find_first() {
  const BlockGraph& graph = llt_.graph();
  const int count = graph.column_begin(graph.node_count());
  touched_.assign(at(count), 0);
  // Offsets ascend with the index of a block.
  const auto index_of = [&](int offset) {
    int low = 0;
    for (int high = count; high - low > 1;) {
      const int middle = (low + high) / 2;
      (graph.block_offset(middle) <= offset ? low : high) = middle;
    }
    return at(low);
  };
  for (PairBlock& pair : pairs_) {
    if (!pair.first) continue;
    char& touched = touched_[index_of(pair.offset)];
    pair.first = touched == 0;
    touched = 1;
  }
  fill_.clear();
  parts_.clear();
  for (int c = 0; c < graph.component_count(); ++c) {
    for (const int k : graph.component(c)) {
      for (int i = graph.column_begin(k); i < graph.column_begin(k + 1); ++i) {
        if (touched_[at(i)] == 0) fill_.push_back(graph.block_offset(i));
      }
    }
    parts_.push_back({static_cast<int>(fill_.size()), 0});
  }
}

// Blocks by component, in the order that they have within; a graph in one piece needs no list.
template <class Blocks>
void NormalMatrix::divide(const Blocks& blocks) {
  const BlockGraph& graph = llt_.graph();
  order_.clear();
  if (graph.component_count() == 1) parts_.clear();
  if (parts_.empty()) return;
  for (const auto& b : blocks) {
    if (b.nodes > 0) ++parts_[at(graph.component_of(graph.position(b.node[0])))].blocks_end;
  }
  int end = 0;
  for (Part& part : parts_) {
    end += part.blocks_end;
    part.blocks_end = end - part.blocks_end;  // the begin, which filling moves to the end
  }
  order_.resize(at(end));
  int pair = 0;
  int i = 0;
  for (const auto& b : blocks) {
    if (b.nodes > 0) order_[at(parts_[at(graph.component_of(graph.position(b.node[0])))].blocks_end++)] = {i, pair};
    pair += b.nodes * (b.nodes + 1) / 2;
    ++i;
  }
}

void NormalMatrix::prepare(const ConstraintProblem& p, std::span<const ConstraintBlock> blocks) { index(p, blocks); }

void NormalMatrix::prepare(const NcpProblem& p) {
  index(p, p.blocks);
  llt_.claim();
  lu_.resize(llt_.graph(), llt_.values());  // now, not at its first use, which may come many steps later
}

template <class Problem, class Blocks>
void NormalMatrix::add_blocks(const Problem& p, const Blocks& blocks, const double* g, const double* cones) {
  double* lower = symmetric_ ? llt_.values() : lu_.lower();
  double* upper = symmetric_ ? nullptr : lu_.upper();
  const PairBlock* next = pairs_.data();
  for (const auto& b : blocks) {
    const double* G = g + b.row;
    if (has_cone(b)) {
      G = cones;
      cones += 9;
    }
    const PairBlock* pair = next;
    next += b.nodes * (b.nodes + 1) / 2;
    if (all_zero(G, has_cone(b) ? 9 : b.rows)) continue;
    double* weighted[kMaxBlockNodes];
    double* weighted_back[kMaxBlockNodes];
    double* memory = weighted_.data();
    for (int k = 0; k < b.nodes; ++k) {
      const double* J = p.jacobian.data() + b.jac[k];
      const int w = width(p, b, k);
      weighted[k] = weighted_back[k] = memory;
      memory += b.rows * w;
      if (!has_cone(b)) {
        weigh_rows(weighted[k], G, J, b.rows, w);
        continue;
      }
      const auto weigh = w == 8 ? weigh_cone<8> : weigh_cone<0>;
      weigh(weighted[k], G, false, J, w);
      if (!symmetric_) {
        weighted_back[k] = memory;
        memory += b.rows * w;
        weigh(weighted_back[k], G, true, J, w);
      }
    }
    for (int k = 0; k < b.nodes; ++k) {
      for (int l = k; l < b.nodes; ++l, ++pair) {
        const int row = pair->row_is_first ? k : l;
        const int column = pair->row_is_first ? l : k;
        const int nr = p.node_size[at(b.node[row])];
        const int nc = p.node_size[at(b.node[column])];
        const int wx = width(p, b, row);
        const int wy = width(p, b, column);
        const auto add = nr != 6 || nc != 6 ? add_product<0, 0> : wx == 8 ? add_product<8, 6> : add_product<6, 6>;
        const double* J = p.jacobian.data() + b.jac[row];
        add(lower + pair->offset, BlockGraph::pad(nr), J, wx, weighted[column], wy, b.rows, nc);
        if (upper != nullptr && k != l) {
          add(upper + pair->offset, BlockGraph::pad(nr), J, wx, weighted_back[column], wy, b.rows, nc);
        }
      }
    }
  }
}

template <class Problem, class Blocks>
bool NormalMatrix::assemble_and_factor(const Problem& p, const Blocks& blocks, const double* g, const double* cones,
                                       bool symmetric) {
  ++factorisations_;
  symmetric_ = symmetric;
  llt_.claim();
  if (symmetric) {
    llt_.set_zero();
  } else {
    lu_.set_zero();
  }
  double* H = symmetric ? llt_.values() : lu_.lower();
  for (int i = 0; i < p.node_count(); ++i) {
    const int n = p.node_size[at(i)];
    const double* A = p.mass.data() + p.mass_offset[at(i)];
    const BlockRef to = llt_.diagonal(i);
    for (int c = 0; c < n; ++c) std::copy_n(A + c * mass_stride(p, n), n, H + to.offset + c * to.ld);
  }
  add_blocks(p, blocks, g, cones);
  return symmetric ? llt_.factor() : lu_.factor(llt_.graph());
}

// Returns the pairs of the next block.
const NormalMatrix::PairBlock* NormalMatrix::add_block_six(const ConstraintProblem& p, const ConstraintBlock& b,
                                                           const double* g, const PairBlock* pair, double* H) {
  const bool nil = b.rows == 1 && g[b.row] == 0;
  for (int k = 0; k < b.nodes; ++k) {
    for (int l = k; l < b.nodes; ++l, ++pair) {
      if (nil && !pair->first) continue;
      const double* X = p.jacobian.data() + b.jac[pair->row_is_first ? k : l];
      const double* Y = p.jacobian.data() + b.jac[pair->row_is_first ? l : k];
      add_weighted_product_six(pair->first, b.rows, g + b.row, X, Y, H + pair->offset);
    }
  }
  return pair;
}

// Nodes of six components: blocks are written by who comes first, and only fill is set to zero.
bool NormalMatrix::factor_six(const ConstraintProblem& p, std::span<const ConstraintBlock> blocks, const double* g) {
  ++factorisations_;
  symmetric_ = true;
  llt_.claim();
  if (!parts_.empty()) {
    std::atomic<bool> regular = true;
    Workers::here().each(static_cast<int>(parts_.size()), [&](int i, int) {
      assemble_part(p, blocks, g, i);
      if (!llt_.factor(llt_.graph().component(i))) regular = false;
    });
    return regular;
  }
  double* H = llt_.values();
  const BlockGraph& graph = llt_.graph();
  for (int i = 0; i < p.node_count(); ++i) {
    const double* A = p.mass.data() + p.mass_offset[at(i)];
    double* to = H + graph.diagonal_offset(graph.position(i));
    for (int c = 0; c < 6; ++c) Six::load(A + 6 * c).store(to + 8 * c);
  }
  for (const int offset : fill_) std::fill_n(H + offset, 48, 0.0);
  const PairBlock* pair = pairs_.data();
  for (const ConstraintBlock& b : blocks) pair = add_block_six(p, b, g, pair, H);
  return llt_.factor();
}

void NormalMatrix::assemble_part(const ConstraintProblem& p, std::span<const ConstraintBlock> blocks, const double* g,
                                 int i) {
  const BlockGraph& graph = llt_.graph();
  double* H = llt_.values();
  for (const int k : graph.component(i)) {
    const double* A = p.mass.data() + p.mass_offset[at(graph.node_at(k))];
    double* to = H + graph.diagonal_offset(k);
    for (int c = 0; c < 6; ++c) Six::load(A + 6 * c).store(to + 8 * c);
  }
  const Part before = i > 0 ? parts_[at(i - 1)] : Part{0, 0};
  for (int f = before.fill_end; f < parts_[at(i)].fill_end; ++f) std::fill_n(H + fill_[at(f)], 48, 0.0);
  for (int n = before.blocks_end; n < parts_[at(i)].blocks_end; ++n) {
    add_block_six(p, blocks[at(order_[at(n)].block)], g, pairs_.data() + order_[at(n)].pair, H);
  }
}

void NormalMatrix::solve(const ConstraintProblem& p, std::span<const ConstraintBlock> blocks,
                         std::span<const double> lambda, VecX& out) {
  if (parts_.empty()) {
    p.multiply_Jt(blocks, lambda, out);
    llt_.solve(out);
    return;
  }
  Workers::here().each(static_cast<int>(parts_.size()), [&](int i, int) {
    const BlockGraph& graph = llt_.graph();
    const std::span<const int> positions = graph.component(i);
    for (const int k : positions) {
      const int node = graph.node_at(k);
      out.segment(graph.node_start(node), graph.node_size(node)).setZero();
    }
    for (int n = i > 0 ? parts_[at(i - 1)].blocks_end : 0; n < parts_[at(i)].blocks_end; ++n) {
      const ConstraintBlock& b = blocks[at(order_[at(n)].block)];
      p.add_Jt(b, lambda.data() + b.row, out.data());
    }
    llt_.solve(positions, out);
  });
}

bool NormalMatrix::factor(const ConstraintProblem& p, std::span<const ConstraintBlock> blocks,
                          std::span<const double> g) {
  if (!llt_.graph().all_six()) return assemble_and_factor(p, blocks, g.data(), nullptr, true);
  if (factor_six(p, blocks, g.data())) return true;
  llt_.set_zero();  // what is not finite would stay where nothing is written again: in the padding
  return false;
}

bool NormalMatrix::factor(const NcpProblem& p, const double* g, const double* cones, bool symmetric) {
  return assemble_and_factor(p, p.blocks, g, cones, symmetric);
}

void NormalMatrix::solve(double* padded) const {
  if (symmetric_) {
    llt_.solve_padded(padded);
  } else {
    lu_.solve_padded(llt_.graph(), padded);
  }
}

}  // namespace sarrus
