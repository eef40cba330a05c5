// Farthest points of convex cores in their own frames, inline for the loops that need millions of them
// (spec/collision.md §1). Private to the distance algorithms; everybody else calls Convex::core_support_local.
#pragma once

#include <cmath>

#include "sarrus/collision/convex.h"

namespace sarrus {

inline double with_sign(double size, double x) { return x >= 0 ? size : -size; }

inline Vec3 cylinder_support(const Vec3& size, const Vec3& l) {
  double across = std::sqrt(l.x() * l.x() + l.y() * l.y());
  // Squares of tiny numbers vanish, the direction must not.
  if (across < 1e-140) across = std::hypot(l.x(), l.y());
  const double scale = across > 0 ? size[0] / across : 0;
  return {scale * l.x(), scale * l.y(), with_sign(size[1], l.z())};
}

inline Vec3 ellipsoid_support(const Vec3& size, const Vec3& l) {
  const Vec3 el = size.cwiseProduct(l);
  const double length = el.norm();
  return length > 0 ? Vec3(size.cwiseProduct(el) / length) : Vec3(0, 0, size[2]);
}

inline Vec3 triangle_support(const Vec3* corner, const Vec3& l) {
  const double x0 = l.dot(corner[0]);
  const double x1 = l.dot(corner[1]);
  const double x2 = l.dot(corner[2]);
  if (x1 > x0) return x2 > x1 ? corner[2] : corner[1];
  return x2 > x0 ? corner[2] : corner[0];
}

inline Vec3 core_support_inline(const Convex& c, const Vec3& l) {
  switch (c.core) {
    case CoreKind::point:
      return Vec3::Zero();
    case CoreKind::segment:
      return {0, 0, with_sign(c.size[1], l.z())};
    case CoreKind::box:
      return {with_sign(c.size[0], l.x()), with_sign(c.size[1], l.y()), with_sign(c.size[2], l.z())};
    case CoreKind::cylinder:
      return cylinder_support(c.size, l);
    case CoreKind::ellipsoid:
      return ellipsoid_support(c.size, l);
    case CoreKind::hull:
      return c.hull->vertex(c.hull->support(l));
    case CoreKind::triangle:
      break;
  }
  return triangle_support(c.corner, l);
}

}  // namespace sarrus
