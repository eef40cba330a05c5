// What collision detection hands to the constraint problem: plain records, no forces (docs/theory/collision.md §2).
#pragma once

#include <compare>
#include <cstdint>

#include "sarrus/math/types.h"

namespace sarrus {

struct CollisionOptions {
  double margin = 2e-3;             // m, contacts closer than this are always reported (at most 0.02 L, detector.h)
  double speculative_factor = 1.5;  // times dt times approach speed; 0 switches speculative margins off
};

// Stable identity of a contact point within its geom pair, built from body-fixed features.
//   hi = subA << 32 | subB           (children of compounds, triangles; 0 for primitives)
//   lo = kind << 60 | featureA << 30 | featureB     kind: 0 vertex of A, 1 vertex of B, 2 edge x edge, 3 witness
struct FeatureKey {
  std::uint64_t hi = 0;
  std::uint64_t lo = 0;
  auto operator<=>(const FeatureKey&) const = default;  // NOLINT(modernize-use-nullptr): false alarm on <=>
};

struct Contact {
  Vec3 p_W = Vec3::Zero();   // point on the surface of A, m
  Vec3 n_W = Vec3::UnitZ();  // unit normal from A to B; the point on B is p_W + gap n_W
  double gap = 0;            // m, > 0 open, < 0 penetrating
  int geom_a = 0;            // geom_a < geom_b
  int geom_b = 0;
  int body_a = -1;  // kWorld allowed for one of the two
  int body_b = -1;
  FeatureKey key;
  double mu = 0;
  double restitution = 0;
  int compliance = -1;  // into ContactLaws::compliances(); -1: rigid
};

}  // namespace sarrus
