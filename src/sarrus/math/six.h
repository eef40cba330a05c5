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

// out_r += x_r' A x_r for `rows` rows of six; A symmetric, column-major with stride 6, kept in registers.
inline void add_quadratics_six(const double* A, int rows, const double* X, double* out) {
  Six a[6];
  for (int c = 0; c < 6; ++c) a[c] = Six::load(A + 6 * c);
  for (int r = 0; r < rows; ++r) {
    const double* x = X + 6 * r;
    Six y = {x[0] * a[0].a, x[0] * a[0].b};
    for (int c = 1; c < 6; ++c) {
      y.a += x[c] * a[c].a;
      y.b += x[c] * a[c].b;
    }
    out[r] += y.dot(x);
  }
}

// H += X' diag(g) Y, or H = that with `first`; H column-major with stride 8, whose rows 6 and 7 are left as they are;
// X and Y with `rows` rows of six. The columns of H stay in registers.
inline void add_weighted_product_six(bool first, int rows, const double* __restrict g, const double* __restrict X,
                                     const double* __restrict Y, double* __restrict H) {
  Eigen::Array4d a[6];
  Eigen::Array2d b[6];
  for (int c = 0; c < 6; ++c) {
    if (first) {
      a[c].setZero();
      b[c].setZero();
    } else {
      a[c] = Eigen::Map<const Eigen::Array4d>(H + 8 * c);
      b[c] = Eigen::Map<const Eigen::Array2d>(H + 8 * c + 4);
    }
  }
  for (int i = 0; i < rows; ++i) {
    const Eigen::Array4d x = g[i] * Eigen::Map<const Eigen::Array4d>(X + 6 * i);
    const Eigen::Array2d z = g[i] * Eigen::Map<const Eigen::Array2d>(X + 6 * i + 4);
    for (int c = 0; c < 6; ++c) {
      a[c] += Y[6 * i + c] * x;
      b[c] += Y[6 * i + c] * z;
    }
  }
  for (int c = 0; c < 6; ++c) {
    Eigen::Map<Eigen::Array4d>(H + 8 * c) = a[c];
    Eigen::Map<Eigen::Array2d>(H + 8 * c + 4) = b[c];
  }
}

}  // namespace sarrus
