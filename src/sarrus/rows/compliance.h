// R and v* of compliant rows, the only place that knows the formulas (docs/theory/rows.md §6, docs/compliance.md).
//
//   sigma = J u+ + v* + R lambda,    bilateral sigma = 0,    unilateral 0 <= sigma perp lambda >= 0
// Symbols: phi residual or gap [m, rad], v- = J u- [m/s], D_ii = (J M^-1 J')_ii [1/kg], step dt.
//   spring k, damper b   R = 1/(dt^2 k + dt b),  v* = k phi/(dt k + b):  lambda = -dt (k (phi + dt v+) + b v+)
//   cfm_erp              R = cfm,                v* = erp phi/dt
//   physical             the spring with b = tau_d k, R at least beta^2/(4 pi^2) w;  w = D_ii, or |W|_F/3 of a contact
//   hertz                the spring linearised at delta0 = -phi > 0:
//                        k = (3/2) K_h sqrt(delta0),  phi_eff = -(2/3) delta0
//   mujoco               R = (1-d)/d D_ii/q,  v* = (-v- + dt k (phi - margin))/q,  q = 1 + dt b + dt^2 k,
//                        b = 2/(dw T),  k = d/(dw T zeta)^2 <= 1/dt^2,  T >= 2 dt,  d = d(|phi - margin|/width):
//                        a+ + d (b v+ + k (phi - margin + dt v+)) = (1-d) a_free where D is diagonal, and d q = d: the
//                        law of the model with its reference at the end of the step instead of its start, where it
//                        gains energy without bound if d0 > dw or zeta < 0.35
//
// Open gaps (phi > 0 on a unilateral row) never act at a distance:
//   * the springs take v* = phi/dt: no impulse unless the gap closes within the step. The formula above would give
//     phi/(dt + b/k), which lets the damper brake a body up to b/k |v| before it touches;
//   * mujoco rows beyond their margin are switched off: v* = (phi - margin)/dt + max(0, -v_free), which no free motion
//     reaches. (Speculative braking would be a rigid collision.)
#pragma once

#include "sarrus/model/compliance.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

// What a row knows of the step. Velocities are of the row, without bias.
struct RowMotion {
  double dt = 0;       // s
  double phi = 0;      // residual or gap
  double v_minus = 0;  // before the step
  double v_free = 0;   // without constraints
  double D = 0;        // D_ii
};

struct CompliantRow {
  double R = 0;
  double bias = 0;  // v*
};

// The implicit spring and damper.
CompliantRow spring_damper_row(double stiffness, double damping, double phi, double dt);
// Impedance d of the mujoco model at a residual (its distance from the margin).
double mujoco_impedance(const Compliance& compliance, double distance);

// The model must be compliant (not rigid). `angular`: the row is a rotation of a joint and takes stiffnesses times
// length^2.
CompliantRow bilateral_row(const Compliance& compliance, const RowMotion& row, bool angular);
CompliantRow unilateral_row(const Compliance& compliance, const RowMotion& row);

struct CompliantContact {
  Vec3 R = Vec3::Zero();
  Vec3 bias = Vec3::Zero();
};
// Rows [t, o, n]; W is the 3x3 diagonal block of D.
CompliantContact compliant_contact(const Compliance& compliance, double dt, double gap, const Vec3& v_minus,
                                   const Vec3& v_free, const Mat3& W);

// Diagonal block of J M^-1 J' of a constraint block with up to kMaxBlockRows rows.
using BlockMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMaxBlockRows, kMaxBlockRows>;
BlockMatrix block_delassus(const ConstraintProblem& problem, const ConstraintBlock& block);
// J u of one row of a block; u is stacked by node.
double row_velocity(const ConstraintProblem& problem, const ConstraintBlock& block, int r, const VecX& u);

}  // namespace sarrus
