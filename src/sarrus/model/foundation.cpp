#include "sarrus/model/foundation.h"

#include <fmt/format.h>

#include <algorithm>

#include "sarrus/model/checks.h"

namespace sarrus {
int add_foundation(ModelBuilder& builder, const std::string& name, int body, const Pose& X_BF, double half_x,
                   double half_y, const Foundation& f) {
  const std::string element = fmt::format("foundation '{}'", name);
  require_positive(element, "half_x", half_x);
  require_positive(element, "half_y", half_y);
  require_positive(element, "modulus", f.modulus);
  require_positive(element, "depth", f.depth);
  if (f.elements_x < 1 || f.elements_y < 1) {
    throw InputError(
        element, fmt::format("has {} x {} elements; give at least one in each direction", f.elements_x, f.elements_y));
  }
  const double side_x = 2 * half_x / f.elements_x;
  const double side_y = 2 * half_y / f.elements_y;
  Compliance spring = Compliance::soft_spring_damper(f.modulus * side_x * side_y / f.depth, f.damping);
  spring.friction_damping = f.friction_damping;
  const int material = builder.add_material(name, f.mu, 0, spring);
  const double radius = 0.5 * std::min(side_x, side_y);
  for (int i = 0; i < f.elements_x; ++i) {
    for (int j = 0; j < f.elements_y; ++j) {
      const Vec3 centre_F((i + 0.5) * side_x - half_x, (j + 0.5) * side_y - half_y, -radius);
      builder.add_geom(body, Shape::sphere(radius), {X_BF * centre_F, Quat::Identity()}, material,
                       fmt::format("{} {},{}", name, i, j));
    }
  }
  return material;
}

}  // namespace sarrus
