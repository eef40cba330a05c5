#include "sarrus/solvers/normal_matrix.h"

#include <algorithm>

namespace sarrus {
namespace {

// H += J_r' diag(g) J_c on a column-major block, rows from node r and columns from node c of one constraint.
template <int NR, int NC>
void add_weighted_product(double* H, int ld, const double* Jr, const double* Jc, const double* g, int rows, int nr,
                          int nc) {
  const int n_r = NR > 0 ? NR : nr;
  const int n_c = NC > 0 ? NC : nc;
  for (int i = 0; i < rows; ++i) {
    if (g[i] == 0) continue;
    for (int c = 0; c < n_c; ++c) {
      const double f = g[i] * Jc[i * n_c + c];
      for (int r = 0; r < n_r; ++r) H[c * ld + r] += f * Jr[i * n_r + r];
    }
  }
}

}  // namespace

void NormalMatrix::prepare(const ConstraintProblem& p, std::span<const ConstraintBlock> blocks) {
  if (node_size_ != p.node_size) {
    node_size_ = p.node_size;
    llt_.set_nodes(node_size_);
  }
  edges_.clear();
  for (const ConstraintBlock& b : blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      for (int l = k + 1; l < b.nodes; ++l) edges_.push_back(BlockLLT::edge_key(b.node[k], b.node[l]));
    }
  }
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  llt_.analyse(edges_);
  pairs_.clear();
  for (const ConstraintBlock& b : blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      for (int l = k; l < b.nodes; ++l) {
        const BlockLLT::BlockRef ref = k == l ? llt_.diagonal(b.node[k]) : llt_.off_diagonal(b.node[k], b.node[l]);
        pairs_.push_back({ref.offset, ref.ld, ref.row_is_a});
      }
    }
  }
}

bool NormalMatrix::factor(const ConstraintProblem& p, std::span<const ConstraintBlock> blocks,
                          std::span<const double> g) {
  llt_.set_zero();
  double* H = llt_.values();
  for (int i = 0; i < p.node_count(); ++i) {
    const int n = p.node_size[static_cast<std::size_t>(i)];
    const BlockLLT::BlockRef d = llt_.diagonal(i);
    const double* M = p.mass.data() + p.mass_offset[static_cast<std::size_t>(i)];
    for (int c = 0; c < n; ++c) std::copy(M + c * n, M + (c + 1) * n, H + d.offset + c * d.ld);
  }
  std::size_t next = 0;
  for (const ConstraintBlock& b : blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      for (int l = k; l < b.nodes; ++l) {
        const PairBlock& pair = pairs_[next++];
        const int row = pair.row_is_first ? k : l;
        const int column = pair.row_is_first ? l : k;
        const int nr = p.node_size[static_cast<std::size_t>(b.node[row])];
        const int nc = p.node_size[static_cast<std::size_t>(b.node[column])];
        const auto add = nr == 6 && nc == 6 ? add_weighted_product<6, 6> : add_weighted_product<0, 0>;
        add(H + pair.offset, pair.ld, p.jacobian.data() + b.jac[row], p.jacobian.data() + b.jac[column],
            g.data() + b.row, b.rows, nr, nc);
      }
    }
  }
  return llt_.factor();
}

}  // namespace sarrus
