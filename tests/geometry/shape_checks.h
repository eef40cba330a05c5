// Random numbers that are the same everywhere, simple bodies, and the invariants that every hull and mesh must keep.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/types.h"

namespace sarrus::shapes {

using Triangle = std::array<int, 3>;

inline constexpr double kPi = 3.14159265358979323846;

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The maps from bits to numbers are ours: those of the standard library differ between implementations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform(double lo, double hi) { return lo + (hi - lo) * static_cast<double>(engine_() >> 11) * 0x1p-53; }
  int integer(int lo, int hi) { return lo + static_cast<int>(engine_() % static_cast<std::uint64_t>(hi - lo + 1)); }
  bool chance(double p) { return uniform(0, 1) < p; }
  double power(double lo_exponent, double hi_exponent) { return std::pow(10.0, uniform(lo_exponent, hi_exponent)); }
  Vec3 vector(double half) {
    const double x = uniform(-half, half);
    const double y = uniform(-half, half);
    return {x, y, uniform(-half, half)};
  }
  Vec3 direction() {
    for (;;) {
      const Vec3 x = vector(1);
      const double r = x.norm();
      if (r > 0.1 && r < 1) return x / r;
    }
  }
  Mat3 rotation() {
    const Vec3 axis = direction();
    return Eigen::AngleAxisd(uniform(0, kPi), axis).toRotationMatrix();
  }

 private:
  std::mt19937_64 engine_;
};

struct Body {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
};

// Vertex k has the sign bits of k (x 1, y 2, z 4).
inline Body box(const Vec3& half) {
  Body b;
  for (int k = 0; k < 8; ++k) {
    b.vertices.emplace_back((k & 1 ? 1 : -1) * half.x(), (k & 2 ? 1 : -1) * half.y(), (k & 4 ? 1 : -1) * half.z());
  }
  b.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                 {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return b;
}

inline Body icosahedron() {
  const double g = 0.5 * (1 + std::sqrt(5.0));
  Body b;
  for (const double s : {-1.0, 1.0}) {
    for (const double t : {-g, g}) {
      b.vertices.emplace_back(0, s, t);
      b.vertices.emplace_back(s, t, 0);
      b.vertices.emplace_back(t, 0, s);
    }
  }
  for (Vec3& x : b.vertices) x.normalize();
  const double edge = 2 / std::sqrt(1 + g * g);
  const auto linked = [&](int i, int j) {
    return std::abs((b.vertices[at(i)] - b.vertices[at(j)]).norm() - edge) < 1e-9;
  };
  for (int i = 0; i < 12; ++i) {
    for (int j = i + 1; j < 12; ++j) {
      for (int k = j + 1; k < 12; ++k) {
        if (!linked(i, j) || !linked(j, k) || !linked(k, i)) continue;
        const bool ccw = b.vertices[at(i)].dot(b.vertices[at(j)].cross(b.vertices[at(k)])) > 0;
        b.triangles.push_back(ccw ? Triangle{i, j, k} : Triangle{i, k, j});
      }
    }
  }
  return b;
}

// Each triangle in four, new vertices on the unit sphere.
inline Body icosphere(int levels) {
  Body b = icosahedron();
  for (int level = 0; level < levels; ++level) {
    std::map<std::array<int, 2>, int> middles;
    const auto middle = [&](int i, int j) {
      const auto [entry, is_new] =
          middles.insert({{std::min(i, j), std::max(i, j)}, static_cast<int>(b.vertices.size())});
      if (is_new) b.vertices.push_back((b.vertices[at(i)] + b.vertices[at(j)]).normalized());
      return entry->second;
    };
    std::vector<Triangle> finer;
    for (const Triangle& t : b.triangles) {
      const int p = middle(t[0], t[1]);
      const int q = middle(t[1], t[2]);
      const int r = middle(t[2], t[0]);
      finer.insert(finer.end(), {{t[0], p, r}, {p, t[1], q}, {r, q, t[2]}, {p, q, r}});
    }
    b.triangles = finer;
  }
  return b;
}

// Corners of a regular prism with n-gon caps at z = -h and h, one cap after the other.
inline std::vector<Vec3> prism(int n, double radius, double h) {
  std::vector<Vec3> x;
  for (const double z : {-h, h}) {
    for (int k = 0; k < n; ++k) {
      x.emplace_back(radius * std::cos(2 * kPi * k / n), radius * std::sin(2 * kPi * k / n), z);
    }
  }
  return x;
}

inline std::vector<Vec3> sphere_points(int n, Random& random) {
  std::vector<Vec3> x(at(n));
  for (Vec3& p : x) p = random.direction();
  return x;
}

inline double brute_support(std::span<const Vec3> points, const Vec3& l) {
  double best = -1e300;
  for (const Vec3& x : points) best = std::max(best, l.dot(x));
  return best;
}

// Everything that connects vertices, edges and faces of a hull. Returns what is wrong, or nothing.
inline std::string hull_topology_error(const ConvexHull& h) {
  if (h.vertex_count() - h.edge_count() + h.face_count() != 2) return "Euler";
  std::map<std::array<int, 2>, int> directed;
  std::vector<std::vector<int>> faces_of(at(h.vertex_count()));
  std::vector<std::vector<int>> neighbours(at(h.vertex_count()));
  for (int f = 0; f < h.face_count(); ++f) {
    const std::span<const int> v = h.face_vertices(f);
    const std::span<const int> e = h.face_edges(f);
    if (v.size() < 3 || e.size() != v.size()) return "face size";
    if (*std::min_element(v.begin(), v.end()) != v[0]) return "face start";
    for (std::size_t k = 0; k < v.size(); ++k) {
      const int a = v[k];
      const int b = v[(k + 1) % v.size()];
      if (!directed.insert({{a, b}, f}).second) return "edge used twice in one direction";
      if (h.edges()[at(e[k])] != std::array<int, 2>{std::min(a, b), std::max(a, b)}) return "edge id";
      faces_of[at(a)].push_back(f);
      neighbours[at(a)].push_back(b);
    }
    const std::span<const int> c = h.contact_corners(f);
    if (static_cast<int>(c.size()) != std::min(static_cast<int>(v.size()), kMaxFaceCorners)) return "contact corners";
    if (!std::is_sorted(c.begin(), c.end()) || c.back() >= static_cast<int>(v.size())) return "contact corner order";
  }
  for (const auto& [side, face] : directed) {
    if (!directed.count({side[1], side[0]})) return "open edge";
  }
  if (!std::is_sorted(h.edges().begin(), h.edges().end())) return "edge order";
  for (int v = 0; v < h.vertex_count(); ++v) {
    std::sort(neighbours[at(v)].begin(), neighbours[at(v)].end());
    if (faces_of[at(v)].size() < 3) return "vertex of fewer than three faces";
    if (!std::equal(faces_of[at(v)].begin(), faces_of[at(v)].end(), h.faces_of(v).begin(), h.faces_of(v).end())) {
      return "faces_of";
    }
    const std::span<const int> row = h.neighbours(v);
    if (!std::equal(neighbours[at(v)].begin(), neighbours[at(v)].end(), row.begin(), row.end())) return "neighbours";
  }
  return "";
}

// Positions: `tolerance` is how far an input point may lie above a face and a corner below its own, m.
inline std::string hull_geometry_error(const ConvexHull& h, std::span<const Vec3> points, double tolerance,
                                       Random& random, int directions) {
  std::size_t p = 0;
  for (const Vec3& x : h.vertices()) {
    while (p < points.size() && points[p] != x) ++p;
    if (p == points.size()) return "vertices are not input points in their order";
  }
  const double diagonal = h.box().diagonal();
  const double round_off = 1e-12 * diagonal + 1e-15 * h.outer_radius();
  for (int f = 0; f < h.face_count(); ++f) {
    const ConvexHull::Face& face = h.faces()[at(f)];
    if (!(std::abs(face.normal.norm() - 1) < 1e-12)) return "normal";
    if (!(brute_support(h.vertices(), face.normal) <= face.offset + round_off)) return "vertex above a face";
    if (!(brute_support(points, face.normal) <= face.offset + tolerance)) return "input above a face";
    for (const int v : h.face_vertices(f)) {
      if (!(face.normal.dot(h.vertex(v)) >= face.offset - tolerance - round_off)) return "corner below its face";
    }
  }
  for (int k = 0; k < directions; ++k) {
    const Vec3 l = random.direction();
    if (!(l.dot(h.vertex(h.support(l))) >= brute_support(h.vertices(), l) - round_off)) return "support";
  }
  const MassProperties& m = h.mass_properties();
  if (!(m.volume > 0) || !(h.inner_radius() > 0) || !m.inertia.allFinite()) return "mass";
  return "";
}

inline std::string mesh_error(const TriangleMesh& m) {
  std::map<std::array<int, 2>, std::vector<int>> uses;  // directed
  std::vector<std::set<int>> links(m.vertices().size());
  std::vector<std::vector<int>> rings(m.vertices().size());
  for (int t = 0; t < m.triangle_count(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const int a = m.triangle(t)[at(k)];
      const int b = m.triangle(t)[at((k + 1) % 3)];
      if (a < 0 || a >= static_cast<int>(m.vertices().size()) || a == b) return "index";
      uses[{a, b}].push_back(t);
      links[at(a)].insert(b);
      links[at(b)].insert(a);
      rings[at(a)].push_back(t);
    }
    if (!(std::abs(m.normal(t).norm() - 1) < 1e-9)) return "normal";
  }
  bool paired = true;
  for (int t = 0; t < m.triangle_count(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const int a = m.triangle(t)[at(k)];
      const int b = m.triangle(t)[at((k + 1) % 3)];
      const auto back = uses.find({b, a});
      const bool single = uses[{a, b}].size() == 1 && back != uses.end() && back->second.size() == 1;
      paired = paired && single;
      if (m.neighbour(t, k) != (single ? back->second[0] : -1)) return "neighbour";
    }
  }
  if (!paired && m.surface() != TriangleMesh::Surface::open) return "surface";
  for (std::size_t v = 0; v < m.vertices().size(); ++v) {
    const std::span<const int> ring = m.triangles_of(static_cast<int>(v));
    if (rings[v].empty() || !std::equal(ring.begin(), ring.end(), rings[v].begin(), rings[v].end())) return "ring";
    const std::span<const int> row = m.vertex_neighbours(static_cast<int>(v));
    if (!std::equal(row.begin(), row.end(), links[v].begin(), links[v].end())) return "links";
  }
  return "";
}

inline std::vector<int> brute_find(const TriangleMesh& m, const Aabb& box) {
  std::vector<int> found;
  for (int t = 0; t < m.triangle_count(); ++t) {
    Aabb own = Aabb::nothing();
    for (int k = 0; k < 3; ++k) own.add(m.corner(t, k));
    if (boxes_near(own, box, 0)) found.push_back(t);
  }
  return found;
}

}  // namespace sarrus::shapes
