// Loops whose numbers are rounded move as those with exact ones, in the step as well (assembly/rounded_rows.h).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "physics/harness.h"
#include "sarrus/assembly/rounded_rows.h"
#include "sarrus/math/so3.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::rounded_loop_test {
namespace {

// The scene with the axis of one joint of a loop tilted, in the follower and in the base, about a perpendicular.
Model tilted(const char* scene, std::size_t joint, double angle) {
  ModelData data = make_scene(scene).data();
  Joint& j = data.joints[joint];
  const Quat turn = so3_exp(angle * Vec3(0, 0.6, 0.8));
  j.q_BJ = j.q_BJ * turn;
  j.q_FJ = j.q_FJ * turn;
  return finish_model(std::move(data));
}

int count(const std::vector<std::uint8_t>& rows) { return std::accumulate(rows.begin(), rows.end(), 0); }

TEST(RoundedLoops, RowsAreLeftOutOfTiltedLoopsAlone) {
  for (const double angle : {1e-8, 1e-7, 1e-6}) {
    for (std::size_t joint = 0; joint < 4; ++joint) {
      EXPECT_EQ(count(rounded_rows(tilted("fourbar_swing", joint, angle))), 3) << joint << " by " << angle;
    }
  }
  EXPECT_EQ(count(rounded_rows(tilted("slider_crank", 3, 1e-6))), 3);
  // Exact loops, spatial loops, poses that are singular, and axes that are meant to be elsewhere keep all their rows.
  for (const char* scene :
       {"fourbar_swing", "bennett_linkage", "sarrus_linkage", "stewart_platform", "double_pendulum", "jansen_walker"}) {
    EXPECT_EQ(count(rounded_rows(make_scene(scene))), 0) << scene;
  }
  EXPECT_EQ(count(rounded_rows(tilted("fourbar_swing", 2, 1e-3))), 0);
  ModelData soft = tilted("fourbar_swing", 2, 1e-6).data();
  soft.joints[0].compliance.model = ComplianceModel::cfm_erp;
  EXPECT_EQ(count(rounded_rows(finish_model(std::move(soft)))), 0);
}

// Two seconds of a swinging four-bar: it swings as the exact one does, every step meets the tolerance, no energy goes
// or comes, and its joints are open by no more than the tilt.
TEST(RoundedLoops, ATiltedFourBarSwings) {
  const auto crank_after = [](const Model& model, testing::Worst& worst, double& energy_error) {
    Simulation sim(model, testing::options_with(1e-3));
    const double before = energy(sim.model(), sim.state()).total();
    worst = testing::run(sim, 2000);
    energy_error = energy(sim.model(), sim.state()).total() - before;
    return sim.state().q[0];
  };
  testing::Worst worst;
  double energy_error = 0;
  const double exact = crank_after(make_scene("fourbar_swing"), worst, energy_error);
  for (const double angle : {1e-8, 1e-7, 1e-6}) {
    for (const std::size_t joint : {0, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << "joint " << joint << " by " << angle);
      EXPECT_NEAR(crank_after(tilted("fourbar_swing", joint, angle), worst, energy_error), exact, 100 * angle);
      EXPECT_EQ(worst.not_converged, 0);
      EXPECT_LT(std::abs(energy_error), 1e-5);
      EXPECT_LT(worst.joint_angle, 4 * angle);
      EXPECT_LT(worst.joint_gap, 2 * angle);
    }
  }
}

TEST(RoundedLoops, TheSameBitsTwice) {
  const Model model = tilted("fourbar_swing", 1, 3e-7);
  Simulation a(model, testing::options_with(1e-3)), b(model, testing::options_with(1e-3));
  testing::run(a, 200);
  testing::run(b, 200);
  EXPECT_EQ(a.state().hash(), b.state().hash());
}

// The rows are found mechanism by mechanism, whatever stands beside: in a crowd of more than 400 rows, too.
TEST(RoundedLoops, EachMechanismByItself) {
  const ModelData one = tilted("fourbar_swing", 2, 1e-6).data();
  ModelData many;
  constexpr int kCount = 30;
  for (int k = 0; k < kCount; ++k) {
    const int bodies = static_cast<int>(many.bodies.size());
    const int dofs = static_cast<int>(many.dofs.size());
    for (Body b : one.bodies) {
      b.name += std::to_string(k);
      many.bodies.push_back(b);
    }
    for (Joint j : one.joints) {
      j.name += std::to_string(k);
      if (j.base != kWorld) j.base += bodies;
      if (j.follower != kWorld) j.follower += bodies;
      j.first_dof += dofs;
      many.joints.push_back(j);
    }
    many.dofs.insert(many.dofs.end(), one.dofs.begin(), one.dofs.end());
  }
  const std::vector<std::uint8_t> alone = rounded_rows(finish_model(one));
  const std::vector<std::uint8_t> rows = rounded_rows(finish_model(std::move(many)));
  ASSERT_EQ(count(alone), 3);
  ASSERT_EQ(rows.size(), kCount * alone.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], alone[i % alone.size()]) << i;
}

}  // namespace
}  // namespace sarrus::rounded_loop_test
