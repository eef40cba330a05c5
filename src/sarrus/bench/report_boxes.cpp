// Box plots by system: a few solvers side by side, and every solver system by system.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "sarrus/bench/box_plot.h"
#include "sarrus/bench/report_sections.h"
#include "sarrus/bench/report_table.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr std::size_t kTogether = 6;  // solvers side by side
constexpr std::size_t kSystemsInARow = 11;

// Time of solved samples, or residual of answers; the rest failed.
Box box_of(const ReportData& data, const Setting& s, Cost cost, int solver, int system) {
  Box box;
  for (std::size_t p = 0; p < s.samples.size(); ++p) {
    if (data.result.samples[at(s.samples[p])].system != system) continue;
    const SolveRecord* r = s.records[p][at(solver)];
    const bool attempted = ReportData::attempted(r);
    if (cost == Cost::time && attempted && data.result.solved(*r)) {
      box.values.push_back(1e6 * r->seconds);
    } else if (cost == Cost::accuracy && attempted && std::isfinite(r->natural_map_relative)) {
      box.values.push_back(std::max(1e-16, r->natural_map_relative));
    } else {
      ++box.failed;
    }
  }
  return box;
}

Axis axis_of(Cost cost) {
  if (cost == Cost::time) return {"time of a solved sample [µs]", Scale::logarithmic, 0, 0};
  return {"relative natural map of the NCP", Scale::logarithmic, 0, 0};
}

std::vector<int> systems_of(const ReportData& data, const Setting& s) {
  std::vector<int> systems;
  for (const int p : s.samples) systems.push_back(data.result.samples[at(p)].system);
  std::sort(systems.begin(), systems.end());
  systems.erase(std::unique(systems.begin(), systems.end()), systems.end());
  return systems;
}

std::string words(Cost cost) {
  return cost == Cost::time ? "Time of solved samples; failed: not solved."
                            : "Residual of all attempted solves; failed: refused, not tried, or not finite.";
}

constexpr const char* kBoxText =
    "Box: quartiles, line: median, whiskers: 5 % to 95 %, dots: beyond (at most the six farthest on each side).";

// The main solvers side by side for a row of systems.
std::string row_of_boxes(const ReportData& data, const Setting& s, Cost cost, std::span<const int> systems) {
  BoxPlot plot;
  plot.y = axis_of(cost);
  plot.width = kReportWidth;
  plot.height = 330;
  for (const int k : systems) plot.categories.push_back(data.result.systems[at(k)].id);
  for (std::size_t i = 0; i < std::min(kTogether, data.main.size()); ++i) {
    BoxSeries series;
    series.name = data.result.solvers[at(data.main[i])].id;
    series.look = data.looks[at(data.main[i])];
    for (const int k : systems) series.boxes.push_back(box_of(data, s, cost, data.main[i], k));
    plot.series.push_back(std::move(series));
  }
  return to_inline_svg(plot);
}

std::string together(const ReportData& data, const Setting& s, Cost cost) {
  const std::vector<int> systems = systems_of(data, s);
  // Rows of equal length, none too crowded to read.
  const std::size_t rows = (systems.size() + kSystemsInARow - 1) / kSystemsInARow;
  std::string pictures;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t from = i * systems.size() / rows;
    const std::size_t to = (i + 1) * systems.size() / rows;
    pictures += row_of_boxes(data, s, cost, std::span(systems).subspan(from, to - from));
  }
  return figure_html(fmt::format("{} by system at {}", cost == Cost::time ? "Time" : "Accuracy", data.setting_text(s)),
                     pictures, words(cost) + " " + kBoxText, data.result.command);
}

std::string one_system(const ReportData& data, const Setting& s, Cost cost, int system) {
  BoxPlot plot;
  plot.title = data.result.systems[at(system)].id;
  plot.y = axis_of(cost);
  plot.width = kReportWidth;
  plot.height = 330;
  BoxSeries series;
  for (const int k : data.ranking) {
    plot.categories.push_back(data.result.solvers[at(k)].id);
    series.boxes.push_back(box_of(data, s, cost, k, system));
    series.boxes.back().look = data.looks[at(k)];
  }
  plot.series.push_back(std::move(series));
  return to_inline_svg(plot);
}

}  // namespace

std::string report_boxes(const ReportData& data) {
  if (data.settings.empty() || data.result.solvers.empty()) return "";
  const Setting& s = data.settings.front();
  std::string out;
  for (const Cost cost : {Cost::time, Cost::accuracy}) out += together(data, s, cost);
  std::string all;
  for (const int system : systems_of(data, s)) {
    std::string pictures;
    for (const Cost cost : {Cost::time, Cost::accuracy}) pictures += one_system(data, s, cost, system);
    all += figure_html(fmt::format("{}: time and accuracy of every solver at {}", data.result.systems[at(system)].id,
                                   data.setting_text(s)),
                       pictures, words(Cost::time) + " " + words(Cost::accuracy) + " " + kBoxText, data.result.command);
  }
  return out + folded("Every solver, system by system", all);
}

}  // namespace sarrus
