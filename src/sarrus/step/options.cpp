// Names and validation of SimulationOptions.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/step/simulation.h"

namespace sarrus {

std::string_view name(StepStatus status) {
  constexpr std::array<std::string_view, 5> names = {"converged", "accepted", "fallback", "substepped", "failed"};
  return names[static_cast<std::size_t>(status)];
}

void validate(const SimulationOptions& o) {
  const auto positive = [](std::string_view what, double x) {
    if (!(x > 0) || !std::isfinite(x)) {
      throw InputError(fmt::format("option '{}'", what), fmt::format("is {}; give a finite number > 0", x));
    }
  };
  const auto not_negative = [](std::string_view what, double x) {
    if (!(x >= 0) || !std::isfinite(x)) {
      throw InputError(fmt::format("option '{}'", what), fmt::format("is {}; give a finite number >= 0", x));
    }
  };
  const auto fraction = [](std::string_view what, double x) {
    if (!(x >= 0 && x <= 1)) {
      throw InputError(fmt::format("option '{}'", what), fmt::format("is {}; give a number in [0, 1]", x));
    }
  };
  positive("dt", o.dt);
  positive("tolerance", o.tolerance);
  positive("acceptable", o.acceptable);
  if (o.acceptable < o.tolerance) {
    throw InputError("option 'acceptable'",
                     fmt::format("is {}, below tolerance {}; give a larger one", o.acceptable, o.tolerance));
  }
  fraction("erp_joint", o.erp_joint);
  fraction("erp_limit", o.erp_limit);
  fraction("erp_contact", o.erp_contact);
  not_negative("restitution_threshold", o.restitution_threshold);
  not_negative("limit_margin", o.limit_margin);
  not_negative("collision.margin", o.collision.margin);
  not_negative("collision.speculative_factor", o.collision.speculative_factor);
  positive("projection_tolerance", o.projection_tolerance);
  positive("acceptable_gap", o.acceptable_gap);
  if (!std::isfinite(o.contact_slop)) throw InputError("option 'contact_slop'", "is not finite; give a number");
  if (o.max_substep_depth < 0 || o.max_substep_depth > 10) {
    throw InputError("option 'max_substep_depth'", fmt::format("is {}; give 0 to 10", o.max_substep_depth));
  }
  if (o.projection_iterations < 1) {
    throw InputError("option 'projection_iterations'", fmt::format("is {}; give at least 1", o.projection_iterations));
  }
}

}  // namespace sarrus
