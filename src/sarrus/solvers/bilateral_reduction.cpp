#include "sarrus/solvers/bilateral_reduction.h"

#include <algorithm>

namespace sarrus {

bool BilateralReduction::reduce(const Mlcp& m) {
  const auto nb = static_cast<Eigen::Index>(bilateral.size());
  const auto ns = static_cast<Eigen::Index>(others.size());
  residual_.resize(nb);
  correction_.resize(nb);
  offset_.resize(nb);
  gain_.resize(nb * ns);
  S_.resize(ns * ns);
  v_.resize(ns);
  factorisations_ = 1;
  shifted_ = !cholesky_.factor(m.A.data(), m.rows, bilateral, nullptr);
  if (shifted_) {
    shift_.resize(m.rows);
    shift_ = shift * m.diagonal.cwiseMax(1e-12 * m.diagonal.maxCoeff());
    ++factorisations_;
    if (!cholesky_.factor(m.A.data(), m.rows, bilateral, shift_.data())) return false;
  }
  for (Eigen::Index k = 0; k < nb; ++k) offset_[k] = m.b[bilateral[static_cast<std::size_t>(k)]];
  solve(m, offset_.data());
  for (Eigen::Index c = 0; c < ns; ++c) {
    const double* a = m.column(others[static_cast<std::size_t>(c)]);
    double* g = gain_.data() + c * nb;
    for (Eigen::Index k = 0; k < nb; ++k) g[k] = a[bilateral[static_cast<std::size_t>(k)]];
    solve(m, g);
  }
  for (Eigen::Index r = 0; r < ns; ++r) {
    const int row = others[static_cast<std::size_t>(r)];
    const double* a = m.column(row);
    v_[r] = m.b[row];
    for (Eigen::Index k = 0; k < nb; ++k) v_[r] -= a[bilateral[static_cast<std::size_t>(k)]] * offset_[k];
    for (Eigen::Index c = 0; c < ns; ++c) {
      double s = a[others[static_cast<std::size_t>(c)]];
      for (Eigen::Index k = 0; k < nb; ++k) s -= a[bilateral[static_cast<std::size_t>(k)]] * gain_[c * nb + k];
      S_[c * ns + r] = s;
    }
  }
  return true;
}

void BilateralReduction::solve(const Mlcp& m, double* rhs) {
  const auto nb = static_cast<Eigen::Index>(bilateral.size());
  Eigen::Map<VecX> x(rhs, nb);
  if (!shifted_) {
    cholesky_.solve(rhs);
    return;
  }
  residual_ = x;
  x.setZero();
  for (int pass = 0; pass < max_passes; ++pass) {
    correction_ = residual_;
    cholesky_.solve(correction_.data());
    x += correction_;
    for (Eigen::Index k = 0; k < nb; ++k) {
      const double* a = m.column(bilateral[static_cast<std::size_t>(k)]);
      for (Eigen::Index i = 0; i < nb; ++i) residual_[i] -= a[bilateral[static_cast<std::size_t>(i)]] * correction_[k];
    }
  }
}

void BilateralReduction::recover(Mlcp& m) const {
  const auto nb = static_cast<Eigen::Index>(bilateral.size());
  for (Eigen::Index k = 0; k < nb; ++k) {
    double x = -offset_[k];
    for (std::size_t c = 0; c < others.size(); ++c) {
      x -= gain_[static_cast<Eigen::Index>(c) * nb + k] * m.x[others[c]];
    }
    m.x[bilateral[static_cast<std::size_t>(k)]] = x;
  }
}

}  // namespace sarrus
