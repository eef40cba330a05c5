// Dense decompositions for tests, compiled once: Eigen's singular value decomposition alone takes most of the time to
// compile of any test that includes it.
#pragma once

#include "sarrus/math/types.h"

namespace sarrus::test {

// Descending.
VecX singular_values(const MatX& A);
// Singular values above `threshold` times the largest.
int rank_of(const MatX& A, double threshold);
// The right singular vector of the smallest singular value.
VecX null_vector(const MatX& A);
// The shortest x with the least |A x - b|; singular values below `threshold` times the largest count as zero.
VecX least_squares(const MatX& A, const VecX& b, double threshold);

// A x = b, A symmetric positive definite; any regular A.
VecX solve_spd(const MatX& A, const VecX& b);
VecX solve_any(const MatX& A, const VecX& b);
MatX inverse(const MatX& A);

// In 64 bits of mantissa: what double precision is compared with where it loses digits.
using MatXl = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using VecXl = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
// Rows are scaled to a largest entry of one; pivots are the largest of all that is left.
VecXl solve_long(const MatXl& A, const VecXl& b);

}  // namespace sarrus::test
