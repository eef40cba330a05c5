#include "sarrus/bench/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "sarrus/bench/report_table.h"
#include "sarrus/bench/statistics.h"

namespace sarrus {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kShortest = 1e-9;  // s: a clock that saw nothing still costs something
constexpr std::size_t kMainSolvers = 8;

double solved_seconds(const BenchResult& result, const SolveRecord* r) {
  return ReportData::attempted(r) && result.solved(*r) ? std::max(r->seconds, kShortest)
                                                       : std::numeric_limits<double>::infinity();
}

// A residual that is not a number says as little as an infinite one, and sorts.
double known(double residual) { return std::isnan(residual) ? std::numeric_limits<double>::infinity() : residual; }

std::vector<double> positive(const std::vector<double>& values) {
  std::vector<double> out;
  std::copy_if(values.begin(), values.end(), std::back_inserter(out), [](double v) { return v > 0; });
  return out;
}

// Columns of one solver over a setting.
struct Gathered {
  std::vector<double> time, first, iteration, iterations, factorisations, own, accuracy, instructions, slowdown;
};

Gathered gather(const BenchResult& result, const Setting& s, std::size_t solver, const std::vector<double>& fastest) {
  Gathered g;
  for (std::size_t p = 0; p < s.samples.size(); ++p) {
    const SolveRecord* r = s.records[p][solver];
    if (!ReportData::attempted(r)) continue;
    g.time.push_back(r->seconds);
    g.first.push_back(r->seconds_first);
    g.iteration.push_back(r->seconds_per_iteration());
    g.iterations.push_back(r->iterations);
    g.factorisations.push_back(r->factorisations);
    g.own.push_back(known(r->own_law_relative));
    g.accuracy.push_back(known(r->natural_map_relative));
    g.instructions.push_back(r->instructions);
    const double t = solved_seconds(result, r);
    if (std::isfinite(t)) g.slowdown.push_back(t / fastest[p]);
  }
  return g;
}

SolverSummary summarise(const ReportData& data, const Setting& s, std::size_t solver,
                        const std::vector<double>& fastest) {
  const BenchResult& result = data.result;
  const double tolerance = result.tolerances[static_cast<std::size_t>(s.level)];
  SolverSummary sum;
  sum.solver = static_cast<int>(solver);
  sum.total = static_cast<int>(s.samples.size());
  for (const auto& row : s.records) {
    const SolveRecord* r = row[solver];
    sum.attempted += ReportData::attempted(r);
    const bool solved = ReportData::attempted(r) && result.solved(*r);
    sum.solved += solved;
    sum.success += ReportData::attempted(r) && r->natural_map <= result.success;
    sum.solved_own_law += ReportData::attempted(r) && r->own_law_relative <= tolerance;
    if (!solved) ++sum.reasons[static_cast<std::size_t>(data.reason(r, s))];
  }
  const Gathered g = gather(result, s, solver, fastest);
  sum.time_median = quantile(g.time, 0.5);
  sum.time_p95 = quantile(g.time, 0.95);
  sum.first_median = quantile(positive(g.first), 0.5);
  sum.iteration_median = quantile(positive(g.iteration), 0.5);
  sum.iterations_median = quantile(g.iterations, 0.5);
  sum.iterations_p95 = quantile(g.iterations, 0.95);
  sum.factorisations_median = quantile(g.factorisations, 0.5);
  sum.own_law_median = quantile(g.own, 0.5);
  sum.accuracy_median = quantile(g.accuracy, 0.5);
  sum.instructions = quantile(positive(g.instructions), 0.5);
  sum.slowdown = g.slowdown.empty() ? kNone : geometric_mean(g.slowdown);
  return sum;
}

std::vector<Setting> settings_of(const BenchResult& result) {
  std::map<std::pair<int, Start>, std::map<int, std::vector<const SolveRecord*>>> found;
  for (const SolveRecord& r : result.solves) {
    auto& row = found[{r.level, r.start}][r.sample];
    row.resize(result.solvers.size(), nullptr);
    row[static_cast<std::size_t>(r.solver)] = &r;
  }
  std::vector<Setting> settings;
  for (const auto& [key, rows] : found) {
    Setting s;
    s.level = key.first;
    s.start = key.second;
    for (const auto& [sample, row] : rows) {
      s.samples.push_back(sample);
      s.records.push_back(row);
    }
    settings.push_back(std::move(s));
  }
  std::stable_sort(settings.begin(), settings.end(), [&result](const Setting& a, const Setting& b) {
    const double ta = result.tolerances[static_cast<std::size_t>(a.level)];
    const double tb = result.tolerances[static_cast<std::size_t>(b.level)];
    return ta != tb ? ta < tb : a.start < b.start;
  });
  return settings;
}

std::vector<int> main_solvers(const BenchResult& result, const std::vector<int>& ranking) {
  std::vector<int> chosen;
  const auto take = [&chosen](int s) {
    if (chosen.size() < kMainSolvers && std::find(chosen.begin(), chosen.end(), s) == chosen.end()) chosen.push_back(s);
  };
  for (const Law law : {Law::ncp, Law::ccp, Law::box}) {
    const auto best = std::find_if(ranking.begin(), ranking.end(), [&result, law](int s) {
      return result.solvers[static_cast<std::size_t>(s)].law == law;
    });
    if (best != ranking.end()) take(*best);
  }
  for (const int s : ranking) take(s);
  std::sort(chosen.begin(), chosen.end(), [&ranking](int a, int b) {
    return std::find(ranking.begin(), ranking.end(), a) < std::find(ranking.begin(), ranking.end(), b);
  });
  return chosen;
}

}  // namespace

std::string_view reason_title(Reason reason) {
  static constexpr std::array<std::string_view, kReasonCount> kTitles = {
      "refused",         "too large", "other law",        "not finite", "infeasible",
      "iteration limit", "stalled",   "beyond tolerance", "not tried"};
  return kTitles[static_cast<std::size_t>(reason)];
}

std::string_view reason_text(Reason reason) {
  static constexpr std::array<std::string_view, kReasonCount> kTexts = {
      "the solver does not take such a problem; its words are listed below",
      "not tried: a dense method on a problem beyond the size limit",
      "converged to the tolerance by the solver's own contact law (CCP or box), which is not Coulomb's: expected where "
      "contacts slide",
      "some number of the answer was NaN or infinite",
      "the solver says that it has no answer: rows that its method does not cover (rigid ones for the compliant "
      "methods, "
      "inequalities for a linear solve), or no solution",
      "out of iterations before the tolerance was met",
      "progress stopped before the tolerance was met",
      "the solver reported convergence, but the judge sees a residual beyond the tolerance",
      "no record of this solver on this sample",
  };
  return kTexts[static_cast<std::size_t>(reason)];
}

bool ReportData::attempted(const SolveRecord* r) {
  return r != nullptr && r->outcome != Outcome::refused && r->outcome != Outcome::too_large;
}

std::string_view start_text(Start start) { return start == Start::cold ? "cold" : "warm"; }

std::string_view cost_name(Cost cost) {
  return cost == Cost::time ? "time" : cost == Cost::iterations ? "iterations" : "accuracy";
}

ReportData::ReportData(const BenchResult& r) : result(r), settings(settings_of(r)) {
  for (Setting& s : settings) {
    std::vector<double> fastest;
    for (const auto& row : s.records) {
      double best = std::numeric_limits<double>::infinity();
      for (const SolveRecord* record : row) best = std::min(best, solved_seconds(result, record));
      fastest.push_back(best);
    }
    for (std::size_t k = 0; k < result.solvers.size(); ++k) s.summaries.push_back(summarise(*this, s, k, fastest));
  }
  ranking.resize(result.solvers.size());
  std::iota(ranking.begin(), ranking.end(), 0);
  if (!settings.empty()) {
    const std::vector<SolverSummary>& sums = settings.front().summaries;
    std::stable_sort(ranking.begin(), ranking.end(), [&sums](int a, int b) {
      const SolverSummary& x = sums[static_cast<std::size_t>(a)];
      const SolverSummary& y = sums[static_cast<std::size_t>(b)];
      if (x.solved != y.solved) return x.solved > y.solved;
      return x.solved > 0 && x.slowdown < y.slowdown;
    });
  }
  main = main_solvers(result, ranking);
  // The solvers that most pictures show get the eight plain colours.
  looks.assign(result.solvers.size(), -1);
  int next = 0;
  for (const int s : main) looks[static_cast<std::size_t>(s)] = next++;
  for (int& look : looks) {
    if (look < 0) look = next++;
  }
}

std::string ReportData::setting_text(const Setting& s) const {
  return fmt::format("tolerance {}, {} start", power_text(result.tolerances[static_cast<std::size_t>(s.level)]),
                     start_text(s.start));
}

Reason ReportData::reason(const SolveRecord* r, const Setting& s) const {
  if (r == nullptr) return Reason::missing;
  if (r->outcome == Outcome::refused) return Reason::refused;
  if (r->outcome == Outcome::too_large) return Reason::too_large;
  if (r->outcome == Outcome::non_finite) return Reason::not_finite;
  const bool own_law_met = r->own_law_relative <= result.tolerances[static_cast<std::size_t>(s.level)];
  if (own_law_met && result.solvers[static_cast<std::size_t>(r->solver)].law != Law::ncp) return Reason::other_law;
  if (r->outcome == Outcome::infeasible) return Reason::infeasible;
  if (r->outcome == Outcome::max_iterations) return Reason::iteration_limit;
  if (r->outcome == Outcome::stalled) return Reason::stalled;
  return std::isfinite(r->natural_map_relative) ? Reason::beyond : Reason::not_finite;
}

CostTable ReportData::costs(const Setting& s, Cost cost, int wanted) const {
  CostTable table;
  for (const SolverSetup& solver : result.solvers) table.solvers.push_back(solver.id);
  for (std::size_t p = 0; p < s.samples.size(); ++p) {
    const SampleInfo& sample = result.samples[static_cast<std::size_t>(s.samples[p])];
    if (wanted != kEveryCategory && static_cast<int>(sample.category) != wanted) continue;
    std::vector<double> row;
    for (const SolveRecord* r : s.records[p]) {
      double c = std::numeric_limits<double>::infinity();
      if (cost == Cost::accuracy) {
        if (attempted(r) && r->natural_map <= result.success) c = std::max(known(r->natural_map_relative), 1e-16);
      } else if (attempted(r) && result.solved(*r)) {
        c = cost == Cost::time ? std::max(r->seconds, kShortest) : std::max(1, r->iterations);
      }
      row.push_back(c);
    }
    table.cost.push_back(std::move(row));
  }
  return table;
}

}  // namespace sarrus
