#include "sarrus/collision/convex.h"

#include <algorithm>

#include "sarrus/collision/convex_support.h"

namespace sarrus {

Vec3 Convex::core_support_local(const Vec3& l) const { return core_support_inline(*this, l); }

Convex convex_of(const PlacedShape& shape, const Vec3& p) {
  Convex c;
  c.size = shape.size;
  c.hull = shape.hull;
  c.diagonal = shape.diagonal;
  c.R = shape.R_WG;
  c.p = p;
  switch (shape.kind) {
    case ShapeKind::sphere:
      c.core = CoreKind::point;
      c.radius = shape.size[0];
      break;
    case ShapeKind::capsule:
      c.core = CoreKind::segment;
      c.radius = shape.size[0];
      break;
    case ShapeKind::box:
      c.core = CoreKind::box;
      break;
    case ShapeKind::cylinder:
      c.core = CoreKind::cylinder;
      break;
    case ShapeKind::ellipsoid:
      c.core = CoreKind::ellipsoid;
      break;
    default:
      c.core = CoreKind::hull;
  }
  return c;
}

Convex convex_of_triangle(const Vec3& x0, const Vec3& x1, const Vec3& x2, const Mat3& R, const Vec3& p) {
  Convex c;
  c.core = CoreKind::triangle;
  c.corner[0] = x0;
  c.corner[1] = x1;
  c.corner[2] = x2;
  c.diagonal = std::max({(x1 - x0).norm(), (x2 - x1).norm(), (x0 - x2).norm()});
  c.R = R;
  c.p = p;
  return c;
}

double support_distance(const Convex& a, const Convex& b, const Vec3& n) {
  return n.dot(b.core_support(-n) - a.core_support(n)) - a.radius - b.radius;
}

}  // namespace sarrus
