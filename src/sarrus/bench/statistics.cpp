#include "sarrus/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "sarrus/math/random.h"

namespace sarrus {
namespace {

constexpr int kResamples = 1000;
constexpr std::size_t kFewestPairs = 6;

double sorted_quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double h = static_cast<double>(sorted.size() - 1) * std::clamp(q, 0.0, 1.0);
  const double low = sorted[static_cast<std::size_t>(std::floor(h))];
  const double high = sorted[static_cast<std::size_t>(std::ceil(h))];
  if (low == high) return low;  // also when both are infinite
  return low + (h - std::floor(h)) * (high - low);
}

// The middle of scratch memory that may be reordered; of an even number the mean of the middle two.
double median_in_place(std::vector<double>& v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  if (v.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(v.begin(), middle));
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, q);
}

double median_of(std::vector<double> values) { return quantile(std::move(values), 0.5); }

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
                         std::uint64_t seed) {
  if (a.size() != b.size()) throw std::invalid_argument("paired measurements of different number");
  std::vector<double> logs;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] > 0 && b[i] > 0)) throw std::invalid_argument("ratio of a measurement that is not positive");
    logs.push_back(std::log(b[i] / a[i]));
  }
  RatioTest test;
  test.pairs = static_cast<int>(logs.size());
  test.upper = std::numeric_limits<double>::infinity();
  if (logs.empty()) return test;
  test.ratio = std::exp(median_of(logs));
  if (logs.size() < kFewestPairs) return test;
  Random random(seed);
  std::vector<double> medians, drawn(logs.size());
  for (int k = 0; k < kResamples; ++k) {
    for (double& d : drawn) d = logs[static_cast<std::size_t>(random.below(static_cast<int>(logs.size())))];
    medians.push_back(median_in_place(drawn));
  }
  std::sort(medians.begin(), medians.end());
  test.lower = std::exp(sorted_quantile(medians, 0.005));
  test.upper = std::exp(sorted_quantile(medians, 0.995));
  test.beyond_noise = (test.lower > 1 || test.upper < 1) && std::abs(std::log(test.ratio)) > std::log1p(minimal_effect);
  return test;
}

}  // namespace sarrus
