// Performance profiles on a table small enough to count by hand.
#include "sarrus/bench/performance_profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace sarrus::performance_profile_test {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

// Four problems; the last one is solved by nobody.
CostTable table() { return {{"a", "b", "c"}, {{1, 2, 10}, {4, 2, kFailed}, {3, 3, 6}, {kFailed, kFailed, kFailed}}}; }

TEST(PerformanceProfile, CountsWinsTiesAndFailures) {
  const std::vector<ProfileCurve> p = performance_profile(table());
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(p[0].ratios, (std::vector<double>{1, 1, 2}));
  EXPECT_EQ(p[1].ratios, (std::vector<double>{1, 1, 2}));
  EXPECT_EQ(p[2].ratios, (std::vector<double>{2, 10}));
  EXPECT_EQ(p[0].best(), 0.5);
  EXPECT_EQ(p[2].best(), 0.0);
  EXPECT_EQ(p[0].solved(), 0.75);
  EXPECT_EQ(p[2].solved(), 0.5);
  EXPECT_EQ(p[2].at(1.99), 0.0);
  EXPECT_EQ(p[2].at(2), 0.25);
  EXPECT_EQ(p[2].at(9.99), 0.25);
  EXPECT_EQ(p[2].at(10), 0.5);
}

TEST(PerformanceProfile, DrawsStepsThatEndAtTheShareSolved) {
  const Plot plot = profile_plot(table(), "time", "time");
  ASSERT_EQ(plot.series.size(), 3u);
  EXPECT_EQ(plot.x.upper, 10);
  for (const Series& s : plot.series) {
    ASSERT_EQ(s.x.size(), s.y.size());
    EXPECT_EQ(s.x.front(), 1);
    EXPECT_EQ(s.x.back(), 10);
    for (std::size_t i = 1; i < s.x.size(); ++i) {
      EXPECT_GE(s.x[i], s.x[i - 1]);
      EXPECT_GE(s.y[i], s.y[i - 1]);
    }
  }
  EXPECT_EQ(plot.series[0].y.back(), 0.75);
}

// Thinned steps stay below the true curve, by no more than one part of the axis, and end at the same height.
TEST(PerformanceProfile, ThinnedStepsKeepTheCurve) {
  ProfileCurve curve{"a", {}, 1000};
  for (int i = 0; i < 900; ++i) curve.ratios.push_back(1 + 0.11 * i);
  const double end = 100;
  const int steps = 50;
  const Series s = profile_series(curve, end, steps);
  EXPECT_LE(s.x.size(), 2u * steps + 2);
  EXPECT_EQ(s.y.back(), curve.at(end));
  const double part = std::pow(end, 1.0 / steps);
  for (std::size_t i = 0; i + 1 < s.x.size(); ++i) {
    EXPECT_LE(s.y[i], curve.at(s.x[i]));
    EXPECT_GE(s.y[i], curve.at(s.x[i] / part / 1.0001 - 0.11));
  }
}

TEST(PerformanceProfile, RefusesCostsThatMeanNothing) {
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(performance_profile({{"a", "b"}, {{1, bad}}}), std::invalid_argument) << bad;
  }
  EXPECT_THROW(performance_profile({{"a", "b"}, {{1}}}), std::invalid_argument);
  EXPECT_EQ(performance_profile({{"a"}, {}})[0].solved(), 0);
}

}  // namespace
}  // namespace sarrus::performance_profile_test
