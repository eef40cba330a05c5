// Body-fixed points on the rims of a cylinder and their ids (spec/collision.md §2, §4.1, §4.3).
//
//   rim point k at angle k pi/4:  id k on the top rim, 8 + k on the bottom rim; the edge from k to k + 1 has the same
//   id deepest rim point:            16 top, 17 bottom;  side line: edge 16
// A cap touches with its eight rim points. If it is tilted, the deepest point of the rim takes the place of the nearest
// of them: the deepest gap is then exact, and the count stays eight.
#pragma once

#include <cmath>
#include <numbers>

#include "sarrus/math/types.h"

namespace sarrus {

// A cylinder whose axis is within 25.8 degrees of the normal touches with a cap.
inline constexpr double kMinCapCosine = 0.9;
// Sine of the tilt from which on the deepest rim point is one of the eight.
inline constexpr double kMinCapTilt = 1e-4;

inline constexpr int kDeepestRimTop = 16;
inline constexpr int kDeepestRimBottom = 17;
inline constexpr int kSideLine = 16;

constexpr int rim_id(int k, bool top) { return top ? k : 8 + k; }

// The eight corners of a cap that looks along the unit vector l (cylinder frame).
struct RimCorners {
  double cosine[8];
  double sine[8];
  int deepest;  // which of them is the deepest rim point; -1: none

  int id(int k, bool top) const {
    if (k == deepest) return top ? kDeepestRimTop : kDeepestRimBottom;
    return rim_id(k, top);
  }
  // Of a cylinder with radius r and half length h, own frame.
  Vec3 point(double r, double h, int k, bool top) const { return {r * cosine[k], r * sine[k], top ? h : -h}; }
};

inline RimCorners rim_corners(const Vec3& l) {
  constexpr double kHalfRoot = std::numbers::sqrt2 / 2;
  RimCorners rim{{1, kHalfRoot, 0, -kHalfRoot, -1, -kHalfRoot, 0, kHalfRoot},
                 {0, kHalfRoot, 1, kHalfRoot, 0, -kHalfRoot, -1, -kHalfRoot},
                 -1};
  const double across = std::sqrt(l.x() * l.x() + l.y() * l.y());
  if (across <= kMinCapTilt) return rim;
  double nearest = -1;
  for (int k = 0; k < 8; ++k) {
    const double aligned = rim.cosine[k] * l.x() + rim.sine[k] * l.y();
    if (aligned > nearest) {
      nearest = aligned;
      rim.deepest = k;
    }
  }
  rim.cosine[rim.deepest] = l.x() / across;
  rim.sine[rim.deepest] = l.y() / across;
  return rim;
}

}  // namespace sarrus
