// Shapes placed in the world, and the sizes derived from them (spec/collision.md §1).
//
//   plane    half-space z <= 0 of the geom frame G
//   sphere   radius r = size[0]
//   capsule  radius r = size[0], core ends at z = +-h, h = size[1]
//   box      half extents h = size
#pragma once

#include "sarrus/math/types.h"
#include "sarrus/model/model.h"

namespace sarrus {

struct Aabb {
  Vec3 lo = Vec3::Zero();  // m
  Vec3 hi = Vec3::Zero();

  static Aabb nothing() { return {Vec3::Constant(kInf), Vec3::Constant(-kInf)}; }
  bool is_empty() const { return lo.x() > hi.x(); }
};

// True if the boxes, one of them grown by `distance` on every side, overlap or touch. False for NaN.
inline bool near(const Aabb& a, const Aabb& b, double distance) {
  return (a.lo.array() - distance <= b.hi.array()).all() && (b.lo.array() - distance <= a.hi.array()).all();
}

// A shape and its pose in the world: x_W = p_W + R_WG x_G.
struct PlacedShape {
  ShapeKind kind = ShapeKind::sphere;
  Vec3 size = Vec3::Zero();
  double diagonal = 0;  // see shape_diagonal()
  Mat3 R_WG = Mat3::Identity();
  Vec3 p_W = Vec3::Zero();
};

PlacedShape place(const Shape& shape, const Pose& X_WG);

// Diagonal of the shape's box in its own frame, m; infinity for a plane. The smaller one of a pair is the
// length L that scales tolerances.
double shape_diagonal(const Shape& shape);

// Tight box in world axes. Not for planes.
Aabb shape_aabb(const PlacedShape& shape);

// Largest distance from the origin of the shape's frame to its surface, m. Not for planes.
double bounding_radius(const Shape& shape);

// Largest distance from the body's origin to the surface of a shape with pose X_BG in the body, m: the arm rho
// with which rotation moves the surface. Not for planes.
double surface_arm(const Shape& shape, const Pose& X_BG);

}  // namespace sarrus
