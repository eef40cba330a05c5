#include "sarrus/bench/performance_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace sarrus {

double ProfileCurve::at(double tau) const {
  if (problems == 0) return 0;
  const auto within = std::upper_bound(ratios.begin(), ratios.end(), tau) - ratios.begin();
  return static_cast<double>(within) / problems;
}

std::vector<ProfileCurve> performance_profile(const CostTable& table) {
  std::vector<ProfileCurve> curves;
  for (const std::string& s : table.solvers) curves.push_back({s, {}, static_cast<int>(table.cost.size())});
  for (const std::vector<double>& row : table.cost) {
    if (row.size() != curves.size()) throw std::invalid_argument("performance profile: a row has another length");
    for (const double t : row) {
      if (!(t > 0)) throw std::invalid_argument(fmt::format("performance profile: a cost is {}", t));
    }
    const double best = row.empty() ? 0.0 : *std::min_element(row.begin(), row.end());
    if (!std::isfinite(best)) continue;
    for (std::size_t s = 0; s < row.size(); ++s) {
      if (std::isfinite(row[s])) curves[s].ratios.push_back(row[s] / best);
    }
  }
  for (ProfileCurve& c : curves) std::sort(c.ratios.begin(), c.ratios.end());
  return curves;
}

Plot profile_plot(const CostTable& table, const std::string& title, const std::string& cost_name) {
  const std::vector<ProfileCurve> curves = performance_profile(table);
  double end = 2;
  for (const ProfileCurve& c : curves) {
    if (!c.ratios.empty()) end = std::max(end, c.ratios.back());
  }
  Plot plot;
  plot.title = title;
  plot.x = {fmt::format("tau: {} relative to the best solver", cost_name), Scale::logarithmic, 1, end};
  plot.y = {"share of problems within tau", Scale::linear, 0, 1};
  for (const ProfileCurve& c : curves) plot.series.push_back(profile_series(c, end, std::numeric_limits<int>::max()));
  return plot;
}

Series profile_series(const ProfileCurve& c, double end, int steps) {
  Series s;
  s.name = c.solver;
  s.x.push_back(1);
  s.y.push_back(c.best());
  // Parts of the axis, numbered from the left.
  const double length = std::log(std::max(end, 1.0));
  const auto part = [&](double tau) { return std::min(std::floor(std::log(tau) / length * steps), steps - 1.0); };
  for (std::size_t i = 0; i < c.ratios.size(); ++i) {
    const double tau = c.ratios[i];
    if (tau <= 1) continue;
    if (tau > end) break;
    const bool more_follow = i + 1 < c.ratios.size() && c.ratios[i + 1] <= end && part(c.ratios[i + 1]) == part(tau);
    if (more_follow) continue;
    s.x.push_back(tau);
    s.y.push_back(s.y.back());
    s.x.push_back(tau);
    s.y.push_back(c.at(tau));
  }
  s.x.push_back(end);
  s.y.push_back(s.y.back());
  return s;
}

}  // namespace sarrus
