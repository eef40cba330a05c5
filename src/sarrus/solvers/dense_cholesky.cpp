#include "sarrus/solvers/dense_cholesky.h"

#include <cmath>

namespace sarrus {
namespace {

constexpr double kPivot = 1e-13;  // of the diagonal entry: smaller pivots are rounding errors of dependent rows

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

}  // namespace sarrus
