// Loops that are open are closed by the nearest pose; driven coordinates take the others along; what cannot be is said.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "effort.h"
#include "sarrus/assembly/assembly.h"
#include "sarrus/assembly/closing.h"
#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::assembly_test {
namespace {

constexpr double kPi = std::numbers::pi;

// A four-bar linkage in the plane z = 0: ground A (0, 0) and D (d, 0), crank a = AB, coupler b = BC, rocker c = DC.
struct FourBar {
  double a = 0.1, b = 0.3, c = 0.25, d = 0.3;

  // Where C is for a crank angle: the upper intersection of two circles.
  Vec3 joint_C(double crank) const {
    const Vec3 B(a * std::cos(crank), a * std::sin(crank), 0);
    const Vec3 D(d, 0, 0);
    const Vec3 BD = D - B;
    const double r = BD.norm();
    const double along = (b * b - c * c + r * r) / (2 * r);
    const double up = std::sqrt(b * b - along * along);
    const Vec3 e = BD / r;
    return B + along * e + up * Vec3::UnitZ().cross(e);
  }
  double rocker(double crank) const {
    const Vec3 DC = joint_C(crank) - Vec3(d, 0, 0);
    return std::atan2(DC.y(), DC.x());
  }

  // The joint frames are exact whatever the pose is that the bodies are drawn in.
  ModelBuilder builder(double drawn_crank) const {
    ModelBuilder m("four-bar");
    const Vec3 B(a * std::cos(drawn_crank), a * std::sin(drawn_crank), 0);
    const Vec3 C = joint_C(drawn_crank);
    const Vec3 D(d, 0, 0);
    const auto bar = [&](const char* name, const Vec3& from, const Vec3& to) {
      const Vec3 x = to - from;
      Mat3 inertia = Vec3(1e-4, 2e-3, 2e-3).asDiagonal();
      const Quat q(Eigen::AngleAxisd(std::atan2(x.y(), x.x()), Vec3::UnitZ()));
      return m.add_body(name, 0.5, inertia, {0.5 * (from + to), q});
    };
    const int crank = bar("crank", Vec3::Zero(), B);
    const int coupler = bar("coupler", B, C);
    const int rocker = bar("rocker", D, C);
    const auto hinge = [&](const char* name, int base, int follower, const Vec3& x_B, const Vec3& x_F) {
      Joint j;
      j.name = name;
      j.type = JointType::revolute;
      j.base = base;
      j.follower = follower;
      j.p_BJ = x_B;
      j.p_FJ = x_F;
      j.q_BJ = j.q_FJ = frame_with_x(Vec3::UnitZ());
      m.add_joint(j);
    };
    hinge("A", kWorld, crank, Vec3::Zero(), Vec3(-a / 2, 0, 0));
    hinge("B", crank, coupler, Vec3(a / 2, 0, 0), Vec3(-b / 2, 0, 0));
    hinge("D", kWorld, rocker, D, Vec3(-c / 2, 0, 0));
    hinge("C", coupler, rocker, Vec3(b / 2, 0, 0), Vec3(c / 2, 0, 0));
    return m;
  }
};

std::vector<Pose> shaken(std::span<const Pose> X, double angle, double way, std::mt19937& random) {
  std::uniform_real_distribution<double> u(-1, 1);
  const auto any = [&] { return Vec3(u(random), u(random), u(random)); };
  std::vector<Pose> out;
  for (const Pose& p : X) out.push_back({p.p + way * any(), (so3_exp(angle * any()) * p.q).normalized()});
  return out;
}

double largest_difference(std::span<const Pose> X, std::span<const Pose> Y) {
  double most = 0;
  for (const Vec6& d : difference(X, Y)) most = std::max(most, d.norm());
  return most;
}

TEST(Assembly, WhatIsClosedStaysAsItIs) {
  for (const char* scene :
       {"fourbar_swing", "stewart_platform", "bennett_linkage", "jansen_walker", "sarrus_linkage"}) {
    const Model model = make_scene(scene);
    const State given = State::initial(model);
    const Assembly a = assemble(model, given);
    EXPECT_EQ(a.report.status, AssemblyStatus::already) << scene;
    EXPECT_LT(largest_difference(a.state.X_WB, given.X_WB), 1e-9) << scene;
    EXPECT_TRUE(a.report.moved.empty()) << scene;
  }
}

TEST(Assembly, RanksAreThoseOfTheMechanisms) {
  struct Expected {
    const char* scene;
    int rows, rank, mobility;
  };
  for (const Expected& e : {Expected{"fourbar_swing", 20, 17, 1}, Expected{"bennett_linkage", 20, 17, 1},
                            Expected{"stewart_platform", 72, 72, 6}}) {
    const Model model = make_scene(e.scene);
    const Assembly a = assemble(model, State::initial(model));
    EXPECT_EQ(a.report.rows, e.rows) << e.scene;
    EXPECT_EQ(a.report.rank, e.rank) << e.scene;
    EXPECT_EQ(a.report.mobility, e.mobility) << e.scene;
    EXPECT_FALSE(a.report.rounded) << e.scene;
  }
}

// Shaken bodies come back to a closed pose of the same branch, with the crank where it was.
TEST(Assembly, ShakenFourBarsCloseOnTheSameBranch) {
  const FourBar bars;
  const double crank = 0.7;
  const Model model = bars.builder(crank).build();
  const int trials = test::samples(30);
  for (const double angle : {0.01, 0.1, 0.3}) {
    std::mt19937 random(7);
    for (int trial = 0; trial < trials; ++trial) {
      State given = State::initial(model);
      given.X_WB = shaken(given.X_WB, angle, 0.5 * angle * bars.b, random);
      AssemblyOptions options;
      options.pins = {{model.dof("A"), crank}};
      const Assembly a = assemble(model, given, options);
      ASSERT_EQ(a.report.status, AssemblyStatus::assembled) << angle << " trial " << trial;
      EXPECT_LT(a.report.residual, 1e-11);
      EXPECT_NEAR(a.state.q[static_cast<std::size_t>(model.dof("D"))], bars.rocker(crank), 1e-9) << angle;
      EXPECT_NEAR(a.state.q[static_cast<std::size_t>(model.dof("A"))], crank, 1e-10);
    }
  }
}

// The way back to the given pose is perpendicular, in the metric of the masses, to all that the joints let move.
TEST(Assembly, TheClosedPoseIsTheNearestOne) {
  const FourBar bars;
  const Model model = bars.builder(0.7).build();
  std::mt19937 random(3);
  for (const double angle : {0.02, 0.2}) {
    State given = State::initial(model);
    given.X_WB = shaken(given.X_WB, angle, 0.1 * angle, random);
    const Assembly a = assemble(model, given);
    ASSERT_TRUE(a.report.closed()) << name_of(a.report.status);
    // Against others along the one freedom, a crank turn either way.
    const auto cost = [&](const State& s) {
      double sum = 0;
      const std::vector<Vec6> d = difference(s.X_WB, given.X_WB);
      for (std::size_t i = 0; i < d.size(); ++i) {
        const Body& b = model.bodies()[i];
        const Vec3 turn_B = s.X_WB[i].q.conjugate() * Vec3(d[i].tail<3>());
        sum += b.mass * d[i].head<3>().squaredNorm() + turn_B.dot(b.inertia_B * turn_B);
      }
      return sum;
    };
    const double here = a.state.q[static_cast<std::size_t>(model.dof("A"))];
    for (const double turn : {-0.01, 0.01}) {
      const std::vector<CoordinateValue> wanted = {{model.dof("A"), here + turn}};
      const Assembly beside = forward_kinematics(model, a.state, wanted);
      ASSERT_TRUE(beside.report.closed());
      EXPECT_GT(cost(beside.state), cost(a.state));
    }
  }
}

TEST(Assembly, ClosesSpatialAndRedundantLoops) {
  for (const char* scene :
       {"bennett_linkage", "stewart_platform", "jansen_walker", "sarrus_linkage", "fourbar_fixed"}) {
    const Model model = make_scene(scene);
    std::mt19937 random(11);
    State given = State::initial(model);
    given.X_WB = shaken(given.X_WB, 0.05, 0.002, random);
    const Assembly a = assemble(model, given);
    EXPECT_EQ(a.report.status, AssemblyStatus::assembled) << scene << ": " << assembly_text(model, a.report);
    EXPECT_LT(a.report.residual, 1e-11) << scene;
    EXPECT_GT(a.report.gap_before, 1e-3) << scene;
    EXPECT_FALSE(a.report.moved.empty()) << scene;
  }
}

TEST(ForwardKinematics, AFullTurnOfTheCrankAgreesWithTheCircles) {
  const FourBar bars;
  const Model model = bars.builder(0.2).build();
  State state = State::initial(model);
  const auto A = model.dof("A");
  const auto D = static_cast<std::size_t>(model.dof("D"));
  const int steps = 24;
  for (int i = 1; i <= steps; ++i) {
    const double crank = 0.2 + 2 * kPi * i / steps;
    const std::vector<CoordinateValue> wanted = {{A, crank}};
    const Assembly a = forward_kinematics(model, state, wanted);
    ASSERT_EQ(a.report.status, AssemblyStatus::assembled) << crank;
    EXPECT_NEAR(wrap_angle(a.state.q[D] - bars.rocker(crank)), 0, 1e-10) << crank;
    EXPECT_NEAR(a.state.q[static_cast<std::size_t>(A)], crank, 1e-10);
    state = a.state;
  }
  // And in one call, counting the turn.
  const std::vector<CoordinateValue> whole = {{A, 0.2 + 4 * kPi}};
  const Assembly a = forward_kinematics(model, State::initial(model), whole);
  ASSERT_EQ(a.report.status, AssemblyStatus::assembled);
  EXPECT_NEAR(a.state.q[static_cast<std::size_t>(A)], 0.2 + 4 * kPi, 1e-10);
  EXPECT_LT(largest_difference(a.state.X_WB, State::initial(model).X_WB), 1e-9);
}

// The rocker of a crank-rocker stops where crank and coupler are in line: cos(psi) by the law of cosines.
TEST(ForwardKinematics, StopsAtTheDeadPoint) {
  const FourBar bars;
  const Model model = bars.builder(0.7).build();
  const auto D = model.dof("D");
  const auto dead = [&](double diagonal) {  // angle of DC if AC = diagonal
    return kPi - std::acos((bars.d * bars.d + bars.c * bars.c - diagonal * diagonal) / (2 * bars.d * bars.c));
  };
  const double stretched = dead(bars.a + bars.b);  // measured from the x axis
  const double folded = dead(bars.b - bars.a);
  const State given = State::initial(model);
  for (const double end : {stretched, folded}) {
    const double from = given.q[static_cast<std::size_t>(D)];
    const std::vector<CoordinateValue> wanted = {{D, end + 0.3 * (end > from ? 1 : -1)}};
    const Assembly a = forward_kinematics(model, given, wanted);
    EXPECT_EQ(a.report.status, AssemblyStatus::unreachable);
    EXPECT_LT(a.report.reached, 1);
    EXPECT_NEAR(a.state.q[static_cast<std::size_t>(D)], end, 2e-4);
    EXPECT_LT(a.report.residual, 1e-10);  // where it stopped all joints meet
    // Just before it, all is well.
    const std::vector<CoordinateValue> less = {{D, end - 1e-3 * (end > from ? 1 : -1)}};
    EXPECT_EQ(forward_kinematics(model, given, less).report.status, AssemblyStatus::assembled);
  }
}

TEST(Assembly, ImpossibleLoopsAreNamed) {
  FourBar bars;
  ModelBuilder m = bars.builder(0.7);
  m.joint(2).p_BJ = Vec3(5, 0, 0);  // the pivot of the rocker, five metres away
  const Model model = m.build();
  const Assembly a = assemble(model, State::initial(model));
  EXPECT_EQ(a.report.status, AssemblyStatus::infeasible);
  EXPECT_NEAR(a.report.residual, 5 - 0.65, 3.0);  // what stays open is of that order, shared by the joints
  const std::string text = assembly_text(model, a.report);
  EXPECT_NE(text.find("the loop of joints"), std::string::npos) << text;
  EXPECT_NE(text.find("cannot meet"), std::string::npos) << text;
}

TEST(Assembly, LimitsAreRespectedAndTheirConflictsNamed) {
  const FourBar bars;
  {  // drawn closed, but outside of a limit that the mechanism can reach
    ModelBuilder m = bars.builder(0.7);
    m.dof(0).limit.lower = 0.9;
    const Model model = m.build();
    const Assembly a = assemble(model, State::initial(model));
    ASSERT_EQ(a.report.status, AssemblyStatus::assembled) << assembly_text(model, a.report);
    EXPECT_NEAR(a.state.q[0], 0.9, 1e-9);
    ASSERT_EQ(a.report.limits_reached.size(), 1u);
    EXPECT_EQ(a.report.limits_reached[0], 0);
    AssemblyOptions free;
    free.limits = false;
    EXPECT_EQ(assemble(model, State::initial(model), free).report.status, AssemblyStatus::already);
  }
  {  // limits of crank and rocker that exclude each other
    ModelBuilder m = bars.builder(0.7);
    m.dof(0).limit.upper = 0.75;
    m.dof(2).limit.lower = bars.rocker(0.7) + 0.5;
    const Model model = m.build();
    const Assembly a = assemble(model, State::initial(model));
    EXPECT_EQ(a.report.status, AssemblyStatus::limits_conflict) << assembly_text(model, a.report);
    EXPECT_NE(assembly_text(model, a.report).find("limits"), std::string::npos);
  }
}

// A parallelogram with a third crank: redundant, and 3e-8 m too long.
TEST(Assembly, RoundedRedundantLoopsCloseUpToTheirContradiction) {
  ModelBuilder m("three cranks");
  const Mat3 inertia = Mat3(Vec3(1e-3, 1e-3, 1e-3).asDiagonal());
  const double angle = 0.9;
  const Vec3 up = 0.2 * Vec3(std::cos(angle), std::sin(angle), 0);
  const int beam = m.add_body("beam", 1, inertia, {Vec3(0.3, 0, 0) + up, Quat::Identity()});
  const Quat axis = frame_with_x(Vec3::UnitZ());
  for (int i = 0; i < 3; ++i) {
    const Vec3 foot(0.3 * i, 0, 0);
    const std::string n = std::to_string(i);
    const int crank = m.add_body("crank" + n, 0.3, inertia, {foot + 0.5 * up, Quat::Identity()});
    m.add_joint_at("foot" + n, JointType::revolute, kWorld, crank, foot, axis);
    m.add_joint_at("head" + n, JointType::revolute, crank, beam, foot + up, axis);
  }
  m.joint(3).p_FJ += Vec3(3e-8, 0, 0);  // head1
  const Model model = m.build();
  const Assembly a = assemble(model, State::initial(model));
  EXPECT_TRUE(a.report.closed()) << assembly_text(model, a.report);
  EXPECT_LT(a.report.residual, 3e-8);
  EXPECT_LT(a.report.iterations, 20);
  // It still turns.
  const std::vector<CoordinateValue> wanted = {{0, a.state.q[0] + 1.0}};
  const Assembly turned = forward_kinematics(model, a.state, wanted);
  EXPECT_TRUE(turned.report.closed()) << assembly_text(model, turned.report);
  EXPECT_LT(turned.report.residual, 1e-6);
  EXPECT_NEAR(turned.state.q[0], a.state.q[0] + 1.0, 1e-6);
}

TEST(Assembly, ADeadPointIsCalledSingular) {
  const FourBar bars;
  const Model model = bars.builder(0.7).build();
  const State given = State::initial(model);
  EXPECT_FALSE(assemble(model, given).report.near_singular);
  // With the rocker driven: crank and coupler in line.
  const double stretched =
      kPi - std::acos((bars.d * bars.d + bars.c * bars.c - std::pow(bars.a + bars.b, 2)) / (2 * bars.d * bars.c));
  const std::vector<CoordinateValue> wanted = {{model.dof("D"), stretched + 1e-6}};
  const Assembly there = forward_kinematics(model, given, wanted);
  ASSERT_TRUE(there.report.closed()) << assembly_text(model, there.report);
  EXPECT_TRUE(there.report.near_singular);
  EXPECT_FALSE(there.report.singular_joints.empty());
}

TEST(Assembly, TheModelWithTheResultAsReferenceIsClosed) {
  const FourBar bars;
  const Model model = bars.builder(0.7).build();
  std::mt19937 random(5);
  State given = State::initial(model);
  given.X_WB = shaken(given.X_WB, 0.1, 0.01, random);
  const Assembly a = assemble(model, given);
  const Model closed = with_reference(model, a.state);
  EXPECT_EQ(assemble(closed, State::initial(closed)).report.status, AssemblyStatus::already);
}

TEST(Assembly, IsDeterministic) {
  const Model model = make_scene("stewart_platform");
  std::mt19937 random(5);
  State given = State::initial(model);
  given.X_WB = shaken(given.X_WB, 0.2, 0.02, random);
  EXPECT_EQ(assemble(model, given).state.hash(), assemble(model, given).state.hash());
}

TEST(Assembly, RefusesWhatItCannotUse) {
  const Model model = FourBar().builder(0.7).build();
  const State given = State::initial(model);
  const auto refused = [&](const CoordinateValue& value) {
    AssemblyOptions options;
    options.pins = {value};
    EXPECT_THROW(assemble(model, given, options), InputError);
    const std::vector<CoordinateValue> wanted = {value};
    EXPECT_THROW(forward_kinematics(model, given, wanted), InputError);
  };
  refused({-1, 0});
  refused({99, 0});
  refused({0, std::nan("")});
  State broken = given;
  broken.X_WB[0].p.x() = std::nan("");
  EXPECT_THROW(assemble(model, broken), InputError);
}

}  // namespace
}  // namespace sarrus::assembly_test
