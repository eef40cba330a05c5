// Pictures of the solves: performance profiles, accuracy against time, convergence.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "sarrus/bench/plot.h"
#include "sarrus/bench/plot_frame.h"
#include "sarrus/bench/report_sections.h"
#include "sarrus/bench/report_table.h"
#include "sarrus/bench/statistics.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr int kSmall = 284;          // px, four in a row
constexpr int kProfileSteps = 240;   // per curve of a full picture
constexpr int kSmallSteps = 70;      // per curve of a small one
constexpr std::size_t kCloud = 120;  // points per solver
constexpr double kExact = 1e-16;     // smallest residual told apart
constexpr double kHighestTau = 1e6;  // end of the axis of profiles at most

std::string cost_axis(Cost cost) {
  switch (cost) {
    case Cost::time:
      return "τ: time over that of the fastest solver";
    case Cost::iterations:
      return "τ: iterations over the fewest of any solver";
    case Cost::accuracy:
      break;
  }
  return "τ: residual over the smallest of any solver";
}

struct Profile {
  Plot plot;
  std::vector<std::string> none;  // solvers that solved nothing
  int problems = 0;
};

// `only`: the solvers to draw; ratios are to the best of all.
Profile profile(const ReportData& data, const Setting& s, Cost cost, int category, const std::vector<int>& only,
                bool small) {
  const CostTable table = data.costs(s, cost, category);
  const std::vector<ProfileCurve> curves = performance_profile(table);
  Profile p;
  p.problems = static_cast<int>(table.cost.size());
  double end = 10;
  for (const int k : only) {
    if (!curves[at(k)].ratios.empty()) end = std::max(end, curves[at(k)].ratios.back());
  }
  end = std::min(kHighestTau, std::pow(10, std::ceil(std::log10(end) - 1e-9)));
  p.plot.x = {small ? std::string("τ") : cost_axis(cost), Scale::logarithmic, 1, end};
  p.plot.y = {small ? "share of samples" : "share of samples within τ", Scale::linear, 0, 1};
  p.plot.width = small ? kSmall : kReportWidth;
  p.plot.height = small ? 220 : 450;
  p.plot.legend = !small;
  std::vector<int> order = only;
  std::stable_sort(order.begin(), order.end(), [&curves](int a, int b) {
    const ProfileCurve &x = curves[at(a)], &y = curves[at(b)];
    return x.solved() != y.solved() ? x.solved() > y.solved() : x.best() > y.best();
  });
  for (const int k : order) {
    if (curves[at(k)].ratios.empty()) {
      p.none.push_back(table.solvers[at(k)]);
      continue;
    }
    Series line = profile_series(curves[at(k)], end, small ? kSmallSteps : kProfileSteps);
    line.look = data.looks[at(k)];
    line.no_marks = true;
    line.name += fmt::format(" {:.0f} / {:.0f} %", 100 * curves[at(k)].best(), 100 * curves[at(k)].solved());
    p.plot.series.push_back(std::move(line));
  }
  return p;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : ", ") + escape_xml(n);
  return out;
}

std::string cost_caption(const ReportData& data, Cost cost) {
  if (cost == Cost::accuracy) {
    return fmt::format(
        "Cost: relative natural map of the NCP, at least 1e-16; an answer beyond the success criterion (natural "
        "map {}) is a failure.",
        power_text(data.result.success));
  }
  return cost == Cost::time ? "Cost: time of a solve; a sample that is not solved is a failure."
                            : "Cost: iterations, at least one; iterations of different methods are different work.";
}

std::string full_profile(const ReportData& data, const Setting& s, Cost cost) {
  Profile p = profile(data, s, cost, kEveryCategory, data.ranking, false);
  std::string caption = fmt::format(
      "Share of the {} samples on which the solver&apos;s cost is within τ times the best. {} In the legend: share "
      "where "
      "it is the best, and where it succeeds at all.",
      p.problems, cost_caption(data, cost));
  if (!p.none.empty()) caption += " Not drawn, since they succeeded nowhere: " + joined(p.none) + ".";
  return figure_html(fmt::format("Performance profile, {}, at {}", cost_name(cost), data.setting_text(s)),
                     to_inline_svg(p.plot), caption, data.result.command);
}

std::vector<LegendEntry> main_legend(const ReportData& data) {
  std::vector<LegendEntry> entries;
  for (const int k : data.main) entries.push_back({data.result.solvers[at(k)].id, data.looks[at(k)]});
  return entries;
}

std::string category_profiles(const ReportData& data, const Setting& s, Cost cost) {
  std::string pictures = legend_svg(main_legend(data), kReportWidth, false);
  for (int c = 0; c < kProblemCategoryCount; ++c) {
    Profile p = profile(data, s, cost, c, data.main, true);
    if (p.problems == 0) continue;
    p.plot.title = fmt::format("{} ({})", name_of(static_cast<ProblemCategory>(c)), p.problems);
    pictures += to_inline_svg(p.plot);
  }
  return figure_html(
      fmt::format("Performance profiles by category, {}, at {}", cost_name(cost), data.setting_text(s)), pictures,
      fmt::format("{} In brackets the number of samples. Ratios are to the best of all solvers; drawn are "
                  "the {} best, with the best of each law among them.",
                  cost_caption(data, cost), data.main.size()),
      data.result.command);
}

// Every n-th point, so that at most `most` are left.
Series thinned(const Series& s, std::size_t most) {
  if (s.x.size() <= most) return s;
  Series out = s;
  out.x.clear();
  out.y.clear();
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t from = i * s.x.size() / most;
    out.x.push_back(s.x[from]);
    out.y.push_back(s.y[from]);
  }
  return out;
}

std::string scatter(const ReportData& data, const Setting& s) {
  Plot plot;
  plot.x = {"time of a solve [µs]", Scale::logarithmic, 0, 0};
  plot.y = {"relative natural map of the NCP", Scale::logarithmic, 0, 0};
  plot.width = kReportWidth;
  plot.height = 480;
  plot.mark_radius = 5.5;
  std::size_t drawn = 0, all = 0;
  std::vector<Series> centres;
  for (const int k : data.ranking) {
    Series cloud;
    cloud.name = data.result.solvers[at(k)].id;
    cloud.look = data.looks[at(k)];
    cloud.cloud = true;
    for (const auto& row : s.records) {
      const SolveRecord* r = row[at(k)];
      if (r == nullptr || !std::isfinite(r->natural_map_relative) || !(r->seconds > 0)) continue;
      cloud.x.push_back(1e6 * r->seconds);
      cloud.y.push_back(std::clamp(r->natural_map_relative, kExact, 1.0));
    }
    if (cloud.x.empty()) continue;
    Series centre = cloud;
    centre.cloud = false;
    centre.points_only = true;
    centre.x = {quantile(cloud.x, 0.5)};
    centre.y = {quantile(cloud.y, 0.5)};
    all += cloud.x.size();
    plot.series.push_back(thinned(cloud, kCloud));
    drawn += plot.series.back().x.size();
    centres.push_back(std::move(centre));
  }
  plot.series.insert(plot.series.end(), centres.begin(), centres.end());
  const double tolerance = data.result.tolerances[at(s.level)];
  Series limit;
  limit.name = "tolerance " + power_text(tolerance);
  limit.background = true;
  double lower = std::numeric_limits<double>::infinity(), upper = 0;
  for (const Series& c : plot.series) {
    for (const double x : c.x) {
      lower = std::min(lower, x);
      upper = std::max(upper, x);
    }
  }
  const AxisRange ends = axis_range(plot.x, lower, upper);
  limit.x = {ends.lower, ends.upper};
  limit.y = {tolerance, tolerance};
  plot.series.push_back(limit);
  return figure_html(
      fmt::format("Accuracy against time at {}", data.setting_text(s)), to_inline_svg(plot),
      fmt::format(
          "Large marks: median time and median residual of each solver over its attempted solves; faint marks: "
          "single solves ({} of {} drawn, evenly chosen). Low and left is good. Residuals below 1e-16 are drawn "
          "there, above 1 at the upper edge; answers that are not finite have no mark.",
          drawn, all),
      data.result.command);
}

std::string curve_picture(const ReportData& data, int sample, std::vector<int>& seen) {
  Plot plot;
  const SampleInfo& info = data.result.samples[at(sample)];
  plot.title = fmt::format("{} ({})", info.id, name_of(info.category));
  plot.x = {"iterations", Scale::logarithmic, 0, 0};
  plot.y = {"relative natural map (NCP)", Scale::logarithmic, 0, 0};
  plot.width = 590;
  plot.height = 330;
  plot.legend = false;
  for (const CurveRecord& c : data.result.curves) {
    if (c.sample != sample) continue;
    Series line;
    line.name = data.result.solvers[at(c.solver)].id;
    line.look = data.looks[at(c.solver)];
    for (std::size_t i = 0; i < std::min(c.iterations.size(), c.residual.size()); ++i) {
      line.x.push_back(c.iterations[i]);
      line.y.push_back(std::max(kExact, c.residual[i]));
    }
    if (std::find(seen.begin(), seen.end(), c.solver) == seen.end()) seen.push_back(c.solver);
    plot.series.push_back(std::move(line));
  }
  return to_inline_svg(plot);
}

}  // namespace

std::string report_profiles(const ReportData& data) {
  if (data.settings.empty() || data.result.solvers.empty()) return "";
  std::string out =
      "<p>A performance profile (Dolan and Moré) shows for every factor τ on how many of the samples a solver costs at "
      "most τ "
      "times as much as the best solver of that sample. The left end is how often it is the best, the height at the "
      "right "
      "end how often it succeeds.</p>\n";
  for (std::size_t i = 0; i < data.settings.size(); ++i) {
    const Setting& s = data.settings[i];
    std::string full, small;
    for (const Cost cost : {Cost::time, Cost::iterations, Cost::accuracy}) {
      full += full_profile(data, s, cost);
      small += category_profiles(data, s, cost);
    }
    const std::string by_category = folded("By category at " + data.setting_text(s), small, i == 0);
    out += i == 0 ? full + by_category : folded("The same at " + data.setting_text(s), full + by_category);
  }
  return out;
}

std::string report_accuracy(const ReportData& data) {
  std::string out;
  for (std::size_t i = 0; i < data.settings.size(); ++i) {
    const std::string picture = scatter(data, data.settings[i]);
    out += i == 0 ? picture : folded("The same at " + data.setting_text(data.settings[i]), picture);
  }
  return out;
}

std::string report_curves(const ReportData& data) {
  std::vector<int> samples, seen;
  for (const CurveRecord& c : data.result.curves) {
    if (std::find(samples.begin(), samples.end(), c.sample) == samples.end()) samples.push_back(c.sample);
  }
  if (samples.empty()) return "";
  std::string pictures;
  for (const int sample : samples) pictures += curve_picture(data, sample, seen);
  std::vector<LegendEntry> legend;
  for (const int k : data.ranking) {
    if (std::find(seen.begin(), seen.end(), k) != seen.end()) {
      legend.push_back({data.result.solvers[at(k)].id, data.looks[at(k)]});
    }
  }
  return figure_html(
      "Convergence", legend_svg(legend, kReportWidth) + pictures,
      "Residual of cold solves that were cut off after so many iterations, by the judge, one picture per "
      "sample. Iterations of different methods are different work. Solvers of another law level off where "
      "their law departs from the NCP.",
      data.result.command);
}

}  // namespace sarrus
