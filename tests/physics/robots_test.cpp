// The robots and closed-loop machines run with the default solver: no step fails and the joints stay closed.
#include <gtest/gtest.h>

#include <string>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/so3.h"

namespace sarrus::robots_test {
namespace {

struct RobotRun {
  const char* scene;
  double duration;  // s
};

std::ostream& operator<<(std::ostream& out, const RobotRun& run) { return out << run.scene; }

class RobotRuns : public ::testing::TestWithParam<RobotRun> {};

TEST_P(RobotRuns, StayClosedAndFinite) {
  SARRUS_FULL_SIZE_ONLY();
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
                                           RobotRun{"ironman_like", 1}, RobotRun{"delta_robot", 1},
                                           RobotRun{"fivebar_leg", 1}, RobotRun{"jansen_swarm20", 0.05}),
                         [](const ::testing::TestParamInfo<RobotRun>& x) { return std::string(x.param.scene); });

// Held by 16 N each, the spatula keeps its pose to 1 mm and 0.01 rad and each pad presses with 16 N; at 1 N its weight,
// 6 cm beside the pads, turns it.
TEST(SlipControl, HoldsThenTurns) {
  SARRUS_FULL_SIZE_ONLY();
  Simulation sim = testing::simulate("slip_control");
  const auto spatula = static_cast<std::size_t>(sim.model().body("spatula"));
  const Pose start = sim.state().X_WB[spatula];
  const auto run_to = [&](double t) {
    while (sim.time() < t - 0.5 * sim.dt()) ASSERT_NE(sim.step().status, StepStatus::failed);
  };
  const auto turned = [&] { return so3_log(sim.state().X_WB[spatula].q * start.q.conjugate()).norm(); };
  run_to(4.4);
  EXPECT_LT((sim.state().X_WB[spatula].p - start.p).norm(), 1e-3);
  EXPECT_LT(turned(), 0.01);
  double normal = 0;
  for (int i = 0; i < static_cast<int>(sim.contacts().size()); ++i) normal += sim.contact_impulse(i).z() / sim.dt();
  EXPECT_EQ(sim.contacts().size(), 160u);
  testing::expect_near("grip of both pads", normal, 32, 0.05);
  run_to(6);
  EXPECT_GT(turned(), 1);
}

// Friction carries the cube along: it ends where it stood on the platform, to the slip of the start.
TEST(DeltaRobot, CubeStaysOnThePlatform) {
  SARRUS_FULL_SIZE_ONLY();
  Simulation sim = testing::simulate("delta_robot");
  const auto at = [&](const char* name) {
    return sim.state().X_WB[static_cast<std::size_t>(sim.model().body(name))].p;
  };
  const Vec3 start = at("load") - at("platform");
  const Vec3 origin = at("platform");
  double travel = 0;
  while (sim.time() < 2) {
    sim.step();
    travel = std::max(travel, (at("platform") - origin).norm());
  }
  EXPECT_LT((at("load") - at("platform") - start).norm(), 0.01);
  EXPECT_GT(travel, 0.1);
}

}  // namespace
}  // namespace sarrus::robots_test
