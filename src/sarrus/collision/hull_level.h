// The vertices of a hull beyond a height, without the heap (spec/collision.md §4.1, §4.3).
#pragma once

#include "sarrus/collision/manifold.h"
#include "sarrus/geometry/convex_hull.h"

namespace sarrus {

using VertexList = FixedList<int, Manifold::capacity()>;

// The vertices with l.x >= level in ascending order; `top` is one with the largest l.x. They are connected by edges,
// because superlevel sets of a polytope's graph are, so a flood from `top` reaches them all whatever it starts with.
// False, with some of them, if the list is too short.
bool vertices_above(const ConvexHull& hull, const Vec3& l, int top, double level, VertexList& found);

}  // namespace sarrus
