#include "sarrus/collision/shapes.h"

#include <algorithm>
#include <cmath>

namespace sarrus {

PlacedShape place(const Shape& shape, const Pose& X_WG) {
  return {shape.kind, shape.size, shape_diagonal(shape), X_WG.R(), X_WG.p};
}

double shape_diagonal(const Shape& shape) {
  const Vec3& s = shape.size;
  switch (shape.kind) {
    case ShapeKind::plane:
      break;
    case ShapeKind::sphere:
      return 2 * std::sqrt(3.0) * s[0];
    case ShapeKind::capsule:
      return 2 * Vec3(s[0], s[0], s[0] + s[1]).norm();
    case ShapeKind::box:
      return 2 * s.norm();
  }
  return kInf;
}

Aabb shape_aabb(const PlacedShape& shape) {
  const Vec3& s = shape.size;
  Vec3 e = Vec3::Constant(kInf);
  switch (shape.kind) {
    case ShapeKind::plane:
      break;
    case ShapeKind::sphere:
      e.setConstant(s[0]);
      break;
    case ShapeKind::capsule:
      e = s[1] * shape.R_WG.col(2).cwiseAbs() + Vec3::Constant(s[0]);
      break;
    case ShapeKind::box:
      e = shape.R_WG.cwiseAbs() * s;
      break;
  }
  return {shape.p_W - e, shape.p_W + e};
}

double bounding_radius(const Shape& shape) { return surface_arm(shape, Pose{}); }

double surface_arm(const Shape& shape, const Pose& X_BG) {
  const Vec3& s = shape.size;
  switch (shape.kind) {
    case ShapeKind::plane:
      break;
    case ShapeKind::sphere:
      return X_BG.p.norm() + s[0];
    case ShapeKind::capsule:
      return std::max((X_BG * Vec3(0, 0, s[1])).norm(), (X_BG * Vec3(0, 0, -s[1])).norm()) + s[0];
    case ShapeKind::box: {
      // The farthest corner lies on the side of the offset, seen in the box frame.
      const Vec3 c_G = X_BG.q.conjugate() * X_BG.p;
      return (c_G.cwiseAbs() + s).norm();
    }
  }
  return kInf;
}

}  // namespace sarrus
