// Closed-form contact points of the pairs with a plane, a sphere or two capsules (spec/collision.md §4.3).
//
// All take A = the first shape named, append points with gap <= query.margin, in A's origin and world axes, with
// n from A to B. Gaps are exact: distance of centres, core points or corners minus radii.
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

// d = n.x - offset for every candidate x of B: the support point, both capsule ends, or the eight corners.
void collide_plane_sphere(const PairQuery& query, Manifold& manifold);
void collide_plane_capsule(const PairQuery& query, Manifold& manifold);
void collide_plane_box(const PairQuery& query, Manifold& manifold);

// One point each. A centre inside the box leaves through the nearest face; coincident centres get n = e_z, or a
// direction across the capsule's axis.
void collide_sphere_sphere(const PairQuery& query, Manifold& manifold);
void collide_sphere_capsule(const PairQuery& query, Manifold& manifold);
void collide_sphere_box(const PairQuery& query, Manifold& manifold);

// Closest points of the two core segments; if the axes are within 5.7 degrees (|cos| >= 0.995) also every end that
// projects into the other segment, each with its own normal: two points for capsules side by side.
void collide_capsule_capsule(const PairQuery& query, Manifold& manifold);

}  // namespace sarrus
