#include "sarrus/solvers/block_pivoting.h"

#include <algorithm>
#include <cmath>

namespace sarrus {
namespace {

constexpr double kPivot = 1e-13;          // of the diagonal entry: smaller pivots are rounding errors of dependent rows
constexpr double kDiagonalShift = 1e-10;  // of the diagonal
constexpr double kTolerance = 1e-12;      // of the largest impulse or velocity
constexpr double kCentred = 1e-14;        // of the largest velocity
constexpr int kMaxCentres = 30;           // contradicting rows would go on for ever

double impulse_scale(const Mlcp& m) { return m.x.cwiseAbs().maxCoeff(); }
double velocity_scale(const Mlcp& m) {
  return std::max(m.b.cwiseAbs().maxCoeff(), m.diagonal.cwiseProduct(m.x).cwiseAbs().maxCoeff());
}

}  // namespace

bool DenseCholesky::factor(const double* A, int ld, std::span<const int> index, const double* shift) {
  n_ = static_cast<int>(index.size());
  L_.resize(static_cast<Eigen::Index>(n_) * n_);
  for (int j = 0; j < n_; ++j) {
    const int cj = index[static_cast<std::size_t>(j)];
    const double* a = A + static_cast<Eigen::Index>(cj) * ld;
    double* l = column(j);
    for (int i = j; i < n_; ++i) l[i] = a[index[static_cast<std::size_t>(i)]];
    if (shift != nullptr) l[j] += shift[cj];
    const double diagonal = l[j];
    // Left-looking; four earlier columns at a time, so that column j is read and written a quarter as often.
    Column target(l + j, n_ - j);
    int k = 0;
    for (; k + 4 <= j; k += 4) {
      const double *c0 = column(k), *c1 = column(k + 1), *c2 = column(k + 2), *c3 = column(k + 3);
      target -= c0[j] * ConstColumn(c0 + j, n_ - j) + c1[j] * ConstColumn(c1 + j, n_ - j) +
                c2[j] * ConstColumn(c2 + j, n_ - j) + c3[j] * ConstColumn(c3 + j, n_ - j);
    }
    for (; k < j; ++k) target -= column(k)[j] * ConstColumn(column(k) + j, n_ - j);
    if (!(l[j] > kPivot * diagonal)) return false;
    l[j] = std::sqrt(l[j]);
    Column(l + j + 1, n_ - j - 1) *= 1.0 / l[j];
  }
  return true;
}

void DenseCholesky::solve(double* x) const {
  for (int j = 0; j < n_; ++j) {
    const double* l = column(j);
    x[j] /= l[j];
    Column(x + j + 1, n_ - j - 1) -= x[j] * ConstColumn(l + j + 1, n_ - j - 1);
  }
  for (int j = n_ - 1; j >= 0; --j) {
    const double* l = column(j);
    x[j] = (x[j] - ConstColumn(l + j + 1, n_ - j - 1).dot(Column(x + j + 1, n_ - j - 1))) / l[j];
  }
}

// A row that moves nothing (zero Jacobian) still needs a positive pivot.
void BlockPivoting::prepare(const Mlcp& m) {
  shift_.resize(m.rows);
  shift_ = kDiagonalShift * m.diagonal.cwiseMax(1e-12 * m.diagonal.maxCoeff()).cwiseMax(1e-200);
  centre_.resize(m.rows);
  centre_ = m.x;
  current_ = false;
}

bool BlockPivoting::factor(const Mlcp& m, int& factorisations) {
  basic_.clear();
  for (int i = 0; i < m.rows; ++i) {
    if (m.state[static_cast<std::size_t>(i)] == RowState::basic) basic_.push_back(i);
  }
  if (current_ && basic_ == factored_) return true;
  factored_.assign(basic_.begin(), basic_.end());
  ++factorisations;
  current_ = cholesky_.factor(m.A.data(), m.rows, factored_, shifted_ ? shift_.data() : nullptr);
  if (!current_ && !shifted_) {
    shifted_ = true;
    ++factorisations;
    current_ = cholesky_.factor(m.A.data(), m.rows, factored_, shift_.data());
  }
  return current_;
}

// x_F from the factors; the centre enters only if the matrix is shifted.
void BlockPivoting::substitute(Mlcp& m) {
  for (const int i : factored_) m.x[i] = 0;
  m.multiply();
  rhs_.resize(static_cast<Eigen::Index>(factored_.size()));
  for (std::size_t k = 0; k < factored_.size(); ++k) {
    const int i = factored_[k];
    rhs_[static_cast<Eigen::Index>(k)] = (shifted_ ? shift_[i] * centre_[i] : 0.0) - m.w[i];
  }
  cholesky_.solve(rhs_.data());
  for (std::size_t k = 0; k < factored_.size(); ++k) m.x[factored_[k]] = rhs_[static_cast<Eigen::Index>(k)];
}

bool BlockPivoting::solve_basic(Mlcp& m, int& factorisations) {
  prepare(m);
  if (!factor(m, factorisations)) return false;
  substitute(m);
  for (int k = 0; k < kMaxCentres && recentre(m); ++k) substitute(m);
  return true;
}

void BlockPivoting::find_wrong(const Mlcp& m) {
  const double tx = kTolerance * impulse_scale(m);
  const double tw = kTolerance * velocity_scale(m);
  wrong_.clear();
  for (int i = 0; i < m.rows; ++i) {
    const double w = m.w[i] + (shifted_ ? shift_[i] * (m.x[i] - centre_[i]) : 0.0);
    bool wrong = false;
    switch (m.state[static_cast<std::size_t>(i)]) {
      case RowState::basic:
        wrong = m.x[i] < m.lower[i] - tx || m.x[i] > m.upper[i] + tx;
        break;
      case RowState::lower:
        wrong = w < -tw && m.lower[i] < m.upper[i];
        break;
      case RowState::upper:
        wrong = w > tw && m.lower[i] < m.upper[i];
        break;
      case RowState::held:
        break;
    }
    if (wrong) wrong_.push_back(i);
  }
}

// True if the shift still matters: x is then the new centre.
bool BlockPivoting::recentre(const Mlcp& m) {
  if (!shifted_) return false;
  const double pull = shift_.cwiseProduct(m.x - centre_).cwiseAbs().maxCoeff();
  centre_ = m.x;
  return pull > kCentred * velocity_scale(m);
}

void BlockPivoting::exchange(Mlcp& m, int row) const {
  RowState& s = m.state[static_cast<std::size_t>(row)];
  s = s != RowState::basic ? RowState::basic : m.x[row] < m.lower[row] ? RowState::lower : RowState::upper;
}

PivotResult BlockPivoting::solve(Mlcp& m, int limit, int p_max) {
  PivotResult out;
  prepare(m);
  std::size_t best = static_cast<std::size_t>(m.rows) + 1;
  int patience = p_max;
  int centres = 0;
  while (out.pivots < limit) {
    ++out.pivots;
    for (int i = 0; i < m.rows; ++i) {
      RowState& s = m.state[static_cast<std::size_t>(i)];
      if (s == RowState::basic && !(m.lower[i] < m.upper[i])) s = RowState::lower;
      if (s == RowState::lower) m.x[i] = m.lower[i];
      if (s == RowState::upper) m.x[i] = m.upper[i];
    }
    if (!factor(m, out.factorisations)) {
      out.failed = true;
      return out;
    }
    substitute(m);
    m.multiply();
    find_wrong(m);
    if (wrong_.empty()) {
      out.solved = true;
      if (!recentre(m) || ++centres > kMaxCentres) return out;
      best = static_cast<std::size_t>(m.rows) + 1;
      patience = p_max;
      continue;
    }
    out.solved = false;
    if (wrong_.size() < best) {
      best = wrong_.size();
      patience = p_max;
    } else if (patience >= 0) {
      --patience;
    }
    if (patience >= 0) {
      for (const int row : wrong_) exchange(m, row);
    } else {
      exchange(m, wrong_.back());
    }
  }
  return out;
}

}  // namespace sarrus
