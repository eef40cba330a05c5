#include "sarrus/collision/convex_distance.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/convex_internal.h"

namespace sarrus {

Vec3 Convex::core_support_local(const Vec3& l) const { return core_support_inline(*this, l); }

Convex convex_of(const PlacedShape& shape, const Vec3& p) {
  Convex c;
  c.size = shape.size;
  c.hull = shape.hull;
  c.diagonal = shape.diagonal;
  c.R = shape.R_WG;
  c.p = p;
  switch (shape.kind) {
    case ShapeKind::sphere:
      c.core = CoreKind::point;
      c.radius = shape.size[0];
      break;
    case ShapeKind::capsule:
      c.core = CoreKind::segment;
      c.radius = shape.size[0];
      break;
    case ShapeKind::box:
      c.core = CoreKind::box;
      break;
    case ShapeKind::cylinder:
      c.core = CoreKind::cylinder;
      break;
    case ShapeKind::ellipsoid:
      c.core = CoreKind::ellipsoid;
      break;
    default:
      c.core = CoreKind::hull;
  }
  return c;
}

Convex convex_of_triangle(const Vec3& x0, const Vec3& x1, const Vec3& x2, const Mat3& R, const Vec3& p) {
  Convex c;
  c.core = CoreKind::triangle;
  c.corner[0] = x0;
  c.corner[1] = x1;
  c.corner[2] = x2;
  c.diagonal = std::max({(x1 - x0).norm(), (x2 - x1).norm(), (x0 - x2).norm()});
  c.R = R;
  c.p = p;
  return c;
}

double support_distance(const Convex& a, const Convex& b, const Vec3& n) {
  return n.dot(b.core_support(-n) - a.core_support(n)) - a.radius - b.radius;
}

namespace {

double certificate_tolerance(const CorePair& pair, double tol) { return pair.is_polytope() ? 0.01 * tol : 1e-4 * tol; }

Vec3 local_centre(const Convex& c) {
  if (c.core == CoreKind::hull) return c.hull->box().centre();
  if (c.core == CoreKind::triangle) return (c.corner[0] + c.corner[1] + c.corner[2]) / 3;
  return Vec3::Zero();
}

// Unit. Where the centres coincide round-off must not choose.
Vec3 centre_line(const CorePair& pair, double size) {
  const Vec3 e = pair.p + pair.R * local_centre(pair.b) - local_centre(pair.a);
  const double length = e.norm();
  return length > 1e-9 * size ? Vec3(e / length) : Vec3::UnitZ();
}

bool is_finite(const CorePair& pair) { return std::isfinite(pair.p.sum() + pair.R.sum()); }

// A length that round-off is proportional to: no coordinate in the computation is larger.
double extent(const CorePair& pair) { return pair.a.diagonal + pair.b.diagonal + pair.p.lpNorm<Eigen::Infinity>(); }

void store(const GjkResult& gjk, Bounds& bounds) {
  bounds.n = gjk.n;
  bounds.s = bounds.lower = gjk.lower;
  if (gjk.status == GjkStatus::far) return;
  if (gjk.status == GjkStatus::inside) {
    bounds.p_a = 0.25 * (gjk.point[0].a + gjk.point[1].a + gjk.point[2].a + gjk.point[3].a);
    return;
  }
  const CorePoint closest = gjk.closest();
  bounds.upper = closest.w.norm();
  bounds.p_a = closest.a;
}

void improve(const EpaResult& epa, double round_off, Bounds& bounds) {
  bounds.upper = std::min(bounds.upper, epa.upper);
  if (epa.has_point) bounds.p_a = epa.p_a;
  if (epa.lower < bounds.lower - round_off) return;
  bounds.n = epa.n;
  bounds.s = epa.s;
  bounds.lower = std::max(bounds.lower, epa.lower);
}

struct Solver {
  const CorePair& pair;
  double tol;
  double ctol = certificate_tolerance(pair, tol);
  double size = extent(pair);
  // Where to stop. Polytopes end in finitely many steps, so they get all the digits there are; the last steps of GJK
  // are Newton's, so they cost next to nothing.
  double gjk_gap = pair.is_polytope() ? 1e-14 * size : 1e-3 * ctol;
  double epa_gap = pair.is_polytope() ? 1e-14 * size : ctol;
  Vec3 line = centre_line(pair, size);
  GjkResult gjk{};
  Bounds bounds{};

  // GJK only. False if the cores overlap or touch.
  bool separate(double limit) {
    static const bool bullet_is_right = (check_bullet(), true);
    (void)bullet_is_right;
    gjk_distance(pair, line, limit, gjk_gap, size, gjk);
    store(gjk, bounds);
    return gjk.status == GjkStatus::far || bounds.proved(std::max(gjk_gap, 1e-13 * size));
  }
  void penetrate() {
    EpaResult epa;
    epa_depth(pair, gjk, {epa_gap, size, 0.1 * tol, line}, epa);
    improve(epa, 1e-14 * size, bounds);
    // A curved body's point may belong to a normal nearby; at least it is as far out as it should be.
    if (!pair.is_polytope()) bounds.p_a += bounds.n.dot(pair.support(bounds.n).a - bounds.p_a) * bounds.n;
  }
  void search() { bullet_search(pair, line, ctol, tol, bounds); }
};

ConvexDistance answer(const Solver& solver, double radius_a, double radius_b) {
  const Bounds& bounds = solver.bounds;
  const Convex& a = solver.pair.a;
  ConvexDistance out;
  radius_a += solver.pair.ball_a;
  out.n = (a.R * bounds.n).normalized();
  out.d = bounds.s - radius_a - radius_b - solver.pair.ball_b;
  out.p_A = a.p + a.R * (bounds.p_a + radius_a * bounds.n);
  out.certified = bounds.proved(solver.ctol);
  return out;
}

}  // namespace

ConvexDistance convex_distance(const Convex& a, const Convex& b, double margin, double tol, const Vec3* axis) {
  ConvexDistance out;
  const CorePair pair(a, b);
  if (!is_finite(pair)) return out;
  // By more than the error of d, so that the answer is the same without the axis.
  if (axis && support_distance(a, b, *axis) > margin + certificate_tolerance(pair, tol)) {
    out.n = *axis;
    return out;
  }
  Solver solver{pair, tol};
  if (!solver.separate(margin + a.radius + b.radius + pair.ball_a + pair.ball_b)) {
    solver.penetrate();
    if (!solver.bounds.proved(solver.ctol)) solver.search();
  }
  out = answer(solver, a.radius, b.radius);
  out.near = solver.gjk.status != GjkStatus::far && out.d <= margin;
  return out;
}

ConvexDistance core_separation(const Convex& a, const Convex& b, double tol) {
  ConvexDistance out;
  const CorePair pair(a, b);
  if (!is_finite(pair)) return out;
  Solver solver{pair, tol};
  if (!solver.separate(1e300)) {
    if (solver.gjk.status == GjkStatus::inside || solver.gjk.upper <= 1e-4 * tol) return out;
    if (!solver.bounds.proved(solver.ctol)) solver.search();
  }
  out = answer(solver, 0, 0);
  out.near = out.d > 1e-4 * tol;
  return out;
}

}  // namespace sarrus
