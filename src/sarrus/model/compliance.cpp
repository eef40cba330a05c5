#include "sarrus/model/compliance.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sarrus {
namespace {

// Two elements in series where each is a spring with a damper beside it: the total has the stiffness k and the mean of
// the relaxation times B/K, weighted so that the softer element counts more. Written without divisions by one
// stiffness, so that a pure damper (K = 0) is allowed.
double series(double a, double b) { return a + b > 0 ? a * b / (a + b) : 0.0; }

double series_damping(const Compliance& a, const Compliance& b) {
  const double sum = a.stiffness + b.stiffness;
  if (!(sum > 0)) return series(a.damping, b.damping);
  return (b.stiffness * b.stiffness * a.damping + a.stiffness * a.stiffness * b.damping) / (sum * sum);
}

double softer_friction(double a, double b) {
  if (a == kUseDefault) return b;
  return b == kUseDefault ? a : std::min(a, b);
}

// Which of two different models counts: the larger number (docs/compliance.md).
int precedence(ComplianceModel model) {
  constexpr std::array<int, kComplianceModelCount> rank = {0, 1, 2, 4, 3, 5};  // in the order of the enumeration
  return rank[static_cast<std::size_t>(model)];
}

Compliance combine_physical(const Compliance& a, const Compliance& b) {
  Compliance c = a;
  c.stiffness = series(a.stiffness, b.stiffness);
  c.dissipation = (b.stiffness * a.dissipation + a.stiffness * b.dissipation) / (a.stiffness + b.stiffness);
  c.near_rigid = std::max(a.near_rigid, b.near_rigid);
  c.stiction = std::max(a.stiction, b.stiction);
  return c;
}

Compliance combine_mujoco(const Compliance& a, const Compliance& b) {
  Compliance c = a;
  const auto mean = [&](double Compliance::*parameter) { c.*parameter = 0.5 * (a.*parameter + b.*parameter); };
  for (const auto parameter : {&Compliance::d0, &Compliance::dw, &Compliance::width, &Compliance::midpoint,
                               &Compliance::power, &Compliance::time_constant, &Compliance::damping_ratio}) {
    mean(parameter);
  }
  c.margin = std::max(a.margin, b.margin);
  return c;
}

Compliance combine_hertz(const Compliance& a, const Compliance& b) {
  Compliance c = a;
  c.modulus = series(a.modulus, b.modulus);
  c.radius = series(a.radius, b.radius);
  c.damping = series(a.damping, b.damping);
  c.friction_damping = softer_friction(a.friction_damping, b.friction_damping);
  c.unit_factor = a.unit_factor && b.unit_factor;
  return c;
}

Compliance combine_spring_damper(const Compliance& a, const Compliance& b) {
  Compliance c = a;
  c.stiffness = series(a.stiffness, b.stiffness);
  c.damping = series_damping(a, b);
  c.friction_damping = softer_friction(a.friction_damping, b.friction_damping);
  return c;
}

}  // namespace

std::string_view name_of(ComplianceModel model) {
  constexpr std::array<std::string_view, kComplianceModelCount> names = {"rigid",    "cfm_erp",       "mujoco",
                                                                         "physical", "spring_damper", "hertz"};
  return names[static_cast<std::size_t>(model)];
}

double Compliance::hertz_stiffness() const { return (unit_factor ? 1.0 : 4.0 / 3.0) * modulus * std::sqrt(radius); }

Compliance Compliance::soft_cfm_erp(double cfm, double erp) {
  Compliance c;
  c.model = ComplianceModel::cfm_erp;
  c.cfm = cfm;
  c.erp = erp;
  return c;
}

Compliance Compliance::soft_mujoco(double time_constant, double damping_ratio) {
  Compliance c;
  c.model = ComplianceModel::mujoco;
  c.time_constant = time_constant;
  c.damping_ratio = damping_ratio;
  return c;
}

Compliance Compliance::soft_physical(double stiffness, double dissipation) {
  Compliance c;
  c.model = ComplianceModel::physical;
  c.stiffness = stiffness;
  c.dissipation = dissipation;
  return c;
}

Compliance Compliance::soft_spring_damper(double stiffness, double damping) {
  Compliance c;
  c.model = ComplianceModel::spring_damper;
  c.stiffness = stiffness;
  c.damping = damping;
  return c;
}

Compliance Compliance::soft_hertz(double modulus, double radius, double damping) {
  Compliance c;
  c.model = ComplianceModel::hertz;
  c.modulus = modulus;
  c.radius = radius;
  c.damping = damping;
  return c;
}

Compliance Compliance::mlcp_bilateral() { return soft_spring_damper(1e10, 1e8); }

Compliance Compliance::mlcp_unilateral() {
  Compliance c = soft_spring_damper(1e5, 1e4);
  c.friction_damping = c.damping;
  return c;
}

Compliance combine_compliances(const Compliance& a, const Compliance& b) {
  if (a.model != b.model) return precedence(a.model) > precedence(b.model) ? a : b;
  switch (a.model) {
    case ComplianceModel::rigid:
      break;
    case ComplianceModel::cfm_erp:
      return Compliance::soft_cfm_erp(a.cfm + b.cfm, std::min(a.erp, b.erp));
    case ComplianceModel::mujoco:
      return combine_mujoco(a, b);
    case ComplianceModel::physical:
      return combine_physical(a, b);
    case ComplianceModel::spring_damper:
      return combine_spring_damper(a, b);
    case ComplianceModel::hertz:
      return combine_hertz(a, b);
  }
  return a;
}

}  // namespace sarrus
