// ADMM with unsplit joints, balanced penalty and over-relaxation (docs/theory/newton.md §5).
//
// Only bounded rows and contacts get a copy y and a multiplier z; joints stay in the linear solve with a small proximal
// term. In scaled units, E = 1/(R + eta) on joints and 1/(R + rho + eta) elsewhere, H = A + J' E J:
//   x  = E rhs - E J H^-1 J' E rhs,   rhs = -(v_f + Gamma(z) - eta x- - rho y- - z)   (joints: -v_f + eta x-)
//   x^ = omega x + (1 - omega) y-,    y = P_K(x^ - z/rho),    z <- z - rho (x^ - y)
// every 10 iterations rho moves by sqrt((r_p / n_x) / (r_d / n_z)), the ratio of the relative residuals. Alone it
// stalls near 1e-4 at mass ratios of 1e4; its use is to bring the semismooth Newton method near another solution
// branch.
#pragma once

#include <vector>

#include "sarrus/solvers/ssn.h"

namespace sarrus {

struct Admm2Options {
  int iterations = 3000;
  bool polish = true;   // semismooth Newton attempts at growing intervals
  bool refine = false;  // one refinement of each linear solve; pays below 1e-8
};

class Admm2 {
 public:
  // From lambda (zero: cold) on. The last y is left in lambda. False if it broke down.
  bool run(NcpSearch& search, const Admm2Options& options, Ssn& ssn, GrowingVector& lambda);

 private:
  void resize(const NcpProblem& problem);
  void begin(const NcpProblem& problem, const GrowingVector& lambda);
  bool factor(NcpSearch& search);
  void solve_shifted(NcpSearch& search, const GrowingVector& rhs, GrowingVector& out);
  void update_x(NcpSearch& search, bool refine);
  void update_y_z(const NcpProblem& problem);
  bool balance(const NcpProblem& problem);

  double rho_ = 0.1;
  GrowingVector x_, y_, z_, y_old_, rhs_, relaxed_, E_, shift_, t_, correction_;
  GrowingVector u_, w_;
  std::vector<double> cone_G_;
  std::vector<char> split_;  // by scalar row
};

}  // namespace sarrus
