#include "sarrus/model/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"

namespace sarrus {

namespace {

double slope_between(const TablePoint& a, const TablePoint& b) { return (b.value - a.value) / (b.time - a.time); }

// The slope of a cubic table at a point: the weighted harmonic mean of the slopes beside it, 0 at extrema and ends.
double cubic_slope(const std::vector<TablePoint>& table, std::size_t i) {
  if (i == 0 || i + 1 == table.size()) return 0;
  const double before = slope_between(table[i - 1], table[i]);
  const double after = slope_between(table[i], table[i + 1]);
  if (!(before * after > 0)) return 0;
  const double h_before = table[i].time - table[i - 1].time;
  const double h_after = table[i + 1].time - table[i].time;
  const double w_before = h_before + 2 * h_after;
  const double w_after = 2 * h_before + h_after;
  return (w_before + w_after) / (w_before / before + w_after / after);
}

struct TableSample {
  double value = 0;
  double rate = 0;
};

TableSample sample_table(const Signal& s, double t) {
  const std::vector<TablePoint>& table = s.table;
  if (table.empty()) return {};
  if (t < table.front().time) return {table.front().value, 0};
  if (t >= table.back().time) return {table.back().value, 0};
  const auto next =
      std::upper_bound(table.begin(), table.end(), t, [](double time, const TablePoint& p) { return time < p.time; });
  const TablePoint& b = *next;
  const TablePoint& a = *(next - 1);
  const double slope = slope_between(a, b);
  if (s.interpolation == Interpolation::linear) return {a.value + slope * (t - a.time), slope};
  const auto i = static_cast<std::size_t>(next - table.begin());
  const double h = b.time - a.time;
  const double x = (t - a.time) / h;
  const double slope_a = cubic_slope(table, i - 1);
  const double slope_b = cubic_slope(table, i);
  // The Hermite polynomial as a.value + h x (slope_a + x (c2 + c3 x)).
  const double c2 = 3 * slope - 2 * slope_a - slope_b;
  const double c3 = slope_a + slope_b - 2 * slope;
  return {a.value + h * x * (slope_a + x * (c2 + x * c3)), slope_a + x * (2 * c2 + 3 * c3 * x)};
}

}  // namespace

std::string_view name_of(Interpolation interpolation) {
  return interpolation == Interpolation::linear ? "linear" : "cubic";
}

double Signal::value(double t) const {
  return offset + rate * t + amplitude * std::sin(2.0 * std::numbers::pi * frequency * t + phase) +
         sample_table(*this, t).value;
}

double Signal::derivative(double t) const {
  const double w = 2.0 * std::numbers::pi * frequency;
  return rate + amplitude * w * std::cos(w * t + phase) + sample_table(*this, t).rate;
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
    {JointType::serial, "serial", 0, 0, true, {"", "", ""}, {false, false, false}},
}};

std::string no_such(std::string_view kind, const std::string& near) {
  return near.empty() ? fmt::format("no {} has this name", kind)
                      : fmt::format("no {} has this name; did you mean '{}'?", kind, near);
}

template <class Elements>
int find_named(const Elements& elements, std::string_view kind, std::string_view name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].name == name) return static_cast<int>(i);
    known.push_back(elements[i].name);
  }
  throw InputError(fmt::format("{} '{}'", kind, name), no_such(kind, nearest_name(name, known)));
}

}  // namespace

const JointTypeInfo& joint_type_info(JointType type) { return kJointInfo[static_cast<std::size_t>(type)]; }

int joint_rows(const Joint& joint) {
  return joint.type == JointType::serial ? 6 - joint_dofs(joint) : joint_type_info(joint.type).rows;
}

int joint_dofs(const Joint& joint) {
  return joint.type == JointType::serial ? static_cast<int>(joint.axes.size()) : joint_type_info(joint.type).dofs;
}

bool coordinate_is_angular(const Joint& joint, int k) {
  return joint.type == JointType::serial ? joint.axes[static_cast<std::size_t>(k)].angular
                                         : joint_type_info(joint.type).angular[k];
}

std::string_view coordinate_name(const Joint& joint, int k) {
  if (joint.type != JointType::serial) return joint_type_info(joint.type).dof_name[k];
  constexpr std::array<std::string_view, kMaxJointDofs> usual = {"q1", "q2", "q3", "q4", "q5"};
  const std::string& name = joint.axes[static_cast<std::size_t>(k)].name;
  return name.empty() ? usual[static_cast<std::size_t>(k)] : std::string_view(name);
}

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

void Model::measure_joints(Frozen& f) {
  constexpr double kLeast = 1e-6;  // of the larger body: what is smaller is within its round-off
  const ModelData& data = f.data;
  std::vector<double> arm(data.bodies.size(), 0.0);
  const auto reach_to = [&arm](int body, const Vec3& p) {
    if (body == kWorld) return;
    double& most = arm[static_cast<std::size_t>(body)];
    most = std::max(most, p.norm());
  };
  for (const Joint& j : data.joints) {
    reach_to(j.base, j.p_BJ);
    reach_to(j.follower, j.p_FJ);
  }
  const auto size_of = [&](int body) {
    const Body& b = data.bodies[static_cast<std::size_t>(body)];
    return std::hypot(arm[static_cast<std::size_t>(body)], std::sqrt(0.5 * b.inertia_B.trace() / b.mass));
  };
  for (const Joint& j : data.joints) {
    const double follower = j.follower == kWorld ? size_of(j.base) : size_of(j.follower);
    const double base = j.base == kWorld ? follower : size_of(j.base);
    f.joint_size.push_back(std::max(std::min(base, follower), kLeast * std::max(base, follower)));
  }
  for (std::size_t i = 0; i < data.dofs.size(); ++i) {
    const auto joint = static_cast<std::size_t>(f.joint_of_dof[i]);
    const Joint& j = data.joints[joint];
    f.reach.push_back(coordinate_is_angular(j, static_cast<int>(i) - j.first_dof) ? f.joint_size[joint] : 1.0);
  }
  for (const Combination& c : data.combinations) {
    double least = kInf;
    for (const CombinationTerm& t : c.terms) {
      least = std::min(least, f.reach[static_cast<std::size_t>(t.dof)] / std::abs(t.coefficient));
    }
    f.reach.push_back(least);
  }
}

int Model::body(std::string_view name) const { return find_named(d_->data.bodies, "body", name); }
int Model::joint(std::string_view name) const { return find_named(d_->data.joints, "joint", name); }
int Model::frame(std::string_view name) const { return find_named(d_->data.frames, "frame", name); }

int Model::drive(std::string_view name) const {
  std::vector<std::string> known;
  for (int i = 0; i < scalar_count(); ++i) {
    const std::string& drive = scalars()[static_cast<std::size_t>(i)].drive.name;
    if (drive.empty()) continue;
    if (drive == name) return i;
    known.push_back(drive);
  }
  throw InputError(fmt::format("drive '{}'", name), no_such("drive", nearest_name(name, known)));
}

int Model::combination(std::string_view name) const {
  return dof_count() + find_named(d_->data.combinations, "combination", name);
}

int Model::dof(std::string_view name) const {
  for (const Joint& j : d_->data.joints) {
    if (joint_dofs(j) == 1 && name == j.name) return j.first_dof;
    if (name.size() <= j.name.size() || name.substr(0, j.name.size()) != j.name || name[j.name.size()] != '.') continue;
    for (int k = 0; k < joint_dofs(j); ++k) {
      if (name.substr(j.name.size() + 1) == coordinate_name(j, k)) return j.first_dof + k;
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
  if (is_combination(dof)) return combination_of(dof).name;
  const Joint& j = d_->data.joints[static_cast<std::size_t>(joint_of_dof(dof))];
  return fmt::format("{}.{}", j.name, coordinate_name(j, dof - j.first_dof));
}

}  // namespace sarrus
