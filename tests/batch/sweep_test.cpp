// Sweeps: what a specification means, which values runs get, and that what was finished is not done again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "sarrus/math/error.h"
#include "sarrus/model/parameters.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/sweep/results.h"

namespace sarrus::sweep_test {
namespace {

namespace fs = std::filesystem;

SweepPlan plan_of(const std::string& text) {
  SweepSpec spec = parse_sweep(text);
  Model model = make_scene(spec.scene);
  return {std::move(spec), std::move(model)};
}

std::string refusal(const std::string& text) {
  try {
    (void)plan_of(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

TEST(Sweep, GridsAreProducts) {
  const SweepPlan plan = plan_of(R"({"scene": "fourbar_free", "options": {"duration": 0.02}, "vary": [
    {"target": "body.*.mass", "values": [1, 2], "factor": true},
    {"target": "material.default.friction", "from": 0.1, "to": 0.9, "count": 5},
    {"target": "gravity.z", "from": 0.01, "to": 100, "count": 3, "spacing": "log"}]})");
  ASSERT_EQ(plan.runs(), 30);
  EXPECT_EQ(plan.values(0), (std::vector<double>{1, 0.1, 0.01}));
  EXPECT_NEAR(plan.values(1)[2], 1, 1e-14);
  EXPECT_NEAR(plan.values(5)[1], 0.3, 1e-15);
  EXPECT_EQ(plan.values(29), (std::vector<double>{2, 0.9, 100}));
}

TEST(Sweep, SamplesDependOnTheSeedAndTheirNumberAlone) {
  const auto text = [](int samples, int seed, const char* sampling) {
    return fmt::format(R"({{"scene": "fourbar_free", "samples": {}, "seed": {}, "sampling": "{}", "vary": [
      {{"target": "gravity.x", "uniform": [-1, 1]}}, {{"target": "gravity.y", "normal": [3, 0.5]}},
      {{"target": "gravity.z", "values": [-9, -10]}}, {{"target": "material.default.friction",
      "log_uniform": [0.01, 1]}}]}})",
                       samples, seed, sampling);
  };
  const SweepPlan few = plan_of(text(10, 1, "random")), many = plan_of(text(400, 1, "random"));
  const SweepPlan other = plan_of(text(10, 2, "random")), cube = plan_of(text(400, 1, "latin-hypercube"));
  ASSERT_EQ(few.runs(), 20);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(few.values(i), many.values(i));
    EXPECT_NE(few.values(i)[0], other.values(i)[0]);
    // The same samples at every point of the grid.
    EXPECT_EQ(few.values(i)[1], few.values(10 + i)[1]);
    EXPECT_EQ(few.values(i)[2], -9);
    EXPECT_EQ(few.values(10 + i)[2], -10);
  }
  for (const SweepPlan* plan : {&many, &cube}) {
    double mean = 0, spread = 0;
    for (int i = 0; i < 400; ++i) {
      const std::vector<double> v = plan->values(i);
      EXPECT_TRUE(v[0] >= -1 && v[0] < 1 && v[3] >= 0.01 && v[3] <= 1);
      mean += v[1] / 400;
      spread += (v[1] - 3) * (v[1] - 3) / 400;
    }
    EXPECT_NEAR(mean, 3, plan == &cube ? 2e-3 : 0.1);
    EXPECT_NEAR(std::sqrt(spread), 0.5, plan == &cube ? 5e-3 : 0.07);
  }
  // One sample in each of 400 equal parts of an axis.
  std::vector<int> seen(400, 0);
  for (int i = 0; i < 400; ++i) ++seen[static_cast<std::size_t>((cube.values(i)[0] + 1) * 200)];
  EXPECT_EQ(std::ranges::count(seen, 1), 400);
}

TEST(Sweep, TheNormalQuantileInvertsTheDistribution) {
  for (const double x : {-8.0, -3.0, -1.5, -0.1, 0.0, 0.7, 2.0, 5.0}) {
    EXPECT_NEAR(normal_quantile(0.5 * std::erfc(-x / std::sqrt(2.0))), x, 1e-9 * (1 + std::abs(x))) << x;
  }
}

TEST(Sweep, BadSpecificationsAreRefusedByName) {
  const auto vary = [](const std::string& entry) {
    return refusal(R"({"scene": "fourbar_free", "vary": [)" + entry + "]}");
  };
  EXPECT_NE(refusal("{"), "");
  EXPECT_NE(refusal("[]"), "");
  EXPECT_NE(refusal(R"({"vary": []})").find("scene"), std::string::npos);
  EXPECT_NE(refusal(R"({"scene": "fourbar_free"})").find("vary"), std::string::npos);
  EXPECT_NE(refusal(R"({"scene": "fourbar_free", "varry": []})").find("varry"), std::string::npos);
  EXPECT_NE(vary(R"({"target": "body.nobody.mass", "values": [1]})").find("body.nobody.mass"), std::string::npos);
  EXPECT_NE(vary(R"({"target": "gravity.z"})").find("none of values"), std::string::npos);
  EXPECT_NE(vary(R"({"target": "gravity.z", "values": [1], "uniform": [0, 1]})").find("several"), std::string::npos);
  EXPECT_NE(vary(R"({"target": "gravity.z", "uniform": [1, 0]})").find("least < most"), std::string::npos);
  EXPECT_NE(vary(R"({"target": "gravity.z", "log_uniform": [-1, 1]})"), "");
  EXPECT_NE(vary(R"({"target": "gravity.z", "normal": [0, 0]})"), "");
  EXPECT_NE(vary(R"({"target": "gravity.z", "from": 0, "to": 1, "count": 1})").find("count"), std::string::npos);
  EXPECT_NE(vary(R"({"target": "gravity.z", "from": 0, "to": 1, "count": 3, "spacing": "log"})"), "");
  EXPECT_NE(vary(R"({"target": "state.q.nothing", "values": [1]})").find("nothing"), std::string::npos);
  EXPECT_NE(vary(R"({"target": "state.x", "values": [1]})"), "");
  EXPECT_NE(vary(R"({"target": "control.nobody", "values": [1]})").find("nobody"), std::string::npos);
  EXPECT_NE(vary(R"({"target": "gravity.z", "values": [1]}, {"target": "gravity.z", "values": [2]})").find("twice"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"scene": "fourbar_free", "samples": 3, "vary": [{"target": "gravity.z", "values": [1]}]})"),
            "");
  EXPECT_NE(
      refusal(R"({"scene": "fourbar_free", "samples": 10000000, "vary": [{"target": "gravity.z", "values": [1, 2]},
    {"target": "gravity.x", "uniform": [0, 1]}]})")
          .find("runs"),
      std::string::npos);
  EXPECT_NE(refusal(R"({"scene": "fourbar_free", "record": {"keep": ["colour"]}, "vary": [{"target": "gravity.z",
    "values": [1]}]})")
                .find("colour"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"scene": "fourbar_fixed", "vary": [{"target": "state.p.base.x", "values": [1]}]})"), "");
}

// Against simulations that are set up by hand.
TEST(Sweep, RunsAreSimulations) {
  const SweepPlan plan = plan_of(R"({"scene": "fourbar_free", "options": {"duration": 0.03}, "vary": [
    {"target": "material.default.friction", "values": [0.2, 0.8]},
    {"target": "state.v.base.x", "values": [0.5]}, {"target": "state.p.base.z", "values": [1.5]}],
    "record": {"every": 10, "keep": ["position", "energy"]}})");
  for (int run = 0; run < 2; ++run) {
    const ParameterChange change{"material.default.friction", plan.values(run)[0]};
    Simulation sim(changed(plan.model(), std::span(&change, 1)));
    State s = sim.state();
    const double up = 1.5 - s.X_WB[0].p.z();
    for (std::size_t i = 0; i < s.X_WB.size(); ++i) {
      s.X_WB[i].p.z() += up;
      s.twist[i][0] = 0.5;
    }
    sim.set_state(s);
    for (int i = 0; i < plan.steps(); ++i) sim.step();
    const SweepRun r = execute(plan, run);
    EXPECT_EQ(r.status, SweepRunStatus::finished) << r.message;
    EXPECT_EQ(r.steps, plan.steps());
    EXPECT_EQ(r.recording.frames, plan.steps() / 10);
    for (std::size_t i = 0; i < s.X_WB.size(); ++i) {
      for (int k = 0; k < 3; ++k) {
        const auto at = 3 * i + static_cast<std::size_t>(k);
        EXPECT_EQ(r.position[at], sim.state().X_WB[i].p[k]);
        const std::size_t last = r.recording.position.size() - 3 * s.X_WB.size();
        EXPECT_EQ(r.recording.position[last + at], r.position[at]);
      }
    }
  }
}

TEST(Sweep, CoordinatesAndControlsAreSet) {
  const SweepPlan plan = plan_of(R"({"scene": "stewart_platform", "options": {"duration": 0.01}, "vary": [
    {"target": "drive.*.kp", "values": [0.5, 2], "factor": true}]})");
  EXPECT_EQ(execute(plan, 1).status, SweepRunStatus::finished);
  const Model swing = make_scene("fourbar_swing");
  const std::string name = swing.dof_name(0);
  const SweepPlan bars = plan_of(fmt::format(R"({{"scene": "fourbar_swing", "options": {{"duration": 0.001}}, "vary": [
    {{"target": "state.q.{}", "values": [0.1, 1e6]}}]}})",
                                             name));
  const SweepRun moved = execute(bars, 0);
  ASSERT_EQ(moved.status, SweepRunStatus::finished) << moved.message;
  EXPECT_NEAR(moved.q[0], 0.1, 1e-3);
  EXPECT_LE(moved.joint_gap, 1e-9);
}

// Values that no model may have are refused run by run.
TEST(Sweep, ARefusedRunIsARecord) {
  const SweepPlan plan = plan_of(R"({"scene": "fourbar_free", "options": {"duration": 0.01}, "vary": [
    {"target": "body.*.mass", "values": [1, -1]}]})");
  EXPECT_EQ(execute(plan, 0).status, SweepRunStatus::finished);
  const SweepRun bad = execute(plan, 1);
  EXPECT_EQ(bad.status, SweepRunStatus::refused);
  EXPECT_NE(bad.message.find("mass"), std::string::npos);
}

class SweepFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / fmt::format("sarrus-sweep-{}", ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // 2002 runs of one step: two runs to a unit.
  SweepPlan plan_ = plan_of(R"({"scene": "fourbar_free", "options": {"duration": 0.001}, "vary": [
    {"target": "gravity.z", "from": -9, "to": -10, "count": 2002}]})");
  fs::path folder_;
};

TEST_F(SweepFolder, WhatWasFinishedIsNotDoneAgain) {
  std::vector<WorkUnit> units = sweep_units(plan_, folder_);
  ASSERT_EQ(units.size(), 1001U);
  fs::create_directories(folder_ / "results");
  units[3].run();
  const std::string whole = [&] {
    std::ifstream in(units[3].result, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  // Its worker was killed within the second run: the first one is there, and marked to be known again.
  std::uint64_t length = 0;
  std::copy_n(whole.data(), sizeof length, reinterpret_cast<char*>(&length));
  const fs::path part = units[3].result.string() + ".part";
  fs::remove(units[3].result);
  std::ofstream(part, std::ios::binary) << whole.substr(0, 16 + length + 30);
  units[3].run();
  EXPECT_FALSE(fs::exists(part));
  std::ifstream again(units[3].result, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(again)), {});
  // Bit by bit, its wall clock too.
  EXPECT_EQ(text.substr(0, 16 + length), whole.substr(0, 16 + length));
  EXPECT_EQ(text.size(), whole.size());
}

TEST_F(SweepFolder, ADamagedResultIsNamed) {
  std::vector<WorkUnit> units = sweep_units(plan_, folder_);
  fs::create_directories(folder_ / "results");
  units.resize(2);
  units[0].run();
  units[1].run();
  std::fstream damage(units[1].result, std::ios::binary | std::ios::in | std::ios::out);
  damage.seekp(40);
  damage << "x";
  damage.close();
  int taken = 0;
  try {
    collect_sweep(plan_, units, [&](const SweepRun&) { ++taken; });
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(units[1].name), std::string::npos);
  }
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace sarrus::sweep_test
