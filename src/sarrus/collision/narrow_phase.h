// Contact points of any pair of placed shapes, and of moving ones when they touch
// (docs/theory/collision.md §2, §4, §7).
#pragma once

#include "sarrus/collision/manifold.h"
#include "sarrus/collision/mesh_pairs.h"

namespace sarrus {

// Buffers of the narrow phase, one per thread. Nothing in them changes a result.
struct NarrowWorkspace {
  MeshWorkspace mesh;
};

// Fills `manifold` with the points of A and B whose gap is <= margin, in key order, in world coordinates, n from A to
// B: at most eight for two convex shapes, at most four per distinct normal for a mesh or height field. The pair is
// computed with the shape of the lower kind first and flipped back, so exchanging shapes of different kinds changes no
// gap by a bit. A mesh against a mesh or height field is computed with a hull (§6): of the mesh, or of the smaller of
// two; two planes, or a plane and a height field, give nothing.
//
// `axis`: in, a direction that separated the pair before, or zero; out, one that separates it now, or zero. It makes
// distant pairs cheap and never changes the result.
void collide(const PlacedShape& a, const PlacedShape& b, double margin, NarrowWorkspace& workspace, Vec3& axis,
             Manifold& manifold);

// The same without a remembered direction.
void collide(const PlacedShape& a, const PlacedShape& b, double margin, NarrowWorkspace& workspace, Manifold& manifold);

// Casts: when two moving shapes touch, by conservative advancement (docs/theory/collision.md §7). Both bodies keep
// their twists (v of the centre of mass, w; world axes): pose(t) = (p + t v, exp(t w) R). With the distance d and
// normal n at pose(t) and rho the largest distance from a body's centre of mass to the shape's surface, the gap along n
// closes no faster than
//   mu(n) = n.(v_A - v_B) + |n x w_A| rho_A + |n x w_B| rho_B      (one convex pair: n separates it)
//   mu    = |v_A - v_B| + |w_A| rho_A + |w_B| rho_B                (meshes: any triangle may come first)
// so t += (d - tau/2) / mu never steps over a contact. Hit: d <= tau = 5e-5 L.
struct MovingShape {
  PlacedShape shape;         // at t = 0
  Vec3 p_WB = Vec3::Zero();  // centre of mass of its body at t = 0, m
  Vec3 v_W = Vec3::Zero();   // m/s
  Vec3 w_W = Vec3::Zero();   // rad/s
  double arm = 0;            // rho, m
};

// mu(n), m/s.
double approach_bound(const MovingShape& a, const MovingShape& b, const Vec3& n);

// True if the shapes touch at some time in (0, duration]. Then `manifold` has the contact points at that time, carried
// back with their bodies to t = 0: p on A, gap = max(0, n.(p_B - p_A)).
bool cast(const MovingShape& a, const MovingShape& b, double duration, NarrowWorkspace& workspace, Manifold& manifold);

}  // namespace sarrus
