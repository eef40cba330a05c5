// Contact pairs: two geoms that collide whatever else is said of them, with a law of their own.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sarrus/collision/detector.h"
#include "sarrus/model/builder.h"

namespace sarrus::contact_pair_test {
namespace {

// Two balls that overlap by 1 cm, on the given bodies.
struct Balls {
  ModelBuilder b{"balls"};
  int first, second;

  Balls() {
    for (int i = 0; i < 2; ++i) {
      b.add_body("ball" + std::to_string(i), 1, Mat3::Identity(), {Vec3(0.19 * i, 0, 0)});
    }
    first = b.add_geom(0, Shape::sphere(0.1));
    second = b.add_geom(1, Shape::sphere(0.1));
  }
  std::vector<Contact> contacts(double apart = 0) const {
    const Model m = b.build();
    CollisionDetector detector(m);
    std::vector<Pose> X = {m.bodies()[0].X_WB0, m.bodies()[1].X_WB0};
    X[1].p.x() += apart;
    std::vector<Contact> out;
    detector.detect(X, std::vector<Vec6>(2, Vec6::Zero()), 1e-3, out);
    return out;
  }
  void mask() { b.geom(first).group = b.geom(first).collides_with = 0, b.geom(second).collides_with = 0; }
};

TEST(ContactPair, WinsOverMasksExcludesJointsAndMechanisms) {
  const std::vector<void (*)(Balls&)> obstacles = {
      [](Balls& m) { m.mask(); }, [](Balls& m) { m.b.exclude(0, 1); },
      [](Balls& m) { m.b.add_joint_at("hinge", JointType::revolute, 0, 1, Vec3(0.1, 0, 0)); },
      [](Balls& m) { m.b.add_joint_at("weld", JointType::fixed, 0, 1, Vec3(0.1, 0, 0)); },
      [](Balls& m) {
        m.b.set_self_collision(false);
        m.b.add_body("between", 1, Mat3::Identity(), {});
        m.b.add_joint_at("a", JointType::revolute, 0, 2, Vec3::Zero());
        m.b.add_joint_at("b", JointType::revolute, 2, 1, Vec3::Zero());
      }};
  for (const auto obstacle : obstacles) {
    Balls m;
    obstacle(m);
    if (m.b.data().bodies.size() == 2) {
      EXPECT_TRUE(m.contacts().empty());
    }
    const Model without = m.b.build();
    EXPECT_FALSE(CollisionDetector(without).pair_allowed(m.first, m.second));
    m.b.add_contact_pair({.a = m.second, .b = m.first, .mu = 0.123, .restitution = 0.4});
    const Model with = m.b.build();
    EXPECT_TRUE(CollisionDetector(with).pair_allowed(m.first, m.second));
    EXPECT_TRUE(CollisionDetector(with).pair_allowed(m.second, m.first));
    if (m.b.data().bodies.size() > 2) continue;
    const std::vector<Contact> c = m.contacts();
    ASSERT_EQ(c.size(), 1u);
    EXPECT_EQ(c[0].mu, 0.123);
    EXPECT_EQ(c[0].restitution, 0.4);
    EXPECT_NEAR(c[0].gap, -0.01, 1e-12);
  }
}

TEST(ContactPair, HasItsOwnLawWhateverTheMaterials) {
  Balls m;
  const int ice = m.b.add_material("ice", 0.01, 1.0, Compliance::soft_physical(1e4, 0.1));
  m.b.geom(m.first).material = m.b.geom(m.second).material = ice;
  m.b.set_material_pair(ice, ice, 0.02, 0.5);
  m.b.add_geom(1, Shape::sphere(0.1));  // keeps the material of its body's first geom out of it
  m.b.add_contact_pair({.a = m.first, .b = m.second, .mu = 0.9, .compliance = Compliance::soft_cfm_erp(1e-3, 0.5)});
  const Model model = m.b.build();
  CollisionDetector detector(model);
  const std::vector<Contact> c = m.contacts();
  ASSERT_EQ(c.size(), 2u);
  for (const Contact& x : c) {
    const bool pair = x.geom_b == m.second;
    EXPECT_EQ(x.mu, pair ? 0.9 : std::sqrt(0.01 * 0.7));
    ASSERT_GE(x.compliance, 0);
    EXPECT_EQ(detector.compliances()[static_cast<std::size_t>(x.compliance)],
              pair ? Compliance::soft_cfm_erp(1e-3, 0.5) : Compliance::soft_physical(1e4, 0.1));
  }
}

// The margin of a pair replaces those of its geoms, larger or smaller.
TEST(ContactPair, MarginIsThatOfThePair) {
  for (const double margin : {0.0, 0.03}) {
    for (const double apart : {0.005, 0.02, 0.04}) {  // gap: apart - 0.01
      Balls m;
      m.b.body(0).ccd = m.b.body(1).ccd = Ccd::off;
      m.b.geom(m.first).margin = 0.02;
      m.b.add_contact_pair({.a = m.first, .b = m.second, .margin = margin});
      EXPECT_EQ(m.contacts(apart).size(), apart - 0.01 <= margin ? 1u : 0u) << margin << " " << apart;
    }
  }
}

// Shapes that collide with nothing, a plane among them, meet in their pair alone.
TEST(ContactPair, WithThePlaneAndNothingElse) {
  Balls m;
  m.mask();
  const int floor = m.b.add_floor(-0.09);
  m.b.geom(floor).group = m.b.geom(floor).collides_with = 0;
  m.b.add_contact_pair({.a = floor, .b = m.second, .mu = 0.25});
  const std::vector<Contact> c = m.contacts();
  ASSERT_EQ(c.size(), 1u);
  EXPECT_EQ(c[0].geom_a, m.second);
  EXPECT_EQ(c[0].geom_b, floor);
  EXPECT_EQ(c[0].mu, 0.25);
}

}  // namespace
}  // namespace sarrus::contact_pair_test
