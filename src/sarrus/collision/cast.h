// When two moving shapes touch within a time, by conservative advancement (spec/collision.md §7.3).
//
// Both bodies keep their twists (v of the centre of mass, w; world axes): pose(t) = (p + t v, exp(t w) R). With the
// distance d and normal n at pose(t) and rho the largest distance from a body's centre of mass to the shape's surface,
// the gap along n closes no faster than
//   mu(n) = n.(v_A - v_B) + |n x w_A| rho_A + |n x w_B| rho_B      (one convex pair: n separates it)
//   mu    = |v_A - v_B| + |w_A| rho_A + |w_B| rho_B                (meshes: any triangle may come first)
// so t += (d - tau/2) / mu never steps over a contact. Hit: d <= tau = 5e-5 L.
#pragma once

#include "sarrus/collision/narrow_phase.h"

namespace sarrus {

struct MovingShape {
  PlacedShape shape;         // at t = 0
  Vec3 p_WB = Vec3::Zero();  // centre of mass of its body at t = 0, m
  Vec3 v_W = Vec3::Zero();   // m/s
  Vec3 w_W = Vec3::Zero();   // rad/s
  double arm = 0;            // rho, m
};

// True if the shapes touch at some time in (0, duration]. Then `manifold` has the contact points at that time, carried
// back with their bodies to t = 0: p on A, gap = max(0, n.(p_B - p_A)).
bool cast(const MovingShape& a, const MovingShape& b, double duration, NarrowWorkspace& workspace, Manifold& manifold);

}  // namespace sarrus
