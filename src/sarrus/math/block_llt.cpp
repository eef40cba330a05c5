#include "sarrus/math/block_llt.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "sarrus/math/block_kernels.h"
#include "sarrus/math/six.h"

namespace sarrus {
namespace {

using block::BlockMap;
using block::ConstBlockMap;
using block::kLargeNode;

// Cholesky of the lower triangle of A, then A <- L^-1 with a zero upper triangle and zero padding rows.
bool invert_cholesky(double* A, int n, int ld) {
  double L[kLargeNode * kLargeNode];
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

// The same for six components, with whole columns and rows as vectors. L by columns, right-looking; then the rows of
// its inverse T, T_i = (e_i - sum_{k<i} L_ik T_k) / L_ii.
bool invert_cholesky_six(double* A) {
  using Eight = Eigen::Array<double, 8, 1>;
  alignas(32) double L[48];
  alignas(32) double T[48];
  double inverse[6];
  for (int i = 0; i < 48; i += 8) Eigen::Map<Eight, Eigen::Aligned32>(L + i) = Eigen::Map<const Eight>(A + i);
  for (int j = 0; j < 6; ++j) {
    const double d = L[8 * j + j];
    if (!(d > 0) || !std::isfinite(d)) return false;
    inverse[j] = 1.0 / std::sqrt(d);
    const Eight column = inverse[j] * Eigen::Map<const Eight, Eigen::Aligned32>(L + 8 * j);
    Eigen::Map<Eight, Eigen::Aligned32>(L + 8 * j) = column;
    for (int k = j + 1; k < 6; ++k) {
      Eigen::Map<Eight, Eigen::Aligned32>(L + 8 * k) -= L[8 * j + k] * column;
    }
  }
  for (int i = 0; i < 6; ++i) {
    Eight row = Eight::Zero();
    for (int k = 0; k < i; ++k) row -= L[8 * k + i] * Eigen::Map<const Eight, Eigen::Aligned32>(T + 8 * k);
    Eigen::Map<Eight, Eigen::Aligned32>(T + 8 * i) = inverse[i] * row;
    T[8 * i + i] = inverse[i];
  }
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < 6; ++i) A[8 * j + i] = T[8 * i + j];
    A[8 * j + 6] = A[8 * j + 7] = 0;
  }
  return true;
}

bool invert_or_factor(double* A, int n, int ld) {
  if (n == 6) return invert_cholesky_six(A);
  if (n <= kLargeNode) return invert_cholesky(A, n, ld);
  BlockMap map(A, n, n, Eigen::OuterStride<>(ld));
  if (!map.allFinite()) return false;
  Eigen::Ref<MatX, 0, Eigen::OuterStride<>> ref(map);
  return Eigen::LLT<Eigen::Ref<MatX, 0, Eigen::OuterStride<>>>(ref).info() == Eigen::Success;
}

// A_ik -> L_ik
void finish_column_block(double* block, int ni, const double* diagonal, int nk) {
  const int ld = BlockGraph::pad(ni);
  const int ld_k = BlockGraph::pad(nk);
  if (nk <= kLargeNode) {
    block::times_lower_transposed(block, diagonal, ld, nk, ld_k);
  } else {
    BlockMap X(block, ni, nk, Eigen::OuterStride<>(ld));
    const ConstBlockMap L(diagonal, nk, nk, Eigen::OuterStride<>(ld_k));
    L.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(X);
  }
}

}  // namespace

void BlockLLT::set_nodes(std::span<const int> sizes) {
  graph_.set_nodes(sizes);
  take_memory();
}

void BlockLLT::take_memory() { work_.resize(static_cast<std::size_t>(graph_.padded_start(graph_.node_count()))); }

void BlockLLT::exchange(BlockGraph& other) {
  std::swap(graph_, other);
  if (graph_.node_count() == 0) return;
  take_memory();
  take_numbers();
}

bool BlockLLT::analyse(std::span<const std::uint64_t> edges) {
  const bool changed = graph_.analyse(edges, ordering_);
  if (changed) {
    memory_->owner = nullptr;
    claim();
  }
  return changed;
}

void BlockLLT::set_zero() { std::fill_n(values(), graph_.value_count(), 0.0); }

void BlockLLT::use(std::shared_ptr<FactorMemory> memory) { memory_ = std::move(memory); }

// The memory is as large as the largest of all needs.
void BlockLLT::take_numbers() {
  const auto n = static_cast<std::size_t>(graph_.value_count());
  if (memory_->numbers.size() < n) memory_->numbers.resize(n);
}

void BlockLLT::claim() {
  take_numbers();
  if (memory_->owner == this) return;
  memory_->owner = this;
  std::fill_n(values(), graph_.value_count(), 0.0);
}

bool BlockLLT::factor() {
  for (int k = 0; k < node_count(); ++k) {
    if (!factor_column(k)) return false;
  }
  return true;
}

bool BlockLLT::factor(std::span<const int> positions) {
  return std::all_of(positions.begin(), positions.end(), [this](int k) { return factor_column(k); });
}

bool BlockLLT::factor_column(int k) {
  const bool six = graph_.all_six();
  double* v = values();
  const int nk = graph_.node_size(graph_.node_at(k));
  double* diagonal = v + graph_.diagonal_offset(k);
  if (!invert_or_factor(diagonal, nk, BlockGraph::pad(nk))) return false;
  for (int r = graph_.column_begin(k); r < graph_.column_begin(k + 1); ++r) {
    double* block = v + graph_.block_offset(r);
    if (six) {
      block::times_lower_transposed_fixed<8, 6>(block, diagonal);
    } else {
      finish_column_block(block, graph_.node_size(graph_.node_at(graph_.row(r))), diagonal, nk);
    }
  }
  graph_.for_each_update(k, [&](int target, int left, int right) {
    const int i = graph_.row(left);
    const int j = graph_.row(right);
    double* T = v + (target < 0 ? graph_.diagonal_offset(j) : graph_.block_offset(target));
    const double* L = v + graph_.block_offset(left);
    const double* R = v + graph_.block_offset(right);
    if (six) {
      block::subtract_product_fixed<8, 6, 6>(T, L, R);
    } else {
      block::subtract_product(T, L, R, BlockGraph::pad(graph_.size_at(i)), graph_.size_at(j), nk,
                              BlockGraph::pad(graph_.size_at(j)));
    }
  });
  return true;
}

void BlockLLT::load(int k, const double* b, double* w) const {
  const int i = graph_.node_at(k);
  const int n = graph_.node_size(i);
  w += graph_.padded_start(i);
  if (n == 6) {
    Six::load(b + graph_.node_start(i)).store(w);
    w[6] = w[7] = 0;
    return;
  }
  std::copy_n(b + graph_.node_start(i), n, w);
  std::fill(w + n, w + BlockGraph::pad(n), 0.0);
}

void BlockLLT::store(int k, const double* w, double* b) const {
  const int i = graph_.node_at(k);
  std::copy_n(w + graph_.padded_start(i), graph_.node_size(i), b + graph_.node_start(i));
}

void BlockLLT::solve(std::span<const int> positions, VecX& b) {
  for (const int k : positions) load(k, b.data(), work_.data());
  forward(positions, work_.data());
  backward(positions, work_.data());
  for (const int k : positions) store(k, work_.data(), b.data());
}

void BlockLLT::solve(VecX& b) {
  for (int k = 0; k < node_count(); ++k) load(k, b.data(), work_.data());
  solve_padded(work_.data());
  for (int k = 0; k < node_count(); ++k) store(k, work_.data(), b.data());
}

namespace {

void apply_diagonal(double* w, const double* T, int n, bool transposed) {
  const int ld = BlockGraph::pad(n);
  if (n <= kLargeNode) {
    transposed ? block::apply_lower_transposed(w, T, ld, n) : block::apply_lower(w, T, ld, n);
    return;
  }
  Eigen::Map<VecX> x(w, n);
  const ConstBlockMap L(T, n, n, Eigen::OuterStride<>(ld));
  if (transposed) {
    L.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
  } else {
    L.triangularView<Eigen::Lower>().solveInPlace(x);
  }
}

}  // namespace

void BlockLLT::eliminate(int k, double* w) const {
  const bool six = graph_.all_six();
  const double* v = values();
  const int nk = graph_.node_size(graph_.node_at(k));
  double* wk = node(w, k);
  if (six) {
    block::apply_fixed<8, 6>(wk, v + graph_.diagonal_offset(k));
  } else {
    apply_diagonal(wk, v + graph_.diagonal_offset(k), nk, false);
  }
  for (int r = graph_.column_begin(k); r < graph_.column_begin(k + 1); ++r) {
    const int i = graph_.row(r);
    const double* block = v + graph_.block_offset(r);
    if (six) {
      block::subtract_times_fixed<8, 6>(node(w, i), block, wk);
    } else {
      block::subtract_times(node(w, i), block, wk, BlockGraph::pad(graph_.node_size(graph_.node_at(i))), nk);
    }
  }
}

void BlockLLT::substitute(int k, double* w) const {
  const bool six = graph_.all_six();
  const double* v = values();
  const int nk = graph_.node_size(graph_.node_at(k));
  double* wk = node(w, k);
  for (int r = graph_.column_begin(k); r < graph_.column_begin(k + 1); ++r) {
    const int i = graph_.row(r);
    const double* block = v + graph_.block_offset(r);
    if (six) {
      block::subtract_transposed_times_fixed<8, 6>(wk, block, node(w, i));
    } else {
      block::subtract_transposed_times(wk, block, node(w, i), BlockGraph::pad(graph_.node_size(graph_.node_at(i))), nk);
    }
  }
  if (six) {
    block::apply_transposed_fixed<8, 6>(wk, v + graph_.diagonal_offset(k));
  } else {
    apply_diagonal(wk, v + graph_.diagonal_offset(k), nk, true);
  }
}

void BlockLLT::solve_padded(double* w) const {
  for (int k = 0; k < node_count(); ++k) eliminate(k, w);
  for (int k = node_count() - 1; k >= 0; --k) substitute(k, w);
}

void BlockLLT::forward(std::span<const int> positions, double* w) const {
  for (const int k : positions) eliminate(k, w);
}

void BlockLLT::backward(std::span<const int> positions, double* w) const {
  for (std::size_t i = positions.size(); i-- > 0;) substitute(positions[i], w);
}

}  // namespace sarrus
