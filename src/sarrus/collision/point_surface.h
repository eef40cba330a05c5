// The point of a surface that is nearest to a given point (spec/collision.md §1, "Points to surfaces").
//
// The given point c is in the shape's frame. d is the distance of c to the surface, negative inside; n is the outward
// unit normal at the nearest point, which is c - d n.
#pragma once

#include "sarrus/math/types.h"

namespace sarrus {

struct SurfaceDistance {
  Vec3 n;
  double d;  // m
};

// n = (c - q)/|c - q| with q = clamp(c, +-h) outside; a point closer than `coincident` or inside leaves through the
// face with the largest |c_i| - h_i, because the direction of c - q is round-off there.
inline SurfaceDistance distance_to_box(const Vec3& c, const Vec3& half_extents, double coincident) {
  const Vec3 e = c - c.cwiseMax(-half_extents).cwiseMin(half_extents);
  const double distance = e.norm();
  if (distance > coincident) return {e / distance, distance};
  int axis = 0;
  const double d = (c.cwiseAbs() - half_extents).maxCoeff(&axis);
  return {(c[axis] >= 0 ? 1.0 : -1.0) * Vec3::Unit(axis), d};
}

// alpha = |c_xy| - r, beta = |c_z| - h: both <= 0, the larger one; else d = hypot(alpha+, beta+).
SurfaceDistance distance_to_cylinder(const Vec3& c, double radius, double half_length);

// The nearest point is q_i = e_i^2 c_i / (t + e_i^2), where t > -min e^2 is the largest root of
//   sum (e_i c_i / (t + e_i^2))^2 = 1,
// so w_i = c_i / (t + e_i^2) is along the normal and d = t |w|. The sum is convex and falls, so Newton's method from
// its left converges without overshooting. A point on the plane across the smallest semi-axis and close to the centre
// has t = -min e^2.
SurfaceDistance distance_to_ellipsoid(const Vec3& c, const Vec3& semi_axes);

}  // namespace sarrus
