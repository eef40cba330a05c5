// Box against box (spec/collision.md §4.3): separating axes, then clipping of the two faces best aligned with n.
//
// With a_i, b_j the axes, T = p_B - p_A and C = R_A^T R_B the support distances are
//   A face:  |a_i.T| - h_A,i - sum_j |C_ij| h_B,j            B face:  |b_j.T| - h_B,j - sum_i |C_ij| h_A,i
//   edges, c = a_i x b_j:  (|c.T| - sum h_A |c.a| - sum h_B |c.b|) / |c|
// The largest is d0, equal to the signed distance d* if d0 <= 0 and a lower bound of it if d0 > 0. Points clipped
// along n have gaps >= d0, so one with gap <= d0 + tol proves d*; without such a point an open pair is measured
// exactly (box_distance.h).
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

// Up to eight points, plus a witness if none of them is the deepest.
void collide_box_box(const PairQuery& query, Manifold& manifold);

}  // namespace sarrus
