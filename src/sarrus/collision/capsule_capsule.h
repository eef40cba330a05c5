// Capsule against capsule (spec/collision.md §4.3).
//
// Closest points of the two core segments; if the axes are within 5.7 degrees (|cos| >= 0.995) also every end that
// projects into the other segment, each with its own normal: two points for capsules side by side.
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

void collide_capsule_capsule(const PairQuery& query, Manifold& manifold);

}  // namespace sarrus
