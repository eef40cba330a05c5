// Merging of faces that are coplanar up to noise.
//
// Qhull merges what its own round-off cannot tell apart. Points that were rotated, moved or stored in single precision
// before carry more noise than that: their flat faces arrive crumpled into slivers, useless as contact features.
#pragma once

#include <span>

#include "sarrus/geometry/polygons.h"
#include "sarrus/math/types.h"

namespace sarrus {

// Area times normal (Newell), from differences of positions.
Vec3 area_vector(std::span<const Vec3> points, std::span<const int> corners);

// Grows regions of faces whose corners lie within `tolerance` of one plane, from the largest faces on, then
// drops vertices that fewer than three regions share. False if the faces are not a closed surface (every edge used
// once in each direction) or a region is not bounded by one simple polygon.
bool merge_coplanar(std::span<const Vec3> points, const Polygons& faces, double tolerance, Polygons& merged);

}  // namespace sarrus
