// Features of shapes along a normal, and their intersection in projection along it (spec/collision.md §4.1, §4.2).
//
// With n from A to B and u = (t.x, o.x): each point of the intersection has the heights eta_A(u), eta_B(u) of the
// two features, the gap d = eta_B - eta_A and lies at p_A = u t + v o + eta_A n. The clip planes are parallel to n,
// not to a face normal, so p_A is in A, p_B is in B, and no gap is smaller than the support distance
//   s(n) = min_B n.x - max_A n.x.
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

// Four corners counter-clockwise seen from outside.
struct BoxFace {
  struct Corner {
    Vec3 p;
    int vertex;  // id of the corner
    int edge;    // id of the edge from this corner to the next
  };
  Corner corner[4];
  Vec3 normal;  // outward, unit
};

// Capsule feature: `size` points on its surface. One = the support point; two = the line along its side, first
// the + end, then the - end.
struct CapsuleSide {
  Vec3 p[2];
  int size;
};

// Sign bit ids of make_key() for the box vertex or edge that is extreme along l (box frame; sign(0) = +).
int box_support_vertex(const Vec3& l);
int box_support_edge(const Vec3& l, int axis);
// Coordinates in the box frame of the vertex with sign bits `vertex`.
Vec3 box_vertex(const Vec3& half_extents, int vertex);

// Face of a box, placed at origin p, that is best aligned with the outward direction n. All in world axes.
BoxFace box_support_face(const PlacedShape& box, const Vec3& p, const Vec3& n);

// Two points if the capsule, placed at origin p, lies across n (|axis . n| <= 0.1), else one.
CapsuleSide capsule_support_side(const PlacedShape& capsule, const Vec3& p, const Vec3& n);

// Both append the points with gap <= margin and return the smallest gap appended (infinity if none).
double clip_faces(const BoxFace& face_a, const BoxFace& face_b, const Vec3& n, double margin, double tol,
                  Manifold& manifold);
double clip_side(const CapsuleSide& side_a, const BoxFace& face_b, const Vec3& n, double margin, double tol,
                 Manifold& manifold);

}  // namespace sarrus
