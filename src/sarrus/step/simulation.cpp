// Everything of a Simulation but the step itself (step.cpp): construction, inputs, what it tells of the last step.
#include "sarrus/step/simulation.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/problem/contact_rows.h"
#include "sarrus/step/simulation_impl.h"

namespace sarrus {
namespace {

SimulationOptions complete(SimulationOptions o, const Model& model) {
  if (o.dt == 0) o.dt = model.defaults().dt;
  if (!o.integrator) o.integrator = model.defaults().integrator;
  validate(o);
  if (o.restitution_threshold == 0) o.restitution_threshold = 2 * model.gravity().norm() * o.dt;
  return o;
}

}  // namespace

Simulation::Impl::Impl(Model model_in, SimulationOptions options_in)
    : model(std::move(model_in)),
      options(complete(std::move(options_in), model)),
      state(State::initial(model)),
      start(model),
      rows_kinematics(model),
      predicted(model),
      detector(model, options.collision),
      projector(model),
      solver(make_solver(options.solver, options.solver_parameters)),
      fallback(make_solver(options.fallback, options.fallback_parameters)),
      law(solver_info(options.solver).law),
      fallback_law(solver_info(options.fallback).law) {
  const auto n_b = static_cast<std::size_t>(model.body_count());
  const auto n_q = static_cast<std::size_t>(model.dof_count());
  overrides.resize(n_q);
  joint_forces.assign(n_q, 0.0);
  wrenches.assign(n_b, Vec6::Zero());
  inputs.resize(n_q);
  explicit_effort.assign(n_q, 0.0);
  for (const Body& b : model.bodies()) inertia_inverse_B.push_back(b.inertia_B.inverse());
  row_poses = predicted_poses = new_poses = state.X_WB;
  row_q = new_q = state.q;
  u_minus.setZero(6 * model.body_count());
  u_plus = u_minus;
  const std::vector<int> sizes(n_b, 6);
  problem.set_nodes(sizes);
  contacts.reserve(64 + 16 * model.geoms().size());
  saved.assign(static_cast<std::size_t>(options.max_substep_depth) + 1, state);

  // Joints given by local anchors may not meet at the reference pose: assemble them once.
  start.update(state.X_WB);
  projector.project_poses(state.X_WB, start, state.q, 1e-12, 100);
  start.update_coordinates(state.q);
  const JointErrors errors = joint_errors(model, start, state.q);
  if (errors.gap > 1e-9 || errors.angle > 1e-9) {
    throw InputError(
        fmt::format("joint '{}'", model.joints()[static_cast<std::size_t>(std::max(0, errors.worst_joint))].name),
        fmt::format("cannot be assembled at the reference pose ({:.3g} m, {:.3g} rad remain); check the anchors and "
                    "axes of the joints around it, or give them as world anchors",
                    errors.gap, errors.angle));
  }
}

void Simulation::Impl::report_failure() {
  report.status = StepStatus::failed;
  report.solve_status = failed_status;
  report.residuals = failed_residuals;
  report.met_tolerance = false;
  const int worst = report.residuals.worst_block;
  const std::string where = worst >= 0 && worst < static_cast<int>(problem.blocks.size())
                                ? describe(problem.blocks[static_cast<std::size_t>(worst)])
                                : std::string("no constraint");
  message = fmt::format("step at t = {:.6g} s failed: {} after {} iterations, natural map {:.3g}; worst: {}",
                        state.time, name(report.solve_status), report.iterations, report.residuals.natural_map, where);
  if (failed_joints.gap > 0 || failed_joints.angle > 0) {
    const int joint = failed_joints.worst_joint;
    message = fmt::format(
        "step at t = {:.6g} s failed: joint '{}' would open by {:.3g} m, {:.3g} rad; shorten the step, or check for a "
        "singular pose",
        state.time, joint >= 0 ? model.joints()[static_cast<std::size_t>(joint)].name : "?", failed_joints.gap,
        failed_joints.angle);
  }
  report.message = message;
}

std::string Simulation::Impl::describe(const ConstraintBlock& b) const {
  switch (b.source_kind) {
    case RowSource::joint:
    case RowSource::swing_limit:
    case RowSource::rope:
      return fmt::format("joint '{}'", model.joints()[static_cast<std::size_t>(b.source)].name);
    case RowSource::coupling:
      return fmt::format("coupling '{}'", model.couplings()[static_cast<std::size_t>(b.source)].name);
    case RowSource::locked_dof:
    case RowSource::limit_lower:
    case RowSource::limit_upper:
      return fmt::format("limit of '{}'", model.dof_name(b.source));
    case RowSource::servo:
    case RowSource::passive:
    case RowSource::dry_friction:
      return fmt::format("drive or friction of '{}'", model.dof_name(b.source));
    case RowSource::contact: {
      const Contact& c = contacts[static_cast<std::size_t>(b.source)];
      return fmt::format("contact between geoms '{}' and '{}'", model.geoms()[static_cast<std::size_t>(c.geom_a)].name,
                         model.geoms()[static_cast<std::size_t>(c.geom_b)].name);
    }
  }
  return {};
}

void Simulation::Impl::check_dof(int dof, std::string_view call) const {
  if (dof < 0 || dof >= model.dof_count()) {
    throw InputError(std::string(call), fmt::format("dof {} does not exist; the model has {}", dof, model.dof_count()));
  }
}

Simulation::Simulation(Model model, SimulationOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(options))) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

const StepReport& Simulation::step() {
  impl_->step();
  return impl_->report;
}

const ConstraintProblem& Simulation::assemble() {
  impl_->assemble(impl_->options.dt);
  return impl_->problem;
}

const Model& Simulation::model() const { return impl_->model; }
const SimulationOptions& Simulation::options() const { return impl_->options; }
const State& Simulation::state() const { return impl_->state; }
double Simulation::time() const { return impl_->state.time; }
double Simulation::dt() const { return impl_->options.dt; }
const StepReport& Simulation::report() const { return impl_->report; }
std::span<const Contact> Simulation::contacts() const { return impl_->contacts; }
const ConstraintProblem& Simulation::problem() const { return impl_->problem; }
std::span<const double> Simulation::impulses() const { return impl_->lambda; }
std::span<const double> Simulation::warm_start_impulses() const { return impl_->warm_lambda; }

void Simulation::set_state(const State& s) {
  const State& now = impl_->state;
  if (s.X_WB.size() != now.X_WB.size() || s.twist.size() != now.twist.size() || s.q.size() != now.q.size()) {
    throw InputError("set_state", fmt::format("the state has {} bodies and {} coordinates, the model {} and {}",
                                              s.X_WB.size(), s.q.size(), now.X_WB.size(), now.q.size()));
  }
  if (!s.finite()) throw InputError("set_state", "the state has a non-finite number; give finite numbers");
  for (const Pose& X : s.X_WB) {
    if (std::abs(X.q.squaredNorm() - 1) > 1e-6) throw InputError("set_state", "a quaternion is not of unit length");
  }
  impl_->state = s;
  impl_->warm.clear();
  impl_->solver->reset();
}

void Simulation::set_drive_target(int dof, double target, double target_rate) {
  impl_->check_dof(dof, "set_drive_target");
  if (!std::isfinite(target) || !std::isfinite(target_rate)) {
    throw InputError(fmt::format("set_drive_target '{}'", impl_->model.dof_name(dof)),
                     fmt::format("target is {}, rate {}; give finite numbers", target, target_rate));
  }
  impl_->overrides[static_cast<std::size_t>(dof)] = {true, target, target_rate};
}

void Simulation::clear_drive_target(int dof) {
  impl_->check_dof(dof, "clear_drive_target");
  impl_->overrides[static_cast<std::size_t>(dof)].active = false;
}

void Simulation::set_joint_force(int dof, double force) {
  impl_->check_dof(dof, "set_joint_force");
  if (!std::isfinite(force)) {
    throw InputError(fmt::format("set_joint_force '{}'", impl_->model.dof_name(dof)),
                     fmt::format("force is {}; give a finite number", force));
  }
  impl_->joint_forces[static_cast<std::size_t>(dof)] = force;
}

void Simulation::set_body_wrench(int body, const Vec6& wrench_W) {
  if (body < 0 || body >= impl_->model.body_count()) {
    throw InputError("set_body_wrench",
                     fmt::format("body {} does not exist; the model has {}", body, impl_->model.body_count()));
  }
  if (!wrench_W.allFinite()) {
    throw InputError(fmt::format("set_body_wrench '{}'", impl_->model.bodies()[static_cast<std::size_t>(body)].name),
                     "the wrench has a non-finite component; give finite numbers");
  }
  impl_->wrenches[static_cast<std::size_t>(body)] = wrench_W;
}

Vec3 Simulation::contact_impulse(int contact) const {
  const int contact_rows = impl_->problem.rows_of(BlockKind::contact);
  const auto first = static_cast<std::size_t>(impl_->problem.rows() - contact_rows + 3 * contact);
  if (contact < 0 || 3 * contact >= contact_rows) {
    throw InputError("contact_impulse", fmt::format("contact {} does not exist", contact));
  }
  return {impl_->lambda[first], impl_->lambda[first + 1], impl_->lambda[first + 2]};
}

Vec3 Simulation::contact_impulse_W(int contact) const {
  const Vec3 l = contact_impulse(contact);
  return contact_frame(impl_->contacts[static_cast<std::size_t>(contact)].n_W) * l;
}

double Simulation::drive_effort(int dof) const {
  impl_->check_dof(dof, "drive_effort");
  for (const ConstraintBlock& b : impl_->problem.blocks) {
    if (b.source_kind == RowSource::servo && b.source == dof) {
      return impl_->lambda[static_cast<std::size_t>(b.row)] / impl_->problem.dt;
    }
  }
  const auto i = static_cast<std::size_t>(dof);
  return impl_->inputs[i].force + impl_->explicit_effort[i];
}

}  // namespace sarrus
