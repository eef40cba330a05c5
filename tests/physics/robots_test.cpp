// The robots and closed-loop machines run with the default solver: no step fails and the joints stay closed.
#include <gtest/gtest.h>

#include <string>

#include "physics/harness.h"

namespace sarrus {
namespace {

struct RobotRun {
  const char* scene;
  double duration;  // s
};

std::ostream& operator<<(std::ostream& out, const RobotRun& run) { return out << run.scene; }

class RobotRuns : public ::testing::TestWithParam<RobotRun> {};

TEST_P(RobotRuns, StayClosedAndFinite) {
  Simulation sim = testing::simulate(GetParam().scene);
  testing::Worst worst;
  while (sim.time() < GetParam().duration - 0.5 * sim.dt()) {
    const StepReport& report = sim.step();
    ASSERT_NE(report.status, StepStatus::failed) << report.message;
    worst.add(report);
  }
  EXPECT_EQ(worst.not_finite, 0);
  testing::expect_within("joint gap", worst.joint_gap, 1e-9);
  testing::expect_within("joint angle", worst.joint_angle, 1e-9);
  testing::expect_within("natural map", worst.natural_map_relative, 1e-6);
  for (std::size_t i = 0; i < sim.state().X_WB.size(); ++i) {
    EXPECT_LT(sim.state().X_WB[i].p.norm(), 10) << sim.model().bodies()[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, RobotRuns,
                         ::testing::Values(RobotRun{"arm7d", 1}, RobotRun{"quadruped", 1}, RobotRun{"bdx_like", 1},
                                           RobotRun{"lima_like", 1}, RobotRun{"misha_like", 1},
                                           RobotRun{"walker_like", 1}, RobotRun{"gazelle_like", 1},
                                           RobotRun{"ironman_like", 1}),
                         [](const ::testing::TestParamInfo<RobotRun>& x) { return std::string(x.param.scene); });

}  // namespace
}  // namespace sarrus
