#include "sarrus/math/dense.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>

namespace sarrus {

SymmetricEigen symmetric_eigen(const MatX& A) {
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(A);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

VecX symmetric_eigenvalues(const MatX& A) {
  return Eigen::SelfAdjointEigenSolver<MatX>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

SingularValues singular_values(const MatX& A) {
  const Eigen::BDCSVD<MatX> svd(A, Eigen::ComputeThinV);
  return {svd.singularValues(), svd.matrixV()};
}

ColumnOrder independent_columns(const MatX& A) {
  const Eigen::ColPivHouseholderQR<MatX> qr(A);
  ColumnOrder out;
  out.column.resize(static_cast<std::size_t>(A.cols()));
  for (Eigen::Index k = 0; k < A.cols(); ++k) {
    out.column[static_cast<std::size_t>(k)] = static_cast<int>(qr.colsPermutation().indices()[k]);
  }
  out.length = VecX::Zero(A.cols());
  const Eigen::Index n = std::min(A.rows(), A.cols());
  out.length.head(n) = qr.matrixQR().diagonal().head(n).cwiseAbs();
  return out;
}

bool is_positive_definite(const MatX& A) { return Eigen::LLT<MatX>(A).info() == Eigen::Success; }

std::optional<MatX> solve_definite(const MatX& A, const MatX& B) {
  const Eigen::LLT<MatX> llt(A);
  if (llt.info() != Eigen::Success) return std::nullopt;
  return llt.solve(B);
}

MatX solve_semidefinite(const MatX& A, const MatX& B) { return Eigen::LDLT<MatX>(A).solve(B); }

}  // namespace sarrus
