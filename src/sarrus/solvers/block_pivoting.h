// Block principal pivoting for MLCPs with fixed bounds (docs/theory/solvers.md §9; Judice and Pires 1994).
//
//   x_L = l, x_U = u,   A_FF x_F = -b_F - A_FL x_L - A_FU x_U,   w = A x + b
//   V = {F: x < l or x > u} and {L: w < 0} and {U: w > 0};   V empty: solved
// All of V changes sides as long as no more than p_max exchanges in a row miss a new minimum of |V|; after that only
// its last row does (Murty), until |V| has a new minimum; always so if p_max = -1. Single exchanges end for every
// P-matrix, so the method does; A + shift is one.
//
// Singular A_FF (redundant rows with R = 0): A is replaced by A + S, S = 1e-10 diag(A), and b by b - S x_c. Once the
// index sets are right, x becomes the next centre x_c (proximal point method) until |S (x - x_c)| is a rounding error.
#pragma once

#include <span>
#include <vector>

#include "sarrus/solvers/mlcp.h"

namespace sarrus {

// Cholesky factorisation A_II + diag(s_I) = L L' of a principal submatrix, in memory that only grows.
//
// Eigen's own factorisation is faster on large matrices, but its blocked kernels take heap memory on every call, which
// the solvers promise not to do.
class DenseCholesky {
 public:
  // A: column-major with leading dimension ld, symmetric; only A(i, j) with i, j in `index` is read. `shift` is indexed
  // like A and may be null. False if a pivot is not positive beyond rounding (1e-13 of its diagonal entry).
  bool factor(const double* A, int ld, std::span<const int> index, const double* shift);
  // x = (A_II + diag(s_I))^-1 x
  void solve(double* x) const;
  int size() const { return n_; }

 private:
  using Column = Eigen::Map<VecX>;
  using ConstColumn = Eigen::Map<const VecX>;
  double* column(int j) { return L_.data() + static_cast<Eigen::Index>(j) * n_; }
  const double* column(int j) const { return L_.data() + static_cast<Eigen::Index>(j) * n_; }

  GrowingVector L_;  // column-major, lower triangle
  int n_ = 0;
};

struct PivotResult {
  int pivots = 0;
  int factorisations = 0;
  bool solved = false;  // no row is on the wrong side
  bool failed = false;  // a matrix could not be factored: not positive semidefinite, or not finite
};

class BlockPivoting {
 public:
  // A new matrix: forgets whether the last one needed the shift.
  void begin() { shifted_ = false; }
  // From the states of m (held rows keep their x); x, w and states are the result. At most `limit` pivots.
  PivotResult solve(Mlcp& m, int limit, int p_max);
  // x of basic rows for the present states, everything else as it is; counts factorisations. False: cannot be factored.
  bool solve_basic(Mlcp& m, int& factorisations);

 private:
  void prepare(const Mlcp& m);
  bool factor(const Mlcp& m, int& factorisations);
  void substitute(Mlcp& m);
  // Rows on the wrong side, in `wrong_`.
  void find_wrong(const Mlcp& m);
  bool recentre(const Mlcp& m);
  void exchange(Mlcp& m, int row) const;

  DenseCholesky cholesky_;
  std::vector<int> basic_, factored_, wrong_;
  GrowingVector rhs_, shift_, centre_;
  bool shifted_ = false;
  bool current_ = false;  // the factorisation belongs to `factored_` of this matrix
};

}  // namespace sarrus
