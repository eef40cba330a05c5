#include "sarrus/geometry/limits.h"

#include <fmt/format.h>

#include "sarrus/math/error.h"

namespace sarrus {

void check_coordinates(std::span<const Vec3> points, const std::string& element) {
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Vec3& x = points[k];
    if ((x.array().abs() <= kMaxShapeCoordinate).all()) continue;
    if (!x.allFinite()) {
      throw InputError(element,
                       fmt::format("point {} is ({}, {}, {}); give finite coordinates", k, x.x(), x.y(), x.z()));
    }
    throw InputError(
        element, fmt::format("point {} is ({}, {}, {}), beyond {} m; check the unit of length or move the origin", k,
                             x.x(), x.y(), x.z(), kMaxShapeCoordinate));
  }
}

}  // namespace sarrus
