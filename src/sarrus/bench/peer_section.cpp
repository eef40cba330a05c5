#include "sarrus/bench/peer_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sarrus/bench/performance_profile.h"
#include "sarrus/bench/plot.h"
#include "sarrus/bench/report_table.h"
#include "sarrus/bench/statistics.h"

namespace sarrus {
namespace {

constexpr double kRoundOff = 1e-16;  // m: exact zeros are drawn here on logarithmic axes

template <class Item, class Name>
std::vector<std::string> names_in_order(const std::vector<Item>& items, Name name) {
  std::vector<std::string> out;
  for (const Item& i : items) {
    if (std::ranges::find(out, name(i)) == out.end()) out.push_back(name(i));
  }
  return out;
}

// What a person would see as the engine's error: joints that come apart, bodies that sink into each other.
double visible_error(const PeerRun& r) {
  double error = kRoundOff;
  for (const double e : {r.gap, r.penetration}) {
    if (std::isfinite(e)) error = std::max(error, e);
  }
  return error;
}

std::string scene_plot(const PeerReport& report, const std::string& scene, const std::vector<std::string>& engines) {
  Plot plot;
  plot.title = scene;
  plot.x = {"time per step, median [µs]", Scale::logarithmic, 0, 0};
  plot.y = {"gap or penetration [m]", Scale::logarithmic, 0, 0};
  plot.width = 370;
  plot.height = 290;
  plot.legend = false;
  plot.mark_radius = 5;
  for (std::size_t e = 0; e < engines.size(); ++e) {
    Series s;
    s.name = engines[e];
    s.look = static_cast<int>(e);
    for (const PeerRun& r : report.scenes) {
      if (r.scene != scene || r.engine != engines[e] || !r.ok()) continue;
      s.x.push_back(r.us_per_step);
      s.y.push_back(visible_error(r));
    }
    if (!s.x.empty()) plot.series.push_back(std::move(s));
  }
  return to_inline_svg(plot);
}

Cell measured(double value, const PeerRun& r) {
  return std::isfinite(value) ? cell_residual(value) : cell_none(r.status);
}

std::string scene_table(const PeerReport& report, const std::string& scene, const std::string& command) {
  Table table(scene, {{"engine", "", ""},
                      {"version", "", ""},
                      {"setting", "", "default, or the stiffest that stays stable"},
                      {"joint gap", "m", "largest over all samples of the motion"},
                      {"joint angle", "rad", ""},
                      {"penetration", "m", "largest depth of any contact"},
                      {"energy drift", "", "last minus first energy over the largest kinetic energy"},
                      {"energy rise", "", "highest energy over the first: nothing here may rightly be positive"},
                      {"moved", "m", "largest way of a centre of mass"},
                      {"time per step", "µs", "median"},
                      {"95 %", "µs", ""},
                      {"what happened", "", ""}});
  double dt = 0, duration = 0;
  for (const PeerRun& r : report.scenes) {
    if (r.scene != scene) continue;
    dt = std::max(dt, r.dt);
    duration = std::max(duration, r.sim_time);
    table.row({cell_text(r.engine), cell_text(r.version), cell_text(r.setting), measured(r.gap, r),
               measured(r.angle, r), measured(r.penetration, r), measured(r.energy_drift, r),
               measured(r.energy_rise, r), measured(r.displacement, r), cell_number(r.us_per_step),
               cell_number(r.us_per_step_p95),
               cell_text(r.level > 0 ? fmt::format("{} (softened {} times)", r.status, r.level) : r.status)});
  }
  return table.html(fmt::format("Steps of {} ms, {} s. Measured by our own geometry on the poses that each engine "
                                "wrote.",
                                number_text(1e3 * dt), number_text(duration)),
                    command);
}

std::string settings_list(const PeerReport& report) {
  std::vector<std::string> said;
  std::string out = "<details><summary>Settings of the engines</summary><ul>";
  for (const PeerRun& r : report.scenes) {
    const std::string line = fmt::format("{} {} {}: {}", r.engine, r.version, r.setting, r.setting_text);
    if (r.setting_text.empty() || std::ranges::find(said, line) != said.end()) continue;
    said.push_back(line);
    out += "<li>" + escape_xml(line) + "</li>";
  }
  return out + "</ul></details>";
}

ReportSection engines_section(const PeerReport& report, const std::string& command) {
  const std::vector<std::string> scenes = names_in_order(report.scenes, [](const PeerRun& r) { return r.scene; });
  const std::vector<std::string> engines = names_in_order(report.scenes, [](const PeerRun& r) { return r.engine; });
  ReportSection section{"Other engines", {}};
  section.html =
      "<p>The same scenes in other engines, each at its defaults and at the stiffest setting that stays stable. Every "
      "figure is computed by our own code from the poses that the engine wrote, ours too; times are those of the step "
      "call alone.</p>";
  std::vector<LegendEntry> legend;
  for (std::size_t e = 0; e < engines.size(); ++e) legend.push_back({engines[e], static_cast<int>(e)});
  std::string pictures = legend_svg(legend, 1100);
  for (const std::string& s : scenes) pictures += scene_plot(report, s, engines);
  section.html += figure_html("Error against time.", pictures,
                              "The larger of joint gap and penetration against the time of a step: lower left is "
                              "better. A line joins default and stiff setting of an engine; runs that became unstable "
                              "or collapsed are not drawn (see the tables); errors of exactly zero are drawn at "
                              "10<sup>-16</sup> m.",
                              command);
  for (const std::string& s : scenes) section.html += scene_table(report, s, command);
  section.html += settings_list(report);
  return section;
}

CostTable time_table(const PeerReport& report, const std::vector<std::string>& solvers,
                     const std::vector<std::string>& problems) {
  CostTable table;
  table.solvers = solvers;
  table.cost.assign(problems.size(), std::vector<double>(solvers.size(), std::numeric_limits<double>::infinity()));
  for (const FclibRun& r : report.fclib) {
    if (!r.success || !(r.seconds > 0)) continue;
    const auto p = static_cast<std::size_t>(std::ranges::find(problems, r.problem) - problems.begin());
    const auto s = static_cast<std::size_t>(std::ranges::find(solvers, r.solver) - solvers.begin());
    table.cost[p][s] = r.seconds;
  }
  return table;
}

std::string fclib_totals(const PeerReport& report, const std::vector<std::string>& solvers, const CostTable& costs,
                         const std::string& command) {
  Table table("Solvers on FCLIB", {{"solver", "", ""},
                                   {"solved", "", "relative natural map within the tolerance, by the judge"},
                                   {"median time", "ms", "of the problems that it solved"},
                                   {"time over the first solver", "", "median over problems that both solved"},
                                   {"median error", "", "relative natural map"}});
  for (std::size_t s = 0; s < solvers.size(); ++s) {
    std::vector<double> seconds, errors, ratios;
    long long solved = 0;
    for (const FclibRun& r : report.fclib) {
      if (r.solver != solvers[s]) continue;
      errors.push_back(std::isfinite(r.error) ? r.error : std::numeric_limits<double>::infinity());
      if (!r.success) continue;
      ++solved;
      seconds.push_back(1e3 * r.seconds);
    }
    for (const std::vector<double>& row : costs.cost) {
      if (std::isfinite(row[s]) && std::isfinite(row[0])) ratios.push_back(row[s] / row[0]);
    }
    table.row({cell_text(solvers[s]), cell_share(solved, static_cast<long long>(errors.size())),
               cell_number(quantile(seconds, 0.5)), cell_number(quantile(ratios, 0.5)),
               cell_residual(quantile(errors, 0.5))});
  }
  return table.html("All start from zero; the time is that of the solver's call alone.", command);
}

std::string fclib_problems(const PeerReport& report, const std::string& command) {
  Table table("Every problem", {{"problem", "", ""},
                                {"contacts", "", ""},
                                {"equality rows", "", ""},
                                {"solver", "", ""},
                                {"error", "", "relative natural map, by the judge"},
                                {"time", "ms", ""},
                                {"iterations", "", ""},
                                {"what happened", "", ""}});
  for (const FclibRun& r : report.fclib) {
    table.row({cell_text(r.problem), cell_count(r.contacts), cell_count(r.equalities), cell_text(r.solver),
               std::isfinite(r.error) ? cell_residual(r.error) : cell_none(r.status), cell_number(1e3 * r.seconds),
               cell_number(r.iterations),
               cell_text(r.status != "ok" ? r.status
                         : r.success      ? "solved"
                                          : "not within the tolerance")});
  }
  return "<details><summary>Every problem</summary>" + table.html("", command) + "</details>";
}

ReportSection fclib_section(const PeerReport& report, const std::string& command) {
  const std::vector<std::string> solvers = names_in_order(report.fclib, [](const FclibRun& r) { return r.solver; });
  const std::vector<std::string> problems = names_in_order(report.fclib, [](const FclibRun& r) { return r.problem; });
  const CostTable costs = time_table(report, solvers, problems);
  ReportSection section{"Siconos on FCLIB", {}};
  section.html = fclib_totals(report, solvers, costs, command);
  Plot plot = profile_plot(costs, "", "time");
  plot.width = 900;
  section.html += figure_html("Performance profile, time.", to_inline_svg(plot),
                              fmt::format("Share of the {} problems solved within τ times the fastest solver's time; "
                                          "what is not solved counts as never.",
                                          problems.size()),
                              command);
  section.html += fclib_problems(report, command);
  return section;
}

}  // namespace

std::vector<ReportSection> peer_sections(const PeerReport& report, const std::string& command) {
  std::vector<ReportSection> out;
  if (!report.scenes.empty()) out.push_back(engines_section(report, command));
  if (!report.fclib.empty()) out.push_back(fclib_section(report, command));
  return out;
}

}  // namespace sarrus
