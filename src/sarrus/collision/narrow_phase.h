// Contact points of any pair of placed shapes (spec/collision.md §2 and §4).
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

// Fills `manifold` with the points of A and B whose gap is <= margin: at most eight, in key order, in world
// coordinates, n from A to B. The pair is computed with the shape of the lower kind first (plane, sphere, capsule,
// box) and flipped back, so exchanging shapes of different kinds changes no gap by a bit.
void collide(const PlacedShape& a, const PlacedShape& b, double margin, Manifold& manifold);

}  // namespace sarrus
