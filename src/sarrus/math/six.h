// Rows of six numbers, the size of a body's velocity, as a vector of four and one of two: what GCC keeps in registers,
// where Eigen's own six-vectors fall apart into three halves or six scalars. Not installed.
#pragma once

#include <algorithm>

#include "sarrus/math/types.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace sarrus {

// A number in all places of a vector, of four and of two: one instruction, where products with a number in memory take
// three.
#if defined(__AVX__)
struct Spread {
  explicit Spread(const double* p) : x(_mm256_broadcast_sd(p)) {}
  __m256d four() const { return x; }
  __m128d two() const { return _mm256_castpd256_pd128(x); }
  __m256d x;
};
#else
struct Spread {
  explicit Spread(const double* p) : x(*p) {}
  double x;
};
#endif

// The sums of four vectors of four, as one vector.
inline Eigen::Array4d sums_of(const Eigen::Array4d& a, const Eigen::Array4d& b, const Eigen::Array4d& c,
                              const Eigen::Array4d& d) {
#if defined(__AVX__)
  const auto load = [](const Eigen::Array4d& x) { return _mm256_loadu_pd(x.data()); };
  const __m256d ab = _mm256_hadd_pd(load(a), load(b));
  const __m256d cd = _mm256_hadd_pd(load(c), load(d));
  Eigen::Array4d out;
  _mm256_storeu_pd(out.data(), _mm256_permute2f128_pd(ab, cd, 0x20) + _mm256_permute2f128_pd(ab, cd, 0x31));
  return out;
#else
  return {a.sum(), b.sum(), c.sum(), d.sum()};
#endif
}

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
  Six plus(const Six& y) const { return {a + y.a, b + y.b}; }
  void add(double factor, const double* x) {
    a += factor * Eigen::Map<const Eigen::Array4d>(x);
    b += factor * Eigen::Map<const Eigen::Array2d>(x + 4);
  }
  void add(const Spread& factor, const double* x) {
#if defined(__AVX__)
    _mm256_storeu_pd(a.data(), _mm256_loadu_pd(a.data()) + factor.four() * _mm256_loadu_pd(x));
    _mm_storeu_pd(b.data(), _mm_loadu_pd(b.data()) + factor.two() * _mm_loadu_pd(x + 4));
#else
    add(factor.x, x);
#endif
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

// The sums of four of them.
inline Eigen::Array4d sums_of(const Six& s, const Six& t, const Six& u, const Six& v) {
  Eigen::Array4d tails;
#if defined(__AVX__)
  const auto load = [](const Six& x) { return _mm_loadu_pd(x.b.data()); };
  _mm256_storeu_pd(tails.data(), _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_hadd_pd(load(s), load(t))),
                                                      _mm_hadd_pd(load(u), load(v)), 1));
#else
  tails << s.b.sum(), t.b.sum(), u.b.sum(), v.b.sum();
#endif
  return sums_of(s.a, t.a, u.a, v.a) + tails;
}

// out = J_0 x_0 + J_1 x_1 + ..., J_k with `rows` rows of six. One and two nodes are nearly all there are.
inline void multiply_rows_six(int nodes, int rows, const double* const* J, const Six* x, double* out) {
  const Six x0 = x[0];
  const double* J0 = J[0];
  int r = 0;
  if (nodes == 2) {
    const Six x1 = x[1];
    const double* J1 = J[1];
    const auto row = [&](int i) {
      Six s = x0.times(J0 + 6 * i);
      s.add_product(x1, J1 + 6 * i);
      return s;
    };
    for (; r + 4 <= rows; r += 4) {
      Eigen::Map<Eigen::Array4d>(out + r) = sums_of(row(r), row(r + 1), row(r + 2), row(r + 3));
    }
    for (; r < rows; ++r) out[r] = row(r).sum();
    return;
  }
  for (; r < rows; ++r) {
    Six s = x0.times(J0 + 6 * r);
    for (int k = 1; k < nodes; ++k) s.add_product(x[k], J[k] + 6 * r);
    out[r] = s.sum();
  }
}

// y = A x, A column-major with the given stride.
inline Six times_six(const double* A, int stride, const double* x) {
  Six y = {x[0] * Eigen::Map<const Eigen::Array4d>(A), x[0] * Eigen::Map<const Eigen::Array2d>(A + 4)};
  for (int c = 1; c < 6; ++c) y.add(Spread(x + c), A + c * stride);
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

namespace six {

#if defined(__AVX__)
template <bool FIRST>
inline void add_weighted_product(int rows, const double* __restrict g, const double* __restrict X,
                                 const double* __restrict Y, double* __restrict H) {
  const auto head = [&](int c) { return FIRST ? _mm256_setzero_pd() : _mm256_loadu_pd(H + 8 * c); };
  const auto tail = [&](int c) { return FIRST ? _mm_setzero_pd() : _mm_loadu_pd(H + 8 * c + 4); };
  __m256d a0 = head(0), a1 = head(1), a2 = head(2), a3 = head(3), a4 = head(4), a5 = head(5);
  __m128d b0 = tail(0), b1 = tail(1), b2 = tail(2), b3 = tail(3), b4 = tail(4), b5 = tail(5);
  for (int i = 0; i < rows; ++i, X += 6, Y += 6) {
    const Spread weight(g + i);
    const __m256d x = weight.four() * _mm256_loadu_pd(X);
    const __m128d z = weight.two() * _mm_loadu_pd(X + 4);
    const auto add = [&](int c, __m256d& a, __m128d& b) {
      const Spread y(Y + c);
      a += y.four() * x;
      b += y.two() * z;
    };
    add(0, a0, b0);
    add(1, a1, b1);
    add(2, a2, b2);
    add(3, a3, b3);
    add(4, a4, b4);
    add(5, a5, b5);
  }
  const auto put = [&](int c, const __m256d& a, const __m128d& b) {
    _mm256_storeu_pd(H + 8 * c, a);
    _mm_storeu_pd(H + 8 * c + 4, b);
  };
  put(0, a0, b0);
  put(1, a1, b1);
  put(2, a2, b2);
  put(3, a3, b3);
  put(4, a4, b4);
  put(5, a5, b5);
}
#else
template <bool FIRST>
inline void add_weighted_product(int rows, const double* __restrict g, const double* __restrict X,
                                 const double* __restrict Y, double* __restrict H) {
  for (int c = 0; c < 6; ++c) {
    if (FIRST) std::fill_n(H + 8 * c, 6, 0.0);
    for (int i = 0; i < rows; ++i) {
      for (int r = 0; r < 6; ++r) H[8 * c + r] += g[i] * X[6 * i + r] * Y[6 * i + c];
    }
  }
}
#endif

}  // namespace six

// H += X' diag(g) Y, or H = that with `first`; H column-major with stride 8, whose rows 6 and 7 are left as they are;
// X and Y with `rows` rows of six. The columns of H stay in registers.
inline void add_weighted_product_six(bool first, int rows, const double* g, const double* X, const double* Y,
                                     double* H) {
  first ? six::add_weighted_product<true>(rows, g, X, Y, H) : six::add_weighted_product<false>(rows, g, X, Y, H);
}

}  // namespace sarrus
