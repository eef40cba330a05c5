// Angles that look as if they were given in the other unit. Nobody means 14 turns by 90, nor 1.5708 degrees.
#pragma once

#include <cmath>
#include <numbers>

namespace sarrus {

// A number of radians: a multiple of 0.5 from 10 to 1080.
inline bool looks_like_degrees(double radians) {
  const double x = std::abs(radians);
  return x >= 10 && x <= 1080 && std::abs(2 * x - std::round(2 * x)) < 1e-9;
}

// A number of degrees: pi/6, pi/4, pi/3, pi/2, 2/3 pi, 3/4 pi, pi or 2 pi, to four digits.
inline bool looks_like_radians(double degrees) {
  for (const double part : {6.0, 4.0, 3.0, 2.0, 1.5, 4.0 / 3, 1.0, 0.5}) {
    if (std::abs(std::abs(degrees) * part / std::numbers::pi - 1) < 3e-4) return true;
  }
  return false;
}

}  // namespace sarrus
