// Products of small dense blocks for the block-sparse factorisations (spec/newton.md §2.2).
//
// Blocks are column-major and their leading dimension is a multiple of 4. The template versions have all trip counts
// known, so that the compiler keeps columns in vector registers.
#pragma once

namespace sarrus::block {

// C -= A B',  C: rows x cols, A: rows x inner, B: cols x inner.
template <int LD, int COLS, int INNER>
inline void subtract_product_fixed(double* __restrict C, const double* __restrict A, const double* __restrict B) {
  for (int j = 0; j < COLS; ++j) {
    double acc[LD];
    for (int r = 0; r < LD; ++r) acc[r] = C[j * LD + r];
    for (int k = 0; k < INNER; ++k) {
      const double b = B[k * LD + j];
      for (int r = 0; r < LD; ++r) acc[r] -= A[k * LD + r] * b;
    }
    for (int r = 0; r < LD; ++r) C[j * LD + r] = acc[r];
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
    double acc[LD];
    for (int r = 0; r < LD; ++r) acc[r] = 0;
    for (int k = 0; k <= j; ++k) {
      const double t = T[k * LD + j];
      for (int r = 0; r < LD; ++r) acc[r] += X[k * LD + r] * t;
    }
    for (int r = 0; r < LD; ++r) X[j * LD + r] = acc[r];
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
  double acc[LD];
  for (int r = 0; r < LD; ++r) acc[r] = y[r];
  for (int k = 0; k < N; ++k) {
    for (int r = 0; r < LD; ++r) acc[r] -= X[k * LD + r] * x[k];
  }
  for (int r = 0; r < LD; ++r) y[r] = acc[r];
}

inline void subtract_times(double* y, const double* X, const double* x, int ld, int n) {
  for (int k = 0; k < n; ++k) {
    for (int r = 0; r < ld; ++r) y[r] -= X[k * ld + r] * x[k];
  }
}

// y -= X' x, x padded with zeros
template <int LD, int N>
inline void subtract_transposed_times_fixed(double* __restrict y, const double* __restrict X,
                                            const double* __restrict x) {
  for (int k = 0; k < N; ++k) {
    double s = 0;
    for (int r = 0; r < LD; ++r) s += X[k * LD + r] * x[r];
    y[k] -= s;
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
  double acc[LD] = {};
  for (int k = 0; k < N; ++k) {
    for (int r = 0; r < LD; ++r) acc[r] += T[k * LD + r] * w[k];
  }
  for (int r = 0; r < LD; ++r) w[r] = acc[r];
}
template <int LD, int N>
inline void apply_transposed_fixed(double* w, const double* __restrict T) {
  double x[LD];
  for (int r = 0; r < LD; ++r) x[r] = w[r];
  for (int k = 0; k < N; ++k) {
    double s = 0;
    for (int r = 0; r < LD; ++r) s += T[k * LD + r] * x[r];
    w[k] = s;
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
    double acc[LD];
    for (int r = 0; r < LD; ++r) acc[r] = 0;
    for (int k = 0; k <= j; ++k) {
      const double t = T[j * LD + k];
      for (int r = 0; r < LD; ++r) acc[r] += X[k * LD + r] * t;
    }
    for (int r = 0; r < LD; ++r) X[j * LD + r] = acc[r];
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
    double acc[LD];
    for (int r = 0; r < LD; ++r) acc[r] = 0;
    for (int k = 0; k < N; ++k) {
      const double q = Q[k * LD + j];
      for (int r = 0; r < LD; ++r) acc[r] += X[k * LD + r] * q;
    }
    for (int r = 0; r < LD; ++r) Y[j * LD + r] = acc[r];
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
