#include "sarrus/bench/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "sarrus/bench/convergence.h"
#include "sarrus/bench/instructions.h"
#include "sarrus/math/error.h"
#include "sarrus/problem/judge.h"

namespace sarrus {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kNever = std::numeric_limits<double>::infinity();

// Gauss-Seidel sweeps and gradient steps, whose iterations are cheap.
constexpr std::array<std::string_view, 11> kSplitting = {"pgs-ccp",    "pgs-ccp-ds", "pgs-ncp",   "nbgs",
                                                         "nbgs-exact", "raisim",     "raisim-ds", "raisim-ds-es",
                                                         "prox",       "apgd",       "pgs-box"};
constexpr std::array<std::string_view, 7> kAdmm = {"admm2",    "admm-ncp-fp", "admm-ncp-la",   "admm-ncp-sa",
                                                   "admm-ccp", "admm-paper",  "admm-paper-ccp"};
constexpr std::array<std::string_view, 3> kDense = {"bpp", "pgs-sm", "spook"};

bool has_limit(const SolverInfo& solver) {
  return std::ranges::any_of(solver.parameters, [](const ParameterInfo& p) { return p.name == "max_iterations"; });
}

Outcome outcome_of(SolveStatus status) { return static_cast<Outcome>(static_cast<int>(status)); }

struct Timed {
  SolveReport report;
  double seconds = kNever;
  std::vector<double> lambda;
};

// One solve on the clock; what comes before and after is not.
void solve_once(Solver& solver, const Sample& sample, double tolerance, Start start, Timed& out) {
  out.lambda.assign(static_cast<std::size_t>(sample.problem.rows()), 0.0);
  if (start == Start::warm && sample.warm.size() == out.lambda.size()) out.lambda = sample.warm;
  const Clock::time_point begin = Clock::now();
  out.report = solver.solve(sample.problem, tolerance, out.lambda);
  out.seconds = std::min(out.seconds, std::chrono::duration<double>(Clock::now() - begin).count());
}

Timed solve_repeatedly(const Sample& sample, const SolverInfo& info, const SolverParameters& parameters,
                       double tolerance, Start start, const ReplayOptions& options) {
  Timed out;
  std::unique_ptr<Solver> solver = info.make(parameters);
  double spent = 0;
  if (start == Start::warm) {
    // Builds the workspace. The clock of this one counts only if it takes so long that building does not.
    solve_once(*solver, sample, tolerance, start, out);
    spent = out.seconds;
    if (spent > options.repeat_budget) return out;
    out.seconds = kNever;
  }
  for (int i = 0; i < std::max(1, options.repeats); ++i) {
    if (start == Start::cold && i > 0) solver = info.make(parameters);
    if (start == Start::warm) solver->reset();
    const double before = out.seconds;
    solve_once(*solver, sample, tolerance, start, out);
    spent += std::min(out.seconds, before);
    if (spent > options.repeat_budget) break;
  }
  return out;
}

// No number to judge: nothing is as far from solved.
void no_answer(SolveRecord& r, Outcome outcome, std::string message = {}) {
  r.outcome = outcome;
  r.message = std::move(message);
  for (double* metric :
       {&r.natural_map, &r.natural_map_relative, &r.own_law_relative, &r.primal, &r.dual, &r.complementarity,
        &r.equations, &r.joint_velocity, &r.momentum_error, &r.complementarity_error, &r.delta_psi}) {
    *metric = kNever;
  }
}

void grade(const Sample& sample, const SolverInfo& info, const Timed& timed, SolveRecord& r) {
  JudgeWorkspace workspace;
  const Residuals judged = judge(sample.problem, timed.lambda, workspace);
  if (!judged.finite) return no_answer(r, Outcome::non_finite);
  r.natural_map = judged.natural_map;
  r.natural_map_relative = judged.error();
  r.own_law_relative = judged.error(info.law);
  r.primal = judged.primal;
  r.dual = judged.dual;
  r.complementarity = judged.complementarity;
  r.equations = judged.equations;
  r.joint_velocity = judged.joint_velocity;
  const ConvexErrors convex = convex_errors(sample.problem, timed.lambda, workspace);
  r.momentum_error = convex.momentum;
  r.complementarity_error = convex.complementarity;
  r.delta_psi = delta_psi(sample.problem, timed.lambda, workspace);
}

double count_instructions(const Sample& sample, const SolverInfo& info, const SolverParameters& parameters,
                          double tolerance, Start start) {
  InstructionCounter counter;
  if (!counter.available()) return 0;
  const std::unique_ptr<Solver> solver = info.make(parameters);
  Timed ignored;
  if (start == Start::warm) {
    solve_once(*solver, sample, tolerance, start, ignored);
    solver->reset();
  }
  counter.start();
  solve_once(*solver, sample, tolerance, start, ignored);
  return counter.stop();
}

}  // namespace

std::vector<Level> default_levels() { return {{1e-6, 1000, 200}, {1e-9, 5000, 1000}}; }

int row_limit(std::string_view solver, const ReplayOptions& options) {
  if (solver.starts_with("drum-")) return options.dense_rows / 5;
  return std::ranges::find(kDense, solver) != kDense.end() ? options.dense_rows : std::numeric_limits<int>::max();
}

SolverParameters level_parameters(const SolverInfo& solver, const Level& level) {
  if (!has_limit(solver)) return {};
  if (std::ranges::find(kSplitting, solver.id) != kSplitting.end()) {
    return {{"max_iterations", level.splitting_iterations}};
  }
  if (std::ranges::find(kAdmm, solver.id) != kAdmm.end()) return {{"max_iterations", level.admm_iterations}};
  return {};
}

SolverSetup describe_solver(const SolverInfo& solver, const std::vector<Level>& levels) {
  SolverSetup out{std::string(solver.id), solver.law, std::string(solver.summary), {}};
  for (const Level& level : levels) {
    for (const auto& [key, value] : level_parameters(solver, level)) {
      out.limits += fmt::format("{}{}={:g} at {:g}", out.limits.empty() ? "" : ", ", key, value, level.tolerance);
    }
  }
  return out;
}

SolveRecord replay(const Sample& sample, const SolverInfo& solver, int level, Start start,
                   const ReplayOptions& options) {
  SolveRecord r;
  r.level = level;
  r.start = start;
  if (const int limit = row_limit(solver.id, options); sample.problem.rows() > limit) {
    no_answer(r, Outcome::too_large, fmt::format("works on dense matrices; not tried beyond {} rows", limit));
    return r;
  }
  const Level& l = options.levels[static_cast<std::size_t>(level)];
  SolverParameters parameters = level_parameters(solver, l);
  try {
    const Timed timed = solve_repeatedly(sample, solver, parameters, l.tolerance, start, options);
    r.outcome = outcome_of(timed.report.status);
    r.iterations = timed.report.iterations;
    r.factorisations = timed.report.factorisations;
    r.seconds = timed.seconds;
    grade(sample, solver, timed, r);
    if (options.instructions) r.instructions = count_instructions(sample, solver, parameters, l.tolerance, start);
    if (has_limit(solver) && r.iterations > 1) {
      parameters["max_iterations"] = 1;
      r.seconds_first = solve_repeatedly(sample, solver, parameters, l.tolerance, start, options).seconds;
    }
  } catch (const InputError& e) {
    no_answer(r, Outcome::refused, e.what());
  }
  return r;
}

CurveRecord replay_curve(const Sample& sample, const SolverInfo& solver, double tolerance, int max_iterations,
                         const ReplayOptions& options) {
  CurveRecord curve;
  if (sample.problem.rows() > row_limit(solver.id, options)) return curve;
  try {
    for (const ConvergencePoint& p : convergence(sample.problem, solver.id, tolerance, max_iterations, Law::ncp)) {
      curve.iterations.push_back(p.iterations);
      curve.residual.push_back(p.residual);
    }
  } catch (const InputError&) {
    // Refused: the solve records say why.
  }
  return curve;
}

}  // namespace sarrus
