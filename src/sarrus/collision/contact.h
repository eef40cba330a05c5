// What collision detection hands to the constraint problem: plain records, no forces (docs/theory/collision.md §2).
#pragma once

#include <compare>
#include <cstdint>

#include "sarrus/math/types.h"

namespace sarrus {

struct CollisionOptions {
  double margin = 0.01;             // of the smaller diagonal of a pair: contacts closer than this are always reported
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
  double size = 1;           // m, the smaller diagonal of the two shapes
  int geom_a = 0;            // geom_a < geom_b
  int geom_b = 0;
  int body_a = -1;  // kWorld allowed for one of the two
  int body_b = -1;
  FeatureKey key;
  double mu = 0;
  double restitution = 0;
  int compliance = -1;  // into the compliances of the collision filter; -1: rigid
};

// Axes of a contact's rows as columns [t, o, n], t x o = n (docs/theory/conventions.md §2):
//   s = sign(n_z),  a = -1/(s + n_z),  b = n_x n_y a,  t = (1 + s n_x^2 a, s b, -s n_x),  o = (b, s + n_y^2 a, -n_y)
inline Mat3 contact_frame(const Vec3& n_W) {
  const double s = n_W.z() >= 0 ? 1.0 : -1.0;
  const double a = -1.0 / (s + n_W.z());
  const double b = n_W.x() * n_W.y() * a;
  Mat3 R_WC;
  R_WC.col(0) = Vec3(1 + s * n_W.x() * n_W.x() * a, s * b, -s * n_W.x());
  R_WC.col(1) = Vec3(b, s + n_W.y() * n_W.y() * a, -n_W.y());
  R_WC.col(2) = n_W;
  return R_WC;
}

}  // namespace sarrus
