// Sizes that every builder of shapes accepts.
#pragma once

#include <span>
#include <string>

#include "sarrus/math/types.h"

namespace sarrus {

// Beyond this distance from the shape's origin, double precision leaves less than 1e-10 m for contact gaps.
inline constexpr double kMaxShapeCoordinate = 1e6;  // m
// Smaller shapes are always a mistaken unit; contact tolerances relative to them would drown in round-off.
inline constexpr double kMinShapeSize = 1e-9;  // m

// Throws InputError(element, ...) at the first point that is not finite or beyond the limit.
void check_coordinates(std::span<const Vec3> points, const std::string& element);

}  // namespace sarrus
