#include "sarrus/robot_files/hold.h"

#include <algorithm>
#include <numbers>
#include <vector>

#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// The tree of joints: by body the joint that it hangs on, or -1, and the bodies from the roots on.
struct Tree {
  std::vector<int> above, order;
};

Tree tree_of(const Model& model) {
  std::vector<bool> closes(model.joints().size(), false);
  for (const int j : model.loop_joints()) closes[at(j)] = true;
  std::vector<std::vector<int>> joints_of(model.bodies().size());
  Tree tree;
  tree.above.assign(model.bodies().size(), -1);
  std::vector<bool> reached(model.bodies().size(), false);
  const auto reach = [&](int body, int joint) {
    if (body == kWorld || reached[at(body)]) return;
    reached[at(body)] = true;
    tree.above[at(body)] = joint;
    tree.order.push_back(body);
  };
  for (int i = 0; i < model.joint_count(); ++i) {
    const Joint& j = model.joints()[at(i)];
    if (closes[at(i)] || j.type == JointType::free) continue;
    for (const auto& [body, other] : {std::pair(j.base, j.follower), std::pair(j.follower, j.base)}) {
      if (body != kWorld) joints_of[at(body)].push_back(i);
      if (other == kWorld) reach(body, i);
    }
  }
  // What hangs on the world first, then what floats, from its first body.
  int next_floating = 0;
  for (std::size_t k = 0;; ++k) {
    while (k == tree.order.size() && next_floating < model.body_count()) reach(next_floating++, -1);
    if (k == tree.order.size()) return tree;
    for (const int i : joints_of[at(tree.order[k])]) {
      const Joint& j = model.joints()[at(i)];
      reach(j.base == tree.order[k] ? j.follower : j.base, i);
    }
  }
}

// Several bodies as one rigid one, in world axes.
struct Lump {
  double mass = 0;
  Vec3 centre = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();  // about the centre

  void add(const Lump& o) {
    const double sum = mass + o.mass;
    if (!(sum > 0)) return;
    const Vec3 d = o.centre - centre;
    inertia += o.inertia + mass * o.mass / sum * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
    centre += o.mass / sum * d;
    mass = sum;
  }
};

// By joint: all bodies beyond it; nothing beyond those that close loops.
std::vector<Lump> lumps_beyond(const Model& model, const State& state) {
  const Tree tree = tree_of(model);
  std::vector<Lump> of_body, beyond(model.joints().size());
  for (std::size_t i = 0; i < model.bodies().size(); ++i) {
    const Body& b = model.bodies()[i];
    const Mat3 R = state.X_WB[i].q.toRotationMatrix();
    of_body.push_back({b.mass, state.X_WB[i].p, R * b.inertia_B * R.transpose()});
  }
  for (auto body = tree.order.rbegin(); body != tree.order.rend(); ++body) {
    const int joint = tree.above[at(*body)];
    if (joint < 0) continue;
    const Joint& j = model.joints()[at(joint)];
    const int below = j.base == *body ? j.follower : j.base;
    beyond[at(joint)] = of_body[at(*body)];
    if (below != kWorld) of_body[at(below)].add(of_body[at(*body)]);
  }
  return beyond;
}

// Mass, or inertia about the axis, of all bodies beyond the joint.
double inertia_of(const Lump& lump, const JointKinematics& kinematics, int joint, int k) {
  JointAxis axes[6];
  kinematics.dof_axes(joint, axes);
  const Vec3 v = axes[k].linear + axes[k].angular.cross(lump.centre - kinematics.frame(joint).p_F_W);
  return lump.mass * v.squaredNorm() + axes[k].angular.dot(lump.inertia * axes[k].angular);
}

}  // namespace

HeldModel held(const Model& model, double frequency) {
  const State start = State::initial(model);
  ModelData data = model.data();
  HeldModel out{model, 0, 0};
  bool motors = false;
  for (std::size_t i = 0; i < data.dofs.size(); ++i) {
    Drive& drive = data.dofs[i].drive;
    motors = motors || drive.mode != DriveMode::none;
    if (drive.mode != DriveMode::position) continue;
    drive.target = {};
    drive.target.offset = start.q[i];
    ++out.kept;
  }
  for (std::size_t i = 0; i < data.combinations.size(); ++i) {
    Drive& drive = data.combinations[i].law.drive;
    if (drive.mode != DriveMode::position) continue;
    drive.target = {};
    drive.target.offset = model.scalar_value(model.dof_count() + static_cast<int>(i), start.q);
    ++out.kept;
  }
  if (out.kept == 0) {
    const double w = 2 * std::numbers::pi * frequency;
    const std::vector<Lump> beyond = lumps_beyond(model, start);
    JointKinematics kinematics(model);
    kinematics.update(start.X_WB, start.q);
    std::vector<bool> taken(data.dofs.size(), false);  // decided by others
    for (const Coupling& c : data.couplings) taken[at(c.dof_a)] = true;
    for (const int j : model.loop_joints()) {
      for (int k = 0; k < joint_dofs(model.joints()[at(j)]); ++k) taken[at(model.joints()[at(j)].first_dof + k)] = true;
    }
    for (int i = 0; i < model.dof_count(); ++i) {
      const int joint = model.joint_of_dof(i);
      const Joint& j = model.joints()[at(joint)];
      Dof& dof = data.dofs[at(i)];
      if (j.type == JointType::spherical || taken[at(i)] || dof.limit.locked()) continue;
      if (motors && dof.drive.mode == DriveMode::none) continue;
      const double I = inertia_of(beyond[at(joint)], kinematics, joint, i - j.first_dof) + dof.armature;
      if (!(I > 0)) continue;
      dof.drive.mode = DriveMode::position;
      dof.drive.kp = I * w * w;
      dof.drive.kd = 2 * I * w;
      dof.drive.target = {};
      dof.drive.target.offset = start.q[at(i)];
      dof.drive.target_lower = Drive{}.target_lower;
      dof.drive.target_upper = Drive{}.target_upper;
      ++out.servos;
    }
  }
  out.model = finish_model(std::move(data));
  return out;
}

}  // namespace sarrus
