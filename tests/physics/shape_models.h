// Shapes, grounds and bodies at rest for the physics tests of contact between all kinds of shapes.
#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"

namespace sarrus::testing {

inline Shape cube_hull(double half) {
  std::vector<Vec3> x;
  for (int i = 0; i < 8; ++i) {
    x.emplace_back((i & 1) != 0 ? half : -half, (i & 2) != 0 ? half : -half, (i & 4) != 0 ? half : -half);
  }
  return Shape::convex(ConvexHull::build(x, "cube"));
}

inline Shape prism_hull(int n, double radius, double half_length) {
  std::vector<Vec3> x;
  for (int i = 0; i < n; ++i) {
    const double a = 2 * std::numbers::pi * i / n;
    for (const double z : {-half_length, half_length}) x.emplace_back(radius * std::cos(a), radius * std::sin(a), z);
  }
  return Shape::convex(ConvexHull::build(x, "prism"));
}

// A closed triangle mesh of a hull's surface.
inline Shape mesh_of(const ConvexHull& hull) {
  return Shape::triangles(TriangleMesh::build(hull.vertices(), hull.triangles(), "mesh of hull"));
}

// A table: a plate on four legs.
inline Shape table() {
  std::vector<CompoundChild> parts = {{Shape::box(Vec3(0.15, 0.1, 0.01)), {Vec3(0, 0, 0.09)}}};
  for (const double sx : {-0.13, 0.13}) {
    for (const double sy : {-0.08, 0.08}) {
      parts.push_back({Shape::cylinder(0.015, 0.05), {Vec3(sx, sy, 0.03)}});
    }
  }
  return Shape::compound(std::move(parts));
}

// n x n cells of size `cell` around the origin in the plane z = 0, inner points moved about.
inline Shape flat_mesh(int n, double cell) {
  std::vector<Vec3> x;
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) {
      const bool inner = i > 0 && i < n && j > 0 && j < n;
      const double sx = inner ? 0.3 * std::sin(7.0 * i + 13.0 * j) : 0;
      const double sy = inner ? 0.3 * std::sin(11.0 * i + 5.0 * j) : 0;
      x.emplace_back((i + sx - 0.5 * n) * cell, (j + sy - 0.5 * n) * cell, 0);
    }
  }
  std::vector<TriangleMesh::Triangle> t;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const int a = j * (n + 1) + i;
      const int d = a + n + 1;
      t.push_back({a, a + 1, d + 1});
      t.push_back({a, d + 1, d});
    }
  }
  return Shape::triangles(TriangleMesh::build(x, t, "flat mesh"));
}

inline Shape flat_field(int n, double cell) {
  const std::vector<double> heights(static_cast<std::size_t>((n + 1) * (n + 1)), 0.0);
  return Shape::terrain(HeightField::build(n + 1, n + 1, cell, cell, heights, "flat field"));
}

struct Ground {
  std::string name;
  Shape shape;
};
inline std::vector<Ground> grounds() {
  return {{"plane", Shape::plane()}, {"mesh", flat_mesh(12, 0.11)}, {"field", flat_field(12, 0.11)}};
}

struct Resting {
  std::string name;
  Shape shape;
  Quat turn = Quat::Identity();
  double height = 0;   // of the shape's origin over the ground
  bool rolls = false;  // would roll down a slope
};
inline std::vector<Resting> resting_shapes() {
  const Quat lying = so3_exp(Vec3(0.5 * std::numbers::pi, 0, 0));
  const Quat turned = so3_exp(Vec3(0, 0, 0.4));
  const Shape prism = prism_hull(7, 0.1, 0.06);
  return {{"sphere", Shape::sphere(0.1), turned, 0.1, true},
          {"capsule", Shape::capsule(0.06, 0.1), turned * lying, 0.06, true},
          {"box", Shape::box(Vec3(0.1, 0.08, 0.05)), turned, 0.05},
          {"cylinder_standing", Shape::cylinder(0.08, 0.1), turned, 0.1},
          {"cylinder_lying", Shape::cylinder(0.08, 0.1), turned * lying, 0.08, true},
          {"ellipsoid", Shape::ellipsoid(Vec3(0.12, 0.1, 0.06)), turned, 0.06, true},
          {"hull", prism, turned, 0.06},
          {"mesh", mesh_of(*prism.hull), turned, 0.06},
          {"compound", table(), turned, 0.02}};
}

}  // namespace sarrus::testing
