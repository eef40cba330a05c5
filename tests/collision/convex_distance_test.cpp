// Signed distances of convex bodies against closed forms and the oracles of convex_oracles.h
// (docs/theory/collision.md §5, §8).
#include "sarrus/collision/convex_distance.h"
#include "effort.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "collision/convex_pairs.h"

namespace sarrus::convex_distance_test {
namespace {

using oracle::expect_oracle;
using oracle::for_random_pairs;
using oracle::kKinds;
using oracle::kTargets;
using oracle::pair_tol;
using oracle::placed;
using oracle::Random;
using oracle::Separation;
using oracle::turn;
using std::numbers::pi;

Shape box_hull(const Vec3& h) {
  std::vector<Vec3> x;
  for (int k = 0; k < 8; ++k) x.push_back({k & 1 ? h.x() : -h.x(), k & 2 ? h.y() : -h.y(), k & 4 ? h.z() : -h.z()});
  return Shape::convex(ConvexHull::build(x, "box hull"));
}

Shape prism(int sides, double r, double h) {
  std::vector<Vec3> x;
  for (int k = 0; k < sides; ++k) {
    for (const double z : {-h, h}) x.push_back({r * std::cos(2 * pi * k / sides), r * std::sin(2 * pi * k / sides), z});
  }
  return Shape::convex(ConvexHull::build(x, "prism"));
}

// A below, B above, touching in the plane z = 0 of their common frame, with the normal z.
struct Rest {
  const char* name;
  Shape a;
  Quat q_a;
  double top;  // height of A above its origin
  Shape b;
  Quat q_b;
  double bottom;     // depth of B below its origin
  bool slides;       // B may be turned about z and moved in the plane
  bool deep = true;  // z stays the shallowest direction when they overlap by 2 cm
};

std::vector<Rest> rests() {
  const Quat id = Quat::Identity();
  const Quat lie = turn(pi / 2, Vec3::UnitX());
  const Quat lie_x = turn(pi / 2, Vec3::UnitZ()) * lie;
  const Quat edge = turn(pi / 4, Vec3::UnitX());
  const Quat edge_y = turn(pi / 4, Vec3::UnitY());
  const Quat upright = turn(pi / 2, Vec3::UnitY());
  const Quat corner = Quat::FromTwoVectors(Vec3(1, 1, 1), Vec3::UnitZ());
  const double s2 = std::sqrt(2.0);
  const double s3 = std::sqrt(3.0);
  const Shape cube = box_hull(Vec3::Constant(0.1));
  const Shape can = Shape::cylinder(0.1, 0.15);
  const Shape egg = Shape::ellipsoid({0.2, 0.1, 0.05});
  const Shape ball = Shape::ellipsoid(Vec3::Constant(0.1));
  const Shape pill = Shape::capsule(0.05, 0.1);
  std::vector<Rest> out;
  for (const Shape& floor : {Shape::box({0.3, 0.25, 0.1}), box_hull({0.3, 0.25, 0.1})}) {
    out.push_back({"floor, standing cylinder", floor, id, 0.1, can, id, 0.15, true});
    out.push_back({"floor, lying cylinder", floor, id, 0.1, can, lie, 0.1, true});
    out.push_back({"floor, ellipsoid", floor, id, 0.1, egg, id, 0.05, true});
    out.push_back({"floor, round ellipsoid", floor, id, 0.1, ball, id, 0.1, true});
    out.push_back({"floor, cube", floor, id, 0.1, cube, id, 0.1, true});
    out.push_back({"floor, cube on edge", floor, id, 0.1, cube, edge, 0.1 * s2, true});
    out.push_back({"floor, cube on corner", floor, id, 0.1, cube, corner, 0.1 * s3, true});
    out.push_back({"floor, prism", floor, id, 0.1, prism(16, 0.1, 0.1), id, 0.1, true});
    out.push_back({"floor, lying capsule", floor, id, 0.1, pill, lie, 0.05, true});
    out.push_back({"floor, standing capsule", floor, id, 0.1, pill, id, 0.15, true});
    out.push_back({"floor, sphere", floor, id, 0.1, Shape::sphere(0.1), id, 0.1, true});
  }
  out.push_back({"cube, cube", cube, id, 0.1, cube, id, 0.1, false});
  out.push_back({"cube, box", cube, id, 0.1, Shape::box(Vec3::Constant(0.1)), id, 0.1, false});
  out.push_back({"edges across", cube, edge, 0.1 * s2, cube, turn(pi / 2, Vec3::UnitZ()) * edge, 0.1 * s2, false});
  out.push_back({"edges along", cube, edge, 0.1 * s2, cube, edge, 0.1 * s2, false, false});
  out.push_back({"corners", cube, corner, 0.1 * s3, cube, turn(pi, Vec3::UnitX()) * corner, 0.1 * s3, false, false});
  out.push_back({"cylinders stacked", can, id, 0.15, can, id, 0.15, true});
  out.push_back({"cylinders side by side", can, lie, 0.1, can, lie, 0.1, false});
  out.push_back({"cylinders crossed", can, lie, 0.1, can, lie_x, 0.1, false});
  out.push_back({"cylinder on cap", can, id, 0.15, can, lie, 0.1, false});
  out.push_back({"prisms", prism(16, 0.1, 0.1), id, 0.1, prism(7, 0.1, 0.1), id, 0.1, true});
  out.push_back({"prism, cylinder", prism(16, 0.1, 0.1), id, 0.1, can, id, 0.15, true});
  out.push_back({"ellipsoids", egg, id, 0.05, egg, id, 0.05, false});
  out.push_back({"ellipsoids tip to tip", egg, upright, 0.2, egg, upright, 0.2, false});
  out.push_back({"ellipsoid, corner", egg, id, 0.05, cube, corner, 0.1 * s3, false});
  out.push_back({"cap, corner", can, id, 0.15, cube, corner, 0.1 * s3, false});
  out.push_back({"lying cylinder, corner", can, lie, 0.1, cube, corner, 0.1 * s3, false});
  out.push_back({"lying cylinder, edge along", can, lie_x, 0.1, cube, edge, 0.1 * s2, false});
  out.push_back({"lying cylinder, edge across", can, lie_x, 0.1, cube, edge_y, 0.1 * s2, false});
  out.push_back({"lying cylinder, capsule", can, lie, 0.1, pill, lie, 0.05, false});
  return out;
}

constexpr double kGaps[] = {-2e-2, -1e-2, -1e-3, -1e-4, -1e-6, -1e-8, -1e-9, -1e-10, -1e-12, -1e-14,
                            0,     1e-14, 1e-12, 1e-10, 1e-9,  1e-8,  1e-6,  1e-4,   1e-3};

TEST(ConvexDistance, RestPoses) {
  Random random(1);
  for (const Rest& rest : rests()) {
    for (const double gap : kGaps) {
      if (!rest.deep && gap < -1e-14) continue;
      for (int sample = 0; sample < 30; ++sample) {
        const Quat world = sample == 0 ? Quat::Identity() : random.rotation();
        const bool slid = rest.slides && sample % 2 == 1;
        const Quat spin = slid ? turn(random.uniform(0, 6), Vec3::UnitZ()) : Quat::Identity();
        const Vec3 offset = slid ? Vec3(random.uniform(-0.02, 0.02), random.uniform(-0.02, 0.02), 0) : Vec3::Zero();
        const Vec3 origin = random.vector(1);
        const Convex a = placed(rest.a, world * rest.q_a, origin);
        const Convex b = placed(rest.b, world * spin * rest.q_b,
                                origin + world * (offset + Vec3(0, 0, rest.top + rest.bottom + gap)));
        const double tol = pair_tol(a, b);
        const bool curved = oracle::is_curved(a) || oracle::is_curved(b);
        const ConvexDistance q = convex_distance(a, b, 2e-3, tol);
        SCOPED_TRACE(testing::Message() << rest.name << ", gap " << gap << ", sample " << sample);
        ASSERT_TRUE(q.near);
        ASSERT_TRUE(q.certified);
        ASSERT_NEAR(q.d, gap, curved ? 1e-9 : 2e-15);
        // At the touching edges and corners of polytopes all directions of a cone are right.
        if (rest.deep) {
          ASSERT_LT((q.n - world * Vec3::UnitZ()).norm(), curved ? 1e-7 : 1e-14);
        }
        ASSERT_NEAR(oracle::body_gap(a, b, q.n), q.d, 1e-15 + 1e-15 * origin.norm());
        const double height = (world.conjugate() * (q.p_A - origin)).z() - rest.top;
        ASSERT_NEAR(height, 0, curved ? 1e-6 : 1e-13);
      }
    }
  }
}

TEST(ConvexDistance, RandomPoses) {
  for_random_pairs(2, 60, 1, [](Random& random, const Convex& a, const Convex& b) { expect_oracle(random, a, b, 1); });
}

TEST(ConvexDistance, RandomPosesOfSmallAndLargeBodies) {
  for (const double scale : {1e-3, 30.0}) {
    for_random_pairs(3, 15, scale,
                     [&](Random& random, const Convex& a, const Convex& b) { expect_oracle(random, a, b, scale); });
  }
}

TEST(ConvexDistance, SphereAndHull) {
  Random random(4);
  for (const double target : kTargets) {
    for (int sample = 0; sample < 200; ++sample) {
      const Shape sphere = random.shape(ShapeKind::sphere);
      const Shape hull = random.shape(ShapeKind::hull);
      const Convex a = placed(sphere, random.rotation(), random.vector(1));
      Convex b = placed(hull, random.rotation(), a.p);
      if (!oracle::slide_along(a, b, random.direction(), target)) continue;
      expect_oracle(random, a, b, 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ConvexDistance, LargeHulls) {
  Random random(5);
  for (const int points : {200, 1000}) {
    const Shape hull = random.hull(points);
    for (const Shape& other : {random.hull(points), random.shape(ShapeKind::box), random.shape(ShapeKind::capsule)}) {
      for (const double target : kTargets) {
        for (int sample = 0; sample < 200; ++sample) {
          const Convex a = placed(other, random.rotation(), random.vector(1));
          Convex b = placed(hull, random.rotation(), a.p);
          if (!oracle::slide_along(a, b, random.direction(), target)) continue;
          const ConvexDistance q = convex_distance(a, b, 2e-3, pair_tol(a, b));
          ASSERT_TRUE(q.near);
          ASSERT_TRUE(q.certified);
          ASSERT_NEAR(oracle::body_gap(a, b, q.n), q.d, 4e-15);
          // All pairs of edges are too many for every sample.
          if (points == 200 && sample < 3) expect_oracle(random, a, b, 1);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// The two ways to find the deepest direction of polytopes: with and without the Gauss map.
TEST(ConvexOracle, GaussMapLosesNothing) {
  Random random(6);
  for (int sample = 0; sample < 40; ++sample) {
    const Shape shape_a = random.hull(12);
    const Shape shape_b = sample % 2 ? random.hull(12) : random.shape(ShapeKind::box);
    const Convex a = placed(shape_a, random.rotation(), Vec3::Zero());
    const Convex b = placed(shape_b, random.rotation(), random.vector(0.1));
    const Separation all = oracle::polytope_separation(a, b, false);
    ASSERT_NEAR(oracle::polytope_separation(a, b, true).d, all.d, 1e-14);
  }
}

TEST(ConvexDistance, SwappingTheBodiesTurnsTheNormal) {
  for_random_pairs(7, 25, 1, [](Random&, const Convex& a, const Convex& b) {
    const double tol = pair_tol(a, b);
    const bool curved = oracle::is_curved(a) || oracle::is_curved(b);
    const ConvexDistance x = convex_distance(a, b, 2e-3, tol);
    const ConvexDistance y = convex_distance(b, a, 2e-3, tol);
    ASSERT_TRUE(x.near && y.near);
    ASSERT_NEAR(x.d, y.d, curved ? 1e-9 : 1e-12);
  });
}

TEST(ConvexDistance, CommonMotionChangesNothing) {
  for_random_pairs(8, 25, 1, [](Random& random, const Convex& a, const Convex& b) {
    const double tol = pair_tol(a, b);
    const bool curved = oracle::is_curved(a) || oracle::is_curved(b);
    const ConvexDistance x = convex_distance(a, b, 2e-3, tol);
    const Mat3 R = random.rotation().toRotationMatrix();
    const Vec3 p = random.vector(1);
    Convex moved_a = a;
    Convex moved_b = b;
    for (Convex* c : {&moved_a, &moved_b}) {
      c->R = R * c->R;
      c->p = p + R * c->p;
    }
    const ConvexDistance y = convex_distance(moved_a, moved_b, 2e-3, tol);
    ASSERT_TRUE(x.near && y.near);
    ASSERT_NEAR(x.d, y.d, curved ? 1e-9 : 1e-14);
  });
}

// Equal bits for equal arguments, whatever was asked before and whatever axis is offered.
TEST(ConvexDistance, AnswersDependOnTheArgumentsOnly) {
  struct Question {
    Shape shape_a, shape_b;  // keep the hulls alive
    Convex a, b;
    ConvexDistance answer;
  };
  std::vector<Question> questions;
  Random random(9);
  for (int sample = 0; sample < 300; ++sample) {
    const Shape shape_a = random.shape(kKinds[sample % 5]);
    const Shape shape_b = random.shape(kKinds[sample / 5 % 5]);
    const Convex a = placed(shape_a, random.rotation(), Vec3::Zero());
    Convex b = placed(shape_b, random.rotation(), Vec3::Zero());
    oracle::slide_along(a, b, random.direction(), random.uniform(-5e-3, 5e-3));
    questions.push_back({shape_a, shape_b, a, b, convex_distance(a, b, 2e-3, pair_tol(a, b))});
  }
  int near = 0;
  for (auto q = questions.rbegin(); q != questions.rend(); ++q) {
    const Vec3 axis = random.uniform(0, 1) < 0.5 ? q->answer.n : random.direction();
    const ConvexDistance again = convex_distance(q->a, q->b, 2e-3, pair_tol(q->a, q->b), &axis);
    ASSERT_EQ(again.near, q->answer.near);
    if (!again.near) continue;
    ++near;
    ASSERT_EQ(again.d, q->answer.d);
    ASSERT_EQ(again.n, q->answer.n);
    ASSERT_EQ(again.p_A, q->answer.p_A);
  }
  EXPECT_GT(near, 100);
  EXPECT_LT(near, 299);
}

TEST(ConvexDistance, FarPairsComeWithAProof) {
  Random random(10);
  int far = 0;
  for (int sample = 0; sample < 3000; ++sample) {
    const Shape shape_a = random.shape(kKinds[sample % 5]);
    const Shape shape_b = random.shape(kKinds[sample / 5 % 5]);
    const Convex a = placed(shape_a, random.rotation(), random.vector(0.5));
    const Convex b = placed(shape_b, random.rotation(), random.vector(0.5));
    const double margin = random.uniform(0, 0.1);
    const double tol = pair_tol(a, b);
    const ConvexDistance q = convex_distance(a, b, margin, tol);
    ASSERT_NEAR(q.n.norm(), 1, 1e-15);
    if (q.near) {
      ASSERT_LE(q.d, margin);
      continue;
    }
    ++far;
    ASSERT_GT(oracle::body_gap(a, b, q.n), margin - 1e-15);
    const ConvexDistance again = convex_distance(a, b, margin, tol, &q.n);
    ASSERT_FALSE(again.near);
  }
  EXPECT_GT(far, 500);
}

TEST(ConvexDistance, DeepOverlaps) {
  Random random(11);
  int certified = 0;
  int total = 0;
  for (int sample = 0; sample < test::samples(600); ++sample) {
    const Shape shape_a = random.shape(kKinds[sample % 5]);
    const Shape shape_b = random.shape(kKinds[sample / 5 % 5]);
    const Convex a = placed(shape_a, random.rotation(), Vec3::Zero());
    const Convex b = placed(shape_b, random.rotation(), random.vector(0.05));
    const ConvexDistance q = convex_distance(a, b, 2e-3, pair_tol(a, b));
    if (!q.near) continue;
    ++total;
    if (q.certified) ++certified;
    const Separation truth = oracle::convex_separation(random, a, b);
    ASSERT_NEAR(oracle::body_gap(a, b, q.n), q.d, 4e-15);
    // Directions that are equally deep may cost 0.1 tol.
    ASSERT_LT(truth.d - q.d, q.certified ? 0.11 * pair_tol(a, b) : 1e-5) << "sample " << sample;
  }
  EXPECT_GE(total, test::samples(400));
  EXPECT_GE(certified, 0.95 * total);
}

TEST(ConvexDistance, EqualDepthsAreSettledByTheCentreLine) {
  // Two cubes that overlap by the same length in x, y and z: three directions are equally deep.
  const Shape cube = box_hull(Vec3::Constant(0.1));
  Random random(12);
  for (int sample = 0; sample < 200; ++sample) {
    const Quat world = random.rotation();
    // Slightly more towards y, by far less than a tenth of the tolerance in depth.
    const Vec3 offset(0.15, 0.15 + 4e-8, 0.15);
    const Convex a = placed(cube, world, Vec3::Zero());
    const Convex b = placed(cube, world, world * offset);
    const ConvexDistance q = convex_distance(a, b, 0, pair_tol(a, b));
    ASSERT_TRUE(q.near);
    ASSERT_NEAR(q.d, -0.05, 1e-7);
    // The three are at the same angle to the centre line: the fixed vector (0.48, 0.6, 0.64) of A decides.
    ASSERT_LT((q.n - world * Vec3::UnitZ()).norm(), 1e-9);
    const ConvexDistance line = convex_distance(a, placed(cube, world, world * Vec3(0.1, 0.1, 0.11)), 0, 1e-6);
    ASSERT_LT((line.n - world * Vec3::UnitZ()).norm(), 1e-9);
  }
  // Coincident centres: all six faces of a cube are equally deep.
  const Convex a = placed(cube, Quat::Identity(), Vec3::Zero());
  const ConvexDistance q = convex_distance(a, a, 0, pair_tol(a, a));
  EXPECT_TRUE(q.near && q.certified);
  EXPECT_NEAR(q.d, -0.2, 1e-15);
  EXPECT_LT((q.n - Vec3::UnitZ()).norm(), 1e-12);
}

}  // namespace
}  // namespace sarrus::convex_distance_test
