// Distances of cores, bodies without thickness, poses that are no numbers, and the parts that convex_distance is made
// of.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "LinearMath/btAlignedAllocator.h"
#include "collision/convex_pairs.h"
#include "sarrus/collision/convex_internal.h"

namespace sarrus::convex_robustness_test {
namespace {

using oracle::for_random_pairs;
using oracle::pair_tol;
using oracle::placed;
using oracle::Random;
using oracle::Separation;
using oracle::turn;

TEST(CoreSeparation, TrianglesAgainstTheOracle) {
  Random random(13);
  const ShapeKind kinds[] = {ShapeKind::sphere,   ShapeKind::capsule,   ShapeKind::box,
                             ShapeKind::cylinder, ShapeKind::ellipsoid, ShapeKind::hull};
  for (const ShapeKind kind : kinds) {
    int apart = 0;
    int overlapping = 0;
    for (int sample = 0; sample < 300; ++sample) {
      const Convex t = convex_of_triangle(random.vector(0.3), random.vector(0.3), random.vector(0.3),
                                          random.rotation().toRotationMatrix(), random.vector(0.2));
      const Shape shape = random.shape(kind);
      Convex x = placed(shape, random.rotation(), random.vector(0.3));
      const double tol = 5e-6 * x.diagonal;
      const ConvexDistance q = core_separation(t, x, tol);
      x.radius = 0;
      const Separation truth = oracle::convex_separation(random, t, x);
      SCOPED_TRACE(testing::Message() << name_of(kind) << ", " << sample);
      if (!q.near) {
        ++overlapping;
        ASSERT_LE(truth.d, 1e-4 * tol + 1e-14);
        continue;
      }
      ++apart;
      ASSERT_TRUE(q.certified);
      ASSERT_NEAR(q.d, truth.d, oracle::is_curved(x) ? 1e-9 : 2e-15);
      ASSERT_NEAR(q.n.dot(q.p_A), oracle::body_support(t, q.n), 1e-6);
      const Vec3 e = t.R.transpose() * (q.p_A - t.p) - t.corner[0];
      ASSERT_NEAR((t.corner[1] - t.corner[0]).cross(t.corner[2] - t.corner[0]).normalized().dot(e), 0, 1e-14);
    }
    EXPECT_GT(apart, 150);
    if (kind != ShapeKind::sphere) {
      EXPECT_GT(overlapping, 2);
    }
  }
}

TEST(CoreSeparation, LeavesTheRadiiOut) {
  const Convex t = convex_of_triangle({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, Mat3::Identity(), Vec3::Zero());
  const Convex x = placed(Shape::sphere(0.5), Quat::Identity(), {0.25, 0.25, 0.3});
  const ConvexDistance q = core_separation(t, x, 1e-6);
  ASSERT_TRUE(q.near);
  EXPECT_NEAR(q.d, 0.3, 1e-16);
  EXPECT_LT((q.n - Vec3::UnitZ()).norm(), 1e-15);
  EXPECT_LT((q.p_A - Vec3(0.25, 0.25, 0)).norm(), 1e-15);
  EXPECT_FALSE(core_separation(t, placed(Shape::sphere(0.5), Quat::Identity(), {0.25, 0.25, 0}), 1e-6).near);
  EXPECT_FALSE(core_separation(t, placed(Shape::sphere(0.5), Quat::Identity(), {0.25, 0.25, 1e-11}), 1e-6).near);
  EXPECT_TRUE(core_separation(t, placed(Shape::sphere(0.5), Quat::Identity(), {0.25, 0.25, 1e-9}), 1e-6).near);
}

void expect_usable(const ConvexDistance& q) {
  ASSERT_TRUE(q.n.allFinite() && q.p_A.allFinite() && std::isfinite(q.d));
  ASSERT_NEAR(q.n.norm(), 1, 1e-12);
}

TEST(ConvexDistance, DegenerateBodies) {
  std::vector<Vec3> needle;
  for (int k = 0; k < 8; ++k) needle.push_back({k & 1 ? 1e-4 : -1e-4, k & 2 ? 1e-4 : -1e-4, k & 4 ? 1.0 : -1.0});
  std::vector<Vec3> plate;
  for (int k = 0; k < 8; ++k) plate.push_back({k & 1 ? 1.0 : -1.0, k & 2 ? 1.0 : -1.0, k & 4 ? 1e-4 : -1e-4});
  std::vector<Shape> shapes = {Shape::capsule(0.1, 0),
                               Shape::box({1e-4, 1, 1}),
                               Shape::box({1e-4, 1e-4, 1}),
                               Shape::cylinder(1e-4, 1),
                               Shape::cylinder(1, 1e-4),
                               Shape::ellipsoid({1e-4, 1, 1}),
                               Shape::ellipsoid({1e-2, 1e-2, 1}),
                               Shape::convex(ConvexHull::build(needle, "needle")),
                               Shape::convex(ConvexHull::build(plate, "plate")),
                               Shape::sphere(0.1)};
  Random random(14);
  for (const Shape& shape_a : shapes) {
    for (const Shape& shape_b : shapes) {
      for (int sample = 0; sample < 40; ++sample) {
        const bool aligned = sample % 4 == 0;
        const Quat q_a = aligned ? Quat::Identity() : random.rotation();
        const Quat q_b = aligned ? turn(sample % 8 == 0 ? 0 : 1e-12, Vec3::UnitX()) : random.rotation();
        const Vec3 p = sample < 4 ? Vec3::Zero() : random.vector(sample < 20 ? 0.3 : 1.2);
        const Convex a = placed(shape_a, q_a, Vec3::Zero());
        const Convex b = placed(shape_b, q_b, p);
        const ConvexDistance q = convex_distance(a, b, 2e-3, pair_tol(a, b));
        SCOPED_TRACE(testing::Message() << name_of(shape_a.kind) << "-" << name_of(shape_b.kind) << ", " << sample);
        expect_usable(q);
        if (q.near) {
          ASSERT_NEAR(oracle::body_gap(a, b, q.n), q.d, 1e-14);
        }
        expect_usable(core_separation(a, b, pair_tol(a, b)));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ConvexDistance, DegenerateTriangles) {
  const Mat3 R = Mat3::Identity();
  const Vec3 o = Vec3::Zero();
  const Convex flat[] = {convex_of_triangle(o, o, o, R, o), convex_of_triangle(o, Vec3::UnitX(), o, R, o),
                         convex_of_triangle(o, Vec3::UnitX(), 2 * Vec3::UnitX(), R, o),
                         convex_of_triangle(o, Vec3::UnitX(), {0.5, 1e-13, 0}, R, o)};
  for (const Convex& t : flat) {
    for (const double height : {0.3, 0.1, 0.1 + 1e-9, 0.05, 0.0}) {
      Convex box = placed(Shape::box(Vec3::Constant(0.1)), Quat::Identity(), {0, 0, height});
      const ConvexDistance q = core_separation(t, box, 1e-6);
      expect_usable(q);
      EXPECT_EQ(q.near, height > 0.1);
      if (q.near) {
        EXPECT_NEAR(q.d, height - 0.1, 1e-15);
      }
      expect_usable(convex_distance(t, box, 1, 1e-6));
    }
  }
  // Coplanar triangles: C is flat.
  const Convex t = convex_of_triangle(o, Vec3::UnitX(), Vec3::UnitY(), R, o);
  const ConvexDistance q = convex_distance(t, t, 1, 1e-6);
  expect_usable(q);
  EXPECT_TRUE(q.near);
  EXPECT_NEAR(q.d, 0, 1e-14);
  EXPECT_NEAR(std::abs(q.n.z()), 1, 1e-12);
}

TEST(ConvexDistance, PosesThatAreNoNumbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const double x : {nan, inf, -inf}) {
    const Convex a = placed(Shape::box(Vec3::Constant(0.1)), Quat::Identity(), Vec3::Zero());
    Convex b = placed(Shape::cylinder(0.1, 0.1), Quat::Identity(), {x, 0, 0});
    EXPECT_FALSE(convex_distance(a, b, 1, 1e-6).near);
    EXPECT_FALSE(core_separation(b, a, 1e-6).near);
    b.p.setZero();
    b.R(1, 1) = x;
    EXPECT_FALSE(convex_distance(a, b, 1, 1e-6).near);
    expect_usable(convex_distance(a, b, 1, 1e-6));
  }
}

// GJK and EPA alone: whatever they return, lower <= d* <= upper.
TEST(ConvexDistance, BoundsHold) {
  for_random_pairs(15, 25, 1, [](Random& random, const Convex& a, const Convex& b) {
    const CorePair pair(a, b);
    const double size = a.diagonal + b.diagonal;
    const double radii = a.radius + b.radius + pair.ball_a + pair.ball_b;
    GjkResult gjk;
    gjk_distance(pair, random.direction(), 1e300, 1e-12, size, gjk);
    const Separation truth = oracle::convex_separation(random, a, b);
    ASSERT_LE(gjk.lower - radii, truth.d + 1e-10);
    if (gjk.status == GjkStatus::apart || gjk.status == GjkStatus::stuck) {
      ASSERT_GE(gjk.upper - radii, truth.d - 1e-13);
    }
    if (gjk.status != GjkStatus::inside) return;
    EpaResult epa;
    epa_depth(pair, gjk, {1e-9, size, 0, Vec3::UnitZ()}, epa);
    ASSERT_LE(epa.lower - radii, truth.d + 1e-9);
    ASSERT_GE(epa.upper - radii, truth.d - 1e-9);
  });
}

TEST(Bullet, IsTheDoublePrecisionOne) { EXPECT_NO_THROW(check_bullet()); }

TEST(Bullet, ProposesClosedForms) {
  const Convex a = placed(Shape::box(Vec3::Constant(0.1)), turn(0.3, Vec3::UnitX()), {1, 2, 3});
  const Quat q(a.R);
  const Convex apart = placed(Shape::box(Vec3::Constant(0.2)), q, a.p + q * Vec3(0.5, 0.01, 0.02));
  const Proposal open = bullet_distance(CorePair(a, apart), Vec3::UnitX());
  ASSERT_TRUE(open.valid);
  EXPECT_NEAR(open.d, 0.2, 1e-12);
  EXPECT_LT((open.n - Vec3::UnitX()).norm(), 1e-9);
  EXPECT_NEAR(open.p_a.x(), 0.1, 1e-12);
  const Convex inside = placed(Shape::box(Vec3::Constant(0.2)), q, a.p + q * Vec3(0.25, 0.01, 0.02));
  for (const Proposal& deep :
       {bullet_penetration(CorePair(a, inside), Vec3::UnitX()), bullet_detector(CorePair(a, inside))}) {
    ASSERT_TRUE(deep.valid);
    EXPECT_NEAR(deep.d, -0.05, 1e-9);
    EXPECT_LT((deep.n - Vec3::UnitX()).norm(), 1e-9);
  }
  EXPECT_FALSE(bullet_distance(CorePair(a, inside), Vec3::UnitX()).valid);
  EXPECT_FALSE(bullet_penetration(CorePair(a, apart), Vec3::UnitX()).valid);
}

// The last resort on its own: what it proves is right, and it proves most.
TEST(Bullet, SearchFindsWhatItProves) {
  int proved = 0;
  int total = 0;
  for_random_pairs(16, 10, 1, [&](Random& random, const Convex& a, const Convex& b) {
    const CorePair pair(a, b);
    const double tol = pair_tol(a, b);
    const double ctol = (pair.is_polytope() ? 0.01 : 1e-4) * tol;
    const double radii = a.radius + b.radius + pair.ball_a + pair.ball_b;
    Bounds bounds;
    bullet_search(pair, pair.p.normalized(), ctol, tol, bounds);
    const Separation truth = oracle::convex_separation(random, a, b);
    ++total;
    ASSERT_LE(bounds.lower - radii, truth.d + 1e-10);
    if (!bounds.proved(ctol)) return;
    ++proved;
    ASSERT_NEAR(bounds.s - radii, truth.d, 2 * ctol + 1e-10);
  });
  EXPECT_GT(total, test::sample_divisor() > 1 ? 40 : 400);
  EXPECT_GT(proved, 0.6 * total);
}

long bullet_allocations = 0;

void* counted_alloc(std::size_t size) {
  ++bullet_allocations;
  return std::malloc(size);
}

TEST(Bullet, UsesNoHeap) {
  btAlignedAllocSetCustom(counted_alloc, std::free);
  for_random_pairs(17, 3, 1, [](Random&, const Convex& a, const Convex& b) {
    Bounds bounds;
    bullet_search(CorePair(a, b), Vec3::UnitX(), 1e-12, pair_tol(a, b), bounds);
    ASSERT_TRUE(std::isfinite(bounds.s));
  });
  EXPECT_EQ(bullet_allocations, 0);
}

}  // namespace
}  // namespace sarrus::convex_robustness_test
