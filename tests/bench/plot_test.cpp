// Plots and convergence curves: well-formed pictures, honest numbers.
#include "sarrus/bench/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "sarrus/bench/convergence.h"
#include "sarrus/problem/judge.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::plot_test {
namespace {

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

TEST(Plot, TicksAreRoundNumbersInsideTheRange) {
  EXPECT_EQ(axis_ticks(1e-3, 1e2, Scale::logarithmic), (std::vector<double>{1e-3, 1e-2, 1e-1, 1, 10, 100}));
  EXPECT_EQ(axis_ticks(1, 10, Scale::logarithmic), (std::vector<double>{1, 2, 5, 10}));
  EXPECT_LE(axis_ticks(1e-16, 1e4, Scale::logarithmic).size(), 12u);
  const std::vector<double> linear = axis_ticks(0, 1, Scale::linear);
  ASSERT_EQ(linear.size(), 6u);
  EXPECT_NEAR(linear[1], 0.2, 1e-15);
  EXPECT_EQ(axis_ticks(-1, 1, Scale::linear).front(), -1);
}

Plot two_lines() {
  Plot p;
  p.title = "a < b & \"c\"";
  p.x = {"iterations", Scale::logarithmic, 0, 0};
  p.y = {"residual", Scale::logarithmic, 0, 0};
  p.series.push_back({"first", {1, 10, 100}, {1, 1e-3, 1e-6}, false, false});
  p.series.push_back({"second", {1, 2, 4}, {1e-1, 0, 1e-2}, false, false});
  return p;
}

TEST(Plot, DrawsEverySeriesAndEscapesNames) {
  const std::string svg = to_svg(two_lines());
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_NE(svg.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_EQ(count(svg, "class=\"s c"), 4);  // a line and a legend entry each
  EXPECT_EQ(count(svg, "<circle"), 3 + 2 + 2);
  EXPECT_EQ(count(svg, "http"), 1);  // the name space: nothing is fetched
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
}

// A value that a logarithmic axis cannot show leaves a hole, not a wrong line.
TEST(Plot, ValuesThatCannotBeShownBreakTheLine) {
  Plot p = two_lines();
  const std::string svg = to_svg(p);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  const std::size_t second = svg.find("class=\"s c1\"");
  const std::string path = svg.substr(second, svg.find("/>", second) - second);
  EXPECT_EQ(count(path, "M"), 2);
  EXPECT_EQ(count(path, "L"), 0);
  p.series[0].y = {std::nan(""), std::numeric_limits<double>::infinity(), -1};
  EXPECT_EQ(to_svg(p).find("nan"), std::string::npos);
}

TEST(Plot, EmptyPlotIsStillAPicture) {
  Plot p;
  p.x = {"x", Scale::logarithmic, 0, 0};
  p.y = {"y", Scale::linear, 0, 0};
  const std::string svg = to_svg(p);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

// Curves are the judge's: they fall to the tolerance for a solver of the law, and stay above it for one that is not.
TEST(Convergence, CurvesAreJudgedFromOutside) {
  const std::vector<ConvergenceProblem> problems = convergence_problems(false);
  ASSERT_EQ(problems.size(), 3u);
  for (const ConvergenceProblem& p : problems) EXPECT_EQ(p.problem.rows_of(BlockKind::contact) % 3, 0) << p.name;
  const std::vector<ConvergencePoint> good = convergence(problems[0].problem, "pgs-ncp", 1e-9, 500);
  ASSERT_GT(good.size(), 3u);
  EXPECT_LE(good.back().residual, 1e-9);
  EXPECT_GT(good.front().residual, good.back().residual);
  for (std::size_t i = 1; i < good.size(); ++i) EXPECT_GT(good[i].iterations, good[i - 1].iterations);
  const std::vector<ConvergencePoint> cascade = convergence(problems[2].problem, "cascade", 1e-9, 500);
  EXPECT_LE(cascade.back().residual, 1e-9);
}

TEST(Convergence, CompliantVariantHasNoRigidRow) {
  for (const ConvergenceProblem& p : convergence_problems(true)) {
    for (const double R : p.problem.R) ASSERT_GT(R, 0) << p.name;
  }
  EXPECT_TRUE(needs_compliance("drum-qcqp"));
  EXPECT_FALSE(needs_compliance("sap"));
}

}  // namespace
}  // namespace sarrus::plot_test
