// Proximal method of multipliers with a lagged De Saxce term, by a globally convergent Newton method on velocities
// (docs/theory/newton.md §6).
//
// Round k has impulses lambda_k and gamma_k = mu |sigma_T(lambda_k)|. With the shift delta the problem
//   min_u  1/2 |u - u_f|_A^2 + sum_i (R + delta)/2 |P_K(y_i)|^2
//   y = (delta lambda_k - (J u + v* + gamma_k e_n)) / (R + delta)
// is smooth and strictly convex; its solution has the impulses lambda_{k+1} = P_K(y), unique whatever the redundancy.
//   gradient  A (u - u_f) - J' P_K(y),     Hessian  A + J' G J,   G = dP_K(y) / (R + delta), symmetric
// The line search is exact: the derivative along the direction needs local projections only.
// It converges from anywhere where semismooth Newton steps cycle, but linearly in k: a stage of the cascade that brings
// the others near the solution. For R_t != R_n of a contact the larger one counts here (only the speed suffers).
#pragma once

#include <vector>

#include "sarrus/solvers/ssn.h"

namespace sarrus {

class ProximalNewton {
 public:
  // From lambda on; semismooth Newton attempts on the way. True if converged.
  bool run(NcpSearch& search, Ssn& ssn, int rounds, double delta, GrowingVector& lambda);

 private:
  void resize(const NcpProblem& problem);
  bool minimise(NcpSearch& search, int steps);
  void project(const NcpProblem& problem);
  bool direction(NcpSearch& search);
  double line_search(const NcpProblem& problem);
  double slope(const NcpProblem& problem, double a) const;

  std::vector<double> gamma_;
  std::vector<double> cones_;
  GrowingVector lambda_;                       // of the round
  GrowingVector u_, du_, gradient_, scratch_;  // padded
  // J u + v*, carried along from step to step: computed anew it would have the rounding errors of its terms, which the
  // division by a small shift makes large.
  GrowingVector velocity_;
  GrowingVector sigma_, shift_, y_, projected_, g_, dv_;
  double kinetic_ = 0, curvature_ = 0;  // du' A (u - u_f), du' A du
};

}  // namespace sarrus
