#include "problem_solve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "sarrus/math/error.h"
#include "sarrus/step/simulation.h"

namespace sarrus::app {
namespace {

bool has_parameter(const SolverInfo& info, const std::string& name) {
  return std::any_of(info.parameters.begin(), info.parameters.end(),
                     [&](const ParameterInfo& p) { return p.name == name; });
}

double node_mass(const ConstraintProblem& p, std::size_t node) {
  const int n = p.node_size[node];
  const Eigen::Map<const MatX> M(p.mass.data() + p.mass_offset[node], n, n);
  return n == 6 ? M(0, 0) : M.trace() / n;
}

}  // namespace

int LoadedProblem::count(BlockKind kind) const {
  const std::vector<ConstraintBlock>& blocks = stored.problem.blocks;
  return static_cast<int>(
      std::count_if(blocks.begin(), blocks.end(), [&](const ConstraintBlock& b) { return b.kind == kind; }));
}

double LoadedProblem::mass_ratio() const {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < stored.problem.node_size.size(); ++i) {
    const double m = node_mass(stored.problem, i);
    smallest = std::min(smallest, m);
    largest = std::max(largest, m);
  }
  return largest > 0 ? largest / smallest : 1;
}

LoadedProblem load_any_problem(const std::string& file) {
  LoadedProblem out;
  out.file = file;
  if (problem_format(file) == ProblemFormat::fclib) {
    FclibProblem p = load_fclib(file);
    out.stored = std::move(p.stored);
    out.fclib = p.info;
  } else {
    out.stored = load_problem(file);
  }
  return out;
}

void save_solution(const LoadedProblem& problem, const std::string& target, std::span<const double> lambda) {
  if (problem.fclib) {
    save_fclib_solution(problem.file, target, lambda);
  } else {
    save_problem(target, problem.stored.problem, problem.stored.warm, lambda);
  }
}

std::vector<SolverChoice> choose_solvers(const std::vector<std::string>& ids, const SolverParameters& parameters) {
  std::vector<const SolverInfo*> chosen;
  for (const std::string& id : ids) {
    if (id == "all") {
      for (const SolverInfo& s : solver_registry()) chosen.push_back(&s);
    } else {
      chosen.push_back(&solver_info(id));
    }
  }
  if (ids.empty()) chosen.push_back(&solver_info(SimulationOptions{}.solver));

  std::vector<SolverChoice> choices;
  for (const SolverInfo* info : chosen) choices.push_back({info, {}});
  for (const auto& [name, value] : parameters) {
    bool known = false;
    for (SolverChoice& c : choices) {
      if (choices.size() > 1 && !has_parameter(*c.info, name)) continue;
      c.parameters.emplace(name, value);
      known = true;
    }
    if (!known) {
      throw InputError(fmt::format("--param {}", name),
                       "none of the chosen solvers has this parameter; sarrus solvers lists them");
    }
  }
  // Names and values are checked here, before any file is read.
  for (const SolverChoice& c : choices) make_solver(c.info->id, c.parameters);
  return choices;
}

SolveResult solve(const LoadedProblem& problem, const SolverChoice& choice, const SolveSettings& settings) {
  using Clock = std::chrono::steady_clock;
  const ConstraintProblem& p = problem.stored.problem;
  if (settings.warm && problem.stored.warm.empty() && p.rows() > 0) {
    throw InputError(problem.file, "has no warm start; leave --warm out");
  }
  const std::unique_ptr<Solver> solver = make_solver(choice.info->id, choice.parameters);
  SolveResult out;
  out.solver = choice.info->id;
  out.microseconds = std::numeric_limits<double>::infinity();
  for (int i = 0; i < settings.repeat; ++i) {
    out.lambda.assign(static_cast<std::size_t>(p.rows()), 0.0);
    if (settings.warm) out.lambda = problem.stored.warm;
    solver->reset();
    const Clock::time_point begin = Clock::now();
    const SolveReport report = solver->solve(p, settings.goal, out.lambda);
    const std::chrono::duration<double, std::micro> spent = Clock::now() - begin;
    out.microseconds = std::min(out.microseconds, spent.count());
    out.status = report.status;
    out.iterations = report.iterations;
    out.factorisations = report.factorisations;
  }
  JudgeWorkspace workspace;
  out.residuals = judge(p, out.lambda, workspace);
  out.error = out.residuals.error(choice.info->law, settings.goal.criterion);
  out.converged = meets(out.residuals, choice.info->law, settings.goal);
  return out;
}

}  // namespace sarrus::app
