// What shapes look like in the SVG strip: projections, silhouettes and profiles. Internal to the strip.
// World points are metres; projected points are metres in the view plane, y up.
#pragma once

#include <Eigen/Geometry>
#include <string>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus::svg {

using Box2 = Eigen::AlignedBox2d;

// Orthographic projection on the plane of two orthonormal world vectors; right x up points to the viewer.
struct View {
  Vec3 right = Vec3::UnitX();
  Vec3 up = Vec3::UnitZ();
  std::string label = "view x-z";

  Vec2 project(const Vec3& p) const { return {right.dot(p), up.dot(p)}; }
  double depth(const Vec3& p) const { return right.cross(up).dot(p); }
};

// Outline of a projected convex shape: a polygon (radius 0), a circle (one point) or a stadium (two points).
struct Outline {
  std::vector<Vec2> points;
  double radius = 0;
};
void extend(Box2& box, const Outline& outline);

// Exact up to a quarter of a thousandth of the size. A mesh is drawn as its hull, a compound as its children; a plane
// has no outline.
std::vector<Outline> silhouettes(const Shape& shape, const Pose& X_WG, const View& view);

// Points that stand for the extent of a shape.
std::vector<Vec3> extent_points(const Shape& shape, const Pose& X_WG);

// Convex hull, counter-clockwise; one point or two for degenerate input.
std::vector<Vec2> convex_hull(std::vector<Vec2> points);

// Terrain seen from the side: the highest points of a mesh or height field of the world from left to right, and the
// lowest ones of a mesh. A height field is ground down to any depth.
struct Ground {
  std::vector<Vec2> top;
  std::vector<Vec2> bottom;  // empty for a height field
  Vec2 normal;               // unit, away from the ground
};
// Height fields and meshes of the world. Fields that are seen from above have none: they are drawn as outlines.
std::vector<Ground> grounds(const Geom& geom, const View& view);

}  // namespace sarrus::svg
