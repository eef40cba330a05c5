// Pairs without a closed form: (n, d) from convex_distance, points from intersect_features (spec/collision.md §4.3).
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

// Any two of capsule, box, cylinder, ellipsoid, hull, or a sphere and a hull. `axis`: direction of an earlier proof
// that the pair is apart (in: zero = none; out: a new proof, or zero). It changes the cost, never the result.
void collide_general(const PairQuery& query, Vec3& axis, Manifold& manifold);

}  // namespace sarrus
