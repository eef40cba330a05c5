// The numbers of the report, derived once from the result: solves by level and start, one summary per solver, ranks.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/bench/performance_profile.h"
#include "sarrus/bench/result.h"

namespace sarrus {

// Why a solve does not count as solved, each solve once, in this order.
enum class Reason : std::uint8_t {
  refused,
  too_large,
  other_law,  // the solver met the tolerance in its own law, which is not the NCP
  not_finite,
  infeasible,
  iteration_limit,
  stalled,
  beyond,   // it said converged, the judge sees more than the tolerance
  missing,  // no record
};
inline constexpr int kReasonCount = 9;
std::string_view reason_title(Reason reason);
std::string_view reason_text(Reason reason);  // a sentence for the reader
std::string_view start_text(Start start);

struct SolverSummary {
  int solver = 0;
  int total = 0;  // samples of the setting
  int attempted = 0;
  int solved = 0;
  int solved_own_law = 0;
  int success = 0;  // BenchResult::success, raw natural map
  std::array<int, kReasonCount> reasons{};
  // Over attempted solves unless said otherwise.
  double time_median = 0, time_p95 = 0;           // s
  double first_median = 0, iteration_median = 0;  // s; NaN: not measurable
  double iterations_median = 0, iterations_p95 = 0;
  double factorisations_median = 0;
  double own_law_median = 0, accuracy_median = 0;
  double slowdown = 0;      // geometric mean of time over the fastest's, over solved samples; NaN: none solved
  double instructions = 0;  // median; NaN: not counted
};

// One tolerance and one start: what was solved there.
struct Setting {
  int level = 0;
  Start start = Start::cold;
  std::vector<int> samples;                              // that somebody tried
  std::vector<std::vector<const SolveRecord*>> records;  // by place in `samples`, then by solver; null: none
  std::vector<SolverSummary> summaries;                  // by solver
};

enum class Cost : std::uint8_t { time, iterations, accuracy };
std::string_view cost_name(Cost cost);

struct ReportData {
  explicit ReportData(const BenchResult& result);

  const BenchResult& result;
  std::vector<Setting> settings;  // tightest tolerance first, cold before warm
  std::vector<int> ranking;       // solvers, best first: most solved in the first setting, then the smallest slowdown
  std::vector<int> main;          // up to eight for crowded pictures: the best of every law, then by rank
  std::vector<int> looks;         // by solver: colour, dash and mark all over the page

  std::string setting_text(
      const Setting& s) const;  // "tolerance 1e-9, cold start"
                                // Neither missing nor refused nor too large: there is an answer to judge.
  static bool attempted(const SolveRecord* r);
  Reason reason(const SolveRecord* r, const Setting& s) const;
  // Rows of `s` with this category (all: kProblemCategoryCount + 1) as costs; failures cost infinity.
  CostTable costs(const Setting& s, Cost cost, int category) const;
};

inline constexpr int kEveryCategory = kProblemCategoryCount + 1;

}  // namespace sarrus
