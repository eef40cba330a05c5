// Conservative advancement against fine sampling and closed forms (docs/theory/collision.md §7).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "collision/oracles.h"
#include "effort.h"
#include "sarrus/collision/narrow_phase.h"
#include "sarrus/math/tools.h"

namespace sarrus::cast_test {
namespace {

MovingShape moving(const Shape& shape, const Pose& X_WG, const Vec3& v, const Vec3& w) {
  MovingShape m;
  m.shape = place(shape, X_WG);
  m.p_WB = X_WG.p;
  m.v_W = v;
  m.w_W = w;
  m.arm = surface_arm(shape, Pose{});
  return m;
}

PlacedShape at_time(const MovingShape& m, double t) {
  PlacedShape s = m.shape;
  s.p_W += t * m.v_W;
  s.R_WG = so3_exp(t * m.w_W).toRotationMatrix() * m.shape.R_WG;
  return s;
}

double smallest_gap(const Manifold& manifold) {
  double gap = kInf;
  for (const ManifoldPoint& point : manifold) gap = std::min(gap, point.gap);
  return gap;
}

TEST(Cast, BallAgainstThinPlateTouchesAtTheExactTime) {
  NarrowWorkspace workspace;
  Manifold manifold;
  const MovingShape ball = moving(Shape::sphere(0.005), {Vec3(0, 0, 0.4)}, Vec3(0, 0, -100), Vec3::Zero());
  const MovingShape plate = moving(Shape::box(Vec3(0.5, 0.5, 0.0005)), {}, Vec3::Zero(), Vec3::Zero());
  ASSERT_TRUE(cast(ball, plate, 0.01, workspace, manifold));
  ASSERT_EQ(manifold.size(), 1);
  EXPECT_NEAR(manifold[0].gap, 0.4 - 0.005 - 0.0005, 1e-6);
  EXPECT_NEAR((manifold[0].n - Vec3(0, 0, -1)).norm(), 0, 1e-12);
  EXPECT_NEAR((manifold[0].p - Vec3(0, 0, 0.395)).norm(), 0, 1e-9);
  EXPECT_FALSE(cast(ball, plate, 0.0039, workspace, manifold)) << "it is not there yet";
}

TEST(Cast, NearMissIsNoHit) {
  NarrowWorkspace workspace;
  Manifold manifold;
  const MovingShape box = moving(Shape::box(Vec3::Constant(0.1)), {}, Vec3::Zero(), Vec3::Zero());
  const MovingShape ball = moving(Shape::sphere(0.02), {Vec3(0.13, 0, 0.5)}, Vec3(0, 0, -100), Vec3::Zero());
  EXPECT_FALSE(cast(ball, box, 0.01, workspace, manifold));
}

// Fast spinning boxes and cylinders: hits and misses agree with 2000 samples over the step.
TEST(Cast, AgreesWithFineSampling) {
  SARRUS_FULL_SIZE_ONLY();
  oracle::Random random(77);
  NarrowWorkspace workspace;
  Manifold manifold;
  int hits = 0;
  int end_misses = 0;
  for (int i = 0; i < 300; ++i) {
    const ShapeKind kinds[] = {ShapeKind::box, ShapeKind::cylinder, ShapeKind::capsule, ShapeKind::hull};
    const Shape sa = random.shape(kinds[random.integer(0, 3)]);
    const Shape sb = random.shape(kinds[random.integer(0, 3)]);
    const double speed = random.uniform(50, 150);
    const Vec3 direction = random.direction();
    const Pose Xa{-0.6 * direction + 0.25 * random.direction(), random.rotation()};
    const MovingShape a = moving(sa, Xa, speed * direction, 30 * random.direction());
    const MovingShape b = moving(sb, {Vec3::Zero(), random.rotation()}, Vec3::Zero(), 20 * random.direction());
    if (!oracle::collide(a.shape, b.shape, 1e-3).empty()) continue;
    const double dt = 0.01;
    double nearest = kInf;
    double first_touch = kInf;
    for (int k = 0; k <= 2000; ++k) {
      const double t = dt * k / 2000;
      const double gap = smallest_gap(oracle::collide(at_time(a, t), at_time(b, t), 1e-3));
      nearest = std::min(nearest, gap);
      if (gap <= 0) first_touch = std::min(first_touch, t);
    }
    const bool hit = cast(a, b, dt, workspace, manifold);
    if (first_touch < kInf) {
      EXPECT_TRUE(hit) << "case " << i << " passes through";
    } else if (nearest > 5e-4) {
      EXPECT_FALSE(hit) << "case " << i << " never comes closer than " << nearest;
    }
    hits += hit;
    end_misses += hit && oracle::collide(at_time(a, dt), at_time(b, dt), 0).empty();
  }
  EXPECT_GT(hits, 100);
  EXPECT_GT(end_misses, hits / 3) << "the case that casts are for";
}

// The points returned lie on both surfaces at the time of touch and are carried back by each body.
TEST(Cast, PointsMoveWithTheirBodies) {
  oracle::Random random(5);
  NarrowWorkspace workspace;
  Manifold manifold;
  int hits = 0;
  for (int i = 0; i < 200; ++i) {
    const MovingShape a = moving(random.shape(ShapeKind::box), {Vec3(0, 0, 0.8), random.rotation()}, Vec3(0, 0, -100),
                                 10 * random.direction());
    const MovingShape b =
        moving(random.shape(ShapeKind::box), {Vec3::Zero(), random.rotation()}, Vec3::Zero(), 10 * random.direction());
    if (!cast(a, b, 0.01, workspace, manifold)) continue;
    ++hits;
    for (const ManifoldPoint& point : manifold) {
      EXPECT_GE(point.gap, 0);
      EXPECT_NEAR(point.n.norm(), 1, 1e-12);
      if (point.gap > 0.01) continue;
      EXPECT_NEAR(oracle::surface_distance(a.shape, point.p), 0, 2e-2);
    }
    EXPECT_LT(smallest_gap(manifold), 0.8);
  }
  EXPECT_GT(hits, 150);
}

}  // namespace
}  // namespace sarrus::cast_test
