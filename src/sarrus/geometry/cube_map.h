// Directions in 6 k^2 cells: the faces of a cube, each cut into k x k squares.
#pragma once

#include <algorithm>
#include <cmath>

#include "sarrus/math/types.h"

namespace sarrus {

// Defined for every l, also zero and NaN: some cell.
inline int cube_map_cell(const Vec3& l, int k) {
  int axis = 0;
  if (std::abs(l.y()) > std::abs(l[axis])) axis = 1;
  if (std::abs(l.z()) > std::abs(l[axis])) axis = 2;
  const double half = 0.5 * k;
  const double scale = half / std::abs(l[axis]);
  const auto square = [&](double u) {
    const double s = scale * u + half;
    return s > 0 ? static_cast<int>(std::min(s, k - 0.5)) : 0;
  };
  const int face = 2 * axis + (l[axis] < 0 ? 1 : 0);
  return (face * k + square(l[axis == 0 ? 1 : 0])) * k + square(l[axis == 2 ? 1 : 2]);
}

// Direction through the middle of a cell, not unit.
inline Vec3 cube_map_direction(int cell, int k) {
  const int face = cell / (k * k);
  const int axis = face / 2;
  Vec3 l;
  l[axis] = face % 2 == 0 ? 1 : -1;
  l[axis == 0 ? 1 : 0] = (2 * (cell / k % k) + 1.0) / k - 1;
  l[axis == 2 ? 1 : 2] = (2 * (cell % k) + 1.0) / k - 1;
  return l;
}

}  // namespace sarrus
