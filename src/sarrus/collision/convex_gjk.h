// Distance of the origin from C = core_B - core_A by GJK, in double precision (spec/collision.md §5, step 1).
//
// A simplex of at most four points of C is carried along; v is its point closest to the origin and n = v / |v|. The
// next point is w(n), and
//   n.w(n) <= distance <= |v|          so   |v| - n.w(n)   is the proved error:
// the loop ends when it is small enough, or when the origin is inside the simplex. Private to convex_distance.
#pragma once

#include "sarrus/collision/convex_pair.h"

namespace sarrus {

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

// Starts with the direction `n`, unit. Ends when lower > limit or upper - lower <= gap. `size` is a length of the pair
// that says what round-off is.
void gjk_distance(const CorePair& pair, const Vec3& n, double limit, double gap, double size, GjkResult& result);

}  // namespace sarrus
