// Independent answers for pairs of convex shapes: every shape here is core + ball(radius), the core a point,
// a segment or a box written as c + sum_k x_k g_k, |x_k| <= 1.
//
//   separated cores: distance = min over x, y of |c_B + G_B y - c_A - G_A x|, a least-squares problem with bounds,
//                    solved exactly by trying every set of at most three free unknowns with the others at a bound
//   overlapping:     max over all face normals and edge crosses, both signs, of s(n) = min_B n.x - max_A n.x
#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "sarrus/collision/narrow_phase.h"
#include "sarrus/math/so3.h"

namespace sarrus::oracle {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(engine_); }
  int integer(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(engine_); }
  Vec3 vector(double half) { return {uniform(-half, half), uniform(-half, half), uniform(-half, half)}; }
  Vec3 direction() {
    std::normal_distribution<double> normal;
    return Vec3(normal(engine_), normal(engine_), normal(engine_)).normalized();
  }
  Quat rotation() { return so3_exp(uniform(0, 3.1) * direction()); }
  Shape shape(ShapeKind kind) {
    switch (kind) {
      case ShapeKind::plane:
        return Shape::plane();
      case ShapeKind::sphere:
        return Shape::sphere(uniform(0.05, 0.3));
      case ShapeKind::capsule:
        return Shape::capsule(uniform(0.05, 0.2), uniform(0.05, 0.4));
      case ShapeKind::box:
        return Shape::box({uniform(0.05, 0.3), uniform(0.05, 0.3), uniform(0.05, 0.3)});
      case ShapeKind::cylinder:
        return Shape::cylinder(uniform(0.05, 0.2), uniform(0.05, 0.3));
      case ShapeKind::ellipsoid:
        return Shape::ellipsoid({uniform(0.05, 0.3), uniform(0.05, 0.3), uniform(0.05, 0.3)});
      case ShapeKind::hull:
        return hull(integer(8, 60));
      default:
        return {};
    }
  }
  // Hull of points on an ellipsoid with semi-axes of 5 to 30 cm.
  Shape hull(int points) {
    const Vec3 e(uniform(0.05, 0.3), uniform(0.05, 0.3), uniform(0.05, 0.3));
    std::vector<Vec3> x;
    for (int i = 0; i < points; ++i) x.push_back(e.cwiseProduct(direction()));
    return Shape::convex(ConvexHull::build(x, "random hull"));
  }

 private:
  std::mt19937_64 engine_;
};

inline Manifold collide(const PlacedShape& a, const PlacedShape& b, double margin) {
  static NarrowWorkspace workspace;
  Manifold manifold;
  sarrus::collide(a, b, margin, workspace, manifold);
  return manifold;
}

inline PlacedShape moved(const PlacedShape& s, const Pose& X) {
  PlacedShape out = s;
  out.R_WG = X.R() * s.R_WG;
  out.p_W = X * s.p_W;
  return out;
}

// Signed distance of a point to a shape's surface, negative inside.
inline double surface_distance(const PlacedShape& s, const Vec3& x_W) {
  const Vec3 x = s.R_WG.transpose() * (x_W - s.p_W);
  switch (s.kind) {
    case ShapeKind::plane:
      return x.z();
    case ShapeKind::sphere:
      return x.norm() - s.size[0];
    case ShapeKind::capsule:
      return (x - Vec3(0, 0, std::clamp(x.z(), -s.size[1], s.size[1]))).norm() - s.size[0];
    case ShapeKind::box: {
      const Vec3 q = x.cwiseAbs() - s.size;
      return q.cwiseMax(0).norm() + std::min(q.maxCoeff(), 0.0);
    }
    default:
      break;
  }
  return 0;
}

struct Core {
  Vec3 c;
  std::vector<Vec3> g;
  double radius;
};

inline Core core_of(const PlacedShape& s) {
  switch (s.kind) {
    default:
      break;
    case ShapeKind::sphere:
      return {s.p_W, {}, s.size[0]};
    case ShapeKind::capsule:
      return {s.p_W, {s.size[1] * s.R_WG.col(2)}, s.size[0]};
    case ShapeKind::box:
      return {s.p_W, {s.size[0] * s.R_WG.col(0), s.size[1] * s.R_WG.col(1), s.size[2] * s.R_WG.col(2)}, 0};
  }
  return {};
}

// max n.x over the shape.
inline double support(const PlacedShape& s, const Vec3& n) {
  const Core core = core_of(s);
  double h = n.dot(core.c) + core.radius * n.norm();
  for (const Vec3& g : core.g) h += std::abs(n.dot(g));
  return h;
}

inline double support_distance(const PlacedShape& a, const PlacedShape& b, const Vec3& n) {
  return -support(b, -n) - support(a, n);
}

struct Separation {
  double d;  // signed distance of the shapes
  Vec3 n;    // a normal that attains it
};

// Exact distance of the cores, as a vector from A's core to B's.
inline Vec3 core_vector(const Core& a, const Core& b) {
  std::vector<Vec3> g;
  for (const Vec3& v : b.g) g.push_back(v);
  for (const Vec3& v : a.g) g.push_back(-v);
  const int n = static_cast<int>(g.size());
  int combinations = 1;
  for (int k = 0; k < n; ++k) combinations *= 3;
  Vec3 best = Vec3::Constant(1e9);
  for (int code = 0; code < combinations; ++code) {
    Vec3 r = b.c - a.c;
    int free[3];
    int count = 0;
    bool usable = true;
    for (int k = 0, digits = code; k < n && usable; ++k, digits /= 3) {
      if (digits % 3 == 2) {
        usable = count < 3;
        if (usable) free[count++] = k;
      } else {
        r += (digits % 3 == 0 ? 1.0 : -1.0) * g[static_cast<std::size_t>(k)];
      }
    }
    if (!usable) continue;
    if (count > 0) {
      Mat3 G = Mat3::Zero();
      for (int k = 0; k < count; ++k) G.col(k) = g[static_cast<std::size_t>(free[k])];
      Mat3 H = G.transpose() * G;
      for (int k = count; k < 3; ++k) H(k, k) = 1;
      if (std::abs(H.determinant()) < 1e-14 * std::pow(H.trace(), 3)) continue;
      const Vec3 x = -(H.inverse() * (G.transpose() * r));
      if (x.cwiseAbs().maxCoeff() > 1 + 1e-12) continue;
      r += G * x;
    }
    if (r.squaredNorm() < best.squaredNorm()) best = r;
  }
  return best;
}

// Largest s(n) over face normals and edge crosses: the signed distance of overlapping cores.
inline Separation sat(const PlacedShape& a, const PlacedShape& b) {
  const Core ca = core_of(a);
  const Core cb = core_of(b);
  std::vector<Vec3> axes;
  if (ca.g.size() == 3) axes.insert(axes.end(), ca.g.begin(), ca.g.end());
  if (cb.g.size() == 3) axes.insert(axes.end(), cb.g.begin(), cb.g.end());
  for (const Vec3& x : ca.g) {
    for (const Vec3& y : cb.g) axes.push_back(x.cross(y));
  }
  Separation best{-1e9, Vec3::UnitZ()};
  for (const Vec3& axis : axes) {
    if (axis.norm() < 1e-9) continue;
    for (const double sign : {1.0, -1.0}) {
      const Vec3 n = sign * axis.normalized();
      const double s = support_distance(a, b, n);
      if (s > best.d) best = {s, n};
    }
  }
  return best;
}

// Signed distance of any two shapes but planes.
inline Separation separation(const PlacedShape& a, const PlacedShape& b) {
  const Core ca = core_of(a);
  const Core cb = core_of(b);
  const bool polytopes = ca.g.size() + cb.g.size() >= 4;  // a box against a segment or a box
  if (polytopes) {
    PlacedShape core_a = a;
    PlacedShape core_b = b;
    if (a.kind == ShapeKind::capsule) core_a.size[0] = 0;
    if (b.kind == ShapeKind::capsule) core_b.size[0] = 0;
    const Separation overlap = sat(core_a, core_b);
    if (overlap.d <= 0) return {overlap.d - ca.radius - cb.radius, overlap.n};
  }
  const Vec3 e = core_vector(ca, cb);
  return {e.norm() - ca.radius - cb.radius, e.normalized()};
}

// Moves B along a random direction until the signed distance is `target`. Newton from outside converges because
// the signed distance along a ray is convex. False if it did not (rare, nearly grazing directions).
inline bool slide_to(Random& random, const PlacedShape& a, PlacedShape& b, double target) {
  const Vec3 direction = random.direction();
  double t = 3.0;
  for (int i = 0; i < 100; ++i) {
    b.p_W = a.p_W + t * direction;
    const Separation now = separation(a, b);
    if (std::abs(now.d - target) < 1e-13) return true;
    const double slope = now.n.dot(direction);
    if (slope < 1e-3) return false;
    t -= (now.d - target) / slope;
  }
  return false;
}

inline const ManifoldPoint& deepest(const Manifold& m) {
  return *std::min_element(m.begin(), m.end(),
                           [](const ManifoldPoint& x, const ManifoldPoint& y) { return x.gap < y.gap; });
}

inline double tolerance(const PlacedShape& a, const PlacedShape& b) { return 5e-6 * std::min(a.diagonal, b.diagonal); }

}  // namespace sarrus::oracle
