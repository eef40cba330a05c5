// Newton's method for the direction n of curved pairs (spec/collision.md §5): what GJK and EPA reach by halving the
// error time and again, this reaches by squaring it.
//
// Every core is a polytope plus a smooth body: a cylinder is a segment plus a disc, an ellipsoid is all smooth. So
//   s(n) = min_k n.q_k - h(n)          q_k: vertices of the polytope part of C, h: support function of the smooth part.
// Where n has the vertices q_0 ... q_j for its minimum, n is normal to their differences, and on the arc (or the
// region) of unit vectors that are, s is smooth: gradient g = q_0 - grad h, Hessian -(H + s 1) with H = hess h. A step
// is
//   n <- n + (H + s 1)^-1 g             in the plane tangent to that arc or region.
// Private to convex_distance.
#pragma once

#include "sarrus/collision/convex_pair.h"

namespace sarrus {

struct NewtonResult {
  int count = 0;           // vertices, 1 to 3
  Vec3 n = Vec3::UnitZ();  // unit
  double radius = 0;       // of curvature across n, m: between the largest one and twice that
  CorePoint point[3];      // the points of C that have n as normal, one for each vertex
};

// From the direction n and `count` points of C that name the vertices. False if a smooth part has no curvature there,
// or if the iteration fails.
bool newton_direction(const CorePair& pair, const CorePoint* point, const int* slot, int count, const Vec3& n,
                      NewtonResult& result);

// Points of C around those of the result: with normals at the angle `tilt` (rad) from n, on both sides of it for two
// vertices, in three directions for one. Returns their number, at most 4; 0 if there is nothing around.
int newton_ring(const CorePair& pair, const NewtonResult& at, double tilt, CorePoint* ring);

}  // namespace sarrus
