// SAP: Newton's method on the convex problem of compliant contact in velocities (sap_model.h; spec/solvers.md §9,
// spec/problem.md §9; Castro, Permenter, Han 2022, Alg. 2).
//
//   repeat  du = -H^-1 grad l(u),   H = A + J' G J by block Cholesky on the node graph
//           a  = argmin l(u + a du)  (exact: safeguarded Newton on l'(a) in a bracket; or Armijo backtracking)
//           u += a du
//   until   |S grad l| < eps_a + eps_r max(|S A u|, |S J' gamma|),  S = diag(A)^-1/2,  and the judge confirms the CCP
// The answer is lambda = gamma(u). Complementarity holds exactly at every iterate, momentum is what is iterated.
// It solves the CCP. With R >= rigid_shift (D_ii + R_ii) on all rows one round is all, else rounds of the method of
// multipliers follow each other: lambda_{k+1} = gamma, a round ending when what Newton leaves in the velocities is a
// tenth of what the round will change. After an easy round the shift is a tenth, down to rigid_floor: rounds converge
// the faster the smaller the shift, Newton the faster the larger it is.
// Round-off: when the predicted decrease falls below 1e-15 l and the momentum residual does not fall any more, the
// round ends; the next ones have twice the shift.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct SapParameters {
  int max_iterations = 500;   // Newton steps of one island, all rounds
  int rounds = 200;           // of the method of multipliers
  double rigid_shift = 1e-4;  // smallest compliance of a row, relative to D_ii + R_ii
  double rigid_floor = 1e-8;  // smallest proximal shift of later rounds
  double eps_a = 1e-16;       // of the momentum residual
  double eps_r = 1e-6;        // the same, relative
  int line_search = 0;        // 0 exact, 1 backtracking
};

std::vector<ParameterInfo> sap_parameter_info();
std::unique_ptr<Solver> make_sap(const SolverParameters& parameters);

}  // namespace sarrus
