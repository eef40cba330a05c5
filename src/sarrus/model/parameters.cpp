#include "sarrus/model/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus {
namespace {

// One number of a model, with its name in parts.
struct Slot {
  std::string_view kind;
  std::string element;
  std::string_view property;
  double* value = nullptr;  // null: inertia_scale
  Body* body = nullptr;     // whose inertia follows
  std::string alias = {};   // of the element

  std::string name() const {
    return element.empty() ? fmt::format("{}.{}", kind, property) : fmt::format("{}.{}.{}", kind, element, property);
  }
  double get() const { return value == nullptr ? 1.0 : *value; }
  void set(double x) const {
    if (body != nullptr) body->inertia_B *= value == nullptr ? x : x / *value;
    if (value != nullptr) *value = x;
  }
};

std::string joined(const std::string& a, const std::string& b) { return a + "," + b; }

template <class Law>
void add_law(std::string_view kind, const std::string& element, Law& law, std::vector<Slot>& out) {
  out.push_back({kind, element, "friction", &law.mu});
  out.push_back({kind, element, "restitution", &law.restitution});
}

void add_dof(const std::string& name, Dof& d, std::vector<Slot>& out) {
  const std::pair<std::string_view, double*> numbers[] = {
      {"stiffness", &d.stiffness},       {"rest", &d.rest},         {"damping", &d.damping},
      {"dry_friction", &d.dry_friction}, {"armature", &d.armature}, {"lower", &d.limit.lower},
      {"upper", &d.limit.upper}};
  for (const auto& [property, value] : numbers) out.push_back({"dof", name, property, value});
}

void add_drive(const std::string& name, Dof& d, std::vector<Slot>& out) {
  Drive& v = d.drive;
  if (v.mode == DriveMode::none) return;
  const std::pair<std::string_view, double*> numbers[] = {{"kp", &v.kp},
                                                          {"kd", &v.kd},
                                                          {"effort_limit", &v.effort_limit},
                                                          {"offset", &v.target.offset},
                                                          {"rate", &v.target.rate},
                                                          {"amplitude", &v.target.amplitude},
                                                          {"frequency", &v.target.frequency},
                                                          {"phase", &v.target.phase}};
  for (const auto& [property, value] : numbers) {
    out.push_back({"drive", v.name.empty() ? name : v.name, property, value, nullptr, v.name.empty() ? "" : name});
  }
}

// Of `data`, a copy of the data of `model`.
std::vector<Slot> slots_of(const Model& model, ModelData& data) {
  std::vector<Slot> out;
  out.push_back({"gravity", "", "x", &data.gravity.x()});
  out.push_back({"gravity", "", "y", &data.gravity.y()});
  out.push_back({"gravity", "", "z", &data.gravity.z()});
  for (Body& b : data.bodies) {
    out.push_back({"body", b.name, "mass", &b.mass, &b});
    out.push_back({"body", b.name, "inertia_scale", nullptr, &b});
    out.push_back({"body", b.name, "gravity_scale", &b.gravity_scale});
    out.push_back({"body", b.name, "linear_damping", &b.linear_damping});
    out.push_back({"body", b.name, "angular_damping", &b.angular_damping});
  }
  for (Material& m : data.materials) add_law("material", m.name, m, out);
  for (MaterialPair& p : data.material_pairs) {
    const auto& m = model.materials();
    add_law("material_pair", joined(m[static_cast<std::size_t>(p.a)].name, m[static_cast<std::size_t>(p.b)].name), p,
            out);
  }
  for (ContactPair& p : data.contact_pairs) {
    const auto& g = model.geoms();
    add_law("contact_pair", joined(g[static_cast<std::size_t>(p.a)].name, g[static_cast<std::size_t>(p.b)].name), p,
            out);
  }
  const auto dof_at = [&](int i) -> Dof& {
    const auto k = static_cast<std::size_t>(i);
    return model.is_combination(i) ? data.combinations[k - data.dofs.size()].law : data.dofs[k];
  };
  for (int i = 0; i < model.scalar_count(); ++i) add_dof(model.dof_name(i), dof_at(i), out);
  for (int i = 0; i < model.scalar_count(); ++i) add_drive(model.dof_name(i), dof_at(i), out);
  return out;
}

// The short name of the only coordinate of a joint, too: "crank" for "crank.angle".
bool is_called(const Slot& slot, std::string_view element, const Model& model) {
  if (element == slot.element || (!slot.alias.empty() && element == slot.alias)) return true;
  if (slot.kind != "dof" && slot.kind != "drive") return false;
  const std::string& full = slot.alias.empty() ? slot.element : slot.alias;
  if (full.size() <= element.size() + 1 || full.substr(0, element.size()) != element || full[element.size()] != '.') {
    return false;
  }
  return std::ranges::any_of(model.joints(), [&](const Joint& j) { return j.name == element && joint_dofs(j) == 1; });
}

std::vector<Slot> find(const Model& model, const std::vector<Slot>& slots, std::string_view name) {
  const std::size_t first = name.find('.'), last = name.rfind('.');
  std::vector<Slot> found;
  if (first != std::string_view::npos) {
    const std::string_view kind = name.substr(0, first), property = name.substr(last + 1);
    const std::string_view element = last > first ? name.substr(first + 1, last - first - 1) : std::string_view();
    for (const Slot& s : slots) {
      if (s.kind != kind || s.property != property) continue;
      if (element == "*" || is_called(s, element, model)) found.push_back(s);
    }
  }
  if (!found.empty()) return found;
  std::vector<std::string> known;
  for (const Slot& s : slots) known.push_back(s.name());
  const std::string near = nearest_name(name, known);
  throw InputError(fmt::format("parameter '{}'", name),
                   fmt::format("the model has none of this name{}; names are kind.name.property, for example "
                               "body.NAME.mass, material.NAME.friction, dof.NAME.damping, drive.NAME.kp",
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

}  // namespace

Model changed(const Model& model, std::span<const ParameterChange> changes) {
  ModelData data = model.data();
  const std::vector<Slot> slots = slots_of(model, data);
  for (const ParameterChange& c : changes) {
    for (const Slot& s : find(model, slots, c.parameter)) {
      const double value = c.factor ? c.value * s.get() : c.value;
      const bool positive = s.body != nullptr;
      if (std::isnan(value) || (positive && !(value > 0 && std::isfinite(value)))) {
        throw InputError(fmt::format("parameter '{}'", s.name()),
                         fmt::format("would be {}; give a {}", value, positive ? "finite number > 0" : "number"));
      }
      s.set(value);
    }
  }
  return finish_model(std::move(data));
}

double parameter(const Model& model, std::string_view name) {
  ModelData data = model.data();
  return find(model, slots_of(model, data), name).front().get();
}

std::vector<std::string> parameter_names(const Model& model) {
  ModelData data = model.data();
  std::vector<std::string> out;
  for (const Slot& s : slots_of(model, data)) out.push_back(s.name());
  return out;
}

}  // namespace sarrus
