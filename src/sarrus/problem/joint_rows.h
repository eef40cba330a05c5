// Rows of joints, couplings, drives, springs, dry friction and limits (spec/model.md §2-4, spec/problem.md §3).
//
// Rigid rows carry the bias v* (law: J u+ + v* = 0 or >= 0):
//   joint, semi-implicit   v* = alpha r/dt + kappa,   kappa = (r(s + dt u-) - r(s))/dt - J u-
//     kappa is the curvature of the constraint along the step: with it the position after the step, not its
//     linearisation, lies on the manifold. Without it every step loses the energy of the velocity component
//     that the turning of J removes (first order, always dissipative).
//   joint, Moreau          v* = J u- + alpha r(s)/dt      rows at the midpoint: the mean velocity is tangent,
//     joint impulses then do no work and the scheme is of second order.
//   limit                  v* = beta min(0, gap)/dt + max(0, gap)/dt [+ restitution]
// Joints, couplings and limits with another compliance than `rigid` take R and v* from compliance_rows.h instead.
// Soft rows (implicit springs, dampers, servos, armature), rho = a + dt k_d + dt^2 k_p:
//   (Moreau: dt^2 k/4 for springs, taken at the mean position; theta-schemes: spec/model.md §7.3,
//    rho = a + dt theta k_d + dt^2 theta theta_vq k_p; with theta = 0 they are explicit forces)
//   R = 1/rho,  v* = -(a q'- + dt (k_p (q_d - q) + k_d q_d' + tau))/rho,   |lambda| <= dt tau_max
#pragma once

#include <span>
#include <vector>

#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/problem/row_options.h"

namespace sarrus {

// Targets of a drive at the end of the step, and the extra force on the dof.
struct DriveInput {
  double target = 0;
  double target_rate = 0;
  double force = 0;
};

// What the row builders read. `kinematics` is at the pose where rows are evaluated; `start` and `predicted` are
// frames at s and at s + dt u- (both equal to `kinematics` where they are not needed).
struct RowContext {
  const Model& model;
  const RowOptions& options;
  const JointKinematics& kinematics;
  const JointKinematics& start;
  const JointKinematics& predicted;
  std::span<const double> q;           // coordinates at the row pose
  const VecX& u_minus;                 // stacked node velocities before the step
  std::span<const DriveInput> inputs;  // by dof
};

// Position-level rows only (joint residuals and Jacobians, couplings, rods, locked dofs): what is projected
// after the step, so only those that are rigid. Fills bias with the residual itself.
void add_position_rows(const Model& model, const JointKinematics& kinematics, std::span<const double> q,
                       ConstraintProblem& problem);

void add_joint_rows(const RowContext& context, ConstraintProblem& problem);
// Compliance of a block that add_joint_rows made.
const Compliance& compliance_of(const Model& model, const ConstraintBlock& block);
void add_soft_rows(const RowContext& context, ConstraintProblem& problem);
// Returns the largest violation of a limit or rope, m or rad.
double add_limit_rows(const RowContext& context, ConstraintProblem& problem);

// Forces of a dof at the start of the step, N or N m: what schemes with theta = 0 use instead of soft rows. Where there
// is armature, spring and damper stay part of its soft row.
double explicit_passive_force(const Dof& dof, double q, double rate);
double explicit_servo_force(const Dof& dof, const DriveInput& input, double q, double rate);

// Body Jacobian rows [base, follower] of a dof and its present rate.
struct DofRow {
  int base = kWorld;
  int follower = kWorld;
  Vec6 J_base = Vec6::Zero();
  Vec6 J_follower = Vec6::Zero();
};
DofRow dof_row(const Model& model, const JointKinematics& kinematics, int dof);

}  // namespace sarrus
