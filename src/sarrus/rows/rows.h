// Rows of joints, couplings, drives, springs, dry friction, limits and contacts: model and motion -> constraint blocks
// (docs/theory/rows.md).
//
// Rigid rows carry the bias v* (law: J u+ + v* = 0 or >= 0); kappa = (r(s + dt u-) - r(s))/dt - J u-:
//   joint     v* = alpha r(s)/dt + beta J u- + curvature kappa      beta, curvature: dynamics/scheme.h
//     kappa is the curvature of the constraint along the step: with it the position after the step, not its
//     linearisation, lies on the manifold. Without it every step loses the energy of the velocity component
//     that the turning of J removes (first order, always dissipative). With beta = 1 and rows at the midpoint the mean
//     velocity is tangent instead, and joint impulses do no work.
//   limit     v* = unilateral_bias(gap);  ropes also have their curvature
//   contact   frame R_k = [t o n], n from A to B;  J_B = R_k' [1, -[p - r_B]x],  J_A = -R_k' [1, -[p - r_A]x]
//             v*_N = unilateral_bias(gap),  v*_T = 0
// Joints, couplings, limits and contacts with another compliance than `rigid` take R and v* from compliance.h.
// Soft rows (implicit springs, dampers, servos, armature a) with the scheme's theta and spring weight w:
//   rho = a + dt theta k_d + dt^2 w k_p,   R = 1/rho,   |lambda| <= dt tau_max
//   v* = -(a (q'- - c) + dt (k_p (q_d - q) + k_d q_d' + tau))/rho
// q'- is the coordinate's own rate after the last step, q'+ = J u+ + c the one after this step; J u- is not q'-: J has
// turned since.
// Blocks are appended in the order joints | soft rows | limits | contacts.
#pragma once

#include <span>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/dynamics/coordinates.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/rows/options.h"

namespace sarrus {

// Targets of a drive at the end of the step, and the extra force on the dof.
struct DriveInput {
  double target = 0;
  double target_rate = 0;
  double force = 0;
};

// What the row builders read.
struct RowContext {
  const Model& model;
  const Coordinates& coordinates;
  const Scheme& scheme;
  const RowOptions& options;
  double dt;
  const JointKinematics& kinematics;   // at the pose of the rows
  const JointKinematics& start;        // at s
  const JointKinematics& predicted;    // at s + dt u-; read only if the scheme has curvature
  std::span<const Pose> X_WB;          // the pose of the rows
  std::span<const double> q;           // coordinates there
  const VecX& u_minus;                 // velocities before the step, by node
  std::span<const DriveInput> inputs;  // by dof
  // By dof: q'- - c, for those with armature. Soft rows read it.
  std::span<const double> armature_rate = {};
};

void add_joint_rows(const RowContext& context, ConstraintProblem& problem);
void add_soft_rows(const RowContext& context, ConstraintProblem& problem);
// Returns the largest violation of a limit or rope, m or rad.
double add_limit_rows(const RowContext& context, ConstraintProblem& problem);
// One block of three rows per contact, in the order of `contacts`; block.source is the index there. `compliances` are
// what Contact::compliance refers to. Returns the largest penetration, m.
double add_contact_rows(const RowContext& context, std::span<const Contact> contacts,
                        std::span<const Compliance> compliances, ConstraintProblem& problem);

// The rigid bilateral rows alone (joints, rods, locked dofs, couplings), which projections work on, with the masses of
// their nodes: clears the problem's constraints and fills bias with the residual itself.
void set_position_rows(const Model& model, Coordinates& coordinates, std::span<const Pose> X_WB,
                       const JointKinematics& kinematics, std::span<const double> q, ConstraintProblem& problem);
// Residuals of the joint blocks that add_joint_rows or set_position_rows made, 0 for compliant ones, at other poses.
void position_residuals(const Model& model, std::span<const ConstraintBlock> joint_blocks,
                        const JointKinematics& kinematics, std::span<const double> q, Eigen::Ref<VecX> residual);
// Whether a joint block gives way: no projection then.
bool is_compliant(const Model& model, const ConstraintBlock& block);

// Forces of a dof at the start of the step, N or N m: what schemes with theta = 0 use instead of soft rows. Where there
// is armature, spring and damper stay part of its soft row.
double explicit_passive_force(const Dof& dof, double q, double rate);
double explicit_servo_force(const Dof& dof, const DriveInput& input, double q, double rate);

// Rows on the twists of the two bodies of a dof.
struct DofRow {
  int base = kWorld;
  int follower = kWorld;
  Vec6 J_base = Vec6::Zero();
  Vec6 J_follower = Vec6::Zero();
};
DofRow dof_row(const Model& model, const JointKinematics& kinematics, int dof);
// The row of a rod or rope: the rate of the distance between its anchors.
DofRow distance_row(const Joint& joint, const JointFrame& frame);
// The rate of the dof at u.
double dof_rate(const Coordinates& coordinates, const DofRow& row, const VecX& u);
// u += M^-1 J' impulse.
void add_dof_impulse(const Coordinates& coordinates, const DofRow& row, double impulse,
                     const ConstraintProblem& problem, VecX& u);
// A block of one row along a dof.
ConstraintBlock& add_dof_block(const Coordinates& coordinates, BlockKind kind, RowSource source, int index,
                               const DofRow& row, double scale, ConstraintProblem& problem);

// Bias v* of a unilateral row (law v+ + v* >= 0) with gap g, tolerated violation `slop`, velocities before the
// step (v_minus) and without constraints (v_free):
//   v* = erp min(0, g + slop + b)/dt + max(0, g + slop - b)/dt [+ restitution v_minus],   b = slop/10
// The max-term makes the row speculative: no impulse unless the gap would close within the step.
// The dead zone b: the points of a resting face have gaps of +-1e-10 m, which erp below zero and 1 above turns into
// velocities that no rigid motion has; impulses then drift between redundant points until one of them opens, in every
// step. Within b the rows agree, and the face rests.
// A bouncing row that would close within this step bounces at once, without the max-term: a speculative row
// would first brake it to the surface, and restitution would then see the braked speed one step later.
double unilateral_bias(double gap, double slop, double v_minus, double v_free, double restitution, double erp,
                       double restitution_threshold, double dt);

}  // namespace sarrus
