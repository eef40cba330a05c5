// How a triangulated surface goes on across an edge (spec/collision.md §6).
#pragma once

#include <cstdint>

#include "sarrus/math/types.h"

namespace sarrus {

// A dent is concave by less than 30 degrees, a ridge is convex by more, a border is an edge without a neighbour.
enum class Bend : std::uint8_t { flat, dent, concave, convex, ridge, border };

// Turns of less than this, as a tangent, are flat: over a body of size L they move the surface by less than tol = 5e-6
// L.
inline constexpr double kFlatBend = 1e-6;
inline constexpr double kSteepBend = 0.57735026918962576;  // 30 degrees

// Across the edge through x of a triangle with unit normal n, to a neighbour with the far corner y. `outward` points
// across the edge in the plane of the triangle and is as long as the edge.
inline Bend bend_across(const Vec3& n, const Vec3& x, const Vec3& outward, const Vec3& y) {
  const double rise = n.dot(y - x);
  const double reach = outward.dot(y - x);  // rise |outward| / reach is the tangent
  const double rise2 = rise * rise * outward.squaredNorm();
  if (rise2 <= kFlatBend * kFlatBend * reach * reach) return reach > 0 ? Bend::flat : Bend::ridge;  // or folded back
  const bool steep = reach <= 0 || rise2 > kSteepBend * kSteepBend * reach * reach;
  if (rise > 0) return steep ? Bend::concave : Bend::dent;
  return steep ? Bend::ridge : Bend::convex;
}

}  // namespace sarrus
