// Whole simulations and scaling.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "sarrus/bench/plot.h"
#include "sarrus/bench/report_sections.h"
#include "sarrus/bench/report_table.h"
#include "sarrus/bench/scaling_fit.h"

namespace sarrus {
namespace {

constexpr double kFitFrom = 100;  // bodies: below, overheads that do not grow hide the power law
constexpr double kMilli = 1e3;
constexpr double kMegabyte = 1e6;

std::vector<std::string> families_of(const BenchResult& r) {
  std::vector<std::string> families;
  for (const ScalingRecord& s : r.scaling) {
    if (std::find(families.begin(), families.end(), s.family) == families.end()) families.push_back(s.family);
  }
  return families;
}

struct Points {
  std::vector<double> bodies, step, solve, bytes;
};

// One thread, sizes in order, without those that were not run.
Points points_of(const BenchResult& r, const std::string& family) {
  std::map<int, const ScalingRecord*> by_size;
  for (const ScalingRecord& s : r.scaling) {
    if (s.family == family && s.threads == 1 && s.steps > 0) by_size[s.bodies] = &s;
  }
  Points p;
  for (const auto& [bodies, s] : by_size) {
    p.bodies.push_back(bodies);
    p.step.push_back(s->step_median);
    p.solve.push_back(s->solve_median);
    p.bytes.push_back(s->bytes);
  }
  return p;
}

std::string scaling_plot(const BenchResult& r, const std::vector<std::string>& families, bool memory) {
  Plot plot;
  plot.title = memory ? "Memory" : "Time per step";
  plot.x = {"bodies", Scale::logarithmic, 0, 0};
  plot.y = {memory ? "memory [MB]" : "time per step [ms]", Scale::logarithmic, 0, 0};
  plot.width = 590;
  plot.height = 380;
  int look = 0;
  double first_x = 0, first_y = 0, last_x = 0;
  for (const std::string& f : families) {
    const Points p = points_of(r, f);
    Series line;
    line.name = f;
    line.look = look++;
    for (std::size_t i = 0; i < p.bodies.size(); ++i) {
      line.x.push_back(p.bodies[i]);
      line.y.push_back(memory ? p.bytes[i] / kMegabyte : kMilli * p.step[i]);
      if (!(line.y.back() > 0)) continue;
      if (first_x == 0 || p.bodies[i] < first_x || (p.bodies[i] == first_x && line.y.back() < first_y)) {
        first_x = p.bodies[i];
        first_y = line.y.back();
      }
      last_x = std::max(last_x, p.bodies[i]);
    }
    plot.series.push_back(std::move(line));
  }
  if (first_x > 0 && last_x > first_x) {
    Series linear;
    linear.name = "∝ bodies";
    linear.background = true;
    linear.x = {first_x, last_x};
    linear.y = {first_y, first_y * last_x / first_x};
    plot.series.push_back(std::move(linear));
  }
  return to_inline_svg(plot);
}

Cell exponent_cell(const PowerFit& fit) {
  if (std::isnan(fit.exponent)) return cell_none("fewer than two sizes");
  Cell cell = cell_number(fit.exponent);
  cell.html = fmt::format("{:.2f}", fit.exponent) +
              (std::isnan(fit.spread) ? std::string() : fmt::format(" ± {:.2f}", fit.spread));
  return cell;
}

std::string fit_table(const BenchResult& r, const std::vector<std::string>& families) {
  Table table("Fitted exponents", {{"family", "", ""},
                                   {"time per step", "exponent", "of bodies"},
                                   {"time in the solver", "exponent", "of bodies"},
                                   {"memory", "exponent", "of bodies"},
                                   {"sizes fitted", "", ""},
                                   {"largest size", "bodies", ""},
                                   {"time per step there", "ms", "median"},
                                   {"memory there", "MB", ""}});
  for (const std::string& f : families) {
    const Points p = points_of(r, f);
    if (p.bodies.empty()) continue;
    const PowerFit step = fit_power(p.bodies, p.step, kFitFrom);
    const double bytes = p.bytes.back();
    table.row({cell_text(f), exponent_cell(step), exponent_cell(fit_power(p.bodies, p.solve, kFitFrom)),
               exponent_cell(fit_power(p.bodies, p.bytes, kFitFrom)), cell_count(step.points),
               cell_count(static_cast<long long>(p.bodies.back())), cell_number(kMilli * p.step.back()),
               bytes > 0 ? cell_number(bytes / kMegabyte) : cell_none("not measured")});
  }
  if (table.empty()) return "";
  return table.html(
      fmt::format("Least squares in the logarithms over the sizes of at least {:g} bodies, one thread; ± is the "
                  "standard error of the exponent. 1 is proportional to the size.",
                  kFitFrom),
      r.command);
}

std::string thread_table(const BenchResult& r) {
  Table table("Threads", {{"family", "", ""},
                          {"bodies", "", ""},
                          {"threads", "", ""},
                          {"time per step", "ms", "median"},
                          {"speed-up", "×", "against one thread"},
                          {"efficiency", "%", "speed-up over threads"}});
  for (const ScalingRecord& s : r.scaling) {
    const bool several = std::any_of(r.scaling.begin(), r.scaling.end(), [&s](const ScalingRecord& o) {
      return o.family == s.family && o.bodies == s.bodies && o.threads != s.threads;
    });
    if (!several || s.steps == 0) continue;
    const auto one = std::find_if(r.scaling.begin(), r.scaling.end(), [&s](const ScalingRecord& o) {
      return o.family == s.family && o.bodies == s.bodies && o.threads == 1;
    });
    const bool known = one != r.scaling.end() && one->step_median > 0 && s.step_median > 0;
    const double speedup = known ? one->step_median / s.step_median : std::nan("");
    table.row({cell_text(s.family), cell_count(s.bodies), cell_count(s.threads), cell_number(kMilli * s.step_median),
               known ? cell_number(speedup) : cell_none("no run with one thread"),
               known ? cell_number(100 * speedup / s.threads) : cell_none("no run with one thread")});
  }
  return table.empty()
             ? ""
             : table.html(fmt::format("Islands are solved in parallel; the machine has {} cores.", r.machine.cores),
                          r.command);
}

std::string scaling_table(const BenchResult& r) {
  Table table("Scaling points", {{"family", "", ""},
                                 {"bodies", "", ""},
                                 {"threads", "", ""},
                                 {"rows", "", "of the constraint problem"},
                                 {"contacts", "", ""},
                                 {"steps", "", "measured"},
                                 {"not converged", "steps", ""},
                                 {"iterations", "", "mean per step"},
                                 {"time per step", "ms", "median"},
                                 {"95 %", "ms", ""},
                                 {"in the solver", "ms", "median"},
                                 {"memory", "MB", "heap memory that building and warming up took"},
                                 {"remark", "", ""}});
  for (const ScalingRecord& s : r.scaling) {
    const bool ran = s.steps > 0;
    const auto time = [ran](double t) { return ran ? cell_number(kMilli * t) : cell_none("not run"); };
    table.row({cell_text(s.family), cell_count(s.bodies), cell_count(s.threads), cell_count(s.rows),
               cell_count(s.contacts), cell_count(s.steps), cell_count(s.not_converged), cell_number(s.iterations),
               time(s.step_median), time(s.step_p95), time(s.solve_median),
               s.bytes > 0 ? cell_number(s.bytes / kMegabyte) : cell_none("not measured"), cell_text(s.message)});
  }
  return table.html("Every size that was run.", r.command);
}

std::string remark_of(const RunRecord& s) {
  return s.message.empty() && s.steps < s.planned_steps ? "stopped early, no message" : s.message;
}

std::string run_quality(const BenchResult& r) {
  Table table("Simulations, accuracy",
              {{"system", "", ""},
               {"solver", "", ""},
               {"steps", "", "taken / planned"},
               {"not converged", "steps", ""},
               {"halved", "steps", "that were taken as shorter ones"},
               {"joint gap", "m", "largest distance between what a joint holds together"},
               {"joint angle", "rad", "largest angle error of a joint"},
               {"limit", "m or rad", "largest violation of a joint limit"},
               {"penetration", "m", "deepest"},
               {"energy drift", "", "(final − initial) / largest kinetic energy; drives and friction count"},
               {"jitter", "", "median relative change of the impulses from step to step"},
               {"residual", "", "relative natural map of the NCP, worst step"},
               {"remark", "", ""}});
  for (const RunRecord& s : r.runs) {
    table.row({cell_text(r.systems[static_cast<std::size_t>(s.system)].id), cell_text(s.solver),
               cell_share(s.steps, s.planned_steps), cell_count(s.not_converged), cell_count(s.substepped),
               cell_residual(s.joint_gap), cell_residual(s.joint_angle), cell_residual(s.limit_violation),
               cell_residual(s.penetration), cell_residual(s.energy_drift), cell_residual(s.jitter),
               cell_residual(s.natural_map_relative), cell_text(remark_of(s))});
  }
  return table.html(
      "Each system advanced by one solver from its start; worst values over the run unless said otherwise. The energy "
      "drift is an error only where nothing drives, rubs or collides. Not converged counts by the law of the solver, "
      "the "
      "residual is always that of the NCP: a convex solver converges to answers that lift where contacts slide. "
      "Solvers "
      "other than the default are slow on some systems and were stopped after a second of simulated time. Joint gaps "
      "of "
      "the systems with compliant joints (log_grasp, winch, closed_loop_drop) are their springs.",
      r.command);
}

std::string run_speed(const BenchResult& r) {
  Table table("Simulations, speed", {{"system", "", ""},
                                     {"solver", "", ""},
                                     {"real-time factor", "×", "simulated over elapsed time"},
                                     {"step, median", "µs", "whole step"},
                                     {"step, 95 %", "µs", "whole step"},
                                     {"solve, median", "µs", "of it in the solver"},
                                     {"iterations, median", "", "of a step"},
                                     {"iterations, most", "", "of a step"},
                                     {"contacts, most", "", "of a step"}});
  for (const RunRecord& s : r.runs) {
    table.row({cell_text(r.systems[static_cast<std::size_t>(s.system)].id), cell_text(s.solver),
               cell_number(s.real_time_factor), cell_number(1e6 * s.step_median), cell_number(1e6 * s.step_p95),
               cell_number(1e6 * s.solve_median), cell_count(s.iterations_median), cell_count(s.iterations_max),
               cell_count(s.contacts_max)});
  }
  return table.html("The same simulations; times of whole steps and of the solver in them.", r.command);
}

}  // namespace

std::string report_runs(const ReportData& data) {
  if (data.result.runs.empty()) return "";
  return run_quality(data.result) + run_speed(data.result);
}

std::string scaling_headline(const BenchResult& r) {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  std::string slow, fast;
  for (const std::string& f : families_of(r)) {
    const Points p = points_of(r, f);
    const double exponent = fit_power(p.bodies, p.step, kFitFrom).exponent;
    if (exponent < lowest) {
      lowest = exponent;
      slow = f;
    }
    if (exponent > highest) {
      highest = exponent;
      fast = f;
    }
  }
  if (slow.empty()) return "";
  if (slow == fast) return fmt::format("Time per step grows like bodies<sup>{:.2f}</sup>. ", lowest);
  return fmt::format("Time per step grows between bodies<sup>{:.2f}</sup> ({}) and bodies<sup>{:.2f}</sup> ({}). ",
                     lowest, escape_xml(slow), highest, escape_xml(fast));
}

std::string report_scaling(const ReportData& data) {
  const BenchResult& r = data.result;
  if (r.scaling.empty()) return "";
  const std::vector<std::string> families = families_of(r);
  const bool memory =
      std::any_of(r.scaling.begin(), r.scaling.end(), [](const ScalingRecord& s) { return s.bytes > 0; });
  std::string caption =
      fmt::format("Median time of a step{}, one thread; the grey line is proportional to the number of bodies.",
                  memory ? " and heap memory" : "");
  for (const ScalingRecord& s : r.scaling) {
    if (s.steps == 0) {
      caption += fmt::format(" Not run: {} of {} bodies, {} ({}).", escape_xml(s.family), s.bodies,
                             s.threads == 1 ? std::string("1 thread") : fmt::format("{} threads", s.threads),
                             escape_xml(s.message.empty() ? "no message" : s.message));
    }
  }
  const std::string pictures = scaling_plot(r, families, false) + (memory ? scaling_plot(r, families, true) : "");
  return figure_html(memory ? "Time and memory against size" : "Time against size", pictures, caption, r.command) +
         fit_table(r, families) + thread_table(r) + folded("All scaling points", scaling_table(r));
}

}  // namespace sarrus
