// What is done with a step that cannot be taken as a whole (docs/theory/README.md §4): islands whose solve or joints
// fail take two halves of it, recursively, while all others take it at once.
//
//   attempt   all that are to move; it fails: what is stuck, with all that joints and constraints connect it with, is
//             set apart
//   rest      the others take the whole step; what is set apart stands still and has no rows
//   halves    what is set apart takes them, among the others where they are after the step
//   meeting   a constraint that would connect the two, or a contact deeper than its slop at the end: whom it belongs to
//             is set apart, too, and all is done again from the state before
// If the halves fail, everything is as it was before the step. A step that is refused because it created energy that
// velocities do not pay for (energy_governor.h) is taken all the same if its parts cannot be, or the last of them owe:
// with the impulses that were found for it, which costs no solve, however little is left of budget and time.
#include <algorithm>

#include "sarrus/step/simulation_impl.h"

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
  step.error = std::max(step.error, part.error);
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
  step.energy += part.energy;
  step.restitution_scale = std::min(step.restitution_scale, part.restitution_scale);
  step.limit_violation = std::max(step.limit_violation, part.limit_violation);
  step.penetration = std::max(step.penetration, part.penetration);
}

}  // namespace

bool Simulation::Impl::advance(double dt, int depth) {
  may_divide = depth < options().max_substep_depth;
  if (try_whole(dt)) return true;
  const bool whole_will_do = owed;
  if (depth >= options().max_substep_depth || (goal().out_of_time() && !whole_will_do)) return false;
  save(depth);
  while (!goal().out_of_time() && set_apart(depth)) {
    const bool taken = take_apart(dt, depth);
    moving.take(undo[static_cast<std::size_t>(depth)].whole);
    if (taken) return true;
    restore(depth);
  }
  if (!whole_will_do) return false;
  may_divide = false;
  known = &undo[static_cast<std::size_t>(depth)].answers;
  const bool taken = try_whole(dt);
  known = nullptr;
  return taken;
}

// By all who are to move.
bool Simulation::Impl::try_whole(double dt) {
  attempt_spent = 0;
  owed = false;
  const bool taken = attempt(dt);
  spent += attempt_spent;
  if (taken) {
    add_part(part, used_law, options().criterion, report);
  } else {
    ++report.rejected;
  }
  return taken;
}

bool Simulation::Impl::take_apart(double dt, int depth) {
  const Undo& saved = undo[static_cast<std::size_t>(depth)];
  chosen = saved.whole;
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = chosen[i] != 0 && saved.apart[i] == 0 ? 1 : 0;
  if (std::find(chosen.begin(), chosen.end(), 1) != chosen.end()) {
    moving.take(chosen);
    const int before = spent;
    may_divide = true;
    if (!try_whole(dt)) return false;
    spent = before;  // the budget is one of islands
    state.time = saved.state.time;
  }
  for (int half = 0; half < 2; ++half) {
    moving.take(saved.apart);
    if (!advance(0.5 * dt, depth + 1)) return false;
  }
  return !ran_into_others(depth);
}

void Simulation::Impl::save(int depth) {
  Undo& saved = undo[static_cast<std::size_t>(depth)];
  saved.state = state;
  saved.report = report;
  saved.effort = effort;
  saved.drag_force_W = drag_force_W;
  saved.books = books;
  saved.warm = warm;
  if (owed) saved.answers = answers;
  saved.whole.assign(moving.bodies().begin(), moving.bodies().end());
  saved.apart.assign(stuck.size(), 0);
  find_groups(depth);
}

void Simulation::Impl::restore(int depth) {
  const Undo& saved = undo[static_cast<std::size_t>(depth)];
  const int rejected = report.rejected;
  state = saved.state;
  effort = saved.effort;
  drag_force_W = saved.drag_force_W;
  books = saved.books;
  warm = saved.warm;
  report = saved.report;
  report.rejected = rejected;
  assembler.forget();
}

// Bodies that joints connect, or constraints of the attempt that failed.
void Simulation::Impl::find_groups(int depth) {
  std::vector<int>& group = undo[static_cast<std::size_t>(depth)].group;
  const auto root = [&](int body) {
    while (group[static_cast<std::size_t>(body)] != body) body = group[static_cast<std::size_t>(body)];
    return body;
  };
  const auto join = [&](int a, int b) {
    a = root(a);
    b = root(b);
    group[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  };
  const Islands& islands = assembler.problem().islands;
  const int bodies = model().body_count();
  group.resize(static_cast<std::size_t>(bodies));
  for (int i = 0; i < bodies; ++i) group[static_cast<std::size_t>(i)] = i;
  first_of_island.assign(static_cast<std::size_t>(islands.count()), -1);
  for (int i = 0; i < bodies; ++i) {
    join(i, assembler.modes().assembly(i));
    const int island = islands.of_node(assembler.coordinates().map(i).node);
    if (island < 0) continue;
    int& first = first_of_island[static_cast<std::size_t>(island)];
    if (first < 0) first = i;
    join(i, first);
  }
  for (int i = 0; i < bodies; ++i) group[static_cast<std::size_t>(i)] = root(i);
}

// The groups of what is stuck; false if they are set apart already.
bool Simulation::Impl::set_apart(int depth) {
  Undo& saved = undo[static_cast<std::size_t>(depth)];
  chosen.assign(stuck.size(), 0);
  for (std::size_t i = 0; i < stuck.size(); ++i) {
    if (stuck[i] != 0 && saved.whole[i] != 0) chosen[static_cast<std::size_t>(saved.group[i])] = 1;
  }
  bool more = false;
  for (std::size_t i = 0; i < stuck.size(); ++i) {
    if (saved.whole[i] == 0 || chosen[static_cast<std::size_t>(saved.group[i])] == 0) continue;
    more = more || saved.apart[i] == 0;
    saved.apart[i] = 1;
  }
  return more;
}

// False if a contact connects what moves with what does not.
bool Simulation::Impl::stays_apart() {
  if (moving.all()) return true;
  bool met = false;
  for (const Contact& c : assembler.contacts()) {
    if (c.body_a == kWorld || c.body_b == kWorld || moving.has(c.body_a) == moving.has(c.body_b)) continue;
    stuck[static_cast<std::size_t>(moving.has(c.body_a) ? c.body_b : c.body_a)] = 1;
    met = true;
  }
  return !met;
}

// The contacts after the halves are those before the next step.
bool Simulation::Impl::ran_into_others(int depth) {
  const std::vector<std::uint8_t>& apart = undo[static_cast<std::size_t>(depth)].apart;
  set_stuck(0);
  bool met = false;
  for (const Contact& c : assembler.contacts_before()) {
    if (c.body_a == kWorld || c.body_b == kWorld || c.compliance >= 0) continue;
    const bool a = apart[static_cast<std::size_t>(c.body_a)] != 0;
    const bool b = apart[static_cast<std::size_t>(c.body_b)] != 0;
    if (a == b || -c.gap <= contact_slop(options().rows, c)) continue;
    stuck[static_cast<std::size_t>(a ? c.body_b : c.body_a)] = 1;
    met = true;
  }
  return met;
}

// The bodies of the islands that are marked as failed.
void Simulation::Impl::stick_failed() {
  const Islands& islands = assembler.problem().islands;
  for (std::size_t i = 0; i < stuck.size(); ++i) {
    const int island = islands.of_node(assembler.coordinates().map(static_cast<int>(i)).node);
    if (island < 0 || !moving.has(static_cast<int>(i))) continue;
    const int place = moving.all() ? island : place_of_island[static_cast<std::size_t>(island)];
    stuck[i] = failed[static_cast<std::size_t>(place)];
  }
}

// What moves, if it is not known to be of a joint alone.
void Simulation::Impl::stick_joint(int joint) {
  if (joint < 0 || !model().couplings().empty() || !model().combinations().empty() || !moving.has_joint(joint)) {
    set_stuck(1);
    return;
  }
  const Joint& j = model().joints()[static_cast<std::size_t>(joint)];
  for (const int body : {j.base, j.follower}) {
    if (body != kWorld) stuck[static_cast<std::size_t>(body)] = 1;
  }
}

// The islands that move as a problem of their own; others have neither impulses nor velocities but those they had.
bool Simulation::Impl::solve_part() {
  const ConstraintProblem& whole = assembler.problem();
  const auto count = static_cast<std::size_t>(whole.islands.count());
  marked.assign(count, 0);
  for (int i = 0; i < model().body_count(); ++i) {
    const int island = whole.islands.of_node(assembler.coordinates().map(i).node);
    if (island >= 0 && moving.has(i)) marked[static_cast<std::size_t>(island)] = 1;
  }
  place_of_island.assign(count, -1);
  int places = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (marked[i] != 0) place_of_island[i] = places++;
  }
  moving_islands.take(whole, marked);
  const ConstraintProblem& p = moving_islands.problem();
  whole_lambda.assign(lambda.size(), 0.0);
  whole_lambda.swap(lambda);
  lambda.swap(part_lambda);
  lambda.resize(static_cast<std::size_t>(p.rows()));
  moving_islands.gather(whole, whole_lambda, lambda);
  moving_islands.gather_nodes(whole, assembler.u_minus(), part_u);
  part_u_minus = part_u;
  const bool solved = p.rows() == 0 || solve_all(p, part_u_minus);
  lambda.swap(part_lambda);
  lambda.assign(whole_lambda.size(), 0.0);
  moving_islands.scatter(whole, part_lambda, lambda);
  int& worst = part.residuals.worst_block;
  if (worst >= 0) worst = moving_islands.block_of_whole(worst);
  if (!solved) return false;
  part_sigma = judge_workspace.sigma;
  part_u = u_plus;
  GrowingVector& sigma = judge_workspace.sigma;
  sigma.resize(whole.rows());
  sigma.setZero();
  u_plus = whole.u_free;
  for (int i = 0; i < model().body_count(); ++i) {
    const BodyMap& map = assembler.coordinates().map(i);
    if (!moving.has(i)) u_plus.segment(map.offset, map.size) = assembler.u_minus().segment(map.offset, map.size);
  }
  if (p.rows() > 0) {
    moving_islands.scatter(whole, {part_sigma.data(), part_lambda.size()}, {sigma.data(), lambda.size()});
    moving_islands.scatter_nodes(whole, part_u, u_plus);
  }
  judge_workspace.u = u_plus;
  judge_workspace.forget();
  return true;
}

// Twists at the new poses; what does not move keeps its own.
void Simulation::Impl::scatter_twist() {
  assembler.coordinates().scatter(new_poses, u_plus, new_twist);
  if (moving.all()) return;
  for (std::size_t i = 0; i < new_twist.size(); ++i) {
    if (!moving.has(static_cast<int>(i))) new_twist[i] = state.twist[i];
  }
}

void Simulation::Impl::hold_still() {
  if (moving.all()) return;
  for (std::size_t i = 0; i < new_poses.size(); ++i) {
    if (!moving.has(static_cast<int>(i))) new_poses[i] = state.X_WB[i];
  }
}

// Their mean velocity is zero: nothing does work on them.
void Simulation::Impl::rest_the_others() {
  for (int i = 0; i < model().body_count(); ++i) {
    const BodyMap& map = assembler.coordinates().map(i);
    if (moving.has(i)) continue;
    judge_workspace.u.segment(map.offset, map.size) = -assembler.u_minus().segment(map.offset, map.size);
  }
  assembler.rates_before(state, old_rate);
  for (const int i : assembler.armature_dofs()) {
    const auto k = static_cast<std::size_t>(i);
    if (!moving.has_dof(i)) new_rate[k] = old_rate[k];
  }
}

std::span<const Contact> Simulation::Impl::contacts_of_moving(std::span<const Contact> contacts) {
  const auto moves = [&](int body) { return body == kWorld || moving.has(body); };
  part_contacts.clear();
  for (const Contact& c : contacts) {
    if (moves(c.body_a) && moves(c.body_b)) part_contacts.push_back(c);
  }
  return part_contacts;
}

// Others have one that does not finish velocities.
std::span<const Scheme* const> Simulation::Impl::schemes_of_moving() {
  const auto schemes = assembler.modes().scheme();
  part_scheme.assign(schemes.begin(), schemes.end());
  for (std::size_t i = 0; i < part_scheme.size(); ++i) {
    if (!moving.has(static_cast<int>(i))) part_scheme[i] = &scheme_of(Integrator::semi_implicit);
  }
  return part_scheme;
}

// Impulses of those who have moved before, for whoever asks for forces: of as much time as the present part.
void Simulation::Impl::show_rest() {
  const ConstraintProblem& p = assembler.problem();
  fallback_lambda.resize(lambda.size());
  warm.match(assembler.contacts(), assembler.row_poses());
  warm.load(p, assembler.contacts(), fallback_lambda);
  for (const ConstraintBlock& b : p.blocks) {
    const int island = p.islands.of(b);
    if (island >= 0 && marked[static_cast<std::size_t>(island)] != 0) continue;
    std::copy_n(fallback_lambda.begin() + b.row, b.rows, lambda.begin() + b.row);
  }
}

}  // namespace sarrus
