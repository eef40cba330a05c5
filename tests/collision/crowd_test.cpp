// Shapes in one place: refused with names where there are too many, whatever their number.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "effort.h"
#include "sarrus/collision/broad_phase.h"
#include "sarrus/collision/detector.h"
#include "sarrus/math/error.h"
#include "sarrus/model/builder.h"

namespace sarrus::crowd_test {
namespace {

// Spheres of 1 m along x.
Model row_of_spheres(int count, double distance) {
  ModelBuilder b("spheres");
  b.set_source("heap.json");
  for (int i = 0; i < count; ++i) b.add_sphere_body("ball" + std::to_string(i), 1, 1, {Vec3(distance * i, 0, 0)});
  return b.build();
}

std::size_t contacts_of(const Model& model) {
  CollisionDetector detector(model);
  std::vector<Pose> poses;
  for (const Body& body : model.bodies()) poses.push_back(body.X_WB0);
  const std::vector<Vec6> at_rest(poses.size(), Vec6::Zero());
  std::vector<Contact> contacts;
  detector.detect(poses, at_rest, 1e-3, contacts);
  return contacts.size();
}

TEST(Crowd, OfAHundredInOnePlaceIsRefusedByName) {
  for (const int count : {100, 400, 2000}) {
    try {
      contacts_of(row_of_spheres(count, 0));
      ADD_FAILURE() << count;
    } catch (const InputError& e) {
      const std::string text = e.what();
      EXPECT_EQ(text.rfind("heap.json: shapes of 'ball", 0), 0u) << text;
      EXPECT_NE(text.find("move the bodies apart"), std::string::npos) << text;
    }
  }
}

TEST(Crowd, OfAFewOrOfTouchingOnesIsNone) {
  EXPECT_EQ(contacts_of(row_of_spheres(40, 0)), 40u * 39 / 2);
  EXPECT_EQ(contacts_of(row_of_spheres(500, 2)), 499u);
  // Each within a dozen others.
  EXPECT_GT(contacts_of(row_of_spheres(400, 0.3)), 2000u);
}

// Boxes that are near each other and do not touch: bounded before they make contacts, and forgotten.
TEST(Crowd, OfTooManyNearPairsIsRefusedAndTheNextCallIsGood) {
  SARRUS_FULL_SIZE_ONLY();
  constexpr int kCount = 5000;
  ModelBuilder b("boxes");
  std::vector<int> ids, geoms;
  for (int i = 0; i < kCount; ++i) {
    b.add_sphere_body("ball" + std::to_string(i), 1, 1, {});
    ids.push_back(i);
    geoms.push_back(i);
  }
  const Model model = b.build();
  const PairFilter filter(model);
  BroadPhase broad(ids, {}, geoms);
  std::vector<Aabb> boxes(kCount, Aabb{Vec3::Constant(-1), Vec3::Constant(1)});
  std::vector<GeomPair> pairs;
  EXPECT_FALSE(broad.find_pairs(boxes, filter, pairs));
  EXPECT_TRUE(pairs.empty());
  for (int i = 0; i < kCount; ++i) {
    boxes[static_cast<std::size_t>(i)].lo.x() += 1.5 * i;
    boxes[static_cast<std::size_t>(i)].hi.x() += 1.5 * i;
  }
  EXPECT_TRUE(broad.find_pairs(boxes, filter, pairs));
  EXPECT_EQ(pairs.size(), kCount - 1u);
}

}  // namespace
}  // namespace sarrus::crowd_test
