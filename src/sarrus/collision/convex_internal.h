// The algorithms behind convex_distance, one after the other: GJK, EPA, Newton's method, Bullet and ascent on s(n)
// (docs/theory/collision.md §5). Private to collision/; everybody else includes convex_distance.h.
//
// All of them see the two bodies from A's frame:
//   C = core_B - core_A,   w(n) = a point of C with the smallest n.w,   n.w(n) = s(n) + radii for unit n
// If the origin is outside of C, n.w(n) <= its distance from C; if it is inside, n.w(n) <= -(its depth in C).
//
// Ellipsoids are cores with a ball, too: with r = e_min^2 / e_max, the smallest radius of curvature, h(n) - r |n| is
// still convex, so that the ellipsoid is exactly (eroded core) (+) ball(r) and the eroded core has the support point
// sup(n) - r n. Overlaps up to r then need no penetration algorithm.
#pragma once

#include <cmath>

#include "sarrus/collision/convex_distance.h"

namespace sarrus {

// Farthest points of cores in their own frames, inline for the loops that need millions of them.
inline double with_sign(double size, double x) { return x >= 0 ? size : -size; }

inline Vec3 cylinder_support(const Vec3& size, const Vec3& l) {
  double across = std::sqrt(l.x() * l.x() + l.y() * l.y());
  // Squares of tiny numbers vanish, the direction must not.
  if (across < 1e-140) across = std::hypot(l.x(), l.y());
  const double scale = across > 0 ? size[0] / across : 0;
  return {scale * l.x(), scale * l.y(), with_sign(size[1], l.z())};
}

inline Vec3 ellipsoid_support(const Vec3& size, const Vec3& l) {
  const Vec3 el = size.cwiseProduct(l);
  const double length = el.norm();
  return length > 0 ? Vec3(size.cwiseProduct(el) / length) : Vec3(0, 0, size[2]);
}

inline Vec3 triangle_support(const Vec3* corner, const Vec3& l) {
  const double x0 = l.dot(corner[0]);
  const double x1 = l.dot(corner[1]);
  const double x2 = l.dot(corner[2]);
  if (x1 > x0) return x2 > x1 ? corner[2] : corner[1];
  return x2 > x0 ? corner[2] : corner[0];
}

inline Vec3 core_support_inline(const Convex& c, const Vec3& l) {
  switch (c.core) {
    case CoreKind::point:
      return Vec3::Zero();
    case CoreKind::segment:
      return {0, 0, with_sign(c.size[1], l.z())};
    case CoreKind::box:
      return {with_sign(c.size[0], l.x()), with_sign(c.size[1], l.y()), with_sign(c.size[2], l.z())};
    case CoreKind::cylinder:
      return cylinder_support(c.size, l);
    case CoreKind::ellipsoid:
      return ellipsoid_support(c.size, l);
    case CoreKind::hull:
      return c.hull->vertex(c.hull->support(l));
    case CoreKind::triangle:
      break;
  }
  return triangle_support(c.corner, l);
}

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

// The part of a simplex that holds its point closest to the origin, by slots of an array of points.
struct ClosestFeature {
  int count = 0;
  int slot[3] = {0, 0, 0};
  double weight[3] = {0, 0, 0};
  Vec3 v = Vec3::Zero();  // the closest point

  void set_vertex(int i, const Vec3& x) {
    count = 1;
    slot[0] = i;
    weight[0] = 1;
    v = x;
  }
  // v = x + t e, without its component along the edge e: that much of the direction is known exactly.
  void set_edge(int i, int j, const Vec3& x, const Vec3& e, double t) {
    count = 2;
    slot[0] = i;
    slot[1] = j;
    weight[0] = 1 - t;
    weight[1] = t;
    const Vec3 u = x + t * e;
    v = u - (u.dot(e) / e.squaredNorm()) * e;
  }
};

// The regions of point i are tried first: it should be the newest.
void closest_on_edge(const CorePoint* point, int i, int j, ClosestFeature& f);
void closest_on_triangle(const CorePoint* point, int i, int j, int k, ClosestFeature& f);
// Of the first `count` points, 1 to 3.
void closest_on_simplex(const CorePoint* point, int count, ClosestFeature& f);

enum class GjkStatus {
  apart,   // upper - lower <= gap
  far,     // lower > limit
  inside,  // the simplex is a tetrahedron around the origin
  stuck    // touching to within round-off, or no progress
};

struct GjkResult {
  GjkStatus status = GjkStatus::stuck;
  Vec3 n = Vec3::UnitZ();  // unit, from A to B: the direction with the largest lower bound
  double lower = -1e300;   // n.w(n)
  double upper = 1e300;    // |v|
  int count = 0;           // points of the simplex: point[slot[k]] with weight[k] in v
  int slot[4];
  double weight[4];
  CorePoint point[4];

  // v as a point of C for sure, and the point of A's core that belongs to it. Not if inside.
  CorePoint closest() const {
    CorePoint x{Vec3::Zero(), Vec3::Zero()};
    for (int k = 0; k < count; ++k) {
      x.w += weight[k] * point[slot[k]].w;
      x.a += weight[k] * point[slot[k]].a;
    }
    return x;
  }
};

// Distance of the origin from C (convex_gjk.cpp). Starts with the direction `n`, unit. Ends when lower > limit or
// upper - lower <= gap. `size` is a length of the pair that says what round-off is.
void gjk_distance(const CorePair& pair, const Vec3& n, double limit, double gap, double size, GjkResult& result);

struct NewtonResult {
  int count = 0;           // vertices, 1 to 3
  Vec3 n = Vec3::UnitZ();  // unit
  double radius = 0;       // of curvature across n, m: between the largest one and twice that
  CorePoint point[3];      // the points of C that have n as normal, one for each vertex
};

// The direction n of curved pairs by Newton's method (convex_newton.cpp), from n and `count` points of C that name the
// vertices. False if a smooth part has no curvature there, or if the iteration fails.
bool newton_direction(const CorePair& pair, const CorePoint* point, const int* slot, int count, const Vec3& n,
                      NewtonResult& result);

// Points of C around those of the result: with normals at the angle `tilt` (rad) from n, on both sides of it for two
// vertices, in three directions for one. Returns their number, at most 4; 0 if there is nothing around.
int newton_ring(const CorePair& pair, const NewtonResult& at, double tilt, CorePoint* ring);

struct EpaOptions {
  double gap;    // ends when the proved error is no larger, m
  double size;   // a length of the pair that says what round-off is, m
  double tie;    // directions whose depths differ by no more count as equal, m
  Vec3 towards;  // unit: among equal directions n, the one with the largest n.towards is preferred
};

struct EpaResult {
  Vec3 n = Vec3::UnitZ();   // unit, from A to B
  double s = -1e300;        // n.w(n)
  double lower = -1e300;    // largest n.w(n) found; s may be less by `tie`
  double upper = 1e300;     // proved: signed distance <= upper
  bool has_point = false;   // p_a is set
  Vec3 p_a = Vec3::Zero();  // on A's core
};

// Depth of the origin inside C (convex_epa.cpp). `start` is a result of gjk_distance that ended inside or stuck. Ends
// also when nothing more can be gained, or when the polytope's storage is full.
void epa_depth(const CorePair& pair, const GjkResult& start, const EpaOptions& options, EpaResult& result);

// Bullet (float64) as a proposer of normals and distances of the two cores (convex_bullet.cpp). CorePair's balls are
// not taken off here. Nothing that comes from here is believed: the caller evaluates s(n) and compares. No heap use.
struct Proposal {
  bool valid = false;
  Vec3 n = Vec3::UnitZ();   // unit, from A to B, A's frame
  double d = 0;             // distance of the cores, or minus the depth of Bullet's inner polytope, m
  Vec3 p_a = Vec3::Zero();  // on A's core, A's frame, m
};

// Not valid if the cores overlap or Bullet gave up.
Proposal bullet_distance(const CorePair& pair, const Vec3& guess);
// Not valid if the cores are apart.
Proposal bullet_penetration(const CorePair& pair, const Vec3& guess);
// The pair detector: another GJK, with the same EPA behind it.
Proposal bullet_detector(const CorePair& pair);

// The float32 and float64 builds of Bullet export the same names; throws std::runtime_error if the wrong one got
// linked. The first distance query calls it, so that nobody has to.
void check_bullet();

// What is known about the signed distance of the origin from C; A's frame.
struct Bounds {
  Vec3 n = Vec3::UnitZ();   // unit, from A to B
  double s = -1e300;        // n.w(n)
  double lower = -1e300;    // largest n.w(n) found
  double upper = 1e300;     // smallest upper bound found
  Vec3 p_a = Vec3::Zero();  // on A's core

  bool proved(double ctol) const { return upper - lower <= ctol; }
};

// The last resort for pairs that GJK and EPA do not settle: Bullet proposes, from several starts, and proximal ascent
// on s(n) improves on what is found. `centre_line` is the unit vector from A's centre to B's.
void bullet_search(const CorePair& pair, const Vec3& centre_line, double ctol, double tol, Bounds& bounds);

}  // namespace sarrus
