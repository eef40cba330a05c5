// The one judge: every residual that is reported, by whomever, is computed here from the problem and the answer
// (docs/theory/judge.md). Solvers stop by it, block by block with the same functions; nobody grades himself.
//
//   u       = u_f + M^-1 J' lambda
//   sigma   = J u + v* + R lambda                  biased constraint velocity, m/s or rad/s
//   v_hat   = sigma + Gamma(sigma)                 Gamma_N = mu |sigma_T| on contacts, else 0
//   primal  = |lambda - P_K(lambda)|               dual = |v_hat - P_K*(v_hat)|
//   complementarity = max_j |lambda_j . v_hat_j|   over limits and contacts
//   natural_map     = |lambda - P_K(lambda - v_hat)|    (NCP);   natural_map_ccp with sigma instead of v_hat
//   natural_map_box = |lambda - clamp(lambda - sigma, l, u)|  with l, u = -+mu max(0, lambda_N) on both tangents of a
//                     contact and (0, inf) on its normal: the MLCP with box friction
//   equations       = |M (u - u_f) - J' lambda|    (equals |M(u+ - u-) - dt h - J' lambda|)
// all in the infinity norm and raw SI units, which mix N s and m/s.
//
// What is compared with a tolerance is consistent in units and local. With p = (D + R)_ii^-1/2 (ConstraintProblem),
//   lambda^ = lambda / p,  sigma^ = p sigma                     both in sqrt(J)
//   r^_i    = natural map of (lambda^, sigma^) in row i
//   S       = max over the nodes k of the island of sqrt((J' lambda)_k . M_k^-1 (J' lambda)_k)
//   E       = the same of sqrt(u_f' M u_f)_k
//   error   = max_i r^_i / max(S, f_i, min(E, 1000 f_i)),  f_i = max(|v_f^|_i, p_i 1 m/s)       dimensionless
// r^_i / p_i is the velocity (m/s, rad/s) by which row i misses its law, and S / p_i what the impulses of the island
// could do to it. S measures impulses by what they do to the nodes: those that cancel, which contradicting rows drive
// beyond any bound, count for nothing. What does not depend on lambda is ConstraintProblem::least_size.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/math/cones.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

// The contact law an answer is measured by: Coulomb (NCP), its convex relaxation (CCP), or box friction (MLCP).
enum class Law : std::uint8_t { ncp, ccp, box };
std::string_view name_of(Law law);

// What is compared with a tolerance.
//   energy    error, as above: the default
//   absolute  the natural map in raw SI units
//   papers    max(primal, dual, complementarity) in raw SI units: r_p, r_d, r_cp of Tsounis et al.
enum class Criterion : std::uint8_t { energy, absolute, papers };
std::string_view name_of(Criterion criterion);
Criterion criterion_from_name(std::string_view name);  // throws InputError

// What a solve is asked for: an error within `tolerance`, which is called converged. When the budget ends before, the
// best answer is still of use if its error is within `acceptable`; it is never called converged. A bare number is a
// tolerance by the default criterion.
struct Goal {
  using Clock = std::chrono::steady_clock;
  double tolerance;
  Criterion criterion;
  double acceptable = 1e-3;
  int budget = 5000;  // factorisations per island, of solvers that work by islands
  // Makes answers depend on the machine and its load: for control loops alone. Looked at between factorisations.
  Clock::time_point deadline = Clock::time_point::max();
  constexpr Goal(double tol = 1e-9, Criterion by = Criterion::energy) : tolerance(tol), criterion(by) {}
  // The one test of convergence.
  constexpr bool met_by(double error) const { return error <= tolerance; }
  constexpr bool allows(double error) const { return error <= acceptable; }
  bool timed() const { return deadline != Clock::time_point::max(); }
  bool out_of_time() const { return timed() && Clock::now() >= deadline; }
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
  double energy[3] = {};      // error by law, dimensionless
  int worst_block = -1;       // constraint block with the largest error (NCP)
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

inline bool meets(const Residuals& r, Law law, const Goal& goal) {
  return r.finite && goal.met_by(r.error(law, goal.criterion));
}

// Whether an answer may be used, converged or not.
inline bool usable(const Residuals& r, Law law, const Goal& goal) {
  return r.finite && goal.allows(r.error(law, goal.criterion));
}

// Scratch memory of the judge; reused between calls so that judging allocates nothing after warm-up.
struct JudgeWorkspace {
  VecX du;                              // M^-1 J' lambda
  VecX u;                               // u_f + du
  GrowingVector sigma;                  // biased constraint velocities of the judged answer
  VecX impulse;                         // J' lambda
  VecX momentum;                        // M du
  std::vector<double> size;             // S by island
  std::vector<double> error;            // by island: the largest error (NCP)
  std::vector<double> joint_velocity;   // by island: |J_J u|, m/s or rad/s
  std::vector<Residuals> part;          // by island: its share of the verdict
  std::vector<std::uint8_t> is_finite;  // by island
  // Of measure() and judge_measured(): which answer to which problem this is.
  const ConstraintProblem* problem = nullptr;
  std::vector<double> lambda;
  bool finite = true, judged = false;
  Residuals verdict;
  // Before another problem, which may be where the last one was.
  void forget() { problem = nullptr; }
};

Residuals judge(const ConstraintProblem& problem, std::span<const double> lambda, JudgeWorkspace& workspace);

// For solvers, between iterations: only the error (NCP, criterion energy), by island in workspace.error, and the
// largest.
double measure(const ConstraintProblem& problem, std::span<const double> lambda, JudgeWorkspace& workspace);
// The same in parts: begin_measure(), then each island as often as its impulses change, several at a time if need be,
// then finish_measure().
void begin_measure(const ConstraintProblem& problem, JudgeWorkspace& workspace);
double measure_island(const ConstraintProblem& problem, int island, std::span<const double> lambda,
                      JudgeWorkspace& workspace);
double finish_measure(const ConstraintProblem& problem, std::span<const double> lambda, JudgeWorkspace& workspace);
// The same as judge(). If the workspace holds what measure() found of the same impulses, and the problem has not
// changed since forget(), products and verdict are not computed again.
Residuals judge_measured(const ConstraintProblem& problem, std::span<const double> lambda, JudgeWorkspace& workspace);

// --- block by block ------------------------------------------------------------------------------------------
// One scalar row with bounds (none: joints; 0, inf: limits) and one contact [t, o, n], in the units of lambda and
// sigma.

inline double natural_map(double lambda, double sigma, double lower, double upper) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // A row without bounds is judged by its velocity; lambda - (lambda - sigma) would lose digits.
  if (lower == -kInfinity && upper == kInfinity) return std::abs(sigma);
  return std::abs(lambda - project_interval(lambda - sigma, lower, upper));
}

inline double natural_map(const Vec3& lambda, const Vec3& sigma, double mu, Law law) {
  if (law == Law::box) {
    const double bound = mu * std::max(0.0, lambda[2]);
    return std::max({natural_map(lambda[0], sigma[0], -bound, bound), natural_map(lambda[1], sigma[1], -bound, bound),
                     natural_map(lambda[2], sigma[2], 0, std::numeric_limits<double>::infinity())});
  }
  Vec3 v = sigma;
  if (law == Law::ncp) v[2] += de_saxce(sigma, mu);
  return (lambda - project_cone(lambda - v, mu)).cwiseAbs().maxCoeff();
}

// The three residuals of the papers.
struct Violation {
  double primal = 0;
  double dual = 0;
  double complementarity = 0;
  double largest() const { return std::max({primal, dual, complementarity}); }
};
Violation violation(double lambda, double sigma, double lower, double upper);
Violation violation(const Vec3& lambda, const Vec3& sigma, double mu);

// --- measures of other papers --------------------------------------------------------------------------------

// The MLCP's error psi (docs/theory/benchmarks.md §5): the sum over rows of
//   max(|min(x - l, w+)|, |min(u - x, w-)|),   w = sigma
// with bounds as for natural_map_box, which is the largest term of the same sum.
double delta_psi(const ConstraintProblem& problem, std::span<const double> lambda, JudgeWorkspace& workspace);

// Errors of the convex formulation in velocities (docs/theory/benchmarks.md §5, [S] 32-33), D_s = diag(M)^-1/2:
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
