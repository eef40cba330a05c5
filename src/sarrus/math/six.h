// Rows of six numbers, the size of a body's velocity, as a vector of four and one of two: what GCC keeps in registers,
// where Eigen's own six-vectors fall apart into three halves or six scalars. Not installed.
#pragma once

#include "sarrus/math/types.h"

namespace sarrus {

struct Six {
  Eigen::Array4d a;
  Eigen::Array2d b;

  static Six load(const double* x) {
    return {Eigen::Map<const Eigen::Array4d>(x), Eigen::Map<const Eigen::Array2d>(x + 4)};
  }
  void store(double* x) const {
    Eigen::Map<Eigen::Array4d>(x, 4) = a;
    Eigen::Map<Eigen::Array2d>(x + 4, 2) = b;
  }
  void add(double factor, const double* x) {
    a += factor * Eigen::Map<const Eigen::Array4d>(x);
    b += factor * Eigen::Map<const Eigen::Array2d>(x + 4);
  }
  void add_product(const Six& x, const double* y) {
    a += x.a * Eigen::Map<const Eigen::Array4d>(y);
    b += x.b * Eigen::Map<const Eigen::Array2d>(y + 4);
  }
  double sum() const {
    const Eigen::Array2d s = a.head<2>() + a.tail<2>() + b;
    return s[0] + s[1];
  }
  Six times(const double* x) const {
    return {a * Eigen::Map<const Eigen::Array4d>(x), b * Eigen::Map<const Eigen::Array2d>(x + 4)};
  }
  double dot(const double* x) const { return times(x).sum(); }
};

// y = A x, A column-major with the given stride.
inline Six times_six(const double* A, int stride, const double* x) {
  Six y = {x[0] * Eigen::Map<const Eigen::Array4d>(A), x[0] * Eigen::Map<const Eigen::Array2d>(A + 4)};
  for (int c = 1; c < 6; ++c) y.add(x[c], A + c * stride);
  return y;
}

// x' A x, A symmetric, column-major with the given stride.
inline double quadratic_six(const double* A, int stride, const double* x) { return times_six(A, stride, x).dot(x); }

}  // namespace sarrus
