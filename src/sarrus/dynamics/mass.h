// Mass blocks and smooth forces in maximal coordinates (spec/model.md §1): node = body, 6 components.
//
//   M_i = blkdiag(m 1, R I R'),   h_i = [m g; -w x (R I R' w)] + external wrench + drive forces
#pragma once

#include <span>

#include "sarrus/model/model.h"

namespace sarrus {

// Writes M_i and M_i^-1 as column-major 6x6 blocks. `inertia_inverse_B` is the inverse of body.inertia_B.
void body_mass_blocks(const Body& body, const Mat3& inertia_inverse_B, const Quat& q_WB, double* mass,
                      double* mass_inverse);

// Angular velocity after dt of torque-free motion, w_f - w being the gyroscopic part only, world axes.
//   explicit: w - dt I^-1 (w x I w)
//   implicit: one Newton step on I w+ - I w + dt w+ x I w+ = 0 in body axes
//   midpoint: I (w+ - w) + dt wm x I wm = 0, wm = (w + w+)/2, solved to round-off; conserves energy
Vec3 gyroscopic_explicit(const Mat3& inertia_B, const Mat3& inertia_inverse_B, const Quat& q_WB, const Vec3& w_W,
                         double dt);
Vec3 gyroscopic_implicit(const Mat3& inertia_B, const Quat& q_WB, const Vec3& w_W, double dt);
Vec3 gyroscopic_midpoint(const Mat3& inertia_B, const Mat3& inertia_inverse_B, const Quat& q_WB, const Vec3& w_W,
                         double dt);

// Rotation of stage 1 of the theta-scheme (spec/model.md §7.3): w+ with
//   I(q_theta)(w+ - w) + dt w_theta x I(q_theta) w_theta = dt torque,    q_theta = exp(dt theta w_pos) q
// by Newton's method to round-off; `q_theta` returns the orientation where the inertia was taken.
Vec3 free_rotation(const Mat3& inertia_B, const Quat& q_WB, const Vec3& w_W, const Vec3& torque_W, double dt,
                   const Theta& theta, Quat& q_theta);

}  // namespace sarrus
