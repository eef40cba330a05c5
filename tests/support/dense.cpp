#include "support/dense.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>

namespace sarrus::test {

// Eigen's BDCSVD may return wrong small values where many are zero (3.7e-7 instead of 5.5e-3 of the largest on a
// Jacobian of 372 x 324 and rank 312): zeros are split off by a pivoted QR first.
VecX singular_values(const MatX& A) {
  VecX s = VecX::Zero(std::min(A.rows(), A.cols()));
  if (s.size() == 0) return s;
  Eigen::ColPivHouseholderQR<MatX> qr(A);
  qr.setThreshold(1e-13);
  const Eigen::Index rank = qr.rank();
  const MatX R = qr.matrixR().topRows(rank).triangularView<Eigen::Upper>();
  if (rank > 0) s.head(rank) = Eigen::BDCSVD<MatX>(R).singularValues().head(rank);
  return s;
}

int rank_of(const MatX& A, double threshold) {
  const VecX s = singular_values(A);
  return s.size() == 0 ? 0 : static_cast<int>((s.array() > threshold * s[0]).count());
}

VecX null_vector(const MatX& A) {
  const Eigen::BDCSVD<MatX> svd(A, Eigen::ComputeFullV);
  return svd.matrixV().rightCols<1>();
}

VecX least_squares(const MatX& A, const VecX& b, double threshold) {
  Eigen::BDCSVD<MatX> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
  svd.setThreshold(threshold);
  return svd.solve(b);
}

VecX solve_spd(const MatX& A, const VecX& b) { return A.llt().solve(b); }
VecX solve_any(const MatX& A, const VecX& b) { return A.fullPivLu().solve(b); }
MatX inverse(const MatX& A) { return A.inverse(); }

VecXl solve_long(const MatXl& A, const VecXl& b) {
  const VecXl scale = A.cwiseAbs().rowwise().maxCoeff().cwiseInverse();
  return MatXl(scale.asDiagonal() * A).fullPivLu().solve(scale.cwiseProduct(b));
}

}  // namespace sarrus::test
