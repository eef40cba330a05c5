// The detector as a whole: all pairs found, margins, determinism, no allocation (docs/theory/collision.md §2, §7, §8).
#include "sarrus/collision/detector.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>

#include "collision/oracles.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/builder.h"
#include "support/allocations.h"

namespace sarrus::collision_detector_test {
namespace {

using oracle::Random;

constexpr double kDt = 1e-3;

struct World {
  Model model;
  std::vector<Pose> X_WB;
  std::vector<Vec6> twist_WB;
};

World at_reference(const Model& model) {
  World w{model, {}, {}};
  for (const Body& body : model.bodies()) {
    w.X_WB.push_back(body.X_WB0);
    Vec6 twist;
    twist << body.v0_W, body.w0_W;
    w.twist_WB.push_back(twist);
  }
  return w;
}

std::vector<Contact> detect(const World& w, const CollisionOptions& options = {}) {
  CollisionDetector detector(w.model, options);
  std::vector<Contact> contacts;
  detector.detect(w.X_WB, w.twist_WB, kDt, contacts);
  return contacts;
}

// A heap of all shapes on a floor between two inclined walls, some bodies with two geoms off their centre.
World heap(unsigned seed, int bodies, double speed) {
  Random random(seed);
  ModelBuilder b("heap");
  b.add_floor();
  for (int i = 0; i < bodies; ++i) {
    const ShapeKind kind = static_cast<ShapeKind>(random.integer(1, 6));
    const int body = b.add_body("body" + std::to_string(i), 1, Mat3::Identity(),
                                {random.vector(1.0) + Vec3(0, 0, 0.8), random.rotation()});
    b.add_geom(body, random.shape(kind), {random.vector(0.1), random.rotation()});
    if (i % 3 == 0) b.add_geom(body, Shape::sphere(0.1), {Vec3(0.2, 0, 0), Quat::Identity()});
    b.set_velocity(body, random.vector(speed), random.vector(speed));
  }
  b.add_geom(kWorld, Shape::plane(), {Vec3(-1, 0, 0), frame_with_z({1, 0, 0.2})});
  b.add_geom(kWorld, Shape::box({0.1, 1, 1}), {Vec3(1.2, 0, 0), so3_exp({0, 0.3, 0})});
  return at_reference(b.build());
}

bool identical(const std::vector<Contact>& a, const std::vector<Contact>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = std::memcmp(a[i].p_W.data(), b[i].p_W.data(), sizeof(Vec3)) == 0 &&
                      std::memcmp(a[i].n_W.data(), b[i].n_W.data(), sizeof(Vec3)) == 0 &&
                      std::memcmp(&a[i].gap, &b[i].gap, sizeof(double)) == 0 && a[i].geom_a == b[i].geom_a &&
                      a[i].geom_b == b[i].geom_b && a[i].key == b[i].key;
    if (!same) return false;
  }
  return true;
}

// Every allowed pair through the narrow phase alone, without speculation: the broad phase may lose nothing.
TEST(CollisionDetector, FindsWhatAllPairsFind) {
  for (const double speed : {0.0, 5.0}) {
    const World w = heap(11, 60, speed);
    const CollisionOptions no_speculation{0.01, 0};
    const CollisionDetector detector(w.model);
    const std::vector<Geom>& geoms = w.model.geoms();
    std::vector<PlacedShape> placed;
    for (const Geom& g : geoms) {
      placed.push_back(place(g.shape, g.body == kWorld ? g.X_BG : w.X_WB[static_cast<std::size_t>(g.body)] * g.X_BG));
    }
    const std::vector<Contact> contacts = detect(w, no_speculation);
    std::size_t next = 0;
    for (int i = 0; i < static_cast<int>(geoms.size()); ++i) {
      for (int k = i + 1; k < static_cast<int>(geoms.size()); ++k) {
        if (!detector.pair_allowed(i, k)) continue;
        const auto a = static_cast<std::size_t>(i);
        const auto b = static_cast<std::size_t>(k);
        const double margin = no_speculation.margin * std::min(placed[a].diagonal, placed[b].diagonal);
        for (const ManifoldPoint& point : oracle::collide(placed[a], placed[b], margin)) {
          ASSERT_LT(next, contacts.size());
          const Contact& c = contacts[next++];
          ASSERT_EQ(c.geom_a, i);
          ASSERT_EQ(c.geom_b, k);
          ASSERT_EQ(c.body_a, geoms[a].body);
          ASSERT_EQ(c.body_b, geoms[b].body);
          ASSERT_EQ(c.key, point.key);
          ASSERT_NEAR(c.gap, point.gap, 1e-13);
          ASSERT_LT((c.p_W - point.p).norm(), 1e-9);  // round bodies turn round-off of a pose into more
          ASSERT_LT((c.n_W - point.n).norm(), 1e-9);
        }
      }
    }
    EXPECT_EQ(next, contacts.size());
    EXPECT_GT(next, 100u);
    EXPECT_GE(detect(w).size(), contacts.size()) << "speculation only adds";
  }
}

TEST(CollisionDetector, CarriesTheContactLaw) {
  ModelBuilder b("law");
  const int ice = b.add_material("ice", 0.04, 0.5);
  b.add_floor(0, ice);
  b.add_sphere_body("ball", 1, 0.1, {Vec3(0, 0, 0.1), Quat::Identity()}, b.add_material("rubber", 1.0, 0.25));
  b.add_sphere_body("slider", 1, 0.1, {Vec3(1, 0, 0.1), Quat::Identity()}, b.add_material("felt", 0.5, 0));
  b.set_material_pair(ice, 3, 0.125, 0.75);
  const std::vector<Contact> contacts = detect(at_reference(b.build()));
  ASSERT_EQ(contacts.size(), 2u);
  EXPECT_DOUBLE_EQ(contacts[0].mu, 0.2);
  EXPECT_EQ(contacts[0].restitution, 0.5);
  EXPECT_EQ(contacts[1].mu, 0.125);
  EXPECT_EQ(contacts[1].restitution, 0.75);
}

TEST(CollisionDetector, NoAllocationOnceWarm) {
  const World w = heap(5, 80, 2.0);
  CollisionDetector detector(w.model);
  std::vector<Contact> contacts;
  Random random(1);
  World moving = w;
  const auto shake = [&] {
    for (std::size_t i = 0; i < w.X_WB.size(); ++i) moving.X_WB[i].p = w.X_WB[i].p + random.vector(0.05);
  };
  for (int i = 0; i < 20; ++i) {
    shake();
    detector.detect(moving.X_WB, moving.twist_WB, kDt, contacts);
  }
  contacts.reserve(2 * contacts.size());
  EXPECT_EQ(test::allocations_of([&] {
              for (int i = 0; i < 20; ++i) {
                shake();
                detector.detect(moving.X_WB, moving.twist_WB, kDt, contacts);
              }
            }),
            0);
  EXPECT_GT(contacts.size(), 100u);
  std::vector<Contact> fresh;
  EXPECT_GT(test::allocations_of([&] { detector.detect(moving.X_WB, moving.twist_WB, kDt, fresh); }), 0);
}

TEST(CollisionDetector, SameInputSameBitsWhateverCameBefore) {
  const World w = heap(9, 70, 3.0);
  const World other = heap(10, 70, 3.0);
  CollisionDetector used(w.model);
  std::vector<Contact> first;
  std::vector<Contact> between;
  std::vector<Contact> again;
  used.detect(w.X_WB, w.twist_WB, kDt, first);
  used.detect(other.X_WB, other.twist_WB, kDt, between);
  used.detect(w.X_WB, w.twist_WB, kDt, again);
  EXPECT_TRUE(identical(first, again));
  EXPECT_TRUE(identical(first, detect(w)));
  EXPECT_FALSE(identical(first, between));
  const CollisionDetector copy = used;
  std::vector<Contact> by_copy;
  CollisionDetector(copy).detect(w.X_WB, w.twist_WB, kDt, by_copy);
  EXPECT_TRUE(identical(first, by_copy));
}

// Contacts between a ball at height `gap` over the floor and the floor.
std::size_t ball_contacts(double gap, const Vec3& v, const Vec3& w, const CollisionOptions& options = {}) {
  ModelBuilder b("ball");
  b.add_floor();
  const int ball = b.add_sphere_body("ball", 1, 0.1, {Vec3(0, 0, 0.1 + gap), Quat::Identity()});
  b.set_velocity(ball, v, w);
  return detect(at_reference(b.build()), options).size();
}

TEST(SpeculativeMargin, ReachesWhatTheMotionCovers) {
  EXPECT_EQ(ball_contacts(3.4e-3, Vec3::Zero(), Vec3::Zero()), 1u) << "a hundredth of its diagonal";
  EXPECT_EQ(ball_contacts(3.5e-3, Vec3::Zero(), Vec3::Zero()), 0u);
  EXPECT_EQ(ball_contacts(0.0149, Vec3(0, 0, -10), Vec3::Zero()), 1u) << "1.5 * 1 ms * 10 m/s = 15 mm";
  EXPECT_EQ(ball_contacts(0.0151, Vec3(0, 0, -10), Vec3::Zero()), 0u);
  EXPECT_EQ(ball_contacts(0.0049, Vec3(0, 0, -10), Vec3::Zero(), {0.01, 0.5}), 1u);
  EXPECT_EQ(ball_contacts(0.0051, Vec3(0, 0, -10), Vec3::Zero(), {0.01, 0.5}), 0u);
  EXPECT_EQ(ball_contacts(0.005, Vec3(0, 0, -10), Vec3::Zero(), {0.01, 0}), 0u);
  EXPECT_EQ(ball_contacts(0.005, Vec3::Zero(), Vec3(40, 0, 0)), 1u) << "40 rad/s * 0.1 m * 1.5 ms = 6 mm";
  EXPECT_EQ(ball_contacts(0.005, Vec3::Zero(), Vec3(0, 0, 40)), 0u) << "spin about the normal reaches nothing";
}

TEST(SpeculativeMargin, OnlyTheApproachAlongTheNormalCounts) {
  EXPECT_EQ(ball_contacts(0.01, Vec3(0, 0, 10), Vec3::Zero()), 0u) << "flying away";
  EXPECT_EQ(ball_contacts(0.01, Vec3(100, 0, 0), Vec3::Zero()), 0u) << "flying past";
  EXPECT_EQ(ball_contacts(1e-3, Vec3(100, 0, 10), Vec3::Zero()), 1u) << "closer than the margin always counts";
}

TEST(SpeculativeMargin, TakesTheRelativeVelocity) {
  for (const bool together : {true, false}) {
    ModelBuilder b("pair");
    const int first = b.add_box_body("first", 1, {0.1, 0.1, 0.1}, {});
    const int second = b.add_box_body("second", 1, {0.1, 0.1, 0.1}, {Vec3(0.21, 0, 0), Quat::Identity()});
    b.set_velocity(first, {20, 0, 0}, Vec3::Zero());
    b.set_velocity(second, {together ? 20.0 : 10.0, 0, 0}, Vec3::Zero());
    const std::vector<Contact> contacts = detect(at_reference(b.build()));
    EXPECT_EQ(contacts.size(), together ? 0u : 4u);
    for (const Contact& c : contacts) EXPECT_NEAR(c.gap, 0.01, 1e-15);
  }
}

// Children of a compound meet the same things as separate geoms at the same places, told apart by their keys.
TEST(CollisionDetector, CompoundsAreTheirChildren) {
  const std::vector<CompoundChild> parts = {{Shape::box({0.1, 0.1, 0.1}), {Vec3(0.3, 0, 0), Quat::Identity()}},
                                            {Shape::sphere(0.1), {}},
                                            {Shape::cylinder(0.08, 0.1), {Vec3(-0.3, 0, 0), so3_exp({0, 0, 0.3})}}};
  const auto world = [&](bool compound) {
    ModelBuilder b("parts");
    b.add_floor();
    b.add_geom(kWorld, Shape::box({0.02, 1, 1}), {Vec3(0.42, 0, 0), Quat::Identity()});
    const int body = b.add_body("body", 1, Mat3::Identity(), {Vec3(0, 0, 0.0999), Quat::Identity()});
    if (compound) {
      b.add_geom(body, Shape::compound(parts));
    } else {
      for (const CompoundChild& part : parts) b.add_geom(body, part.shape, part.X_SC);
    }
    return detect(at_reference(b.build()));
  };
  const std::vector<Contact> whole = world(true);
  const std::vector<Contact> apart = world(false);
  ASSERT_EQ(whole.size(), apart.size());
  ASSERT_EQ(whole.size(), 4u + 1u + 8u + 4u);
  for (const Contact& c : apart) {
    const int child = c.geom_b - 2;
    const FeatureKey key{c.key.hi | static_cast<std::uint64_t>(child) << 23, c.key.lo};
    const auto match = std::find_if(whole.begin(), whole.end(),
                                    [&](const Contact& w) { return w.geom_a == c.geom_a && w.key == key; });
    ASSERT_NE(match, whole.end());
    EXPECT_EQ(match->p_W, c.p_W);
    EXPECT_EQ(match->gap, c.gap);
  }
  for (std::size_t i = 1; i < whole.size(); ++i) {
    EXPECT_LT(std::tuple(whole[i - 1].geom_a, whole[i - 1].key), std::tuple(whole[i].geom_a, whole[i].key));
  }
}

TEST(Margin, BelongsToTheGeomOrIsAShareOfTheSmallerOne) {
  const auto contacts = [](double radius, double gap, double margin) {
    ModelBuilder b("ball");
    b.add_floor();
    const int ball = b.add_sphere_body("ball", 1, radius, {Vec3(0, 0, radius + gap), Quat::Identity()});
    b.geom(ball + 1).margin = margin;
    return detect(at_reference(b.build())).size();
  };
  EXPECT_EQ(contacts(0.1, 4e-3, kUseDefault), 0u);
  EXPECT_EQ(contacts(0.1, 4e-3, 5e-3), 1u);
  EXPECT_EQ(contacts(0.1, 1e-3, 0), 1u) << "the larger of the two counts, and the floor has the default";
  for (const double radius : {1e-3, 10.0, 1e4}) {
    const double margin = 0.01 * 2 * std::sqrt(3.0) * radius;
    EXPECT_EQ(contacts(radius, 0.9 * margin, kUseDefault), 1u) << radius;
    EXPECT_EQ(contacts(radius, 1.2 * margin, kUseDefault), 0u) << radius;
  }
}

// A cube 20 mm from a thin wall at 50 m/s, and one that will miss it.
TEST(Ccd, LevelsKeepWhatTheyPromise) {
  const auto contacts = [](Ccd ccd, double offset) {
    ModelBuilder b("bullet");
    b.add_geom(kWorld, Shape::box({0.005, 0.1, 0.1}), {});
    const int cube = b.add_box_body("cube", 1, {0.05, 0.05, 0.05}, {Vec3(-0.075, offset, 0), Quat::Identity()});
    b.body(cube).ccd = ccd;
    b.set_velocity(cube, {50, 0, 0}, Vec3::Zero());
    return detect(at_reference(b.build()));
  };
  EXPECT_EQ(contacts(Ccd::off, 0).size(), 0u);
  EXPECT_EQ(contacts(Ccd::speculative, 0).size(), 4u);
  EXPECT_EQ(contacts(Ccd::cast, 0).size(), 4u);
  for (const Contact& c : contacts(Ccd::cast, 0)) EXPECT_NEAR(c.gap, 0.02, 1e-6);
  EXPECT_GT(contacts(Ccd::speculative, 0.151).size(), 0u) << "a ghost";
  EXPECT_EQ(contacts(Ccd::cast, 0.151).size(), 0u);
}

TEST(CollisionDetector, SurvivesDivergedBodies) {
  World w = heap(3, 40, 1.0);
  const auto touches = [](const std::vector<Contact>& contacts, int body) {
    for (const Contact& c : contacts) {
      if (c.body_a == body || c.body_b == body) return true;
    }
    return false;
  };
  std::vector<int> lost;
  for (int i = 0; lost.size() < 3; ++i) {
    ASSERT_LT(i, 40);
    if (touches(detect(w), i)) lost.push_back(i);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  w.X_WB[static_cast<std::size_t>(lost[0])].p.x() = nan;
  w.X_WB[static_cast<std::size_t>(lost[1])].q.coeffs().setConstant(nan);
  w.twist_WB[static_cast<std::size_t>(lost[2])][2] = kInf;
  const std::vector<Contact> contacts = detect(w);
  for (const int body : lost) EXPECT_FALSE(touches(contacts, body)) << body;
  EXPECT_GT(contacts.size(), 20u);
  for (const Contact& c : contacts) ASSERT_TRUE(c.p_W.allFinite() && c.n_W.allFinite() && std::isfinite(c.gap));
}

TEST(CollisionDetector, EmptyModelsHaveNoContacts) {
  EXPECT_TRUE(detect(at_reference(ModelBuilder("nothing").build())).empty());
  ModelBuilder floor("floor");
  floor.add_floor();
  EXPECT_TRUE(detect(at_reference(floor.build())).empty());
}

}  // namespace
}  // namespace sarrus::collision_detector_test
