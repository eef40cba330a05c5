// Surfaces for tests of the mesh pairs, and answers that do not share code with them: point-triangle distances by
// minimising over the triangle's vertices, edges and interior one by one, areas of point sets by their convex hull.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "collision/oracles.h"
#include "sarrus/collision/mesh_pairs.h"

namespace sarrus::scene {

using oracle::Random;

struct Surface {
  std::vector<Vec3> v;
  std::vector<std::array<int, 3>> t;

  Shape shape() const { return Shape::triangles(TriangleMesh::build(v, t, "test mesh")); }
  int add(const Vec3& x) {
    v.push_back(x);
    return static_cast<int>(v.size()) - 1;
  }
  // Corners counter-clockwise from outside.
  void quad(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    const int i = add(a);
    add(b);
    add(c);
    add(d);
    t.push_back({i, i + 1, i + 2});
    t.push_back({i, i + 2, i + 3});
  }
};

// A grid of nx x ny cells over [-sx, sx] x [-sy, sy], heights from z(x, y). `jitter` moves inner grid lines and points
// by up to that share of half a cell; with it, diagonals and the order of the triangles are random as well, as far as
// no triangle turns over.
template <class Height>
Surface grid(int nx, int ny, double sx, double sy, double jitter, Random& random, const Height& z) {
  Surface s;
  for (int j = 0; j <= ny; ++j) {
    for (int i = 0; i <= nx; ++i) {
      double x = sx * (2.0 * i / nx - 1);
      double y = sy * (2.0 * j / ny - 1);
      if (i > 0 && i < nx) x += jitter * random.uniform(-1, 1) * sx / nx;
      if (j > 0 && j < ny) y += jitter * random.uniform(-1, 1) * sy / ny;
      s.add({x, y, z(x, y)});
    }
  }
  for (int j = 0; j < ny; ++j) {
    for (int i = 0; i < nx; ++i) {
      const int a = j * (nx + 1) + i;
      const int b = a + 1;
      const int c = b + nx + 1;
      const int d = a + nx + 1;
      const auto upright = [&](int k, int l, int m) {
        const auto at = [&](int n) { return Vec2(s.v[static_cast<std::size_t>(n)].head<2>()); };
        const Vec2 e = at(l) - at(k);
        const Vec2 f = at(m) - at(k);
        return e.x() * f.y() - e.y() * f.x() > 1e-3 * e.norm() * f.norm();
      };
      const bool first = upright(a, b, c) && upright(a, c, d);
      const bool second = upright(a, b, d) && upright(b, c, d);
      if (!first || (second && jitter > 0 && random.integer(0, 1) == 1)) {
        s.t.push_back({a, b, d});
        s.t.push_back({b, c, d});
      } else {
        s.t.push_back({a, b, c});
        s.t.push_back({a, c, d});
      }
    }
  }
  if (jitter > 0) {
    for (std::size_t i = s.t.size(); i > 1; --i) {
      std::swap(s.t[i - 1], s.t[static_cast<std::size_t>(random.integer(0, static_cast<int>(i) - 1))]);
    }
  }
  return s;
}

inline double flat(double, double) { return 0; }

// Two slopes that meet in the y axis at z = 0, falling (angle > 0) or rising to both sides, cut across into `rows`.
inline Surface roof(double angle, double half_width, double half_length, int rows) {
  Random random(1);
  const double slope = std::tan(angle);
  return grid(2, rows, half_width, half_length, 0, random, [&](double x, double) { return -slope * std::abs(x); });
}

// Floor z = 0 for x < 0, a wall at x = 0 up to `height`, and the top of the step behind it; cells of the given size.
inline Surface step(double height, double extent, int cells) {
  Surface s;
  const double d = 2 * extent / cells;
  for (int j = 0; j < cells; ++j) {
    const double y0 = -extent + j * d;
    const double y1 = y0 + d;
    for (int i = 0; i < cells / 2; ++i) {
      const double x0 = -extent + i * d;
      s.quad({x0, y0, 0}, {x0 + d, y0, 0}, {x0 + d, y1, 0}, {x0, y1, 0});
      s.quad({x0 + extent, y0, height}, {x0 + d + extent, y0, height}, {x0 + d + extent, y1, height},
             {x0 + extent, y1, height});
    }
    s.quad({0, y0, 0}, {0, y0, height}, {0, y1, height}, {0, y1, 0});
  }
  return s;
}

// An icosahedron subdivided `levels` times, corners on the sphere; inside out if `bowl`.
inline Surface icosphere(double radius, int levels, bool bowl) {
  const double g = std::numbers::phi;
  Surface s;
  for (const double a : {-1.0, 1.0}) {
    for (const double b : {-g, g}) {
      s.add(Vec3(0, a, b).normalized() * radius);
      s.add(Vec3(a, b, 0).normalized() * radius);
      s.add(Vec3(b, 0, a).normalized() * radius);
    }
  }
  const double edge = 2 * radius / std::sqrt(g * g + 1);
  const auto near = [&](int i, int j) {
    return std::abs((s.v[static_cast<std::size_t>(i)] - s.v[static_cast<std::size_t>(j)]).norm() - edge) < 1e-6 * edge;
  };
  for (int i = 0; i < 12; ++i) {
    for (int j = i + 1; j < 12; ++j) {
      for (int k = j + 1; k < 12; ++k) {
        if (near(i, j) && near(j, k) && near(i, k)) s.t.push_back({i, j, k});
      }
    }
  }
  for (int level = 0; level < levels; ++level) {
    std::vector<std::array<int, 3>> fine;
    for (const auto& [a, b, c] : s.t) {
      const auto middle = [&](int i, int j) {
        return s.add((s.v[static_cast<std::size_t>(i)] + s.v[static_cast<std::size_t>(j)]).normalized() * radius);
      };
      const int ab = middle(a, b);
      const int bc = middle(b, c);
      const int ca = middle(c, a);
      fine.insert(fine.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
    }
    s.t = fine;
  }
  for (auto& t : s.t) {
    const Vec3& a = s.v[static_cast<std::size_t>(t[0])];
    const Vec3& b = s.v[static_cast<std::size_t>(t[1])];
    const Vec3& c = s.v[static_cast<std::size_t>(t[2])];
    if (((b - a).cross(c - a).dot(a + b + c) < 0) != bowl) std::swap(t[1], t[2]);
  }
  return s;
}

// The points of a pair in world coordinates.
inline Manifold collide(const PlacedShape& a, const PlacedShape& b, double margin, MeshWorkspace& workspace) {
  Manifold m;
  const PairQuery query{a, b, b.p_W - a.p_W, margin, oracle::tolerance(a, b)};
  if (a.kind == ShapeKind::plane) {
    collide_plane_mesh(query, workspace, m);
  } else {
    collide_convex_mesh(query, workspace, m);
  }
  for (ManifoldPoint& point : m) point.p += a.p_W;
  return m;
}
inline Manifold collide(const PlacedShape& a, const PlacedShape& b, double margin) {
  static MeshWorkspace workspace;
  return collide(a, b, margin, workspace);
}

// Nearest point of the triangle: the best of its corners, of the feet on its edges and of the foot in its plane.
inline Vec3 nearest_in_triangle(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& x) {
  Vec3 best = a;
  const auto take = [&](const Vec3& y) {
    if ((x - y).squaredNorm() < (x - best).squaredNorm()) best = y;
  };
  take(b);
  take(c);
  const Vec3 corner[3] = {a, b, c};
  for (int k = 0; k < 3; ++k) {
    const Vec3 e = corner[(k + 1) % 3] - corner[k];
    const double s = e.dot(x - corner[k]) / e.squaredNorm();
    if (s > 0 && s < 1) take(corner[k] + s * e);
  }
  Eigen::Matrix<double, 3, 2> E;
  E.col(0) = b - a;
  E.col(1) = c - a;
  const Eigen::Vector2d s = E.colPivHouseholderQr().solve(x - a);
  if (s.x() >= 0 && s.y() >= 0 && s.x() + s.y() <= 1) take(a + E * s);
  return best;
}

struct NearestPoint {
  Vec3 y;
  double distance = 1e300;
  int triangle = -1;
};

// Over all triangles; x in the mesh's frame.
inline NearestPoint nearest_on(const Surface& s, const Vec3& x) {
  NearestPoint best;
  for (std::size_t t = 0; t < s.t.size(); ++t) {
    const auto& [a, b, c] = s.t[t];
    const Vec3 y = nearest_in_triangle(s.v[static_cast<std::size_t>(a)], s.v[static_cast<std::size_t>(b)],
                                       s.v[static_cast<std::size_t>(c)], x);
    const double distance = (x - y).norm();
    if (distance < best.distance) best = {y, distance, static_cast<int>(t)};
  }
  return best;
}

// Area of the convex hull of the points seen along n.
inline double hull_area(const Manifold& m, const Vec3& n) {
  const Vec3 t = n.unitOrthogonal();
  const Vec3 o = n.cross(t);
  std::vector<Vec2> u;
  for (const ManifoldPoint& point : m) u.push_back({t.dot(point.p), o.dot(point.p)});
  if (u.size() < 3) return 0;
  std::sort(u.begin(), u.end(),
            [](const Vec2& a, const Vec2& b) { return a.x() != b.x() ? a.x() < b.x() : a.y() < b.y(); });
  const auto cross = [](const Vec2& a, const Vec2& b) { return a.x() * b.y() - a.y() * b.x(); };
  std::vector<Vec2> hull;
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t start = hull.size();
    for (const Vec2& x : u) {
      while (hull.size() >= start + 2 && cross(hull.back() - hull[hull.size() - 2], x - hull.back()) <= 0) {
        hull.pop_back();
      }
      hull.push_back(x);
    }
    hull.pop_back();
    std::reverse(u.begin(), u.end());
  }
  double area = 0;
  for (std::size_t i = 0; i < hull.size(); ++i) area += 0.5 * cross(hull[i], hull[(i + 1) % hull.size()]);
  return area;
}

// Signed distance of a point to the surface of any convex shape; for ellipsoids to first order near the surface.
inline double surface_distance(const PlacedShape& s, const Vec3& x_W) {
  const Vec3 x = s.R_WG.transpose() * (x_W - s.p_W);
  switch (s.kind) {
    case ShapeKind::cylinder: {
      const Vec2 q(x.head<2>().norm() - s.size[0], std::abs(x.z()) - s.size[1]);
      return q.cwiseMax(0).norm() + std::min(q.maxCoeff(), 0.0);
    }
    case ShapeKind::ellipsoid: {
      const double f = x.cwiseQuotient(s.size).norm();
      const Vec3 gradient = x.cwiseQuotient(s.size.cwiseAbs2()) / std::max(f, 1e-12);
      return (f - 1) / std::max(gradient.norm(), 1e-12);
    }
    case ShapeKind::hull: {
      double d = -1e300;
      for (const ConvexHull::Face& face : s.hull->faces()) d = std::max(d, face.normal.dot(x) - face.offset);
      return d;
    }
    default:
      return oracle::surface_distance(s, x_W);
  }
}

inline double smallest_gap(const Manifold& m) {
  double gap = 1e300;
  for (const ManifoldPoint& point : m) gap = std::min(gap, point.gap);
  return gap;
}

}  // namespace sarrus::scene
