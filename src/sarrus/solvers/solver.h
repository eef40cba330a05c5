// The interface of every constraint solver. A solver sees the constraint problem and nothing else.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/problem/constraint_problem.h"
#include "sarrus/problem/judge.h"

namespace sarrus {

enum class SolveStatus : std::uint8_t { converged, max_iterations, stalled, infeasible, non_finite };
std::string_view name_of(SolveStatus status);

// Parameters by name, as given on the command line or in C++.
using SolverParameters = std::map<std::string, double>;

struct ParameterInfo {
  std::string name;
  double default_value = 0;
  std::string meaning;
};

struct SolveReport {
  SolveStatus status = SolveStatus::max_iterations;
  Residuals residuals;  // the judge's, of the returned impulses
  int iterations = 0;
  int island_iterations = 0;  // of solvers by islands: the iterations of the island that took most
  int factorisations = 0;
  int island_factorisations = 0;  // likewise
  std::string_view stage = {};    // of a solver with stages: the last one that an island needed
  int attempts = 0;               // semismooth Newton attempts
};

class LinearFactor;

// Solvers keep their workspace between calls: one object per simulation and thread, reused step after step.
class Solver {
 public:
  virtual ~Solver() = default;
  // `lambda` holds the warm start on entry (zeros: cold) and the answer, projected on K, on return: the best
  // iterate by the judge, whatever the status. Stops when the judge's answer meets the goal (judge.h), or its budget
  // ends: then the status is max_iterations.
  virtual SolveReport solve(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda) = 0;
  // Where the factor of the linear rows may be found, or left for others, and what the judge found of the answer; null:
  // nowhere. Both must outlive the solver. Whoever does not eliminate linear rows has no use for them.
  virtual void share(LinearFactor* /*factor*/, JudgeWorkspace* /*judged*/) {}
  // Forget everything carried over from earlier solves (penalty, multipliers).
  virtual void reset() = 0;
};

}  // namespace sarrus
