// What a box plot shows of benchmark numbers, and a test whether a ratio of times is more than noise.
#pragma once

#include <vector>

#include "sarrus/math/statistics.h"

namespace sarrus {

// exp of the mean logarithm; values must be positive. NaN of none, infinite if one is.
double geometric_mean(const std::vector<double>& values);

// Five numbers of a box plot, and what lies outside of the whiskers.
struct BoxStatistics {
  double low = 0;  // 5 %
  double quarter = 0;
  double median = 0;
  double three_quarters = 0;
  double high = 0;  // 95 %
  std::vector<double> outliers;
  int count = 0;
};
BoxStatistics box_statistics(const std::vector<double>& values);

// The typical ratio b / a of n paired positive measurements.
//   ratio          = exp(median of log(b_i / a_i))
//   [lower, upper] = [exp x_(k), exp x_(n+1-k)] of the sorted logarithms x_(1) <= ... <= x_(n), with the largest k for
//                    which 2 P(Binomial(n, 1/2) < k) <= alpha: the interval of the sign test. It holds the true median
//                    with probability of at least 1 - alpha whatever the noise is distributed like. With too few pairs
//                    for any k it is unknown: (0, infinity).
// `beyond_noise`: the interval does not hold 1 and |log ratio| > log(1 + minimal_effect). Of m such tests at alpha
// each, at least one errs with probability of at most m alpha: choose alpha by it.
struct RatioTest {
  double ratio = 1;
  double lower = 0;
  double upper = 0;
  int pairs = 0;
  bool beyond_noise = false;
};
RatioTest compare_ratios(const std::vector<double>& a, const std::vector<double>& b, double minimal_effect,
                         double alpha = 0.01);

}  // namespace sarrus
