// Which pairs collide and with which contact law (docs/theory/collision.md §2).
#include "sarrus/collision/filter.h"

#include <gtest/gtest.h>

#include <string>

#include "sarrus/collision/detector.h"
#include "sarrus/model/builder.h"

namespace sarrus::pair_filter_test {
namespace {

// Balls in a row along x, 1 m apart; geom i belongs to body i.
ModelBuilder row_of_balls(int count) {
  ModelBuilder b("row");
  for (int i = 0; i < count; ++i)
    b.add_sphere_body("ball" + std::to_string(i), 1.0, 0.1, {Vec3(i, 0, 0), Quat::Identity()});
  return b;
}

bool allowed(const ModelBuilder& b, int i, int k) {
  const CollisionDetector detector(b.build());
  EXPECT_EQ(detector.pair_allowed(i, k), detector.pair_allowed(k, i));
  return detector.pair_allowed(i, k);
}

TEST(PairFilter, DifferentBodiesCollide) { EXPECT_TRUE(allowed(row_of_balls(2), 0, 1)); }

TEST(PairFilter, StaticGeomsAndGeomsOfOneBodyDoNot) {
  ModelBuilder b = row_of_balls(1);
  const int second = b.add_geom(0, Shape::sphere(0.2));
  const int wall = b.add_geom(kWorld, Shape::box({1, 1, 1}));
  const int floor = b.add_floor();
  EXPECT_FALSE(allowed(b, 0, second));
  EXPECT_FALSE(allowed(b, wall, floor));
  EXPECT_TRUE(allowed(b, second, wall));
  EXPECT_TRUE(allowed(b, 0, floor));
}

TEST(PairFilter, JointsSeparateTheirBodiesExceptFreeAndDistance) {
  for (int t = 0; t < kPlainJointTypeCount; ++t) {
    const auto type = static_cast<JointType>(t);
    ModelBuilder b = row_of_balls(3);
    if (type == JointType::distance) {
      b.add_distance("j", 0, 1, {0, 0, 0}, {1, 0, 0});
    } else {
      b.add_joint_at("j", type, 0, 1, {0.5, 0, 0});
    }
    const bool expected = type == JointType::free || type == JointType::distance;
    EXPECT_EQ(allowed(b, 0, 1), expected) << joint_type_info(type).name;
    EXPECT_TRUE(allowed(b, 1, 2)) << joint_type_info(type).name;
    EXPECT_TRUE(allowed(b, 0, 2)) << joint_type_info(type).name;
  }
  ModelBuilder rope = row_of_balls(2);
  rope.add_distance("rope", 0, 1, {0, 0, 0}, {1, 0, 0}, true);
  EXPECT_TRUE(allowed(rope, 0, 1));
}

TEST(PairFilter, AJointToTheWorldDoesNotSeparateButAFixedOneMerges) {
  ModelBuilder b = row_of_balls(2);
  const int wall = b.add_geom(kWorld, Shape::box({1, 1, 1}));
  b.add_joint_at("hinge", JointType::revolute, kWorld, 0, {0, 0, 0});
  b.add_joint_at("weld", JointType::fixed, kWorld, 1, {1, 0, 0});
  EXPECT_TRUE(allowed(b, 0, wall));
  EXPECT_FALSE(allowed(b, 1, wall));
}

TEST(PairFilter, FixedJointsMergeChains) {
  ModelBuilder b = row_of_balls(5);
  b.add_joint_at("weld01", JointType::fixed, 0, 1, {0.5, 0, 0});
  b.add_joint_at("weld21", JointType::fixed, 2, 1, {1.5, 0, 0});
  b.add_joint_at("hinge23", JointType::revolute, 2, 3, {2.5, 0, 0});
  b.add_joint_at("hinge34", JointType::revolute, 3, 4, {3.5, 0, 0});
  EXPECT_FALSE(allowed(b, 0, 2)) << "merged through body 1";
  EXPECT_FALSE(allowed(b, 0, 3)) << "body 3 is hinged to the merged body";
  EXPECT_FALSE(allowed(b, 3, 4));
  EXPECT_TRUE(allowed(b, 0, 4));
  EXPECT_TRUE(allowed(b, 2, 4));
}

// A pedestal welded to the world does not collide with the link hinged on it, other static geoms do.
TEST(PairFilter, LinkOnAWeldedPedestal) {
  ModelBuilder b = row_of_balls(2);
  const int wall = b.add_geom(kWorld, Shape::box({1, 1, 1}));
  b.add_joint_at("weld", JointType::fixed, kWorld, 0, {0, 0, 0});
  b.add_joint_at("hinge", JointType::revolute, 0, 1, {0.5, 0, 0});
  EXPECT_FALSE(allowed(b, 0, 1));
  EXPECT_TRUE(allowed(b, 1, wall));
}

TEST(PairFilter, IncludeBeatsJointsAndExcludeBeatsInclude) {
  ModelBuilder b = row_of_balls(3);
  b.add_joint_at("hinge", JointType::revolute, 0, 1, {0.5, 0, 0});
  b.add_joint_at("weld", JointType::fixed, 1, 2, {1.5, 0, 0});
  b.include(1, 0);
  b.include(2, 1);
  EXPECT_TRUE(allowed(b, 0, 1));
  EXPECT_TRUE(allowed(b, 1, 2));
  EXPECT_FALSE(allowed(b, 0, 2)) << "an include holds for the two bodies named, not for what is merged with them";
  b.exclude(0, 1);
  EXPECT_FALSE(allowed(b, 0, 1));

  ModelBuilder world = row_of_balls(1);
  const int floor = world.add_floor();
  world.exclude(0, kWorld);
  EXPECT_FALSE(allowed(world, 0, floor));
}

TEST(PairFilter, MasksNeedOneMatchInEitherDirection) {
  struct Case {
    std::uint32_t group_a, with_a, group_b, with_b;
    bool expected;
  };
  for (const Case& c : {Case{1, 2, 2, 0, true}, Case{2, 0, 1, 2, true}, Case{1, 1, 2, 2, false},
                        Case{1, 0, 1, 0, false}, Case{6, 0, 8, 4, true}, Case{0, ~0u, 0, ~0u, false}}) {
    ModelBuilder b = row_of_balls(2);
    b.geom(0).group = c.group_a;
    b.geom(0).collides_with = c.with_a;
    b.geom(1).group = c.group_b;
    b.geom(1).collides_with = c.with_b;
    EXPECT_EQ(allowed(b, 0, 1), c.expected);
  }
  ModelBuilder b = row_of_balls(2);
  b.geom(0).group = b.geom(0).collides_with = 0;
  b.include(0, 1);
  EXPECT_TRUE(allowed(b, 0, 1)) << "an include stands before the masks";
}

TEST(ContactLaws, CombineAndOverride) {
  ModelBuilder b = row_of_balls(3);
  const int ice = b.add_material("ice", 0.04, 0.1);
  const int rubber = b.add_material("rubber", 1.0, 0.8);
  const int steel = b.add_material("steel", 0.5, 0.3);
  b.geom(0).material = ice;
  b.geom(1).material = rubber;
  b.geom(2).material = steel;
  b.set_material_pair(steel, rubber, 0.9, 0.2);
  const ContactLaws laws(b.build());
  EXPECT_DOUBLE_EQ(laws.between(0, 1).mu, 0.2);
  EXPECT_DOUBLE_EQ(laws.between(0, 1).restitution, 0.8);
  EXPECT_DOUBLE_EQ(laws.between(2, 0).mu, std::sqrt(0.02));
  EXPECT_DOUBLE_EQ(laws.between(2, 0).restitution, 0.3);
  for (const auto& [i, k] : {std::pair(1, 2), std::pair(2, 1)}) {
    EXPECT_EQ(laws.between(i, k).mu, 0.9);
    EXPECT_EQ(laws.between(i, k).restitution, 0.2);
  }
}

// A chain of three bodies and a fourth one that only the world connects with them.
TEST(PairFilter, SelfCollisionCanBeSwitchedOff) {
  const auto filter = [](bool self_collision) {
    ModelBuilder b("chain");
    for (int i = 0; i < 4; ++i) b.add_sphere_body("ball" + std::to_string(i), 1, 0.1, {Vec3(i, 0, 0)});
    b.add_geom(kWorld, Shape::box({1, 1, 1}));
    b.add_joint_at("a", JointType::revolute, 0, 1, Vec3(0.5, 0, 0));
    b.add_joint_at("b", JointType::revolute, 1, 2, Vec3(1.5, 0, 0));
    b.add_joint_at("c", JointType::revolute, kWorld, 0, Vec3(0, 0, 0));
    b.add_joint_at("d", JointType::revolute, kWorld, 3, Vec3(3, 0, 0));
    b.set_self_collision(self_collision);
    return PairFilter(b.build());
  };
  EXPECT_TRUE(filter(true).allowed(0, 2));
  EXPECT_FALSE(filter(false).allowed(0, 2)) << "same mechanism";
  EXPECT_TRUE(filter(false).allowed(0, 3)) << "connected through the world only";
  EXPECT_TRUE(filter(false).allowed(2, 4)) << "the world";
}

}  // namespace
}  // namespace sarrus::pair_filter_test
