// Performance profiles on a table small enough to count by hand.
#include "sarrus/bench/performance_profile.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace sarrus {
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

TEST(PerformanceProfile, RefusesCostsThatMeanNothing) {
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(performance_profile({{"a", "b"}, {{1, bad}}}), std::invalid_argument) << bad;
  }
  EXPECT_THROW(performance_profile({{"a", "b"}, {{1}}}), std::invalid_argument);
  EXPECT_EQ(performance_profile({{"a"}, {}})[0].solved(), 0);
}

}  // namespace
}  // namespace sarrus
