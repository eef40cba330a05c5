// The part of a capsule that may touch another body along a normal (spec/collision.md §4.1).
#pragma once

#include <cmath>

#include "sarrus/math/types.h"

namespace sarrus {

// Segments whose direction has a larger component than this along n count as points.
inline constexpr double kMaxSegmentSlope = 0.1;

// Two points on the surface, first at the + end, if the capsule lies across n; else the support point, at the + or -
// end.
struct CapsuleSide {
  Vec3 p[2];
  int size;
  int end;  // of the support point: 0 = +, 1 = -
};

// Radius r, core ends at p +- h axis; shorter cores than tol are points.
inline CapsuleSide capsule_side(double r, double h, const Vec3& axis, const Vec3& p, const Vec3& n, double tol) {
  const double lz = axis.dot(n);
  const Vec3 end = h * axis;
  CapsuleSide side;
  side.end = lz >= 0 ? 0 : 1;
  if (std::abs(lz) > kMaxSegmentSlope || 2 * h <= tol) {
    side.size = 1;
    side.p[0] = p + (lz >= 0 ? end : Vec3(-end)) + r * n;
    return side;
  }
  // The near end touches with its cap along n; at the far end only the cylinder's rim is on the surface.
  const Vec3 across = (n - lz * axis).normalized();
  side.size = 2;
  side.p[0] = p + end + r * (lz >= 0 ? n : across);
  side.p[1] = p - end + r * (lz >= 0 ? across : n);
  return side;
}

}  // namespace sarrus
