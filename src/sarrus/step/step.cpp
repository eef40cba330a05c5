// One step, in the order of the method:
//
//   assemble   model, state, inputs -> constraint problem      (assembler.h)
//   solve      problem -> impulses, judged by problem/judge.h  (solvers/)
//   move       velocities -> new poses                         (dynamics/coordinates.h)
//   close      poses back onto the joint manifold, out of what they sank into, velocities tangent there
//              (projection.h, push_out.h)
//   commit     the first line that changes the state
// Everything before `commit` works on copies: a step that fails leaves the state untouched.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "sarrus/step/simulation_impl.h"
#include "sarrus/step/stopwatch.h"

namespace sarrus {

void Simulation::Impl::step() {
  const Stopwatch watch;
  const Workers::Scope team(&workers);
  spent = 0;
  deadline = Goal::Clock::time_point::max();
  if (options().max_step_time > 0) {
    const std::chrono::duration<double> most(std::min(options().max_step_time, 1e6));
    deadline = Goal::Clock::now() + std::chrono::duration_cast<Goal::Clock::duration>(most);
  }
  report = StepReport{};
  report.substeps = 0;
  message.clear();
  moving.take_all();
  if (advance(options().dt, 0)) {
    clock.tick(options().dt, state);
    report.creates_energy = creates_energy();
    find_lock();
  } else {
    report_failure();
  }
  report.seconds_total = watch.seconds();
}

void Simulation::Impl::find_lock() {
  double least = JointKinematics::kNearlyDependent;
  for (const int i : may_lock) {
    const double conditioning = assembler.kinematics_after().conditioning(i);
    if (conditioning > least) continue;
    least = conditioning;
    report.locked_joint = model().joints()[static_cast<std::size_t>(i)].name;
  }
}

// What a solve of this step is asked for. All attempts share the budget of the step; the last ones have a few
// factorisations at least, since a step that fails ends the run.
Goal Simulation::Impl::goal(int used) const {
  constexpr int kLeastBudget = 20;
  Goal out{options().tolerance, options().criterion};
  out.acceptable = options().acceptable;
  out.budget = std::max(options().budget - spent - used, std::min(kLeastBudget, options().budget));
  out.deadline = deadline;
  return out;
}

bool Simulation::Impl::attempt(double dt) {
  part = StepReport{};
  closure = {};
  answers.clear();
  set_stuck(0);
  assembler.assemble(state, inputs, dt, &warm);
  clear_impulses();
  part.seconds_collision = assembler.seconds_collision();
  part.seconds_assembly = assembler.seconds_assembly();
  part.contacts = static_cast<int>(assembler.contacts().size());
  part.limits = assembler.problem().rows_of(BlockKind::limit);
  part.rows = assembler.problem().rows();
  part.limit_violation = assembler.limit_violation();
  part.penetration = assembler.penetration();
  if (!stays_apart()) return false;
  Stopwatch watch;
  const bool solved = solve();
  part.seconds_solve = watch.lap();
  if (!solved) return false;
  assembler.rates_after(u_plus, new_rate);
  if (moving.all()) {
    next.store(assembler.problem(), assembler.contacts(), assembler.row_poses(), lambda, judge_workspace.sigma,
               assembler.bounced(), assembler.bounced_limits());
  } else {
    next.store(assembler.problem(), assembler.contacts(), assembler.row_poses(), lambda, judge_workspace.sigma,
               assembler.bounced(), assembler.bounced_limits(), moving, warm);
  }
  move(dt);
  const bool closed = close_joints(dt);
  if (closed) {
    if (!moving.all()) rest_the_others();
    mean.set(assembler, lambda, judge_workspace.u);
    take_back_energy(dt);
    if (may_divide && owes_energy()) return false;
  }
  part.seconds_projection = assembler.seconds_projection() + watch.lap();
  return closed && commit(dt);
}

// Of the problem that was assembled last, whatever becomes of it: whoever asks after a step that failed before its
// solve gets zeros.
void Simulation::Impl::clear_impulses() {
  const auto rows = static_cast<std::size_t>(assembler.problem().rows());
  for (std::vector<double>* list : {&lambda, &start_lambda}) {
    list->resize(rows);  // unlike an assignment, grows by more than it needs
    std::fill(list->begin(), list->end(), 0.0);
  }
}

// Warm start, solver, fallback, judge; false if no answer is acceptable. Leaves u+ in u_plus, and what the judge found
// in judge_workspace.
bool Simulation::Impl::solve() {
  const ConstraintProblem& problem = assembler.problem();
  if (options().warm_start) {
    part.contacts_matched = warm.load(problem, assembler.contacts(), lambda);
  } else {
    solver->reset();
  }
  std::copy(lambda.begin(), lambda.end(), start_lambda.begin());
  used_law = law;
  return moving.all() ? solve_all(problem, assembler.u_minus()) : solve_part();
}

// Impacts with restitution take several solves (impacts.h).
bool Simulation::Impl::solve_all(const ConstraintProblem& problem, const VecX& u_minus) {
  const auto bounced = assembler.bounced();
  if (std::find(bounced.begin(), bounced.end(), 1) == bounced.end()) return solve(problem);
  impacts.begin(problem, assembler.contacts(), options().rows, u_minus, bounced);
  while (true) {
    if (!solve(impacts.problem())) return false;
    if (!impacts.keep(lambda, u_plus)) continue;
    if (!impacts.next(lambda, u_plus)) break;
    std::fill(lambda.begin(), lambda.end(), 0.0);
  }
  std::copy(impacts.total().begin(), impacts.total().end(), lambda.begin());
  part.restitution_scale = impacts.scale();
  return true;
}

// The answer of the same solve in an attempt that was refused; false if it is not known.
bool Simulation::Impl::take_known(const ConstraintProblem& problem) {
  if (known == nullptr) return false;
  const std::size_t rows = lambda.size();
  const std::size_t first = answers.lambda.size();
  const std::size_t k = answers.found.size();
  if (k >= known->found.size() || first + rows > known->lambda.size()) return false;
  if (rows != static_cast<std::size_t>(problem.rows())) return false;
  std::copy_n(known->lambda.begin() + static_cast<std::ptrdiff_t>(first), rows, lambda.begin());
  used_law = known->found[k].law;
  part.status = std::max(part.status, known->found[k].status);
  return true;
}

// Leaves the impulses in `lambda`; false if none are acceptable.
bool Simulation::Impl::find_impulses(const ConstraintProblem& problem, const Goal& goal, SolveReport& answer) {
  answer.status = SolveStatus::converged;  // without rows there is nothing to solve
  if (take_known(problem)) return true;
  if (problem.rows() > 0) answer = solver->solve(problem, goal, lambda);
  const int first = answer.island_factorisations;
  const bool second = !usable(answer.residuals, law, goal);
  const bool found = !second || use_fallback(problem, answer);
  attempt_spent = std::max(attempt_spent, first + (second ? answer.island_factorisations : 0));
  return found;
}

// One solve from `lambda`. Of several of a step the report has the worst.
bool Simulation::Impl::solve(const ConstraintProblem& problem) {
  const Goal goal = this->goal();
  judge_workspace.forget();
  SolveReport answer;
  const bool found = find_impulses(problem, goal, answer);
  const Residuals before = part.residuals;
  part.solve_status = std::max(part.solve_status, answer.status);
  part.iterations += answer.iterations;
  part.factorisations += answer.factorisations;
  if (!answer.stage.empty()) part.stage = answer.stage;
  part.residuals = answer.residuals;
  const double error_before = part.error;
  part.error = answer.residuals.error(used_law, options().criterion);
  if (!found) return false;  // stuck has the islands
  // The answer is judged here, whatever the solver reported.
  part.residuals = judge_measured(problem, lambda, judge_workspace);
  part.error = std::max(error_before, part.residuals.error(used_law, options().criterion));
  if (!usable(part.residuals, used_law, goal)) {
    part.solve_status = part.residuals.finite ? SolveStatus::stalled : SolveStatus::non_finite;
    set_stuck(1);
    return false;
  }
  if (governor.may_owe()) {
    answers.found.push_back({used_law, part.status});
    answers.lambda.insert(answers.lambda.end(), lambda.begin(), lambda.end());
  }
  u_plus = judge_workspace.u;  // u_f + M^-1 J' lambda, which the judge computed
  if (!meets(part.residuals, used_law, goal)) {
    part.met_tolerance = false;
    part.status = std::max(part.status, StepStatus::accepted);
  }
  if (before.error(used_law, options().criterion) > part.residuals.error(used_law, options().criterion)) {
    part.residuals = before;
  }
  return true;
}

// Islands have an error of their own in the law and the criterion that the judge works by; by any other the world is
// one.
bool Simulation::Impl::by_island(const Goal& goal) const {
  return law == Law::ncp && fallback_law == Law::ncp && goal.criterion == Criterion::energy;
}

// Marks the islands whose answer is not acceptable; false if there is none to keep.
bool Simulation::Impl::mark_failed_islands(const ConstraintProblem& problem, const Goal& goal,
                                           const SolveReport& answer) {
  failed.assign(static_cast<std::size_t>(problem.islands.count()), 1);
  if (!by_island(goal) || !answer.residuals.finite) return false;
  measure(problem, lambda, judge_workspace);
  bool any = false;
  for (std::size_t i = 0; i < failed.size(); ++i) {
    failed[i] = goal.allows(judge_workspace.error[i]) ? 0 : 1;
    any = any || failed[i] == 0;
  }
  return any;
}

// Of the marked islands, which were solved again as `rest`, those stay marked that are not acceptable yet.
void Simulation::Impl::keep_failed(const ConstraintProblem& rest, const Goal& goal) {
  judge_workspace.forget();
  measure(rest, fallback_lambda, judge_workspace);
  std::size_t k = 0;
  for (std::uint8_t& f : failed) {
    if (f != 0) f = goal.allows(judge_workspace.error[k++]) ? 0 : 1;
  }
  stick_failed();
}

// The fallback solver's answer from a cold start in place of the solver's, on the islands where that is not acceptable;
// false if it is not acceptable, either.
bool Simulation::Impl::use_fallback(const ConstraintProblem& problem, SolveReport& answer) {
  const Goal goal = this->goal(answer.island_factorisations);
  const bool some = mark_failed_islands(problem, goal, answer);
  stick_failed();
  if (goal.out_of_time()) return false;
  if (some) failed_islands.take(problem, failed);
  const ConstraintProblem& rest = some ? failed_islands.problem() : problem;
  fallback_lambda.assign(static_cast<std::size_t>(rest.rows()), 0.0);
  fallback->reset();
  solver->reset();
  judge_workspace.forget();
  const SolveReport second = fallback->solve(rest, goal, fallback_lambda);
  if (!usable(second.residuals, fallback_law, goal)) {
    if (by_island(goal) && second.residuals.finite) keep_failed(rest, goal);
    return false;
  }
  set_stuck(0);
  if (some) {
    failed_islands.scatter(problem, fallback_lambda, lambda);
  } else {
    lambda.swap(fallback_lambda);
  }
  answer = second;
  used_law = fallback_law;
  part.status = StepStatus::fallback;
  return true;
}

// Before that the gyroscopic torque, which the free velocity has of the torque-free motion, becomes that of the mean
// velocity actually reached: O(dt^2) on bodies with joints, and what keeps the energy of a top.
void Simulation::Impl::move(double dt) {
  const bool middle = assembler.scheme().rotation == Rotation::middle;
  const auto turned = [](const Vec6& wrench_W) { return !wrench_W.tail<3>().isZero(0); };
  if (middle && (assembler.problem().rows() > 0 || std::ranges::any_of(inputs.wrenches_W, turned))) {
    assembler.coordinates().correct_rotation(assembler.free_motion(inputs, dt), u_plus);
  }
  assembler.coordinates().move(assembler.free_motion(inputs, dt), state.X_WB, u_plus, new_poses);
  hold_still();
  kinematics.update(new_poses, state.q);
}

// Positions onto the joint manifold; false if a joint stays open: the step is too long for its curvature, or leads
// through a singular pose, and a shorter one may close it.
bool Simulation::Impl::close_joints(double dt) {
  project_positions();
  if (!moving.all()) {
    hold_still();
    kinematics.update(new_poses, state.q);
  }
  if (assembler.scheme().rotation != Rotation::stage) {
    assembler.coordinates().carry(assembler.row_poses(), new_poses, u_plus);
  }
  push_out.clear();
  push_out_of_contacts(dt);
  finish_velocities(dt);
  new_q = state.q;
  kinematics.update_coordinates(new_q);
  closure = joint_errors(model(), kinematics, new_q);
  part.joint_gap = closure.gap;
  part.joint_angle = closure.angle;
  part.compliant_gap = closure.compliant_gap;
  part.compliant_angle = closure.compliant_angle;
  // Written so that NaN is no closed joint.
  if (!options().projection || closure.open <= options().acceptable_gap) return true;
  part.status = StepStatus::failed;
  stick_joint(closure.worst_lock >= 0 ? model().joint_of_dof(closure.worst_lock) : closure.worst_joint);
  return false;
}

void Simulation::Impl::project_positions() {
  if (!options().projection) return;
  const auto result = assembler.projection().project_poses(
      new_poses, kinematics, state.q, options().projection_tolerance, options().projection_iterations);
  part.projection_iterations = std::max(part.projection_iterations, result.iterations);
}

// J: what is left of the work it takes to bring apart what overlapped at the start.
double Simulation::Impl::credit() {
  if (!books.balanced) {
    for (const Contact& c : assembler.contacts_before()) {
      for (const int body : {c.body_a, c.body_b}) {
        if (body == kWorld || c.compliance >= 0) continue;
        const double weight = model().bodies()[static_cast<std::size_t>(body)].mass * model().gravity_on(body).norm();
        books.overlap += weight * std::max(0.0, -c.gap);
      }
    }
    balance_books();
  }
  return books.overlap - books.flow.correction;
}

// What has sunk in comes out by moving poses, and with it joints stay closed. The height that this gives bodies is
// taken from their velocities, except for what overlapped at the start.
void Simulation::Impl::push_out_of_contacts(double dt) {
  Coordinates& coordinates = assembler.coordinates();
  scatter_twist();
  std::span<const Contact> contacts = assembler.detect_after(new_poses, new_twist, dt);
  push_out.take_memory(contacts.size());
  if (!moving.all()) contacts = contacts_of_moving(contacts);
  if (!push_out.may_be_needed(options().rows, contacts)) return;
  new_q = state.q;
  kinematics.update_coordinates(new_q);
  RowContext at = assembler.context_at(new_poses, kinematics, new_q, dt);
  at.positions = true;
  if (!push_out.needed(at, contacts)) return;
  pushed_poses = new_poses;
  if (!push_out.run(at, contacts, new_twist, pushed_poses)) return;
  new_poses.swap(pushed_poses);
  const bool joints_stay = !push_out.little().empty();
  hold_still();
  kinematics.update(new_poses, state.q);
  if (!joints_stay) {
    assembler.projection().forget();
    project_positions();
    hold_still();
    if (!moving.all()) kinematics.update(new_poses, state.q);
  }
  coordinates.carry(pushed_poses, new_poses, u_plus);
  part.energy.correction = push_out.take_work(pushed_poses, new_poses, credit(), u_plus);
  scatter_twist();
  if (joints_stay) {
    assembler.detect_moved(new_poses, new_twist, dt, push_out.little());
  } else {
    assembler.detect_after(new_poses, new_twist, dt);
  }
}

// Schemes that finish make the velocity tangent at the new pose, to joints and to the contacts and limits that carry
// load: O(dt^2), and what their second order rests on.
void Simulation::Impl::finish_velocities(double dt) {
  if (!assembler.scheme().finish || !options().projection) return;
  if (!assembler.projection().has_rows() && !next.any_sustained()) return;
  constexpr double kNegligible = 1e-9;  // of what gravity changes in a step
  RowContext at = assembler.context_at(new_poses, kinematics, state.q, dt);
  const auto contacts = assembler.contacts_after();
  at.sustained = next.match(contacts, new_poses);
  at.sustained_limits = next.limits();
  at.body_scheme = moving.all() ? assembler.modes().scheme() : schemes_of_moving();
  assembler.projection().project_velocities(at, contacts, assembler.problem().islands,
                                            kNegligible * dt * model().largest_gravity(), u_plus);
}

// Where the scheme would create energy (energy_governor.h). Only the default one promises not to.
void Simulation::Impl::take_back_energy(double dt) {
  if (assembler.scheme().impact == nullptr) return;
  assembler.rates_before(state, old_rate);
  state.energy_swing.resize(state.X_WB.size());
  std::copy(state.energy_swing.begin(), state.energy_swing.end(), new_swing.begin());
  const EnergyGovernor::Step step{state.X_WB,       new_poses, state.q, new_q,  old_rate, new_rate, push_out.unpaid(),
                                  kinematics,       lambda,    mean,    inputs, dt,       moving,   books.first,
                                  judge_workspace.u};
  part.energy.taken_back = -governor.take_back(assembler, step, new_swing, u_plus, new_rate);
}

// Sticks whose velocities do not pay for what the scheme created.
bool Simulation::Impl::owes_energy() {
  if (assembler.scheme().impact == nullptr) return false;
  for (std::size_t i = 0; i < stuck.size(); ++i) {
    if (!moving.has(static_cast<int>(i)) || !governor.owes(static_cast<int>(i))) continue;
    stuck[i] = 1;
    owed = true;
  }
  return owed;
}

// Begins with the present state.
void Simulation::Impl::balance_books() {
  assembler.rates_before(state, old_rate);
  books.stored = account.stored(state.X_WB, state.twist, state.q, old_rate);
  books.mass = 0;
  for (const Body& b : model().bodies()) books.mass += b.mass;
  books.balanced = true;
}

void Simulation::Impl::keep_books(double dt) {
  credit();
  scatter_twist();
  const EnergyAccount::Stored after = account.stored(new_poses, new_twist, new_q, new_rate);
  part.energy = account.flow(assembler, inputs, lambda, mean, dt, books.stored, after, part.energy.correction,
                             -part.energy.taken_back);
  const EnergyFlow& f = part.energy;
  if (books.first) books.elastic = elastic_energy();
  books.first = false;
  books.flow += f;
  const double springs = books.flow.springs + books.flow.taken_back;  // which pays for them
  books.least_springs = std::min(books.least_springs, springs);
  books.sprung = std::max(books.sprung, springs - books.least_springs);
  const double paid = std::max(0.0, -books.flow.taken_back - std::max(0.0, books.flow.springs));
  books.given = std::max(books.given, books.flow.compliance - paid);
  books.stiff = books.stiff || (assembler.scheme().stiff != nullptr && assembler.modes().any_curvature());
  books.turned_over += std::abs(after.kinetic - books.stored.kinetic) + std::abs(f.drives) + std::abs(f.external) +
                       std::abs(f.friction) + std::abs(f.impacts) + std::abs(f.damping) + std::abs(f.correction);
  books.largest = std::max({books.largest, after.kinetic, books.stored.kinetic});
  for (const Vec6& u : new_twist) books.fastest = std::max(books.fastest, u.tail<3>().norm());
  books.stored = after;
}

// A spring beyond what the step resolves is stretched where positions are off, and compliant rows beyond it gain
// likewise. Neither is unaccounted for, since rows have their work, but passive elements give no more than they got.
// (With schemes of first order they do, by what turning rows get wrong, and others take it: there the sum must not
// rise.)
bool Simulation::Impl::creates_energy() const {
  constexpr double kNoise = 1e-6;
  constexpr double kShare = 0.01;  // of the largest kinetic energy
  if (assembler.scheme().impact == nullptr) {
    const EnergyFlow& f = books.flow;
    const double passive = f.friction + f.impacts + f.damping + f.unaccounted;
    return std::max(f.unaccounted, passive - books.elastic) > energy_bound();
  }
  const double given = books.sprung + std::max(0.0, books.given - books.elastic);
  return books.flow.unaccounted > energy_bound() ||
         given > kShare * books.largest + kNoise * (books.turned_over + energy_of_fall());
}

// Of the compliant rows of the step, at most: half of their force times the largest deformation. They are of the form
// F = bias/(R dt).
double Simulation::Impl::elastic_energy() const {
  const ConstraintProblem& p = assembler.problem();
  double sum = 0;
  for (const ConstraintBlock& b : p.blocks) {
    const bool joint = b.kind == BlockKind::joint;
    if (b.kind == BlockKind::soft) continue;
    const double gap = b.kind == BlockKind::contact ? assembler.contacts()[static_cast<std::size_t>(b.source)].gap
                                                    : assembler.limit_violation();
    const double way = joint ? std::max(closure.compliant_gap, closure.compliant_angle) : std::abs(gap);
    for (int r = b.row; r < b.row + b.rows; ++r) {
      const auto i = static_cast<std::size_t>(r);
      if (p.R[i] > 0) sum += 0.5 * std::abs(p.bias[i]) / (p.R[i] * p.dt) * way;
    }
  }
  return sum;
}

double Simulation::Impl::energy_bound() const {
  constexpr double kLeast = 1e-6;
  const double turn = options().dt * books.fastest;
  const bool second_order = assembler.scheme().second_order() && !books.stiff;
  const double share = std::max(kLeast, second_order ? turn * turn : turn);
  return share * (books.largest + books.turned_over + energy_of_fall());
}

// What has hardly moved yet has no energy to measure by: at least that of twenty steps of free fall.
double Simulation::Impl::energy_of_fall() const {
  const double fall = 20 * options().dt * model().largest_gravity();
  return 0.5 * books.mass * fall * fall;
}

bool Simulation::Impl::commit(double dt) {
  // 0 x is 0 for numbers alone; a sum is quicker than a test of each.
  double none = (0.0 * u_plus).sum();
  for (const Pose& X : new_poses) none += 0.0 * (X.p.sum() + X.q.coeffs().sum());
  for (const std::vector<double>* v : {&new_q, &new_rate}) {
    none += (0.0 * Eigen::Map<const VecX>(v->data(), static_cast<Eigen::Index>(v->size()))).sum();
  }
  for (const State::EnergySwing& w : new_swing) none += 0.0 * (w.gain + w.largest + w.held);
  if (none != 0) {
    part.solve_status = SolveStatus::non_finite;
    set_stuck(1);
    return false;
  }
  keep_books(dt);
  const ConstraintProblem& problem = assembler.problem();
  std::swap(warm, next);
  for (std::size_t i = 0; i < effort.size(); ++i) {
    if (moving.all() || moving.has_dof(static_cast<int>(i))) effort[i] = assembler.explicit_effort(static_cast<int>(i));
  }
  if (inputs.drag.body == kWorld) drag_force_W.setZero();
  for (const ConstraintBlock& b :
       std::ranges::equal_range(problem.blocks, BlockKind::soft, {}, &ConstraintBlock::kind)) {
    if (!(moving.all() || moving.has_source(b.source_kind, b.source))) continue;
    const double* impulse = lambda.data() + b.row;
    if (b.source_kind == RowSource::servo) effort[static_cast<std::size_t>(b.source)] = *impulse / dt;
    if (b.source_kind == RowSource::drag) drag_force_W = Eigen::Map<const Vec3>(impulse) / dt;
  }
  state.X_WB = new_poses;
  state.twist = new_twist;
  if (!state.energy_swing.empty()) std::copy(new_swing.begin(), new_swing.end(), state.energy_swing.begin());
  state.rate_lag.resize(state.q.size(), 0.0);
  for (const int i : assembler.armature_dofs()) {
    const auto k = static_cast<std::size_t>(i);
    if (moving.all() || moving.has_dof(i)) state.rate_lag[k] = new_rate[k] - kinematics.rate(i, state.twist);
  }
  for (std::size_t i = 0; i < new_q.size(); ++i) {
    if (moving.all() || moving.has_dof(static_cast<int>(i))) state.q[i] = new_q[i];
  }
  if (!moving.all()) show_rest();
  assembler.advance();
  state.time += dt;
  return true;
}

}  // namespace sarrus
