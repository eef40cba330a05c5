#include "sarrus/robot_files/close_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/assembly/snap_axes.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus::robot {
namespace {

constexpr double kOpen = 1e-9;  // m or rad

double beyond_limits(const Model& model, const State& state) {
  double most = 0;
  for (std::size_t i = 0; i < model.dofs().size(); ++i) {
    const Limit& limit = model.dofs()[i].limit;
    if (limit.active()) most = std::max({most, limit.lower - state.q[i], state.q[i] - limit.upper});
  }
  return most;
}

// The frame of the follower's joint in the frame of the base's where the joint has these coordinates and no residual;
// false for types whose rows leave it open.
bool frame_of(JointType type, const double* q, const Pose& now, Pose& wanted) {
  wanted = {};
  switch (type) {
    case JointType::fixed:
      return true;
    case JointType::revolute:
      wanted.q = so3_exp(Vec3(q[0], 0, 0));
      return true;
    case JointType::prismatic:
      wanted.p = Vec3(q[0], 0, 0);
      return true;
    case JointType::cylindrical:
      wanted.p = Vec3(q[0], 0, 0);
      wanted.q = so3_exp(Vec3(q[1], 0, 0));
      return true;
    case JointType::universal:
      wanted.q = so3_exp(Vec3(q[0], 0, 0)) * so3_exp(Vec3(0, q[1], 0));
      return true;
    case JointType::spherical:
    case JointType::gimbal:
      wanted.q = now.q;
      return true;
    default:
      return false;
  }
}

// Numbers of a file that contradict each other in a redundant loop leave its joints open by their rounding wherever it
// stands. Frames of followers take up what is left at the start.
Model without_residuals(const Model& model, const State& state, Findings& findings) {
  constexpr double kClosed = 1e-13;
  constexpr double kRounding = 1e-6;
  const double open = open_by(model, state);
  if (open <= kClosed * 10 || open > kRounding) return model;
  ModelData data = model.data();
  for (Joint& j : data.joints) {
    const Pose X_WJB = (j.base == kWorld ? Pose{} : state.X_WB[at(j.base)]) * Pose{j.p_BJ, j.q_BJ};
    const Pose& X_WF = state.X_WB[at(j.follower)];
    const Pose now = X_WJB.inverse() * X_WF * Pose{j.p_FJ, j.q_FJ};
    Pose wanted;
    if (!frame_of(j.type, state.q.data() + j.first_dof, now, wanted)) continue;
    if ((now.p - wanted.p).norm() <= kClosed && so3_log(now.q.conjugate() * wanted.q).norm() <= kClosed) continue;
    const Pose X_FJ = X_WF.inverse() * X_WJB * wanted;
    j.p_FJ = X_FJ.p;
    j.q_FJ = X_FJ.q.normalized();
  }
  findings.add(ImportSeverity::note, "rounded-loop", "", "",
               fmt::format("redundant loops contradict themselves by {:.2g} in the numbers of the file; joint frames "
                           "take it up at the start",
                           open),
               "");
  return finish_model(std::move(data));
}

}  // namespace

double open_by(const Model& model, const State& state) {
  JointKinematics kinematics(model);
  kinematics.update(state.X_WB);
  const JointErrors errors = joint_errors(model, kinematics, state.q);
  return std::max(errors.gap, errors.angle);
}

Model snapped(const Model& model, const State& state, Findings& findings) {
  if (model.loop_joints().empty() || !(findings.options().snap_angle > 0)) return model;
  SnapResult snap = snap_axes(model, state, findings.options().snap_angle);
  for (const SnappedLoop& loop : snap.loops) {
    findings.add(ImportSeverity::warning, "snapped-axes", "",
                 fmt::format("joint '{}'", model.joints()[at(loop.joints.at(0))].name),
                 fmt::format("the axes of its loop are parallel but for {:.2g} rad, which would lock it; they are made "
                             "exactly parallel",
                             loop.angle),
                 "");
  }
  return std::move(snap.model);
}

Model assembled(const Model& model, Findings& findings) {
  const ImportOptions& options = findings.options();
  if (options.assemble == ImportAssembly::never) return model;
  const State start = State::initial(model);
  const double open = open_by(model, start);
  const double beyond = beyond_limits(model, start);
  const bool needed = options.assemble == ImportAssembly::always || open > kOpen || beyond > kOpen;
  if (!needed && options.pins.empty()) return snapped(model, start, findings);
  AssemblyOptions how;
  how.snap = options.snap_length;
  for (const auto& [name, value] : options.pins) how.pins.push_back({model.dof(name), value});
  Assembly result = assemble(model, start, how);
  findings.report().assembly = result.report;
  if (!result.report.closed()) {
    throw InputError(findings.report().source,
                     fmt::format("{}; --assemble never reads the file as it is", assembly_text(model, result.report)));
  }
  findings.add(ImportSeverity::note, "assembled", "", "", assembly_text(model, result.report), "");
  const Model closed = without_residuals(with_reference(model, result.state), result.state, findings);
  return snapped(closed, result.state, findings);
}

}  // namespace sarrus::robot
