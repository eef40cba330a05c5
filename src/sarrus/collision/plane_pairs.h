// Contact points of a plane and a convex shape (spec/collision.md §4.3).
//
//   d = n.x - offset for every candidate x of the shape,   p_A = x - d n
// Candidates are body-fixed points, so that a resting body keeps its points:
//   sphere, ellipsoid  the support point
//   capsule            both ends
//   box                the eight corners
//   cylinder           |l_z| > 0.9: eight rim points of the near cap (cylinder_rim.h), else the deepest point of each
//   rim hull               the vertices within the margin; if there are more than a manifold holds, those within a
//   quarter,
//                      a sixteenth ... of it from the deepest; if those are too many, corners of the lowest face.
// All take A = the plane, append points with gap <= query.margin, relative to A's origin, n from A to B. The deepest
// point is exact; for a hull whose lowest face has more than 64 corners, exact to within tol.
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

void collide_plane_sphere(const PairQuery& query, Manifold& manifold);
void collide_plane_capsule(const PairQuery& query, Manifold& manifold);
void collide_plane_box(const PairQuery& query, Manifold& manifold);
void collide_plane_cylinder(const PairQuery& query, Manifold& manifold);
void collide_plane_ellipsoid(const PairQuery& query, Manifold& manifold);
void collide_plane_hull(const PairQuery& query, Manifold& manifold);

}  // namespace sarrus
