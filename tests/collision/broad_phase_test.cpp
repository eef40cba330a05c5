// The broad phase against all pairs and against sort-and-sweep (docs/theory/collision.md §3).
#include "sarrus/collision/broad_phase.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>

#include "collision/oracles.h"
#include "collision/sort_sweep.h"
#include "sarrus/model/builder.h"
#include "support/allocations.h"

namespace sarrus::broad_phase_test {
namespace {

using oracle::Random;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Aabb cube(const Vec3& centre, double half) { return Aabb{centre, centre}.grown(half); }

// Free balls, some with masks, and balls of the world. Boxes are colliders: two for every geom, in shuffled order, and
// every 13th in neither list.
class World {
 public:
  World(int bodies, int world_geoms, unsigned seed) : filter_(model(bodies, world_geoms)) {
    geom_of_.resize(at(2 * (bodies + world_geoms)));
    for (std::size_t i = 0; i < geom_of_.size(); ++i) geom_of_[i] = static_cast<int>(i / 2);
    Random random(seed);
    for (std::size_t i = geom_of_.size(); i > 1; --i) {
      std::swap(geom_of_[i - 1], geom_of_[at(random.integer(0, static_cast<int>(i) - 1))]);
    }
    for (int i = 0; i < box_count(); ++i) {
      if (i % 13 == 12) continue;
      (geom_of_[at(i)] < bodies ? moving_ : fixed_).push_back(i);
    }
  }

  int box_count() const { return static_cast<int>(geom_of_.size()); }
  const std::vector<int>& moving() const { return moving_; }
  const std::vector<int>& fixed() const { return fixed_; }
  BroadPhase broad_phase() const { return {moving_, fixed_, geom_of_}; }
  oracle::SortSweep sweep() const { return {moving_, fixed_, geom_of_}; }

  template <class Finder>
  std::vector<GeomPair> pairs(Finder& finder, const std::vector<Aabb>& boxes) const {
    std::vector<GeomPair> out;
    finder.find_pairs(boxes, filter_, out);
    return out;
  }
  template <class Finder>
  void pairs(Finder& finder, const std::vector<Aabb>& boxes, std::vector<GeomPair>& out) const {
    finder.find_pairs(boxes, filter_, out);
  }

  std::vector<GeomPair> all_pairs(const std::vector<Aabb>& boxes) const {
    std::vector<char> role(geom_of_.size(), 0);  // 1 moving, 2 fixed
    for (const int id : moving_) role[at(id)] = 1;
    for (const int id : fixed_) role[at(id)] = 2;
    std::vector<GeomPair> out;
    for (int i = 0; i < box_count(); ++i) {
      for (int k = i + 1; k < box_count(); ++k) {
        if (role[at(i)] == 0 || role[at(k)] == 0 || (role[at(i)] == 2 && role[at(k)] == 2)) continue;
        const Aabb& a = boxes[at(i)];
        const Aabb& b = boxes[at(k)];
        const bool proper = (a.lo.array() <= a.hi.array()).all() && (b.lo.array() <= b.hi.array()).all();
        const bool meet = (a.lo.array() <= b.hi.array()).all() && (b.lo.array() <= a.hi.array()).all();
        if (proper && meet && filter_.allowed(geom_of_[at(i)], geom_of_[at(k)])) out.push_back({i, k});
      }
    }
    return out;
  }

 private:
  static Model model(int bodies, int world_geoms) {
    ModelBuilder b("balls");
    for (int i = 0; i < bodies; ++i) {
      const int body = b.add_sphere_body("ball" + std::to_string(i), 1, 0.1, {});
      if (i % 7 == 3) b.geom(body).collides_with = 2;
      if (i % 5 == 1) b.geom(body).group = 2;
    }
    for (int i = 0; i < world_geoms; ++i) b.add_geom(kWorld, Shape::sphere(0.1));
    for (int i = 0; i + 9 < bodies; i += 4) b.exclude(i, i + 9);
    return b.build();
  }

  PairFilter filter_;
  std::vector<int> geom_of_;
  std::vector<int> moving_;
  std::vector<int> fixed_;
};

// Drifting boxes of very different sizes and shapes that now and then jump, vanish, come back or become huge.
class Crowd {
 public:
  Crowd(const World& world, const Vec3& extent, const Vec3& centre, unsigned seed)
      : world_(world), extent_(extent), centre_(centre), random_(seed), boxes_(at(world.box_count())) {
    x_.resize(boxes_.size());
    v_.resize(boxes_.size());
    half_.resize(boxes_.size());
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      for (int k = 0; k < 3; ++k) half_[i][k] = std::exp(random_.uniform(std::log(0.01), std::log(0.4)));
      v_[i] = std::exp(random_.uniform(-9, -2)) * random_.direction();
      x_[i] = somewhere();
      boxes_[i] = {x_[i] - half_[i], x_[i] + half_[i]};
    }
  }

  void step() {
    for (const int id : world_.moving()) {
      const std::size_t i = at(id);
      if (random_.uniform(0, 1) < 0.01) x_[i] = somewhere();
      if (random_.uniform(0, 1) < 0.05) v_[i] = std::exp(random_.uniform(-9, -2)) * random_.direction();
      x_[i] += v_[i];
      boxes_[i] = {x_[i] - half_[i], x_[i] + half_[i]};
      const double odd = random_.uniform(0, 1);
      if (odd < 0.004) boxes_[i] = Aabb::nothing();
      if (odd > 0.997) boxes_[i] = boxes_[i].grown(random_.uniform(0, 1) < 0.5 ? 1.0 : 1e18);
      if (odd > 0.9995) boxes_[i].hi.x() = kInf;
    }
  }
  void scatter() {
    for (const int id : world_.moving()) x_[at(id)] = somewhere();
    step();
  }
  const std::vector<Aabb>& boxes() const { return boxes_; }

 private:
  Vec3 somewhere() { return centre_ + random_.vector(1).cwiseProduct(extent_); }

  const World& world_;
  Vec3 extent_;
  Vec3 centre_;
  Random random_;
  std::vector<Vec3> x_, v_, half_;
  std::vector<Aabb> boxes_;
};

class BroadPhaseCrowd : public testing::TestWithParam<double> {};

// The parameter is the distance from the world origin.
TEST_P(BroadPhaseCrowd, FindsExactlyTheOverlappingPairsWhileTheSceneMoves) {
  const World world(110, 25, 1);
  const Vec3 centre = GetParam() * Vec3(1, -0.7, 0.3);
  Crowd crowd(world, {2, 1, 0.7}, centre, 2);
  const std::vector<Aabb> first = crowd.boxes();
  BroadPhase persistent = world.broad_phase();
  oracle::SortSweep sweep = world.sweep();
  std::size_t found = 0;
  for (int step = 0; step < 400; ++step) {
    if (step % 100 == 99) {
      crowd.scatter();
    } else {
      crowd.step();
    }
    const std::vector<Aabb>& boxes = step % 150 == 149 ? first : crowd.boxes();  // as after a rewind
    const std::vector<GeomPair> expected = world.all_pairs(boxes);
    ASSERT_EQ(world.pairs(persistent, boxes), expected) << "step " << step;
    ASSERT_EQ(world.pairs(sweep, boxes), expected) << "step " << step;
    if (step % 10 == 0) {
      BroadPhase fresh = world.broad_phase();
      ASSERT_EQ(world.pairs(fresh, boxes), expected) << "history must not matter, step " << step;
    }
    found += expected.size();
  }
  EXPECT_GT(found, 50000u);
}

INSTANTIATE_TEST_SUITE_P(DistanceFromOrigin, BroadPhaseCrowd, testing::Values(0.0, 1e6, 1e14));

TEST(BroadPhase, AnswersDependOnTheBoxesAlone) {
  const World world(150, 30, 3);
  Crowd crowd(world, {1.5, 1, 1}, Vec3::Zero(), 4);
  const std::vector<Aabb> probe = crowd.boxes();
  const std::vector<GeomPair> expected = world.all_pairs(probe);
  EXPECT_GT(expected.size(), 300u);
  for (const int history : {0, 1, 2, 3, 17, 130}) {
    BroadPhase broad_phase = world.broad_phase();
    for (int i = 0; i < history; ++i) {
      crowd.step();
      world.pairs(broad_phase, crowd.boxes());
    }
    EXPECT_EQ(world.pairs(broad_phase, probe), expected) << history << " steps before";
    BroadPhase copy = broad_phase;
    crowd.step();
    EXPECT_EQ(world.pairs(copy, crowd.boxes()), world.all_pairs(crowd.boxes()));
    EXPECT_EQ(world.pairs(broad_phase, crowd.boxes()), world.all_pairs(crowd.boxes()));
  }
}

// One box per geom and no restriction but the exclusions of World, for closed-form counts.
class PlainBalls {
 public:
  explicit PlainBalls(int n) : ids_(at(n)), filter_(model(n)) { std::iota(ids_.begin(), ids_.end(), 0); }
  BroadPhase broad_phase() const { return {ids_, {}, ids_}; }
  std::vector<GeomPair> pairs(BroadPhase& broad_phase, const std::vector<Aabb>& boxes) const {
    std::vector<GeomPair> out;
    broad_phase.find_pairs(boxes, filter_, out);
    return out;
  }

 private:
  static Model model(int n) {
    ModelBuilder b("balls");
    for (int i = 0; i < n; ++i) b.add_sphere_body("ball" + std::to_string(i), 1, 0.1, {});
    return b.build();
  }
  std::vector<int> ids_;
  PairFilter filter_;
};

TEST(BroadPhase, TouchingCountsAndEmptyBoxesMeetNothing) {
  constexpr int n = 40;
  const PlainBalls balls(n);
  std::vector<Aabb> row(n);
  for (int i = 0; i < n; ++i) row[at(i)] = cube({1.0 * i, 0, 0}, 0.5);  // neighbours touch exactly
  std::vector<GeomPair> neighbours;
  for (int i = 0; i + 1 < n; ++i) neighbours.push_back({i, i + 1});
  std::vector<GeomPair> without_10;
  for (const GeomPair& p : neighbours) {
    if (p.a != 10 && p.b != 10) without_10.push_back(p);
  }
  BroadPhase broad_phase = balls.broad_phase();
  EXPECT_EQ(balls.pairs(broad_phase, row), neighbours);

  Aabb one_axis = row[10];
  std::swap(one_axis.lo.y(), one_axis.hi.y());
  Aabb nan = row[10];
  nan.hi.z() = kNan;
  for (const Aabb& empty : {Aabb::nothing(), one_axis, nan}) {
    std::vector<Aabb> boxes = row;
    boxes[10] = empty;
    EXPECT_EQ(balls.pairs(broad_phase, boxes), without_10);
    BroadPhase fresh = balls.broad_phase();
    EXPECT_EQ(balls.pairs(fresh, boxes), without_10);
    EXPECT_EQ(balls.pairs(broad_phase, row), neighbours);

    boxes[0] = {Vec3::Constant(-kInf), Vec3::Constant(kInf)};  // everything meets it, but not the empty one
    EXPECT_EQ(balls.pairs(broad_phase, boxes).size(), without_10.size() - 1 + n - 2);
    EXPECT_EQ(balls.pairs(fresh, boxes), balls.pairs(broad_phase, boxes));
  }
  const std::vector<Aabb> nothing(n, Aabb::nothing());
  EXPECT_TRUE(balls.pairs(broad_phase, nothing).empty());
  EXPECT_EQ(balls.pairs(broad_phase, row), neighbours);
  BroadPhase fresh = balls.broad_phase();
  EXPECT_TRUE(balls.pairs(fresh, nothing).empty());
  EXPECT_EQ(balls.pairs(fresh, row), neighbours);
}

// A gap of one unit in the last place is a gap, also where the tree's own numbers are too coarse to see it.
TEST(BroadPhase, OverlapIsDecidedInDoublePrecision) {
  const PlainBalls balls(2);
  BroadPhase broad_phase = balls.broad_phase();
  for (const double x : {0.3, 1e3, 123456.789, 1e9, 1e300}) {
    const double beyond = std::nextafter(x, kInf);
    const Aabb left{Vec3(-1, 0, 0), Vec3(x, 1, 1)};
    EXPECT_EQ(balls.pairs(broad_phase, {left, {Vec3(x, 0, 0), Vec3(2 * x, 1, 1)}}).size(), 1u) << x;
    EXPECT_EQ(balls.pairs(broad_phase, {left, {Vec3(beyond, 0, 0), Vec3(2 * x, 1, 1)}}).size(), 0u) << x;
  }
}

TEST(BroadPhase, ThousandsOfCoincidentBoxes) {
  constexpr int n = 1500;
  const PlainBalls balls(n);
  BroadPhase broad_phase = balls.broad_phase();
  std::vector<Aabb> boxes(n, cube({1, 2, 3}, 0.1));
  EXPECT_EQ(balls.pairs(broad_phase, boxes).size(), n * (n - 1) / 2u);
  boxes[700] = cube({5, 0, 0}, 0.1);
  EXPECT_EQ(balls.pairs(broad_phase, boxes).size(), (n - 1) * (n - 2) / 2u);
  boxes.assign(n, cube({1, 2, 3}, 0));  // points
  EXPECT_EQ(balls.pairs(broad_phase, boxes).size(), n * (n - 1) / 2u);

  // One after the other they come to the same place.
  for (int i = 0; i < n; ++i) boxes[at(i)] = cube({1.0 * i, 10, 0}, 0.1);
  EXPECT_TRUE(balls.pairs(broad_phase, boxes).empty());
  for (std::size_t i = 0; i < 300; ++i) {
    boxes[i] = cube({-5, 0, 0}, 0.1);
    ASSERT_EQ(balls.pairs(broad_phase, boxes).size(), (i + 1) * i / 2);
  }
}

TEST(BroadPhase, AppendsAndNeedsNoMovingBoxes) {
  const PlainBalls balls(3);
  BroadPhase broad_phase = balls.broad_phase();
  const std::vector<Aabb> boxes(3, cube(Vec3::Zero(), 1));
  ModelBuilder b("balls");
  for (int i = 0; i < 3; ++i) b.add_sphere_body("ball" + std::to_string(i), 1, 0.1, {});
  const PairFilter filter(b.build());
  std::vector<GeomPair> pairs{{7, 9}};
  broad_phase.find_pairs(boxes, filter, pairs);
  EXPECT_EQ(pairs, (std::vector<GeomPair>{{7, 9}, {0, 1}, {0, 2}, {1, 2}}));

  const std::vector<int> ids{0, 1, 2};
  BroadPhase fixed({}, ids, ids);
  BroadPhase none({}, {}, ids);
  BroadPhase one(std::vector<int>{0}, std::vector<int>{1, 2}, ids);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(balls.pairs(fixed, boxes).empty()) << "two fixed boxes make no pair, whatever the filter says";
    EXPECT_TRUE(balls.pairs(none, boxes).empty());
    EXPECT_EQ(balls.pairs(one, boxes), (std::vector<GeomPair>{{0, 1}, {0, 2}}));
  }
}

// The same 60 frames again and again, with jumps between the last and the first: memory that grew with time would show.
TEST(BroadPhase, NoAllocationAfterWarmUp) {
  const World world(300, 60, 5);
  Crowd crowd(world, {2, 2, 2}, Vec3::Zero(), 6);
  std::vector<std::vector<Aabb>> frames;
  for (int i = 0; i < 60; ++i) {
    crowd.step();
    frames.push_back(crowd.boxes());
  }
  BroadPhase broad_phase = world.broad_phase();
  std::vector<GeomPair> pairs;
  const auto cycle = [&] {
    for (const std::vector<Aabb>& boxes : frames) {
      pairs.clear();
      world.pairs(broad_phase, boxes, pairs);
    }
  };
  EXPECT_GT(test::allocations_of(cycle), 0);  // the counter works
  cycle();
  EXPECT_EQ(test::allocations_of([&] {
              for (int i = 0; i < 20; ++i) cycle();
            }),
            0);
  EXPECT_EQ(pairs, world.all_pairs(frames.back()));
}

}  // namespace
}  // namespace sarrus::broad_phase_test
