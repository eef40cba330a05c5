// Cholesky factorisation A_II + diag(s_I) = L L' of a principal submatrix, in memory that only grows.
//
// Eigen's own factorisation is faster on large matrices, but its blocked kernels take heap memory on every call, which
// the solvers promise not to do.
#pragma once

#include <span>

#include "sarrus/math/growing_vector.h"

namespace sarrus {

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

}  // namespace sarrus
