// Axis-aligned boxes.
#pragma once

#include <limits>

#include "sarrus/math/types.h"

namespace sarrus {

struct Aabb {
  Vec3 lo = Vec3::Zero();  // m
  Vec3 hi = Vec3::Zero();

  static Aabb nothing() {
    constexpr double inf = std::numeric_limits<double>::infinity();
    return {Vec3::Constant(inf), Vec3::Constant(-inf)};
  }
  bool is_empty() const { return lo.x() > hi.x(); }
  Vec3 centre() const { return 0.5 * (lo + hi); }
  double diagonal() const { return (hi - lo).norm(); }
  void add(const Vec3& x) {
    lo = lo.cwiseMin(x);
    hi = hi.cwiseMax(x);
  }
  void add(const Aabb& box) {
    lo = lo.cwiseMin(box.lo);
    hi = hi.cwiseMax(box.hi);
  }
  Aabb grown(double distance) const { return {lo - Vec3::Constant(distance), hi + Vec3::Constant(distance)}; }
};

// True if the boxes, one of them grown by `distance` on every side, overlap or touch. False for NaN.
inline bool boxes_near(const Aabb& a, const Aabb& b, double distance) {
  return (a.lo.array() - distance <= b.hi.array()).all() && (b.lo.array() - distance <= a.hi.array()).all();
}

// Box in world axes of a box given in a frame with pose (R, p).
inline Aabb transformed_box(const Aabb& box, const Mat3& R, const Vec3& p) {
  const Vec3 c = p + R * box.centre();
  const Vec3 e = R.cwiseAbs() * (0.5 * (box.hi - box.lo));
  return {c - e, c + e};
}

}  // namespace sarrus
