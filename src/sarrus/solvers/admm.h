// Proximal ADMM for the NCP and the CCP (spec/solvers.md §6; Carpentier et al. Alg. 1, Tsounis et al. Alg. 6).
//
//   minimise over x = y, y in K:   1/2 x'(D+R)x + x'(v_f + s),    s = Gamma(z) (NCP) or 0 (CCP)
//   x  = -(D + R + (eta+rho) 1)^-1 (v_f + s - eta x- - rho y- - z-)
//   xr = omega x + (1-omega) y-
//   y  = P_K(xr - z-/rho),   z = z- - rho (xr - y)
//   r_p = |x - y|,   r_d = |eta (x - x-) + rho (y - y-) - rho (omega-1)(x - y-)|
// x, y are impulses, z the augmented velocities (z in K*, y_j'z_j = 0 after each iteration). Penalty rules:
//   fixed     rho = rho0
//   linear    r_p >= alpha r_d: rho *= tau;      r_d >= alpha r_p: rho /= tau
//   spectral  rho = sqrt(L m) kappa^p;  the same tests move p by +-dp;  L = lambda_max(D+R)+eta, m = eta + min R
// The linear solve goes through the node graph (normal_matrix.h); a dense D serves as reference. Rows are
// equilibrated (spec/problem.md §8: one factor per contact, so cones and Gamma are unchanged) unless scaling = 0.
// Bilateral rows need no copy y: their set is the whole space, so a penalty would only be a proximal term that
// slows them down. They get eta alone unless split_joints = 1, which is the papers' form (same fixed points).
// With Gamma there is no convergence proof and cycles exist: when the best judged residual stops falling, the update of
// Gamma is damped and other penalties are tried (same fixed points).
// With acceleration = 1 the iteration starts from extrapolated points (Goldstein, O'Donoghue, Setzer, Baraniuk 2014,
// Alg. 8: fast ADMM with restart). From y^ = y-, z^ = z-, a = 1:
//   (x, y, z) = one iteration from (y^, z^);   c = |z - z^|^2 / rho + rho |y - y^|^2      combined residual
//   c < 0.999 c-:  a+ = (1 + sqrt(1 + 4 a^2)) / 2,   y^+ = y + (a - 1) / a+ (y - y-),   z^+ likewise
//   else restart:  a+ = 1,  y^+ = y-,  z^+ = z-,  c = c- / 0.999
// A change of rho restarts, too, from (y, z). r_d is then measured from y^ instead of y-.
// Iterations stop when the judge confirms the tolerance; x and y are only asked whether it is worth judging.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

enum class PenaltyRule : std::uint8_t { fixed, linear, spectral };

struct AdmmParameters {
  int max_iterations = 2000;
  double rho0 = 1.0;          // first penalty of the fixed and linear rules
  double eta = 1e-6;          // proximal term, relative to the scaled diag(D) = 1
  double omega = 1.0;         // over-relaxation, 1 to 1.8
  double alpha = 10.0;        // ratio of residuals that triggers a change of rho
  double tau = 1.5;           // factor of the linear rule
  double p0 = 0.2;            // first exponent of the spectral rule
  double dp = 0.05;           // its step
  int adapt_every = 10;       // iterations between changes of rho
  bool scaling = true;        // row equilibration
  bool split_joints = false;  // penalise bilateral rows too, as the papers do
  bool acceleration = false;  // Nesterov extrapolation of (y, z) with restart
  bool dense = false;         // factor a dense D instead of the node graph (reference, small problems)
};

std::vector<ParameterInfo> admm_parameter_info();
std::unique_ptr<Solver> make_admm(PenaltyRule rule, bool ccp, const SolverParameters& parameters);

}  // namespace sarrus
