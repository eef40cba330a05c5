#include "sarrus/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace sarrus {
namespace {

// The largest k with 2 P(Binomial(n, 1/2) < k) <= alpha, 0 if there is none.
std::size_t sign_test_rank(std::size_t n, double alpha) {
  const double count = static_cast<double>(n);
  double below = 0;  // P(Binomial < k)
  std::size_t k = 0;
  while (k < n) {
    const double i = static_cast<double>(k);
    below += std::exp(std::lgamma(count + 1) - std::lgamma(i + 1) - std::lgamma(count - i + 1) - count * std::log(2.0));
    if (2 * below > alpha) break;
    ++k;
  }
  return k;
}

}  // namespace

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) {
    if (!(v > 0)) throw std::invalid_argument("geometric mean of a value that is not positive");
    sum += std::log(v);
  }
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : std::exp(sum / static_cast<double>(values.size()));
}

BoxStatistics box_statistics(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  BoxStatistics box;
  box.count = static_cast<int>(sorted.size());
  box.low = sorted_quantile(sorted, 0.05);
  box.quarter = sorted_quantile(sorted, 0.25);
  box.median = sorted_quantile(sorted, 0.5);
  box.three_quarters = sorted_quantile(sorted, 0.75);
  box.high = sorted_quantile(sorted, 0.95);
  for (const double v : sorted) {
    if (v < box.low || v > box.high) box.outliers.push_back(v);
  }
  return box;
}

RatioTest compare_ratios(const std::vector<double>& a, const std::vector<double>& b, double minimal_effect,
                         double alpha) {
  if (a.size() != b.size()) throw std::invalid_argument("paired measurements of different number");
  std::vector<double> logs;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] > 0 && b[i] > 0)) throw std::invalid_argument("ratio of a measurement that is not positive");
    logs.push_back(std::log(b[i] / a[i]));
  }
  std::sort(logs.begin(), logs.end());
  RatioTest test;
  test.pairs = static_cast<int>(logs.size());
  test.upper = std::numeric_limits<double>::infinity();
  if (logs.empty()) return test;
  test.ratio = std::exp(sorted_quantile(logs, 0.5));
  const std::size_t k = sign_test_rank(logs.size(), alpha);
  if (k == 0) return test;
  test.lower = std::exp(logs[k - 1]);
  test.upper = std::exp(logs[logs.size() - k]);
  test.beyond_noise = (test.lower > 1 || test.upper < 1) && std::abs(std::log(test.ratio)) > std::log1p(minimal_effect);
  return test;
}

}  // namespace sarrus
