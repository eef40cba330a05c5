// The contact points of one geom pair, as the narrow phase builds them (spec/collision.md §2, §4.4).
#pragma once

#include "sarrus/collision/contact.h"
#include "sarrus/collision/fixed_list.h"
#include "sarrus/collision/shapes.h"

namespace sarrus {

inline constexpr int kMaxManifoldPoints = 8;  // after reduction

enum class FeatureKind : std::uint8_t { vertex_a = 0, vertex_b = 1, edge_edge = 2, witness = 3 };

// Feature ids are body fixed: box vertex = sign bits (x 1, y 2, z 4; set on the positive side), box edge =
// 8 axis + sign bits of its two fixed coordinates, capsule end = 0 (+z) or 1 (-z).
FeatureKey make_key(FeatureKind kind, int feature_a, int feature_b);

// One point: p on A, p + gap n on B. World axes, origin as the producer states.
struct ManifoldPoint {
  Vec3 p = Vec3::Zero();
  Vec3 n = Vec3::UnitZ();  // from A to B
  double gap = 0;          // m
  FeatureKey key;
};
using Manifold = FixedList<ManifoldPoint, 20>;

// A pair to intersect. Results are relative to A's origin, so they do not lose digits far from the world's.
struct PairQuery {
  const PlacedShape& a;
  const PlacedShape& b;
  Vec3 p_AB_W;    // B's origin minus A's, world axes, m
  double margin;  // points with a gap up to this are wanted, m
  double tol;     // 5e-6 L: features closer than this count as touching, m
};

// Exchanges the roles of A and B in every point: n -> -n, p -> p + gap n, key features swapped. The origin stays.
void flip(Manifold& manifold);

void sort_by_key(Manifold& manifold);

// Keeps at most `count` (>= 3) points of a manifold sorted by key (§4.4): the deepest (to within tol, farthest
// from the centroid first), the farthest from it, the largest triangle, then whatever adds the most area outside
// the polygon so far, seen along the first point's normal. Scores within 0.1 % of the best count as equal and go
// to the lowest key, so round-off does not decide. The order by key is kept.
void reduce(Manifold& manifold, int count, double tol);

}  // namespace sarrus
