#include "sarrus/step/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/math/error.h"

namespace sarrus {
namespace {

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
  fraction("erp_joint", o.rows.erp_joint);
  fraction("erp_limit", o.rows.erp_limit);
  fraction("erp_contact", o.rows.erp_contact);
  not_negative("restitution_threshold", o.rows.restitution_threshold);
  not_negative("limit_margin", o.rows.limit_margin);
  not_negative("collision.margin", o.collision.margin);
  not_negative("collision.speculative_factor", o.collision.speculative_factor);
  positive("projection_tolerance", o.projection_tolerance);
  positive("acceptable_gap", o.acceptable_gap);
  fraction("contact_compliance", o.rows.contact_compliance);
  positive("contact_give", o.rows.contact_give);
  if (o.rows.contact_slop != kUseDefault) not_negative("contact_slop", o.rows.contact_slop);
  if (o.rows.push_out_speed != kUseDefault) not_negative("push_out_speed", o.rows.push_out_speed);
  if (o.budget < 1) throw InputError("option 'budget'", fmt::format("is {}; give at least 1", o.budget));
  not_negative("max_step_time", o.max_step_time);
  if (o.max_substep_depth < 0 || o.max_substep_depth > 10) {
    throw InputError("option 'max_substep_depth'", fmt::format("is {}; give 0 to 10", o.max_substep_depth));
  }
  if (o.threads < 1 || o.threads > 1024) {
    throw InputError("option 'threads'", fmt::format("is {}; give 1 to 1024", o.threads));
  }
  if (o.projection_iterations < 1) {
    throw InputError("option 'projection_iterations'", fmt::format("is {}; give at least 1", o.projection_iterations));
  }
}

}  // namespace

RestitutionLaw restitution_law_from_name(std::string_view name) {
  if (name == "simultaneous") return RestitutionLaw::simultaneous;
  if (name == "sequential") return RestitutionLaw::sequential;
  throw InputError(fmt::format("restitution law '{}'", name), "is unknown; known are simultaneous, sequential");
}

SimulationOptions complete_options(SimulationOptions o, const Model& model) {
  if (o.dt == 0) o.dt = model.defaults().dt;
  if (!o.integrator) o.integrator = recommended_integrator(model);
  if (o.fallback == SimulationOptions{}.fallback && o.fallback_parameters.empty()) {
    o.fallback_parameters = {{"max_iterations", 10.0 * std::max(1, o.budget)}};
  }
  const RunDefaults& scene = model.defaults();
  const auto choose = [](double& option, double recommended) {
    if (option == kUseDefault) option = recommended;
  };
  choose(o.rows.erp_joint, scene.erp_joint);
  choose(o.rows.erp_limit, scene.erp_limit);
  choose(o.rows.erp_contact, scene.erp_contact);
  choose(o.rows.contact_slop, scene.contact_slop);
  choose(o.rows.push_out_speed, scene.push_out_speed);
  if (!o.rows.restitution) o.rows.restitution = scene.restitution;
  validate(o);
  if (o.rows.restitution_threshold == 0) o.rows.restitution_threshold = 2 * model.largest_gravity() * o.dt;
  return o;
}

}  // namespace sarrus
