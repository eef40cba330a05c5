#include "sarrus/model/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus {

double Signal::value(double t) const {
  return offset + rate * t + amplitude * std::sin(2.0 * std::numbers::pi * frequency * t + phase);
}

double Signal::derivative(double t) const {
  const double w = 2.0 * std::numbers::pi * frequency;
  return rate + amplitude * w * std::cos(w * t + phase);
}

namespace {

constexpr std::array<JointTypeInfo, kJointTypeCount> kJointInfo = {{
    {JointType::free, "free", 0, 0, false, {"", "", ""}, {false, false, false}},
    {JointType::fixed, "fixed", 6, 0, false, {"", "", ""}, {false, false, false}},
    {JointType::revolute, "revolute", 5, 1, true, {"angle", "", ""}, {true, false, false}},
    {JointType::prismatic, "prismatic", 5, 1, true, {"position", "", ""}, {false, false, false}},
    {JointType::cylindrical, "cylindrical", 4, 2, true, {"position", "angle", ""}, {false, true, false}},
    {JointType::universal, "universal", 4, 2, true, {"alpha", "beta", ""}, {true, true, false}},
    {JointType::spherical, "spherical", 3, 3, false, {"wx", "wy", "wz"}, {true, true, true}},
    {JointType::gimbal, "gimbal", 3, 3, true, {"alpha", "beta", "gamma"}, {true, true, true}},
    {JointType::planar, "planar", 3, 3, true, {"x", "y", "angle"}, {false, false, true}},
    {JointType::cartesian, "cartesian", 3, 3, true, {"x", "y", "z"}, {false, false, false}},
    {JointType::distance, "distance", 1, 0, false, {"", "", ""}, {false, false, false}},
}};

template <class Elements>
int find_named(const Elements& elements, std::string_view kind, std::string_view name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].name == name) return static_cast<int>(i);
    known.push_back(elements[i].name);
  }
  const std::string near = nearest_name(name, known);
  throw InputError(fmt::format("{} '{}'", kind, name),
                   near.empty() ? fmt::format("no {} has this name", kind)
                                : fmt::format("no {} has this name; did you mean '{}'?", kind, near));
}

}  // namespace

const JointTypeInfo& joint_type_info(JointType type) { return kJointInfo[static_cast<std::size_t>(type)]; }

JointType joint_type_from_name(std::string_view name) {
  std::vector<std::string> known;
  for (const JointTypeInfo& i : kJointInfo) {
    if (i.name == name) return i.type;
    known.emplace_back(i.name);
  }
  const std::string near = nearest_name(name, known);
  throw InputError("", fmt::format("unknown joint type '{}'; {}", name,
                                   near.empty() ? fmt::format("use one of {}", fmt::join(known, ", "))
                                                : fmt::format("did you mean '{}'?", near)));
}

std::string_view name_of(Ccd ccd) {
  constexpr std::array<std::string_view, 3> names = {"off", "speculative", "cast"};
  return names[static_cast<std::size_t>(ccd)];
}

int Model::body(std::string_view name) const { return find_named(d_->bodies, "body", name); }
int Model::joint(std::string_view name) const { return find_named(d_->joints, "joint", name); }

int Model::dof(std::string_view name) const {
  for (const Joint& j : d_->joints) {
    const JointTypeInfo& type = joint_type_info(j.type);
    if (type.dofs == 1 && name == j.name) return j.first_dof;
    if (name.size() <= j.name.size() || name.substr(0, j.name.size()) != j.name || name[j.name.size()] != '.') continue;
    for (int k = 0; k < type.dofs; ++k) {
      if (name.substr(j.name.size() + 1) == type.dof_name[k]) return j.first_dof + k;
    }
  }
  std::vector<std::string> known;
  for (int i = 0; i < dof_count(); ++i) known.push_back(dof_name(i));
  const std::string near = nearest_name(name, known);
  throw InputError(fmt::format("coordinate '{}'", name),
                   near.empty() ? std::string("no joint coordinate has this name; write joint.coordinate")
                                : fmt::format("no joint coordinate has this name; did you mean '{}'?", near));
}

std::string Model::dof_name(int dof) const {
  const Joint& j = d_->joints[static_cast<std::size_t>(joint_of_dof(dof))];
  return fmt::format("{}.{}", j.name, joint_type_info(j.type).dof_name[dof - j.first_dof]);
}

}  // namespace sarrus
