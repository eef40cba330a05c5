// Features of convex bodies along a normal, and their intersection in projection along it (spec/collision.md §4.1,
// §4.2).
//
// The feature of X along the outward direction n is a polygon, a segment or a point of its surface: the part that may
// touch another body along n. With n from A to B and u = (t.x, o.x), each point of the intersection of the two features
// has the heights eta_A(u), eta_B(u), the gap d = eta_B - eta_A and lies at p_A = u t + v o + eta_A n. The clip planes
// are parallel to n, not to a face normal, so p_A is in A, p_B is in B, and no gap is smaller than s(n).
#pragma once

#include "sarrus/collision/convex.h"
#include "sarrus/collision/manifold.h"

namespace sarrus {

struct Feature {
  struct Corner {
    Vec3 p;      // common frame, m
    int vertex;  // id of the vertex (make_key)
    int edge;    // id of the edge to the next corner; of the segment itself if there are two corners
  };
  FixedList<Corner, kMaxFaceCorners> corners;  // 1, 2, or a convex polygon CCW seen from outside
  Vec3 normal = Vec3::Zero();                  // outward, polygons only: unit
};

// Box: best aligned face. Hull: face around the support vertex (flood fill within 0.01 tol, §4.1). Cylinder: cap
// octagon for |l_z| >= 0.9 (cylinder_rim.h), side line for |l_z| <= 0.1, else the rim point. Capsule: side line for
// |l_z| <= 0.1, else a point. Triangle: itself. Sphere and ellipsoid: the support point. Faces of hulls and triangles
// that n sees almost from the side (N.n < 0.05) are replaced by their edge across n, if there is one, or the farthest
// corner.
Feature support_feature(const Convex& x, const Vec3& n, double tol);

// Appends the points of the intersection with gap <= margin, keys as in manifold.h; returns the smallest gap appended
// (infinity if none). Nothing for two single points or a point and something larger: the caller's witness covers those.
double intersect_features(const Feature& a, const Feature& b, const Vec3& n, double margin, double tol,
                          Manifold& manifold);

// The point to add, or to put in place of the one with its key, when no clipped point has gap <= d + tol: the single
// point of A's or B's feature; where the lines of two segments cross, the point of the segments nearest to the
// crossing, with the key of the crossing, so that a contact at the end of a segment keeps it; else the farthest corner
// of A or B along n, if one of them has only one, or whichever of these and `p_A` is closest to both features.
ManifoldPoint witness_point(const Feature& a, const Feature& b, const Vec3& n, double d, const Vec3& p_A);

}  // namespace sarrus
