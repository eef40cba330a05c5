// Small solids for the tests of files: as vertices and polygons, and as shapes.
#pragma once

#include <array>
#include <memory>
#include <random>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/model/shape.h"

namespace sarrus::test {

// A surface of polygons, counter-clockwise seen from outside.
struct Surface {
  std::vector<Vec3> vertices;
  std::vector<std::vector<int>> faces;

  // Fans over the faces; right for convex ones.
  std::vector<std::array<int, 3>> triangles() const {
    std::vector<std::array<int, 3>> result;
    for (const std::vector<int>& f : faces) {
      for (std::size_t k = 2; k < f.size(); ++k) result.push_back({f[0], f[k - 1], f[k]});
    }
    return result;
  }
};

// A box from corner to corner, its faces quadrilaterals.
inline Surface box_surface(const Vec3& lo, const Vec3& hi) {
  Surface s;
  for (int i = 0; i < 8; ++i) {
    s.vertices.emplace_back((i & 1) != 0 ? hi.x() : lo.x(), (i & 2) != 0 ? hi.y() : lo.y(),
                            (i & 4) != 0 ? hi.z() : lo.z());
  }
  s.faces = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  return s;
}

// An L of three unit cubes in the x-z plane, one thick along y. Volume 3, hull volume 3.5; the L-shaped faces have six
// corners and are not convex.
inline Surface l_surface() {
  Surface s;
  const double outline[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
  for (const double y : {0.0, 1.0}) {
    for (const auto& p : outline) s.vertices.emplace_back(p[0], y, p[1]);
  }
  s.faces = {{0, 1, 2, 3, 4, 5}, {11, 10, 9, 8, 7, 6}};
  for (int k = 0; k < 6; ++k) {
    const int next = (k + 1) % 6;
    s.faces.push_back({next, k, k + 6, next + 6});
  }
  return s;
}

// Triangles of the L: its concave faces are cut at the inner corner.
inline std::vector<std::array<int, 3>> l_triangles() {
  Surface s = l_surface();
  s.faces.erase(s.faces.begin(), s.faces.begin() + 2);
  s.faces.insert(s.faces.end(), {{0, 1, 2, 3}, {0, 3, 4, 5}, {9, 8, 7, 6}, {11, 10, 9, 6}});
  return s.triangles();
}

inline Shape box_mesh(const Vec3& half_extents) {
  const Surface s = box_surface(-half_extents, half_extents);
  return Shape::triangles(TriangleMesh::build(s.vertices, s.triangles(), "box"));
}

inline Shape l_mesh() { return Shape::triangles(TriangleMesh::build(l_surface().vertices, l_triangles(), "L")); }

// Points on a ball, in a box or on a coarse grid (many coplanar and repeated ones).
inline Shape random_hull(std::mt19937& random, int points) {
  std::uniform_real_distribution<double> u(-1, 1);
  const int kind = static_cast<int>(random() % 3);
  std::vector<Vec3> x;
  for (int i = 0; i < points; ++i) {
    Vec3 p(u(random), u(random), u(random));
    if (kind == 0) p.normalize();
    if (kind == 2) p = (3 * p).array().round() / 3;
    x.push_back(p);
  }
  for (int i = 0; i < 4; ++i) x.emplace_back(i & 1 ? 1.1 : -1.1, i & 2 ? 1.1 : -1.1, i == 0 || i == 3 ? 1.1 : -1.1);
  return Shape::convex(ConvexHull::build(x, "random hull"));
}

inline Shape random_terrain(std::mt19937& random, int columns, int rows) {
  std::uniform_real_distribution<double> u(-0.1, 0.1);
  std::vector<double> heights;
  for (int i = 0; i < columns * rows; ++i) heights.push_back(u(random));
  return Shape::terrain(HeightField::build(columns, rows, 0.1, 0.15, heights, "random terrain"));
}

}  // namespace sarrus::test
