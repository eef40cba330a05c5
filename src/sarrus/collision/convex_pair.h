// Two convex bodies seen from A's frame, as the distance algorithms need them (spec/collision.md §5).
//
//   C = core_B - core_A,   w(n) = a point of C with the smallest n.w,   n.w(n) = s(n) + radii for unit n
// If the origin is outside of C, n.w(n) <= its distance from C; if it is inside, n.w(n) <= -(its depth in C).
//
// Ellipsoids are cores with a ball, too: with r = e_min^2 / e_max, the smallest radius of curvature, h(n) - r |n| is
// still convex, so that the ellipsoid is exactly (eroded core) (+) ball(r) and the eroded core has the support point
// sup(n) - r n. Overlaps up to r then need no penetration algorithm.
#pragma once

#include "sarrus/collision/convex_support.h"

namespace sarrus {

// Radius of the ball that an ellipsoid has inside of its core, 0 for all other cores.
inline double inner_ball(const Convex& c) {
  if (c.core != CoreKind::ellipsoid) return 0;
  const double least = c.size.minCoeff();
  return least * least / c.size.maxCoeff();
}

// A point of C and the point of A's core that belongs to it.
struct CorePoint {
  Vec3 w;
  Vec3 a;
};

// All directions and points are in A's frame.
struct CorePair {
  const Convex& a;
  const Convex& b;
  Mat3 R;         // axes of B
  Vec3 p;         // origin of B, m
  double ball_a;  // taken off the cores, beyond the radii of the bodies, m
  double ball_b;

  CorePair(const Convex& body_a, const Convex& body_b)
      : a(body_a),
        b(body_b),
        R(a.R.transpose() * b.R),
        p(a.R.transpose() * (b.p - a.p)),
        ball_a(inner_ball(a)),
        ball_b(inner_ball(b)) {}

  bool is_polytope() const { return a.is_polytope() && b.is_polytope(); }

  // w(n) for unit n. `l` is n times any positive number: to ask with it does not wait for a root and a division.
  CorePoint support(const Vec3& n, const Vec3& l) const {
    CorePoint x;
    x.a = core_support_inline(a, l);
    x.w = p + R * core_support_inline(b, R.transpose() * -l);
    if (ball_a > 0) x.a -= ball_a * n;
    if (ball_b > 0) x.w += ball_b * n;
    x.w -= x.a;
    return x;
  }
  CorePoint support(const Vec3& n) const { return support(n, n); }
};

}  // namespace sarrus
