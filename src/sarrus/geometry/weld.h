// Joining of points that coincide up to round-off.
#pragma once

#include <span>
#include <vector>

#include "sarrus/math/types.h"

namespace sarrus {

// For each point the index of its representative: the first earlier representative found within `distance` >= 0,
// else itself. Representatives are more than `distance` apart. Points with `used` false are left alone.
std::vector<int> weld_points(std::span<const Vec3> points, const std::vector<bool>& used, const Vec3& corner,
                             double distance);

}  // namespace sarrus
