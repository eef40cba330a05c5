// Shapes placed in the world, and the sizes derived from them (docs/theory/collision.md §1).
//
//   plane    half-space z <= 0 of the geom frame G
//   sphere   radius r = size[0]
//   capsule  radius r = size[0], core ends at z = +-h, h = size[1]
//   box      half extents h = size
//   cylinder radius r = size[0], caps at z = +-h, h = size[1]
//   ellipsoid  semi-axes e = size
//   hull, mesh, height_field  as in geometry/
// Compounds are taken apart by the detector: the narrow phase never sees one.
#pragma once

#include "sarrus/geometry/aabb.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/types.h"
#include "sarrus/model/model.h"

namespace sarrus {

// A shape and its pose in the world: x_W = p_W + R_WG x_G.
struct PlacedShape {
  ShapeKind kind = ShapeKind::sphere;
  Vec3 size = Vec3::Zero();
  double diagonal = 0;               // see shape_diagonal()
  const ConvexHull* hull = nullptr;  // owned by the model
  const TriangleMesh* mesh = nullptr;
  const HeightField* field = nullptr;
  Mat3 R_WG = Mat3::Identity();
  Vec3 p_W = Vec3::Zero();
};

PlacedShape place(const Shape& shape, const Pose& X_WG);

inline bool is_convex(ShapeKind kind) { return kind > ShapeKind::plane && kind < ShapeKind::mesh; }

// Diagonal of the shape's box in its own frame, m; infinity for a plane. The smaller one of a pair is the
// length L that scales tolerances.
double shape_diagonal(const Shape& shape);

// Tight box in world axes. Not for planes.
Aabb shape_aabb(const PlacedShape& shape);

// Radius of a ball inside the shape: a body that moves less in a step cannot jump over it. 0 for meshes and fields,
// infinity for planes.
double inner_radius(const Shape& shape);

// Largest distance from the origin of the shape's frame to its surface, m. Not for planes.
double bounding_radius(const Shape& shape);

// Largest distance from the body's origin to the surface of a shape with pose X_BG in the body, m: the arm rho
// with which rotation moves the surface. Not for planes.
double surface_arm(const Shape& shape, const Pose& X_BG);

}  // namespace sarrus
