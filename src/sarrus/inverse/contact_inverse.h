// Impulse of one contact whose velocity after the step is given (docs/theory/inverse.md §1, §2, §3).
//
//   lambda in K   perp   sigma + Gamma(sigma) in K*,    sigma = R lambda + c,   c = J u_ref + v*
//
// c is the biased contact velocity [t, o, n] at the reference, m/s; R = (R_t, R_t, R_n) >= 0 its compliance, 1/kg;
// lambda the impulse, N s. There is no Delassus matrix: contacts do not see each other.
#pragma once

#include "sarrus/math/types.h"
#include "sarrus/problem/judge.h"
#include "sarrus/solvers/solver.h"

namespace sarrus {

struct ContactInverseOptions {
  Law law = Law::ncp;       // or ccp: Gamma left out
  double rho = 1e-8;        // proximal weight, 1/kg
  double tolerance = 1e-6;  // on the change of lambda (N s) and on the natural map
  int max_iterations = 1000;
};

struct ContactInverse {
  Vec3 lambda = Vec3::Zero();
  SolveStatus status = SolveStatus::max_iterations;
  int iterations = 0;
  double natural_map = 0;
};

// Whether an impulse exists. R > 0: always. R = 0: no penetration for the NCP (c_N >= -tolerance), c in K* for the CCP.
bool contact_inverse_feasible(const Vec3& c, const Vec3& R, double mu, const ContactInverseOptions& options);

// Carpentier's proximal iteration (Alg. 2): with W = R + rho,
//   s = (0, 0, mu |sigma_T|) (0 for the CCP),   lambda <- P^W_K(-W^-1 (c + s - rho lambda))
// For R = 0 there may be many answers and the start chooses among them; without any (see above) the iteration would
// grow for ever, which is reported as infeasible.
ContactInverse contact_inverse_proximal(const Vec3& c, const Vec3& R, double mu, const Vec3& start,
                                        const ContactInverseOptions& options);

// The answer in closed form, R > 0:
//   NCP   lambda_N = max(0, -c_N / R_n),  lambda_T = projection of -c_T / R_t on the disk mu lambda_N
//   CCP   P^R_K(-R^-1 c)                                             (Castro et al., analytical inverse dynamics)
Vec3 contact_inverse_closed_form(const Vec3& c, const Vec3& R, double mu, Law law);

}  // namespace sarrus
