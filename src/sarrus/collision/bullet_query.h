// Bullet (float64) as a proposer of normals and distances of two convex cores (spec/collision.md §5).
//
// The cores are those of the bodies: CorePair's balls are not taken off here.
// Nothing that comes from here is believed: the caller evaluates s(n) and compares. Lengths are divided by the smaller
// of the two diagonals first, because Bullet's tolerances are absolute. No heap use.
#pragma once

#include "sarrus/collision/convex_pair.h"

namespace sarrus {

struct Proposal {
  bool valid = false;
  Vec3 n = Vec3::UnitZ();   // unit, from A to B, A's frame
  double d = 0;             // distance of the cores, or minus the depth of Bullet's inner polytope, m
  Vec3 p_a = Vec3::Zero();  // on A's core, A's frame, m
};

// Not valid if the cores overlap or Bullet gave up.
Proposal bullet_distance(const CorePair& pair, const Vec3& guess);
// Not valid if the cores are apart.
Proposal bullet_penetration(const CorePair& pair, const Vec3& guess);
// The pair detector: another GJK, with the same EPA behind it.
Proposal bullet_detector(const CorePair& pair);

// The float32 and float64 builds of Bullet export the same names; throws std::runtime_error if the wrong one got
// linked. The first distance query calls it, so that nobody has to.
void check_bullet();

}  // namespace sarrus
