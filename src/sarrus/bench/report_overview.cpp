// Head of the report, systems and samples.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>

#include "sarrus/bench/plot.h"
#include "sarrus/bench/report_sections.h"
#include "sarrus/bench/report_table.h"
#include "sarrus/bench/statistics.h"

namespace sarrus {
namespace {

void fact(const char* key, const std::string& value, std::string& out) {
  if (!value.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", key, value);
}

std::string plural(std::size_t n, const char* one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); }

std::string facts(const BenchResult& r) {
  std::string out = "<dl class=\"facts\">\n";
  fact("Command", "<code>" + escape_xml(r.command) + "</code>", out);
  const MachineInfo& m = r.machine;
  fact("Machine",
       escape_xml(m.cpu) + fmt::format(", {}", plural(static_cast<std::size_t>(std::max(0, m.cores)), "core")) +
           (m.ranks > 1 ? fmt::format(", {} MPI ranks", m.ranks) : std::string()),
       out);
  fact("Built with", escape_xml(m.compiler), out);
  fact("Version", "sarrus " + escape_xml(m.version), out);
  std::string levels;
  for (const double t : r.tolerances) levels += (levels.empty() ? "" : ", ") + power_text(t);
  if (!r.solves.empty()) {
    fact("Tolerances", levels + " (relative natural map of the NCP, by the judge)", out);
    fact("Success criterion",
         "natural map ≤ " + power_text(r.success) +
             " in SI units, whatever the tolerance (a weaker measure than solved)",
         out);
    fact("Times", fmt::format("smallest of {}, one thread", plural(static_cast<std::size_t>(r.repeats), "repeat")),
         out);
  }
  std::string content;
  const auto add = [&content](std::size_t n, const char* one) {
    if (n > 0) content += (content.empty() ? "" : ", ") + plural(n, one);
  };
  add(r.systems.size(), "system");
  add(r.samples.size(), "sample");
  add(r.solvers.size(), "solver");
  add(r.solves.size(), "solve");
  add(r.runs.size(), "simulation");
  add(r.scaling.size(), "scaling point");
  fact("Content", content, out);
  if (r.seconds > 0) fact("Took", number_text(r.seconds / 60) + " min", out);
  return out + "</dl>\n";
}

std::string solver_phrase(const ReportData& data, const SolverSummary& s) {
  std::string text =
      fmt::format("<b>{}</b> solved {} of {} samples",
                  escape_xml(data.result.solvers[static_cast<std::size_t>(s.solver)].id), s.solved, s.total);
  if (s.solved > 0) {
    text += fmt::format(" (median {} µs; {} times the fastest solver of each sample)", number_text(1e6 * s.time_median),
                        number_text(s.slowdown));
  }
  return text;
}

std::string headline(const ReportData& data) {
  std::string out;
  if (!data.settings.empty() && !data.ranking.empty()) {
    const Setting& s = data.settings.front();
    const auto place = [&](std::size_t i) -> const SolverSummary& {
      return s.summaries[static_cast<std::size_t>(data.ranking[i])];
    };
    out += fmt::format("At {}, {}", data.setting_text(s), solver_phrase(data, place(0)));
    if (data.ranking.size() > 1) out += "; next " + solver_phrase(data, place(1));
    if (data.ranking.size() > 2) out += "; third " + solver_phrase(data, place(2));
    out += ". ";
    int unsolved = 0;
    for (const auto& row : s.records) {
      unsolved += std::none_of(row.begin(), row.end(),
                               [&](const SolveRecord* r) { return r != nullptr && data.result.solved(*r); });
    }
    out += unsolved == 0 ? "Every sample was solved by some solver. "
                         : fmt::format("{} of {} samples were solved by nobody. ", unsolved, s.samples.size());
    if (s.start == Start::cold && data.settings.size() > 1 && data.settings[1].level == s.level) {
      const SolverSummary& warm = data.settings[1].summaries[static_cast<std::size_t>(data.ranking[0])];
      out += fmt::format("From a warm start the first solves {} of {} in a median of {} µs. ", warm.solved, warm.total,
                         number_text(1e6 * warm.time_median));
    }
  }
  if (!data.result.runs.empty()) {
    const RunRecord* worst = nullptr;
    int stopped = 0;
    for (const RunRecord& r : data.result.runs) {
      stopped += r.steps < r.planned_steps;
      if (worst == nullptr || r.joint_gap > worst->joint_gap) worst = &r;
    }
    out += fmt::format("Of {} {} stopped early", plural(data.result.runs.size(), "whole simulation"),
                       stopped == 0 ? std::string("none") : std::to_string(stopped));
    if (worst->joint_gap > 0) {
      out += fmt::format("; the widest joint gap is {:.1e} m ({} with {})", worst->joint_gap,
                         escape_xml(data.result.systems[static_cast<std::size_t>(worst->system)].id),
                         escape_xml(worst->solver));
    }
    out += ". ";
  }
  out += scaling_headline(data.result);
  return out.empty() ? out : "<p class=\"lead\">" + out + "</p>\n";
}

std::string how_to_read(const ReportData& data) {
  std::string out = "<ul>\n<li>Click on the head of a column to sort a table; point at it for what it means.</li>\n";
  if (!data.settings.empty()) {
    out +=
        "<li>A <i>sample</i> is the constraint problem of one step of a system. Every solver gets the same samples, "
        "cold "
        "(from zero impulses) and warm (from the impulses of the step before).</li>\n"
        "<li><i>Solved</i> means: the judge, which is the same code for all solvers, finds a relative natural map of "
        "the "
        "NCP (Coulomb friction) within the tolerance, whatever the solver said and whatever law it solves.</li>\n"
        "<li>Failures are counted everywhere and dropped nowhere; the section “Why solves failed” has the reason of "
        "each "
        "one.</li>\n"
        "<li>A solver has the same colour, dash and mark in all pictures; names appear when a line is pointed "
        "at.</li>\n";
  }
  return folded("How to read this page", out + "</ul>\n", false);
}

const std::string& command(const ReportData& data) { return data.result.command; }

std::string systems_table(const ReportData& data) {
  Table table("Systems", {{"system", "", ""},
                          {"set", "", "the paper or set that it belongs to"},
                          {"bodies", "", ""},
                          {"joints", "", ""},
                          {"loops", "", "independent kinematic loops"},
                          {"joint rows", "", "rows of all joints"},
                          {"rank", "", "of the joint rows; less than the rows: redundant"},
                          {"mobility", "", "degrees of freedom that the joints leave"},
                          {"mass ratio", "", "largest over smallest mass"},
                          {"time step", "ms", ""},
                          {"duration", "s", "of the reference run"},
                          {"what it is", "", ""}});
  for (const SystemInfo& s : data.result.systems) {
    table.row({cell_text(s.id), cell_text(s.group), cell_count(s.bodies), cell_count(s.joints), cell_count(s.loops),
               cell_count(s.joint_rows), cell_count(s.joint_rank), cell_count(s.mobility), cell_number(s.mass_ratio, 4),
               cell_number(1e3 * s.dt), cell_number(s.duration), cell_text(s.summary)});
  }
  return table.empty() ? "" : table.html("The mechanisms and their reference runs.", command(data));
}

std::string samples_table(const ReportData& data) {
  const BenchResult& r = data.result;
  if (r.samples.empty()) return "";
  constexpr std::size_t kCategories = kProblemCategoryCount + 1;
  std::vector<std::array<int, kCategories>> counts(r.systems.size());
  std::array<int, kCategories> sums{};
  struct Largest {
    int rows = 0, contacts = 0;
    std::vector<double> assembly;  // s
  };
  std::vector<Largest> largest(r.systems.size());
  for (const SampleInfo& s : r.samples) {
    const std::size_t system = static_cast<std::size_t>(s.system), c = static_cast<std::size_t>(s.category);
    ++counts[system][c];
    ++sums[c];
    largest[system].rows = std::max(largest[system].rows, s.rows);
    largest[system].contacts = std::max(largest[system].contacts, s.contacts);
    largest[system].assembly.push_back(s.seconds_assembly);
  }
  std::vector<Column> columns = {{"system", "", ""}};
  for (std::size_t c = 0; c < kCategories; ++c) {
    if (c + 1 < kCategories || sums[c] > 0) {
      columns.push_back({std::string(name_of(static_cast<ProblemCategory>(c))), "", "samples of this category"});
    }
  }
  columns.push_back({"all", "", "samples"});
  columns.push_back({"most rows", "", "rows of the largest sample"});
  columns.push_back({"most contacts", "", "of one sample"});
  columns.push_back({"assembly", "µs", "median time to build the problem: collision, rows, free velocity"});
  Table table("Samples", columns);
  for (std::size_t k = 0; k <= r.systems.size(); ++k) {
    const bool last = k == r.systems.size();
    std::vector<Cell> cells = {cell_text(last ? "all systems" : r.systems[k].id)};
    int total = 0;
    for (std::size_t c = 0; c < kCategories; ++c) {
      const int n = last ? sums[c] : counts[k][c];
      total += n;
      if (c + 1 < kCategories || sums[c] > 0) cells.push_back(cell_count(n));
    }
    Largest size = last ? Largest{} : largest[k];
    if (last) {
      for (const Largest& l : largest) {
        size.rows = std::max(size.rows, l.rows);
        size.contacts = std::max(size.contacts, l.contacts);
        size.assembly.insert(size.assembly.end(), l.assembly.begin(), l.assembly.end());
      }
    }
    cells.push_back(cell_count(total));
    cells.push_back(cell_count(size.rows));
    cells.push_back(cell_count(size.contacts));
    const double assembly = quantile(size.assembly, 0.5);
    cells.push_back(assembly > 0 ? cell_number(1e6 * assembly) : cell_none("not measured"));
    table.row(std::move(cells));
  }
  return table.html(
      "Number of samples by system and category of the constraint problem, their size, and the time to assemble one.",
      command(data));
}

}  // namespace

std::string report_head(const ReportData& data) { return headline(data) + facts(data.result) + how_to_read(data); }

std::string report_systems(const ReportData& data) { return systems_table(data) + samples_table(data); }

}  // namespace sarrus
