#include "sarrus/assembly/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "sarrus/assembly/closing.h"
#include "sarrus/assembly/freedom.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/topology.h"

namespace sarrus {

std::string_view name_of(AssemblyStatus status) {
  switch (status) {
    case AssemblyStatus::already:
      return "already";
    case AssemblyStatus::assembled:
      return "assembled";
    case AssemblyStatus::assembled_inexact:
      return "assembled_inexact";
    case AssemblyStatus::infeasible:
      return "infeasible";
    case AssemblyStatus::limits_conflict:
      return "limits_conflict";
    case AssemblyStatus::unreachable:
      return "unreachable";
    case AssemblyStatus::max_iterations:
      return "max_iterations";
    case AssemblyStatus::non_finite:
      return "non_finite";
    case AssemblyStatus::too_large:
      return "too_large";
  }
  return "?";
}

void check_assembly_input(const Model& model, const State& given, std::span<const CoordinateValue> values,
                          std::string_view call) {
  check_state(given, model, call);
  for (const CoordinateValue& v : values) {
    if (v.dof < 0 || v.dof >= model.dof_count())
      throw InputError(std::string(call), "a value is of a coordinate that the model does not have");
    if (!std::isfinite(v.value)) {
      throw InputError(std::string(call), "the value of coordinate '" + model.dof_name(v.dof) + "' is not finite");
    }
    const Joint& j = model.joints()[at(model.joint_of_dof(v.dof))];
    if (!joint_type_info(j.type).coordinates) {
      throw InputError(std::string(call), "joint '" + j.name + "' has no coordinates that could be given: it turns " +
                                              "about any axis; use a gimbal joint, or pin others");
    }
  }
}

void describe_assembly(const Model& model, const State& given, const AssemblyOptions& options, LoopEquations& equations,
                       const Posture& posture, AssemblyReport& report) {
  equations.linearise(posture);
  equations.violation(&report.worst_joint);
  report.residual = std::max(0.0, equations.plain_violation());
  report.q_before = given.q;
  report.q_after = posture.q;
  const std::vector<Vec6> way = difference(posture.X_WB, given.X_WB);
  std::vector<AssemblyReport::Moved> moved;
  for (int i = 0; i < model.body_count(); ++i) {
    const AssemblyReport::Moved m = {i, way[at(i)].head<3>().norm(), way[at(i)].tail<3>().norm()};
    if (m.distance > 1e-9 || m.angle > 1e-9) moved.push_back(m);
  }
  const auto size = [&](const AssemblyReport::Moved& m) { return m.distance / equations.length() + m.angle; };
  std::stable_sort(moved.begin(), moved.end(), [&](const auto& a, const auto& b) { return size(a) > size(b); });
  if (moved.size() > 10) moved.resize(10);
  report.moved = std::move(moved);
  for (int i = 0; i < equations.row_count(); ++i) {
    if (!equations.is_equation(i) && equations.dof_of_limit(i) >= 0 && equations.value(i) < 1e-9) {
      report.limits_reached.push_back(equations.dof_of_limit(i));
    }
  }
  find_freedom(equations, options, posture, report);
}

Model with_reference(const Model& model, const State& state) {
  check_state(state, model, "with_reference()");
  ModelData data = model.data();
  for (std::size_t i = 0; i < data.bodies.size(); ++i) data.bodies[i].X_WB0 = state.X_WB[i];
  for (std::size_t i = 0; i < data.dofs.size(); ++i) {  // poses do not tell turns
    std::optional<double>& initial = data.dofs[i].initial;
    if (initial || std::abs(state.q[i]) > std::numbers::pi) initial = state.q[i];
  }
  return finish_model(std::move(data));
}

namespace {

std::string where(const Model& model, const AssemblyReport& report) {
  if (report.worst_joint < 0) return "";
  const Loop loop = shortest_loop(model, report.worst_joint);
  return fmt::format(" at joint '{}'{}", model.joints()[at(report.worst_joint)].name,
                     loop.joints.empty() ? "" : " in " + loop_text(model, loop));
}

std::string moved_most(const Model& model, const AssemblyReport& report) {
  if (report.moved.empty()) return "nothing moved";
  const AssemblyReport::Moved& m = report.moved[0];
  return fmt::format("body '{}' moved most, by {:.3g} m and {:.3g} rad", model.bodies()[at(m.body)].name, m.distance,
                     m.angle);
}

}  // namespace

std::string assembly_text(const Model& model, const AssemblyReport& r) {
  switch (r.status) {
    case AssemblyStatus::already:
      return fmt::format("all joints meet, the worst by {:.2g}", r.residual);
    case AssemblyStatus::assembled:
      if (r.gap_before < 1e-9)
        return fmt::format("moved, and all joints meet, the worst by {:.2g}: {}", r.residual, moved_most(model, r));
      return fmt::format("joints that were open by {:.3g} meet now, the worst by {:.2g}: {}", r.gap_before, r.residual,
                         moved_most(model, r));
    case AssemblyStatus::assembled_inexact:
      return fmt::format(
          "joints that were open by {:.3g} are closed but for {:.2g}{}, where redundant rows contradict each other: {}",
          r.gap_before, r.residual, where(model, r), moved_most(model, r));
    case AssemblyStatus::infeasible:
      return fmt::format(
          "the joints cannot meet: {:.3g} stays open{}; correct the lengths and axes of that loop, choose another "
          "joint "
          "type, or give a pose nearer to the closed one",
          r.residual, where(model, r));
    case AssemblyStatus::limits_conflict: {
      std::vector<std::string> names;
      for (const int dof : r.limits_reached) names.push_back(in_quotes(model.dof_name(dof)));
      if (names.size() > 6) names.resize(6);
      return fmt::format("the joints meet only outside of limits{}{}: {:.3g} stays open{}; widen the limits",
                         names.empty() ? "" : " of ", fmt::join(names, ", "), r.residual, where(model, r));
    }
    case AssemblyStatus::unreachable:
      return fmt::format(
          "the wanted coordinates are not reached: {:.4g} of the way is possible from here (smallest singular value on "
          "it {:.2g}); choose other values, or start from another pose",
          r.reached, r.sigma_on_path);
    case AssemblyStatus::max_iterations:
      return fmt::format("no verdict after {} iterations: {:.3g} is open{}; give a pose nearer to the closed one",
                         r.iterations, r.residual, where(model, r));
    case AssemblyStatus::non_finite:
      return "the pose became infinite; check the masses and lengths of the model";
    case AssemblyStatus::too_large:
      return fmt::format(
          "joints are open by {:.3g}, and a mechanism has more than {} rows, too many to assemble; close it in the "
          "file",
          r.gap_before, kMostAssemblyRows);
  }
  return "";
}

}  // namespace sarrus
