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
//     until friction stops the body. Coulomb sliding is the limit zeta >> k mu c / l_n.
//
// Slack ADMM on y1 = x in K, y2 = A_c x >= q, with variables scaled to H_ii = 1 (one factor for both tangents of a
// contact, so cones stay cones) and rows of A_c to length 1:
//   x  = (H + rho 1 + rho A_c'A_c)^-1 (-g + rho (y1 - w1) + rho A_c'(y2 - w2)),   w += (x, A_c x) - (y1, y2)
// Status: converged only if the judge says so; stalled if the ADMM met its own tolerance (1e-8, relative) and the judge
// does not agree; infeasible if R = 0 on a row of n, u or of T with mu > 0, or if bounded soft rows (treated as
// bilateral) leave their bounds. The warm start is used by the ADMM but is no candidate answer of its own.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct DrumQcqpParameters {
  double zeta = 0;              // weight of normal impulses, 0: 1/dt of the problem
  double own_tolerance = 1e-8;  // relative residuals of the ADMM
  double rho = 0.1;             // first penalty
  int max_iterations = 20000;
};

std::vector<ParameterInfo> drum_qcqp_parameter_info();
std::unique_ptr<Solver> make_drum_qcqp(const SolverParameters& parameters);

}  // namespace sarrus
