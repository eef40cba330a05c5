// Contact points of a sphere and another shape with a closed form (spec/collision.md §4.3): one point each.
//
// All take A = the sphere, append the point if its gap is <= query.margin, relative to A's origin, n from A to B. Gaps
// are exact: distance of the centre to the other shape's core or surface minus radii. Coincident centres get n = e_z, a
// direction across the capsule's axis, or the way out through the nearest face.
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

void collide_sphere_sphere(const PairQuery& query, Manifold& manifold);
void collide_sphere_capsule(const PairQuery& query, Manifold& manifold);
void collide_sphere_box(const PairQuery& query, Manifold& manifold);
void collide_sphere_cylinder(const PairQuery& query, Manifold& manifold);
void collide_sphere_ellipsoid(const PairQuery& query, Manifold& manifold);

}  // namespace sarrus
