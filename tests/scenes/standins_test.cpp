// The robots of the benchmark: every count of docs/theory/benchmarks.md §1 and §1.1, and the rule for their seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <string>

#include "sarrus/math/tools.h"
#include "sarrus/scenes/scenes.h"
#include "scenes/mobility.h"
#include "support/dense.h"

namespace sarrus::standins_test {
namespace {

struct Robot {
  const char* scene;
  int bodies;
  std::map<JointType, int> joints;
  int rows;
  int rank;
  int loops;
  int driven;
  double mass_ratio;
  double heaviest;  // kg
  bool welded;
};

std::ostream& operator<<(std::ostream& out, const Robot& r) { return out << r.scene; }

constexpr JointType W = JointType::fixed, R = JointType::revolute, U = JointType::universal, S = JointType::spherical;

class Robots : public ::testing::TestWithParam<Robot> {
 protected:
  const Model model = make_scene(GetParam().scene);
};

INSTANTIATE_TEST_SUITE_P(
    Scenes, Robots,
    ::testing::Values(
        Robot{"arm7d", 8, {{W, 1}, {R, 7}}, 41, 41, 0, 7, 19.54, 10, true},
        Robot{"quadruped", 13, {{R, 12}}, 60, 60, 0, 12, 29.07, 20, false},
        Robot{"bdx_like", 15, {{R, 14}}, 70, 70, 0, 14, 42.49, 6, false},
        Robot{"lima_like", 21, {{R, 20}}, 100, 100, 0, 20, 321.39, 6, false},
        Robot{"misha_like", 22, {{W, 1}, {R, 23}}, 121, 115, 2, 23, 90.67, 20, true},
        Robot{"walker_like", 31, {{R, 36}}, 180, 162, 6, 24, 99.55, 20, false},
        Robot{"gazelle_like", 38, {{W, 1}, {R, 36}, {U, 4}, {S, 4}}, 214, 205, 7, 22, 1012.54, 20, true},
        Robot{"ironman_like", 54, {{W, 1}, {R, 36}, {U, 28}, {S, 2}}, 304, 304, 13, 20, 25544.44, 20, true}),
    [](const ::testing::TestParamInfo<Robot>& x) { return std::string(x.param.scene); });

TEST_P(Robots, HasTheJointsOfTheTable) {
  std::map<JointType, int> joints;
  for (const Joint& j : model.joints()) ++joints[j.type];
  EXPECT_EQ(model.body_count(), GetParam().bodies);
  EXPECT_EQ(joints, GetParam().joints);
  EXPECT_EQ(testing::row_count(model), GetParam().rows);
  EXPECT_EQ(model.loop_joints().size(), static_cast<std::size_t>(GetParam().loops));
  EXPECT_EQ(model.floating_components(), GetParam().welded ? 0 : 1);
}

// The rule by which seeds are accepted: the rank of the table, and no direction that is nearly free.
TEST_P(Robots, HasTheRankOfTheTableAndIsWellConditioned) {
  const VecX s = test::singular_values(testing::joint_rows(model, testing::reference_poses(model)).jacobian);
  const auto rank = std::count_if(s.begin(), s.end(), [&](double x) { return x > 1e-9 * s[0]; });
  ASSERT_EQ(rank, GetParam().rank);
  EXPECT_GT(s[rank - 1], 1e-4 * s[0]);
}

TEST_P(Robots, HasTheMassesOfTheTable) {
  std::multiset<double> masses;
  for (const Body& b : model.bodies()) masses.insert(b.mass);
  const double lightest = *masses.begin();
  const double heaviest = *masses.rbegin();
  EXPECT_EQ(model.bodies().front().mass, heaviest);
  EXPECT_EQ(heaviest, GetParam().heaviest);
  EXPECT_NEAR(heaviest / lightest, GetParam().mass_ratio, 1e-12 * GetParam().mass_ratio);
  EXPECT_EQ(masses.count(heaviest), 1u);
}

TEST_P(Robots, DrivesTheJointsOfTheTable) {
  int driven = 0;
  for (std::size_t i = 0; i < model.dofs().size(); ++i) {
    const Drive& drive = model.dofs()[i].drive;
    if (drive.mode == DriveMode::none) continue;
    ++driven;
    EXPECT_EQ(drive.mode, DriveMode::position);
    EXPECT_EQ(model.joints()[static_cast<std::size_t>(model.joint_of_dof(static_cast<int>(i)))].type, R);
    EXPECT_GT(drive.kp, 0);
    EXPECT_DOUBLE_EQ(drive.kd, 0.1 * drive.kp);
  }
  EXPECT_EQ(driven, GetParam().driven);
}

// docs/theory/benchmarks.md §1.1: loops are mechanisms of mobility 1 behind their crank, so a figure has one freedom
// per serial hinge and loop, and six more if it is free.
TEST(Standins, MobilityIsSerialHingesPlusLoops) {
  const std::map<std::string, int> mobility = {{"bdx_like", 20},    {"lima_like", 26},    {"misha_like", 17},
                                               {"walker_like", 24}, {"gazelle_like", 23}, {"ironman_like", 20}};
  for (const auto& [name, expected] : mobility) {
    const Model model = make_scene(name);
    EXPECT_EQ(testing::mobility(model, testing::reference_poses(model)), expected) << name;
  }
}

TEST(Standins, BodiesAreSolidBoxesWithSidesOfAtLeastACentimetre) {
  for (const char* name : {"bdx_like", "lima_like", "misha_like", "walker_like", "gazelle_like", "ironman_like"}) {
    const Model model = make_scene(name);
    std::set<int> seen;
    int shells = 0;
    for (const Geom& g : model.geoms()) {
      if (g.body == kWorld) continue;
      if (!seen.insert(g.body).second) {
        ++shells;
        continue;
      }
      const Body& body = model.bodies()[static_cast<std::size_t>(g.body)];
      ASSERT_EQ(g.shape.kind, ShapeKind::box);
      EXPECT_GE(2 * g.shape.size.minCoeff(), 0.01 - 1e-15) << body.name;
      EXPECT_LT((solid_inertia(g.shape, body.mass) - body.inertia_B).norm(), 1e-15) << body.name;
    }
    EXPECT_EQ(seen.size(), model.bodies().size());
    // One per serial hinge of the animated figures.
    const std::map<std::string, int> expected = {
        {"misha_like", 15}, {"walker_like", 12}, {"gazelle_like", 16}, {"ironman_like", 7}};
    EXPECT_EQ(shells, expected.contains(name) ? expected.at(name) : 0) << name;
  }
}

// Machines of our own: loops, rows, rank and mobility. A cube rides on the delta robot: six more.
TEST(ClosedLoopMachines, CountsAndMobility) {
  struct Machine {
    const char* scene;
    std::map<JointType, int> joints;
    int rows, rank, loops, mobility, driven;
  };
  const Machine machines[] = {{"delta_robot", {{R, 3}, {U, 6}, {S, 6}}, 57, 57, 5, 3 + 6, 3},
                              {"fivebar_leg", {{R, 20}}, 100, 88, 4, 6 + 8, 8}};
  for (const Machine& m : machines) {
    const Model model = make_scene(m.scene);
    std::map<JointType, int> joints;
    for (const Joint& j : model.joints()) ++joints[j.type];
    EXPECT_EQ(joints, m.joints) << m.scene;
    EXPECT_EQ(testing::row_count(model), m.rows) << m.scene;
    EXPECT_EQ(testing::joint_rank(model, testing::reference_poses(model)), m.rank) << m.scene;
    EXPECT_EQ(testing::mobility(model, testing::reference_poses(model)), m.mobility) << m.scene;
    EXPECT_EQ(model.loop_joints().size(), static_cast<std::size_t>(m.loops)) << m.scene;
    const auto driven =
        std::ranges::count_if(model.dofs(), [](const Dof& d) { return d.drive.mode != DriveMode::none; });
    EXPECT_EQ(driven, m.driven) << m.scene;
  }
}

// The platform of a delta robot cannot turn: every free motion of the joints leaves its rotation at zero.
TEST(ClosedLoopMachines, DeltaPlatformDoesNotTurn) {
  const Model model = make_scene("delta_robot");
  const testing::JointRows rows = testing::joint_rows(model, testing::reference_poses(model));
  const int platform = model.body("platform");
  for (int k = 3; k < 6; ++k) {
    // The rotation is in the span of the rows if adding it as a row does not raise the rank.
    MatX J(rows.jacobian.rows() + 1, rows.jacobian.cols());
    J.topRows(rows.jacobian.rows()) = rows.jacobian;
    J.bottomRows(1).setZero();
    J(J.rows() - 1, 6 * platform + k) = 1;
    EXPECT_EQ(test::rank_of(J, 1e-9), 57) << k;
    J(J.rows() - 1, 6 * platform + k) = 0;
    J(J.rows() - 1, 6 * platform + k - 3) = 1;  // a translation is free
    EXPECT_EQ(test::rank_of(J, 1e-9), 58) << k;
  }
}

// 16 N for 75 % of a period of 6 s, else 1 N.
TEST(SlipControl, GripIsASquareWave) {
  const Model model = make_scene("slip_control");
  for (const char* name : {"left_slide", "right_slide"}) {
    const Dof& dof = model.dofs()[static_cast<std::size_t>(model.dof(name))];
    const auto grip = [&](double t) {
      return dof.stiffness * dof.rest +
             std::clamp(dof.drive.target.value(t), -dof.drive.effort_limit, dof.drive.effort_limit);
    };
    for (const double t : {0.01, 1.0, 4.49, 6.01, 10.49}) EXPECT_DOUBLE_EQ(grip(t), 16) << t;
    for (const double t : {4.51, 5.0, 5.99, 10.51, 11.99}) EXPECT_DOUBLE_EQ(grip(t), 1) << t;
  }
  const auto elements =
      std::ranges::count_if(model.geoms(), [](const Geom& g) { return g.shape.kind == ShapeKind::sphere; });
  EXPECT_EQ(elements, 2 * 8 * 10);
}

// Bars of a four-bar, in lengths of its ground side.
TEST(Standins, FourBarsHaveTheSidesOfTheSpec) {
  const Model model = make_scene("walker_like");
  const auto anchor = [&](const std::string& joint) {
    const Joint& j = model.joints()[static_cast<std::size_t>(model.joint(joint))];
    return Vec3(model.bodies()[static_cast<std::size_t>(j.base)].X_WB0 * j.p_BJ);
  };
  for (const std::string loop : {"left_leg3", "left_leg5", "left_leg7", "right_leg3", "right_leg5", "right_leg7"}) {
    const Vec3 A = anchor(loop + "_A"), B = anchor(loop + "_B"), C = anchor(loop + "_C"), D = anchor(loop + "_D");
    const double length = (D - A).norm();
    EXPECT_GE(length, 0.05 * 0.15);
    EXPECT_LE(length, 0.3 * 0.15);
    EXPECT_NEAR((B - A).norm(), 0.9 * length, 1e-15);
    EXPECT_NEAR((C - B).norm(), 1.1 * length, 1e-15);
    EXPECT_NEAR((C - D).norm(), length, 1e-15);
  }
}

TEST(Standins, FreeOnesStartJustAboveTheFloor) {
  for (const char* name : {"bdx_like", "lima_like", "walker_like"}) {
    const Model model = make_scene(name);
    double lowest = kInf;
    for (const Geom& g : model.geoms()) {
      if (g.body == kWorld) continue;
      const Pose X = model.bodies()[static_cast<std::size_t>(g.body)].X_WB0 * g.X_BG;
      lowest = std::min(lowest, X.p.z() - X.R().row(2).cwiseAbs().dot(g.shape.size));
    }
    EXPECT_GT(lowest, 0.004) << name;
    EXPECT_LT(lowest, 0.006) << name;
  }
}

}  // namespace
}  // namespace sarrus::standins_test
