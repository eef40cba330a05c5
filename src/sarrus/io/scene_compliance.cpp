#include "sarrus/io/scene_compliance.h"

#include <string>
#include <vector>

namespace sarrus::scene {
namespace {

// Calls f(key, parameter, required) for the numbers of a model: the one list of keys for reading and writing.
template <class F>
void for_each_number(ComplianceModel model, F f) {
  using C = Compliance;
  switch (model) {
    case ComplianceModel::rigid:
      return;
    case ComplianceModel::cfm_erp:
      f("cfm", &C::cfm, false);
      f("erp", &C::erp, false);
      break;
    case ComplianceModel::mujoco:
      f("d0", &C::d0, false);
      f("dw", &C::dw, false);
      f("width", &C::width, false);
      f("midpoint", &C::midpoint, false);
      f("power", &C::power, false);
      f("time_constant", &C::time_constant, false);
      f("damping_ratio", &C::damping_ratio, false);
      f("margin", &C::margin, false);
      return;
    case ComplianceModel::physical:
      f("stiffness", &C::stiffness, true);
      f("dissipation", &C::dissipation, false);
      f("near_rigid", &C::near_rigid, false);
      f("stiction", &C::stiction, false);
      break;
    case ComplianceModel::spring_damper:
      f("stiffness", &C::stiffness, true);
      f("damping", &C::damping, false);
      f("friction_damping", &C::friction_damping, false);
      break;
    case ComplianceModel::hertz:
      f("modulus", &C::modulus, true);
      f("radius", &C::radius, true);
      f("damping", &C::damping, false);
      f("friction_damping", &C::friction_damping, false);
      return;
  }
  f("length", &C::length, false);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  names.reserve(kComplianceModelCount);
  for (int i = 0; i < kComplianceModelCount; ++i) names.emplace_back(name(static_cast<ComplianceModel>(i)));
  return names;
}

}  // namespace

Compliance read_compliance(ObjectReader& owner, const Compliance& fallback) {
  if (!owner.has("compliance")) return fallback;
  ObjectReader r = owner.object("compliance");
  Compliance c;
  c.model = static_cast<ComplianceModel>(r.choice("model", model_names()));
  for_each_number(c.model, [&](const char* key, double Compliance::*parameter, bool required) {
    c.*parameter = required ? r.number(key) : r.number(key, c.*parameter);
  });
  if (c.model == ComplianceModel::hertz) c.unit_factor = r.flag("unit_factor", false);
  r.finish();
  return c;
}

OrderedJson compliance_json(const Compliance& c) {
  OrderedJson out;
  out["model"] = std::string(name(c.model));
  for_each_number(c.model, [&](const char* key, double Compliance::*parameter, bool) {
    // There is no number for "default" in a file: the key is left out.
    if (c.*parameter != kUseDefault) out[key] = c.*parameter;
  });
  if (c.unit_factor && c.model == ComplianceModel::hertz) out["unit_factor"] = true;
  return out;
}

}  // namespace sarrus::scene
