// Order statistics, the noise test and power laws on numbers whose answer is known.
#include "sarrus/bench/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "sarrus/bench/scaling_fit.h"
#include "sarrus/math/random.h"

namespace sarrus::statistics_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Statistics, QuantilesByTheDocumentedRule) {
  const std::vector<double> v = {40, 10, 30, 20};
  EXPECT_EQ(quantile(v, 0), 10);
  EXPECT_EQ(quantile(v, 1), 40);
  EXPECT_EQ(quantile(v, 0.5), 25);
  EXPECT_EQ(quantile(v, 0.25), 17.5);
  EXPECT_NEAR(quantile(v, 0.95), 38.5, 1e-12);
  EXPECT_EQ(quantile({7}, 0.5), 7);
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Statistics, InfiniteValuesCountAsLargest) {
  EXPECT_EQ(quantile({1, 2, kInfinity}, 0.5), 2);
  EXPECT_EQ(quantile({1, kInfinity, kInfinity}, 0.5), kInfinity);
  EXPECT_EQ(quantile({1, 2, kInfinity}, 0.75), kInfinity);
}

TEST(Statistics, GeometricMean) {
  EXPECT_NEAR(geometric_mean({1, 100}), 10, 1e-12);
  EXPECT_NEAR(geometric_mean({2, 4, 8}), 4, 1e-12);
  EXPECT_TRUE(std::isnan(geometric_mean({})));
  EXPECT_EQ(geometric_mean({1, kInfinity}), kInfinity);
  EXPECT_THROW(geometric_mean({1, 0}), std::invalid_argument);
}

TEST(Statistics, BoxOfTheNumbersFromZeroToHundred) {
  std::vector<double> v;
  for (int i = 100; i >= 0; --i) v.push_back(i);
  const BoxStatistics b = box_statistics(v);
  EXPECT_EQ(b.count, 101);
  EXPECT_NEAR(b.low, 5, 1e-12);
  EXPECT_EQ(b.quarter, 25);
  EXPECT_EQ(b.median, 50);
  EXPECT_EQ(b.three_quarters, 75);
  EXPECT_NEAR(b.high, 95, 1e-12);
  EXPECT_EQ(b.outliers.size(), 10u);
}

TEST(RatioTest, FindsATrueSlowdownAndNotPureNoise) {
  Random random(3);
  std::vector<double> a, noise, slower;
  for (int i = 0; i < 200; ++i) {
    const double t = random.log_uniform(1e-5, 1e-2);
    a.push_back(t * std::exp(0.05 * random.normal()));
    noise.push_back(t * std::exp(0.05 * random.normal()));
    slower.push_back(1.2 * t * std::exp(0.05 * random.normal()));
  }
  const RatioTest same = compare_ratios(a, noise, 0.03);
  EXPECT_FALSE(same.beyond_noise);
  EXPECT_LE(same.lower, 1);
  EXPECT_GE(same.upper, 1);
  const RatioTest worse = compare_ratios(a, slower, 0.03);
  EXPECT_TRUE(worse.beyond_noise);
  EXPECT_NEAR(worse.ratio, 1.2, 0.03);
  EXPECT_LT(worse.lower, worse.ratio);
  EXPECT_GT(worse.upper, worse.ratio);
  EXPECT_TRUE(compare_ratios(slower, a, 0.03).beyond_noise);
}

// An effect may be certain and still too small to matter, or large and seen too rarely to be certain.
TEST(RatioTest, NeedsAnEffectAndEnoughPairs) {
  const std::vector<double> ones(20, 1.0);
  EXPECT_FALSE(compare_ratios(ones, std::vector<double>(20, 1.02), 0.03).beyond_noise);
  EXPECT_TRUE(compare_ratios(ones, std::vector<double>(20, 1.04), 0.03).beyond_noise);
  EXPECT_TRUE(compare_ratios(ones, std::vector<double>(20, 1 / 1.04), 0.03).beyond_noise);
  const RatioTest few = compare_ratios({1, 1, 1}, {2, 2, 2}, 0.03);
  EXPECT_NEAR(few.ratio, 2, 1e-12);
  EXPECT_FALSE(few.beyond_noise);
  EXPECT_EQ(few.upper, kInfinity);
  EXPECT_THROW(compare_ratios({1}, {1, 2}, 0.03), std::invalid_argument);
}

// n = 8: P(Binomial < 1) = 1/256, P(Binomial < 2) = 9/256.
TEST(RatioTest, IntervalOfTheSignTest) {
  const std::vector<double> ones(8, 1.0);
  const std::vector<double> b = {3, 1, 2, 4, 8, 5, 7, 6};
  const RatioTest outer = compare_ratios(ones, b, 0, 2.0 / 256 + 1e-9);
  EXPECT_NEAR(outer.ratio, std::sqrt(20.0), 1e-12);  // median of the logarithms
  EXPECT_NEAR(outer.lower, 1, 1e-12);
  EXPECT_NEAR(outer.upper, 8, 1e-12);
  const RatioTest inner = compare_ratios(ones, b, 0, 18.0 / 256 + 1e-9);
  EXPECT_NEAR(inner.lower, 2, 1e-12);
  EXPECT_NEAR(inner.upper, 7, 1e-12);
  EXPECT_TRUE(inner.beyond_noise);
  EXPECT_EQ(compare_ratios(ones, b, 0, 1.9 / 256).upper, kInfinity);
}

TEST(PowerFit, RecoversExactPowerLaws) {
  std::vector<double> x, y;
  for (const double n : {10, 30, 100, 300, 1000}) {
    x.push_back(n);
    y.push_back(2.5e-6 * std::pow(n, 1.5));
  }
  const PowerFit fit = fit_power(x, y);
  EXPECT_NEAR(fit.exponent, 1.5, 1e-12);
  EXPECT_NEAR(fit.factor, 2.5e-6, 1e-17);
  EXPECT_NEAR(fit.spread, 0, 1e-12);
  EXPECT_EQ(fit.points, 5);
  y[0] = 1;  // below the range that is fitted
  EXPECT_NEAR(fit_power(x, y, 100).exponent, 1.5, 1e-12);
  EXPECT_EQ(fit_power(x, y, 100).points, 3);
}

// log y = 0, 1, 0 over log x = 0, 1, 2: slope 0, residuals -1/3, 2/3, -1/3, spread sqrt(2/3 / 1 / 2).
TEST(PowerFit, SpreadIsTheStandardError) {
  const double e = std::exp(1.0);
  const PowerFit fit = fit_power({1, e, e * e}, {1, e, 1});
  EXPECT_NEAR(fit.exponent, 0, 1e-12);
  EXPECT_NEAR(fit.spread, std::sqrt(1.0 / 3), 1e-12);
}

TEST(PowerFit, TwoPointsHaveNoSpreadAndOneNoFit) {
  const PowerFit two = fit_power({1, 2}, {1, 4});
  EXPECT_NEAR(two.exponent, 2, 1e-12);
  EXPECT_TRUE(std::isnan(two.spread));
  EXPECT_TRUE(std::isnan(fit_power({3, 3}, {1, 4}).exponent));
  EXPECT_TRUE(std::isnan(fit_power({}, {}).exponent));
  EXPECT_EQ(fit_power({1, 2, 4}, {1, 0, kInfinity}).points, 1);
}

}  // namespace
}  // namespace sarrus::statistics_test
