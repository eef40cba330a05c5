// Primal-dual interior point method for the NCP (docs/theory/newton.md §4): predictor and corrector with Nesterov-Todd
// scaling on the cones, Gamma linearised, not frozen.
//
// T = diag(1, 1, mu), z = T lambda, s = T^-1 w: the friction cone and its dual both become the Lorentz cone Q. The
// central path, limits having the lower bound 0 only:
//   A (u - u_f) = J' lambda;   joints sigma = 0;   contacts w = sigma + Gamma(sigma), z o s = tau e
//   bounded rows  sigma = w_l - w_u,  (lambda - lower) w_l = tau,  (upper - lambda) w_u = tau
// Newton step, N as in ssn.h, Theta = T W^2 T on contacts, w_l/(lambda-lower) + w_u/(upper-lambda) on bounded rows:
//   (1 + N)(J du + R dlambda) + delta_k dlambda - dw = -r_p,    Theta dlambda + dw = r_c
//   K = Theta + delta_k + (1 + N) R,   G = K^-1 (1 + N),   h = K^-1 (r_c - r_p)
//   du = (A + J' G J)^-1 J' h,   b = r_c - r_p - (1 + N) J du
//   dlambda = K^-1 b,   dw = r_p + (1 + N)(J du + R dlambda) + delta_k dlambda
// Of contacts K^-1 is applied in its eigenvectors and Theta not at all: stored, its small eigenvalues drown in the
// rounding of the large ones, and r_p grows. u is recomputed from lambda after every step, so that the equations of
// motion hold always. The symmetric variant leaves N out of the matrix (Gamma stays in r_p) and needs Cholesky only.
// Shifts delta_k = 1e-8 T^2 and 1e-8 on scalar rows keep redundant rows regular; their error fades as dlambda does.
// Always started cold: the impulses of the last step lie on the boundary.
#pragma once

#include <vector>

#include "sarrus/solvers/nt_cone.h"
#include "sarrus/solvers/ssn.h"

namespace sarrus {

struct InteriorPointOptions {
  bool coupling = true;      // N in the matrix (LU); else the symmetric variant (Cholesky)
  double fraction = 0.99;    // of the step to the boundary
  bool reset_slack = false;  // w_n >= sigma_n + mu |sigma_T| after each step
  int iterations = 40;
  double polish_from = 1e-4;  // error at which the semismooth Newton method is tried first; 0: never
  double shift = 1e-8;        // delta of joints, bounded rows and cones
};

class InteriorPoint {
 public:
  // Runs until converged, stalled or out of iterations. `ssn` polishes on the way; the best iterate of this run is left
  // in best(). False if it broke down (singular or not finite).
  bool run(NcpSearch& search, const InteriorPointOptions& options, Ssn& ssn);
  const GrowingVector& best() const { return run_best_; }

 private:
  friend struct InteriorPointProbe;  // tests compare single steps with dense algebra

  struct Cone {
    double mu;  // not below 1e-4
    NtScaling nt;
    Vec3 l;         // scaled point W z
    Vec2 coupling;  // mu sigma_T / |sigma_T|, or 0
    Mat3 K_inverse;
    Vec3 w, dw, r_c;
  };

  void resize(const NcpProblem& problem);
  bool start(NcpSearch& search);
  bool shift_start(const NcpProblem& problem);
  double complementarity(const NcpProblem& problem, double a) const;
  void linearise(const NcpProblem& problem, bool coupling);
  void predictor_rhs(const NcpProblem& problem);
  void corrector_rhs(const NcpProblem& problem, double target, double a);
  Vec3 solve_K(const NcpProblem& problem, const Cone& cone, int row, const Vec3& b) const;
  static Vec3 coupled(const Cone& cone, const Vec3& v);  // (1 + N) v
  bool solve_step(NcpSearch& search);
  double step_to_boundary(const NcpProblem& problem) const;
  void advance(const NcpProblem& problem, double a, bool reset_slack);

  double shift_ = InteriorPointOptions{}.shift;
  double size_ = 0;  // S of lambda
  int terms_ = 0;    // finite bounds and cones
  std::vector<Cone> cones_;
  std::vector<double> cone_G_;
  GrowingVector lambda_, u_, sigma_, scratch_, w_padded_;
  GrowingVector g_, h_, step_, residual_;
  GrowingVector w_lower_, w_upper_, dw_lower_, dw_upper_, c_lower_, c_upper_;  // scalar rows
  GrowingVector theta_;
  GrowingVector run_best_, polished_;
};

}  // namespace sarrus
