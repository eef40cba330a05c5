// The last resort for pairs that our own GJK and EPA do not settle (spec/collision.md §5, steps 1 to 4): Bullet
// proposes, from several starts, and proximal ascent on s(n) improves on what is found. Private to convex_distance.
#pragma once

#include "sarrus/collision/convex_pair.h"

namespace sarrus {

// What is known about the signed distance of the origin from C; A's frame.
struct Bounds {
  Vec3 n = Vec3::UnitZ();   // unit, from A to B
  double s = -1e300;        // n.w(n)
  double lower = -1e300;    // largest n.w(n) found
  double upper = 1e300;     // smallest upper bound found
  Vec3 p_a = Vec3::Zero();  // on A's core

  bool proved(double ctol) const { return upper - lower <= ctol; }
};

// Improves `bounds`; `centre_line` is the unit vector from A's centre to B's.
void bullet_search(const CorePair& pair, const Vec3& centre_line, double ctol, double tol, Bounds& bounds);

}  // namespace sarrus
