// Products of small dense blocks for the block-sparse factorisations (docs/theory/newton.md §2.2).
//
// Blocks are column-major and their leading dimension is a multiple of 4. The template versions have all trip counts
// known, so that the compiler keeps columns in vector registers.
#pragma once

#include "sarrus/math/six.h"
#include "sarrus/math/types.h"

namespace sarrus::block {

inline constexpr int kLargeNode = 16;  // above, triangular solves instead of inverses

using BlockMap = Eigen::Map<MatX, 0, Eigen::OuterStride<>>;
using ConstBlockMap = Eigen::Map<const MatX, 0, Eigen::OuterStride<>>;

// Column k of a block.
template <int LD>
auto column(const double* block, int k) {
  return Eigen::Map<const Eigen::Array<double, LD, 1>>(block + k * LD);
}
template <int LD>
auto column(double* block, int k) {
  return Eigen::Map<Eigen::Array<double, LD, 1>>(block + k * LD);
}

// C -= A B',  C: rows x cols, A: rows x inner, B: cols x inner.
template <int LD, int COLS, int INNER>
inline void subtract_product_fixed(double* __restrict C, const double* __restrict A, const double* __restrict B) {
  for (int j = 0; j < COLS; ++j) {
    Eigen::Array<double, LD, 1> acc = column<LD>(C, j);
    for (int k = 0; k < INNER; ++k) acc -= column<LD>(A, k) * B[k * LD + j];
    column<LD>(C, j) = acc;
  }
}

inline void subtract_product(double* C, const double* A, const double* B, int ld, int cols, int inner, int ld_b) {
  for (int j = 0; j < cols; ++j) {
    for (int k = 0; k < inner; ++k) {
      const double b = B[k * ld_b + j];
      for (int r = 0; r < ld; ++r) C[j * ld + r] -= A[k * ld + r] * b;
    }
  }
}

// X <- X T' with T lower triangular (n x n, leading dimension ld_t); columns from the last to the first, so
// that it works in place.
template <int LD, int N>
inline void times_lower_transposed_fixed(double* __restrict X, const double* __restrict T) {
  for (int j = N - 1; j >= 0; --j) {
    Eigen::Array<double, LD, 1> acc = column<LD>(X, j) * T[j * LD + j];
    for (int k = 0; k < j; ++k) acc += column<LD>(X, k) * T[k * LD + j];
    column<LD>(X, j) = acc;
  }
}

inline void times_lower_transposed(double* X, const double* T, int ld, int n, int ld_t) {
  for (int j = n - 1; j >= 0; --j) {
    const double diagonal = T[j * ld_t + j];
    for (int r = 0; r < ld; ++r) X[j * ld + r] *= diagonal;
    for (int k = 0; k < j; ++k) {
      const double t = T[k * ld_t + j];
      for (int r = 0; r < ld; ++r) X[j * ld + r] += X[k * ld + r] * t;
    }
  }
}

// y -= X x
template <int LD, int N>
inline void subtract_times_fixed(double* __restrict y, const double* __restrict X, const double* __restrict x) {
  Eigen::Array<double, LD, 1> acc = column<LD>(y, 0);
  for (int k = 0; k < N; ++k) acc -= column<LD>(X, k) * x[k];
  column<LD>(y, 0) = acc;
}

inline void subtract_times(double* y, const double* X, const double* x, int ld, int n) {
  for (int k = 0; k < n; ++k) {
    for (int r = 0; r < ld; ++r) y[r] -= X[k * ld + r] * x[k];
  }
}

// Four columns of eight, from the K-th on, times x.
template <int K>
inline Eigen::Array4d columns_times(const double* __restrict X, const double* __restrict x) {
  using Half = Eigen::Map<const Eigen::Array4d>;
  const Eigen::Array4d low = Half(x), high = Half(x + 4);
  const auto part = [&](int k) -> Eigen::Array4d { return low * Half(X + 8 * k) + high * Half(X + 8 * k + 4); };
  return sums_of(part(K), part(K + 1), part(K + 2), part(K + 3));
}

// y -= X' x, x padded with zeros
template <int LD, int N>
inline void subtract_transposed_times_fixed(double* __restrict y, const double* __restrict X,
                                            const double* __restrict x) {
  if constexpr (LD == 8 && N == 6) {
    Eigen::Map<Eigen::Array4d> head(y);
    const Eigen::Array4d part = columns_times<0>(X, x);
    head -= part;
    for (int k = 4; k < 6; ++k) y[k] -= (column<LD>(X, k) * column<LD>(x, 0)).sum();
  } else {
    for (int k = 0; k < N; ++k) y[k] -= (column<LD>(X, k) * column<LD>(x, 0)).sum();
  }
}

inline void subtract_transposed_times(double* y, const double* X, const double* x, int ld, int n) {
  for (int k = 0; k < n; ++k) {
    double s = 0;
    for (int r = 0; r < ld; ++r) s += X[k * ld + r] * x[r];
    y[k] -= s;
  }
}

// w <- T w and w <- T' w in place, T triangular with zeros elsewhere (fixed: any T), w padded with zeros.
template <int LD, int N>
inline void apply_fixed(double* w, const double* __restrict T) {
  Eigen::Array<double, LD, 1> acc = column<LD>(T, 0) * w[0];
  for (int k = 1; k < N; ++k) acc += column<LD>(T, k) * w[k];
  column<LD>(w, 0) = acc;
}
template <int LD, int N>
inline void apply_transposed_fixed(double* w, const double* __restrict T) {
  const Eigen::Array<double, LD, 1> x = column<LD>(w, 0);
  if constexpr (LD == 8 && N == 6) {
    const Eigen::Array4d head = columns_times<0>(T, x.data());
    for (int k = 4; k < 6; ++k) w[k] = (column<LD>(T, k) * x).sum();
    Eigen::Map<Eigen::Array4d>{w} = head;
  } else {
    for (int k = 0; k < N; ++k) w[k] = (column<LD>(T, k) * x).sum();
  }
}

inline void apply_lower(double* w, const double* T, int ld, int n) {
  for (int i = n - 1; i >= 0; --i) {
    double s = 0;
    for (int k = 0; k <= i; ++k) s += T[k * ld + i] * w[k];
    w[i] = s;
  }
}
inline void apply_lower_transposed(double* w, const double* T, int ld, int n) {
  for (int i = 0; i < n; ++i) {
    double s = 0;
    for (int k = i; k < n; ++k) s += T[i * ld + k] * w[k];
    w[i] = s;
  }
}

// X <- X T with T upper triangular (n x n, leading dimension ld_t), in place.
template <int LD, int N>
void times_upper_fixed(double* __restrict X, const double* __restrict T) {
  for (int j = N - 1; j >= 0; --j) {
    Eigen::Array<double, LD, 1> acc = column<LD>(X, j) * T[j * LD + j];
    for (int k = 0; k < j; ++k) acc += column<LD>(X, k) * T[j * LD + k];
    column<LD>(X, j) = acc;
  }
}
inline void times_upper(double* X, const double* T, int ld, int n, int ld_t) {
  for (int j = n - 1; j >= 0; --j) {
    const double diagonal = T[j * ld_t + j];
    for (int r = 0; r < ld; ++r) X[j * ld + r] *= diagonal;
    for (int k = 0; k < j; ++k) {
      const double t = T[j * ld_t + k];
      for (int r = 0; r < ld; ++r) X[j * ld + r] += X[k * ld + r] * t;
    }
  }
}

// Y = X Q' with any Q (n x n, leading dimension ld_q).
template <int LD, int N>
void times_transposed_fixed(double* __restrict Y, const double* __restrict X, const double* __restrict Q) {
  for (int j = 0; j < N; ++j) {
    Eigen::Array<double, LD, 1> acc = column<LD>(X, 0) * Q[j];
    for (int k = 1; k < N; ++k) acc += column<LD>(X, k) * Q[k * LD + j];
    column<LD>(Y, j) = acc;
  }
}
inline void times_transposed(double* Y, const double* X, const double* Q, int ld, int n, int ld_q) {
  for (int j = 0; j < n; ++j) {
    for (int r = 0; r < ld; ++r) Y[j * ld + r] = 0;
    for (int k = 0; k < n; ++k) {
      const double q = Q[k * ld_q + j];
      for (int r = 0; r < ld; ++r) Y[j * ld + r] += X[k * ld + r] * q;
    }
  }
}

// y <- T x, any T (n x n); y and x differ.
inline void multiply(double* __restrict y, const double* __restrict T, const double* __restrict x, int ld, int n) {
  for (int r = 0; r < ld; ++r) y[r] = 0;
  for (int k = 0; k < n; ++k) {
    for (int r = 0; r < ld; ++r) y[r] += T[k * ld + r] * x[k];
  }
}

}  // namespace sarrus::block
