#include "sarrus/math/block_lu.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "sarrus/math/block_kernels.h"

namespace sarrus {
namespace {

using block::BlockMap;
using block::ConstBlockMap;
using block::kLargeNode;

ConstBlockMap map(const double* A, int rows, int columns) {
  return {A, rows, columns, Eigen::OuterStride<>(BlockGraph::pad(rows))};
}

// Gaussian elimination with row pivoting of A (n x n, N if N > 0), the rows of Q following: on entry Q = 1, on return
// A = U in the upper triangle, Q = L^-1 P, and `reciprocal` holds 1 / U_kk.
template <int N>
bool eliminate(double* A, double* Q, double* reciprocal, int size, int ld_size) {
  const int n = N > 0 ? N : size;
  const int ld = N > 0 ? (N + 3) / 4 * 4 : ld_size;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int r = k + 1; r < n; ++r) {
      if (std::abs(A[k * ld + r]) > std::abs(A[k * ld + pivot])) pivot = r;
    }
    const double p = A[k * ld + pivot];
    if (!(std::abs(p) > 0) || !std::isfinite(p)) return false;
    if (pivot != k) {
      for (int c = 0; c < n; ++c) {
        std::swap(A[c * ld + k], A[c * ld + pivot]);
        std::swap(Q[c * ld + k], Q[c * ld + pivot]);
      }
    }
    // Whole columns, padding included: rows up to k have a zero factor.
    double factor[N > 0 ? (N + 3) / 4 * 4 : kLargeNode];
    reciprocal[k] = 1.0 / p;
    for (int r = 0; r < ld; ++r) factor[r] = r > k ? A[k * ld + r] * reciprocal[k] : 0.0;
    for (int c = k; c < n; ++c) {
      const double a = A[c * ld + k];
      for (int r = 0; r < ld; ++r) A[c * ld + r] -= factor[r] * a;
    }
    for (int c = 0; c < n; ++c) {
      const double q = Q[c * ld + k];
      for (int r = 0; r < ld; ++r) Q[c * ld + r] -= factor[r] * q;
    }
  }
  return true;
}

// U <- U^-1 in the upper triangle, zeros below; V is scratch.
template <int N>
void invert_upper(double* U, double* V, const double* reciprocal, int size, int ld_size) {
  const int n = N > 0 ? N : size;
  const int ld = N > 0 ? (N + 3) / 4 * 4 : ld_size;
  std::copy_n(U, n * ld, V);
  for (int j = 0; j < n; ++j) {
    double x[N > 0 ? (N + 3) / 4 * 4 : kLargeNode] = {};
    x[j] = 1.0;
    for (int k = j; k >= 0; --k) {
      x[k] *= reciprocal[k];
      for (int i = 0; i < k; ++i) x[i] -= V[k * ld + i] * x[k];
    }
    for (int i = 0; i < ld; ++i) U[j * ld + i] = i <= j ? x[i] : 0.0;
  }
}

// Diagonal block A -> U^-1, Q -> L^-1 P.
template <int N>
bool factor_small(double* A, double* Q, double* scratch, int size, int ld_size) {
  const int n = N > 0 ? N : size;
  const int ld = N > 0 ? (N + 3) / 4 * 4 : ld_size;
  std::fill(Q, Q + n * ld, 0.0);
  for (int i = 0; i < n; ++i) Q[i * ld + i] = 1.0;
  double reciprocal[N > 0 ? N : kLargeNode];
  if (!eliminate<N>(A, Q, reciprocal, n, ld)) return false;
  invert_upper<N>(A, scratch, reciprocal, n, ld);
  return true;
}

// Diagonal block A -> L and U in one, rows swapped with pivots[k] in turn.
bool factor_large(double* A, int n, int* pivots) {
  BlockMap M(A, n, n, Eigen::OuterStride<>(BlockGraph::pad(n)));
  if (!M.allFinite()) return false;
  Eigen::Ref<MatX, 0, Eigen::OuterStride<>> ref(M);
  const Eigen::PartialPivLU<Eigen::Ref<MatX, 0, Eigen::OuterStride<>>> lu(ref);
  std::copy_n(lu.permutationP().indices().data(), n, pivots);
  return M.diagonal().cwiseAbs().minCoeff() > 0;
}

// x <- L^-1 P x for each column of x.
template <class X>
void apply_lower_large(const double* A, int n, const int* pivots, X&& x) {
  const Eigen::Map<const Eigen::VectorXi> indices(pivots, n);
  x = Eigen::PermutationWrapper<const Eigen::Map<const Eigen::VectorXi>>(indices) * x;
  map(A, n, n).template triangularView<Eigen::UnitLower>().solveInPlace(x);
}

}  // namespace

void BlockLU::resize(const BlockGraph& graph, double* lower) {
  const auto values = static_cast<std::size_t>(graph.value_count());
  if (lower == nullptr) own_lower_.resize(values);
  lower_ = lower == nullptr ? own_lower_.data() : lower;
  upper_.resize(values);
  int largest = 6;
  for (int i = 0; i < graph.node_count(); ++i) largest = std::max(largest, graph.node_size(i));
  const auto scratch = static_cast<std::size_t>(BlockGraph::pad(largest) * std::min(largest, kLargeNode));
  if (scratch_.size() < scratch) scratch_.resize(scratch);
  pivots_.resize(static_cast<std::size_t>(graph.padded_start(graph.node_count())));
}

void BlockLU::set_zero() {
  std::fill_n(lower_, upper_.size(), 0.0);
  std::fill(upper_.begin(), upper_.end(), 0.0);
}

bool BlockLU::factor(const BlockGraph& graph) {
  const bool six = graph.all_six();
  double* L = lower_;
  double* U = upper_.data();
  for (int k = 0; k < graph.node_count(); ++k) {
    const int node = graph.node_at(k);
    const int nk = graph.node_size(node);
    const int ld_k = BlockGraph::pad(nk);
    double* A = L + graph.diagonal_offset(k);
    double* Q = U + graph.diagonal_offset(k);
    int* pivots = pivots_.data() + graph.padded_start(node);
    const bool regular = six                ? factor_small<6>(A, Q, scratch_.data(), 6, 8)
                         : nk <= kLargeNode ? factor_small<0>(A, Q, scratch_.data(), nk, ld_k)
                                            : factor_large(A, nk, pivots);
    if (!regular) return false;
    for (int r = graph.column_begin(k); r < graph.column_begin(k + 1); ++r) {
      double* left = L + graph.block_offset(r);
      double* right = U + graph.block_offset(r);
      if (six) {
        block::times_upper_fixed<8, 6>(left, A);
        block::times_transposed_fixed<8, 6>(scratch_.data(), right, Q);
        std::copy_n(scratch_.data(), 48, right);
        continue;
      }
      const int ni = graph.node_size(graph.node_at(graph.row(r)));
      const int ld = BlockGraph::pad(ni);
      if (nk <= kLargeNode) {
        block::times_upper(left, A, ld, nk, ld_k);
        block::times_transposed(scratch_.data(), right, Q, ld, nk, ld_k);
        std::copy_n(scratch_.data(), ld * nk, right);
      } else {
        BlockMap X(left, ni, nk, Eigen::OuterStride<>(ld));
        map(A, nk, nk).triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(X);
        BlockMap Y(right, ni, nk, Eigen::OuterStride<>(ld));
        apply_lower_large(A, nk, pivots, Y.transpose());
      }
    }
    graph.for_each_update(k, [&](int target, int left, int right) {
      const int i = graph.row(left);
      const int j = graph.row(right);
      const int t = target < 0 ? graph.diagonal_offset(j) : graph.block_offset(target);
      const int l = graph.block_offset(left);
      const int r = graph.block_offset(right);
      if (six) {
        block::subtract_product_fixed<8, 6, 6>(L + t, L + l, U + r);
        if (target >= 0) block::subtract_product_fixed<8, 6, 6>(U + t, U + l, L + r);
      } else {
        const int ld = BlockGraph::pad(graph.size_at(i));
        const int nj = graph.size_at(j);
        block::subtract_product(L + t, L + l, U + r, ld, nj, nk, BlockGraph::pad(nj));
        if (target >= 0) block::subtract_product(U + t, U + l, L + r, ld, nj, nk, BlockGraph::pad(nj));
      }
    });
  }
  return true;
}

void BlockLU::solve_padded(const BlockGraph& graph, double* w) const {
  const int n = graph.node_count();
  const bool six = graph.all_six();
  const double* L = lower_;
  const double* U = upper_.data();
  const auto at = [&](int position) { return w + graph.padded_start(graph.node_at(position)); };
  double x[kLargeNode];
  for (int k = 0; k < n; ++k) {
    const int node = graph.node_at(k);
    const int nk = graph.node_size(node);
    double* wk = at(k);
    if (six) {
      block::apply_fixed<8, 6>(wk, U + graph.diagonal_offset(k));
    } else if (nk <= kLargeNode) {
      std::copy_n(wk, nk, x);
      block::multiply(wk, U + graph.diagonal_offset(k), x, BlockGraph::pad(nk), nk);
    } else {
      apply_lower_large(L + graph.diagonal_offset(k), nk, pivots_.data() + graph.padded_start(node),
                        Eigen::Map<VecX>(wk, nk));
    }
    for (int r = graph.column_begin(k); r < graph.column_begin(k + 1); ++r) {
      const int i = graph.row(r);
      const double* block = L + graph.block_offset(r);
      if (six) {
        block::subtract_times_fixed<8, 6>(at(i), block, wk);
      } else {
        block::subtract_times(at(i), block, wk, BlockGraph::pad(graph.node_size(graph.node_at(i))), nk);
      }
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    const int nk = graph.node_size(graph.node_at(k));
    double* wk = at(k);
    for (int r = graph.column_begin(k); r < graph.column_begin(k + 1); ++r) {
      const int i = graph.row(r);
      const double* block = U + graph.block_offset(r);
      if (six) {
        block::subtract_transposed_times_fixed<8, 6>(wk, block, at(i));
      } else {
        block::subtract_transposed_times(wk, block, at(i), BlockGraph::pad(graph.node_size(graph.node_at(i))), nk);
      }
    }
    if (six) {
      block::apply_fixed<8, 6>(wk, L + graph.diagonal_offset(k));
    } else if (nk <= kLargeNode) {
      std::copy_n(wk, nk, x);
      block::multiply(wk, L + graph.diagonal_offset(k), x, BlockGraph::pad(nk), nk);
    } else {
      Eigen::Map<VecX> y(wk, nk);
      map(L + graph.diagonal_offset(k), nk, nk).triangularView<Eigen::Upper>().solveInPlace(y);
    }
  }
}

}  // namespace sarrus
