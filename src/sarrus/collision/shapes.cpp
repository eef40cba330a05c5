#include "sarrus/collision/shapes.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/tools.h"

namespace sarrus {

PlacedShape place(const Shape& shape, const Pose& X_WG) {
  PlacedShape placed;
  placed.kind = shape.kind;
  placed.size = shape.size;
  placed.diagonal = shape_diagonal(shape);
  placed.hull = shape.hull.get();
  placed.mesh = shape.mesh.get();
  placed.field = shape.height_field.get();
  placed.R_WG = X_WG.R();
  placed.p_W = X_WG.p;
  return placed;
}

double shape_diagonal(const Shape& shape) {
  return shape.kind == ShapeKind::plane ? kInf : shape_box(shape).diagonal();
}

namespace {

// Exact in world axes: a rotated local box would be up to 1.7 times as wide. Of few vertices all are turned; vectors of
// four are what the processor has.
Aabb hull_aabb(const PlacedShape& shape) {
  constexpr int kFew = 64;
  const std::span<const Vec3> vertices = shape.hull->vertices();
  if (vertices.size() <= kFew) {
    Eigen::Array4d axis[3];
    for (int k = 0; k < 3; ++k) axis[k] << shape.R_WG.col(k).array(), 0;
    Eigen::Array4d lo = Eigen::Array4d::Constant(kInf);
    Eigen::Array4d hi = -lo;
    for (const Vec3& x : vertices) {
      const Eigen::Array4d y = x[0] * axis[0] + x[1] * axis[1] + x[2] * axis[2];
      lo = lo.min(y);
      hi = hi.max(y);
    }
    return {shape.p_W + lo.head<3>().matrix(), shape.p_W + hi.head<3>().matrix()};
  }
  Aabb box;
  for (int i = 0; i < 3; ++i) {
    const Vec3 l = shape.R_WG.row(i).transpose();
    box.lo[i] = shape.p_W[i] + l.dot(shape.hull->vertex(shape.hull->support(-l)));
    box.hi[i] = shape.p_W[i] + l.dot(shape.hull->vertex(shape.hull->support(l)));
  }
  return box;
}

}  // namespace

Aabb shape_aabb(const PlacedShape& shape) {
  const Vec3& s = shape.size;
  const Mat3& R = shape.R_WG;
  Vec3 e = Vec3::Constant(kInf);
  switch (shape.kind) {
    case ShapeKind::plane:
    case ShapeKind::compound:
      break;
    case ShapeKind::sphere:
      e.setConstant(s[0]);
      break;
    case ShapeKind::capsule:
      e = s[1] * R.col(2).cwiseAbs() + Vec3::Constant(s[0]);
      break;
    case ShapeKind::box:
      e = R.cwiseAbs() * s;
      break;
    case ShapeKind::cylinder:
      e = s[1] * R.col(2).cwiseAbs() + s[0] * (1 - R.col(2).array().square()).max(0.0).sqrt().matrix();
      break;
    case ShapeKind::ellipsoid:
      e = (R * s.asDiagonal()).rowwise().norm();
      break;
    case ShapeKind::hull:
      return hull_aabb(shape);
    case ShapeKind::mesh:
      return transformed_box(shape.mesh->box(), R, shape.p_W);
    case ShapeKind::height_field:
      return transformed_box(shape.field->box(), R, shape.p_W);
  }
  return {shape.p_W - e, shape.p_W + e};
}

double inner_radius(const Shape& shape) {
  const Vec3& s = shape.size;
  switch (shape.kind) {
    case ShapeKind::sphere:
    case ShapeKind::capsule:
      return s[0];
    case ShapeKind::box:
    case ShapeKind::ellipsoid:
      return s.minCoeff();
    case ShapeKind::cylinder:
      return std::min(s[0], s[1]);
    case ShapeKind::hull:
      return shape.hull->inner_radius();
    case ShapeKind::compound: {
      double smallest = kInf;
      for (const CompoundChild& child : *shape.children) smallest = std::min(smallest, inner_radius(child.shape));
      return smallest;
    }
    case ShapeKind::mesh:
    case ShapeKind::height_field:
      return 0;
    case ShapeKind::plane:
      break;
  }
  return kInf;
}

double bounding_radius(const Shape& shape) { return surface_arm(shape, Pose{}); }

double surface_arm(const Shape& shape, const Pose& X_BG) {
  const Vec3& s = shape.size;
  // The farthest corner of a box lies on the side of the offset, seen in the box frame.
  const Vec3 c_G = X_BG.q.conjugate() * X_BG.p;
  switch (shape.kind) {
    case ShapeKind::plane:
      break;
    case ShapeKind::sphere:
      return X_BG.p.norm() + s[0];
    case ShapeKind::capsule:
      return std::max((X_BG * Vec3(0, 0, s[1])).norm(), (X_BG * Vec3(0, 0, -s[1])).norm()) + s[0];
    case ShapeKind::box:
      return (c_G.cwiseAbs() + s).norm();
    case ShapeKind::cylinder:
      return std::hypot(c_G.head<2>().norm() + s[0], std::abs(c_G.z()) + s[1]);
    case ShapeKind::ellipsoid:
      return X_BG.p.norm() + s.maxCoeff();
    case ShapeKind::hull:
    case ShapeKind::mesh: {
      double arm = 0;
      const auto vertices = shape.kind == ShapeKind::hull ? shape.hull->vertices() : shape.mesh->vertices();
      for (const Vec3& x : vertices) arm = std::max(arm, (X_BG * x).norm());
      return arm;
    }
    case ShapeKind::height_field:
      return X_BG.p.norm() + shape.height_field->outer_radius();
    case ShapeKind::compound: {
      double arm = 0;
      for (const CompoundChild& child : *shape.children)
        arm = std::max(arm, surface_arm(child.shape, X_BG * child.X_SC));
      return arm;
    }
  }
  return kInf;
}

}  // namespace sarrus
