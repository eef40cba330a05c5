#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/urdf_reader.h"

namespace sarrus::robot {
namespace {

// Elements of <robot> that are read or mean nothing for the motion.
const std::vector<std::string> kKnown = {"link",   "joint",      "material",   "transmission", "gazebo",
                                         "mujoco", "loop_joint", "constraint", "frame"};
const std::vector<std::string> kSilent = {"sensor", "version", "license", "author", "description"};

bool is_foreign(const std::string& name) { return name.find(':') != std::string::npos; }

// The value of a child <tag value="..."/>.
const xml::Node* value_child(const xml::Node& node, const char* tag) { return node.child(tag); }

}  // namespace

Graph UrdfReader::read() {
  refuse_xacro(root_);
  if (root_.name != "robot") xml::fail(root_, "is no URDF; its root element has to be <robot>");
  g_.name = root_.get("name");
  note_unknown();
  read_compiler();
  read_links();
  read_joints();
  place_links();
  read_shapes();
  for (const TreeJoint& j : joints_) add_joint(j);
  walked_.assign(joints_.size(), -1);
  for (const TreeJoint& j : joints_) read_mimic(j);
  read_loops();
  read_transmissions();
  read_filters();
  bound_masses();
  g_.meshes = meshes_.take_sources();
  return std::move(g_);
}

void UrdfReader::refuse_xacro(const xml::Node& node) const {
  if (node.name.starts_with("xacro:")) xml::fail(node, "is xacro markup; expand the file with xacro first");
  for (const xml::Attribute& a : node.attributes) {
    if (a.value.find("${") != std::string::npos)
      xml::fail(node,
                fmt::format("{} is {}, xacro markup; expand the file with xacro first", a.name, in_quotes(a.value)));
  }
  for (const xml::Node& child : node.children) {
    if (child.name != "gazebo") refuse_xacro(child);
  }
}

void UrdfReader::note_unknown() const {
  for (const xml::Node& child : root_.children) {
    if (is_foreign(child.name)) continue;
    if (std::find(kKnown.begin(), kKnown.end(), child.name) != kKnown.end()) continue;
    if (std::find(kSilent.begin(), kSilent.end(), child.name) != kSilent.end()) {
      findings_.note(child.name, child, "does not change the motion; it is left out");
      continue;
    }
    const std::string near = nearest_name(child.name, kKnown);
    findings_.warn("unknown-element", child, "is no element of URDF; it is left out",
                   near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
}

void UrdfReader::read_compiler() {
  root_.each("mujoco", [&](const xml::Node& mujoco) {
    mujoco.each("compiler", [&](const xml::Node& c) {
      mesh_folder_ = c.get("meshdir");
      strip_path_ = c.get("strippath") != "false";
      bound_mass_ = number_or(c, "boundmass", 0);
      bound_inertia_ = number_or(c, "boundinertia", 0);
      balance_inertia_ = c.get("balanceinertia") == "true";
    });
  });
}

void UrdfReader::read_inertial(const xml::Node& node, Link& link) {
  const Pose X_LI = origin_of(node.child("origin"));
  const xml::Node* mass = node.child("mass");
  if (mass == nullptr) xml::fail(node, "has no <mass>; give one");
  link.mass = require_number(*mass, "value");
  if (link.mass < 0) xml::fail(*mass, "is negative; give a positive mass");
  link.com_L = X_LI.p;
  const xml::Node* inertia = node.child("inertia");
  if (inertia == nullptr) {
    if (link.mass > 0) findings_.warn("no-inertia", node, "has a mass and no <inertia>; it gets that of a point");
    return;
  }
  Mat3 I;
  const double xy = number_or(*inertia, "ixy", 0);
  const double xz = number_or(*inertia, "ixz", 0);
  const double yz = number_or(*inertia, "iyz", 0);
  I << require_number(*inertia, "ixx"), xy, xz, xy, require_number(*inertia, "iyy"), yz, xz, yz,
      require_number(*inertia, "izz");
  const Mat3 R = X_LI.R();
  link.inertia_L = X_LI.q.isApprox(Quat::Identity(), 1e-15) ? I : Mat3(R * I * R.transpose());
  if (link.mass == 0 && I.norm() > 0) {
    findings_.warn("massless-inertia", node, "has an inertia and no mass; its inertia is left out", "give it a mass");
    link.inertia_L.setZero();
  }
}

void UrdfReader::read_links() {
  root_.each("link", [&](const xml::Node& node) {
    ImportCount& count = findings_.count("link");
    ++count.read;
    const std::string name = require_text(node, "name");
    if (links_.contains(name)) xml::fail(node, "is there twice; give every link a name of its own");
    if (name == "world") {  // the world itself
      links_[name] = kWorld;
      ++count.merged;
      if (node.child("inertial") != nullptr)
        findings_.note("world-mass", node, "is the world, whose mass does not matter");
      return;
    }
    ++count.kept;
    links_[name] = static_cast<int>(g_.links.size());
    Link link;
    link.name = name;
    link.place = node.place;
    if (const xml::Node* inertial = node.child("inertial")) read_inertial(*inertial, link);
    g_.links.push_back(std::move(link));
  });
  if (links_.empty()) xml::fail(root_, "has no <link>; a robot needs one at least");
}

// Lower bounds, and moments that no body can have replaced by their mean, as the file asks for.
void UrdfReader::bound_masses() {
  if (bound_mass_ <= 0 && bound_inertia_ <= 0 && !balance_inertia_) return;
  for (Link& link : g_.links) {
    if (link.mass <= 0 && bound_mass_ <= 0) continue;
    link.mass = std::max(link.mass, bound_mass_);
    const Eigen::SelfAdjointEigenSolver<Mat3> eigen(link.inertia_L);
    Vec3 p = eigen.eigenvalues().cwiseMax(bound_inertia_);
    if (balance_inertia_ && p[0] + p[1] < p[2]) p.setConstant(p.mean());
    if (p == eigen.eigenvalues()) continue;
    link.inertia_L = eigen.eigenvectors() * p.asDiagonal() * eigen.eigenvectors().transpose();
  }
}

int UrdfReader::require_link(const xml::Node& node, const std::string& name) const {
  const auto it = links_.find(name);
  if (it != links_.end()) return it->second;
  if (name == "world") return kWorld;
  std::vector<std::string> known;
  for (const auto& [link, index] : links_) known.push_back(link);
  const std::string near = nearest_name(name, known);
  xml::fail(node, fmt::format("names link {}, which is not there; {}", in_quotes(name),
                              near.empty() ? "correct the name" : fmt::format("did you mean {}?", in_quotes(near))));
}

int UrdfReader::joint_index(const std::string& name) const {
  const auto it = graph_joint_.find(name);
  return it == graph_joint_.end() ? -1 : it->second;
}

void UrdfReader::read_joints() {
  std::map<std::string, int> parent_of;  // by child link
  const auto read_one = [&](const xml::Node& node) {
    TreeJoint j;
    j.node = &node;
    j.name = require_text(node, "name");
    j.type = require_text(node, "type");
    const xml::Node* parent = node.child("parent");
    const xml::Node* child = node.child("child");
    if (parent == nullptr || child == nullptr)
      xml::fail(node, "has no <parent link=\"...\"/> or no <child link=\"...\"/>; give both");
    j.parent = require_text(*parent, "link");
    j.child = require_text(*child, "link");
    require_link(node, j.parent);
    if (require_link(node, j.child) == kWorld) xml::fail(node, "has the world as its child; swap parent and child");
    if (j.parent == j.child) xml::fail(node, "connects a link with itself; name two links");
    if (joint_of_.contains(j.name)) xml::fail(node, "is there twice; give every joint a name of its own");
    const xml::Node* origin = node.child("origin");
    j.X_PC = origin_of(origin);
    j.closure = parent_of.contains(j.child);
    joint_of_[j.name] = static_cast<int>(joints_.size());
    if (!j.closure) parent_of[j.child] = static_cast<int>(joints_.size());
    if (j.closure) spelling(node, "joint to a link that has a parent");
    joints_.push_back(std::move(j));
  };
  for (const xml::Node& child : root_.children) {
    if (child.name == "joint" || child.name == "drake:joint") read_one(child);
  }
}

// Poses at coordinates 0, from the roots on.
void UrdfReader::place_links() {
  std::vector<int> joint_to(g_.links.size(), -1);
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (!joints_[i].closure) joint_to[at(links_.at(joints_[i].child))] = static_cast<int>(i);
  }
  std::vector<int> state(g_.links.size(), 0);  // 1: being placed, 2: done
  on_world_.assign(g_.links.size(), false);
  std::vector<std::string> roots;
  for (int start = 0; start < static_cast<int>(g_.links.size()); ++start) {
    // Up to a link that is placed, then down again: chains may be long.
    std::vector<int> chain;
    int l = start;
    while (l != kWorld && state[at(l)] == 0) {
      state[at(l)] = 1;
      chain.push_back(l);
      const int j = joint_to[at(l)];
      if (j < 0) break;
      const int parent = require_link(*joints_[at(j)].node, joints_[at(j)].parent);
      if (parent != kWorld && state[at(parent)] == 1)
        xml::fail(*joints_[at(j)].node,
                  "closes a ring of links of which none is the root; write one of its joints as <loop_joint>");
      l = parent;
    }
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
      Link& link = g_.links[at(*it)];
      state[at(*it)] = 2;
      const int j = joint_to[at(*it)];
      if (j < 0) {
        roots.push_back(link.name);
        const bool fixed = findings_.options().base == ImportBase::fixed;
        on_world_[at(*it)] = fixed;
        if (fixed) {
          Joint joint;
          joint.name = link.name + "_to_world";
          joint.place = link.place;
          joint.follower = *it;
          g_.joints.push_back(std::move(joint));
        }
        continue;
      }
      const TreeJoint& joint = joints_[at(j)];
      const int parent = require_link(*joint.node, joint.parent);
      link.X_WL = g_.link_pose(parent) * joint.X_PC;
      link.X_WL.q.normalize();
      on_world_[at(*it)] = joint.type == "fixed" && is_world(parent);
    }
  }
  if (roots.size() > 1) {
    const std::size_t count = roots.size();
    roots.resize(std::min<std::size_t>(count, 6));
    xml::fail(root_,
              fmt::format("has {} links without a parent ({}{}); connect them, or put them into files of their own",
                          count, fmt::join(roots, ", "), count > 6 ? ", ..." : ""));
  }
  if (!roots.empty()) {
    findings_.note("base", root_,
                   findings_.options().base == ImportBase::fixed
                       ? fmt::format("its root link {} is fixed to the world", in_quotes(roots[0]))
                       : fmt::format("its root link {} floats", in_quotes(roots[0])),
                   findings_.options().base == ImportBase::fixed ? "--base free lets it float"
                                                                 : "--base fixed fixes it to the world");
  }
}

void UrdfReader::read_limits(const xml::Node& node, const std::string& type, Dof& dof) {
  const xml::Node* limit = node.child("limit");
  const bool needs = type == "revolute" || type == "prismatic";
  if (limit == nullptr || (!limit->has("lower") && !limit->has("upper"))) {
    if (needs)
      findings_.warn("no-limits", node, "has no lower and upper limit; it is unlimited",
                     "give them, or write type=\"continuous\"");
  } else if (type != "continuous") {
    const double lower = number_or(*limit, "lower", 0);
    const double upper = number_or(*limit, "upper", 0);
    if (lower > upper) xml::fail(*limit, fmt::format("lower {} is above upper {}; swap them", lower, upper));
    dof.limit.lower = lower;
    dof.limit.upper = upper;
  }
  if (limit == nullptr || !limit->has("effort")) return;
  const double effort = require_number(*limit, "effort");
  if (effort < 0) xml::fail(*limit, "effort is negative; give the largest one");
  if (effort == 0) {
    findings_.warn("no-effort", *limit, "effort is 0, which is taken as no bound", "give the largest effort");
  } else {
    efforts_[node.get("name")] = effort;
  }
}

void UrdfReader::read_dynamics(const xml::Node& node, Dof& dof) {
  const xml::Node* dynamics = node.child("dynamics");
  if (dynamics == nullptr) return;
  dof.damping = number_or(*dynamics, "damping", 0);
  dof.dry_friction = number_or(*dynamics, "friction", 0);
  if (dof.damping < 0 || dof.dry_friction < 0)
    xml::fail(*dynamics, "damping or friction is negative; give what slows the joint down");
}

void UrdfReader::add_joint(const TreeJoint& j) {
  const int base = require_link(*j.node, j.parent);
  const int follower = require_link(*j.node, j.child);
  const bool has_axis = j.type != "fixed" && j.type != "floating" && j.type != "ball" && j.type != "spherical";
  const xml::Node* axis_node = has_axis ? j.node->child("axis") : nullptr;
  const Vec3 axis = axis_node == nullptr ? Vec3(Vec3::UnitX()) : direction_or(*axis_node, "xyz", Vec3::UnitX());
  if (j.closure) {
    add_closure(*j.node, j.name, j.type, base, follower, j.X_PC, {}, axis, nullptr);
    return;
  }
  const Pose X_WJ = g_.link_pose(follower);
  const auto index = static_cast<int>(g_.joints.size());
  Joint joint;
  if (j.type == "revolute" || j.type == "continuous" || j.type == "prismatic") {
    joint = axis_joint(g_, j.name, j.type != "prismatic", base, follower, X_WJ.p, X_WJ.q * axis);
    read_limits(*j.node, j.type, joint.coordinates[0].dof);
    read_dynamics(*j.node, joint.coordinates[0].dof);
  } else if (j.type == "fixed") {
    joint = frame_joint(g_, j.name, JointType::fixed, base, follower, X_WJ);
  } else if (j.type == "floating") {
    if (base != kWorld && !is_world(base))
      xml::fail(*j.node, "floats against a link that moves; let it float against the world, or leave the joint out");
    findings_.note("floating", *j.node, "needs no joint: its child floats");
    return;
  } else if (j.type == "planar") {
    joint = frame_joint(g_, j.name, JointType::planar, base, follower,
                        {X_WJ.p, (X_WJ.q * frame_with_z(axis)).normalized()});
    for (Coordinate& c : joint.coordinates) read_dynamics(*j.node, c.dof);
  } else if (j.type == "ball") {
    joint = frame_joint(g_, j.name, JointType::spherical, base, follower, X_WJ);
    for (Coordinate& c : joint.coordinates) read_dynamics(*j.node, c.dof);
  } else if (j.type == "universal") {
    joint = frame_joint(g_, j.name, JointType::universal, base, follower, X_WJ);
    for (Coordinate& c : joint.coordinates) read_dynamics(*j.node, c.dof);
  } else if (j.type == "screw") {
    joint = frame_joint(g_, j.name, JointType::cylindrical, base, follower,
                        {X_WJ.p, (X_WJ.q * frame_with_x(axis)).normalized()});
    read_dynamics(*j.node, joint.coordinates[1].dof);
    const xml::Node* pitch = value_child(*j.node, "drake:screw_thread_pitch");
    if (pitch == nullptr) xml::fail(*j.node, "has no <drake:screw_thread_pitch value=\"m per turn\"/>; give it");
    Coupling screw;
    screw.name = j.name + "_thread";
    screw.place = j.node->place;
    screw.a = {index, 0};
    screw.b = {index, 1};
    screw.c = {0, require_number(*pitch, "value") / (2 * std::numbers::pi)};
    g_.couplings.push_back(std::move(screw));
  } else {
    xml::fail(*j.node, fmt::format("type {} is none of URDF; use revolute, continuous, prismatic, fixed, floating or "
                                   "planar (or drake:joint with ball, universal, screw)",
                                   in_quotes(j.type)));
  }
  joint.place = j.node->place;
  for (Coordinate& c : joint.coordinates) c.name = j.name;
  for (const char* ignored : {"safety_controller", "calibration"}) {
    if (const xml::Node* node = j.node->child(ignored))
      findings_.note(ignored, *node, "does not change the motion; it is left out");
  }
  graph_joint_[j.name] = index;
  g_.joints.push_back(std::move(joint));
}

void UrdfReader::read_mimic(const TreeJoint& j) {
  const xml::Node* mimic = j.node->child("mimic");
  if (mimic == nullptr) return;
  ImportCount& count = findings_.count("mimic");
  ++count.read;
  const std::string master = require_text(*mimic, "joint");
  const double multiplier = number_or(*mimic, "multiplier", 1);
  const double offset = number_or(*mimic, "offset", 0);
  if (master == j.name) xml::fail(*mimic, "follows itself; name another joint");
  if (!joint_of_.contains(master)) {
    std::vector<std::string> known;
    for (const auto& [name, index] : joint_of_) known.push_back(name);
    const std::string near = nearest_name(master, known);
    xml::fail(*mimic,
              fmt::format("names joint {}, which is not there; {}", in_quotes(master),
                          near.empty() ? "correct the name" : fmt::format("did you mean {}?", in_quotes(near))));
  }
  const int follower = joint_index(j.name);
  if (j.type == "fixed" || follower < 0) {
    ++count.ignored;
    findings_.note("mimic-fixed", *mimic, "is on a joint without a coordinate; it is left out");
    return;
  }
  if (g_.joints[at(follower)].coordinates.size() != 1)
    xml::fail(*mimic, "is on a joint of several coordinates; only single ones can follow");
  const TreeJoint& leading = joints_[at(joint_of_.at(master))];
  const int lead = joint_index(master);
  if (leading.type == "fixed" || lead < 0) {  // nothing to follow: it is held
    ++count.kept;
    Limit& limit = g_.joints[at(follower)].coordinates[0].dof.limit;
    limit.lower = limit.upper = offset;
    return;
  }
  if (g_.joints[at(lead)].coordinates.size() != 1)
    xml::fail(*mimic, "follows a joint of several coordinates; only single ones can lead");
  // A ring of followers has no leader. What was walked along once is not walked again: it ends, or was refused.
  const int walk = joint_of_.at(j.name);
  for (int i = walk; walked_[at(i)] < 0;) {
    walked_[at(i)] = walk;
    const xml::Node* next = joints_[at(i)].node->child("mimic");
    const auto found = next == nullptr ? joint_of_.end() : joint_of_.find(next->get("joint"));
    if (found == joint_of_.end()) break;
    i = found->second;
    if (walked_[at(i)] == walk)
      xml::fail(*mimic, "follows a ring of joints that follow each other; let one of them lead");
  }
  ++count.kept;
  Coupling c;
  c.name = j.name + "_mimics_" + master;
  c.place = mimic->place;
  c.a = {follower, 0};
  c.b = {lead, 0};
  c.c = {offset, multiplier};
  g_.couplings.push_back(std::move(c));
}

void UrdfReader::read_transmission(const xml::Node& node) {
  const xml::Node* joint_node = node.child("joint");
  const xml::Node* actuator = node.child("actuator");
  ImportCount& count = findings_.count("transmission");
  ++count.read;
  if (joint_node == nullptr || actuator == nullptr) {
    ++count.ignored;
    findings_.note("transmission", node, "has no joint or no actuator; it is left out");
    return;
  }
  const std::string name = require_text(*joint_node, "name");
  const int j = joint_index(name);
  if (j < 0 || g_.joints[at(j)].coordinates.size() != 1) {
    if (!joint_of_.contains(name)) xml::fail(*joint_node, "names a joint that is not there; correct the name");
    ++count.ignored;
    findings_.note("transmission-fixed", node, "drives a joint without a coordinate of its own; it is left out");
    return;
  }
  ++count.kept;
  Coordinate& c = g_.joints[at(j)].coordinates[0];
  for (const xml::Node* n : {joint_node, actuator}) {
    const xml::Node* reduction = n->child("mechanicalReduction");
    double ratio = 1;
    if (reduction != nullptr && (!xml::parse_number(reduction->text, ratio) || ratio != 1))
      findings_.note("reduction", *reduction, "does not change the motion of the joint; it is left out");
  }
  if (const xml::Node* inertia = actuator->child("drake:rotor_inertia")) {
    const xml::Node* gear = actuator->child("drake:gear_ratio");
    const double ratio = gear != nullptr ? require_number(*gear, "value") : 1;
    c.dof.armature += require_number(*inertia, "value") * ratio * ratio;
  }
  c.drive_name = actuator->get("name");
  if (efforts_.contains(name)) c.dof.drive.effort_limit = efforts_.at(name);
  if (const xml::Node* gains = actuator->child("drake:controller_gains")) {
    c.dof.drive.mode = DriveMode::position;
    c.dof.drive.kp = require_number(*gains, "p");
    c.dof.drive.kd = number_or(*gains, "d", 0);
    if (c.dof.drive.kp < 0 || c.dof.drive.kd < 0) xml::fail(*gains, "a gain is negative; give positive ones");
  }
}

void UrdfReader::read_transmissions() {
  root_.each("transmission", [&](const xml::Node& node) { read_transmission(node); });
}

// Links of a group do not collide with those of the groups that it ignores.
void UrdfReader::read_filters() {
  std::map<std::string, std::vector<int>> members;
  const auto each_group = [&](auto f) { root_.each("drake:collision_filter_group", f); };
  each_group([&](const xml::Node& group) {
    std::vector<int>& links = members[require_text(group, "name")];
    group.each("drake:member", [&](const xml::Node& m) { links.push_back(require_link(m, require_text(m, "link"))); });
  });
  each_group([&](const xml::Node& group) {
    group.each("drake:ignored_collision_filter_group", [&](const xml::Node& ignored) {
      const std::string name = require_text(ignored, "name");
      if (!members.contains(name)) xml::fail(ignored, "names a group that is not there; correct the name");
      for (const int a : members[group.get("name")]) {
        for (const int b : members[name]) {
          if (g_.excludes.size() >= 10 * xml::kMaxElements)
            xml::fail(ignored, "keeps more than 10 million pairs of links apart; use fewer groups");
          if (a != b) g_.excludes.push_back({a, b, ignored.place});
        }
      }
    });
  });
}

Graph read_urdf(xml::Node root, const Folders& folders, Findings& findings) {
  return UrdfReader(root, folders, findings).read();
}

}  // namespace sarrus::robot
