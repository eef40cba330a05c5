// Two balls, alone or as points of the cores of capsules.
#pragma once

#include "sarrus/collision/manifold.h"

namespace sarrus {

// Directions of vectors shorter than this times tol are round-off: 5e-10 of the smaller shape.
inline constexpr double kCoincident = 1e-4;

// Balls with the radii of the two shapes at x_a and x_a + e; `fallback` is the normal if the centres coincide.
inline ManifoldPoint ball_ball(const PairQuery& q, const Vec3& x_a, const Vec3& e, const Vec3& fallback,
                               const FeatureKey& key) {
  const double ra = q.a.size[0];
  const double rb = q.b.size[0];
  const double length = e.norm();
  const Vec3 n = length > kCoincident * q.tol ? Vec3(e / length) : fallback;
  return {x_a + ra * n, n, length - ra - rb, key};
}

}  // namespace sarrus
