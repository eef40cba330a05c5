// Exact closest points of two separated boxes, for the gaps that separating axes underestimate
// (spec/collision.md §4.3: vertex-vertex and vertex-edge neighbours, 4 % of open poses).
//
// The closest points of two disjoint polytopes can always be chosen as a vertex of one and a point of the other, or
// as interior points of two edges with n across both. So the distance is the smallest of: 8 corners of A to B,
// 8 corners of B to A (clamping), and the common perpendiculars of the 12 x 12 edges that have both feet inside.
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

struct ClosestPoints {
  Vec3 p_a;  // on A, world axes, A's origin
  Vec3 e;    // p_b - p_a
  double distance;
};

// The boxes must not overlap.
ClosestPoints closest_points_box_box(const PairQuery& query);

}  // namespace sarrus
