// One step, in the order of the method: inputs, poses of the rows, events, free velocity, rows, solve and judge,
// integrate, project. Everything before `commit` works on copies: a step that fails leaves the state untouched.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "sarrus/dynamics/mass.h"
#include "sarrus/math/so3.h"
#include "sarrus/problem/contact_rows.h"
#include "sarrus/step/simulation_impl.h"

namespace sarrus {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// In maximal coordinates the node of a body is its index.
double dof_rate(const DofRow& row, const VecX& u) {
  double rate = 0;
  if (row.base != kWorld) rate += row.J_base.dot(u.segment<6>(6 * row.base));
  if (row.follower != kWorld) rate += row.J_follower.dot(u.segment<6>(6 * row.follower));
  return rate;
}

}  // namespace

void Simulation::Impl::step() {
  const Clock::time_point begin = Clock::now();
  report = StepReport{};
  message.clear();
  step_scale = 0;
  if (!advance(options.dt, 0)) report_failure();
  report.seconds_total = seconds_since(begin);
}

// Takes one step, or two halves of it if no acceptable answer was found; undone as a whole if those fail.
bool Simulation::Impl::advance(double dt, int depth) {
  if (attempt(dt)) return true;
  if (depth >= options.max_substep_depth) return false;
  State& undo = saved[static_cast<std::size_t>(depth)];
  undo = state;
  ++report.substeps;
  if (advance(0.5 * dt, depth + 1) && advance(0.5 * dt, depth + 1)) {
    report.status = StepStatus::substepped;
    return true;
  }
  state = undo;
  warm.clear();
  return false;
}

void Simulation::Impl::assemble(double dt) {
  Clock::time_point t = Clock::now();
  projector.forget();
  read_inputs(dt);
  pose_rows(dt);
  detect_events(dt);
  report.seconds_collision += seconds_since(t);
  t = Clock::now();
  free_velocity(dt);
  build_rows(dt);
  report.seconds_assembly += seconds_since(t);
}

bool Simulation::Impl::attempt(double dt) {
  failed_joints = {};
  assemble(dt);
  const Clock::time_point t = Clock::now();
  const bool solved = solve();
  report.seconds_solve += seconds_since(t);
  if (!solved) return false;
  integrate(dt);
  return project(dt) && commit(dt);
}

void Simulation::Impl::read_inputs(double dt) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Drive& d = model.dofs()[i].drive;
    const TargetOverride& o = overrides[i];
    // Servos are implicit: they aim at the target of the end of the step. Forces act as of its start.
    const double t = d.mode == DriveMode::force ? state.time : state.time + dt;
    inputs[i].target = o.active ? o.target : d.target.value(t);
    inputs[i].target_rate = o.active ? o.rate : d.target.derivative(t);
    inputs[i].force = joint_forces[i];
    if (d.mode == DriveMode::force) inputs[i].force += std::clamp(inputs[i].target, -d.effort_limit, d.effort_limit);
  }
}

// Semi-implicit Euler builds its rows at s; Moreau at the midpoint s + dt/2 u-, projected onto the joint manifold: rows
// that are redundant on the manifold (a Bennett loop) are independent and nearly singular O(dt^2) beside it. The motion
// itself goes on from the unprojected midpoint.
void Simulation::Impl::pose_rows(double dt) {
  for (std::size_t i = 0; i < state.X_WB.size(); ++i) {
    u_minus.segment<6>(static_cast<Eigen::Index>(6 * i)) = state.twist[i];
    row_poses[i] = moreau() ? integrate_pose(state.X_WB[i], state.twist[i], 0.5 * dt) : state.X_WB[i];
    predicted_poses[i] = integrate_pose(state.X_WB[i], state.twist[i], dt);
  }
  start.update(state.X_WB);
  predicted.update(predicted_poses);
  rows_kinematics.update(row_poses);
  mid_poses = row_poses;
  if (moreau() && options.projection) {
    projector.project_poses(row_poses, rows_kinematics, state.q, options.projection_tolerance,
                            options.projection_iterations);
  }
  row_q = state.q;
  rows_kinematics.update_coordinates(row_q);
}

void Simulation::Impl::detect_events(double dt) { detector.detect(row_poses, state.twist, dt, contacts); }

// u_f = u- + dt M^-1 h
void Simulation::Impl::free_velocity(double dt) {
  problem.dt = dt;
  const bool theta_scheme = is_theta_scheme(*options.integrator);
  const Theta theta = theta_of(*options.integrator);
  for (std::size_t i = 0; i < row_poses.size(); ++i) {
    const Body& b = model.bodies()[i];
    const Quat& q = row_poses[i].q;
    const Vec3 w = state.twist[i].tail<3>();
    auto u = problem.u_free.segment<6>(problem.node_offset[i]);
    u.head<3>() = state.twist[i].head<3>() + dt * (model.gravity() + wrenches[i].head<3>() / b.mass);
    Quat q_mass = q;
    if (theta_scheme) u.tail<3>() = free_rotation(b.inertia_B, q, w, wrenches[i].tail<3>(), dt, theta, q_mass);
    body_mass_blocks(b, inertia_inverse_B[i], q_mass, problem.mass.data() + problem.mass_offset[i],
                     problem.mass_inverse.data() + problem.mass_offset[i]);
    if (theta_scheme) continue;  // the torque is in it already
    if (options.gyroscopic == Gyroscopic::implicit_term) {
      u.tail<3>() = gyroscopic_implicit(b.inertia_B, q, w, dt);
    } else if (moreau()) {
      u.tail<3>() = gyroscopic_midpoint(b.inertia_B, inertia_inverse_B[i], q, w, dt);
    } else {
      u.tail<3>() = gyroscopic_explicit(b.inertia_B, inertia_inverse_B[i], q, w, dt);
    }
    const Eigen::Map<const Mat6> W(problem.mass_inverse.data() + problem.mass_offset[i]);
    u.tail<3>() += dt * (W.bottomRightCorner<3, 3>() * wrenches[i].tail<3>());
  }
  add_drive_forces(dt);
}

void Simulation::Impl::add_drive_forces(double dt) {
  const bool explicit_forces = theta_of(*options.integrator).force == 0;
  for (int i = 0; i < model.dof_count(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    double force = inputs[k].force;
    if (force == 0 && !explicit_forces) continue;
    const DofRow row = dof_row(model, rows_kinematics, i);
    if (explicit_forces) {
      const double rate = dof_rate(row, u_minus);
      explicit_effort[k] = explicit_servo_force(model.dofs()[k], inputs[k], row_q[k], rate);
      force += explicit_effort[k] + explicit_passive_force(model.dofs()[k], row_q[k], rate);
    }
    const auto add = [&](int body, const Vec6& J) {
      if (body == kWorld) return;
      const auto b = static_cast<std::size_t>(body);
      const Eigen::Map<const Mat6> W(problem.mass_inverse.data() + problem.mass_offset[b]);
      problem.u_free.segment<6>(problem.node_offset[b]) += dt * force * (W * J);
    };
    add(row.base, row.J_base);
    add(row.follower, row.J_follower);
  }
}

void Simulation::Impl::build_rows(double dt) {
  RowOptions o;
  o.dt = dt;
  o.integrator = *options.integrator;
  o.erp_joint = options.erp_joint;
  o.erp_limit = options.erp_limit;
  o.erp_contact = options.erp_contact;
  o.contact_slop = options.contact_slop;
  o.restitution_threshold = options.restitution_threshold;
  o.limit_margin = options.limit_margin;
  const RowContext context{model, o, rows_kinematics, start, predicted, row_q, u_minus, inputs};
  problem.clear_constraints();
  add_joint_rows(context, problem);
  projector.make_consistent(row_poses, rows_kinematics, row_q, problem);
  add_soft_rows(context, problem);
  report.limit_violation = std::max(report.limit_violation, add_limit_rows(context, problem));
  report.penetration =
      std::max(report.penetration, add_contact_rows(contacts, row_poses, u_minus, o, problem, detector.compliances()));
  problem.finish();
}

bool Simulation::Impl::converged(const Residuals& r, Law by) const { return meets(r, by, options.tolerance); }

// Impulses shrink with the step and S with them, but a velocity error that is usable stays usable: parts of a step are
// measured by the S of the whole.
bool Simulation::Impl::acceptable(const Residuals& r, Law by) const {
  return r.finite && r.natural_map_of(by) <= options.acceptable * std::max(r.scale, step_scale);
}

// Best judged iterate, then the fallback solver; false if neither is acceptable. Leaves u+ in u_plus.
bool Simulation::Impl::solve() {
  lambda.resize(static_cast<std::size_t>(problem.rows()));
  if (options.warm_start) {
    report.contacts_matched = warm.load(problem, contacts, row_poses, lambda);
  } else {
    std::fill(lambda.begin(), lambda.end(), 0.0);
    solver->reset();
  }
  warm_lambda.resize(lambda.size());  // unlike an assignment, grows by more than it needs
  std::copy(lambda.begin(), lambda.end(), warm_lambda.begin());
  SolveReport answer = solver->solve(problem, options.tolerance, lambda);
  report.iterations += answer.iterations;
  report.factorisations += answer.factorisations;
  if (answer.residuals.finite) step_scale = std::max(step_scale, answer.residuals.scale);
  Law used = law;
  if (!acceptable(answer.residuals, law)) {
    fallback_lambda.assign(lambda.size(), 0.0);
    fallback->reset();
    solver->reset();
    const SolveReport second = fallback->solve(problem, options.tolerance, fallback_lambda);
    report.iterations += second.iterations;
    report.factorisations += second.factorisations;
    if (!acceptable(second.residuals, fallback_law)) {
      failed_status = answer.status;
      failed_residuals = answer.residuals;
      return false;
    }
    answer = second;
    lambda.swap(fallback_lambda);
    used = fallback_law;
    report.status = std::max(report.status, StepStatus::fallback);
  }
  // The answer is judged once more, by itself, whatever the solver reported.
  const Residuals verdict = judge(problem, lambda, judge_workspace);
  if (!acceptable(verdict, used)) {
    failed_status = SolveStatus::non_finite;
    failed_residuals = verdict;
    return false;
  }
  u_plus = judge_workspace.u;
  if (!converged(verdict, used)) {
    report.met_tolerance = false;
    report.status = std::max(report.status, StepStatus::accepted);
  }
  report.solve_status = std::max(report.solve_status, answer.status);
  if (report.rows == 0 || verdict.natural_map_of(used) >= report.residuals.natural_map_of(used))
    report.residuals = verdict;
  report.rows = problem.rows();
  report.contacts = static_cast<int>(contacts.size());
  report.limits = problem.rows_of(BlockKind::limit);
  return true;
}

void Simulation::Impl::integrate(double dt) {
  if (is_theta_scheme(*options.integrator)) {
    const double theta_vq = theta_of(*options.integrator).position;
    for (std::size_t i = 0; i < row_poses.size(); ++i) {
      const Vec6 mean = theta_vq * u_plus.segment<6>(problem.node_offset[i]) + (1 - theta_vq) * state.twist[i];
      new_poses[i] = integrate_pose(state.X_WB[i], mean, dt);
    }
    return;
  }
  const double remaining = moreau() ? 0.5 * dt : dt;
  for (std::size_t i = 0; i < row_poses.size(); ++i) {
    new_poses[i] = integrate_pose(mid_poses[i], u_plus.segment<6>(problem.node_offset[i]), remaining);
  }
}

// Positions onto the joint manifold; false if a joint stays open: the step is too long for its curvature, or leads
// through a singular pose, and a shorter one may close it. Moreau also corrects the gyroscopic term for the velocity
// actually reached and makes the velocity tangent at the new pose: both are O(dt^2), and what its second order rests
// on.
bool Simulation::Impl::project(double dt) {
  rows_kinematics.update(new_poses);
  if (options.projection) {
    const Projector::Result r = projector.project_poses(new_poses, rows_kinematics, state.q,
                                                        options.projection_tolerance, options.projection_iterations);
    report.projection_iterations = std::max(report.projection_iterations, r.iterations);
    if (moreau() && projector.has_rows()) {
      correct_gyroscopic(dt);
      projector.project_velocities(new_poses, rows_kinematics, state.q, u_plus);
    }
  }
  new_q = state.q;
  rows_kinematics.update_coordinates(new_q);
  const JointErrors errors = joint_errors(model, rows_kinematics, new_q);
  report.joint_gap = errors.gap;
  report.joint_angle = errors.angle;
  report.compliant_gap = errors.compliant_gap;
  report.compliant_angle = errors.compliant_angle;
  // Written so that NaN is no closed joint.
  if (!options.projection || (errors.gap <= options.acceptable_gap && errors.angle <= options.acceptable_gap))
    return true;
  failed_joints = errors;
  failed_status = SolveStatus::stalled;
  failed_residuals = report.residuals;
  return false;
}

void Simulation::Impl::correct_gyroscopic(double dt) {
  for (std::size_t i = 0; i < row_poses.size(); ++i) {
    const Mat3& I = model.bodies()[i].inertia_B;
    const Quat& q = row_poses[i].q;
    const auto o = problem.node_offset[i];
    const Vec3 w = q.conjugate() * state.twist[i].tail<3>();
    const Vec3 w_plus = q.conjugate() * Vec3(u_plus.segment<3>(o + 3));
    const Vec3 w_gyro = q.conjugate() * gyroscopic_midpoint(I, inertia_inverse_B[i], q, state.twist[i].tail<3>(), dt);
    const Vec3 assumed = 0.5 * (w + w_gyro);
    const Vec3 actual = 0.5 * (w + w_plus);
    const Vec3 torque = assumed.cross(I * assumed) - actual.cross(I * actual);
    u_plus.segment<3>(o + 3) += q * Vec3(dt * (inertia_inverse_B[i] * torque));
  }
}

bool Simulation::Impl::commit(double dt) {
  bool finite = u_plus.allFinite();
  for (const Pose& X : new_poses) finite = finite && all_finite(X);
  for (const double x : new_q) finite = finite && std::isfinite(x);
  if (!finite) {
    failed_status = SolveStatus::non_finite;
    return false;
  }
  if (options.warm_start) warm.store(problem, contacts, row_poses, lambda);
  for (std::size_t i = 0; i < new_poses.size(); ++i) {
    state.X_WB[i] = new_poses[i];
    state.twist[i] = u_plus.segment<6>(problem.node_offset[i]);
  }
  state.q = new_q;
  state.time += dt;
  return true;
}

}  // namespace sarrus
