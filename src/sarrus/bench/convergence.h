// Convergence of a solver on three fixed problems, as seen by the judge: the solver runs cold with its iterations
// limited to 1, 2, 3, 5, ... and every answer is judged from outside, by the solver's own law. Nothing inside a solver
// is trusted or instrumented.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/bench/plot.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/problem/judge.h"

namespace sarrus {

struct ConvergenceProblem {
  std::string name;
  std::string summary;
  ConstraintProblem problem;
};
// Sliding boxes; a walking machine with loops and redundant rows; a stack with a mass ratio of 1e4. With `compliant`
// every row has R = 1e-4 D_ii, for solvers that need compliance.
std::vector<ConvergenceProblem> convergence_problems(bool compliant);
// Whether the solver only accepts compliant rows.
bool needs_compliance(std::string_view solver);

struct ConvergencePoint {
  int iterations = 0;
  double residual = 0;  // judged natural map of the solver's law, relative
};
// Until the judge sees `tolerance` or `max_iterations` are spent. No law: the solver's own.
std::vector<ConvergencePoint> convergence(const ConstraintProblem& problem, std::string_view solver, double tolerance,
                                          int max_iterations, std::optional<Law> law = {});

Plot convergence_plot(std::string_view solver, double tolerance = 1e-10, int max_iterations = 5000);

}  // namespace sarrus
