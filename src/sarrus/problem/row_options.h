// Step size and stabilisation shared by all rigid rows (spec/problem.md §3).
#pragma once

#include <algorithm>

#include "sarrus/model/model.h"

namespace sarrus {

struct RowOptions {
  double dt = 1e-3;  // s
  Integrator integrator = Integrator::semi_implicit;
  double erp_joint = 0.1;            // alpha
  double erp_limit = 0.1;            // beta
  double erp_contact = 0.1;          // gamma
  double contact_slop = 1e-5;        // delta_c, tolerated penetration, m
  double restitution_threshold = 0;  // approach slower than this does not bounce, m/s or rad/s
  double limit_margin = 0.02;        // limit rows exist this far before the limit, m or rad
};

// Bias v* of a unilateral row (law v+ + v* >= 0) with gap g, tolerated violation `slop`, velocities before the
// step (v_minus) and without constraints (v_free):
//   v* = erp min(0, g + slop + b)/dt + max(0, g + slop - b)/dt [+ restitution v_minus],   b = slop/10
// The dead zone b: the points of a resting face have gaps of +-1e-10 m, which erp below zero and 1 above turns into
// velocities that no rigid motion has; impulses then drift between redundant points until one of them opens, in every
// step. Within b the rows agree, and the face rests.
// A bouncing row that would close within this step bounces at once, without the max-term: a speculative row
// would first brake it to the surface, and restitution would then see the braked speed one step later.
inline double unilateral_bias(double gap, double slop, double v_minus, double v_free, double restitution, double erp,
                              const RowOptions& o) {
  const double dead_zone = 0.1 * std::max(0.0, slop);
  const double r = gap + slop;
  const bool bounces = restitution > 0 && v_minus < -o.restitution_threshold;
  if (bounces && gap + o.dt * std::min(v_minus, v_free) <= 0) {
    return restitution * v_minus + erp * std::min(0.0, r) / o.dt;
  }
  return (erp * std::min(0.0, r + dead_zone) + std::max(0.0, r - dead_zone)) / o.dt;
}

}  // namespace sarrus
