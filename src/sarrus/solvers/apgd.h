// Accelerated projected gradient descent on the CCP (spec/solvers.md §7; Nesterov's method with adaptive step and
// restart as Mazhar, Heyn, Negrut, Tasora use it, 2015).
//
//   min over lambda in K of f = 1/2 lambda'(D+R) lambda + lambda' v_f
//   lambda+ = P_K(y - (D y + v_f) / L);  L doubles until d'(D+R) d <= L d'd,  d = lambda+ - y
//   theta+  = (-theta^2 + theta sqrt(theta^2 + 4)) / 2,   beta = theta (1 - theta) / (theta^2 + theta+)
//   y+      = lambda+ + beta (lambda+ - lambda)
//             restart, y+ = lambda+ and theta+ = 1, if (D y + v_f)'(lambda+ - lambda) > 0
//   L      *= relax, so that it can follow the active rows
// The test of L is that of the quadratic upper bound of f, written without the cancellation of f(lambda+) - f(y).
// One product with D per trial, never a matrix: D = J A^-1 J' is applied from the right to the left. Rows are
// equilibrated (ncp_problem.h), islands solved one by one, R = 0 allowed. Returned is the best iterate by the judge's
// natural map, which costs nothing here since D lambda is at hand.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct ApgdParameters {
  int max_iterations = 5000;
  double relax = 0.9;   // factor of L after each iteration
  bool restart = true;  // drop the momentum when it points uphill
};

std::vector<ParameterInfo> apgd_parameter_info();
std::unique_ptr<Solver> make_apgd(const SolverParameters& parameters);

}  // namespace sarrus
