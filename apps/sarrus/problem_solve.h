// One problem file of `sarrus solve`: loaded, given to solvers, judged and its solution written back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sarrus/problem/judge.h"
#include "sarrus/problem_files/fclib_file.h"
#include "sarrus/problem_files/problem_file.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::app {

struct LoadedProblem {
  std::string file;
  StoredProblem stored;
  std::optional<FclibInfo> fclib;  // FCLIB files only

  int count(BlockKind kind) const;  // blocks
  // Largest over smallest mass; of a node with 6 components its linear mass, of others the mean of the diagonal.
  double mass_ratio() const;
};

// Throws InputError.
LoadedProblem load_any_problem(const std::string& file);
// Writes the problem with this solution, in the format that it was loaded from.
void save_solution(const LoadedProblem& problem, const std::string& target, std::span<const double> lambda);

struct SolverChoice {
  const SolverInfo* info = nullptr;
  SolverParameters parameters;
};

// Solvers by id ("all": every one; empty: the default of simulations). A parameter goes to each chosen solver that
// has it. Throws InputError for unknown ids, and parameters that no chosen solver has.
std::vector<SolverChoice> choose_solvers(const std::vector<std::string>& ids, const SolverParameters& parameters);

struct SolveSettings {
  Goal goal;
  bool warm = false;  // start from the stored impulses
  int repeat = 1;     // time is the smallest
};

struct SolveResult {
  std::string solver;
  SolveStatus status = SolveStatus::max_iterations;
  int iterations = 0;
  int factorisations = 0;
  double microseconds = 0;
  Residuals residuals;     // the judge's
  bool converged = false;  // by the judge and the solver's law
  double error = 0;        // by the solver's law and the criterion
  std::vector<double> lambda;
};

SolveResult solve(const LoadedProblem& problem, const SolverChoice& choice, const SolveSettings& settings);

}  // namespace sarrus::app
