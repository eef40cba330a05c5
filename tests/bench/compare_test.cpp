// Comparison of two runs: finds what was changed on purpose, and nothing in noise.
#include "sarrus/bench/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/fake_result.h"
#include "sarrus/bench/compare_builds.h"
#include "sarrus/math/error.h"

namespace sarrus::compare_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const GroupComparison& group(const Comparison& c, const std::string& solver, double tolerance, Start start) {
  const auto g = std::find_if(c.groups.begin(), c.groups.end(), [&](const GroupComparison& x) {
    return x.solver == solver && x.tolerance == tolerance && x.start == start;
  });
  EXPECT_NE(g, c.groups.end());
  return *g;
}

// A run that failed has times of the steps before: they are no result.
TEST(CompareBuilds, TellsFailedRunsAndNumbersThatAreNone) {
  nlohmann::json j = {{"status", "ok"},
                      {"us_per_step", {{"median", 1.5}, {"p95", 2}, {"max", 3}}},
                      {"max", {{"joint_gap_m", nullptr}, {"natural_map_relative", 1e-10}}},
                      {"energy", {{"drift_relative", 0}}},
                      {"non_converged_steps", 4}};
  const auto read = [&j] { return build_run_from_json(j.dump(), "a build"); };
  EXPECT_EQ(read().median, 1.5);
  EXPECT_TRUE(std::isnan(read().p99)) << "the summary has none";
  EXPECT_EQ(read().worst, 3);
  EXPECT_TRUE(std::isnan(read().gap));
  EXPECT_EQ(read().missed, 4);
  EXPECT_EQ(read().failure, "");
  j["status"] = "failed";
  j["message"] = "joint 'knee' would open";
  EXPECT_EQ(read().failure, "joint 'knee' would open");
  j.erase("max");
  EXPECT_THROW(read(), InputError);
}

TEST(Compare, EqualRunsHaveNoDifference) {
  const Comparison c = compare(fake_result(), fake_result());
  EXPECT_EQ(c.groups.size(), 12u);
  EXPECT_FALSE(c.worse);
  EXPECT_FALSE(c.better);
  EXPECT_TRUE(c.only_a.empty() && c.only_b.empty() && c.changed_samples.empty());
  EXPECT_EQ(group(c, "cascade", 1e-9, Start::cold).time.ratio, 1);
  EXPECT_EQ(group(c, "cascade", 1e-9, Start::cold).samples, 40);
  EXPECT_TRUE(has(to_text(c), "Got worse beyond noise: nothing"));
}

// Promised is one false alarm in a hundred comparisons of the same code.
TEST(Compare, PureNoiseIsNotADifference) {
  int alarms = 0;
  for (std::uint64_t seed = 100; seed < 200; ++seed) {
    const Comparison c = compare(fake_result(seed), fake_result(seed + 10000));
    alarms += c.worse || c.better;
  }
  EXPECT_LE(alarms, 2);
}

TEST(Compare, FindsASlowdownOfOneSolver) {
  BenchResult b = fake_result(2);
  for (SolveRecord& s : b.solves) {
    if (s.solver == 0) s.seconds *= 1.2;
  }
  const Comparison c = compare(fake_result(1), b);
  EXPECT_TRUE(c.worse);
  EXPECT_FALSE(c.better);
  for (const Start start : {Start::cold, Start::warm}) {
    const GroupComparison& g = group(c, "cascade", 1e-9, start);
    EXPECT_EQ(g.time_verdict, Verdict::worse);
    EXPECT_NEAR(g.time.ratio, 1.2, 0.05);
    EXPECT_EQ(group(c, "convex", 1e-9, start).time_verdict, Verdict::same);
  }
  EXPECT_TRUE(has(to_text(c), "cascade at 1e-9, cold: time x 1.")) << to_text(c);
  const Comparison back = compare(b, fake_result(1));
  EXPECT_FALSE(back.worse);
  EXPECT_TRUE(back.better);
}

TEST(Compare, NamesLostAndGainedSamples) {
  BenchResult b = fake_result();
  for (SolveRecord& s : b.solves) {
    if (s.solver == 0 && s.level == 1 && s.start == Start::cold && s.sample == 7) s.natural_map_relative = 1e-3;
  }
  const Comparison c = compare(fake_result(), b);
  const GroupComparison& g = group(c, "cascade", 1e-9, Start::cold);
  EXPECT_EQ(g.lost, (std::vector<std::string>{"stack/70"}));
  EXPECT_EQ(g.solved_a, 40);
  EXPECT_EQ(g.solved_b, 39);
  EXPECT_EQ(g.less_accurate, g.lost);
  EXPECT_TRUE(c.worse);
  EXPECT_TRUE(has(to_text(c), "lost 1 sample (stack/70)"));
  const Comparison back = compare(b, fake_result());
  EXPECT_FALSE(back.worse);
  EXPECT_EQ(group(back, "cascade", 1e-9, Start::cold).gained, g.lost);
}

// Iterations are exact: no noise hides their change.
TEST(Compare, IterationsCountWithoutNoise) {
  BenchResult b = fake_result();
  for (SolveRecord& s : b.solves) s.iterations += s.solver == 0 ? 1 : 0;
  const Comparison c = compare(fake_result(), b);
  EXPECT_EQ(group(c, "cascade", 1e-6, Start::warm).iterations_verdict, Verdict::worse);
  EXPECT_EQ(group(c, "convex", 1e-6, Start::warm).iterations_verdict, Verdict::same);
}

TEST(Compare, ChangedProblemsAreSaidAndLeftOut) {
  BenchResult b = fake_result();
  b.samples[3].hash = "another";
  for (SolveRecord& s : b.solves) {
    if (s.sample == 3) s.natural_map_relative = 1;
  }
  const Comparison c = compare(fake_result(), b);
  EXPECT_EQ(c.changed_samples, (std::vector<std::string>{"stack/30"}));
  EXPECT_EQ(group(c, "cascade", 1e-9, Start::cold).samples, 39);
  EXPECT_FALSE(c.worse);
  EXPECT_TRUE(has(to_text(c), "The problem itself changed in 1 sample"));
}

TEST(Compare, EntriesOfOneRunOnly) {
  BenchResult b = fake_result(1, 39);
  b.solves.pop_back();
  b.solvers[1].id = "renamed";
  const Comparison c = compare(fake_result(), b);
  EXPECT_EQ(c.only_a,
            (std::vector<std::string>{"1 solves of picky at 1e-9, warm", "sample stack/390", "solver convex"}));
  EXPECT_EQ(c.only_b, (std::vector<std::string>{"solver renamed"}));
  EXPECT_EQ(c.groups.size(), 8u);
}

TEST(Compare, TimesOfDifferentMachinesAreNotCompared) {
  BenchResult b = fake_result();
  b.machine.cpu = "Another processor";
  for (SolveRecord& s : b.solves) s.seconds *= 3;
  const Comparison c = compare(fake_result(), b);
  EXPECT_FALSE(c.same_machine);
  EXPECT_FALSE(c.worse);
  EXPECT_EQ(c.groups[0].time_verdict, Verdict::unknown);
  EXPECT_TRUE(has(to_text(c), "Different machines: times are not compared"));
}

TEST(Compare, SimulationsAndScaling) {
  BenchResult a = fake_result(), b = fake_result();
  RunRecord run;
  run.solver = "cascade";
  run.steps = run.planned_steps = 100;
  run.joint_gap = 1e-8;
  run.step_median = 1e-4;
  a.runs = {run};
  run.joint_gap = 1e-5;
  run.step_median = 1.05e-4;  // one median against another: within 15 %
  b.runs = {run};
  ScalingRecord point;
  point.family = "chain";
  point.bodies = 1000;
  point.step_median = 1e-2;
  point.bytes = 1e7;
  a.scaling = {point};
  point.bytes = 2e7;
  point.step_median = 5e-3;
  b.scaling = {point};
  const Comparison c = compare(a, b);
  ASSERT_EQ(c.runs.size(), 1u);
  EXPECT_EQ(c.runs[0].quantity, "joint gap [m]");
  EXPECT_EQ(c.runs[0].verdict, Verdict::worse);
  ASSERT_EQ(c.scaling.size(), 2u);
  EXPECT_EQ(c.scaling[0].verdict, Verdict::better);
  EXPECT_EQ(c.scaling[1].verdict, Verdict::worse);
  EXPECT_TRUE(has(to_text(c), "walker, cascade: joint gap [m] 1e-08 -> 1e-05"));
}

TEST(Compare, JsonSaysTheSame) {
  BenchResult b = fake_result(2);
  for (SolveRecord& s : b.solves) s.seconds *= 1.3;
  const Comparison c = compare(fake_result(1), b);
  const nlohmann::json json = nlohmann::json::parse(to_json(c));
  EXPECT_EQ(json["worse"], true);
  EXPECT_EQ(json["groups"].size(), c.groups.size());
  EXPECT_EQ(json["groups"][0]["solver"], "cascade");
  EXPECT_EQ(json["groups"][0]["time"]["verdict"], "worse");
  EXPECT_NEAR(json["overall_time_ratio"].get<double>(), 1.3, 0.05);
  EXPECT_EQ(to_json(c), to_json(compare(fake_result(1), b)));  // nothing random
}

}  // namespace
}  // namespace sarrus::compare_test
