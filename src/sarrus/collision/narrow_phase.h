// Contact points of any pair of placed shapes (spec/collision.md §2 and §4).
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

}  // namespace sarrus
