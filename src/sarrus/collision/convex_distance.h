// Convex bodies, and the signed distance of any two of them: whoever proposes, a certificate decides
// (docs/theory/collision.md §1, §5).
//
//   X = core (+) ball(radius),   h_X(n) = max over X of n.x = n . sup_core(n) + radius |n|
// The radius is > 0 only for spheres (core: a point) and capsules (core: a segment), so shallow overlap of those needs
// no penetration algorithm. For A and B, n from A to B:
//   s(n) = min over B of n.x - max over A of n.x <= d* = max over unit n of s(n)     (weak duality)
// d* is the distance, or minus the penetration depth. Any n with s(n) > margin proves that nothing is near.
//
// GJK and EPA give a direction n and an upper bound u: the distance between points of A and B, or minus the radius of a
// ball inside B - A. Then s(n) <= d* <= u, and u - s(n) is the proved error. Where the gap does not close, Bullet's
// float64 algorithms propose and proximal ascent on s(n) improves; the answer then still carries its own lower bound.
//
// If overlapping bodies have several directions of the same depth (to within 0.1 tol, and more than 25 degrees apart),
// the one closest to the line from A's centre to B's is returned, then the one with the larger component along a vector
// fixed in A: round-off does not choose.
#pragma once

#include "sarrus/collision/manifold.h"
#include "sarrus/collision/shapes.h"
#include "sarrus/geometry/convex_hull.h"

namespace sarrus {

enum class CoreKind : std::uint8_t { point, segment, box, cylinder, ellipsoid, hull, triangle };

struct Convex {
  CoreKind core = CoreKind::point;
  Vec3 size = Vec3::Zero();          // segment: (0, half length, 0); others as in PlacedShape
  const ConvexHull* hull = nullptr;  // hull
  Vec3 corner[3];                    // triangle, in its own frame
  double radius = 0;                 // m
  double diagonal = 0;               // of the local box, m
  Mat3 R = Mat3::Identity();         // axes of its frame, world axes
  Vec3 p = Vec3::Zero();             // origin of its frame, relative to the pair's common origin, m

  bool is_polytope() const { return core != CoreKind::cylinder && core != CoreKind::ellipsoid; }

  // A farthest point of the core along l, which need not be unit and may be zero; own frame. sign(0) = +1.
  Vec3 core_support_local(const Vec3& l) const;
  // The same in the common frame.
  Vec3 core_support(const Vec3& n) const { return p + R * core_support_local(R.transpose() * n); }
  // A farthest point of the body along the unit vector n.
  Vec3 support(const Vec3& n) const { return core_support(n) + radius * n; }
};

// `p` is the origin of the shape's frame relative to the common origin.
Convex convex_of(const PlacedShape& shape, const Vec3& p);
// A triangle of a mesh or height field whose frame has axes R and origin p.
Convex convex_of_triangle(const Vec3& x0, const Vec3& x1, const Vec3& x2, const Mat3& R, const Vec3& p);

// s(n) for unit n.
double support_distance(const Convex& a, const Convex& b, const Vec3& n);

struct ConvexDistance {
  bool near = false;       // false: d* > margin is proved; n is the direction that proves it, the rest is not set
  bool certified = false;  // |d - d*| <= ctol is proved; 0.1 tol if there are other directions of the same depth
  Vec3 n = Vec3::UnitZ();  // unit, from A to B
  double d = 0;            // s(n), m
  // A point of A that is closest or deepest, up to the proposer's accuracy: never trust it without a check.
  Vec3 p_A = Vec3::Zero();
};

// `tol` = 5e-6 L; ctol is 0.01 tol, 1e-4 tol if a cylinder or ellipsoid is involved. `axis`, if not null, is tried
// first as a proof of d* > margin; it never changes an answer, only its cost.
ConvexDistance convex_distance(const Convex& a, const Convex& b, double margin, double tol, const Vec3* axis = nullptr);

// Distance of two separated cores without their radii: n, d and p_A as above, near = false if they overlap (or are
// closer than 1e-4 tol, where no direction is steady). For triangles against convex bodies (§6).
ConvexDistance core_separation(const Convex& a, const Convex& b, double tol);

}  // namespace sarrus
