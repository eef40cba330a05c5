// Resting manifolds: how many points, where, with which keys, and whether noise moves them
// (docs/theory/collision.md §2, §4.2, §4.4, §8).
#include "sarrus/collision/manifold.h"

#include <gtest/gtest.h>

#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "collision/oracles.h"

namespace sarrus::manifold_test {
namespace {

using oracle::Random;

constexpr double kMargin = 2e-3;
constexpr double kHalfPi = 0.5 * std::numbers::pi;
const Quat kLying = so3_exp({kHalfPi, 0, 0});  // capsule axis along y

struct Scene {
  std::string name;
  Shape a;
  Pose X_WA;
  Shape b;
  Pose X_WB;  // at gap 0, B above A
  int points;
};

Quat about_z(double angle) { return so3_exp({0, 0, angle}); }

std::vector<Scene> resting_scenes() {
  const Pose origin;
  const Pose floor_box{Vec3(0, 0, -0.5), Quat::Identity()};  // top face at z = 0
  const Shape slab = Shape::box({1, 1, 0.5});
  const Shape cube = Shape::box({0.1, 0.1, 0.1});
  const Shape rod = Shape::capsule(0.05, 0.2);
  const auto at = [](double x, double y, double z, const Quat& q = Quat::Identity()) { return Pose{Vec3(x, y, z), q}; };
  return {
      {"box_on_plane", Shape::plane(), origin, cube, at(0.3, 0.1, 0.1, about_z(0.4)), 4},
      {"sphere_on_plane", Shape::plane(), origin, Shape::sphere(0.1), at(0, 0, 0.1), 1},
      {"capsule_lying_on_plane", Shape::plane(), origin, rod, at(0, 0, 0.05, kLying), 2},
      {"capsule_standing_on_plane", Shape::plane(), origin, rod, at(0, 0, 0.25), 1},
      {"box_inside_face", slab, floor_box, cube, at(0.2, 0.1, 0.1, about_z(0.7)), 4},
      {"box_on_equal_box", cube, at(0, 0, -0.1), cube, at(0, 0, 0.1), 4},
      {"box_on_shifted_box", cube, at(0, 0, -0.1), cube, at(0.05, 0.03, 0.1), 4},
      {"box_flush_on_one_side", cube, at(0, 0, -0.1), cube, at(0.05, 0, 0.1), 4},
      {"box_turned_45_degrees", cube, at(0, 0, -0.1), cube, at(0, 0, 0.1, about_z(0.5 * kHalfPi)), 8},
      {"box_turned_30_degrees", cube, at(0, 0, -0.1), cube, at(0.01, 0, 0.1, about_z(0.5)), 8},
      {"crossed_beams", Shape::box({0.5, 0.05, 0.05}), at(0, 0, -0.05), Shape::box({0.05, 0.5, 0.05}), at(0, 0, 0.05),
       4},
      {"large_on_small", cube, at(0, 0, -0.1), slab, at(0.3, 0.2, 0.5), 4},
      {"sphere_on_box", slab, floor_box, Shape::sphere(0.1), at(0.2, 0, 0.1), 1},
      {"capsule_lying_on_box", slab, floor_box, rod, at(0.2, 0.1, 0.05, kLying), 2},
      {"capsule_over_an_edge", slab, floor_box, rod, at(0, 0.95, 0.05, kLying), 2},
      {"capsule_standing_on_box", slab, floor_box, rod, at(0.2, 0.1, 0.25), 1},
      {"capsule_along_an_edge", slab, floor_box, rod, at(1.0, 0, 0.05, kLying), 2},
      {"equal_capsules", rod, at(0, 0, -0.05, kLying), rod, at(0, 0, 0.05, kLying), 2},
      {"shifted_capsules", rod, at(0, 0, -0.05, kLying), rod, at(0, 0.1, 0.05, kLying), 2},
      {"nested_capsules", rod, at(0, 0, -0.05, kLying), Shape::capsule(0.05, 0.1), at(0, 0.02, 0.05, kLying), 2},
      {"opposite_capsules", rod, at(0, 0, -0.05, kLying), rod, at(0, 0, 0.05, so3_exp({-kHalfPi, 0, 0})), 2},
      {"crossed_capsules", rod, at(0, 0, -0.05, kLying), rod, at(0, 0, 0.05, so3_exp({0, kHalfPi, 0})), 1},
  };
}

class Resting : public testing::TestWithParam<Scene> {};

TEST_P(Resting, CountGapAndNormal) {
  const Scene& s = GetParam();
  const PlacedShape a = place(s.a, s.X_WA);
  PlacedShape b = place(s.b, s.X_WB);
  for (const double gap : {-1e-3, 0.0, 1e-3}) {
    b.p_W = s.X_WB.p + Vec3(0, 0, gap);
    const Manifold m = oracle::collide(a, b, kMargin);
    ASSERT_EQ(m.size(), s.points) << "gap " << gap;
    for (const ManifoldPoint& point : m) {
      EXPECT_NEAR(point.gap, gap, 1e-15);
      EXPECT_LT((point.n - Vec3::UnitZ()).norm(), 1e-15);
      EXPECT_NEAR(point.p.z(), 0, 1e-15);
    }
  }
}

TEST_P(Resting, NoiseChangesNeitherKeysNorOrder) {
  const Scene& s = GetParam();
  Random random(4);
  for (const double gap : {-1e-3, 0.0, 1e-3}) {
    const PlacedShape a = place(s.a, s.X_WA);
    const Pose X_WB{s.X_WB.p + Vec3(0, 0, gap), s.X_WB.q};
    const Manifold still = oracle::collide(a, place(s.b, X_WB), kMargin);
    for (int i = 0; i < 300; ++i) {
      const Pose noisy{X_WB.p + random.vector(1e-7), so3_exp(1e-6 * random.direction()) * X_WB.q};
      const Manifold m = oracle::collide(a, place(s.b, noisy), kMargin);
      ASSERT_EQ(m.size(), still.size()) << "gap " << gap << " sample " << i;
      for (int k = 0; k < m.size(); ++k) {
        ASSERT_EQ(m[k].key, still[k].key) << "gap " << gap << " sample " << i;
        ASSERT_LT((m[k].p - still[k].p).norm(), 1e-4);
        ASSERT_NEAR(m[k].gap, still[k].gap, 2e-6);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, Resting, testing::ValuesIn(resting_scenes()),
                         [](const auto& case_info) { return case_info.param.name; });

// Beams crossed with a tilt of 0.1 degrees: the best axis is a cross of edges, yet the patch keeps four points,
// each with its own depth.
TEST(Manifold, TiltedBeamsKeepTheirPatch) {
  const PlacedShape a = place(Shape::box({0.5, 0.05, 0.05}), {Vec3(0, 0, -0.05), Quat::Identity()});
  const double tilt = 0.1 * std::numbers::pi / 180;
  const PlacedShape b = place(Shape::box({0.05, 0.5, 0.05}), {Vec3(0, 0, 0.0489), so3_exp({tilt, 0.6 * tilt, 0})});
  const Manifold m = oracle::collide(a, b, kMargin);
  ASSERT_EQ(m.size(), 4);
  EXPECT_NEAR(oracle::deepest(m).gap, oracle::separation(a, b).d, oracle::tolerance(a, b));
  std::set<double> gaps;
  for (const ManifoldPoint& point : m) gaps.insert(point.gap);
  EXPECT_EQ(gaps.size(), 4u);
  EXPECT_NEAR(*gaps.rbegin() - *gaps.begin(), 0.1 * 1.6 * tilt, 1e-3 * tilt);
}

TEST(Manifold, BoxCornersOnAPlaneHaveTheirOwnGapsAndKeys) {
  const PlacedShape plane = place(Shape::plane(), {});
  const double tilt = 2e-3;
  const PlacedShape box = place(Shape::box({0.1, 0.2, 0.05}), {Vec3(0, 0, 0.05), so3_exp({0, tilt, 0})});
  const Manifold m = oracle::collide(plane, box, kMargin);
  ASSERT_EQ(m.size(), 4);
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(m[k].key, make_key(FeatureKind::vertex_b, 0, k));  // z bit clear: the lower face
    const double x = k % 2 == 0 ? -0.1 : 0.1;
    EXPECT_NEAR(m[k].gap, 0.05 - 0.05 * std::cos(tilt) - x * std::sin(tilt), 1e-15);
  }
}

TEST(Manifold, FlipIsItsOwnInverse) {
  Manifold m;
  m.push({Vec3(1, 2, 3), Vec3::UnitX(), -0.25, make_key(FeatureKind::vertex_a, 5, 9)});
  m.push({Vec3(1, 2, 3), Vec3::UnitY(), 0.5, make_key(FeatureKind::edge_edge, 5, 9)});
  Manifold flipped = m;
  flip(flipped);
  EXPECT_EQ(flipped[0].key, make_key(FeatureKind::vertex_b, 9, 5));
  EXPECT_EQ(flipped[1].key, make_key(FeatureKind::edge_edge, 9, 5));
  EXPECT_EQ(flipped[0].n, Vec3(-1, 0, 0));
  EXPECT_EQ(flipped[0].p, Vec3(0.75, 2, 3));
  flip(flipped);
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(flipped[k].key, m[k].key);
    EXPECT_EQ(flipped[k].p, m[k].p);
    EXPECT_EQ(flipped[k].n, m[k].n);
  }
}

double polygon_area(const std::vector<Vec2>& u) {
  // Largest polygon area does not depend on the order if the points are sorted by angle about their mean.
  Vec2 mean = Vec2::Zero();
  for (const Vec2& x : u) mean += x / static_cast<double>(u.size());
  std::vector<Vec2> sorted = u;
  std::sort(sorted.begin(), sorted.end(), [&](const Vec2& x, const Vec2& y) {
    return std::atan2(x.y() - mean.y(), x.x() - mean.x()) < std::atan2(y.y() - mean.y(), y.x() - mean.x());
  });
  double area = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Vec2& x = sorted[i];
    const Vec2& y = sorted[(i + 1) % sorted.size()];
    area += 0.5 * (x.x() * y.y() - x.y() * y.x());
  }
  return area;
}

std::vector<Vec2> flat(const Manifold& m) {
  std::vector<Vec2> u;
  for (const ManifoldPoint& point : m) u.push_back(point.p.head<2>());
  return u;
}

TEST(Reduce, KeepsTheDeepestPointAndTheArea) {
  Random random(12);
  for (int i = 0; i < 500; ++i) {
    const int n = random.integer(9, 16);
    Manifold m;
    for (int k = 0; k < n; ++k) {
      const double angle = 2 * std::numbers::pi * (k + random.uniform(-0.3, 0.3)) / n;
      m.push({Vec3(0.2 * std::cos(angle), 0.1 * std::sin(angle), 0), Vec3::UnitZ(), random.uniform(-1e-3, 1e-3),
              make_key(FeatureKind::vertex_b, 0, k)});
    }
    for (const int count : {4, 8}) {
      Manifold reduced = m;
      reduce(reduced, count, 1e-6);
      ASSERT_EQ(reduced.size(), count);
      EXPECT_EQ(oracle::deepest(reduced).gap, oracle::deepest(m).gap);
      for (int k = 1; k < count; ++k) ASSERT_LT(reduced[k - 1].key, reduced[k].key);
      EXPECT_GT(polygon_area(flat(reduced)), (count == 4 ? 0.5 : 0.85) * polygon_area(flat(m)));
    }
  }
}

TEST(Reduce, DropsWhatAddsNothing) {
  Manifold m;
  int id = 0;
  for (const double x : {-1.0, 0.0, 1.0}) {
    for (const double y : {-1.0, 0.0, 1.0}) {
      m.push({Vec3(x, y, 0), Vec3::UnitZ(), 0, make_key(FeatureKind::vertex_b, 0, id++)});
    }
  }
  reduce(m, 8, 1e-6);
  ASSERT_EQ(m.size(), 4);
  for (const ManifoldPoint& point : m) EXPECT_EQ(point.p.head<2>().cwiseAbs(), Vec2(1, 1));

  Manifold line;
  for (int k = 0; k < 10; ++k) line.push({Vec3(k, 0, 0), Vec3::UnitZ(), 0, make_key(FeatureKind::vertex_b, 0, k)});
  reduce(line, 8, 1e-6);
  ASSERT_EQ(line.size(), 2);
  EXPECT_EQ(line[0].p.x(), 0);
  EXPECT_EQ(line[1].p.x(), 9);
}

// Equal scores go to the lowest key, so tiny noise does not choose.
TEST(Reduce, NoiseDoesNotChoose) {
  const auto ring = [](double noise, Random& random) {
    Manifold m;
    for (int k = 0; k < 12; ++k) {
      const double angle = 2 * std::numbers::pi * k / 12;
      m.push({0.1 * Vec3(std::cos(angle), std::sin(angle), 0) + random.vector(noise), Vec3::UnitZ(),
              random.uniform(-noise, noise), make_key(FeatureKind::vertex_b, 0, k)});
    }
    return m;
  };
  Random random(2);
  Manifold still = ring(0, random);
  reduce(still, 4, 1e-6);
  for (int i = 0; i < 200; ++i) {
    Manifold noisy = ring(1e-7, random);
    reduce(noisy, 4, 1e-6);
    ASSERT_EQ(noisy.size(), still.size());
    for (int k = 0; k < still.size(); ++k) ASSERT_EQ(noisy[k].key, still[k].key);
  }
}

}  // namespace
}  // namespace sarrus::manifold_test
