// One solver on one recorded problem, measured from outside and graded by the judge.
//
// Cold: a solver that has never seen a problem, impulses zero; its set-up (memory, orderings, symbolic factorisation)
// counts. Warm: a solver that has solved this problem before, started from the impulses of the step before, as in a
// simulation whose contacts stay. The time of a solve is the smallest of `repeats`; the others differ by noise only,
// since solvers are deterministic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sarrus/bench/result.h"
#include "sarrus/bench/samples.h"
#include "sarrus/solvers/registry.h"

namespace sarrus {

// Two levels (choices, docs/theory/benchmarks.md §1): the papers' 1e-6 with their iteration limits, and 1e-9 with five
// times as many.
struct Level {
  double tolerance = 1e-6;
  int splitting_iterations = 1000;
  int admm_iterations = 200;
};
std::vector<Level> default_levels();

struct ReplayOptions {
  std::vector<Level> levels = default_levels();
  int repeats = 5;
  double repeat_budget = 0.05;  // s: no further repeats of a solve beyond this in all
  int dense_rows = 1500;        // methods that form D (rows^2 numbers, rows^3 operations) are not tried beyond this
  bool instructions = false;
};

// Iteration limits of a level as parameters of the solver; empty for those that need none.
SolverParameters level_parameters(const SolverInfo& solver, const Level& level);
SolverSetup describe_solver(const SolverInfo& solver, const std::vector<Level>& levels);
// Rows beyond which a method is not tried: those that form D densely, and a fifth of it for those of Drumwright, whose
// pivots and Newton steps each factorise it anew.
int row_limit(std::string_view solver, const ReplayOptions& options);

// SolveRecord::sample and solver are left to the caller.
SolveRecord replay(const Sample& sample, const SolverInfo& solver, int level, Start start,
                   const ReplayOptions& options);

// Judged residuals (NCP) of cold solves cut off after ever more iterations (convergence.h); empty if refused.
CurveRecord replay_curve(const Sample& sample, const SolverInfo& solver, double tolerance, int max_iterations,
                         const ReplayOptions& options);

}  // namespace sarrus
