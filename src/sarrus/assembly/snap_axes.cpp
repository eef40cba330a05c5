#include "sarrus/assembly/snap_axes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "sarrus/assembly/freedom.h"
#include "sarrus/assembly/mechanisms.h"
#include "sarrus/assembly/rounded_rows.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/joint_graph.h"

namespace sarrus {
namespace {

// The column of the joint frame that is the axis of the joint; -1 for joints without one.
int axis_column(JointType type) {
  switch (type) {
    case JointType::revolute:
    case JointType::prismatic:
    case JointType::cylindrical:
      return 0;
    case JointType::planar:
      return 2;
    default:
      return -1;
  }
}

// Both frames of a joint anew, with the axis `axis_W` and the same coordinates: its residual at these poses is zero.
void turn_axis(Joint& j, const JointFrame& f, std::span<const Pose> X_WB, const Vec3& axis_W) {
  const int column = axis_column(j.type);
  const Mat3 Q = f.A_B.transpose() * f.A_F;
  const double angle = twist_angle(Quat(Q), column);
  const Vec3 p = f.A_B.transpose() * (f.p_F_W - f.p_B_W);
  const Mat3 turn = Quat::FromTwoVectors(Vec3(f.A_B.col(column)), axis_W).toRotationMatrix();
  const Mat3 A_B = turn * f.A_B;
  Vec3 free = Vec3::Zero();  // what of p is a coordinate
  Mat3 relative = Mat3::Identity();
  switch (j.type) {
    case JointType::planar:
      free = Vec3(p.x(), p.y(), 0);
      break;
    case JointType::prismatic:
    case JointType::cylindrical:
      free = Vec3(p.x(), 0, 0);
      break;
    default:
      break;
  }
  if (j.type != JointType::prismatic) relative = Eigen::AngleAxisd(angle, Vec3::Unit(column)).toRotationMatrix();
  const Mat3 A_F = A_B * relative;
  const Vec3 p_B_W = f.p_F_W - A_B * free;
  const Pose X_WBase = j.base == kWorld ? Pose{} : X_WB[at(j.base)];
  const Pose& X_WF = X_WB[at(j.follower)];
  j.p_BJ = X_WBase.inverse() * p_B_W;
  j.q_BJ = (X_WBase.q.conjugate() * Quat(A_B)).normalized();
  j.q_FJ = (X_WF.q.conjugate() * Quat(A_F)).normalized();
}

// Axes of a loop, in sets that are parallel within the angle; only sets that are not so exactly.
std::vector<std::vector<int>> parallel_sets(const Model& model, const JointKinematics& kinematics, const Loop& loop,
                                            double snap_angle, std::vector<Vec3>& mean_W, std::vector<double>& spread) {
  constexpr double kExact = 1e-13;
  std::vector<std::vector<int>> sets;
  std::vector<bool> taken(loop.joints.size(), false);
  const auto axis = [&](std::size_t i) -> Vec3 {
    const int joint = loop.joints[i];
    return kinematics.frame(joint).A_B.col(axis_column(model.joints()[at(joint)].type));
  };
  const auto has_axis = [&](std::size_t i) { return axis_column(model.joints()[at(loop.joints[i])].type) >= 0; };
  for (std::size_t i = 0; i < loop.joints.size(); ++i) {
    if (taken[i] || !has_axis(i)) continue;
    const Vec3 first = axis(i);
    std::vector<int> set = {loop.joints[i]};
    std::vector<Vec3> axes = {first};
    for (std::size_t k = i + 1; k < loop.joints.size(); ++k) {
      if (taken[k] || !has_axis(k)) continue;
      const Vec3 other = axis(k);
      if (first.cross(other).norm() > snap_angle) continue;
      taken[k] = true;
      set.push_back(loop.joints[k]);
      axes.push_back(first.dot(other) > 0 ? other : Vec3(-other));
    }
    Vec3 sum = Vec3::Zero();
    for (const Vec3& a : axes) sum += a;
    const Vec3 mean = sum.normalized();
    double most = 0;
    for (const Vec3& a : axes) most = std::max(most, mean.cross(a).norm());
    if (set.size() < 2 || most < kExact) continue;
    sets.push_back(std::move(set));
    mean_W.push_back(mean);
    spread.push_back(most);
  }
  return sets;
}

int strict_rank(const Model& model, const State& state) {
  const AssemblyOptions options;
  LoopEquations equations(model, options);
  AssemblyReport report;
  find_freedom(equations, options, {state.X_WB, state.q}, report);
  return report.rank;
}

// Of a mechanism alone.
SnapResult snapped_mechanism(const Model& given, const State& closed, double snap_angle) {
  SnapResult result{given, {}};
  const JointGraph graph(given);
  JointKinematics kinematics(given);
  kinematics.update(closed.X_WB, closed.q);
  int rank = 0;  // of result.model, once it is known
  for (const int closing : given.loop_joints()) {
    const Model& model = result.model;
    const Loop loop = graph.shortest_loop(closing);
    if (loop.joints.empty()) continue;
    std::vector<Vec3> mean_W;
    std::vector<double> spread;
    const std::vector<std::vector<int>> sets = parallel_sets(model, kinematics, loop, snap_angle, mean_W, spread);
    if (sets.empty()) continue;
    ModelData data = model.data();
    SnappedLoop snapped;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      for (const int i : sets[s]) {
        Joint& j = data.joints[at(i)];
        const JointFrame& f = kinematics.frame(i);
        const Vec3 axis = f.A_B.col(axis_column(j.type));
        turn_axis(j, f, closed.X_WB, axis.dot(mean_W[s]) > 0 ? mean_W[s] : Vec3(-mean_W[s]));
        snapped.joints.push_back(i);
      }
      snapped.angle = std::max(snapped.angle, spread[s]);
    }
    Model turned = finish_model(std::move(data));
    if (rank == 0) rank = strict_rank(model, closed);
    if (rank < 0) break;  // too large
    const int without = strict_rank(turned, closed);
    if (without >= rank) continue;  // it moves as it is, or not for that reason
    rank = without;
    result.model = std::move(turned);
    kinematics = JointKinematics(result.model);
    kinematics.update(closed.X_WB, closed.q);
    result.loops.push_back(std::move(snapped));
  }
  return result;
}

}  // namespace

SnapResult snap_axes(const Model& given, const State& closed, double snap_angle) {
  SnapResult result{given, {}};
  if (given.loop_joints().empty()) return result;
  const Mechanisms mechanisms(given);
  std::optional<ModelData> data;
  for (int k = 0; k < mechanisms.count(); ++k) {
    if (!mechanisms.closes(k)) continue;
    SnapResult own = snapped_mechanism(mechanisms.part(k), mechanisms.part_state(k, closed), snap_angle);
    if (own.loops.empty()) continue;
    if (!data) data = given.data();
    const std::span<const int> joints = mechanisms.joints(k);
    for (SnappedLoop& loop : own.loops) {
      for (int& i : loop.joints) {
        const Joint& turned = own.model.joints()[at(i)];
        i = joints[at(i)];
        Joint& j = data->joints[at(i)];
        j.p_BJ = turned.p_BJ;
        j.p_FJ = turned.p_FJ;
        j.q_BJ = turned.q_BJ;
        j.q_FJ = turned.q_FJ;
      }
      result.loops.push_back(std::move(loop));
    }
  }
  if (data) result.model = finish_model(*std::move(data));
  return result;
}

std::vector<SnappedLoop> locked_loops(const Model& model, const State& closed, double snap_angle) {
  SnapResult snap = snap_axes(model, closed, snap_angle);
  if (snap.loops.empty()) return {};
  // Rows of a loop that moves all the same are left out in the step, and open by up to twice the angle where it goes:
  // more than a step may leave open if that is not small.
  constexpr double kStaysClosed = 4e-6;
  const std::vector<std::uint8_t> released = rounded_rows(model);
  if (released.empty()) return std::move(snap.loops);
  std::vector<bool> moves(model.joints().size(), false);
  int row = 0;
  for (std::size_t i = 0; i < model.joints().size(); ++i) {
    const Joint& j = model.joints()[i];
    const int rows = j.rope ? 0 : joint_rows(j);
    for (int r = row; r < row + rows; ++r) moves[i] = moves[i] || released[at(r)] != 0;
    row += rows;
  }
  std::erase_if(snap.loops, [&](const SnappedLoop& loop) {
    return loop.angle <= kStaysClosed &&
           std::any_of(loop.joints.begin(), loop.joints.end(), [&](int i) { return moves[at(i)]; });
  });
  return std::move(snap.loops);
}

}  // namespace sarrus
