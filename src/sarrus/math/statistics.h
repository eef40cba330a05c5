// Order statistics of measured numbers: times, iterations, residuals.
//
// With the n values in order x_0 <= ... <= x_(n-1) and h = (n - 1) q, the quantile is
//   x_floor(h) + (h - floor(h)) (x_ceil(h) - x_floor(h))
// (linear between neighbours, the usual default). Infinite values count as largest; a quantile that touches one is
// infinite. Of no values it is NaN: nothing was measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace sarrus {

inline double sorted_quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double h = static_cast<double>(sorted.size() - 1) * std::clamp(q, 0.0, 1.0);
  const double low = sorted[static_cast<std::size_t>(std::floor(h))];
  const double high = sorted[static_cast<std::size_t>(std::ceil(h))];
  if (low == high) return low;  // also when both are infinite
  return low + (h - std::floor(h)) * (high - low);
}

inline double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, q);
}

// Quantile 0.5, but 0 of no values: summaries of runs print it as it is.
inline double median(std::vector<double> values) { return values.empty() ? 0.0 : quantile(std::move(values), 0.5); }

// Nearest rank: the smallest value that at least `fraction` of all values do not exceed; 0 of no values.
inline double percentile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  const double rank = std::ceil(fraction * static_cast<double>(values.size()));
  const std::size_t index = std::min(values.size(), static_cast<std::size_t>(std::max(rank, 1.0))) - 1;
  const auto it = values.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(values.begin(), it, values.end());
  return *it;
}

}  // namespace sarrus
