// Drumwright's compliant contact with friction as one QCQP (spec/solvers.md §11 DRUM-QCQP, [D]), in impulses.
//
// Rows n (normals), u (limits) and T (both tangents) after elimination of the bilateral ones (bilateral_reduction.h),
// with S = D + R and v of the reduced problem, eta = 1/R: h^2 K + h B on n, u and h B_T on T:
//   min   zeta/2 |l_n|^2 + zeta/2 |l_u|^2 + 1/2 |l_T|^2 + 1/2 |eta_T (S l + v)_T|^2
//   s.t.  (S l + v)_n,u >= 0,   l_n, l_u >= 0,   |l_T| <= mu l_n per contact
// The papers' force form is this one divided by h^2 (Z = eta S, d = eta v); R_i (1/kg), l (N s), v (m/s).
//
// It is not Coulomb's law, and the judge (NCP) shows by how much:
//   - Sticking friction is k^2/(1+k^2) of what is needed, k = eta_T S_TT, because of the term 1/2 |l_T|^2.
//   - Nothing but zeta keeps l_n small. With zeta = 1/h and large eta_T the minimum of a sliding contact has
//     l_n = k mu c / (zeta + mu^2 (1 + k^2)), c = eta_T v_T, if that exceeds the compression: normal impulses grow
//     until friction stops the body. Coulomb sliding needs zeta > k mu c / l_n, 1e13 or so for eta_T = 1e6.
//
// The objective is nearly flat in l_n (zeta against eta_T^2, 1e2 against 1e12). Slack ADMM met a relative tolerance of
// 1e-8 far from the minimum (normal force of a box on four feet 18 N instead of 11.6 N), so this is a barrier method:
// Newton's method on
//   tau f(l) - sum log (S l + v)_n,u - sum log l_u - sum log(mu^2 l_n^2 - |l_T|^2)
// for growing tau, from a strictly feasible start without friction (block pivoting). It ends when its gap nu / tau (nu:
// degree of the barrier) is own_tolerance times the energy 1/2 sum w_i l_i^2, w = zeta or 1, which is the flat part.
// Status: converged only if the judge says so; stalled if the method met its own tolerance and the judge does not
// agree, or if rounding lets it make no more progress (then the better of its point and no impulse at all is returned);
// max_iterations if it was cut off; infeasible if R = 0 on a row of n, u or of T with mu > 0, or if bounded soft rows
// (treated as bilateral) leave their bounds. The warm start is not used. One iteration is one Newton step (one dense
// Cholesky factorisation).
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct DrumQcqpParameters {
  double zeta = 0;              // weight of normal impulses, 0: 1/dt of the problem
  double own_tolerance = 1e-8;  // gap at which the method ends, relative to the energy of the impulses
  int max_iterations = 500;     // Newton steps
};

std::vector<ParameterInfo> drum_qcqp_parameter_info();
std::unique_ptr<Solver> make_drum_qcqp(const SolverParameters& parameters);

}  // namespace sarrus
