// Block-sparse LU factorisation of a matrix with symmetric pattern and non-symmetric values, on a graph of nodes
// (docs/theory/newton.md §2.4). It serves the Newton matrices that contain the De Saxce coupling.
//
// Upper blocks are stored transposed, U~_ik = U_ki', in an array of their own at the offsets of the lower ones, so that
// both updates are the product of the Cholesky factorisation:
//   diagonal  P_k A_kk = L_k U_k, rows pivoted within the block;  Q_k = L_k^-1 P_k and U_k^-1 are kept apart
//   columns   L_ik = A_ik U_k^-1,   U~_ik = U~_ik Q_k'
//   updates   L_ij -= L_ik U~_jk',  and for i != j  U~_ij -= U~_ik L_jk'
//   solve     w_k <- Q_k w_k,  w_i -= L_ik w_k;    backwards  w_k -= U~_ik' w_i,  w_k <- U_k^-1 w_k
// One product with the full inverse of A_kk instead of the two triangular ones would lose up to half of the digits when
// the diagonal blocks are nearly singular. No pivoting across blocks. Nodes of more than 16 components keep the factors
// themselves and use triangular solves.
#pragma once

#include <vector>

#include "sarrus/math/block_graph.h"
#include "sarrus/math/types.h"

namespace sarrus {

class BlockLU {
 public:
  // Takes the memory for a graph that was analysed. `lower`: memory of somebody else for the lower blocks, as many
  // numbers as the graph has values, who keeps it where it is until the next call; none: its own.
  void resize(const BlockGraph& graph, double* lower = nullptr);
  void set_zero();
  // Diagonal blocks and lower blocks (i, k): as BlockGraph::diagonal and off_diagonal say.
  double* lower() { return lower_; }
  // Transposes of the upper blocks (k, i), at the offsets of the lower ones.
  double* upper() { return upper_.data(); }

  // False if a pivot is zero or not finite.
  bool factor(const BlockGraph& graph);
  // Solves in place; the nodes of w start at graph.padded_start(), with zero padding.
  void solve_padded(const BlockGraph& graph, double* w) const;

 private:
  double* lower_ = nullptr;
  std::vector<double> own_lower_;
  std::vector<double> upper_;
  std::vector<double> scratch_;
  std::vector<int> pivots_;  // of nodes with more than 16 components, at padded_start
};

}  // namespace sarrus
