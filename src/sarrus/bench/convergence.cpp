#include "sarrus/bench/convergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/families/families.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/simulation.h"

namespace sarrus {
namespace {

// The 300th step of the built-in scene: three of its four boxes slide.
ConstraintProblem sliding_boxes() {
  Simulation sim(make_scene("incline"));
  for (int i = 0; i < 300; ++i) sim.step();
  return sim.problem();
}

void add_compliance(ConstraintProblem& p) {
  VecX D(p.rows());
  p.diagonal_D_plus_R(D);
  for (int i = 0; i < p.rows(); ++i) {
    double& R = p.R[static_cast<std::size_t>(i)];
    if (R == 0) R = 1e-4 * D[i];
  }
  p.finish();
}

bool has_parameter(const SolverInfo& info, std::string_view name) {
  return std::any_of(info.parameters.begin(), info.parameters.end(),
                     [&](const ParameterInfo& p) { return p.name == name; });
}

// The couplings of friction and normal impulses, a handful by default, would end the curves of the MLCP solvers.
SolverParameters unlimited(const SolverInfo& info) {
  SolverParameters p;
  for (const char* name : {"k_cpl", "k_dir"}) {
    if (info.law == Law::box && has_parameter(info, name)) p[name] = 0;
  }
  return p;
}

}  // namespace

bool needs_compliance(std::string_view solver) { return solver.substr(0, 5) == "drum-"; }

std::vector<ConvergenceProblem> convergence_problems(bool compliant) {
  std::vector<ConvergenceProblem> out;
  out.push_back({"sliding boxes", "four boxes on an incline, 16 contacts", sliding_boxes()});
  out.push_back({"walker", "31 bodies, 36 joints with loops, 40 contacts", problem_family("walker31").make(1)});
  out.push_back(
      {"heavy stack", "15 boxes, 10 t on 1 kg, 60 contacts", problem_family("stack15_heavy_resting").make(1)});
  if (compliant) {
    for (ConvergenceProblem& p : out) add_compliance(p.problem);
  }
  return out;
}

std::vector<ConvergencePoint> convergence(const ConstraintProblem& problem, std::string_view solver, double tolerance,
                                          int max_iterations, std::optional<Law> law) {
  const SolverInfo& info = solver_info(solver);
  const bool limited = has_parameter(info, "max_iterations");
  std::vector<ConvergencePoint> out;
  JudgeWorkspace workspace;
  std::vector<double> lambda(static_cast<std::size_t>(problem.rows()), 0.0);
  const auto add = [&](int iterations) {
    const Residuals r = judge(problem, lambda, workspace);
    const double residual = r.finite ? r.error(law.value_or(info.law)) : std::numeric_limits<double>::infinity();
    // A limit that changes nothing (the solver stopped by itself, or counts otherwise) is not drawn twice.
    if (!out.empty() && out.back().iterations == iterations) return residual <= tolerance;
    out.push_back({iterations, residual});
    return residual <= tolerance;
  };
  for (int limit = 1; limit <= max_iterations; limit = std::max(limit + 1, limit * 5 / 4)) {
    SolverParameters parameters = unlimited(info);
    if (limited) parameters["max_iterations"] = limit;
    std::fill(lambda.begin(), lambda.end(), 0.0);
    const SolveReport report = make_solver(solver, parameters)->solve(problem, tolerance, lambda);
    if (add(std::max(1, report.iterations)) || !limited) break;
    if (report.status == SolveStatus::infeasible) break;
    if (report.status == SolveStatus::stalled && report.iterations < limit) break;
  }
  return out;
}

Plot convergence_plot(std::string_view solver, double tolerance, int max_iterations) {
  Plot plot;
  const bool compliant = needs_compliance(solver);
  plot.title = fmt::format("{}: residual against iterations{}", solver, compliant ? ", compliant rows" : "");
  plot.x = {"iterations", Scale::logarithmic, 0, 0};
  plot.y = {fmt::format("judged natural map ({} law), relative", name_of(solver_info(solver).law)), Scale::logarithmic,
            1e-11, 10};
  for (const ConvergenceProblem& p : convergence_problems(compliant)) {
    Series s;
    s.name = p.name;
    for (const ConvergencePoint& point : convergence(p.problem, solver, tolerance, max_iterations)) {
      s.x.push_back(point.iterations);
      s.y.push_back(point.residual);
    }
    plot.series.push_back(std::move(s));
  }
  const bool couplings = solver_info(solver).law == Law::box;
  plot.note = fmt::format("cold starts{}; sarrus bench convergence --solvers {} --out DIR",
                          couplings ? ", no limit of couplings" : "", solver);
  return plot;
}

}  // namespace sarrus
