// Small helpers of our own sources; not installed.
#pragma once

#include <cstddef>
#include <limits>

#include "sarrus/math/types.h"

namespace sarrus {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

// Bodies, joints and rows are counted by int, containers by std::size_t.
inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

inline double sign(double x) { return x >= 0 ? 1.0 : -1.0; }

// Four numbers of an array at a time.
using Four = Eigen::Array4d;
inline Eigen::Map<const Four> four(const double* x) { return Eigen::Map<const Four>(x); }

inline Mat3 skew(const Vec3& a) {
  Mat3 S;
  S << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return S;
}

// [linear; angular]. Fixed-size halves: Eigen's comma initialiser goes through dynamic blocks.
inline Vec6 spatial(const Vec3& linear, const Vec3& angular) {
  Vec6 x;
  x.head<3>() = linear;
  x.tail<3>() = angular;
  return x;
}

inline bool all_finite(const Pose& X) { return X.p.allFinite() && X.q.coeffs().allFinite(); }

}  // namespace sarrus
