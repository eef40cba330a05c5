// The shapes that a geom can have, their sizes and their mass (docs/theory/collision.md §1).
//
// Every shape has a frame of its own, S. Convex shapes, meshes and compounds bound a solid; planes and height fields
// bound the ground and belong to the world only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/math/types.h"

namespace sarrus {

class ConvexHull;
class HeightField;
class TriangleMesh;
struct Aabb;
struct MassProperties;

// The narrow phase computes a pair with the earlier kind first.
enum class ShapeKind : std::uint8_t {
  plane,
  sphere,
  capsule,
  box,
  cylinder,
  ellipsoid,
  hull,
  mesh,
  height_field,
  compound
};
inline constexpr int kShapeKindCount = 10;
inline constexpr double kMaxShapeSize = 1e6;  // m, radius, half length, half extent or semi-axis
std::string_view name_of(ShapeKind kind);

inline constexpr int kMaxCompoundChildren = 500;  // feature keys have room for 512

struct CompoundChild;

// plane:        the half-space z <= 0 of its frame; only on the world.
// sphere:       size = (radius, 0, 0).
// capsule:      size = (radius, half length of the core segment, 0), axis z.
// box:          size = half extents.
// cylinder:     size = (radius, half length, 0), axis z.
// ellipsoid:    size = semi-axes.
// hull:         convex polytope.
// mesh:         triangles, one-sided, CCW seen from outside.
// height_field: ground below heights over a grid; only on the world.
// compound:     solids joined rigidly, each with its pose; no planes, height fields or compounds among them.
struct Shape {
  ShapeKind kind = ShapeKind::sphere;
  Vec3 size = Vec3::Zero();
  std::shared_ptr<const ConvexHull> hull;                      // hull
  std::shared_ptr<const TriangleMesh> mesh;                    // mesh
  std::shared_ptr<const HeightField> height_field;             // height_field
  std::shared_ptr<const std::vector<CompoundChild>> children;  // compound
  bool mass_from_hull = false;                                 // mesh: its hull's volume and inertia, for open meshes

  static Shape plane() { return make(ShapeKind::plane, Vec3::Zero()); }
  static Shape sphere(double radius) { return make(ShapeKind::sphere, Vec3(radius, 0, 0)); }
  static Shape capsule(double radius, double half_length) {
    return make(ShapeKind::capsule, Vec3(radius, half_length, 0));
  }
  static Shape box(const Vec3& half_extents) { return make(ShapeKind::box, half_extents); }
  static Shape cylinder(double radius, double half_length) {
    return make(ShapeKind::cylinder, Vec3(radius, half_length, 0));
  }
  static Shape ellipsoid(const Vec3& semi_axes) { return make(ShapeKind::ellipsoid, semi_axes); }
  static Shape convex(std::shared_ptr<const ConvexHull> hull);
  static Shape triangles(std::shared_ptr<const TriangleMesh> mesh, bool mass_from_hull = false);
  static Shape terrain(std::shared_ptr<const HeightField> field);
  static Shape compound(std::vector<CompoundChild> children);

 private:
  static Shape make(ShapeKind kind, const Vec3& size);
};

struct CompoundChild {
  Shape shape;
  Pose X_SC;  // pose of the child's frame in the compound's
};

// Of the homogeneous solid with density one. Throws InputError(element, ...) for planes, height fields, and meshes that
// are open or inside out (unless mass_from_hull).
MassProperties mass_properties(const Shape& shape, const std::string& element = "shape");

// Inertia about the centre of volume of a homogeneous solid of the given mass; its volume, 0 for planes and fields.
Mat3 solid_inertia(const Shape& shape, double mass);
double shape_volume(const Shape& shape);

// Box in the shape's own frame; unbounded for a plane.
Aabb shape_box(const Shape& shape);

}  // namespace sarrus
