#include "sarrus/math/block_llt.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sarrus {
namespace {

// Kernels on column-major blocks whose leading dimension is a multiple of 4. The template versions have all
// trip counts known, so that the compiler keeps columns in vector registers.

// C -= A B',  C: rows x cols, A: rows x inner, B: cols x inner.
template <int LD, int COLS, int INNER>
void subtract_product_fixed(double* __restrict C, const double* __restrict A, const double* __restrict B) {
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

void subtract_product(double* C, const double* A, const double* B, int ld, int cols, int inner, int ld_b) {
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
void times_lower_transposed_fixed(double* __restrict X, const double* __restrict T) {
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

void times_lower_transposed(double* X, const double* T, int ld, int n, int ld_t) {
  for (int j = n - 1; j >= 0; --j) {
    const double diagonal = T[j * ld_t + j];
    for (int r = 0; r < ld; ++r) X[j * ld + r] *= diagonal;
    for (int k = 0; k < j; ++k) {
      const double t = T[k * ld_t + j];
      for (int r = 0; r < ld; ++r) X[j * ld + r] += X[k * ld + r] * t;
    }
  }
}

// Cholesky of the lower triangle of A, then A <- L^-1 with a zero upper triangle and zero padding rows.
bool invert_cholesky(double* A, int n, int ld, double* L) {
  std::fill(L, L + n * ld, 0.0);
  for (int j = 0; j < n; ++j) {
    double d = A[j * ld + j];
    for (int k = 0; k < j; ++k) d -= L[k * ld + j] * L[k * ld + j];
    if (!(d > 0) || !std::isfinite(d)) return false;
    const double inverse = 1.0 / std::sqrt(d);
    L[j * ld + j] = inverse;  // the diagonal holds reciprocals
    for (int i = j + 1; i < n; ++i) {
      double s = A[j * ld + i];
      for (int k = 0; k < j; ++k) s -= L[k * ld + i] * L[k * ld + j];
      L[j * ld + i] = s * inverse;
    }
  }
  std::fill(A, A + n * ld, 0.0);
  for (int j = 0; j < n; ++j) {
    A[j * ld + j] = L[j * ld + j];
    for (int i = j + 1; i < n; ++i) {
      double s = 0;
      for (int k = j; k < i; ++k) s -= L[k * ld + i] * A[j * ld + k];
      A[j * ld + i] = s * L[i * ld + i];
    }
  }
  return true;
}

// y -= X x
template <int LD, int N>
void subtract_times_fixed(double* __restrict y, const double* __restrict X, const double* __restrict x) {
  double acc[LD];
  for (int r = 0; r < LD; ++r) acc[r] = y[r];
  for (int k = 0; k < N; ++k) {
    for (int r = 0; r < LD; ++r) acc[r] -= X[k * LD + r] * x[k];
  }
  for (int r = 0; r < LD; ++r) y[r] = acc[r];
}

void subtract_times(double* y, const double* X, const double* x, int ld, int n) {
  for (int k = 0; k < n; ++k) {
    for (int r = 0; r < ld; ++r) y[r] -= X[k * ld + r] * x[k];
  }
}

// y -= X' x, x padded with zeros
template <int LD, int N>
void subtract_transposed_times_fixed(double* __restrict y, const double* __restrict X, const double* __restrict x) {
  for (int k = 0; k < N; ++k) {
    double s = 0;
    for (int r = 0; r < LD; ++r) s += X[k * LD + r] * x[r];
    y[k] -= s;
  }
}

void subtract_transposed_times(double* y, const double* X, const double* x, int ld, int n) {
  for (int k = 0; k < n; ++k) {
    double s = 0;
    for (int r = 0; r < ld; ++r) s += X[k * ld + r] * x[r];
    y[k] -= s;
  }
}

// w <- T w and w <- T' w in place, T lower triangular with a zero upper triangle, w padded with zeros.
template <int LD, int N>
void apply_lower_fixed(double* w, const double* __restrict T) {
  double acc[LD] = {};
  for (int k = 0; k < N; ++k) {
    for (int r = 0; r < LD; ++r) acc[r] += T[k * LD + r] * w[k];
  }
  for (int r = 0; r < LD; ++r) w[r] = acc[r];
}
template <int LD, int N>
void apply_lower_transposed_fixed(double* w, const double* __restrict T) {
  double x[LD];
  for (int r = 0; r < LD; ++r) x[r] = w[r];
  for (int k = 0; k < N; ++k) {
    double s = 0;
    for (int r = 0; r < LD; ++r) s += T[k * LD + r] * x[r];
    w[k] = s;
  }
}

void apply_lower(double* w, const double* T, int ld, int n) {
  for (int i = n - 1; i >= 0; --i) {
    double s = 0;
    for (int k = 0; k <= i; ++k) s += T[k * ld + i] * w[k];
    w[i] = s;
  }
}
void apply_lower_transposed(double* w, const double* T, int ld, int n) {
  for (int i = 0; i < n; ++i) {
    double s = 0;
    for (int k = i; k < n; ++k) s += T[i * ld + k] * w[k];
    w[i] = s;
  }
}

}  // namespace

void BlockLLT::set_nodes(std::span<const int> sizes) {
  size_.assign(sizes.begin(), sizes.end());
  const std::size_t n = size_.size();
  node_start_.resize(n);
  int start = 0;
  int largest = 0;
  all_six_ = true;
  for (std::size_t i = 0; i < n; ++i) {
    node_start_[i] = start;
    start += size_[i];
    largest = std::max(largest, size_[i]);
    all_six_ = all_six_ && size_[i] == 6;
  }
  const std::size_t words = (n + 63) / 64;
  adjacency_.resize(n * words);
  degree_.resize(n);
  position_.resize(n);
  node_at_.resize(n);
  column_start_.resize(n + 1);
  diagonal_offset_.resize(n);
  update_start_.resize(n + 1);
  padded_start_.resize(n + 1);
  scratch_.resize(static_cast<std::size_t>(pad(largest) * std::max(largest, 1)));
  edges_.clear();
  analysed_ = false;
}

bool BlockLLT::analyse(std::span<const std::uint64_t> edges) {
  if (analysed_ && std::equal(edges.begin(), edges.end(), edges_.begin(), edges_.end())) return false;
  edges_.assign(edges.begin(), edges.end());
  order_and_fill();
  place_blocks();
  list_updates();
  analysed_ = true;
  ++analyses_;
  return true;
}

// Minimum degree on a bit matrix; ties go to the lower node. Eliminating p connects its neighbours, and the
// neighbours that remain are the rows of p's column.
void BlockLLT::order_and_fill() {
  const int n = node_count();
  const std::size_t words = (static_cast<std::size_t>(n) + 63) / 64;
  const auto row = [&](int i) { return adjacency_.data() + static_cast<std::size_t>(i) * words; };
  std::fill(adjacency_.begin(), adjacency_.end(), 0);
  std::fill(degree_.begin(), degree_.end(), 0);
  for (const std::uint64_t e : edges_) {
    const int a = static_cast<int>(e >> 32);
    const int b = static_cast<int>(e & 0xffffffffu);
    row(a)[b / 64] |= std::uint64_t{1} << (b % 64);
    row(b)[a / 64] |= std::uint64_t{1} << (a % 64);
    ++degree_[static_cast<std::size_t>(a)];
    ++degree_[static_cast<std::size_t>(b)];
  }
  constexpr int kEliminated = 1 << 30;
  row_.clear();
  for (int k = 0; k < n; ++k) {
    const auto least = std::min_element(degree_.begin(), degree_.end());
    const int p = static_cast<int>(least - degree_.begin());
    *least = kEliminated;
    position_[static_cast<std::size_t>(p)] = k;
    node_at_[static_cast<std::size_t>(k)] = p;
    column_start_[static_cast<std::size_t>(k)] = static_cast<int>(row_.size());
    const std::uint64_t* pr = row(p);
    for (std::size_t w = 0; w < words; ++w) {
      for (std::uint64_t bits = pr[w]; bits != 0; bits &= bits - 1) {
        row_.push_back(static_cast<int>(w * 64) + std::countr_zero(bits));
      }
    }
    for (std::size_t r = static_cast<std::size_t>(column_start_[static_cast<std::size_t>(k)]); r < row_.size(); ++r) {
      const int i = row_[r];
      std::uint64_t* ir = row(i);
      int degree = 0;
      for (std::size_t w = 0; w < words; ++w) ir[w] |= pr[w];
      ir[i / 64] &= ~(std::uint64_t{1} << (i % 64));
      ir[p / 64] &= ~(std::uint64_t{1} << (p % 64));
      for (std::size_t w = 0; w < words; ++w) degree += std::popcount(ir[w]);
      degree_[static_cast<std::size_t>(i)] = degree;
    }
  }
  column_start_[static_cast<std::size_t>(n)] = static_cast<int>(row_.size());
  for (int& r : row_) r = position_[static_cast<std::size_t>(r)];
  for (int k = 0; k < n; ++k) {
    std::sort(row_.begin() + column_start_[static_cast<std::size_t>(k)],
              row_.begin() + column_start_[static_cast<std::size_t>(k) + 1]);
  }
}

void BlockLLT::place_blocks() {
  const int n = node_count();
  block_offset_.resize(row_.size());
  int offset = 0;
  int padded = 0;
  const auto size_at = [&](int pos) {
    return size_[static_cast<std::size_t>(node_at_[static_cast<std::size_t>(pos)])];
  };
  for (int k = 0; k < n; ++k) {
    const auto ks = static_cast<std::size_t>(k);
    const int nk = size_at(k);
    padded_start_[ks] = padded;
    padded += pad(nk);
    diagonal_offset_[ks] = offset;
    offset += pad(nk) * nk;
    for (int r = column_start_[ks]; r < column_start_[ks + 1]; ++r) {
      block_offset_[static_cast<std::size_t>(r)] = offset;
      offset += pad(size_at(row_[static_cast<std::size_t>(r)])) * nk;
    }
  }
  padded_start_[static_cast<std::size_t>(n)] = padded;
  values_.resize(static_cast<std::size_t>(offset));
  work_.resize(static_cast<std::size_t>(padded));
}

void BlockLLT::list_updates() {
  const int n = node_count();
  updates_.clear();
  const auto size_at = [&](int pos) {
    return size_[static_cast<std::size_t>(node_at_[static_cast<std::size_t>(pos)])];
  };
  for (int k = 0; k < n; ++k) {
    const auto ks = static_cast<std::size_t>(k);
    update_start_[ks] = static_cast<int>(updates_.size());
    for (int b = column_start_[ks]; b < column_start_[ks + 1]; ++b) {
      const int j = row_[static_cast<std::size_t>(b)];
      for (int a = b; a < column_start_[ks + 1]; ++a) {
        const int i = row_[static_cast<std::size_t>(a)];
        Update u;
        u.target = i == j ? diagonal_offset_[static_cast<std::size_t>(j)]
                          : block_offset_[static_cast<std::size_t>(find_row(j, i))];
        u.left = block_offset_[static_cast<std::size_t>(a)];
        u.right = block_offset_[static_cast<std::size_t>(b)];
        u.rows = size_at(i);
        u.cols = size_at(j);
        u.inner = size_at(k);
        u.ld_target_left = pad(u.rows);
        u.ld_right = pad(u.cols);
        updates_.push_back(u);
      }
    }
  }
  update_start_[static_cast<std::size_t>(n)] = static_cast<int>(updates_.size());
}

int BlockLLT::find_row(int column, int row) const {
  const auto first = row_.begin() + column_start_[static_cast<std::size_t>(column)];
  const auto last = row_.begin() + column_start_[static_cast<std::size_t>(column) + 1];
  const auto it = std::lower_bound(first, last, row);
  return it != last && *it == row ? static_cast<int>(it - row_.begin()) : -1;
}

BlockLLT::BlockRef BlockLLT::diagonal(int node) const {
  const int k = position_[static_cast<std::size_t>(node)];
  return {diagonal_offset_[static_cast<std::size_t>(k)], pad(size_[static_cast<std::size_t>(node)]), true};
}

BlockLLT::BlockRef BlockLLT::off_diagonal(int a, int b) const {
  const int pa = position_[static_cast<std::size_t>(a)];
  const int pb = position_[static_cast<std::size_t>(b)];
  const bool row_is_a = pa > pb;
  const int r = find_row(std::min(pa, pb), std::max(pa, pb));
  return {block_offset_[static_cast<std::size_t>(r)], pad(size_[static_cast<std::size_t>(row_is_a ? a : b)]), row_is_a};
}

void BlockLLT::set_zero() { std::fill(values_.begin(), values_.end(), 0.0); }

bool BlockLLT::factor() {
  const int n = node_count();
  double* v = values_.data();
  for (int k = 0; k < n; ++k) {
    const auto ks = static_cast<std::size_t>(k);
    const int nk = size_[static_cast<std::size_t>(node_at_[ks])];
    const int ld_k = pad(nk);
    double* diagonal = v + diagonal_offset_[ks];
    if (!invert_cholesky(diagonal, nk, ld_k, scratch_.data())) return false;
    for (int r = column_start_[ks]; r < column_start_[ks + 1]; ++r) {
      const auto rs = static_cast<std::size_t>(r);
      double* block = v + block_offset_[rs];
      if (all_six_) {
        times_lower_transposed_fixed<8, 6>(block, diagonal);
      } else {
        const int ni = size_[static_cast<std::size_t>(node_at_[static_cast<std::size_t>(row_[rs])])];
        times_lower_transposed(block, diagonal, pad(ni), nk, ld_k);
      }
    }
    for (int i = update_start_[ks]; i < update_start_[ks + 1]; ++i) {
      const Update& u = updates_[static_cast<std::size_t>(i)];
      if (all_six_) {
        subtract_product_fixed<8, 6, 6>(v + u.target, v + u.left, v + u.right);
      } else {
        subtract_product(v + u.target, v + u.left, v + u.right, u.ld_target_left, u.cols, u.inner, u.ld_right);
      }
    }
  }
  return true;
}

void BlockLLT::solve(VecX& b) {
  const int n = node_count();
  double* w = work_.data();
  const double* v = values_.data();
  for (int k = 0; k < n; ++k) {
    const auto node = static_cast<std::size_t>(node_at_[static_cast<std::size_t>(k)]);
    double* wk = w + padded_start_[static_cast<std::size_t>(k)];
    for (int r = 0; r < size_[node]; ++r) wk[r] = b[node_start_[node] + r];
    for (int r = size_[node]; r < pad(size_[node]); ++r) wk[r] = 0;
  }
  for (int k = 0; k < n; ++k) {
    const auto ks = static_cast<std::size_t>(k);
    const int nk = size_[static_cast<std::size_t>(node_at_[ks])];
    double* wk = w + padded_start_[ks];
    if (all_six_) {
      apply_lower_fixed<8, 6>(wk, v + diagonal_offset_[ks]);
    } else {
      apply_lower(wk, v + diagonal_offset_[ks], pad(nk), nk);
    }
    for (int r = column_start_[ks]; r < column_start_[ks + 1]; ++r) {
      const auto i = static_cast<std::size_t>(row_[static_cast<std::size_t>(r)]);
      double* wi = w + padded_start_[i];
      const double* block = v + block_offset_[static_cast<std::size_t>(r)];
      if (all_six_) {
        subtract_times_fixed<8, 6>(wi, block, wk);
      } else {
        subtract_times(wi, block, wk, pad(size_[static_cast<std::size_t>(node_at_[i])]), nk);
      }
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    const auto ks = static_cast<std::size_t>(k);
    const auto node = static_cast<std::size_t>(node_at_[ks]);
    const int nk = size_[node];
    double* wk = w + padded_start_[ks];
    for (int r = column_start_[ks]; r < column_start_[ks + 1]; ++r) {
      const auto i = static_cast<std::size_t>(row_[static_cast<std::size_t>(r)]);
      const double* block = v + block_offset_[static_cast<std::size_t>(r)];
      if (all_six_) {
        subtract_transposed_times_fixed<8, 6>(wk, block, w + padded_start_[i]);
      } else {
        subtract_transposed_times(wk, block, w + padded_start_[i], pad(size_[static_cast<std::size_t>(node_at_[i])]),
                                  nk);
      }
    }
    if (all_six_) {
      apply_lower_transposed_fixed<8, 6>(wk, v + diagonal_offset_[ks]);
    } else {
      apply_lower_transposed(wk, v + diagonal_offset_[ks], pad(nk), nk);
    }
    for (int r = 0; r < nk; ++r) b[node_start_[node] + r] = wk[r];
  }
}

}  // namespace sarrus
