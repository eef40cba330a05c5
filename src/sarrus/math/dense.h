// Dense decompositions for what runs in no step, compiled once: they are most of the time to compile of a source that
// has one. All read the lower triangle of a symmetric matrix and allocate.
#pragma once

#include <optional>
#include <vector>

#include "sarrus/math/types.h"

namespace sarrus {

struct SymmetricEigen {
  VecX values;   // ascending
  MatX vectors;  // a column each, of length 1
};

SymmetricEigen symmetric_eigen(const MatX& A);
VecX symmetric_eigenvalues(const MatX& A);  // ascending

struct SingularValues {
  VecX values;  // descending
  MatX right;   // right singular vectors, a column each
};
SingularValues singular_values(const MatX& A);

// Columns of A in the order of a QR factorisation that takes what is longest beyond those before it, and those lengths.
struct ColumnOrder {
  std::vector<int> column;
  VecX length;  // descending
};
ColumnOrder independent_columns(const MatX& A);

bool is_positive_definite(const MatX& A);
// X of A X = B; none if A is not positive definite.
std::optional<MatX> solve_definite(const MatX& A, const MatX& B);
// The same for an A that may be singular. There X is one of many, if B is in the range of A.
MatX solve_semidefinite(const MatX& A, const MatX& B);

}  // namespace sarrus
