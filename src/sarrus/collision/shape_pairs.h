// Contact points of the pairs of planes and convex shapes (docs/theory/collision.md §4.3). Private to the narrow phase.
//
// All append points with gap <= query.margin, relative to A's origin, n from A to B.
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

// A = plane:  d = n.x - offset for every candidate x of B,   p_A = x - d n.
// Candidates are body-fixed points, so that a resting body keeps its points:
//   sphere, ellipsoid  the support point
//   capsule            both ends
//   box                the eight corners
//   cylinder           |l_z| > 0.9: eight rim points of the near cap (feature.h); else the deepest point of each rim
//   hull               the vertices within the margin; if there are more than a manifold holds, those within a quarter,
//                      a sixteenth ... of it from the deepest; if those are too many, corners of the lowest face
// The deepest point is exact; for a hull whose lowest face has more than 64 corners, exact to within tol.
void collide_plane_sphere(const PairQuery& query, Manifold& manifold);
void collide_plane_capsule(const PairQuery& query, Manifold& manifold);
void collide_plane_box(const PairQuery& query, Manifold& manifold);
void collide_plane_cylinder(const PairQuery& query, Manifold& manifold);
void collide_plane_ellipsoid(const PairQuery& query, Manifold& manifold);
void collide_plane_hull(const PairQuery& query, Manifold& manifold);

// A = sphere: one point. Gaps are exact: distance of the centre to the other shape's core or surface minus radii.
// Coincident centres get n = e_z, a direction across the capsule's axis, or the way out through the nearest face.
void collide_sphere_sphere(const PairQuery& query, Manifold& manifold);
void collide_sphere_capsule(const PairQuery& query, Manifold& manifold);
void collide_sphere_box(const PairQuery& query, Manifold& manifold);
void collide_sphere_cylinder(const PairQuery& query, Manifold& manifold);
void collide_sphere_ellipsoid(const PairQuery& query, Manifold& manifold);

// Closest points of the two core segments; if the axes are within 5.7 degrees (|cos| >= 0.995) also every end that
// projects into the other segment, each with its own normal: two points for capsules side by side.
void collide_capsule_capsule(const PairQuery& query, Manifold& manifold);

// A = capsule, B = box: exact distance of the core segment to the box, then clipping; two points for a capsule lying on
// a face. In the box frame the segment is c + t u, |t| <= H, and
//   f(t) = sum_i max(0, |c_i + t u_i| - h_i)^2
// is convex and piecewise quadratic with breakpoints (+-h_i - c_i)/u_i, so its minimum is exact. A core that meets
// the box is pushed out along the best of the axes e_i, u x e_i (exact for a segment). d = sqrt(f) - r, or s - r.
void collide_capsule_box(const PairQuery& query, Manifold& manifold);

// Separating axes, then clipping of the two faces best aligned with n: up to eight points, plus a witness if none of
// them is the deepest. With a_i, b_j the axes, T = p_B - p_A and C = R_A^T R_B the support distances are
//   A face:  |a_i.T| - h_A,i - sum_j |C_ij| h_B,j            B face:  |b_j.T| - h_B,j - sum_i |C_ij| h_A,i
//   edges, c = a_i x b_j:  (|c.T| - sum h_A |c.a| - sum h_B |c.b|) / |c|
// The largest is d0, equal to the signed distance d* if d0 <= 0 and a lower bound of it if d0 > 0. Points clipped
// along n have gaps >= d0, so one with gap <= d0 + tol proves d*; without such a point the closest points of an open
// pair are computed.
void collide_box_box(const PairQuery& query, Manifold& manifold);

// No closed form: any two of capsule, box, cylinder, ellipsoid, hull, or a sphere and a hull. (n, d) come from
// convex_distance, points from intersect_features. `axis`: direction of an earlier proof that the pair is apart (in:
// zero = none; out: a new proof, or zero). It changes the cost, never the result.
void collide_general(const PairQuery& query, Vec3& axis, Manifold& manifold);

}  // namespace sarrus
