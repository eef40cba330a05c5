// Why a step cannot be taken, in words that name the cause and what helps.
#include <fmt/format.h>

#include <cmath>

#include "sarrus/model/topology.h"
#include "sarrus/step/simulation_impl.h"

namespace sarrus {
namespace {

// A solve that was not good enough, in the words of who runs it.
std::string_view what_happened(SolveStatus status) {
  switch (status) {
    case SolveStatus::max_iterations:
      return "the solve has used up its iterations or its budget";
    case SolveStatus::stalled:
      return "the solve finds no better impulses";
    case SolveStatus::infeasible:
      return "no impulses can do what is asked for";
    case SolveStatus::non_finite:
      return "impulses are beyond range";
    case SolveStatus::converged:
      return "the impulses found do not pass the judge";
  }
  return "";
}

// If bodies that are joined or touch there differ so much in mass that rounding alone keeps a solve from its end.
std::string masses_text(const Model& model, const std::vector<int>& bodies) {
  constexpr double kFar = 1e5;
  const Body* light = nullptr;
  const Body* heavy = nullptr;
  for (const int i : bodies) {
    if (i == kWorld) continue;
    const Body& body = model.bodies()[static_cast<std::size_t>(i)];
    if (light == nullptr || body.mass < light->mass) light = &body;
    if (heavy == nullptr || body.mass > heavy->mass) heavy = &body;
  }
  if (light == nullptr || !(heavy->mass > kFar * light->mass)) return "";
  return fmt::format(
      "; body '{}' weighs {:.2g} times as much as body '{}': bring the masses closer together, or give what "
      "is named compliance",
      heavy->name, heavy->mass / light->mass, light->name);
}

// Impulses that are nearly right, to which a shorter step is often no nearer.
std::string acceptance_text(SolveStatus status, double error) {
  constexpr double kUsable = 0.1;
  const bool ended = status == SolveStatus::max_iterations || status == SolveStatus::stalled;
  if (!ended || !(error < kUsable)) return "";
  return fmt::format(", or take impulses that are as far off: --acceptable {:.1g}", 2 * error);
}

}  // namespace

void Simulation::Impl::report_failure() {
  // What was set apart met others, and was not solved: the step as a whole says why it cannot be taken.
  if (part.status != StepStatus::failed && part.residuals.worst_block < 0 && options().max_substep_depth > 0) {
    moving.take_all();
    may_divide = true;
    spent = 0;
    save(0);
    if (attempt(options().dt)) restore(0);
  }
  const bool open_joint = part.status == StepStatus::failed;
  part.rejected = report.rejected;
  part.substeps = 0;
  part.met_tolerance = false;
  part.status = StepStatus::failed;
  report = part;
  const auto& blocks = assembler.problem().blocks;
  const int worst = report.residuals.worst_block;
  message = fmt::format(
      "step at t = {:.6g} s failed: {} ({} iterations), error {:.3g} where {:.3g} is acceptable; worst: {}", state.time,
      what_happened(report.solve_status), report.iterations, report.residuals.error(used_law, options().criterion),
      options().acceptable,
      worst >= 0 && worst < static_cast<int>(blocks.size()) ? describe(blocks[static_cast<std::size_t>(worst)])
                                                            : "no constraint");
  std::string cause;
  if (worst >= 0 && worst < static_cast<int>(blocks.size())) {
    const std::vector<int> bodies = bodies_at(blocks[static_cast<std::size_t>(worst)]);
    cause = turning_text(bodies, {&state.twist});
    if (cause.empty() && report.solve_status != SolveStatus::non_finite) cause = masses_text(model(), bodies);
  }
  message += cause.empty() ? what_helps() : cause;
  message += acceptance_text(report.solve_status, report.residuals.error(used_law, options().criterion));
  if (open_joint) message = open_joint_text();
  if (goal().out_of_time()) {
    message += fmt::format("; the {:g} s that a step may take are over", options().max_step_time);
  }
  report.message = message;
}

std::string Simulation::Impl::describe(const ConstraintBlock& b) const {
  switch (b.source_kind) {
    case RowSource::joint:
    case RowSource::swing_limit:
    case RowSource::rope:
      return fmt::format("joint '{}'", model().joints()[static_cast<std::size_t>(b.source)].name);
    case RowSource::coupling:
      return fmt::format("coupling '{}'", model().couplings()[static_cast<std::size_t>(b.source)].name);
    case RowSource::locked_dof:
    case RowSource::limit_lower:
    case RowSource::limit_upper:
      return fmt::format("limit of '{}'", model().dof_name(b.source));
    case RowSource::servo:
    case RowSource::passive:
    case RowSource::dry_friction:
      return fmt::format("drive or friction of '{}'", model().dof_name(b.source));
    case RowSource::drag:
      return fmt::format("drag of body '{}'", model().bodies()[static_cast<std::size_t>(b.source)].name);
    case RowSource::contact: {
      const Contact& c = assembler.contacts()[static_cast<std::size_t>(b.source)];
      return fmt::format("contact between geoms '{}' and '{}'",
                         model().geoms()[static_cast<std::size_t>(c.geom_a)].name,
                         model().geoms()[static_cast<std::size_t>(c.geom_b)].name);
    }
  }
  return {};
}

// Of a solve that was not good enough.
std::string_view Simulation::Impl::what_helps() const {
  switch (report.solve_status) {
    case SolveStatus::non_finite:
      return "; numbers are beyond range: check masses, stiffnesses and speeds there, or shorten the step";
    case SolveStatus::infeasible:
      return "; what is asked for there contradicts itself: check limits, drives and joints, or give one of them "
             "compliance";
    default:
      return "; joints, limits and contacts there nearly contradict each other, or many bodies hang together: give "
             "what is "
             "named compliance, shorten the step (--dt), raise --budget";
  }
}

// Of the loop that a joint closes, or else those it connects.
std::vector<int> Simulation::Impl::bodies_around(int joint) const {
  std::vector<int> bodies = shortest_loop(model(), joint).bodies;
  const Joint& j = model().joints()[static_cast<std::size_t>(joint)];
  if (bodies.empty()) bodies = {j.base, j.follower};
  return bodies;
}

std::vector<int> Simulation::Impl::bodies_at(const ConstraintBlock& b) const {
  switch (b.source_kind) {
    case RowSource::joint:
    case RowSource::swing_limit:
    case RowSource::rope:
      return bodies_around(b.source);
    case RowSource::coupling:
      return bodies_around(model().joint_of_dof(model().couplings()[static_cast<std::size_t>(b.source)].dof_a));
    case RowSource::contact: {
      const Contact& c = assembler.contacts()[static_cast<std::size_t>(b.source)];
      return {c.body_a, c.body_b};
    }
    case RowSource::locked_dof:
    case RowSource::limit_lower:
    case RowSource::limit_upper:
    case RowSource::servo:
    case RowSource::passive:
    case RowSource::dry_friction:
      return bodies_around(model().joint_of_dof(b.source));
    case RowSource::drag:
      return {b.source};
  }
  return {};
}

// If one of them turns further in a step than can be followed.
std::string Simulation::Impl::turning_text(const std::vector<int>& bodies,
                                           std::initializer_list<const std::vector<Vec6>*> twists) const {
  constexpr double kFar = 0.5;  // rad
  constexpr double kNear = 0.1;
  double turn = 0;  // rad per step
  int fastest = kWorld;
  for (const int body : bodies) {
    if (body == kWorld) continue;
    for (const std::vector<Vec6>* twist : twists) {
      const double rate = (*twist)[static_cast<std::size_t>(body)].tail<3>().norm() * options().dt;
      if (!(rate > turn)) continue;
      turn = rate;
      fastest = body;
    }
  }
  if (!(turn > kFar) || !std::isfinite(turn)) return "";
  return fmt::format("; body '{}' turns by {:.2g} rad in a step, too far to be followed: take steps of {:.1g} s",
                     model().bodies()[static_cast<std::size_t>(fastest)].name, turn, options().dt * kNear / turn);
}

// The causes that can be told apart: bodies that turn too far in a step for any pose to be found from the last one, a
// loop without a pose nearby, and what is left.
std::string Simulation::Impl::open_joint_text() const {
  const std::string when = fmt::format("step at t = {:.6g} s failed: ", state.time);
  if (closure.worst_coupling >= 0) {
    return fmt::format(
        "{}coupling '{}' would be off by {:.3g}; its joints cannot follow it there: check its ratio, offset and the "
        "limits of its joints, or shorten the step",
        when, model().couplings()[static_cast<std::size_t>(closure.worst_coupling)].name, closure.angle);
  }
  if (closure.worst_lock >= 0) {
    return fmt::format(
        "{}'{}' is locked by equal limits and would be off by {:.3g}: the joints around it, couplings or drives lead "
        "away "
        "from there; check the value it is locked at, or shorten the step",
        when, model().dof_name(closure.worst_lock), closure.angle);
  }
  if (closure.worst_joint < 0) return when + "a joint would open; shorten the step";
  const Joint& joint = model().joints()[static_cast<std::size_t>(closure.worst_joint)];
  std::string text =
      fmt::format("{}joint '{}' would open by {:.3g} m, {:.3g} rad", when, joint.name, closure.gap, closure.angle);
  const Loop loop = shortest_loop(model(), closure.worst_joint);
  const std::string turning = turning_text(bodies_around(closure.worst_joint), {&state.twist, &new_twist});
  if (!turning.empty()) return text + turning;
  if (!loop.joints.empty()) {
    return text + fmt::format(
                      "; {} has no closed pose near the last one: it is singular there, or drives, limits or "
                      "contacts push it apart; shorten the step, or give a joint of it compliance",
                      loop_text(model(), loop));
  }
  return text + "; shorten the step, or look for a singular pose";
}

}  // namespace sarrus
