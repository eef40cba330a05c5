#include "sarrus/bench/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sarrus/math/statistics.h"

namespace sarrus {
namespace {

// One line a solver at one level and start.
struct SolverLine {
  std::string id;
  int solved = 0;
  int own = 0;  // by the solver's own law
  int total = 0;
  std::vector<double> seconds, iterations, residual;  // of all solves that were tried
};

SolverLine line_of(const BenchResult& r, int solver, int level, Start start) {
  SolverLine line;
  line.id = r.solvers[static_cast<std::size_t>(solver)].id;
  const double tolerance = r.tolerances[static_cast<std::size_t>(level)];
  for (const SolveRecord& s : r.solves) {
    if (s.solver != solver || s.level != level || s.start != start) continue;
    ++line.total;
    line.solved += r.solved(s);
    line.own += s.own_law_relative <= tolerance;
    if (s.outcome == Outcome::refused || s.outcome == Outcome::too_large) continue;
    line.seconds.push_back(s.seconds);
    line.iterations.push_back(s.iterations);
    line.residual.push_back(s.natural_map_relative);
  }
  return line;
}

void print_solvers(const BenchResult& r, std::string& out) {
  const auto to = std::back_inserter(out);
  for (int level = 0; level < static_cast<int>(r.tolerances.size()); ++level) {
    for (const Start start : {Start::cold, Start::warm}) {
      std::vector<SolverLine> lines;
      for (int s = 0; s < static_cast<int>(r.solvers.size()); ++s) lines.push_back(line_of(r, s, level, start));
      std::ranges::stable_sort(lines, std::greater<>(), &SolverLine::solved);
      fmt::format_to(to, "\n{} starts, tolerance {:g}: solved (relative natural map of the NCP within it)\n",
                     name_of(start), r.tolerances[static_cast<std::size_t>(level)]);
      fmt::format_to(to, "{:<16}{:>12}{:>12}{:>14}{:>14}{:>12}{:>14}\n", "solver", "solved", "own law", "us median",
                     "us p95", "iterations", "residual");
      for (const SolverLine& l : lines) {
        fmt::format_to(to, "{:<16}{:>12}{:>12}{:>14.1f}{:>14.1f}{:>12g}{:>14.1e}\n", l.id,
                       fmt::format("{}/{}", l.solved, l.total), fmt::format("{}/{}", l.own, l.total),
                       1e6 * median(l.seconds), 1e6 * percentile(l.seconds, 0.95), median(l.iterations),
                       median(l.residual));
      }
    }
  }
}

void print_runs(const BenchResult& r, std::string& out) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "\nWhole simulations\n{:<22}{:<14}{:>12}{:>8}{:>11}{:>11}{:>11}{:>12}{:>10}\n", "system", "solver",
                 "steps", "missed", "residual", "gap m", "depth m", "us median", "x real");
  for (const RunRecord& s : r.runs) {
    fmt::format_to(to, "{:<22}{:<14}{:>12}{:>8}{:>11.1e}{:>11.1e}{:>11.1e}{:>12.1f}{:>10.3g}{}\n",
                   r.systems[static_cast<std::size_t>(s.system)].id, s.solver,
                   fmt::format("{}/{}", s.steps, s.planned_steps), s.not_converged, s.natural_map_relative, s.joint_gap,
                   s.penetration, 1e6 * s.step_median, s.real_time_factor, s.message.empty() ? "" : "  " + s.message);
  }
}

void print_scaling(const BenchResult& r, std::string& out) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "\nScaling\n{:<10}{:>8}{:>9}{:>9}{:>10}{:>12}{:>12}{:>12}{:>10}\n", "family", "bodies", "threads",
                 "rows", "contacts", "us median", "us p95", "kB/body", "missed");
  for (const ScalingRecord& s : r.scaling) {
    fmt::format_to(to, "{:<10}{:>8}{:>9}{:>9}{:>10}{:>12.1f}{:>12.1f}{:>12.2f}{:>10}{}\n", s.family, s.bodies,
                   s.threads, s.rows, s.contacts, 1e6 * s.step_median, 1e6 * s.step_p95,
                   1e-3 * s.bytes / std::max(1, s.bodies), s.not_converged, s.message.empty() ? "" : "  " + s.message);
  }
}

}  // namespace

std::string to_text(const BenchResult& r) {
  std::string out = fmt::format("{} systems, {} samples, {} solvers, {} solves, {} runs; {:.0f} s\n", r.systems.size(),
                                r.samples.size(), r.solvers.size(), r.solves.size(), r.runs.size(), r.seconds);
  if (!r.solves.empty()) print_solvers(r, out);
  if (!r.runs.empty()) print_runs(r, out);
  if (!r.scaling.empty()) print_scaling(r, out);
  return out;
}

}  // namespace sarrus
