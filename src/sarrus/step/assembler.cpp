#include "sarrus/step/assembler.h"

#include <algorithm>

#include "sarrus/step/stopwatch.h"

namespace sarrus {

Assembler::Assembler(Model model, SimulationOptions options, std::unique_ptr<Coordinates> coordinates)
    : model_(std::move(model)),
      options_(complete_options(std::move(options), model_)),
      scheme_(scheme_of(*options_.integrator)),
      coordinates_(coordinates ? std::move(coordinates) : maximal_coordinates(model_)),
      detector_(model_, options_.collision),
      projection_(model_, *coordinates_),
      start_(model_),
      kinematics_(model_),
      predicted_(model_),
      row_poses_(model_.bodies().size()),
      predicted_poses_(row_poses_),
      row_twists_(row_poses_.size()),
      u_minus_(VecX::Zero(coordinates_->velocity_size())),
      armature_rate_(model_.dofs().size(), 0.0),
      rate_curvature_(model_.dofs().size(), 0.0),
      drives_(model_.dofs().size()),
      explicit_effort_(model_.dofs().size(), 0.0) {
  problem_.set_nodes(coordinates_->node_sizes());
  for (int i = 0; i < model_.dof_count(); ++i) {
    if (model_.dofs()[static_cast<std::size_t>(i)].armature > 0) armature_dofs_.push_back(i);
  }
  contacts_.reserve(64 + 16 * model_.geoms().size());
}

FreeMotion Assembler::free_motion(const Inputs& inputs, double dt) const {
  return {scheme_, row_poses_, row_twists_, inputs.wrenches_W, dt};
}

void Assembler::assemble(const State& state, const Inputs& inputs, double dt) {
  seconds_projection_ = 0;
  Stopwatch watch;
  read_inputs(state, inputs, dt);
  place_rows(state, dt);
  seconds_assembly_ = watch.lap() - seconds_projection_;
  detector_.detect(row_poses_, state.twist, dt, contacts_);
  seconds_collision_ = watch.lap();
  problem_.dt = dt;
  const FreeMotion motion = free_motion(inputs, dt);
  coordinates_->free_velocity(motion, problem_.mass, problem_.mass_inverse, problem_.u_free);
  if (scheme_.curvature != 0 || !armature_dofs_.empty()) {
    coordinates_->move(motion, state.X_WB, u_minus_, predicted_poses_);
    predicted_.update(predicted_poses_);
  }
  read_rates(state);
  add_forces(dt);
  coordinates_->damp(problem_.mass, dt, problem_.u_free);
  build_rows(dt);
  seconds_assembly_ += watch.lap();
}

void Assembler::read_inputs(const State& state, const Inputs& inputs, double dt) {
  for (std::size_t i = 0; i < drives_.size(); ++i) {
    const Drive& d = model_.dofs()[i].drive;
    const Inputs::Target& o = inputs.targets[i];
    // Servos are implicit: they aim at the target of the end of the step. Forces act as of its start.
    const double t = d.mode == DriveMode::force ? state.time : state.time + dt;
    drives_[i].target = o.active ? o.target : d.target.value(t);
    drives_[i].target_rate = o.active ? o.rate : d.target.derivative(t);
    drives_[i].force = inputs.joint_forces[i];
    if (d.mode == DriveMode::force) drives_[i].force += std::clamp(drives_[i].target, -d.effort_limit, d.effort_limit);
  }
}

// Rows beside the manifold are no good: those that are redundant on it (a Bennett loop) are independent and nearly
// singular O(dt^2) away from it. So a pose of the rows other than s is projected.
void Assembler::place_rows(const State& state, double dt) {
  coordinates_->gather(state.X_WB, state.twist, u_minus_);
  row_q_ = state.q;
  start_.update(state.X_WB);
  if (scheme_.row_pose == 0) {
    std::copy(state.X_WB.begin(), state.X_WB.end(), row_poses_.begin());
    std::copy(state.twist.begin(), state.twist.end(), row_twists_.begin());
    start_.update_coordinates(row_q_);
    return;
  }
  coordinates_->integrate(state.X_WB, u_minus_, scheme_.row_pose * dt, scheme_.attitude, row_poses_);
  kinematics_.update(row_poses_);
  if (options_.projection) {
    const Stopwatch watch;
    projection_.forget();
    projection_.project_poses(row_poses_, kinematics_, state.q, options_.projection_tolerance,
                              options_.projection_iterations);
    seconds_projection_ = watch.seconds();
  }
  kinematics_.update_coordinates(row_q_);
  coordinates_->carry(state.X_WB, row_poses_, u_minus_);
  coordinates_->scatter(row_poses_, u_minus_, row_twists_);
}

void Assembler::read_rates(const State& state) {
  for (const int i : armature_dofs_) {
    const auto k = static_cast<std::size_t>(i);
    const double rate = start_.rate(i, state.twist);
    const double kappa = 0.5 * (predicted_.rate(i, state.twist) - rate);
    rate_curvature_[k] = scheme_.rate_curvature * kappa;
    // From the pose of the rows to the new one J u+ grows by 2 (1 - row_pose) kappa: what of it q'+ leaves out is the
    // lag of steady motion.
    const double steady = (scheme_.rate_curvature - 2 * (1 - scheme_.row_pose)) * kappa;
    armature_rate_[k] = rate + (state.rate_lag.empty() ? steady : state.rate_lag[k]) - rate_curvature_[k];
  }
}

void Assembler::rates_after(const VecX& u_plus, std::span<double> rate) const {
  for (const int i : armature_dofs_) {
    const auto k = static_cast<std::size_t>(i);
    rate[k] = dof_rate(*coordinates_, dof_row(model_, row_kinematics(), i), u_plus) + rate_curvature_[k];
  }
}

void Assembler::add_forces(double dt) {
  const bool explicit_forces = scheme_.force == 0;
  for (int i = 0; i < model_.dof_count(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    double force = explicit_effort_[k] = drives_[k].force;
    if (force == 0 && !explicit_forces) continue;
    const DofRow row = dof_row(model_, row_kinematics(), i);
    if (explicit_forces) {
      const double rate = dof_rate(*coordinates_, row, u_minus_);
      explicit_effort_[k] += explicit_servo_force(model_.dofs()[k], drives_[k], row_q_[k], rate);
      force = explicit_effort_[k] + explicit_passive_force(model_.dofs()[k], row_q_[k], rate);
    }
    add_dof_impulse(*coordinates_, row, dt * force, problem_, problem_.u_free);
  }
}

void Assembler::build_rows(double dt) {
  const RowContext context{model_,     *coordinates_, scheme_, options_.rows, dt,      row_kinematics(), start_,
                           predicted_, row_poses_,    row_q_,  u_minus_,      drives_, armature_rate_};
  problem_.clear_constraints();
  add_joint_rows(context, problem_);
  projection_.make_consistent(problem_);
  add_soft_rows(context, problem_);
  limit_violation_ = add_limit_rows(context, problem_);
  penetration_ = add_contact_rows(context, contacts_, detector_.compliances(), problem_);
  problem_.finish();
}

}  // namespace sarrus
