// Sort-and-sweep against all pairs (spec/collision.md §3).
#include "sarrus/collision/broad_phase.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "collision/oracles.h"
#include "sarrus/model/builder.h"

namespace sarrus {
namespace {

using oracle::Random;

class BroadPhaseTest : public testing::Test {
 protected:
  static constexpr int kCount = 150;

  static Model balls() {
    ModelBuilder b("balls");
    for (int i = 0; i < kCount; ++i) b.add_sphere_body("ball" + std::to_string(i), 1, 0.1, {});
    b.exclude(3, 7);
    return b.build();
  }

  std::vector<GeomPair> all_pairs() const {
    std::vector<GeomPair> pairs;
    for (int i = 0; i < kCount; ++i) {
      for (int k = i + 1; k < kCount; ++k) {
        const Aabb& a = boxes_[static_cast<std::size_t>(i)];
        const Aabb& b = boxes_[static_cast<std::size_t>(k)];
        const bool overlap = (a.lo.array() <= b.hi.array()).all() && (b.lo.array() <= a.hi.array()).all();
        if (overlap && !(i == 3 && k == 7)) pairs.push_back({i, k});
      }
    }
    return pairs;
  }

  std::vector<GeomPair> swept(BroadPhase& broad_phase) const {
    std::vector<GeomPair> pairs;
    broad_phase.find_pairs(boxes_, filter_, pairs);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  std::vector<int> ids() const {
    std::vector<int> v(kCount);
    std::iota(v.begin(), v.end(), 0);
    return v;
  }

  void place(const std::vector<Vec3>& centres, double half) {
    boxes_.resize(centres.size());
    for (std::size_t i = 0; i < centres.size(); ++i) {
      boxes_[i] = {centres[i] - Vec3::Constant(half), centres[i] + Vec3::Constant(half)};
    }
  }

  PairFilter filter_{balls()};
  std::vector<Aabb> boxes_;
};

// The cloud turns from long in x to long in z, so the sweep axis changes on the way.
TEST_F(BroadPhaseTest, FindsExactlyTheOverlappingPairsWhileTheSceneMoves) {
  Random random(1);
  std::vector<Vec3> unit(kCount);
  for (Vec3& x : unit) x = random.vector(1);
  BroadPhase persistent(ids());
  std::size_t found = 0;
  for (int step = 0; step <= 40; ++step) {
    const double blend = step / 40.0;
    const Vec3 extent = (1 - blend) * Vec3(4, 1, 0.5) + blend * Vec3(0.5, 1, 4);
    std::vector<Vec3> centres(kCount);
    for (std::size_t i = 0; i < unit.size(); ++i) {
      unit[i] += random.vector(0.02);
      centres[i] = Vec3(1e3, 0, 0) + unit[i].cwiseProduct(extent);
    }
    place(centres, 0.25);
    const std::vector<GeomPair> expected = all_pairs();
    ASSERT_EQ(swept(persistent), expected);
    BroadPhase fresh(ids());
    ASSERT_EQ(swept(fresh), expected) << "history must not matter";
    found += expected.size();
  }
  EXPECT_GT(found, 1000u);
}

TEST_F(BroadPhaseTest, TouchingCountsAndEmptyBoxesMeetNothing) {
  std::vector<Vec3> centres(kCount);
  for (int i = 0; i < kCount; ++i) centres[static_cast<std::size_t>(i)] = Vec3(i, 0, 0);
  place(centres, 0.5);  // neighbours touch exactly
  BroadPhase broad_phase(ids());
  EXPECT_EQ(swept(broad_phase).size(), static_cast<std::size_t>(kCount - 1));
  boxes_[10] = Aabb::nothing();
  EXPECT_EQ(swept(broad_phase).size(), static_cast<std::size_t>(kCount - 3));
  EXPECT_EQ(swept(broad_phase), all_pairs());
}

}  // namespace
}  // namespace sarrus
