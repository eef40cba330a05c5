#include "sarrus/robot_files/close_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/assembly/snap_axes.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"

namespace sarrus::robot {
namespace {

constexpr double kOpen = 1e-9;  // m or rad

double open_by(const Model& model, const State& state) {
  JointKinematics kinematics(model);
  kinematics.update(state.X_WB);
  const JointErrors errors = joint_errors(model, kinematics, state.q);
  return std::max(errors.gap, errors.angle);
}

double beyond_limits(const Model& model, const State& state) {
  double most = 0;
  for (std::size_t i = 0; i < model.dofs().size(); ++i) {
    const Limit& limit = model.dofs()[i].limit;
    if (limit.active()) most = std::max({most, limit.lower - state.q[i], state.q[i] - limit.upper});
  }
  return most;
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

}  // namespace

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
  return snapped(with_reference(model, result.state), result.state, findings);
}

}  // namespace sarrus::robot
