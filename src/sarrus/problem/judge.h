// The one judge: every residual that is reported, by whomever, is computed here from the problem and the
// answer (spec/benchmarks.md §5, spec/solvers.md §0). Solvers use it to stop; nobody grades himself.
//
//   u       = u_f + M^-1 J' lambda
//   sigma   = J u + v* + R lambda                  biased constraint velocity, m/s or rad/s
//   v_hat   = sigma + Gamma(sigma)                 Gamma_N = mu |sigma_T| on contacts, else 0
//   primal  = |lambda - P_K(lambda)|               dual = |v_hat - P_K*(v_hat)|
//   complementarity = max_j |lambda_j . v_hat_j|   over limits and contacts
//   natural_map     = |lambda - P_K(lambda - v_hat)|    (NCP);   natural_map_ccp with sigma instead of v_hat
//   natural_map_box = |lambda - clamp(lambda - sigma, l, u)|  with l, u = -+mu max(0, lambda_N) on both tangents of a
//                     contact and (0, inf) on its normal: the MLCP with box friction (spec/problem.md §7)
//   equations       = |M (u - u_f) - J' lambda|    (equals |M(u+ - u-) - dt h - J' lambda|)
// All in the infinity norm and raw SI units. Relative values divide by S = max(1, |v_f|, min(|lambda|,
// P)), P = total mass times |u_f|: impulses count as far as there is momentum to account for them. Problems without
// physical units have S = max(|v_f|, |lambda|).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

// The contact law an answer is measured by: Coulomb (NCP), its convex relaxation (CCP), or box friction (MLCP).
enum class Law : std::uint8_t { ncp, ccp, box };
std::string_view name(Law law);

// What is compared with a tolerance.
//   energy    the natural map divided by S: dimensionless, the default
//   absolute  the natural map in raw SI units
//   papers    max(primal, dual, complementarity) in raw SI units: r_p, r_d, r_cp of Tsounis et al.
enum class Criterion : std::uint8_t { energy, absolute, papers };
std::string_view name(Criterion criterion);

// What a solve is asked for. A bare number is a tolerance by the default criterion.
struct Goal {
  double tolerance;
  Criterion criterion;
  constexpr Goal(double tol = 1e-9, Criterion by = Criterion::energy) : tolerance(tol), criterion(by) {}
};

struct Residuals {
  double primal = 0;
  double dual = 0;
  double complementarity = 0;
  double natural_map = 0;
  double natural_map_ccp = 0;
  double natural_map_box = 0;
  double equations = 0;
  double joint_velocity = 0;  // |J_J u+| of bilateral rows, without bias, m/s or rad/s
  double scale = 0;           // S
  double energy[3] = {};      // natural map divided by S, by law
  int worst_block = -1;       // constraint block with the largest natural-map residual
  // Natural map by kind of constraint.
  double natural_map_joint = 0;
  double natural_map_soft = 0;
  double natural_map_limit = 0;
  double natural_map_contact = 0;
  bool finite = true;  // false: some number is NaN or infinite, the rest is meaningless

  double natural_map_of(Law law) const {
    return law == Law::ncp ? natural_map : law == Law::ccp ? natural_map_ccp : natural_map_box;
  }
  // The number that is compared with the tolerance.
  double error(Law law = Law::ncp, Criterion criterion = Criterion::energy) const {
    if (criterion == Criterion::papers) return std::max({primal, dual, complementarity});
    return criterion == Criterion::absolute ? natural_map_of(law) : energy[static_cast<int>(law)];
  }
};

// The one test of convergence: of solvers, of the step, of benchmarks.
inline bool meets(const Residuals& r, Law law, const Goal& goal) {
  return r.finite && r.error(law, goal.criterion) <= goal.tolerance;
}

// Scratch memory of the judge; reused between calls so that judging allocates nothing after warm-up.
struct JudgeWorkspace {
  VecX du;              // M^-1 J' lambda
  VecX u;               // u_f + du
  GrowingVector sigma;  // biased constraint velocities of the judged answer
  VecX impulse;         // J' lambda
  VecX momentum;        // M du
};

Residuals judge(const ConstraintProblem& problem, std::span<const double> lambda, JudgeWorkspace& workspace);

// The MLCP's error psi (spec/benchmarks.md §5): the sum over rows of max(|min(x - l, w+)|, |min(u - x, w-)|), w =
// sigma, bounds as for natural_map_box, which is the largest term of the same sum.
double delta_psi(const ConstraintProblem& problem, std::span<const double> lambda, JudgeWorkspace& workspace);

// Errors of the convex formulation in velocities (spec/benchmarks.md §5, [S] 32-33), D_s = diag(M)^-1/2:
//   momentum        = |D_s (M (u - u_f) - J' lambda)|_2 / max(|D_s M u|_2, |D_s J' lambda|_2)
//   complementarity = (1/n_c) sum over contacts |sigma_i . lambda_i| / l_p,
//                     l_p = 1/2 |u - u_f|_M^2 + 1/2 lambda' R lambda
// 0 without momentum or contacts. An answer given by impulses has u from them: momentum is then round-off only.
struct ConvexErrors {
  double momentum = 0;
  double complementarity = 0;
};
ConvexErrors convex_errors(const ConstraintProblem& problem, std::span<const double> lambda, JudgeWorkspace& workspace);

}  // namespace sarrus
