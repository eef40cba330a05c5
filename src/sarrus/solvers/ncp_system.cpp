#include "sarrus/solvers/ncp_system.h"

#include <algorithm>

namespace sarrus {
namespace {

// H += X' Y on a column-major block with leading dimension wx; X: rows x wx, Y: rows x wy, row-major. Columns of H
// beyond those of the node do not exist, hence nc <= wy.
template <int WX, int WY, int NC>
void add_product(double* __restrict H, const double* __restrict X, const double* __restrict Y, int rows, int wx_size,
                 int wy_size, int nc_size) {
  const int wx = WX > 0 ? WX : wx_size;
  const int wy = WY > 0 ? WY : wy_size;
  const int nc = NC > 0 ? NC : nc_size;
  if constexpr (WX > 0) {
    for (int c = 0; c < nc; ++c) {
      using Column = Eigen::Array<double, WX, 1>;
      Column acc = Eigen::Map<const Column>(H + c * WX);
      for (int i = 0; i < rows; ++i) acc += Eigen::Map<const Column>(X + i * WX) * Y[i * wy + c];
      Eigen::Map<Column>(H + c * WX, WX) = acc;
    }
  } else {
    for (int c = 0; c < nc; ++c) {
      for (int i = 0; i < rows; ++i) {
        const double y = Y[i * wy + c];
        for (int r = 0; r < wx; ++r) H[c * wx + r] += X[i * wx + r] * y;
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

void NcpSystem::prepare(const NcpProblem& p) {
  if (node_size_ != p.node_size) {
    node_size_ = p.node_size;
    llt_.set_nodes(node_size_);
  }
  edges_.clear();
  int largest = 0;
  for (const NcpBlock& b : p.blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      largest = std::max(largest, b.rows * b.width[k]);
      for (int l = k + 1; l < b.nodes; ++l) edges_.push_back(BlockGraph::edge_key(b.node[k], b.node[l]));
    }
  }
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  llt_.analyse(edges_);
  lu_.resize(llt_.graph());  // now, not at its first use, which may come many steps later
  pairs_.clear();
  for (const NcpBlock& b : p.blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      for (int l = k; l < b.nodes; ++l) {
        const BlockRef ref = k == l ? llt_.diagonal(b.node[k]) : llt_.off_diagonal(b.node[k], b.node[l]);
        pairs_.push_back({ref.offset, ref.row_is_a});
      }
    }
  }
  if (weighted_.size() < static_cast<std::size_t>(2 * kMaxBlockNodes * largest)) {
    weighted_.resize(static_cast<std::size_t>(2 * kMaxBlockNodes * largest));
  }
}

void NcpSystem::add_blocks(const NcpProblem& p, const double* g, const double* cones, bool symmetric) {
  double* lower = symmetric ? llt_.values() : lu_.lower();
  double* upper = symmetric ? nullptr : lu_.upper();
  std::size_t next = 0;
  int contact = 0;
  for (const NcpBlock& b : p.blocks) {
    const double* G = b.contact ? cones + 9 * contact++ : g + b.row;
    const std::size_t first = next;
    next += static_cast<std::size_t>(b.nodes * (b.nodes + 1) / 2);
    if (all_zero(G, b.contact ? 9 : b.rows)) continue;
    double* weighted[kMaxBlockNodes];
    double* weighted_back[kMaxBlockNodes];
    double* memory = weighted_.data();
    for (int k = 0; k < b.nodes; ++k) {
      const double* J = p.jacobian.data() + b.jac[k];
      weighted[k] = weighted_back[k] = memory;
      memory += b.rows * b.width[k];
      if (!b.contact) {
        weigh_rows(weighted[k], G, J, b.rows, b.width[k]);
        continue;
      }
      const auto weigh = b.width[k] == 8 ? weigh_cone<8> : weigh_cone<0>;
      weigh(weighted[k], G, false, J, b.width[k]);
      if (!symmetric) {
        weighted_back[k] = memory;
        memory += b.rows * b.width[k];
        weigh(weighted_back[k], G, true, J, b.width[k]);
      }
    }
    const PairBlock* pair = pairs_.data() + first;
    for (int k = 0; k < b.nodes; ++k) {
      for (int l = k; l < b.nodes; ++l, ++pair) {
        const int row = pair->row_is_first ? k : l;
        const int column = pair->row_is_first ? l : k;
        const int nc = p.node_size[static_cast<std::size_t>(b.node[column])];
        const int wx = b.width[row];
        const int wy = b.width[column];
        const auto add = wx == 8 && nc == 6 ? add_product<8, 8, 6> : add_product<0, 0, 0>;
        const double* J = p.jacobian.data() + b.jac[row];
        add(lower + pair->offset, J, weighted[column], b.rows, wx, wy, nc);
        if (!symmetric && k != l) add(upper + pair->offset, J, weighted_back[column], b.rows, wx, wy, nc);
      }
    }
  }
}

bool NcpSystem::factor(const NcpProblem& p, const double* g, const double* cones, bool symmetric) {
  ++factorisations_;
  symmetric_ = symmetric;
  if (symmetric) {
    llt_.set_zero();
  } else {
    lu_.set_zero();
  }
  double* H = symmetric ? llt_.values() : lu_.lower();
  for (int i = 0; i < p.node_count(); ++i) {
    const int n = p.node_size[static_cast<std::size_t>(i)];
    const double* A = p.mass.data() + p.mass_offset[static_cast<std::size_t>(i)];
    std::copy_n(A, BlockGraph::pad(n) * n, H + llt_.diagonal(i).offset);
  }
  add_blocks(p, g, cones, symmetric);
  return symmetric ? llt_.factor() : lu_.factor(llt_.graph());
}

void NcpSystem::solve(double* w) const {
  if (symmetric_) {
    llt_.solve_padded(w);
  } else {
    lu_.solve_padded(llt_.graph(), w);
  }
}

}  // namespace sarrus
