// Capsule against box (spec/collision.md §4.3): exact distance of the core segment to the box, then clipping.
//
// In the box frame the segment is c + t u, |t| <= H, and
//   f(t) = sum_i max(0, |c_i + t u_i| - h_i)^2
// is convex and piecewise quadratic with breakpoints (+-h_i - c_i)/u_i, so its minimum is exact. A core that meets
// the box is pushed out along the best of the axes e_i, u x e_i (exact for a segment). d = sqrt(f) - r, or s - r.
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

// A = capsule, B = box. Two points for a capsule lying on a face.
void collide_capsule_box(const PairQuery& query, Manifold& manifold);

}  // namespace sarrus
