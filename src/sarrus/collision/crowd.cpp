#include "sarrus/collision/crowd.h"

#include <fmt/format.h>

#include "sarrus/math/error.h"

namespace sarrus {

std::string pair_text(const Model& model, int geom_a, int geom_b) {
  const auto name_of_body = [&](int geom) {
    const int body = model.geoms()[static_cast<std::size_t>(geom)].body;
    return body == kWorld ? std::string("the world")
                          : fmt::format("'{}'", model.bodies()[static_cast<std::size_t>(body)].name);
  };
  return fmt::format("{}{}shapes of {} and {}", model.source(), model.source().empty() ? "" : ": ",
                     name_of_body(geom_a), name_of_body(geom_b));
}

void Crowd::refuse_near(const Model& model, std::size_t pairs) {
  throw InputError(model.source().empty() ? "shapes" : fmt::format("{}: shapes", model.source()),
                   fmt::format("more than {} pairs of them are near each other; move the bodies apart, or let them not "
                               "collide (collides_with, excludes)",
                               pairs));
}

void Crowd::refuse(const Model& model, const Contact& c) const {
  throw InputError(
      pair_text(model, c.geom_a, c.geom_b),
      fmt::format("lie within each other by {:.3g} m, as do more than {} others of only {} shapes; move the bodies "
                  "apart, or let them not collide (collides_with, excludes)",
                  -c.gap, pairs_ - 1, shapes_));
}

}  // namespace sarrus
