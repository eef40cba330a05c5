#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/scene_files/scene_loader.h"
#include "sarrus/scene_files/scene_values.h"

namespace sarrus::scene {
namespace {

constexpr std::string_view kDofKeys[] = {"limit",   "drive",        "armature", "spring",
                                         "damping", "dry_friction", "wrapped",  "initial"};

// Joints with a distinguished axis: the x axis of the joint frame, the normal z for planar ones.
bool has_axis(JointType type) {
  return type == JointType::revolute || type == JointType::prismatic || type == JointType::cylindrical ||
         type == JointType::planar;
}

std::vector<std::string> joint_type_names() {
  std::vector<std::string> names;
  names.reserve(kJointTypeCount);
  for (int i = 0; i < kJointTypeCount; ++i) names.emplace_back(joint_type_info(static_cast<JointType>(i)).name);
  return names;
}

std::vector<std::string> coordinate_names(const JointTypeInfo& type) {
  return {type.dof_name, type.dof_name + type.dofs};
}

// A unit vector that keeps its bits if it is one: saved files load exactly.
Vec3 read_axis(ObjectReader& r) {
  const Vec3 axis = r.vec3("axis");
  return std::abs(axis.squaredNorm() - 1) <= 4e-15 ? axis : read_direction(r, "axis");
}

}  // namespace

void SceneLoader::read_joint(ObjectReader r) {
  Joint j;
  j.name = read_name(r, "joint", "hinge", joints_, data().joints.size());
  j.type = static_cast<JointType>(r.choice("type", joint_type_names()));
  j.base = resolve_body(r, "base", r.text("base", "world"));
  j.follower = resolve_body(r, "follower", r.text("follower", "rod"));
  j.erp = r.number("erp", defaults_.erp);
  j.compliance = read_compliance(r);
  if (j.type == JointType::distance) {
    j.rope = r.flag("rope", false);
  } else {
    r.reject("length", "belongs to distance joints; remove it or change the type");
    r.reject("rope", "belongs to distance joints; remove it or change the type");
  }
  if (j.type != JointType::spherical) {
    r.reject("swing_limit", "belongs to spherical joints; use coordinate limits here");
  } else if (r.has("swing_limit")) {
    j.swing_limit = r.positive("swing_limit") * angle_unit_;
  }
  read_anchors(r, j);
  if (j.type == JointType::serial) {
    const std::vector<Dof> dofs = read_sequence(r, j);
    const int joint = builder_.add_joint(std::move(j));
    for (std::size_t k = 0; k < dofs.size(); ++k) builder_.dof(joint, static_cast<int>(k)) = dofs[k];
  } else {
    r.reject("sequence", "belongs to serial joints; remove it or change the type");
    read_dofs(r, builder_.add_joint(std::move(j)));
  }
  r.finish();
}

// Points and directions are in the world if the joint is, else in its frame.
std::vector<Dof> SceneLoader::read_sequence(ObjectReader& r, Joint& j) {
  for (const std::string_view key : kDofKeys) r.reject(key, "belongs to one axis; move it into the sequence");
  r.reject("coordinates", "is not for serial joints; give the keys of a coordinate in the sequence");
  if (!r.has("sequence")) {
    r.fail_missing({"sequence"},
                   "a serial joint needs its axes; add \"sequence\": [{\"type\": \"revolute\", \"at\": "
                   "[0, 0, 1], \"axis\": [0, 1, 0]}, ...]");
  }
  const std::size_t count = r.array("sequence").size();
  if (count < 2 || count > kMaxJointDofs) {
    r.fail(fmt::format("its sequence has {} axes; give 2 to {}", count, kMaxJointDofs));
  }
  const bool world = r.has("at");
  const Pose X_JW = (reference_pose(j.base) * Pose{j.p_BJ, j.q_BJ}).inverse();
  std::vector<Dof> dofs;
  r.each("sequence", "axis", fmt::format(" of {}", r.element()), [&](ObjectReader a, std::size_t) {
    SerialAxis axis;
    axis.name = a.text_or("name", "");
    axis.angular = a.choice("type", {"revolute", "prismatic"}) == 0;
    axis.p_J = axis.angular ? a.vec3("at") : a.vec3("at", Vec3::Zero());
    axis.axis_J = read_axis(a);
    if (world) {
      if (a.has("at")) axis.p_J = X_JW * axis.p_J;
      axis.axis_J = X_JW.q * axis.axis_J;
    }
    axis.reference = a.number("reference", 0) * (axis.angular ? angle_unit_ : 1.0);
    Dof dof = defaults_.dof;
    read_dof(a, axis.angular, dof);
    a.finish();
    dofs.push_back(dof);
    j.axes.push_back(std::move(axis));
  });
  return dofs;
}

void SceneLoader::reject_misplaced_anchors(ObjectReader& r, const Joint& j) {
  const bool distance = j.type == JointType::distance;
  if (distance) {
    r.reject("at", "is not for distance joints; use base_at and follower_at");
  } else {
    for (const std::string_view key : {"base_at", "follower_at"}) {
      r.reject(key, "belongs to distance joints; use \"at\": [x, y, z]");
    }
  }
  if (!distance && r.has("at")) return;
  for (const std::string_view key : {"axis", "axes", "euler_xyz", "x_axis", "y_axis", "z_axis"}) {
    r.reject(key, distance ? "has no meaning for a distance joint; remove it"
                           : "goes with \"at\"; add it, or give q in base_frame and follower_frame instead");
  }
}

void SceneLoader::read_anchors(ObjectReader& r, Joint& j) {
  reject_misplaced_anchors(r, j);
  const bool distance = j.type == JointType::distance;
  const bool world = distance ? r.has("base_at") || r.has("follower_at") : r.has("at");
  const bool base = r.has("base_frame");
  const bool follower = r.has("follower_frame");
  const std::string_view world_keys = distance ? "base_at and follower_at" : "at";
  if (world && (base || follower)) {
    r.fail(fmt::format("has both world and local anchors; keep {} or the two frames", world_keys));
  }
  if (base != follower) {
    r.fail(fmt::format("has only one of base_frame and follower_frame; add the other, or use {}", world_keys));
  }
  if (world && distance) {
    const Vec3 base_W = r.vec3("base_at");
    builder_.anchor_at(j, base_W, r.vec3("follower_at"));
  } else if (world) {
    const Vec3 anchor_W = r.vec3("at");
    builder_.anchor_at(j, anchor_W, read_joint_axes(r, j));
  } else if (base) {
    const Pose X_BJ = read_frame(r.object("base_frame"), angle_unit_);
    const Pose X_FJ = read_frame(r.object("follower_frame"), angle_unit_);
    j.p_BJ = in_body(j.base, X_BJ.p);
    j.q_BJ = X_BJ.q;
    j.p_FJ = in_body(j.follower, X_FJ.p);
    j.q_FJ = X_FJ.q;
  } else if (j.type != JointType::free) {
    r.fail_missing({"base_at", "follower_at", "base_frame", "follower_frame"},
                   fmt::format("has no anchor; add {}, or base_frame and follower_frame", world_keys));
  }
  if (distance) {
    const double now = (reference_pose(j.follower) * j.p_FJ - reference_pose(j.base) * j.p_BJ).norm();
    j.length = r.has("length") ? r.positive("length") : now;
  }
}

Quat SceneLoader::read_joint_axes(ObjectReader& r, const Joint& j) {
  const std::optional<Quat> axes = read_orientation(r, "axes", angle_unit_);
  if (!has_axis(j.type)) {
    r.reject("axis", "belongs to revolute, prismatic, cylindrical and planar joints; use x_axis, y_axis or z_axis");
    return axes.value_or(Quat::Identity());
  }
  if (r.has("axis")) {
    if (axes) r.fail("gives its axes twice; keep axis or the other keys");
    const Vec3 axis = read_direction(r, "axis");
    return j.type == JointType::planar ? frame_with_z(axis) : frame_with_x(axis);
  }
  if (!axes) {
    r.fail_missing({"axis"}, fmt::format("a {} joint needs its axis; add for example \"axis\": [0, 0, 1]",
                                         joint_type_info(j.type).name));
  }
  return *axes;
}

void SceneLoader::read_dofs(ObjectReader& r, int joint) {
  const JointTypeInfo& type = joint_type_info(builder_.joint(joint).type);
  const auto dof = [&](int k) -> Dof& { return builder_.dof(joint, k); };
  for (int k = 0; k < type.dofs; ++k) dof(k) = defaults_.dof;
  const bool named = r.has("coordinates");
  if (type.dofs == 1 && !named) {
    read_dof(r, type.angular[0], dof(0));
    return;
  }
  const bool ball = type.type == JointType::spherical;
  if (ball) read_ball_spring(r, joint);
  const std::vector<std::string> names = coordinate_names(type);
  const std::string remedy =
      type.dofs == 0 ? fmt::format("is not possible, a {} joint has no coordinates; remove it", type.name)
                     : fmt::format("belongs to one coordinate; move it to \"coordinates\": {{\"{}\": {{ ... }}}}",
                                   fmt::join(names, "\" or \""));
  for (const std::string_view key : kDofKeys) {
    if (!ball || (key != "spring" && key != "damping")) r.reject(key, remedy);
  }
  if (!named) return;
  ObjectReader coordinates = r.object("coordinates");
  for (int k = 0; k < type.dofs; ++k) {
    const std::string& name = names[static_cast<std::size_t>(k)];
    if (!coordinates.has(name)) continue;
    ObjectReader c = coordinates.object_as(name, fmt::format("{}, coordinate '{}'", r.element(), name));
    if (ball) c.reject("spring", "acts about all axes of a spherical joint; move it to the joint");
    read_dof(c, type.angular[k], dof(k));
    c.finish();
  }
  coordinates.finish();
}

// Of all three axes; the damping of one of them wins over it.
void SceneLoader::read_ball_spring(ObjectReader& r, int joint) {
  double stiffness = 0;
  const double damping = r.number("damping", defaults_.dof.damping);
  Quat q_rest = Quat::Identity();
  if (r.has("spring")) {
    ObjectReader spring = r.object("spring");
    stiffness = spring.number("stiffness");
    spring.reject("rest", "is the rest of a coordinate; give rest_wxyz, a unit quaternion [w, x, y, z]");
    q_rest = read_orientation(spring, "rest_wxyz", angle_unit_).value_or(q_rest);
    spring.finish();
  }
  builder_.set_ball_spring(joint, stiffness, damping, q_rest);
}

void SceneLoader::read_dof(ObjectReader& r, bool angular, Dof& dof) {
  if (r.has("limit")) dof.limit = read_limit(r.object("limit"), angular);
  if (r.has("drive")) dof.drive = read_drive(r.object("drive"), angular);
  dof.armature = r.number("armature", dof.armature);
  dof.damping = r.number("damping", dof.damping);
  dof.dry_friction = r.number("dry_friction", dof.dry_friction);
  dof.wrapped = r.flag("wrapped", dof.wrapped);
  if (r.has("initial")) dof.initial = r.number("initial") * (angular ? angle_unit_ : 1.0);
  if (!r.has("spring")) return;
  ObjectReader spring = r.object("spring");
  dof.stiffness = spring.number("stiffness");
  dof.rest = spring.number("rest", 0) * (angular ? angle_unit_ : 1.0);
  spring.finish();
}

Limit SceneLoader::read_limit(ObjectReader r, bool angular) {
  const double unit = angular ? angle_unit_ : 1.0;
  Limit limit = defaults_.limit;
  const double lower = r.number("lower", -kInf);
  const double upper = r.number("upper", kInf);
  limit.lower = lower * unit;
  limit.upper = upper * unit;
  limit.restitution = r.number("restitution", limit.restitution);
  limit.erp = r.number("erp", limit.erp);
  limit.compliance = read_compliance(r);
  r.finish();
  if (limit.erp != kUseDefault && !(limit.erp >= 0 && limit.erp <= 1)) {
    r.fail(fmt::format("{} is {}; give a number in [0, 1] or leave it out", r.full("erp"), limit.erp));
  }
  // Checked here, in the numbers of the file: the model knows only radians.
  if (lower > upper) {
    const std::string_view symbol = !angular ? "m" : angle_unit_ == 1.0 ? "rad" : "deg";
    r.fail(fmt::format("the limits [{} {}, {} {}] are reversed; give lower <= upper", lower, symbol, upper, symbol));
  }
  return limit;
}

Drive SceneLoader::read_drive(ObjectReader r, bool angular) {
  const std::vector<DriveMode> modes = {DriveMode::position, DriveMode::velocity, DriveMode::force, DriveMode::none};
  Drive drive;
  drive.mode = modes[r.choice("mode", {"position", "velocity", "force", "none"})];
  drive.kp = r.number("kp", 0);
  drive.kd = r.number("kd", 0);
  drive.name = r.text_or("name", "");
  if (r.has("effort_limit")) drive.effort_limit = r.positive("effort_limit");
  drive.effort_lower = r.number("effort_lower", drive.effort_lower);
  drive.effort_upper = r.number("effort_upper", drive.effort_upper);
  // The target of a force drive is a torque, the others are angles and angular velocities.
  const double unit = angular && drive.mode != DriveMode::force ? angle_unit_ : 1.0;
  drive.target_lower = r.number("target_lower", drive.target_lower) * unit;
  drive.target_upper = r.number("target_upper", drive.target_upper) * unit;
  if (r.has_object("target")) {
    ObjectReader target = r.object("target");
    drive.target.offset = target.number("offset", 0) * unit;
    drive.target.rate = target.number("rate", 0) * unit;
    drive.target.amplitude = target.number("amplitude", 0) * unit;
    drive.target.frequency = target.number("frequency", 0);
    drive.target.phase = target.number("phase", 0) * angle_unit_;
    read_table(target, unit, drive.target);
    target.finish();
  } else {
    drive.target.offset = r.number("target", 0) * unit;
  }
  r.finish();
  return drive;
}

void SceneLoader::read_table(ObjectReader& r, double unit, Signal& signal) {
  if (!r.has("table")) {
    r.reject("interpolation", "goes with a table; add \"table\": [[time, value], ...]");
    return;
  }
  const Json& points = r.array("table");
  if (points.empty()) r.fail(fmt::format("{} has no points; write it like [[0, 0], [1, 0.5]]", r.full("table")));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Json& p = points[i];
    if (!p.is_array() || p.size() != 2 || !p[0].is_number() || !p[1].is_number()) {
      r.fail(fmt::format("{}[{}] must be a time and a value; write it like [1, 0.5]", r.full("table"), i));
    }
    signal.table.push_back({p[0].get<double>(), p[1].get<double>() * unit});
  }
  if (r.has("interpolation")) {
    signal.interpolation = static_cast<Interpolation>(r.choice("interpolation", {"linear", "cubic"}));
  }
}

void SceneLoader::read_coupling(ObjectReader r) {
  Coupling c;
  c.name = r.text("name", "gear");
  c.dof_a = resolve_dof(r, "a");
  c.dof_b = resolve_dof(r, "b");
  if (r.has("polynomial")) {
    for (const std::string_view key : {"ratio", "offset"}) r.reject(key, "is part of the polynomial; remove it");
    const std::vector<double> p = r.numbers("polynomial", {2, 3, 4, 5});
    c.offset = p[0];
    c.ratio = p[1];
    for (std::size_t k = 2; k < p.size(); ++k) c.higher[k - 2] = p[k];
  } else {
    c.ratio = r.number("ratio");
    c.offset = r.number("offset", 0) * (dof_angular_[static_cast<std::size_t>(c.dof_a)] ? angle_unit_ : 1.0);
  }
  c.erp = r.number("erp", kUseDefault);
  c.compliance = read_compliance(r);
  r.finish();
  builder_.add_coupling(std::move(c));
}

// All of its numbers are in SI units with radians: its coordinates may be of both kinds.
void SceneLoader::read_combination(ObjectReader r) {
  Combination c;
  c.name = r.text("name", "tendon");
  if (!r.has("terms")) {
    r.fail_missing({"terms"},
                   "has no terms; add \"terms\": [{\"coordinate\": \"hinge.angle\", \"coefficient\": 1}, ...]");
  }
  r.each("terms", "term", fmt::format(" of {}", r.element()), [&](ObjectReader t, std::size_t) {
    const int dof = resolve_dof(t, "coordinate");
    c.terms.push_back({dof, t.number("coefficient", 1)});
    t.finish();
  });
  c.offset = r.number("offset", 0);
  r.reject("armature", "belongs to coordinates; give it to those of the joints");
  r.reject("wrapped", "belongs to coordinates; a combination counts turns");
  r.reject("initial", "follows from the coordinates; remove it");
  read_dof(r, false, c.law);
  r.finish();
  builder_.add_combination(std::move(c));
}

// Full names "joint.coordinate" first: they are unique, while a joint may be called like another's full name.
void SceneLoader::name_dofs() {
  for (const Joint& j : data().joints) {
    for (int k = 0; k < joint_dofs(j); ++k) {
      dofs_.emplace(fmt::format("{}.{}", j.name, coordinate_name(j, k)), j.first_dof + k);
      dof_angular_.push_back(coordinate_is_angular(j, k));
    }
  }
  for (const Joint& j : data().joints) {
    if (joint_dofs(j) == 1) dofs_.emplace(j.name, j.first_dof);
  }
}

int SceneLoader::resolve_dof(ObjectReader& r, std::string_view key) const {
  const std::string name = r.text(key, "hinge.angle");
  const auto it = dofs_.find(name);
  if (it != dofs_.end()) return it->second;
  std::vector<std::string> known;
  for (const auto& [dof, index] : dofs_) known.push_back(dof);
  std::sort(known.begin(), known.end());
  r.fail(fmt::format("{} names coordinate {}, which does not exist; {}", r.full(key), in_quotes(name),
                     suggestion(name, known, "joint coordinate")));
}

}  // namespace sarrus::scene
