// The scenarios of the comparison of MLCP solvers [M]: sizes, behaviour of the reference, order of the solvers.
// docs/papers.md has the table of the full run (make bench-mlcp).
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "physics/mlcp_runs.h"

namespace sarrus::papers_mlcp_test {
namespace {

using testing::compare_mlcp;
using testing::expect_near;
using testing::expect_within;
using testing::MlcpComparison;
using testing::MlcpRun;
using testing::MlcpScore;
using testing::pose;

struct Size {
  int from, to;  // steps
  double rows;   // of the paper
};

TEST(MlcpScenes, RowsAreThoseOfThePaper) {
  SARRUS_FULL_SIZE_ONLY();
  const std::map<std::string, Size> sizes = {{"log_grasp", {0, 40, 400}},
                                             {"winch", {35, 60, 400}},
                                             {"closed_loop_drop", {12, 40, 350}},
                                             {"brick_wall", {0, 10, 550}}};
  for (const auto& [scene, size] : sizes) {
    MlcpRun run(scene);
    std::vector<double> rows;
    for (int i = 0; i < size.to; ++i) {
      const StepReport& report = run.step();
      EXPECT_NE(report.status, StepStatus::failed) << scene;
      EXPECT_EQ(report.substeps, 1) << scene;
      if (i >= size.from) rows.push_back(report.rows);
    }
    expect_near(scene + " rows", quantile(rows, 0.5), size.rows, 0.15 * size.rows);
  }
}

TEST(MlcpScenes, RegularisationIsThatOfThePaper) {
  for (const std::string& scene : testing::mlcp_scenes()) {
    const Model model = make_scene(scene);
    EXPECT_DOUBLE_EQ(model.defaults().dt, 1.0 / 60);
    for (const Joint& j : model.joints())
      EXPECT_EQ(j.compliance, Compliance::mlcp_bilateral()) << scene << " " << j.name;
    ASSERT_EQ(model.material_pairs().size(), 1u) << scene;
    EXPECT_EQ(model.material_pairs()[0].compliance, Compliance::mlcp_unilateral()) << scene;
    EXPECT_EQ(model.material_pairs()[0].mu, 1) << scene;
    for (const Geom& g : model.geoms()) {
      if (g.collides_with != 0) {
        EXPECT_EQ(g.material, model.material_pairs()[0].a) << scene;
      }
    }
  }
}

TEST(BrickWall, StandsForTwoSeconds) {
  SARRUS_FULL_SIZE_ONLY();
  MlcpRun run("brick_wall");
  const std::vector<Body> bricks = run.sim().model().bodies();
  int missed = 0;
  for (int i = 0; i < 120; ++i) missed += run.step().status != StepStatus::converged;
  EXPECT_EQ(missed, 0);
  double across = 0;
  double sunk = 0;
  double tilt = 0;
  for (int i = 0; i < static_cast<int>(bricks.size()); ++i) {
    const Vec3 moved = pose(run.sim(), i).p - bricks[static_cast<std::size_t>(i)].X_WB0.p;
    across = std::max(across, moved.head<2>().norm());
    sunk = std::max(sunk, std::abs(moved.z()));
    tilt = std::max(tilt, pose(run.sim(), i).q.angularDistance(Quat::Identity()));
  }
  expect_within("horizontal motion, m", across, 1e-3);
  expect_within("sinking of the top, m", sunk, 0.02);  // springs of 1e5 N/m
  expect_within("tilt, rad", tilt, 5e-3);
}

// The whole scene: lifted by a metre, turned by a quarter, and the log stays where it is in the claw.
TEST(LogGrasp, HoldsLiftsAndTurns) {
  SARRUS_FULL_SIZE_ONLY();
  MlcpRun run("log_grasp");
  Simulation& sim = run.sim();
  const auto log_in_palm = [&] { return pose(sim, "palm").inverse() * pose(sim, "log"); };
  for (int i = 0; i < 150; ++i) run.step();
  const Pose held = log_in_palm();
  double slip = 0;
  double turn = 0;
  for (int i = 150; i < 500; ++i) {
    EXPECT_EQ(run.step().status, StepStatus::converged);
    slip = std::max(slip, (log_in_palm().p - held.p).norm());
    turn = std::max(turn, log_in_palm().q.angularDistance(held.q));
  }
  expect_within("motion in the claw, m", slip, 5e-3);
  expect_within("rotation in the claw, rad", turn, 0.02);
  EXPECT_GT(pose(sim, "log").p.z(), 1.2);
  expect_near("slew, rad", testing::coordinate(sim, "slew"), 0.5 * std::numbers::pi, 0.01);
  const Vec3 axis = pose(sim, "log").q * Vec3::UnitZ();
  expect_near("log along x", std::abs(axis.x()), 1, 0.01);
}

TEST(ClosedLoop, LandsAndComesToRest) {
  SARRUS_FULL_SIZE_ONLY();
  MlcpRun run("closed_loop_drop");
  for (int i = 0; i < 60; ++i) EXPECT_EQ(run.step().status, StepStatus::converged) << i;
  for (int i = 0; i < 20; ++i) {
    EXPECT_NEAR(pose(run.sim(), i).p.z(), 0.1, 2e-3);
    EXPECT_LT(testing::twist(run.sim(), i).norm(), 1e-6);
  }
}

// While the chain runs onto the drum its joints hold. What happens when the free end whips around is in docs/papers.md.
TEST(Winch, WindsTheChainUp) {
  SARRUS_FULL_SIZE_ONLY();
  MlcpRun run("winch");
  double gap = 0;
  for (int i = 0; i < 60; ++i) {
    const StepReport& report = run.step();
    ASSERT_NE(report.status, StepStatus::failed) << i;
    gap = std::max(gap, report.compliant_gap);
  }
  expect_within("joint gap, m", gap, 0.02);
  expect_near("drum, rad", testing::coordinate(run.sim(), "axle"), -16.755, 0.1);  // one second
  EXPECT_LT(pose(run.sim(), "link50").p.x(), 2.0) << "4 of 6 m are wound up";
}

double psi_of(const std::vector<MlcpScore>& scores, const std::string& label) {
  for (const MlcpScore& s : scores) {
    if (s.label() == label) return s.psi();
  }
  throw std::logic_error(label);
}

class MlcpOrder : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Scenes, MlcpOrder, ::testing::Values("log_grasp", "closed_loop_drop", "brick_wall"));

// From zero, with the paper's limits, except that BPP has the five couplings of PGS-SM. Differences below 1e-11 are
// round-off: both have converged.
TEST_P(MlcpOrder, DirectThenSubspaceThenTheOthers) {
  SARRUS_FULL_SIZE_ONLY();
  const MlcpComparison c = compare_mlcp(GetParam(), 0, 60, 6, 1);
  const double bpp = psi_of(c.cold, "bpp, k_cpl 5");
  const double subspace = psi_of(c.cold, "pgs-sm");
  EXPECT_LE(bpp, subspace + 1e-11);
  EXPECT_LT(subspace, psi_of(c.cold, "spook"));
  EXPECT_LT(subspace, psi_of(c.cold, "pgs-box"));
  EXPECT_LT(psi_of(c.cold, "spook"), psi_of(c.cold, "pgs-box"));
}

// Three couplings against five: what is left is the error of the friction bounds, so PGS-SM wins.
TEST(MlcpOrderOfThePaper, ThreeCouplingsAreFewerThanFive) {
  SARRUS_FULL_SIZE_ONLY();
  const MlcpComparison c = compare_mlcp("brick_wall", 0, 40, 8, 1);
  EXPECT_GT(psi_of(c.cold, "bpp"), 100 * psi_of(c.cold, "bpp, k_cpl 5"));
  EXPECT_GT(psi_of(c.cold, "bpp"), 100 * psi_of(c.cold, "pgs-sm"));
}

}  // namespace
}  // namespace sarrus::papers_mlcp_test
