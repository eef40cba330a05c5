// Geometry of Theo Jansen's leg linkage ("holy numbers") and of the walker built from it.
//
// A leg lives in the (x, z) plane, relative to the crank's centre, x forwards and z up. With the usual names
// of the link lengths:
//
//        upper              pivot     (-a, -l), fixed in the chassis        a = 38.0, l = 7.8
//       /  b  \ j           pin       on the crank, radius m = 15.0
//   e  /       \            upper     j = 50.0 from the pin, b = 41.5 from the pivot
//     /  pivot  pin         outer     e = 55.8 from upper, d = 40.1 from the pivot    (triangle b d e: one body)
//  outer  d | c  / k        lower     k = 61.9 from the pin, c = 39.3 from the pivot
//   f \     | /             knee      f = 39.4 from outer, g = 36.7 from lower
//     knee-lower            foot      h = 65.7 from the knee, i = 49.0 from lower     (triangle g h i: one body)
//        \ g /
//       h \ / i
//         foot
//
// drawn for a rear leg (feet at x < 0); a front leg is its mirror image x -> -x on the same pin.
#pragma once

#include <array>
#include <numbers>

#include "sarrus/math/types.h"

namespace sarrus {

struct JansenLengths {
  double a = 38.0, b = 41.5, c = 39.3, d = 40.1, e = 55.8, f = 39.4, g = 36.7;
  double h = 65.7, i = 49.0, j = 50.0, k = 61.9, l = 7.8, m = 15.0;
};
inline constexpr JansenLengths kJansen;
inline constexpr double kJansenScale = 0.004;  // m per unit: the machine is about 0.86 m long

// The walker: leg pairs (rear and front) on four crank throws, in the order of y.
inline constexpr double kJansenFootRadius = 0.015;                        // m
inline constexpr double kJansenCrankSpeed = std::numbers::pi;             // rad/s, about +y: half a turn per s
inline constexpr double kJansenReferenceAngle = 45;                       // degrees, see jansen.cpp
inline constexpr std::array<double, 4> kJansenThrow = {0, 180, 90, 270};  // degrees
inline constexpr std::array<double, 4> kJansenThrowY = {-0.18, -0.06, 0.06, 0.18};  // m

enum class JansenSide : bool { rear, front };

// Points of a leg in the (x, z) plane relative to the crank's centre, m.
struct JansenLeg {
  Vec2 pin, pivot, upper, outer, lower, knee, foot;
};

// `crank_angle` [rad] of the pin from +x towards +z. A crank turning about +y has a falling crank angle; the
// feet on the ground then move towards -x and the machine walks towards +x.
JansenLeg jansen_leg(double crank_angle, JansenSide side = JansenSide::rear);

inline Vec2 jansen_foot(double crank_angle, JansenSide side = JansenSide::rear) {
  return jansen_leg(crank_angle, side).foot;
}

// Height of the crank's centre above the floor at which the lowest of the eight feet touches it, with the
// first throw at `crank_angle`, m.
double jansen_ride_height(double crank_angle);

}  // namespace sarrus
