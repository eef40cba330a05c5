#include "support/dense.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/SVD>

namespace sarrus::test {

VecX singular_values(const MatX& A) { return Eigen::BDCSVD<MatX>(A).singularValues(); }

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

}  // namespace sarrus::test
