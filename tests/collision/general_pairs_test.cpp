// Pairs with cylinders, ellipsoids and hulls against independent distances (docs/theory/collision.md §4.3, §8).
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "collision/convex_oracles.h"
#include "collision/surface_oracles.h"
#include "effort.h"
#include "sarrus/collision/shape_pairs.h"

namespace sarrus::general_pairs_test {
namespace {

using oracle::Random;

constexpr double kMargin = 2e-3;
constexpr double kGaps[] = {-4e-3, -1e-3, -1e-5, 0, 1e-3};

struct PairCase {
  ShapeKind a;
  ShapeKind b;
  int poses;
};

std::string pair_name(const PairCase& pair) {
  return std::string(name_of(pair.a)) + "_" + std::string(name_of(pair.b));
}

Convex at_origin_of(const PlacedShape& a, const PlacedShape& b) { return convex_of(b, b.p_W - a.p_W); }

oracle::Separation found_separation(const PlacedShape& a, const PlacedShape& b) {
  const ConvexDistance found = convex_distance(at_origin_of(a, a), at_origin_of(a, b), 1e9, oracle::tolerance(a, b));
  return {found.d, found.n};
}

// Moves B along a random direction until the distance is `target`: Newton from outside.
bool slide_until(Random& random, const PlacedShape& a, PlacedShape& b, double target) {
  const Vec3 direction = random.direction();
  double t = a.diagonal + b.diagonal;
  for (int i = 0; i < 100; ++i) {
    b.p_W = a.p_W + t * direction;
    const oracle::Separation now = found_separation(a, b);
    if (std::abs(now.d - target) < 1e-11) return true;
    const double slope = now.n.dot(direction);
    if (slope < 1e-2) return false;
    t -= (now.d - target) / slope;
  }
  return false;
}

// How far below the surface a point of a feature may lie: between the ends of a capsule's side line.
double allowed_below(const PlacedShape& s) { return s.kind == ShapeKind::capsule ? 0.0051 * s.size[0] : 0; }

void check_points(const PlacedShape& a, const PlacedShape& b, const Manifold& m, double d, double tol) {
  ASSERT_LE(m.size(), kMaxManifoldPoints);
  const double beside = 20 * tol;  // ends of side lines keep their keys that far outside
  for (int k = 0; k < m.size(); ++k) {
    const ManifoldPoint& point = m[k];
    ASSERT_NEAR(point.n.norm(), 1, 1e-13);
    ASSERT_LE(point.gap, kMargin);
    ASSERT_GE(point.gap, d - 1e-3 * tol - 1e-9);
    if (k > 0) {
      ASSERT_LT(m[k - 1].key, point.key);
    }
    const double on_a = oracle::distance_to_surface(a, point.p);
    const double on_b = oracle::distance_to_surface(b, point.p + point.gap * point.n);
    ASSERT_LE(on_a, beside);
    ASSERT_GE(on_a, -allowed_below(a) - tol);
    ASSERT_LE(on_b, beside);
    ASSERT_GE(on_b, -allowed_below(b) - tol);
  }
}

class GeneralPairs : public testing::TestWithParam<PairCase> {};

TEST_P(GeneralPairs, GapNormalAndPoints) {
  const PairCase& pair = GetParam();
  Random random(71u + 10u * static_cast<unsigned>(pair.a) + static_cast<unsigned>(pair.b));
  double worst = 0;
  double worst_normal = 0;
  int compared = 0;
  for (int i = 0; i < test::samples(pair.poses); ++i) {
    const Shape shape_a = random.shape(pair.a);  // a placed hull belongs to its shape
    const Shape shape_b = random.shape(pair.b);
    const PlacedShape a = place(shape_a, {random.vector(1), random.rotation()});
    PlacedShape b = place(shape_b, {Vec3::Zero(), random.rotation()});
    const double target = kGaps[i % 5];
    if (!slide_until(random, a, b, target)) continue;
    ++compared;
    const Manifold m = oracle::collide(a, b, kMargin);
    const double tol = oracle::tolerance(a, b);
    ASSERT_FALSE(m.empty()) << "pose " << i;
    const Convex ca = at_origin_of(a, a);
    const Convex cb = at_origin_of(a, b);
    const double d = oracle::convex_separation(random, ca, cb).d;
    check_points(a, b, m, d, tol);
    if (HasFatalFailure()) FAIL() << "pose " << i << " target " << target;
    worst = std::max(worst, std::abs(oracle::deepest(m).gap - d));
    worst_normal = std::max(worst_normal, d - oracle::body_gap(ca, cb, oracle::deepest(m).n));
    ASSERT_NEAR(oracle::deepest(m).gap, d, 1.01 * tol) << "pose " << i << " target " << target;
    ASSERT_GE(oracle::body_gap(ca, cb, oracle::deepest(m).n), d - 0.01 * tol) << "pose " << i << " target " << target;
  }
  EXPECT_GT(compared, test::samples(pair.poses) * 4 / 5);
  std::printf("  %d poses, worst gap error %.1e m, worst normal shortfall %.1e m\n", compared, worst, worst_normal);
}

struct Drawn {
  Shape shape_a, shape_b;  // a placed hull belongs to its shape
  PlacedShape a, b;
};

// A random pair at a gap; false if sliding did not reach it.
bool draw(Random& random, const PairCase& pair, double gap, Drawn& out) {
  out.shape_a = random.shape(pair.a);
  out.shape_b = random.shape(pair.b);
  out.a = place(out.shape_a, {random.vector(1), random.rotation()});
  out.b = place(out.shape_b, {Vec3::Zero(), random.rotation()});
  return slide_until(random, out.a, out.b, gap);
}

// Different kinds are computed in one order, so exchanging them changes no bit of a gap or normal.
TEST_P(GeneralPairs, SwapGivesTheSamePoints) {
  const PairCase& pair = GetParam();
  Random random(81);
  Drawn x;
  for (int i = 0; i < 200; ++i) {
    if (!draw(random, pair, kGaps[i % 5], x)) continue;
    const Manifold ab = oracle::collide(x.a, x.b, kMargin);
    Manifold ba = oracle::collide(x.b, x.a, kMargin);
    ASSERT_EQ(ab.size(), ba.size()) << "pose " << i;
    flip(ba);
    sort_by_key(ba);
    const bool same_kind = pair.a == pair.b;
    for (int k = 0; k < ab.size(); ++k) {
      if (same_kind) {
        ASSERT_NEAR(oracle::deepest(ab).gap, oracle::deepest(ba).gap, 1e-9) << "pose " << i;
        continue;
      }
      ASSERT_EQ(ab[k].key, ba[k].key) << "pose " << i;
      ASSERT_EQ(ab[k].gap, ba[k].gap) << "pose " << i;
      ASSERT_EQ(ab[k].n, ba[k].n) << "pose " << i;
      ASSERT_LT((ab[k].p - ba[k].p).norm(), 1e-14) << "pose " << i;
    }
  }
}

bool is_curved(ShapeKind kind) { return kind == ShapeKind::cylinder || kind == ShapeKind::ellipsoid; }

// A common rigid motion changes nothing but round-off, where the normal is found by iteration the gaps of points on
// features inclined to it by 0.01 tol.
TEST_P(GeneralPairs, RigidMotionChangesNothing) {
  const PairCase& pair = GetParam();
  const bool iterated = pair.a != ShapeKind::sphere && (is_curved(pair.a) || is_curved(pair.b));
  Random random(82);
  Drawn x;
  int different = 0;
  double worst = 0;
  for (int i = 0; i < 200; ++i) {
    if (!draw(random, pair, kGaps[i % 5], x)) continue;
    const Pose X{random.vector(10), random.rotation()};
    const Manifold m = oracle::collide(x.a, x.b, kMargin);
    const Manifold moved = oracle::collide(oracle::moved(x.a, X), oracle::moved(x.b, X), kMargin);
    const double limit = iterated ? 0.01 * oracle::tolerance(x.a, x.b) : 1e-13;
    ASSERT_NEAR(oracle::deepest(m).gap, oracle::deepest(moved).gap, limit) << "pose " << i;
    bool same = m.size() == moved.size();
    for (int k = 0; same && k < m.size(); ++k) same = m[k].key == moved[k].key;
    if (!same) {
      ++different;
      continue;
    }
    for (int k = 0; k < m.size(); ++k) {
      worst = std::max(worst, std::abs(m[k].gap - moved[k].gap));
      ASSERT_NEAR(m[k].gap, moved[k].gap, limit) << "pose " << i;
      ASSERT_LT((X.q * m[k].n - moved[k].n).norm(), iterated ? 1e-4 : 1e-9) << "pose " << i;
      ASSERT_LT((X * m[k].p - moved[k].p).norm(), iterated ? 1e-4 : 1e-9) << "pose " << i;
    }
  }
  EXPECT_EQ(different, 0);
  std::printf("  worst change of a gap %.1e m\n", worst);
}

// Repeating a query repeats its bits; a direction remembered from elsewhere changes none of them.
TEST_P(GeneralPairs, DeterministicWhateverIsRemembered) {
  const PairCase& pair = GetParam();
  Random random(83);
  NarrowWorkspace workspace;
  Drawn x;
  for (int i = 0; i < 100; ++i) {
    if (!draw(random, pair, kGaps[i % 5], x)) continue;
    const Manifold first = oracle::collide(x.a, x.b, kMargin);
    for (const Vec3& remembered : {Vec3(Vec3::Zero()), random.direction(), Vec3(-first[0].n), Vec3(first[0].n)}) {
      Vec3 axis = remembered;
      Manifold again;
      collide(x.a, x.b, kMargin, workspace, axis, again);
      ASSERT_TRUE(axis.isZero(0));
      ASSERT_EQ(first.size(), again.size());
      for (int k = 0; k < first.size(); ++k) {
        ASSERT_EQ(first[k].key, again[k].key);
        ASSERT_EQ(first[k].gap, again[k].gap);
        ASSERT_EQ(first[k].p, again[k].p);
        ASSERT_EQ(first[k].n, again[k].n);
      }
    }
  }
}

// Just beyond the margin there is nothing, and pairs without a closed form name a direction that proves it, in the
// caller's order.
TEST_P(GeneralPairs, NothingBeyondTheMargin) {
  const PairCase& pair = GetParam();
  Random random(84);
  NarrowWorkspace workspace;
  Manifold m;
  Drawn x;
  for (int i = 0; i < 100; ++i) {
    if (!draw(random, pair, kMargin + 2e-5, x)) continue;
    for (const bool swap : {false, true}) {
      const PlacedShape& a = swap ? x.b : x.a;
      const PlacedShape& b = swap ? x.a : x.b;
      Vec3 axis = Vec3::Zero();
      collide(a, b, kMargin, workspace, axis, m);
      ASSERT_TRUE(m.empty()) << "pose " << i;
      if (!axis.isZero(0)) {
        ASSERT_GT(oracle::body_gap(at_origin_of(a, a), at_origin_of(a, b), axis), kMargin) << "pose " << i;
      }
    }
    ASSERT_FALSE(oracle::collide(x.a, x.b, kMargin + 4e-5).empty()) << "pose " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, GeneralPairs,
    testing::Values(
        PairCase{ShapeKind::sphere, ShapeKind::cylinder, 250}, PairCase{ShapeKind::sphere, ShapeKind::ellipsoid, 250},
        PairCase{ShapeKind::sphere, ShapeKind::hull, 500}, PairCase{ShapeKind::capsule, ShapeKind::cylinder, 250},
        PairCase{ShapeKind::capsule, ShapeKind::ellipsoid, 250}, PairCase{ShapeKind::capsule, ShapeKind::hull, 500},
        PairCase{ShapeKind::box, ShapeKind::cylinder, 250}, PairCase{ShapeKind::box, ShapeKind::ellipsoid, 250},
        PairCase{ShapeKind::box, ShapeKind::hull, 500}, PairCase{ShapeKind::cylinder, ShapeKind::cylinder, 250},
        PairCase{ShapeKind::cylinder, ShapeKind::ellipsoid, 250}, PairCase{ShapeKind::cylinder, ShapeKind::hull, 250},
        PairCase{ShapeKind::ellipsoid, ShapeKind::ellipsoid, 250}, PairCase{ShapeKind::ellipsoid, ShapeKind::hull, 250},
        PairCase{ShapeKind::hull, ShapeKind::hull, 500}),
    [](const auto& case_info) { return pair_name(case_info.param); });

// Nearest points of a sphere's centre on round surfaces, outside, inside, and on planes and axes of symmetry.
TEST(ClosedForms, SphereEllipsoid) {
  Random random(91);
  const PlacedShape sphere = place(Shape::sphere(0.01), {});
  double worst = 0;
  for (int i = 0; i < test::samples(20000); ++i) {
    Vec3 e(random.uniform(0.05, 0.3), random.uniform(0.05, 0.3), random.uniform(0.05, 0.3));
    if (i % 5 == 1) e[1] = e[0];
    if (i % 5 == 2) e = Vec3(e[0], e[0], e[0]);
    if (i % 5 == 3) e = Vec3(0.3, 3e-4, 0.02);
    Vec3 c = random.vector(0.4);
    for (int k = 0; k < 3; ++k) {
      if (random.integer(0, 4) == 0) c[k] = random.integer(0, 1) == 0 ? 0.0 : 1e-9 * c[k];
    }
    const Quat q = random.rotation();
    const Shape shape = Shape::ellipsoid(e);
    PlacedShape ellipsoid = place(shape, {Vec3::Zero(), q});
    ellipsoid.p_W = -(ellipsoid.R_WG * c);
    const Manifold m = oracle::collide(sphere, ellipsoid, 10);
    ASSERT_EQ(m.size(), 1);
    const double error = std::abs(m[0].gap - (oracle::ellipsoid_distance(c, e) - 0.01));
    worst = std::max(worst, error);
    ASSERT_LT(error, 1e-14) << i << " c " << c.transpose() << " e " << e.transpose();
    ASSERT_NEAR(m[0].n.norm(), 1, 1e-14);
    const Vec3 on_ellipsoid = m[0].p + m[0].gap * m[0].n;
    ASSERT_LT(std::abs(oracle::distance_to_surface(ellipsoid, on_ellipsoid)), 1e-13) << i;
  }
  std::printf("  worst gap error %.1e m\n", worst);
}

TEST(ClosedForms, SphereCylinder) {
  Random random(92);
  const PlacedShape sphere = place(Shape::sphere(0.01), {});
  double worst = 0;
  for (int i = 0; i < test::samples(20000); ++i) {
    const Shape shape = random.shape(ShapeKind::cylinder);
    PlacedShape cylinder = place(shape, {Vec3::Zero(), random.rotation()});
    Vec3 c = random.vector(0.4);
    if (i % 4 == 1) c.head<2>().setZero();
    if (i % 4 == 2) c.z() = cylinder.size[1];
    if (i % 4 == 3) c.head<2>() *= cylinder.size[0] / c.head<2>().norm();
    cylinder.p_W = -(cylinder.R_WG * c);
    const Manifold m = oracle::collide(sphere, cylinder, 10);
    ASSERT_EQ(m.size(), 1);
    const double error = std::abs(m[0].gap - (oracle::distance_to_surface(cylinder, Vec3::Zero()) - 0.01));
    worst = std::max(worst, error);
    ASSERT_LT(error, 1e-15) << i;
    ASSERT_NEAR(m[0].n.norm(), 1, 1e-14);
    ASSERT_LT(std::abs(oracle::distance_to_surface(cylinder, m[0].p + m[0].gap * m[0].n)), 1e-15) << i;
  }
  std::printf("  worst gap error %.1e m\n", worst);
}

class GeneralAgainstPlane : public testing::TestWithParam<ShapeKind> {};

// Random poses, sizes and margins: the deepest gap is the support height, all points are on both surfaces.
TEST_P(GeneralAgainstPlane, GapIsTheSupportHeight) {
  Random random(93);
  double worst = 0;
  for (int i = 0; i < test::samples(2000); ++i) {
    const PlacedShape plane = place(Shape::plane(), {random.vector(1), random.rotation()});
    const Vec3 n = plane.R_WG.col(2);
    const Shape shape = GetParam() == ShapeKind::hull && i % 20 == 0 ? random.hull(1000) : random.shape(GetParam());
    PlacedShape body = place(shape, {random.vector(1), random.rotation()});
    const double gap = kGaps[i % 5];
    body.p_W += (gap + oracle::body_support(convex_of(body, body.p_W - plane.p_W), -n)) * n;
    const double margin = i % 3 == 0 ? 0.1 : kMargin;  // a large one finds more vertices than a manifold holds
    const Manifold m = oracle::collide(plane, body, margin);
    ASSERT_FALSE(m.empty());
    ASSERT_LE(m.size(), kMaxManifoldPoints);
    worst = std::max(worst, std::abs(oracle::deepest(m).gap - gap));
    // Reduction keeps the deepest point to within tol.
    const bool reduced = GetParam() == ShapeKind::hull && m.size() == kMaxManifoldPoints;
    ASSERT_NEAR(oracle::deepest(m).gap, gap, reduced ? oracle::tolerance(plane, body) : 1e-14) << i;
    for (const ManifoldPoint& point : m) {
      ASSERT_EQ(point.n, n);
      ASSERT_LE(point.gap, margin);
      ASSERT_NEAR(oracle::distance_to_surface(plane, point.p), 0, 1e-14);
      ASSERT_NEAR(oracle::distance_to_surface(body, point.p + point.gap * n), 0, 1e-14);
    }
    const Manifold swapped = oracle::collide(body, plane, margin);
    ASSERT_EQ(swapped.size(), m.size());
    for (int k = 0; k < m.size(); ++k) {
      ASSERT_EQ(swapped[k].gap, m[k].gap);
      ASSERT_EQ(swapped[k].n, -n);
    }
    body.p_W += (margin + 1e-12 - gap) * n;
    ASSERT_TRUE(oracle::collide(plane, body, margin).empty());
  }
  std::printf("  worst gap error %.1e m\n", worst);
}

INSTANTIATE_TEST_SUITE_P(Shapes, GeneralAgainstPlane,
                         testing::Values(ShapeKind::cylinder, ShapeKind::ellipsoid, ShapeKind::hull),
                         [](const auto& case_info) { return std::string(name_of(case_info.param)); });

// Concentric bodies, turned at will: finite contacts, all of them deep.
TEST(Degenerate, CoincidentCentresGiveFiniteContacts) {
  Random random(94);
  std::vector<Shape> shapes = {Shape::sphere(0.1), Shape::capsule(0.1, 0.2), Shape::box({0.1, 0.2, 0.3}),
                               Shape::cylinder(0.1, 0.2), Shape::ellipsoid({0.3, 0.2, 0.1})};
  shapes.push_back(Shape::convex(ConvexHull::build(
      std::vector<Vec3>{{0.2, 0.2, 0.2}, {-0.2, -0.2, 0.2}, {-0.2, 0.2, -0.2}, {0.2, -0.2, -0.2}}, "tetrahedron")));
  for (const Shape& a : shapes) {
    for (const Shape& b : shapes) {
      for (const Quat& q : {Quat::Identity(), so3_exp({1.5707963267948966, 0, 0}), random.rotation()}) {
        const Vec3 p(0.5, -2, 1);
        const Manifold m = oracle::collide(place(a, {p, Quat::Identity()}), place(b, {p, q}), kMargin);
        ASSERT_FALSE(m.empty()) << name_of(a.kind) << " " << name_of(b.kind);
        for (const ManifoldPoint& point : m) {
          EXPECT_TRUE(point.p.allFinite());
          EXPECT_NEAR(point.n.norm(), 1, 1e-13);
        }
        EXPECT_LT(oracle::deepest(m).gap, -0.05) << name_of(a.kind) << " " << name_of(b.kind);
      }
    }
  }
}

// Needles, plates, coins and dots: never a number that is not one, and never a wrong distance.
TEST(Degenerate, ExtremeProportions) {
  Random random(95);
  const auto size = [&random] { return std::pow(10.0, random.uniform(-2.5, 0.3)); };
  const auto slab = [&] {
    const Vec3 h(size(), size(), size());
    std::vector<Vec3> x;
    for (int k = 0; k < 8; ++k) x.push_back({k & 1 ? h[0] : -h[0], k & 2 ? h[1] : -h[1], k & 4 ? h[2] : -h[2]});
    x.push_back({1.2 * h[0], 0, 0});
    return Shape::convex(ConvexHull::build(x, "slab"));
  };
  const auto any = [&](int kind) {
    switch (kind) {
      case 0:
        return Shape::capsule(size(), 1e-9 + (random.integer(0, 3) == 0 ? 0 : size()));
      case 1:
        return Shape::box({size(), size(), size()});
      case 2:
        return Shape::cylinder(size(), size());
      case 3:
        return Shape::ellipsoid({size(), size(), size()});
      default:
        return slab();
    }
  };
  int compared = 0;
  for (int i = 0; i < test::samples(800); ++i) {
    const Shape shape_a = any(i % 5);
    const Shape shape_b = any(2 + i % 3);
    const PlacedShape a = place(shape_a, {Vec3::Zero(), random.rotation()});
    PlacedShape b = place(shape_b, {Vec3::Zero(), random.rotation()});
    if (!slide_until(random, a, b, kGaps[i % 5])) continue;
    const Manifold m = oracle::collide(a, b, kMargin);
    ASSERT_FALSE(m.empty()) << i;
    ++compared;
    for (const ManifoldPoint& point : m) {
      ASSERT_TRUE(point.p.allFinite() && std::isfinite(point.gap)) << i;
      ASSERT_NEAR(point.n.norm(), 1, 1e-12) << i;
    }
    const Convex ca = at_origin_of(a, a);
    const Convex cb = at_origin_of(a, b);
    const double tol = oracle::tolerance(a, b);
    const double d = oracle::convex_separation(random, ca, cb).d;
    ASSERT_NEAR(oracle::deepest(m).gap, d, 1.01 * tol + 1e-9) << i;
    ASSERT_GE(oracle::body_gap(ca, cb, oracle::deepest(m).n), d - 0.01 * tol - 1e-9) << i;
  }
  EXPECT_GT(compared, test::samples(650));
}

}  // namespace
}  // namespace sarrus::general_pairs_test
