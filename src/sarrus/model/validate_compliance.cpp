// Checks of compliance parameters; part of finish_model.
#include <fmt/format.h>

#include <cmath>

#include "sarrus/model/checks.h"

namespace sarrus {
namespace {

std::string parameter(std::string_view key) { return fmt::format("compliance {}", key); }

void require_above_zero(const std::string& element, std::string_view key, double x) {
  require_positive(element, parameter(key), x);
}

void require_at_least_zero(const std::string& element, std::string_view key, double x) {
  require_non_negative(element, parameter(key), x);
}

void check_mujoco(const std::string& element, const Compliance& c) {
  for (const auto& [key, d] : {std::pair("d0", c.d0), std::pair("dw", c.dw)}) {
    if (!(d >= 1e-4 && d <= 0.9999)) {
      throw InputError(element, fmt::format("{} is {}; give an impedance in [0.0001, 0.9999]", parameter(key), d));
    }
  }
  require_at_least_zero(element, "width", c.width);
  if (!(c.midpoint > 0 && c.midpoint < 1)) {
    throw InputError(element,
                     fmt::format("{} is {}; give a number between 0 and 1", parameter("midpoint"), c.midpoint));
  }
  if (!(c.power >= 1) || !std::isfinite(c.power)) {
    throw InputError(element, fmt::format("{} is {}; give a finite number >= 1", parameter("power"), c.power));
  }
  require_above_zero(element, "time_constant", c.time_constant);
  require_above_zero(element, "damping_ratio", c.damping_ratio);
  require_at_least_zero(element, "margin", c.margin);
}

void check_friction_damping(const std::string& element, const Compliance& c) {
  if (c.friction_damping != kUseDefault) require_above_zero(element, "friction_damping", c.friction_damping);
}

void check_spring_damper(const std::string& element, const Compliance& c) {
  require_at_least_zero(element, "stiffness", c.stiffness);
  require_at_least_zero(element, "damping", c.damping);
  if (!(c.stiffness + c.damping > 0)) {
    throw InputError(element, "compliance has neither stiffness nor damping; give one of them > 0");
  }
  check_friction_damping(element, c);
}

void check_hertz(const std::string& element, const Compliance& c, ComplianceUse use) {
  if (use != ComplianceUse::contact) {
    throw InputError(element, "compliance model hertz is a law of contacts; use spring_damper or physical here");
  }
  require_above_zero(element, "modulus", c.modulus);
  require_above_zero(element, "radius", c.radius);
  require_at_least_zero(element, "damping", c.damping);
  check_friction_damping(element, c);
}

}  // namespace

void check_compliance(const std::string& element, const Compliance& c, ComplianceUse use) {
  switch (c.model) {
    case ComplianceModel::rigid:
      return;
    case ComplianceModel::cfm_erp:
      require_above_zero(element, "cfm", c.cfm);
      if (!(c.erp >= 0 && c.erp <= 1)) {
        throw InputError(element, fmt::format("{} is {}; give a number in [0, 1]", parameter("erp"), c.erp));
      }
      break;
    case ComplianceModel::mujoco:
      check_mujoco(element, c);
      break;
    case ComplianceModel::physical:
      require_above_zero(element, "stiffness", c.stiffness);
      require_at_least_zero(element, "dissipation", c.dissipation);
      require_at_least_zero(element, "near_rigid", c.near_rigid);
      require_at_least_zero(element, "stiction", c.stiction);
      break;
    case ComplianceModel::spring_damper:
      check_spring_damper(element, c);
      break;
    case ComplianceModel::hertz:
      check_hertz(element, c, use);
      break;
  }
  require_above_zero(element, "length", c.length);
}

}  // namespace sarrus
