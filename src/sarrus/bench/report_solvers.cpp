// Tables of solvers: what they solved, how fast, and why not.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "sarrus/bench/plot.h"
#include "sarrus/bench/report_sections.h"
#include "sarrus/bench/report_table.h"
#include "sarrus/bench/statistics.h"

namespace sarrus {
namespace {

constexpr double kMicro = 1e6;

const SolverSetup& setup(const ReportData& data, int solver) {
  return data.result.solvers[static_cast<std::size_t>(solver)];
}
const SolverSummary& summary(const Setting& s, int solver) { return s.summaries[static_cast<std::size_t>(solver)]; }

Cell or_none(double value, Cell cell, const char* why) { return std::isnan(value) ? cell_none(why) : cell; }

std::string solver_list(const ReportData& data) {
  Table table("Solvers", {{"solver", "", ""},
                          {"law", "", "contact law that it solves: ncp (Coulomb), ccp (convex relaxation), box"},
                          {"changed parameters", "", "that differ from the solver's defaults"},
                          {"what it is", "", ""}});
  for (const int k : data.ranking) {
    const SolverSetup& s = setup(data, k);
    table.row({cell_text(s.id), cell_text(std::string(name_of(s.law))), cell_text(s.limits.empty() ? "none" : s.limits),
               cell_text(s.summary)});
  }
  return table.html("What took part.", data.result.command);
}

std::string solver_table(const ReportData& data, const Setting& s) {
  const char* never = "never attempted";
  const bool counted =
      std::any_of(s.summaries.begin(), s.summaries.end(), [](const SolverSummary& m) { return m.instructions > 0; });
  std::vector<Column> columns = {
      {"solver", "", ""},
      {"law", "", "ncp: Coulomb, ccp: convex relaxation, box: box friction"},
      {"solved", "", "relative natural map of the NCP within the tolerance"},
      {"success criterion", "",
       "natural map at most " + power_text(data.result.success) + " in SI units, whatever the tolerance"},
      {"solved, own law", "", "within the tolerance by the law that the solver solves"},
      {"time, median", "µs", "of a whole solve, over all that were attempted, failed ones included"},
      {"time, 95 %", "µs", ""},
      {"× fastest", "", "geometric mean of time over that of the fastest on the same sample, over solved samples"},
      {"set‑up, first iteration", "µs", "a solve limited to one iteration, median"},
      {"per iteration", "µs", "after the first, median"},
      {"iter., median", "", "iterations"},
      {"iter., 95 %", "", "iterations"},
      {"factor., median", "", "factorisations of a matrix"},
      {"residual, own law", "", "relative natural map of the solver's law, median"},
      {"residual, NCP", "", "relative natural map of the NCP, median"}};
  if (counted) columns.push_back({"instructions", "1000", "user-space instructions of a solve, median"});
  Table table(fmt::format("Solvers at {}", data.setting_text(s)), columns);
  for (const int k : data.ranking) {
    const SolverSummary& m = summary(s, k);
    std::vector<Cell> row = {cell_text(setup(data, k).id), cell_text(std::string(name_of(setup(data, k).law))),
                             cell_share(m.solved, m.total), cell_share(m.success, m.total),
                             cell_share(m.solved_own_law, m.total)};
    for (const auto& [value, scale] : {std::pair{m.time_median, kMicro},
                                       {m.time_p95, kMicro},
                                       {m.slowdown, 1.0},
                                       {m.first_median, kMicro},
                                       {m.iteration_median, kMicro},
                                       {m.iterations_median, 1.0},
                                       {m.iterations_p95, 1.0},
                                       {m.factorisations_median, 1.0}}) {
      const char* why = m.attempted == 0 ? never : "not measurable: nothing solved, or one iteration only";
      row.push_back(or_none(value, cell_number(scale * value), why));
    }
    row.push_back(or_none(m.own_law_median, cell_residual(m.own_law_median), never));
    row.push_back(or_none(m.accuracy_median, cell_residual(m.accuracy_median), never));
    if (counted) row.push_back(or_none(m.instructions, cell_number(1e-3 * m.instructions), "not counted"));
    table.row(std::move(row));
  }
  return table.html(
      fmt::format("{} samples; times are the smallest of {} repeats. Medians are over attempted solves; “× fastest” "
                  "compares solved samples only, each with the fastest solver that solved it.",
                  s.samples.size(), data.result.repeats),
      data.result.command);
}

struct Metric {
  const char* title;
  const char* unit;
  const char* explanation;
  double SolveRecord::*value;
};
constexpr std::array<Metric, 9> kMetrics = {{
    {"natural map", "N s, m/s", "|λ − P(λ − v̂)|", &SolveRecord::natural_map},
    {"primal", "N s", "distance of the impulses from their cones", &SolveRecord::primal},
    {"dual", "m/s", "distance of the constraint velocities from the dual cones", &SolveRecord::dual},
    {"complementarity", "J", "largest |λ · v̂| of a limit or contact", &SolveRecord::complementarity},
    {"equations", "N s", "momentum that the impulses do not account for", &SolveRecord::equations},
    {"joint velocity", "m/s, rad/s", "largest velocity that a joint lets through", &SolveRecord::joint_velocity},
    {"momentum error", "", "e_m: relative, scaled by the masses", &SolveRecord::momentum_error},
    {"compl. error", "", "e_mu: relative", &SolveRecord::complementarity_error},
    {"MLCP error", "N s, m/s", "sum over the rows, box friction", &SolveRecord::delta_psi},
}};

std::string metrics_table(const ReportData& data, const Setting& s) {
  std::vector<Column> columns = {{"solver", "", ""}};
  for (const Metric& m : kMetrics) columns.push_back({m.title, m.unit, m.explanation});
  Table table(fmt::format("Residuals at {}", data.setting_text(s)), columns);
  for (const int k : data.ranking) {
    std::vector<Cell> row = {cell_text(setup(data, k).id)};
    for (const Metric& m : kMetrics) {
      std::vector<double> values;
      for (const auto& records : s.records) {
        const SolveRecord* r = records[static_cast<std::size_t>(k)];
        if (!data.attempted(r)) continue;
        const double v = r->*m.value;
        values.push_back(std::isnan(v) ? std::numeric_limits<double>::infinity() : v);
      }
      if (values.empty()) {
        row.push_back(cell_none("never attempted"));
        continue;
      }
      Cell cell = cell_residual(quantile(values, 0.5));
      cell.html += " / " + cell_residual(quantile(values, 0.95)).html;
      row.push_back(std::move(cell));
    }
    table.row(std::move(row));
  }
  return table.html(
      "Median / 95 % over attempted solves, by the judge, NCP versions for every solver; absolute values, in the "
      "infinity "
      "norm. Sorted by the median.",
      data.result.command);
}

bool has_other_laws(const ReportData& data) {
  for (const SolverSetup& s : data.result.solvers) {
    if (s.law != Law::ncp) return true;
  }
  return false;
}

std::string law_note(const ReportData& data) {
  if (!has_other_laws(data)) return "";
  return "<p>Solvers of another law (column “law”) are judged by the NCP like all others, so that one number compares "
         "everybody. The convex relaxation (<i>ccp</i>) lets a sliding contact separate with a normal velocity of "
         "friction coefficient times slip speed, and box friction (<i>box</i>) replaces the friction disc by a square: "
         "on "
         "contacts that slide their exact answers are not answers of the NCP. Such solves count as not solved here "
         "although the solver did its work; the column “solved, own law” says how often it did.</p>\n";
}

std::string reasons_table(const ReportData& data, const Setting& s) {
  std::array<int, kReasonCount> sums{};
  for (const SolverSummary& m : s.summaries) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += m.reasons[i];
  }
  std::vector<Column> columns = {{"solver", "", ""}, {"law", "", ""}, {"not solved", "", "of all samples"}};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Reason reason = static_cast<Reason>(i);
    if (sums[i] > 0) {
      columns.push_back({std::string(reason_title(reason)), "", std::string(reason_text(reason))});
    }
  }
  Table table(fmt::format("Samples not solved at {}", data.setting_text(s)), columns);
  for (const int k : data.ranking) {
    const SolverSummary& m = summary(s, k);
    if (m.solved == m.total) continue;
    std::vector<Cell> row = {cell_text(setup(data, k).id), cell_text(std::string(name_of(setup(data, k).law))),
                             cell_count(m.total - m.solved)};
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (sums[i] > 0) row.push_back(cell_count(m.reasons[i]));
    }
    table.row(std::move(row));
  }
  if (table.empty()) return "<p>At " + data.setting_text(s) + " every solver solved every sample.</p>\n";
  return table.html(
      "Number of samples by reason; every unsolved sample is counted once. Solvers that solved all are left out.",
      data.result.command);
}

std::string reasons_glossary(const ReportData& data) {
  std::array<int, kReasonCount> sums{};
  for (const Setting& s : data.settings) {
    for (const SolverSummary& m : s.summaries) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += m.reasons[i];
    }
  }
  std::string out = "<ul>\n";
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Reason reason = static_cast<Reason>(i);
    if (sums[i] > 0) {
      out += fmt::format("<li><b>{}</b> ({} solves): {}.</li>\n", reason_title(reason), sums[i],
                         escape_xml(std::string(reason_text(reason))));
    }
  }
  return out + "</ul>\n";
}

// Refused and too large, with the solver's words, grouped.
std::string messages_table(const ReportData& data) {
  struct Group {
    int solves = 0;
    std::set<int> systems;
  };
  std::map<std::tuple<int, int, std::string>, Group> groups;
  for (const SolveRecord& r : data.result.solves) {
    const bool refused = r.outcome == Outcome::refused;
    if (!refused && r.outcome != Outcome::too_large && (r.message.empty() || data.result.solved(r))) continue;
    Group& g = groups[{r.solver, static_cast<int>(r.outcome), r.message}];
    ++g.solves;
    g.systems.insert(data.result.samples[static_cast<std::size_t>(r.sample)].system);
  }
  Table table("In the solvers' own words", {{"solver", "", ""},
                                            {"end", "", "how these solves ended"},
                                            {"message", "", ""},
                                            {"solves", "", "over all tolerances and starts"},
                                            {"systems", "", ""}});
  for (const auto& [key, g] : groups) {
    const auto& [solver, outcome, message] = key;
    const Outcome end = static_cast<Outcome>(outcome);
    std::string systems;
    for (const int k : g.systems)
      systems += (systems.empty() ? "" : ", ") + data.result.systems[static_cast<std::size_t>(k)].id;
    const std::string words = !message.empty()            ? message
                              : end == Outcome::too_large ? "dense method, problem beyond the size limit"
                                                          : "no message";
    Cell long_systems = cell_text(systems);
    table.row({cell_text(setup(data, solver).id),
               cell_text(end == Outcome::refused     ? "refused"
                         : end == Outcome::too_large ? "too large"
                                                     : "attempted"),
               cell_text(words), cell_count(g.solves), long_systems});
  }
  return table.empty() ? "" : table.html("Solves that were refused or not tried, by message.", data.result.command);
}

std::string category_table(const ReportData& data, const Setting& s) {
  std::array<int, kProblemCategoryCount + 1> totals{};
  std::vector<std::array<int, kProblemCategoryCount + 1>> solved(data.result.solvers.size());
  for (std::size_t p = 0; p < s.samples.size(); ++p) {
    const std::size_t c =
        static_cast<std::size_t>(data.result.samples[static_cast<std::size_t>(s.samples[p])].category);
    ++totals[c];
    for (std::size_t k = 0; k < solved.size(); ++k) {
      const SolveRecord* r = s.records[p][k];
      solved[k][c] += r != nullptr && data.result.solved(*r);
    }
  }
  std::vector<Column> columns = {{"solver", "", ""}};
  for (std::size_t c = 0; c < totals.size(); ++c) {
    if (totals[c] > 0)
      columns.push_back({std::string(name_of(static_cast<ProblemCategory>(c))), "", "solved / samples"});
  }
  Table table(fmt::format("Solved by category at {}", data.setting_text(s)), columns);
  for (const int k : data.ranking) {
    std::vector<Cell> row = {cell_text(setup(data, k).id)};
    for (std::size_t c = 0; c < totals.size(); ++c) {
      if (totals[c] > 0) row.push_back(cell_share(solved[static_cast<std::size_t>(k)][c], totals[c]));
    }
    table.row(std::move(row));
  }
  return table.html("Samples solved, of all samples of the category.", data.result.command);
}

}  // namespace

std::string report_solvers(const ReportData& data) {
  if (data.result.solvers.empty()) return "";
  std::string out = folded("The solvers and their parameters", solver_list(data));
  if (data.settings.empty()) return out;
  out += law_note(data);
  for (std::size_t i = 0; i < data.settings.size(); ++i) {
    const Setting& s = data.settings[i];
    const std::string residuals = folded("All residuals at " + data.setting_text(s), metrics_table(data, s));
    const std::string tables = solver_table(data, s) + category_table(data, s) + residuals;
    out += i == 0 ? tables : folded("The same at " + data.setting_text(s), tables);
  }
  return out;
}

std::string report_failures(const ReportData& data) {
  if (data.settings.empty()) return "";
  std::string out = reasons_glossary(data);
  if (out == "<ul>\n</ul>\n") return "<p>None: every solver solved every sample.</p>\n";
  for (std::size_t i = 0; i < data.settings.size(); ++i) {
    const std::string table = reasons_table(data, data.settings[i]);
    out += i == 0 ? table : folded("The same at " + data.setting_text(data.settings[i]), table);
  }
  return out + messages_table(data);
}

}  // namespace sarrus
