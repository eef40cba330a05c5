// Independent signed distances of convex bodies: brute force over features and directions, sharing no code with the
// distance algorithms but the description of the bodies.
//
//   polytopes, overlapping: max of s(n) over the face normals of A and B and the crosses of all edge pairs, both signs,
//                           or only of those edge pairs whose arcs on the Gauss map cross (the others are no faces of
//                           the Minkowski difference)
//   polytopes, apart:       min over all edge pairs (segments, with their ends) and all vertex-face pairs
//   curved:                 max of s(n) by pattern search and golden sections from the best of 1500 directions
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "collision/oracles.h"
#include "sarrus/collision/convex_distance.h"

namespace sarrus::oracle {

inline bool is_curved(const Convex& c) { return c.core == CoreKind::cylinder || c.core == CoreKind::ellipsoid; }

// h(n) = max n.x over the body for unit n, about the common origin.
inline double body_support(const Convex& c, const Vec3& n) {
  const Vec3 l = c.R.transpose() * n;
  double h = -1e300;
  switch (c.core) {
    case CoreKind::point:
      h = 0;
      break;
    case CoreKind::segment:
      h = std::abs(l.z()) * c.size[1];
      break;
    case CoreKind::box:
      h = l.cwiseAbs().dot(c.size);
      break;
    case CoreKind::cylinder:
      h = c.size[0] * std::hypot(l.x(), l.y()) + c.size[1] * std::abs(l.z());
      break;
    case CoreKind::ellipsoid:
      h = l.cwiseProduct(c.size).norm();
      break;
    case CoreKind::hull:
      for (const Vec3& x : c.hull->vertices()) h = std::max(h, l.dot(x));
      break;
    case CoreKind::triangle:
      for (const Vec3& x : c.corner) h = std::max(h, l.dot(x));
      break;
  }
  return h + c.radius + n.dot(c.p);
}

// s(n).
inline double body_gap(const Convex& a, const Convex& b, const Vec3& n) {
  return -body_support(b, -n) - body_support(a, n);
}

// A core without curves, in the common frame.
struct Polytope {
  struct Edge {
    Vec3 x, y;         // ends
    Vec3 left, right;  // normals of its faces; zero if it has none (segments, triangles)
    bool solid;
  };
  std::vector<Vec3> vertices;
  std::vector<Edge> edges;
  std::vector<Vec3> normals;
  std::vector<std::vector<Vec3>> faces;
};

inline Polytope box_polytope(const Convex& c) {
  Polytope out;
  const auto corner = [&](int k) {
    const Vec3 sign(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
    return Vec3(c.p + c.R * sign.cwiseProduct(c.size));
  };
  for (int k = 0; k < 8; ++k) out.vertices.push_back(corner(k));
  for (int axis = 0; axis < 3; ++axis) {
    const int u = 1 << (axis + 1) % 3;
    const int v = 1 << (axis + 2) % 3;
    for (int bits = 0; bits < 4; ++bits) {
      const int base = (bits & 1 ? u : 0) | (bits & 2 ? v : 0);
      const Vec3 nu = (bits & 1 ? 1.0 : -1.0) * c.R.col((axis + 1) % 3);
      const Vec3 nv = (bits & 2 ? 1.0 : -1.0) * c.R.col((axis + 2) % 3);
      out.edges.push_back({corner(base), corner(base | 1 << axis), nu, nv, true});
    }
    for (const int side : {0, 1 << axis}) {
      out.normals.push_back((side ? 1.0 : -1.0) * c.R.col(axis));
      std::vector<Vec3> face = {corner(side), corner(side | u), corner(side | u | v), corner(side | v)};
      if (!side) std::reverse(face.begin(), face.end());
      out.faces.push_back(face);
    }
  }
  return out;
}

inline Polytope hull_polytope(const Convex& c) {
  Polytope out;
  const ConvexHull& hull = *c.hull;
  for (const Vec3& x : hull.vertices()) out.vertices.push_back(c.p + c.R * x);
  std::vector<std::vector<int>> sides(static_cast<std::size_t>(hull.edge_count()));
  for (int f = 0; f < hull.face_count(); ++f) {
    out.normals.push_back(c.R * hull.faces()[static_cast<std::size_t>(f)].normal);
    std::vector<Vec3> polygon;
    for (const int v : hull.face_vertices(f)) polygon.push_back(out.vertices[static_cast<std::size_t>(v)]);
    out.faces.push_back(polygon);
    for (const int e : hull.face_edges(f)) sides[static_cast<std::size_t>(e)].push_back(f);
  }
  for (std::size_t e = 0; e < sides.size(); ++e) {
    const auto end = hull.edges()[e];
    out.edges.push_back({out.vertices[static_cast<std::size_t>(end[0])], out.vertices[static_cast<std::size_t>(end[1])],
                         out.normals[static_cast<std::size_t>(sides[e][0])],
                         out.normals[static_cast<std::size_t>(sides[e][1])], true});
  }
  return out;
}

inline Polytope polytope_of(const Convex& c) {
  if (c.core == CoreKind::box) return box_polytope(c);
  if (c.core == CoreKind::hull) return hull_polytope(c);
  Polytope out;
  if (c.core == CoreKind::triangle) {
    for (const Vec3& x : c.corner) out.vertices.push_back(c.p + c.R * x);
    const Vec3 m = (out.vertices[1] - out.vertices[0]).cross(out.vertices[2] - out.vertices[0]).normalized();
    out.normals = {m, -m};
    out.faces = {out.vertices, {out.vertices[0], out.vertices[2], out.vertices[1]}};
    for (std::size_t k = 0; k < 3; ++k) {
      out.edges.push_back({out.vertices[k], out.vertices[(k + 1) % 3], Vec3::Zero(), Vec3::Zero(), false});
    }
    return out;
  }
  const Vec3 z = c.core == CoreKind::segment ? Vec3(c.size[1] * c.R.col(2)) : Vec3::Zero();
  out.vertices = {c.p - z, c.p + z};
  out.edges.push_back({c.p - z, c.p + z, Vec3::Zero(), Vec3::Zero(), false});
  return out;
}

inline double extent(const Polytope& x, const Vec3& n) {
  double h = -1e300;
  for (const Vec3& v : x.vertices) h = std::max(h, n.dot(v));
  return h;
}

// Signed distance of overlapping cores and a direction that attains it. `pruned`: by the Gauss map, where possible.
inline Separation polytope_depth(const Polytope& a, const Polytope& b, bool pruned) {
  Separation best{-1e300, Vec3::UnitZ()};
  const auto attempt = [&](const Vec3& n) {
    const double s = -extent(b, -n) - extent(a, n);
    if (s > best.d) best = {s, n};
  };
  for (const Vec3& m : a.normals) attempt(m);
  for (const Vec3& m : b.normals) attempt(-m);
  for (const Polytope::Edge& e : a.edges) {
    const Vec3 u = e.y - e.x;
    for (const Polytope::Edge& f : b.edges) {
      const Vec3 v = f.y - f.x;
      constexpr double slack = 1e-9;
      // The arc from left to right of e has ends on both sides of the plane across f, and the other way round.
      if (pruned && e.solid && v.dot(e.left) * v.dot(e.right) > slack * v.squaredNorm()) continue;
      if (pruned && f.solid && u.dot(f.left) * u.dot(f.right) > slack * u.squaredNorm()) continue;
      const Vec3 m = u.cross(v);
      const double length = m.norm();
      if (length < 1e-9 * u.norm() * v.norm() || !(length > 0)) continue;
      attempt(m / length);
      attempt(-m / length);
    }
  }
  return best;
}

// Vector from segment (x, y) to segment (z, w), shortest.
inline Vec3 segment_vector(const Vec3& x, const Vec3& y, const Vec3& z, const Vec3& w) {
  const Vec3 u = y - x;
  const Vec3 v = w - z;
  const Vec3 r = x - z;
  const double a = u.squaredNorm();
  const double e = v.squaredNorm();
  const auto from_a = [&](double s) {  // closest to x + s u
    const double t = e > 0 ? std::clamp(v.dot(r + s * u) / e, 0.0, 1.0) : 0.0;
    return Vec3(t * v - r - s * u);
  };
  const auto from_b = [&](double t) {
    const double s = a > 0 ? std::clamp(u.dot(t * v - r) / a, 0.0, 1.0) : 0.0;
    return Vec3(t * v - r - s * u);
  };
  Vec3 best = from_a(0);
  const auto keep = [&](const Vec3& g) {
    if (g.squaredNorm() < best.squaredNorm()) best = g;
  };
  keep(from_a(1));
  keep(from_b(0));
  keep(from_b(1));
  const Vec3 m = u.cross(v);
  const double m2 = m.squaredNorm();
  if (m2 > 1e-20 * a * e && m2 > 0) {
    const double s = -r.cross(v).dot(m) / m2;
    const double t = -r.cross(u).dot(m) / m2;
    if (s > 0 && s < 1 && t > 0 && t < 1) keep(-m.dot(r) / m2 * m);
  }
  return best;
}

// Shortest vector from core A to core B, which must not overlap.
inline Vec3 polytope_vector(const Polytope& a, const Polytope& b) {
  Vec3 best = Vec3::Constant(1e100);
  for (const Polytope::Edge& e : a.edges) {
    for (const Polytope::Edge& f : b.edges) {
      const Vec3 g = segment_vector(e.x, e.y, f.x, f.y);
      if (g.squaredNorm() < best.squaredNorm()) best = g;
    }
  }
  const auto vertex_face = [&](const Polytope& p, const Polytope& q, double sign) {
    for (std::size_t k = 0; k < q.faces.size(); ++k) {
      const Vec3& m = q.normals[k];
      const std::vector<Vec3>& polygon = q.faces[k];
      for (const Vec3& x : p.vertices) {
        const double h = m.dot(x - polygon[0]);
        // Touching vertices may lie a rounding error below the face.
        if (h < -1e-12 || h * h >= best.squaredNorm()) continue;
        bool inside = true;
        for (std::size_t i = 0; i < polygon.size() && inside; ++i) {
          const Vec3 edge = polygon[(i + 1) % polygon.size()] - polygon[i];
          inside = m.dot(edge.cross(x - polygon[i])) >= 0;
        }
        if (inside) best = sign * h * m;
      }
    }
  };
  vertex_face(a, b, -1);
  vertex_face(b, a, 1);
  return best;
}

inline Separation polytope_separation(const Convex& a, const Convex& b, bool pruned = true) {
  const Polytope x = polytope_of(a);
  const Polytope y = polytope_of(b);
  const double radii = a.radius + b.radius;
  Separation overlap = polytope_depth(x, y, pruned);
  overlap.d -= radii;
  if (overlap.d + radii <= 0) return overlap;
  const Vec3 e = polytope_vector(x, y);
  // Too short to have a direction of its own.
  if (e.norm() < 1e-9 * a.diagonal) return {e.norm() - radii, overlap.n};
  return {e.norm() - radii, e.normalized()};
}

// Climbs s(n) from n by trying steps across n, the steps turned at random, halved when none helps. On ridges, where s
// has a kink, it comes to a halt too early.
inline Separation climb(Random& random, const Convex& a, const Convex& b, const Vec3& n, double step, double least) {
  Separation best{body_gap(a, b, n), n};
  while (step > least) {
    const Vec3 u = best.n.cross(random.direction()).normalized();
    const Vec3 v = best.n.cross(u);
    bool better = false;
    for (int k = 0; k < 8 && !better; ++k) {
      const double angle = k * std::numbers::pi / 4;
      const Vec3 m = (best.n + step * (std::cos(angle) * u + std::sin(angle) * v)).normalized();
      const double s = body_gap(a, b, m);
      better = s > best.d;
      if (better) best = {s, m};
    }
    if (!better) step *= 0.5;
  }
  return best;
}

// Largest value of a function with one maximum in [-width, width], by golden section; kinks do not matter.
template <typename Function>
Separation golden(double width, int steps, Function&& f) {
  const double ratio = 0.5 * (std::sqrt(5.0) - 1);
  double lo = -width;
  double hi = width;
  double x = hi - ratio * (hi - lo);
  double y = lo + ratio * (hi - lo);
  Separation fx = f(x);
  Separation fy = f(y);
  for (int i = 0; i < steps; ++i) {
    if (fx.d > fy.d) {
      hi = y;
      y = x;
      fy = fx;
      x = hi - ratio * (hi - lo);
      fx = f(x);
    } else {
      lo = x;
      x = y;
      fx = fy;
      y = lo + ratio * (hi - lo);
      fy = f(y);
    }
  }
  return fx.d > fy.d ? fx : fy;
}

// The largest s(n) within `width` (rad) of n: one golden section in another.
inline Separation refine(const Convex& a, const Convex& b, const Vec3& n, double width) {
  const Vec3 u = n.unitOrthogonal();
  const Vec3 v = n.cross(u);
  return golden(width, 40, [&](double x) {
    return golden(width, 40, [&](double y) {
      const Vec3 m = (n + x * u + y * v).normalized();
      return Separation{body_gap(a, b, m), m};
    });
  });
}

// Largest s(n): the best of 1500 directions, climbed, the best of those refined.
inline Separation curved_separation(Random& random, const Convex& a, const Convex& b) {
  constexpr int kDirections = 1500;
  constexpr int kStarts = 5;
  static const std::vector<Vec3> sphere = [] {
    std::vector<Vec3> out;
    for (int k = 0; k < kDirections; ++k) {
      const double z = 1 - (2 * k + 1.0) / kDirections;
      const double angle = k * std::numbers::pi * (3 - std::sqrt(5.0));
      out.push_back({std::sqrt(1 - z * z) * std::cos(angle), std::sqrt(1 - z * z) * std::sin(angle), z});
    }
    return out;
  }();
  const auto less = [](const Separation& x, const Separation& y) { return x.d < y.d; };
  std::vector<Separation> found;
  for (const Vec3& n : sphere) found.push_back({body_gap(a, b, n), n});
  std::vector<Separation> hills;
  for (int start = 0; start < kStarts; ++start) {
    const Separation top = *std::max_element(found.begin(), found.end(), less);
    if (top.d < -1e200) break;
    hills.push_back(climb(random, a, b, top.n, 0.05, 1e-5));
    for (Separation& x : found) {
      if (x.n.dot(hills.back().n) > 0.95) x.d = -1e300;  // another hill next time
    }
  }
  const double near = 1e-3 * std::min(a.diagonal, b.diagonal);
  Separation best = *std::max_element(hills.begin(), hills.end(), less);
  const double rough = best.d;
  for (const Separation& hill : hills) {
    if (hill.d < rough - near) continue;
    Separation now = hill;
    for (double gain = 1; gain > 1e-9;) {  // along ridges in several pieces
      const Separation next = refine(a, b, now.n, 0.05);
      gain = (next.d - now.d) / near;
      now = std::max(now, next, less);
    }
    best = std::max({best, now, refine(a, b, now.n, 1e-5)}, less);
  }
  return best;
}

inline Separation convex_separation(Random& random, const Convex& a, const Convex& b) {
  return is_curved(a) || is_curved(b) ? curved_separation(random, a, b) : polytope_separation(a, b);
}

inline double pair_tol(const Convex& a, const Convex& b) { return 5e-6 * std::min(a.diagonal, b.diagonal); }

inline Convex placed(const Shape& shape, const Quat& q, const Vec3& p) { return convex_of(place(shape, {p, q}), p); }

// The shape `scale` times as large.
inline Shape scaled(const Shape& shape, double scale) {
  Shape out = shape;
  out.size *= scale;
  if (shape.kind != ShapeKind::hull) return out;
  std::vector<Vec3> x;
  for (const Vec3& v : shape.hull->vertices()) x.push_back(scale * v);
  return Shape::convex(ConvexHull::build(x, "scaled hull"));
}

// Moves B along a direction from A's origin until the signed distance, as the code under test sees it, is `target`: the
// oracle judges afterwards what it really is. False if A and B are farther apart than that at the start.
inline bool slide_along(const Convex& a, Convex& b, const Vec3& direction, double target) {
  const double tol = pair_tol(a, b);
  const double far = a.diagonal + b.diagonal;
  double lo = 0;
  double hi = far;
  double t = lo;
  for (int i = 0; i < 200; ++i) {
    b.p = a.p + t * direction;
    const ConvexDistance now = convex_distance(a, b, 2 * far, tol);
    const double error = now.d - target;
    if (i == 0 && error > 0) return false;
    if (std::abs(error) <= 1e-15 * far) return true;
    (error > 0 ? hi : lo) = t;
    const double slope = now.n.dot(direction);
    t = i > 0 && slope > 1e-6 ? t - error / slope : hi;
    if (!(t > lo && t < hi)) t = i > 0 ? 0.5 * (lo + hi) : hi;
    if (hi - lo <= 1e-16 * far) return true;
  }
  return true;
}

}  // namespace sarrus::oracle
