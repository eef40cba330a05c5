// Depth of the origin inside C = core_B - core_A by an expanding polytope (spec/collision.md §5, step 2).
//
// A closed surface of triangles with corners in C is kept around the origin; f is its triangle whose plane is closest
// to the origin, m its outward normal, w the point of C farthest along m. Then
//   dist(f) <= depth <= m.w            so   m.w - dist(f)   is the proved error,
// and unless it is small enough the triangles that w sees are replaced by triangles to w.
//
// Why dist(f) is a proof: the surface is a cycle that winds around the origin, and replacing a triangle that has w on
// its outer side and the origin on its inner side does not move the surface through the origin. So the ball of radius
// dist(f) is enclosed, hence inside the hull of the corners, hence inside C: whether or not round-off has left the
// surface convex. Private to convex_distance.
#pragma once

#include "sarrus/collision/convex_gjk.h"

namespace sarrus {

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

// `start` is a result of gjk_distance that ended inside or stuck. Ends also when nothing more can be gained, or when
// the polytope's storage is full.
void epa_depth(const CorePair& pair, const GjkResult& start, const EpaOptions& options, EpaResult& result);

}  // namespace sarrus
