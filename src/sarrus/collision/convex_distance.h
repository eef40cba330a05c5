// Signed distance of any two convex bodies: whoever proposes, a certificate decides (spec/collision.md §5).
//
// GJK (convex_gjk.h) and EPA (convex_epa.h) give a direction n and an upper bound u: the distance between points of A
// and B, or minus the radius of a ball inside B - A. Weak duality, s(n) <= d* <= u, makes u - s(n) the proved error.
// Where the gap does not close, Bullet's float64 algorithms propose and proximal ascent on s(n) improves
// (bullet_search.h); the answer then still carries its own lower bound s(n).
//
// If overlapping bodies have several directions of the same depth (to within 0.1 tol, and more than 25 degrees apart),
// the one closest to the line from A's centre to B's is returned, then the one with the larger component along a vector
// fixed in A: round-off does not choose.
#pragma once

#include "sarrus/collision/convex.h"

namespace sarrus {

struct ConvexDistance {
  bool near = false;        // false: d* > margin is proved; n is the direction that proves it, the rest is not set
  bool certified = false;   // |d - d*| <= ctol is proved; 0.1 tol if there are other directions of the same depth
  Vec3 n = Vec3::UnitZ();   // unit, from A to B
  double d = 0;             // s(n), m
  Vec3 p_A = Vec3::Zero();  // a point of A that is closest or deepest, up to the proposer's accuracy: never trust it
                            // without a check
};

// `tol` = 5e-6 L; ctol is 0.01 tol, 1e-4 tol if a cylinder or ellipsoid is involved. `axis`, if not null, is tried
// first as a proof of d* > margin; it never changes an answer, only its cost.
ConvexDistance convex_distance(const Convex& a, const Convex& b, double margin, double tol, const Vec3* axis = nullptr);

// Distance of two separated cores without their radii: n, d and p_A as above, near = false if they overlap (or are
// closer than 1e-4 tol, where no direction is steady). For triangles against convex bodies (§6).
ConvexDistance core_separation(const Convex& a, const Convex& b, double tol);

}  // namespace sarrus
