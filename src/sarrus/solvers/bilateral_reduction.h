// Bilateral rows eliminated from the compliant constraint problem (docs/theory/solvers.md §10.1, [D]).
//
//   rows b: bilateral,  rows s: the others;   A = D + R
//   A_bb x_b + A_bs x_s + v_b = 0    =>   x_b = -(A_bb^-1 v_b + A_bb^-1 A_bs x_s)
//   S = A_ss - A_sb A_bb^-1 A_bs,    v = v_s - A_sb A_bb^-1 v_b
// so that S x_s + v is the compliant velocity of the rows s with the bilateral ones satisfied. S contains R of the rows
// s on its diagonal. R_b = 0 is allowed; redundant rows are then shifted by 1e-10 A_ii and the shift removed by
// refinement.
#pragma once

#include <vector>

#include "sarrus/solvers/block_pivoting.h"

namespace sarrus {

class BilateralReduction {
 public:
  // The caller fills these with row numbers of m, each row at most once; rows in neither keep x = 0.
  std::vector<int> bilateral, others;
  double shift = 1e-10;  // of the diagonal, for redundant rows
  int max_passes = 6;    // of refinement, if the shift was needed

  // False if A_bb cannot be factored.
  bool reduce(const Mlcp& m);
  // x of the bilateral rows from x of the others, in m.
  void recover(Mlcp& m) const;
  int size() const { return static_cast<int>(others.size()); }
  double S(int i, int j) const { return S_[static_cast<Eigen::Index>(j) * size() + i]; }
  Eigen::Map<const MatX> S() const { return {S_.data(), size(), size()}; }
  const GrowingVector& v() const { return v_; }
  int factorisations() const { return factorisations_; }

 private:
  // A_bb^-1 rhs in place.
  void solve(const Mlcp& m, double* rhs);

  DenseCholesky cholesky_;
  bool shifted_ = false;
  int factorisations_ = 0;
  GrowingVector shift_, residual_, correction_;
  GrowingVector offset_;  // A_bb^-1 v_b
  GrowingVector gain_;    // A_bb^-1 A_bs, column-major
  GrowingVector S_, v_;
};

}  // namespace sarrus
