// Rows of joints, couplings, drives, springs, dry friction, limits and contacts: model and motion -> constraint blocks
// (docs/theory/rows.md).
//
// Rigid rows carry the bias v* (law: J u+ + v* = 0 or >= 0); kappa = (r(s + dt u-) - r(s))/dt - J u-:
//   joint     v* = alpha r(s)/dt + beta J u- + curvature kappa      beta, curvature: dynamics/scheme.h; alpha = 0 where
//     the projection corrects positions
//     kappa is the curvature of the constraint along the step: with it the position after the step, not its
//     linearisation, lies on the manifold. Without it every step loses the energy of the velocity component
//     that the turning of J removes (first order, always dissipative). With beta = 1 and rows at the midpoint the mean
//     velocity is tangent instead, and joint impulses do no work.
//   limit     v* = unilateral_bias();  ropes also have their curvature
//   contact   frame R_k = [t o n], n from A to B;  J_B = R_k' [1, -[p - r_B]x],  J_A = -R_k' [1, -[p - r_A]x]
//             v*_N = unilateral_bias(),  v*_T = beta J_T u- if the contact stuck in the last step, else 0
// Joints, couplings, limits and contacts with another compliance than `rigid` take R and v* from compliance.h.
// Soft rows (implicit springs, dampers, servos, armature a) with the scheme's theta and spring weight w:
//   rho = a + dt theta k_d + dt^2 w k_p,   R = 1/rho,   |lambda| <= dt tau_max
//   v* = -(a (q'- - c) + dt (k_p (q_d - q) + k_d q_d' + tau))/rho
// q'- is the coordinate's own rate after the last step, q'+ = J u+ + c the one after this step; J u- is not q'-: J has
// turned since.
// Drag (docs/theory/rows.md §3.1): three soft rows along the world axes on the velocity of a point of a body.
// Blocks are appended in the order joints | soft rows | limits | contacts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/dynamics/coordinates.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/rows/options.h"

namespace sarrus {

// Targets of a drive in the middle and at the end of the step, and the extra force on the dof.
struct DriveTarget {
  double target = 0;
  double rate = 0;
};
struct DriveInput {
  DriveTarget middle, end;
  double force = 0;
};

// A point of a body that is pulled to a target by a spring, a damper and at most a force, along each axis of the world.
struct Drag {
  int body = kWorld;  // the world: none
  Vec3 point_B = Vec3::Zero();
  Vec3 target_W = Vec3::Zero();
  double stiffness = 0;   // N/m
  double damping = 0;     // N s/m
  double most_force = 0;  // N
};

// What lasts: a limit or contact that is closed and still (or, after a step, carries load), and (of contacts) sticks.
// The scheme's law on the mean velocity is for these alone; what is new has the law on the end velocity.
struct Sustained {
  bool loaded = false;
  bool stuck = false;
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
  std::span<const double> q;           // coordinates there, by dof
  const VecX& u_minus;                 // velocities before the step, by node
  std::span<const DriveInput> inputs;  // by scalar of the model
  // By dof: q'- - c, for those with armature. Soft rows read it.
  std::span<const double> armature_rate = {};
  // By body; none: `scheme` for all.
  std::span<const Scheme* const> body_scheme = {};
  std::span<const Sustained> sustained = {};             // by contact; none: all are new
  std::span<const double> pair_load = {};                // by contact, N: WarmStart::pair_load(); none: unknown
  std::span<const std::uint64_t> sustained_limits = {};  // block ids, ascending
  const Drag* drag = nullptr;
  bool positions = false;  // limits: rigid ones alone, bias = the gap itself
  bool projected = false;  // joints are closed by moving poses: their velocities take nothing back

  const Scheme& scheme_at(int body) const {
    return body == kWorld || body_scheme.empty() ? scheme : *body_scheme[static_cast<std::size_t>(body)];
  }
  // Where the scheme differs between the two, something closes in this step: its law.
  const Scheme& scheme_between(int a, int b) const {
    const Scheme& s = scheme_at(a == kWorld ? b : a);
    return &s == &scheme && b != kWorld ? scheme_at(b) : s;
  }
};

// The problem consists of joint rows then: whatever blocks it had are replaced.
void set_joint_rows(const RowContext& context, ConstraintProblem& problem);
void add_soft_rows(const RowContext& context, ConstraintProblem& problem);
struct LimitViolation {
  double largest = 0;  // of a limit or rope, m or rad
  double share = 0;    // the same, lengths as shares of the size of their joint

  void add(double x, double unit) {
    largest = std::max(largest, x);
    share = std::max(share, x / unit);
  }
};
LimitViolation add_limit_rows(const RowContext& context, ConstraintProblem& problem);
// One block of three rows per contact, in the order of `contacts`; block.source is the index there. `compliances` are
// what Contact::compliance refers to. Returns the largest penetration, m.
double add_contact_rows(const RowContext& context, std::span<const Contact> contacts,
                        std::span<const Compliance> compliances, ConstraintProblem& problem);

// The normals of rigid contacts as limit blocks of one row, bias = the gap itself; block.source is the index in
// `contacts`.
void add_contact_normals(const RowContext& context, std::span<const Contact> contacts, ConstraintProblem& problem);
// What is sustained as bilateral rows (blocks of kind joint) with bias 0: the normals of loaded contacts, all three
// rows of stuck ones, loaded limits.
void add_sustained_rows(const RowContext& context, std::span<const Contact> contacts, ConstraintProblem& problem);

// The rigid bilateral rows alone (joints, rods, locked dofs, couplings), which projections work on, with the masses of
// their nodes, in place of what blocks the problem had; fills bias with the residual itself.
void set_position_rows(const Model& model, Coordinates& coordinates, std::span<const Pose> X_WB,
                       const JointKinematics& kinematics, std::span<const double> q, ConstraintProblem& problem);
// Residuals of the joint blocks that set_joint_rows or set_position_rows made, 0 for compliant ones (of which there are
// some if they `may_give`), at other poses. Rows that are `released`, by row, are 0, too; empty: none. Returns the
// largest one, of angles in rad, of lengths beyond their round-off in shares of the size of the joint.
double position_residuals(const Model& model, std::span<const ConstraintBlock> joint_blocks, bool may_give,
                          const JointKinematics& kinematics, std::span<const double> q, Eigen::Ref<VecX> residual,
                          std::span<const std::uint8_t> released = {});
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
// Rows on the twists of the bodies of a combination, each of which is there once.
struct CombinationRow {
  int count = 0;
  int body[kMaxCombinationBodies];
  Vec6 J[kMaxCombinationBodies];
};
CombinationRow combination_row(const Model& model, const JointKinematics& kinematics, int scalar);
// f(row) with the row of a scalar of the model, a DofRow or a CombinationRow.
template <class F>
decltype(auto) with_scalar_row(const Model& model, const JointKinematics& kinematics, int scalar, const F& f) {
  return model.is_combination(scalar) ? f(combination_row(model, kinematics, scalar))
                                      : f(dof_row(model, kinematics, scalar));
}
// The row of a rod or rope: the rate of the distance between its anchors.
DofRow distance_row(const Joint& joint, const JointFrame& frame);
// The rate of the dof at u.
double dof_rate(const Coordinates& coordinates, const DofRow& row, const VecX& u);
double dof_rate(const Coordinates& coordinates, const CombinationRow& row, const VecX& u);
// u += M^-1 J' impulse.
void add_dof_impulse(const Coordinates& coordinates, const DofRow& row, double impulse,
                     const ConstraintProblem& problem, VecX& u);
void add_dof_impulse(const Coordinates& coordinates, const CombinationRow& row, double impulse,
                     const ConstraintProblem& problem, VecX& u);
// A block of one row along a dof.
ConstraintBlock& add_dof_block(const Coordinates& coordinates, BlockKind kind, RowSource source, int index,
                               const DofRow& row, double scale, ConstraintProblem& problem);
ConstraintBlock& add_dof_block(const Coordinates& coordinates, BlockKind kind, RowSource source, int index,
                               const CombinationRow& row, double scale, ConstraintProblem& problem);

// Bias v* of a unilateral row (law v+ + v* >= 0).
struct Unilateral {
  double gap = 0;      // at the pose of the rows, m or rad
  double slop = 0;     // within which a sustained row is closed
  double v_minus = 0;  // before the step
  double v_free = 0;   // without constraints
  double restitution = 0;
  bool sustained = false;
  double dead_zone = 0;  // within which a new row is closed
};
//   bounces  v* = e v-       approaches faster than v_rest and would close within the step
//   open     v* = (gap - dead_zone)/(w dt)   no impulse unless the gap would close within the step;  w dt: what u+
//   moves
//            after the rows
//   closed   v* = beta v-    beta: of the scheme if sustained, else 0
// Nothing here pushes out what has sunk in: that is done by moving poses, not velocities (step/push_out.h). So no bias
// is negative but that of restitution, and impulses take energy. Closed is what is open by less than the slop, or a
// dead zone (of contacts a tenth of the slop) for new rows: the points of a resting face have gaps of +-1e-10 m, which
// would otherwise become velocities that no rigid motion has; impulses would drift between redundant points until one
// of them opens, in every step. A bouncing row that would close within this step bounces at once: as an open one it
// would first be braked to the surface, and restitution would then see the braked speed one step later.
double unilateral_bias(const Unilateral& row, const Scheme& scheme, double restitution_threshold, double dt);
// Whether it bounces, and whether it closes with a speed, more than twice what free motion changes in a step: an
// impact.
bool bounces(const Unilateral& row, double restitution_threshold, double dt);
bool is_impact(const Unilateral& row, double dt);
// Velocity of B's material point relative to A's at the contact, world axes, m/s.
Vec3 contact_velocity(const Contact& contact, std::span<const Vec6> twist, std::span<const Pose> X_WB);

// Swing limits and ropes: gap and its rate as a row, gap' = row u. Not defined where the swing is nil: the limit is
// far.
struct UnilateralJoint {
  bool defined = true;
  double gap = 0;
  DofRow row;
};
UnilateralJoint unilateral_joint(const Joint& joint, const JointFrame& frame);

// delta_c of a contact, m.
inline double contact_slop(const RowOptions& options, const Contact& contact) {
  return options.contact_slop == kUseDefault ? 1e-5 * contact.size : options.contact_slop;
}
// Of limits: rad, or of the size of the joint.
inline constexpr double kLimitSlop = 1e-8;
// A share of the size of a scalar's joint in the units of the scalar: of angles about that many rad.
inline double in_units_of(const Model& model, int scalar, double share) {
  return share * model.joint_size(model.joint_of_dof(scalar)) / model.reach(scalar);
}
// How fast rows of a block move something where their velocity is 1: the first ones 1 as a rule, those that turn the
// size of their joint.
struct BlockReach {
  int first_rows;
  double first, others;  // m per unit
  double of(int row) const { return row < first_rows ? first : others; }
};
BlockReach block_reach(const Model& model, const JointKinematics& kinematics, const ConstraintBlock& block);

}  // namespace sarrus
