// The default solver in simulation: which steps it solves to its tolerance, and how exact the machines stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "effort.h"
#include "physics/harness.h"

namespace sarrus::default_solver_test {
namespace {

using testing::simulate;

struct SceneRun {
  const char* scene;
  double duration;         // s
  double missed = 0;       // share of steps that may miss the tolerance of 1e-9
  double relative = 1e-9;  // worst natural map of any step
};

std::ostream& operator<<(std::ostream& out, const SceneRun& run) { return out << run.scene; }

class DefaultSolver : public ::testing::TestWithParam<SceneRun> {};

TEST_P(DefaultSolver, SolvesEveryStep) {
  const SceneRun& run = GetParam();
  Simulation sim = simulate(run.scene);
  ASSERT_EQ(sim.options().solver, "cascade");
  ASSERT_EQ(sim.options().tolerance, 1e-9);
  int steps = 0, missed = 0;
  double worst = 0, gap = 0, penetration = 0;
  const double duration = run.duration / test::sample_divisor();
  while (sim.time() < duration - 0.5 * sim.dt()) {
    const StepReport& report = sim.step();
    ASSERT_NE(report.status, StepStatus::failed) << report.message;
    ++steps;
    missed += report.met_tolerance ? 0 : 1;
    worst = std::max(worst, report.residuals.error());
    gap = std::max(gap, report.joint_gap);
    if (sim.time() > 0.9 * run.duration) penetration = std::max(penetration, report.penetration);
  }
  RecordProperty("missed", missed);
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LE(missed, run.missed * steps) << "of " << steps;
  EXPECT_LE(worst, run.relative);
  EXPECT_LE(gap, 1e-9);
  EXPECT_LE(penetration, 5e-5);
}

// The last three are hard (docs/solvers/cascade.md): measured misses are 2 of 2500 steps (2e-9), 3 of 300 (2e-6) and 2
// % (1e-5). Which steps miss depends on every digit, so the bounds leave room.
INSTANTIATE_TEST_SUITE_P(Scenes, DefaultSolver,
                         ::testing::Values(SceneRun{"stack15", 5}, SceneRun{"clutter40", 5, 0.005, 1e-5},
                                           SceneRun{"jansen_walker", 5}, SceneRun{"stewart_platform", 5},
                                           SceneRun{"ring20", 5}, SceneRun{"ring20_tilted", 5, 0.05, 1e-4},
                                           SceneRun{"box_wall", 1, 0.1, 1e-3}),
                         [](const ::testing::TestParamInfo<SceneRun>& x) { return std::string(x.param.scene); });

// Mechanisms end with the elimination of their joints: stages behind it are for what it cannot do.
TEST(DefaultSolverStages, MechanismsNeedTheEliminationAlone) {
  int steps = 0, others = 0;
  for (const char* scene : {"fourbar_swing", "arm7d", "stewart_platform", "quadruped", "fivebar_leg", "walker_like",
                            "gazelle_like", "ironman_like", "jansen_walker", "bennett_linkage"}) {
    Simulation sim = simulate(scene);
    const int count = 400 / test::sample_divisor();
    for (int i = 0; i < count; ++i) {
      const StepReport& report = sim.step();
      ASSERT_NE(report.status, StepStatus::failed) << scene << ": " << report.message;
      ++steps;
      others += !report.stage.empty() && report.stage != "reduction";
    }
  }
  EXPECT_LE(others, std::max(10, steps / 100)) << "of " << steps;  // the first step of each is cold
}

// Islands on threads: not one bit may change.
TEST(DefaultSolverThreads, GiveTheSameBits) {
  const auto end = [](int threads) {
    SimulationOptions options;
    options.solver_parameters = {{"threads", threads}};
    Simulation sim = simulate("mixed_pile", options);
    for (int i = 0; i < 150; ++i) sim.step();
    return sim.state().hash();
  };
  const std::uint64_t one = end(1);
  for (const int threads : {2, 4}) EXPECT_EQ(end(threads), one) << threads;
}

}  // namespace
}  // namespace sarrus::default_solver_test
