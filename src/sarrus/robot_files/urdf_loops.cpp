// What closes loops in URDF, which has no element of its own for it (docs/robots.md): <loop_joint>, its variants,
// second parents, constraints of Drake, joints of Gazebo, pairs of links or frames called closing_<name>_1 and _2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/closed_loop_lists.h"
#include "sarrus/robot_files/urdf_reader.h"

namespace sarrus::robot {
namespace {

// The frame turned the shortest way so that its x axis lies along `axis`, given in it.
Pose turned_to(const Pose& X, const Vec3& axis) {
  return {X.p, (X.q * Quat::FromTwoVectors(Vec3::UnitX(), axis)).normalized()};
}

const xml::Node* value_of(const xml::Node& node, const std::string& tag) { return node.child(tag); }

Vec3 vector_of(const xml::Node& node, const std::string& tag, const Vec3& fallback) {
  const xml::Node* child = value_of(node, tag);
  return child == nullptr ? fallback : vector_or(*child, "value", fallback);
}

}  // namespace

void UrdfReader::spelling(const xml::Node& node, const std::string& kind) {
  if (std::find(spellings_.begin(), spellings_.end(), kind) != spellings_.end()) return;
  spellings_.push_back(kind);
  if (spellings_.size() == 2)
    findings_.warn("loop-spellings", node,
                   fmt::format("loops are written in more than one way ({}, {}); all are read", spellings_[0], kind),
                   "write <loop_joint> for all");
}

std::pair<int, Pose> UrdfReader::frame_named(const xml::Node& node, const std::string& name) const {
  std::pair<int, Pose> found{kWorld, {}};
  bool is_frame = false;
  root_.each("frame", [&](const xml::Node& frame) {
    if (frame.get("name") != name) return;
    found = {require_link(frame, require_text(frame, "link")), origin_of(&frame)};
    is_frame = true;
  });
  if (!is_frame) found.first = require_link(node, name);
  return found;
}

void UrdfReader::add_closure(const xml::Node& node, const std::string& name, const std::string& type, int base,
                             int follower, const Pose& X_BJ, const Pose& X_FJ, const Vec3& axis, const Vec3* axis2) {
  Joint joint;
  joint.name = name;
  joint.place = node.place;
  joint.closure = true;
  joint.base = base;
  joint.follower = follower;
  joint.X_BJ = X_BJ;
  joint.X_FJ = X_FJ;
  if (base == follower) xml::fail(node, "closes no loop: both ends are on one link; name two links");
  const auto along_axis = [&](JointType t) {
    joint.type = t;
    joint.X_BJ = turned_to(X_BJ, axis);
    joint.X_FJ = turned_to(X_FJ, axis);
  };
  if (type == "spherical" || type == "ball") {
    joint.type = JointType::spherical;
  } else if (type == "fixed") {
    joint.type = JointType::fixed;
  } else if (type == "revolute" || type == "continuous") {
    along_axis(JointType::revolute);
  } else if (type == "prismatic") {
    along_axis(JointType::prismatic);
  } else if (type == "cylindrical") {
    along_axis(JointType::cylindrical);
  } else if (type == "planar") {
    joint.type = JointType::planar;
    const Quat turn = Quat::FromTwoVectors(Vec3::UnitZ(), axis);
    joint.X_BJ.q = (X_BJ.q * turn).normalized();
    joint.X_FJ.q = (X_FJ.q * turn).normalized();
  } else if (type == "universal") {
    along_axis(JointType::universal);
    // The second axis is y of the follower's frame.
    const Vec3 y = axis2 != nullptr ? *axis2 : Vec3(Vec3::UnitY());
    const Vec3 x = Vec3::UnitX() - y.x() * y;
    Mat3 axes;
    axes.col(1) = y;
    axes.col(0) = x.norm() > 1e-6 ? Vec3(x.normalized()) : Vec3(y.unitOrthogonal());
    axes.col(2) = axes.col(0).cross(axes.col(1));
    joint.X_FJ = {X_FJ.p, (X_FJ.q * Quat(axes)).normalized()};
  } else {
    xml::fail(node, fmt::format("type {} closes no loop; use spherical, revolute, prismatic, cylindrical, universal, "
                                "planar or fixed",
                                in_quotes(type)));
  }
  joint.coordinates.resize(static_cast<std::size_t>(joint_type_info(joint.type).dofs));
  const bool single = joint.coordinates.size() == 1;
  for (Coordinate& c : joint.coordinates) {
    c.name = name;
    if (node.child("dynamics") != nullptr) read_dynamics(node, c.dof);
  }
  const xml::Node* limit = node.child("limit");
  if (single && limit != nullptr && (limit->has("lower") || limit->has("upper")))
    read_limits(node, type, joint.coordinates[0].dof);
  graph_joint_[name] = static_cast<int>(g_.joints.size());
  g_.joints.push_back(std::move(joint));
}

void UrdfReader::add_point_constraint(const xml::Node& node, const std::string& name, int a, const Vec3& p_A, int b,
                                      const Vec3& p_B) {
  add_closure(node, name, "spherical", a, b, {p_A, Quat::Identity()}, {p_B, Quat::Identity()}, Vec3::UnitX(), nullptr);
}

// <loop_joint name type> with <link1>, <link2>; or <link1> twice; or <parent>, <child>, their origins and axes.
void UrdfReader::read_loop_joint(const xml::Node& node) {
  const std::string name = require_text(node, "name");
  if (joint_of_.contains(name) || graph_joint_.contains(name))
    xml::fail(node, "has the name of another joint; give it one of its own");
  const std::string type = require_text(node, "type");
  const xml::Node* first = node.child("link1");
  const xml::Node* second = node.child("link2");
  const xml::Node* axis = node.child("axis");
  const Vec3 a = axis == nullptr ? Vec3(Vec3::UnitX()) : direction_or(*axis, "xyz", Vec3::UnitX());
  const xml::Node* other = node.child("axis2");
  const Vec3 a2 = other == nullptr ? Vec3(Vec3::UnitY()) : direction_or(*other, "xyz", Vec3::UnitY());
  if (first != nullptr) {
    if (second == nullptr) {
      node.each("link1", [&](const xml::Node& n) { second = &n; });  // the last one
      spelling(node, "loop_joint with link1 twice");
    } else {
      spelling(node, "loop_joint");
    }
    if (second == first) xml::fail(node, "has no <link2 link=\"...\"/>; give both ends");
    add_closure(node, name, type, require_link(*first, require_text(*first, "link")),
                require_link(*second, require_text(*second, "link")), origin_of(first), origin_of(second), a,
                other == nullptr ? nullptr : &a2);
    return;
  }
  const xml::Node* parent = node.child("parent");
  const xml::Node* child = node.child("child");
  if (parent == nullptr || child == nullptr)
    xml::fail(node, "does not say what it connects; give <link1 link=\"...\"/> and <link2 link=\"...\"/>");
  spelling(node, node.name == "constraint" ? "constraint" : "loop_joint with parent and child");
  const Pose X_B = origin_of(node.child("parent_origin"));
  Pose X_F = origin_of(node.child("child_origin"));
  Vec3 base_axis = a;
  if (const xml::Node* own = node.child("parent_axis")) base_axis = direction_or(*own, "xyz", Vec3::UnitX());
  const int base = require_link(*parent, require_text(*parent, "link"));
  const int follower = require_link(*child, require_text(*child, "link"));
  if (const xml::Node* own = node.child("child_axis"); own != nullptr && type != "universal") {
    // The follower's frame such that the same axis, given in it, is the one of the file.
    const Vec3 there = direction_or(*own, "xyz", Vec3::UnitX());
    X_F.q = (X_F.q * Quat::FromTwoVectors(base_axis, there)).normalized();
  }
  add_closure(node, name, type, base, follower, X_B, X_F, base_axis, other == nullptr ? nullptr : &a2);
}

void UrdfReader::read_ball_constraint(const xml::Node& node) {
  const std::string p = node.name + "_";
  const auto body = [&](const std::string& tag) {
    const xml::Node* n = node.child(p + tag);
    if (n == nullptr) xml::fail(node, fmt::format("has no <{}{} name=\"...\"/>; give it", p, tag));
    return require_link(*n, require_text(*n, "name"));
  };
  spelling(node, node.name);
  add_point_constraint(node, node.get("name"), body("body_A"), vector_of(node, p + "p_AP", Vec3::Zero()),
                       body("body_B"), vector_of(node, p + "p_BQ", Vec3::Zero()));
}

void UrdfReader::read_distance_constraint(const xml::Node& node) {
  const std::string p = node.name + "_";
  const auto body = [&](const std::string& tag) {
    const xml::Node* n = node.child(p + tag);
    if (n == nullptr) xml::fail(node, fmt::format("has no <{}{} name=\"...\"/>; give it", p, tag));
    return require_link(*n, require_text(*n, "name"));
  };
  const auto value = [&](const std::string& tag, double fallback) {
    const xml::Node* n = node.child(p + tag);
    if (n == nullptr) return fallback;
    if (n->get("value") == "inf") return kInf;
    return require_number(*n, "value");
  };
  spelling(node, node.name);
  Joint joint;
  joint.name = node.get("name");
  joint.place = node.place;
  joint.type = JointType::distance;
  joint.closure = true;
  joint.base = body("body_A");
  joint.follower = body("body_B");
  joint.X_BJ.p = vector_of(node, p + "p_AP", Vec3::Zero());
  joint.X_FJ.p = vector_of(node, p + "p_BQ", Vec3::Zero());
  joint.length = value("distance", -1);
  if (!(joint.length > 0)) xml::fail(node, fmt::format("has no <{}distance value=\"...\"/> above 0; give it", p));
  const double stiffness = value("stiffness", kInf);
  if (std::isfinite(stiffness)) {
    if (!(stiffness > 0)) xml::fail(node, "its stiffness is not positive; give one, or leave it out");
    joint.compliance.model = ComplianceModel::spring_damper;
    joint.compliance.stiffness = stiffness;
    joint.compliance.damping = value("damping", 0);
  }
  g_.joints.push_back(std::move(joint));
}

// A bushing between two frames: a weld that gives, by the softest of its three directions.
void UrdfReader::read_bushing(const xml::Node& node) {
  const auto frame = [&](const char* tag) {
    const xml::Node* n = node.child(tag);
    if (n == nullptr) xml::fail(node, fmt::format("has no <{} name=\"...\"/>; give it", tag));
    return frame_named(*n, require_text(*n, "name"));
  };
  const auto [base, X_B] = frame("drake:bushing_frameA");
  const auto [follower, X_F] = frame("drake:bushing_frameC");
  const Vec3 k = vector_of(node, "drake:bushing_force_stiffness", Vec3::Zero());
  const Vec3 b = vector_of(node, "drake:bushing_force_damping", Vec3::Zero());
  const Vec3 turn_k = vector_of(node, "drake:bushing_torque_stiffness", Vec3::Zero());
  const Vec3 turn_b = vector_of(node, "drake:bushing_torque_damping", Vec3::Zero());
  if (turn_k != k || turn_b != b) {
    findings_.warn("bushing-torque", node,
                   "has a stiffness and damping of its own against turning; that of forces counts",
                   "write a joint with a compliance");
  }
  if (!(k.minCoeff() > 0))
    xml::fail(node, "a stiffness is not positive, which would be no weld; write a joint that is free there");
  spelling(node, node.name);
  if (k.maxCoeff() > k.minCoeff() || b.maxCoeff() > b.minCoeff() || turn_k.maxCoeff() > turn_k.minCoeff()) {
    findings_.warn("bushing", node, "has different stiffnesses by direction; the smallest stands for all",
                   "give one for all directions");
  }
  add_closure(node, node.get("name"), "fixed", base, follower, X_B, X_F, Vec3::UnitX(), nullptr);
  Compliance& c = g_.joints.back().compliance;
  c.model = ComplianceModel::spring_damper;
  c.stiffness = k.minCoeff();
  c.damping = std::max(0.0, b.minCoeff());
}

// <gazebo> without a reference that holds a joint of SDF: between links by their names, at the child's frame.
void UrdfReader::read_gazebo_joint(const xml::Node& node) {
  const std::string name = require_text(node, "name");
  const auto text_of = [&](const char* tag) {
    const xml::Node* n = node.child(tag);
    if (n == nullptr || xml::words_of(n->text).size() != 1)
      xml::fail(node, fmt::format("has no <{}>link</{}>; give it", tag, tag));
    return std::string(xml::words_of(n->text)[0]);
  };
  const int base = require_link(node, text_of("parent"));
  const int follower = require_link(node, text_of("child"));
  Pose X_FJ;
  if (const xml::Node* pose = node.child("pose")) {
    std::vector<double> p;
    if (!xml::parse_numbers(pose->text, p) || p.size() != 6)
      xml::fail(*pose, "is not six numbers; give x y z and r p y");
    X_FJ = {Vec3(p[0], p[1], p[2]), from_rpy({p[3], p[4], p[5]})};
  }
  Vec3 axis = Vec3::UnitX();
  if (const xml::Node* a = node.child("axis")) {
    if (a->child("limit") != nullptr || a->child("dynamics") != nullptr)
      findings_.warn("gazebo-joint", node, "has limits or damping, which are not read here", "write <loop_joint>");
    const xml::Node* xyz = a->child("xyz");
    std::vector<double> v;
    if (xyz == nullptr || !xml::parse_numbers(xyz->text, v) || v.size() != 3 || !(Vec3(v[0], v[1], v[2]).norm() > 0))
      xml::fail(*a, "has no direction; give <xyz> with three numbers");
    axis = Vec3(v[0], v[1], v[2]).normalized();
  }
  spelling(node, "joint of Gazebo");
  // It holds where the links stand: both frames are the same one.
  const Pose X_WJ = g_.link_pose(follower) * X_FJ;
  add_closure(node, name, node.get("type"), base, follower, g_.link_pose(base).inverse() * X_WJ, X_FJ, axis, nullptr);
}

// Links called closing_<name>_1 and closing_<name>_2: points that coincide; with closing_<name>_1_z and _2_z an axis.
void UrdfReader::read_closing_frames() {
  for (const auto& [name, first] : links_) {
    if (!name.starts_with("closing_") || !name.ends_with("_1")) continue;
    const std::string stem = name.substr(0, name.size() - 2);
    const auto second = links_.find(stem + "_2");
    if (second == links_.end()) continue;
    const xml::Node* node = &root_;
    root_.each("link", [&, &link = name](const xml::Node& n) {
      if (n.get("name") == link) node = &n;
    });
    spelling(*node, "links called closing_*");
    const bool axis = links_.contains(stem + "_1_z") && links_.contains(stem + "_2_z");
    add_closure(*node, stem, axis ? "revolute" : "spherical", first, second->second, {}, {}, Vec3::UnitZ(), nullptr);
  }
}

// Pairs of links, frames or joints (their frames) that coincide.
void UrdfReader::read_listed_loops() {
  namespace fs = std::filesystem;
  fs::path file = findings_.options().loops_from;
  std::error_code error;
  if (file.is_relative() && !fs::exists(file, error) && fs::exists(folders_.folder() / file, error))
    file = folders_.folder() / file;
  xml::Node at;
  at.name = "closed_loop";
  at.place.file = std::make_shared<const std::string>(file.string());
  int k = 0;
  for (const ListedLoop& loop : read_closed_loops(file)) {
    const auto end = [&](const std::string& name) {
      const auto joint = joint_of_.find(name);
      if (!links_.contains(name) && joint != joint_of_.end())
        return std::pair<int, Pose>{links_.at(joints_[sarrus::at(joint->second)].child), {}};
      return frame_named(at, name);
    };
    const auto [base, X_B] = end(loop.a);
    const auto [follower, X_F] = end(loop.b);
    at.set("name", fmt::format("closed_loop_{}", ++k));
    spelling(at, "a list of closed loops");
    add_closure(at, at.get("name"), loop.rigid ? "fixed" : "spherical", base, follower, X_B, X_F, Vec3::UnitX(),
                nullptr);
  }
}

void UrdfReader::read_loops() {
  int unnamed = 0;
  for (const xml::Node& child : root_.children) {
    if (child.name == "loop_joint" || child.name == "constraint") {
      read_loop_joint(child);
    } else if (child.name == "drake:ball_constraint") {
      read_ball_constraint(child);
    } else if (child.name == "drake:distance_constraint") {
      read_distance_constraint(child);
    } else if (child.name == "drake:linear_bushing_rpy") {
      read_bushing(child);
    } else if (child.name == "drake:tendon_constraint") {
      findings_.dropped("tendon", child, "couples joints by a tendon", "write <mimic>, or leave it out");
    } else if (child.name == "gazebo" && !child.has("reference")) {
      child.each("joint", [&](const xml::Node& joint) { read_gazebo_joint(joint); });
    }
    if (!g_.joints.empty() && g_.joints.back().closure && g_.joints.back().name.empty())
      g_.joints.back().name = fmt::format("loop{}", ++unnamed);
  }
  const std::string& from = findings_.options().loops_from;
  if (from == "names") read_closing_frames();
  if (!from.empty() && from != "names") read_listed_loops();
}

}  // namespace sarrus::robot
