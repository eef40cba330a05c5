// Everything of a Simulation but the step itself (step.cpp): construction, inputs, what it tells of the last step.
#include "sarrus/step/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/model/topology.h"
#include "sarrus/step/simulation_impl.h"

namespace sarrus {

std::string_view name_of(StepStatus status) {
  constexpr std::array<std::string_view, 5> names = {"converged", "accepted", "fallback", "substepped", "failed"};
  return names[static_cast<std::size_t>(status)];
}

EnergyFlow& EnergyFlow::operator+=(const EnergyFlow& o) {
  change += o.change;
  drives += o.drives;
  external += o.external;
  friction += o.friction;
  impacts += o.impacts;
  damping += o.damping;
  springs += o.springs;
  compliance += o.compliance;
  correction += o.correction;
  taken_back += o.taken_back;
  unaccounted += o.unaccounted;
  return *this;
}

namespace {

// Gimbals on whose coordinates something acts, of others the angles are only told, and serial joints.
std::vector<int> joints_that_lock(const Model& model) {
  std::vector<bool> acted_on(model.joints().size(), false);
  const auto mark = [&](int dof) { acted_on[static_cast<std::size_t>(model.joint_of_dof(dof))] = true; };
  for (int i = 0; i < model.dof_count(); ++i) {
    const Dof& d = model.dofs()[static_cast<std::size_t>(i)];
    const bool bounded = std::isfinite(d.limit.lower) || std::isfinite(d.limit.upper);
    const double passive = d.stiffness + d.damping + d.armature + d.dry_friction;
    if (d.drive.mode != DriveMode::none || bounded || passive > 0) mark(i);
  }
  for (const Coupling& c : model.couplings()) {
    mark(c.dof_a);
    mark(c.dof_b);
  }
  for (const Combination& c : model.combinations()) {
    for (const CombinationTerm& t : c.terms) mark(t.dof);
  }
  std::vector<int> out;
  for (int i = 0; i < model.joint_count(); ++i) {
    const JointType type = model.joints()[static_cast<std::size_t>(i)].type;
    const bool gimbal = type == JointType::gimbal && acted_on[static_cast<std::size_t>(i)];
    if (gimbal || type == JointType::serial) out.push_back(i);
  }
  return out;
}

}  // namespace

Simulation::Impl::Impl(Model model_in, SimulationOptions options_in)
    : assembler(std::move(model_in), std::move(options_in)),
      workers(options().threads),
      state(State::initial(model())),
      inputs(model()),
      solver(make_solver(options().solver, options().solver_parameters)),
      fallback(make_solver(options().fallback, options().fallback_parameters)),
      law(solver_info(options().solver).law),
      fallback_law(solver_info(options().fallback).law),
      push_out(model(), assembler.coordinates(), assembler.modes(), assembler.released_rows()),
      mean(model()),
      account(model()),
      governor(model(), assembler.modes()),
      moving(model()),
      stuck(model().bodies().size()),
      u_plus(VecX::Zero(assembler.coordinates().velocity_size())),
      kinematics(assembler.kinematics_after()),
      new_poses(state.X_WB),
      pushed_poses(state.X_WB),
      new_twist(state.twist),
      new_q(state.q),
      new_rate(state.q.size(), 0.0),
      old_rate(state.q.size(), 0.0),
      new_swing(state.X_WB.size()),
      effort(model().scalars().size(), 0.0),
      undo(static_cast<std::size_t>(options().max_substep_depth) + 1) {
  solver->share(&assembler.factor(), &judge_workspace);
  // Joints given by local anchors may not meet at the reference pose: assemble them once.
  kinematics.update(state.X_WB, state.q);
  assembler.projection().project_poses(state.X_WB, kinematics, state.q, 1e-12, 100);
  kinematics.update_coordinates(state.q);
  const JointErrors errors = joint_errors(model(), kinematics, state.q).with_ropes();
  constexpr double kClosed = 1e-9;
  if (!(errors.open <= kClosed)) refuse_open_joints(errors);
  find_overlaps();
  may_lock = joints_that_lock(model());
}

void Simulation::Impl::find_overlaps() {
  for (const Contact& c : assembler.detect_after(state.X_WB, state.twist, options().dt)) {
    if (c.compliance >= 0 || -c.gap <= 10 * contact_slop(options().rows, c)) continue;
    // The contacts of two geoms follow each other.
    if (overlaps.empty() || overlaps.back().geom_a != c.geom_a || overlaps.back().geom_b != c.geom_b) {
      overlaps.push_back({c.geom_a, c.geom_b, -c.gap});
    } else {
      overlaps.back().depth = std::max(overlaps.back().depth, -c.gap);
    }
  }
  std::stable_sort(overlaps.begin(), overlaps.end(),
                   [](const Overlap& a, const Overlap& b) { return a.depth > b.depth; });
}

void Simulation::Impl::refuse_open_joints(const JointErrors& errors) const {
  if (errors.worst_lock >= 0) {
    const Limit& limit = model().scalars()[static_cast<std::size_t>(errors.worst_lock)].limit;
    const std::string lock = fmt::format("limit of '{}'", model().dof_name(errors.worst_lock));
    throw InputError(
        model().source().empty() ? lock : fmt::format("{}: {}", model().source(), lock),
        fmt::format(
            "it is locked at {:.6g}, where the joints around it cannot be assembled ({:.3g} remains); lock it at "
            "another value, or give the reference poses that have this one",
            0.5 * (limit.lower + limit.upper), errors.angle));
  }
  const int joint = std::max(0, errors.worst_joint);
  const Loop loop = shortest_loop(model(), joint);
  const std::string where = fmt::format("joint '{}'", model().joints()[static_cast<std::size_t>(joint)].name);
  const std::string what =
      loop.joints.empty() ? "" : fmt::format("{} does not close: the joint ", loop_text(model(), loop));
  throw InputError(
      model().source().empty() ? where : fmt::format("{}: {}", model().source(), where),
      fmt::format(
          "{}cannot be assembled at the reference pose ({:.3g} m, {:.3g} rad remain); check the anchors and axes "
          "of {}, or give them as world anchors",
          what, errors.gap, errors.angle, loop.joints.empty() ? "the joints around it" : "the loop's joints"));
}

void Simulation::Impl::check_dof(int dof, std::string_view call) const {
  if (dof < 0 || dof >= model().scalar_count()) {
    throw InputError(std::string(call),
                     fmt::format("dof {} does not exist; the model has {}", dof, model().scalar_count()));
  }
}

void Simulation::Impl::check_body(int body, std::string_view call) const {
  if (body < 0 || body >= model().body_count()) {
    throw InputError(std::string(call),
                     fmt::format("body {} does not exist; the model has {}", body, model().body_count()));
  }
}

// docs/theory/rows.md §3.1.
Drag Simulation::Impl::drag_of(int body, const Vec3& point_B, const Vec3& target_W) const {
  constexpr double kRate = 15;  // rad/s
  constexpr double kWeights = 10;
  constexpr double kGravity = 9.81;  // m/s^2, where there is less
  const StepModes& modes = assembler.modes();
  double mass = 0;
  for (int i = 0; i < model().body_count(); ++i) {
    if (modes.assembly(i) == modes.assembly(body)) mass += model().bodies()[static_cast<std::size_t>(i)].mass;
  }
  return {body,
          point_B,
          target_W,
          mass * kRate * kRate,
          2 * mass * kRate,
          kWeights * mass * std::max(kGravity, model().largest_gravity())};
}

Simulation::Simulation(Model model, SimulationOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(options))) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

void Simulation::Impl::step_or_break() {
  state_before = state;
  try {
    step();
  } catch (...) {
    std::swap(state, state_before);
    broken = true;
    throw;
  }
}

// The state stays where it is in memory: whoever looks at it from outside (python) still does.
std::unique_ptr<Simulation::Impl> Simulation::Impl::anew() {
  auto fresh = std::make_unique<Impl>(model(), options());
  fresh->inputs = inputs;
  fresh->start_from(state);
  fresh->state.X_WB.swap(state.X_WB);
  fresh->state.twist.swap(state.twist);
  fresh->state.q.swap(state.q);
  return fresh;
}

void Simulation::Impl::start_from(const State& s) {
  state = s;
  clock.set(s.time, options().dt);
  warm.clear();
  books = {};
  assembler.forget();
  solver->reset();
}

const StepReport& Simulation::step() {
  Impl::mend(impl_);
  impl_->step_or_break();
  return impl_->report;
}

const ConstraintProblem& Simulation::assemble() {
  Impl::mend(impl_);
  if (!impl_->preview) impl_->preview = std::make_unique<Assembler>(impl_->model(), impl_->options());
  impl_->preview->forget();
  impl_->preview->projection().borrow(impl_->assembler.projection());
  impl_->preview->assemble(impl_->state, impl_->inputs, impl_->options().dt, &impl_->warm);
  return impl_->preview->problem();
}

const Model& Simulation::model() const { return impl_->model(); }
const SimulationOptions& Simulation::options() const { return impl_->options(); }
const State& Simulation::state() const { return impl_->state; }
double Simulation::time() const { return impl_->state.time; }
double Simulation::dt() const { return impl_->options().dt; }
const StepReport& Simulation::report() const { return impl_->report; }
const EnergyFlow& Simulation::energy_flow() const { return impl_->books.flow; }
double Simulation::energy_bound() const { return impl_->energy_bound(); }
const std::vector<Simulation::Overlap>& Simulation::initial_overlaps() const { return impl_->overlaps; }
std::span<const Contact> Simulation::contacts() const { return impl_->assembler.contacts(); }
const ConstraintProblem& Simulation::problem() const { return impl_->assembler.problem(); }
std::span<const double> Simulation::impulses() const { return impl_->lambda; }
std::span<const double> Simulation::warm_start_impulses() const { return impl_->start_lambda; }

void Simulation::set_state(const State& s) {
  check_state(s, model(), "set_state");
  Impl::mend(impl_);
  impl_->start_from(s);
}

void Simulation::set_drive_target(int dof, double target, double target_rate) {
  impl_->check_dof(dof, "set_drive_target");
  if (!std::isfinite(target) || !std::isfinite(target_rate)) {
    throw InputError(fmt::format("set_drive_target '{}'", impl_->model().dof_name(dof)),
                     fmt::format("target is {}, rate {}; give finite numbers", target, target_rate));
  }
  impl_->inputs.targets[static_cast<std::size_t>(dof)] = {true, target, target_rate};
}

void Simulation::clear_drive_target(int dof) {
  impl_->check_dof(dof, "clear_drive_target");
  impl_->inputs.targets[static_cast<std::size_t>(dof)].active = false;
}

void Simulation::set_joint_force(int dof, double force) {
  impl_->check_dof(dof, "set_joint_force");
  if (!std::isfinite(force)) {
    throw InputError(fmt::format("set_joint_force '{}'", impl_->model().dof_name(dof)),
                     fmt::format("force is {}; give a finite number", force));
  }
  impl_->inputs.joint_forces[static_cast<std::size_t>(dof)] = force;
}

double Simulation::joint_force(int dof) const {
  impl_->check_dof(dof, "joint_force");
  return impl_->inputs.joint_forces[static_cast<std::size_t>(dof)];
}

void Simulation::set_body_wrench(int body, const Vec6& wrench_W) {
  impl_->check_body(body, "set_body_wrench");
  if (!wrench_W.allFinite()) {
    throw InputError(fmt::format("set_body_wrench '{}'", impl_->model().bodies()[static_cast<std::size_t>(body)].name),
                     "the wrench has a non-finite component; give finite numbers");
  }
  impl_->inputs.wrenches_W[static_cast<std::size_t>(body)] = wrench_W;
}

Vec6 Simulation::body_wrench(int body) const {
  impl_->check_body(body, "body_wrench");
  return impl_->inputs.wrenches_W[static_cast<std::size_t>(body)];
}

void Simulation::set_drag(int body, const Vec3& point_B, const Vec3& target_W) {
  impl_->check_body(body, "set_drag");
  if (!point_B.allFinite() || !target_W.allFinite()) {
    throw InputError(fmt::format("set_drag '{}'", impl_->model().bodies()[static_cast<std::size_t>(body)].name),
                     "point or target has a non-finite component; give finite numbers");
  }
  impl_->inputs.drag = impl_->drag_of(body, point_B, target_W);
}

void Simulation::clear_drag() { impl_->inputs.drag = {}; }
int Simulation::dragged_body() const { return impl_->inputs.drag.body; }
Vec3 Simulation::drag_point_B() const { return impl_->inputs.drag.point_B; }
Vec3 Simulation::drag_target_W() const { return impl_->inputs.drag.target_W; }
Vec3 Simulation::drag_force_W() const { return impl_->drag_force_W; }

Vec3 Simulation::contact_impulse(int contact) const {
  const int contact_rows = problem().rows_of(BlockKind::contact);
  if (contact < 0 || 3 * contact >= contact_rows || impulses().empty()) {
    throw InputError("contact_impulse", fmt::format("contact {} does not exist", contact));
  }
  const auto first = static_cast<std::size_t>(problem().rows() - contact_rows + 3 * contact);
  return {impl_->lambda[first], impl_->lambda[first + 1], impl_->lambda[first + 2]};
}

Vec3 Simulation::contact_impulse_W(int contact) const {
  const Vec3 l = contact_impulse(contact);
  return contact_frame(contacts()[static_cast<std::size_t>(contact)].n_W) * l;
}

double Simulation::drive_effort(int dof) const {
  impl_->check_dof(dof, "drive_effort");
  return impl_->effort[static_cast<std::size_t>(dof)];
}

}  // namespace sarrus
