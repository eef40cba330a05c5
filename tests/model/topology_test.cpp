// What a model knows of itself: the world-anchor constructor, loops, floating groups, names and suggestions.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/model/topology.h"

namespace sarrus::topology_test {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  Vec3 vector() {
    std::normal_distribution<double> n;
    const double x = n(engine_);
    const double y = n(engine_);
    return {x, y, n(engine_)};
  }
  Quat rotation() { return so3_exp(1.5 * vector()); }

 private:
  std::mt19937 engine_;
};

int add_random_body(ModelBuilder& b, Random& rng, const std::string& name) {
  return b.add_body(name, 1.0, Mat3::Identity(), {rng.vector(), rng.rotation()});
}

// The size of a joint: that of the smaller body, hypot(distance of its farthest joint, radius of gyration); the world
// has none.
TEST(JointSize, IsThatOfTheSmallerBody) {
  ModelBuilder b("sizes");
  const double mass = 2, inertia = 0.02;  // radius of gyration sqrt(3/2 * 0.01)
  const int near = b.add_body("near", mass, inertia * Mat3::Identity(), {Vec3(0.3, 0, 0)});
  const int far = b.add_body("far", mass, inertia * Mat3::Identity(), {Vec3(1.0, 0, 0)});
  const int dust = b.add_body("dust", mass, 1e-20 * Mat3::Identity(), {Vec3(1.0, 0, 0)});
  const int hinge = b.add_joint_at("hinge", JointType::revolute, kWorld, near, Vec3::Zero(), Quat::Identity());
  const int slide = b.add_joint_at("slide", JointType::prismatic, near, far, Vec3(0.8, 0, 0), Quat::Identity());
  const int ball = b.add_joint_at("ball", JointType::spherical, far, dust, Vec3(1.0, 0, 0), Quat::Identity());
  Combination sum;
  sum.name = "sum";
  sum.terms = {{0, 1.0}, {1, -4.0}};
  b.add_combination(sum);
  const Model m = b.build();
  const double gyration2 = 1.5 * inertia / mass;
  EXPECT_NEAR(m.joint_size(hinge), std::sqrt(0.25 + gyration2), 1e-12) << "the slide is 0.5 m away";
  EXPECT_NEAR(m.joint_size(slide), std::sqrt(0.04 + gyration2), 1e-12);
  EXPECT_NEAR(m.joint_size(ball), 1e-6 * m.joint_size(slide), 1e-15) << "not below a millionth of the other body";
  EXPECT_EQ(m.reach(0), m.joint_size(hinge)) << "an angle";
  EXPECT_EQ(m.reach(1), 1) << "a length";
  EXPECT_EQ(m.reach(m.dof_count()), std::min(m.joint_size(hinge), 0.25)) << "a unit of the sum is a quarter of a metre";
}

// Joint frames of base and follower at the reference pose coincide, for every type and topology.
TEST(WorldAnchor, ClosesRandomLoops) {
  Random rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    ModelBuilder b("loops");
    const int bodies = 2 + trial % 7;
    for (int i = 0; i < bodies; ++i) add_random_body(b, rng, "body" + std::to_string(i));
    for (int j = 0; j < 3 * bodies; ++j) {
      const int follower = rng.integer(0, bodies - 1);
      int base = rng.integer(-1, bodies - 1);
      if (base == follower) base = kWorld;
      const auto type = static_cast<JointType>(j % (kPlainJointTypeCount - 1));
      b.add_joint_at("joint" + std::to_string(j), type, base, follower, rng.vector(), rng.rotation());
    }
    const Model m = b.build();
    for (const Joint& j : m.joints()) {
      const auto pose = [&](int i) { return i == kWorld ? Pose{} : m.bodies()[static_cast<std::size_t>(i)].X_WB0; };
      const Pose B = pose(j.base) * Pose{j.p_BJ, j.q_BJ};
      const Pose F = pose(j.follower) * Pose{j.p_FJ, j.q_FJ};
      EXPECT_LT((B.p - F.p).norm(), 1e-14);
      EXPECT_LT(so3_log(B.q.conjugate() * F.q).norm(), 1e-14);
    }
  }
}

TEST(WorldAnchor, DistanceTakesItsLengthFromTheAnchors) {
  Random rng(2);
  ModelBuilder b("rod");
  const int body = add_random_body(b, rng, "body");
  const Vec3 from = rng.vector();
  const Vec3 to = rng.vector();
  b.add_distance("rod", kWorld, body, from, to);
  const Model m = b.build();
  EXPECT_NEAR(m.joints()[0].length, (to - from).norm(), 1e-15);
  EXPECT_LT((m.bodies()[0].X_WB0 * m.joints()[0].p_FJ - to).norm(), 1e-14);
  EXPECT_EQ(m.joints()[0].p_BJ, from);
}

Model graph(int bodies, const std::vector<std::pair<int, int>>& joints, JointType type = JointType::revolute) {
  ModelBuilder b("graph");
  for (int i = 0; i < bodies; ++i) b.add_body("body" + std::to_string(i), 1.0 + i, Mat3::Identity(), {});
  for (std::size_t i = 0; i < joints.size(); ++i) {
    b.add_joint_at("joint" + std::to_string(i), type, joints[i].first, joints[i].second, Vec3::Zero());
  }
  return b.build();
}

TEST(Loops, AreCountedOnEveryTopology) {
  struct Case {
    int bodies;
    std::vector<std::pair<int, int>> joints;
    int loops, floating;
  };
  const std::vector<Case> cases = {
      {3, {}, 0, 3},                                  // nothing connected
      {3, {{-1, 0}, {0, 1}, {1, 2}}, 0, 0},           // chain from the world
      {3, {{0, 1}, {1, 2}}, 0, 1},                    // floating chain
      {3, {{0, 1}, {1, 2}, {2, 0}}, 1, 1},            // floating ring
      {3, {{-1, 0}, {0, 1}, {1, 2}, {-1, 2}}, 1, 0},  // four-bar: the world is the ground link
      {2, {{0, 1}, {0, 1}}, 1, 1},                    // two joints side by side
      {1, {{-1, 0}, {-1, 0}, {-1, 0}}, 2, 0},         // a door on three hinges
      {4, {{-1, 0}, {2, 3}}, 0, 2},                   // {0}, {1} alone, {2, 3}
      {4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}, {1, 3}}, 3, 1},
  };
  for (const Case& c : cases) {
    const Model m = graph(c.bodies, c.joints);
    EXPECT_EQ(static_cast<int>(m.loop_joints().size()), c.loops) << c.joints.size();
    EXPECT_EQ(m.floating_components(), c.floating) << c.joints.size();
  }
}

TEST(Loops, FreeJointsNeitherConnectNorClose) {
  const Model m = graph(2, {{-1, 0}, {0, 1}, {-1, 1}}, JointType::free);
  EXPECT_TRUE(m.loop_joints().empty());
  EXPECT_EQ(m.floating_components(), 2);
}

// joints = tree joints + loops, and tree joints = bodies - floating components, on random graphs.
TEST(Loops, EulerFormulaOnRandomGraphs) {
  Random rng(3);
  for (int trial = 0; trial < 50; ++trial) {
    const int bodies = rng.integer(1, 10);
    std::vector<std::pair<int, int>> joints;
    for (int i = rng.integer(0, 15); i > 0; --i) {
      const int follower = rng.integer(0, bodies - 1);
      int base = rng.integer(-1, bodies - 1);
      if (base == follower) base = kWorld;
      joints.emplace_back(base, follower);
    }
    const Model m = graph(bodies, joints);
    EXPECT_EQ(m.joint_count() - static_cast<int>(m.loop_joints().size()), bodies - m.floating_components());
  }
}

// Stiffer joints are preferred for the tree, so the loop joint is the one that constrains least.
TEST(Loops, TheTreePrefersJointsWithFewDofs) {
  ModelBuilder b("pair");
  b.add_body("a", 1, Mat3::Identity(), {});
  b.add_joint_at("ball", JointType::spherical, kWorld, 0, Vec3::Zero());
  b.add_joint_at("weld", JointType::fixed, kWorld, 0, Vec3::Zero());
  EXPECT_EQ(b.build().loop_joints(), std::vector<int>{0});
}

// --- names -------------------------------------------------------------------------------------------

Model named() {
  ModelBuilder b("named");
  b.add_body("upper_arm", 1, Mat3::Identity(), {});
  b.add_body("forearm", 1, Mat3::Identity(), {});
  b.add_joint_at("elbow", JointType::revolute, kWorld, 0, Vec3::Zero());
  b.add_joint_at("piston", JointType::cylindrical, 0, 1, Vec3::Zero());
  b.add_joint_at("wrist", JointType::gimbal, kWorld, 1, Vec3::Zero());
  return b.build();
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Names, FindWhatExists) {
  const Model m = named();
  EXPECT_EQ(m.body("forearm"), 1);
  EXPECT_EQ(m.joint("wrist"), 2);
  EXPECT_EQ(m.dof("elbow"), 0);
  EXPECT_EQ(m.dof("elbow.angle"), 0);
  EXPECT_EQ(m.dof("piston.position"), 1);
  EXPECT_EQ(m.dof("piston.angle"), 2);
  EXPECT_EQ(m.dof("wrist.gamma"), 5);
  for (int i = 0; i < m.dof_count(); ++i) EXPECT_EQ(m.dof(m.dof_name(i)), i);
  EXPECT_EQ(m.joint_of_dof(4), 2);
}

TEST(Names, SuggestTheNearest) {
  const Model m = named();
  EXPECT_NE(message([&] { m.body("forarm"); }).find("did you mean 'forearm'"), std::string::npos);
  EXPECT_NE(message([&] { m.joint("elbwo"); }).find("did you mean 'elbow'"), std::string::npos);
  EXPECT_NE(message([&] { m.dof("piston.angel"); }).find("did you mean 'piston.angle'"), std::string::npos);
  EXPECT_NE(message([&] { joint_type_from_name("revolut"); }).find("did you mean 'revolute'"), std::string::npos);
  EXPECT_NE(message([&] { m.body("xyzzy_nothing"); }).find("no body has this name"), std::string::npos);
  EXPECT_EQ(message([&] { m.body("xyzzy_nothing"); }).find("did you mean"), std::string::npos);
  EXPECT_NE(message([&] { m.dof("piston"); }), "accepted") << "two coordinates: the name is ambiguous";
}

TEST(Names, EveryTypeNameIsFoundAgain) {
  for (int i = 0; i < kJointTypeCount; ++i) {
    const auto type = static_cast<JointType>(i);
    EXPECT_EQ(joint_type_info(type).type, type);
    EXPECT_EQ(joint_type_from_name(joint_type_info(type).name), type);
  }
}

TEST(Signal, DerivativeMatchesFiniteDifferences) {
  const Signal s{.offset = 0.3, .rate = -1.2, .amplitude = 0.7, .frequency = 2.5, .phase = 0.4};
  for (double t = 0; t < 1; t += 0.07) {
    EXPECT_NEAR(s.derivative(t), (s.value(t + 1e-6) - s.value(t - 1e-6)) / 2e-6, 1e-7);
  }
  EXPECT_NEAR(s.value(0), 0.3 + 0.7 * std::sin(0.4), 1e-15);
}

const std::vector<TablePoint> kTable = {{0.5, 1}, {1, 3}, {2, 3.5}, {2.5, 3.5}, {3, -1}, {5, 0}};

TEST(Signal, TablesPassThroughTheirPointsAndHoldAtTheEnds) {
  for (const Interpolation interpolation : {Interpolation::linear, Interpolation::cubic}) {
    const Signal s{.table = kTable, .interpolation = interpolation};
    for (const TablePoint& p : kTable) EXPECT_NEAR(s.value(p.time), p.value, 1e-14);
    for (const double t : {-10.0, 0.0, 0.499}) {
      EXPECT_EQ(s.value(t), 1);
      EXPECT_EQ(s.derivative(t), 0);
    }
    for (const double t : {5.0, 5.001, 1e9}) {
      EXPECT_EQ(s.value(t), 0);
      EXPECT_EQ(s.derivative(t), 0);
    }
    EXPECT_EQ((Signal{.table = {{1, 7}}, .interpolation = interpolation}).value(0), 7);
    EXPECT_EQ((Signal{.table = {{1, 7}}, .interpolation = interpolation}).value(2), 7);
    const Signal sum{.offset = 0.25, .rate = 2, .table = kTable, .interpolation = interpolation};
    EXPECT_NEAR(sum.value(1), 0.25 + 2 + 3, 1e-14);
    EXPECT_NEAR(sum.derivative(10), 2, 1e-14);
    for (double t = 0.013; t < 6; t += 0.031) {
      EXPECT_NEAR(s.derivative(t), (s.value(t + 1e-7) - s.value(t - 1e-7)) / 2e-7, 1e-5) << t;
    }
  }
}

TEST(Signal, LinearTablesAreLines) {
  const Signal s{.table = kTable};
  EXPECT_NEAR(s.value(0.75), 2, 1e-15);
  EXPECT_NEAR(s.derivative(0.75), 4, 1e-15);
  EXPECT_NEAR(s.value(1.5), 3.25, 1e-15);
  EXPECT_NEAR(s.derivative(1), 0.5, 1e-15);  // of the line that begins there
  EXPECT_NEAR(s.value(4), -0.5, 1e-15);
}

// Between two points the value stays between theirs and goes one way only; the rate is continuous at the points.
TEST(Signal, CubicTablesAreMonotoneAndSmooth) {
  const Signal s{.table = kTable, .interpolation = Interpolation::cubic};
  for (std::size_t i = 0; i + 1 < kTable.size(); ++i) {
    const TablePoint& a = kTable[i];
    const TablePoint& b = kTable[i + 1];
    double last = a.value;
    for (int k = 1; k <= 100; ++k) {
      const double now = s.value(a.time + 0.01 * k * (b.time - a.time));
      EXPECT_GE((now - last) * (b.value - a.value), -1e-13) << a.time;
      EXPECT_LE(std::abs(now - a.value), std::abs(b.value - a.value) + 1e-14) << a.time;
      last = now;
    }
    EXPECT_NEAR(s.derivative(a.time - 1e-9), s.derivative(a.time + 1e-9), 1e-6) << a.time;
  }
  // Two points: the smooth step 3 x^2 - 2 x^3.
  const Signal step{.table = {{0, 0}, {2, 1}}, .interpolation = Interpolation::cubic};
  for (const double x : {0.1, 0.5, 0.8}) {
    EXPECT_NEAR(step.value(2 * x), x * x * (3 - 2 * x), 1e-15);
    EXPECT_NEAR(step.derivative(2 * x), 3 * x * (1 - x), 1e-15);
  }
}

// --- loops -------------------------------------------------------------------------------------------

TEST(Loops, TheShortestThroughAJointIsFoundAndNamed) {
  ModelBuilder b("loops");
  for (const char* name : {"a", "b", "c", "d"}) b.add_body(name, 1, Mat3::Identity(), {});
  const auto join = [&](const char* name, int base, int follower) {
    return b.add_joint_at(name, JointType::spherical, base, follower, Vec3::Zero());
  };
  const int wa = join("wa", kWorld, 0);
  join("ab", 0, 1);
  const int bc = join("bc", 1, 2);
  join("cw", kWorld, 2);
  const int cd = join("cd", 2, 3);
  const int twin = join("twin", 1, 0);
  const Model m = b.build();
  EXPECT_EQ(loop_text(m, shortest_loop(m, wa)),
            "the loop of joints 'cw', 'bc', 'ab', 'wa' and bodies world, 'c', 'b', 'a'");
  EXPECT_EQ(shortest_loop(m, bc).joints.size(), 4u);
  EXPECT_EQ(loop_text(m, shortest_loop(m, twin)), "the loop of joints 'ab', 'twin' and bodies 'b', 'a'");
  EXPECT_TRUE(shortest_loop(m, cd).joints.empty());
}

}  // namespace
}  // namespace sarrus::topology_test
