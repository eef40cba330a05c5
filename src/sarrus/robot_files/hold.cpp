#include "sarrus/robot_files/hold.h"

#include <algorithm>
#include <numbers>
#include <vector>

#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// By body: the joint that it hangs on in the tree, or -1.
std::vector<int> joint_above(const Model& model) {
  std::vector<bool> closes(model.joints().size(), false);
  for (const int j : model.loop_joints()) closes[at(j)] = true;
  std::vector<std::vector<int>> joints_of(model.bodies().size());
  std::vector<int> above(model.bodies().size(), -1), order;
  std::vector<bool> reached(model.bodies().size(), false);
  for (int i = 0; i < model.joint_count(); ++i) {
    const Joint& j = model.joints()[at(i)];
    if (closes[at(i)] || j.type == JointType::free) continue;
    for (const auto& [body, other] : {std::pair(j.base, j.follower), std::pair(j.follower, j.base)}) {
      if (body != kWorld) joints_of[at(body)].push_back(i);
      if (body != kWorld && other == kWorld && !reached[at(body)]) {
        reached[at(body)] = true;
        above[at(body)] = i;
        order.push_back(body);
      }
    }
  }
  // What hangs on the world first, then what floats, from its first body.
  int next_floating = 0;
  for (std::size_t k = 0;; ++k) {
    while (k == order.size() && next_floating < model.body_count()) {
      if (!reached[at(next_floating)]) {
        reached[at(next_floating)] = true;
        order.push_back(next_floating);
      }
      ++next_floating;
    }
    if (k == order.size()) return above;
    for (const int i : joints_of[at(order[k])]) {
      const Joint& j = model.joints()[at(i)];
      const int other = j.base == order[k] ? j.follower : j.base;
      if (other == kWorld || reached[at(other)]) continue;
      reached[at(other)] = true;
      above[at(other)] = i;
      order.push_back(other);
    }
  }
}

// Mass, or inertia about the axis, of all bodies beyond the joint.
double inertia_beyond(const Model& model, const State& state, const JointKinematics& kinematics, int joint, int k,
                      const std::vector<int>& above) {
  JointAxis axes[6];
  kinematics.dof_axes(joint, axes);
  const Vec3 p_W = kinematics.frame(joint).p_F_W;
  double sum = 0;
  for (int b = 0; b < model.body_count(); ++b) {
    int i = b;
    while (i != kWorld && above[at(i)] >= 0 && above[at(i)] != joint) {
      const Joint& j = model.joints()[at(above[at(i)])];
      i = j.base == i ? j.follower : j.base;
    }
    if (i == kWorld || above[at(i)] != joint) continue;
    const Body& body = model.bodies()[at(b)];
    const Pose& X = state.X_WB[at(b)];
    const Vec3 v = axes[k].linear + axes[k].angular.cross(X.p - p_W);
    const Vec3 w_B = X.q.conjugate() * axes[k].angular;
    sum += body.mass * v.squaredNorm() + w_B.dot(body.inertia_B * w_B);
  }
  return sum;
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
  for (const Combination& c : data.combinations) out.kept += c.law.drive.mode == DriveMode::position;
  if (out.kept == 0) {
    const double w = 2 * std::numbers::pi * frequency;
    const std::vector<int> above = joint_above(model);
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
      const double I = inertia_beyond(model, start, kinematics, joint, i - j.first_dof, above) + dof.armature;
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
