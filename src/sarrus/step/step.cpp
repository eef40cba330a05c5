// One step, in the order of the method:
//
//   assemble   model, state, inputs -> constraint problem      (assembler.h)
//   solve      problem -> impulses, judged by problem/judge.h  (solvers/)
//   move       velocities -> new poses                         (dynamics/coordinates.h)
//   close      poses back onto the joint manifold              (projection.h)
//   commit     the first line that changes the state
// Everything before `commit` works on copies: a step that fails leaves the state untouched.
#include <algorithm>
#include <cmath>

#include "sarrus/step/simulation_impl.h"
#include "sarrus/step/stopwatch.h"

namespace sarrus {
namespace {

// Adds an integrated part to the report of the step.
void add_part(const StepReport& part, Law law, Criterion criterion, StepReport& step) {
  if (step.substeps == 0) {
    const int rejected = step.rejected;
    step = part;
    step.rejected = rejected;
    step.substeps = 1;
    return;
  }
  ++step.substeps;
  step.status = StepStatus::substepped;
  step.solve_status = std::max(step.solve_status, part.solve_status);
  if (part.residuals.error(law, criterion) >= step.residuals.error(law, criterion)) step.residuals = part.residuals;
  step.met_tolerance = step.met_tolerance && part.met_tolerance;
  step.contacts = part.contacts;
  step.contacts_matched = part.contacts_matched;
  step.limits = part.limits;
  step.rows = part.rows;
  for (int StepReport::*sum : {&StepReport::iterations, &StepReport::factorisations}) step.*sum += part.*sum;
  for (double StepReport::*sum : {&StepReport::seconds_collision, &StepReport::seconds_assembly,
                                  &StepReport::seconds_solve, &StepReport::seconds_projection}) {
    step.*sum += part.*sum;
  }
  step.projection_iterations = std::max(step.projection_iterations, part.projection_iterations);
  step.joint_gap = part.joint_gap;
  step.joint_angle = part.joint_angle;
  step.compliant_gap = part.compliant_gap;
  step.compliant_angle = part.compliant_angle;
  step.limit_violation = std::max(step.limit_violation, part.limit_violation);
  step.penetration = std::max(step.penetration, part.penetration);
}

}  // namespace

void Simulation::Impl::step() {
  const Stopwatch watch;
  report = StepReport{};
  report.substeps = 0;
  message.clear();
  if (advance(options().dt, 0)) {
    clock.tick(options().dt, state);
  } else {
    report_failure();
  }
  report.seconds_total = watch.seconds();
}

// Takes one step, or two halves of it if no acceptable answer was found; undone as a whole if those fail.
bool Simulation::Impl::advance(double dt, int depth) {
  if (attempt(dt)) {
    add_part(part, used_law, options().criterion, report);
    return true;
  }
  ++report.rejected;
  if (depth >= options().max_substep_depth) return false;
  Undo& saved = undo[static_cast<std::size_t>(depth)];
  saved.state = state;
  saved.report = report;
  saved.effort = effort;
  if (advance(0.5 * dt, depth + 1) && advance(0.5 * dt, depth + 1)) return true;
  const int rejected = report.rejected;
  state = saved.state;
  effort = saved.effort;
  report = saved.report;
  report.rejected = rejected;
  warm.clear();
  return false;
}

bool Simulation::Impl::attempt(double dt) {
  part = StepReport{};
  closure = {};
  assembler.assemble(state, inputs, dt);
  part.seconds_collision = assembler.seconds_collision();
  part.seconds_assembly = assembler.seconds_assembly();
  part.contacts = static_cast<int>(assembler.contacts().size());
  part.limits = assembler.problem().rows_of(BlockKind::limit);
  part.rows = assembler.problem().rows();
  part.limit_violation = assembler.limit_violation();
  part.penetration = assembler.penetration();
  Stopwatch watch;
  const bool solved = solve();
  part.seconds_solve = watch.lap();
  if (!solved) return false;
  assembler.rates_after(u_plus, new_rate);
  move(dt);
  const bool closed = close_joints();
  part.seconds_projection = assembler.seconds_projection() + watch.lap();
  return closed && commit(dt);
}

// Warm start, solver, fallback, judge; false if no answer is acceptable. Leaves u+ in u_plus.
bool Simulation::Impl::solve() {
  const ConstraintProblem& problem = assembler.problem();
  lambda.resize(static_cast<std::size_t>(problem.rows()));
  if (options().warm_start) {
    part.contacts_matched = warm.load(problem, assembler.contacts(), assembler.row_poses(), lambda);
  } else {
    std::fill(lambda.begin(), lambda.end(), 0.0);
    solver->reset();
  }
  start_lambda.resize(lambda.size());  // unlike an assignment, grows by more than it needs
  std::copy(lambda.begin(), lambda.end(), start_lambda.begin());
  used_law = law;
  const Goal goal{options().tolerance, options().criterion};
  const Goal acceptable{options().acceptable, options().criterion};
  SolveReport answer = solver->solve(problem, goal, lambda);
  const bool usable = meets(answer.residuals, law, acceptable) || use_fallback(goal, acceptable, answer);
  part.solve_status = answer.status;
  part.residuals = answer.residuals;
  part.iterations = answer.iterations;
  part.factorisations = answer.factorisations;
  if (!usable) return false;
  // The answer is judged once more, by itself, whatever the solver reported.
  part.residuals = judge(problem, lambda, judge_workspace);
  if (!meets(part.residuals, used_law, acceptable)) {
    part.solve_status = part.residuals.finite ? SolveStatus::stalled : SolveStatus::non_finite;
    return false;
  }
  u_plus = judge_workspace.u;  // u_f + M^-1 J' lambda, which the judge computed
  if (!meets(part.residuals, used_law, goal)) {
    part.met_tolerance = false;
    part.status = std::max(part.status, StepStatus::accepted);
  }
  return true;
}

// The fallback solver's answer from a cold start in place of the solver's; false if it is not acceptable, either.
bool Simulation::Impl::use_fallback(const Goal& goal, const Goal& acceptable, SolveReport& answer) {
  fallback_lambda.assign(lambda.size(), 0.0);
  fallback->reset();
  solver->reset();
  const SolveReport second = fallback->solve(assembler.problem(), goal, fallback_lambda);
  if (!meets(second.residuals, fallback_law, acceptable)) return false;
  answer = second;
  lambda.swap(fallback_lambda);
  used_law = fallback_law;
  part.status = StepStatus::fallback;
  return true;
}

// Before that the gyroscopic torque, which the free velocity has of the torque-free motion, becomes that of the mean
// velocity actually reached: O(dt^2) on bodies with joints, and what keeps the energy of a top.
void Simulation::Impl::move(double dt) {
  const bool middle = assembler.scheme().rotation == Rotation::middle;
  if (middle && assembler.projection().has_rows()) {
    assembler.coordinates().correct_rotation(assembler.free_motion(inputs, dt), u_plus);
  }
  assembler.coordinates().move(assembler.free_motion(inputs, dt), state.X_WB, u_plus, new_poses);
  kinematics.update(new_poses);
}

// Positions onto the joint manifold; false if a joint stays open: the step is too long for its curvature, or leads
// through a singular pose, and a shorter one may close it. Schemes that finish also make the velocity tangent at the
// new pose: O(dt^2), and what their second order rests on.
bool Simulation::Impl::close_joints() {
  JointProjection& projection = assembler.projection();
  if (options().projection) {
    part.projection_iterations = projection
                                     .project_poses(new_poses, kinematics, state.q, options().projection_tolerance,
                                                    options().projection_iterations)
                                     .iterations;
  }
  const Scheme& scheme = assembler.scheme();
  const bool finish = scheme.finish && options().projection && projection.has_rows();
  if (scheme.rotation != Rotation::stage) assembler.coordinates().carry(assembler.row_poses(), new_poses, u_plus);
  if (finish) projection.project_velocities(new_poses, kinematics, state.q, u_plus);
  new_q = state.q;
  kinematics.update_coordinates(new_q);
  closure = joint_errors(model(), kinematics, new_q);
  part.joint_gap = closure.gap;
  part.joint_angle = closure.angle;
  part.compliant_gap = closure.compliant_gap;
  part.compliant_angle = closure.compliant_angle;
  // Written so that NaN is no closed joint.
  const double most = options().acceptable_gap;
  if (!options().projection || (closure.gap <= most && closure.angle <= most)) return true;
  part.status = StepStatus::failed;
  return false;
}

bool Simulation::Impl::commit(double dt) {
  bool finite = u_plus.allFinite();
  for (const Pose& X : new_poses) finite = finite && all_finite(X);
  for (const double x : new_q) finite = finite && std::isfinite(x);
  for (const double x : new_rate) finite = finite && std::isfinite(x);
  if (!finite) {
    part.solve_status = SolveStatus::non_finite;
    return false;
  }
  const ConstraintProblem& problem = assembler.problem();
  if (options().warm_start) warm.store(problem, assembler.contacts(), assembler.row_poses(), lambda);
  for (std::size_t i = 0; i < effort.size(); ++i) effort[i] = assembler.explicit_effort(static_cast<int>(i));
  for (const ConstraintBlock& b : problem.blocks) {
    if (b.source_kind != RowSource::servo) continue;
    effort[static_cast<std::size_t>(b.source)] = lambda[static_cast<std::size_t>(b.row)] / dt;
  }
  state.X_WB = new_poses;
  assembler.coordinates().scatter(new_poses, u_plus, state.twist);
  state.q = new_q;
  state.rate_lag.resize(state.q.size(), 0.0);
  for (const int i : assembler.armature_dofs()) {
    const auto k = static_cast<std::size_t>(i);
    state.rate_lag[k] = new_rate[k] - kinematics.rate(i, state.twist);
  }
  state.time += dt;
  return true;
}

}  // namespace sarrus
