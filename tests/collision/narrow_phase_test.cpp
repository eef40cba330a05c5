// Every pair of shapes against the oracles of oracles.h (docs/theory/collision.md §8).
#include "sarrus/collision/narrow_phase.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "collision/oracles.h"
#include "effort.h"

namespace sarrus::narrow_phase_test {
namespace {

using oracle::Random;

constexpr double kMargin = 2e-3;
constexpr double kGaps[] = {-1e-2, -1e-3, -1e-5, 0, 1e-3};

struct PairCase {
  ShapeKind a;
  ShapeKind b;
  int poses;
};

class AgainstOracle : public testing::TestWithParam<PairCase> {};

// What must hold for every manifold, whatever the pair.
void check_points(const PlacedShape& a, const PlacedShape& b, const Manifold& m, double d, double tol) {
  ASSERT_FALSE(m.empty());
  ASSERT_LE(m.size(), kMaxManifoldPoints);
  for (int k = 0; k < m.size(); ++k) {
    const ManifoldPoint& point = m[k];
    ASSERT_NEAR(point.n.norm(), 1, 1e-13);
    ASSERT_LE(point.gap, kMargin);
    ASSERT_GE(point.gap, d - tol - 1e-12);
    if (k > 0) {
      ASSERT_LT(m[k - 1].key, point.key);
    }
    // Side points of a capsule may lie up to 0.005 r below its surface; box points up to tol beside it.
    const double below_a = a.kind == ShapeKind::capsule ? 0.0051 * a.size[0] : tol;
    const double below_b = b.kind == ShapeKind::capsule ? 0.0051 * b.size[0] : tol;
    const double on_a = oracle::surface_distance(a, point.p);
    const double on_b = oracle::surface_distance(b, point.p + point.gap * point.n);
    ASSERT_LE(on_a, tol + 1e-12);
    ASSERT_GE(on_a, -below_a - 1e-12);
    ASSERT_LE(on_b, tol + 1e-12);
    ASSERT_GE(on_b, -below_b - 1e-12);
  }
}

TEST_P(AgainstOracle, GapNormalAndPoints) {
  const PairCase& pair = GetParam();
  Random random(17u + 10u * static_cast<unsigned>(pair.a) + static_cast<unsigned>(pair.b));
  const bool boxes = pair.a == ShapeKind::box && pair.b == ShapeKind::box;
  double worst_gap = 0;
  double worst_normal = 0;
  int compared = 0;
  int inexact = 0;
  for (int i = 0; i < test::samples(pair.poses); ++i) {
    const PlacedShape a = place(random.shape(pair.a), {random.vector(1), random.rotation()});
    PlacedShape b = place(random.shape(pair.b), {Vec3::Zero(), random.rotation()});
    for (const double target : kGaps) {
      if (!oracle::slide_to(random, a, b, target)) continue;
      ++compared;
      const Manifold m = oracle::collide(a, b, kMargin);
      const double tol = oracle::tolerance(a, b);
      check_points(a, b, m, target, tol);
      if (HasFatalFailure()) FAIL() << "pose " << i << " target " << target;
      const double error = std::abs(oracle::deepest(m).gap - oracle::separation(a, b).d);
      // Certificate of the normal: no other direction separates better.
      const double shortfall = target - oracle::support_distance(a, b, oracle::deepest(m).n);
      if (error > 1e-12 || shortfall > 1e-12) ++inexact;
      worst_gap = std::max(worst_gap, error);
      worst_normal = std::max(worst_normal, shortfall);
      // Only box-box prefers an axis that is worse by up to tol, to keep normals still.
      ASSERT_LE(error, boxes ? tol : 1e-12) << "pose " << i << " target " << target;
      ASSERT_LE(shortfall, boxes ? tol : 1e-12) << "pose " << i << " target " << target;
    }
  }
  EXPECT_GT(compared, 4 * test::samples(pair.poses));
  EXPECT_LE(inexact, compared / 100);
  std::printf("  %d poses, worst gap error %.1e m, worst normal shortfall %.1e m, %d above 1e-12\n", compared,
              worst_gap, worst_normal, inexact);
}

// A pair just beyond the margin gives nothing, whatever separating axes say.
TEST_P(AgainstOracle, NothingBeyondTheMargin) {
  const PairCase& pair = GetParam();
  Random random(99);
  for (int i = 0; i < test::samples(pair.poses / 4); ++i) {
    const PlacedShape a = place(random.shape(pair.a), {random.vector(1), random.rotation()});
    PlacedShape b = place(random.shape(pair.b), {Vec3::Zero(), random.rotation()});
    if (!oracle::slide_to(random, a, b, kMargin + 2e-5)) continue;
    ASSERT_TRUE(oracle::collide(a, b, kMargin).empty()) << "pose " << i;
    ASSERT_FALSE(oracle::collide(a, b, kMargin + 4e-5).empty()) << "pose " << i;
  }
}

TEST_P(AgainstOracle, SwapGivesTheSamePoints) {
  const PairCase& pair = GetParam();
  Random random(5);
  int different = 0;
  for (int i = 0; i < test::samples(pair.poses / 2); ++i) {
    const PlacedShape a = place(random.shape(pair.a), {random.vector(1), random.rotation()});
    PlacedShape b = place(random.shape(pair.b), {Vec3::Zero(), random.rotation()});
    if (!oracle::slide_to(random, a, b, kGaps[i % 5])) continue;
    const Manifold ab = oracle::collide(a, b, kMargin);
    const Manifold ba = oracle::collide(b, a, kMargin);
    ASSERT_EQ(ab.empty(), ba.empty());
    bool same = ab.size() == ba.size();
    for (const ManifoldPoint& x : ab) {
      bool found = false;
      for (const ManifoldPoint& y : ba) {
        const double limit = pair.a == pair.b ? 1e-9 : 0;  // different kinds are computed in one order
        found = found || (std::abs(x.gap - y.gap) <= limit && (x.n + y.n).norm() <= limit &&
                          (x.p + x.gap * x.n - y.p).norm() <= 1e-9);
      }
      same = same && found;
    }
    if (!same) ++different;
  }
  // Two boxes whose axes tie within tol may prefer another one after the swap.
  EXPECT_LE(different, pair.a == ShapeKind::box ? pair.poses / 200 : 0);
}

TEST_P(AgainstOracle, RigidMotionChangesNothing) {
  const PairCase& pair = GetParam();
  Random random(6);
  for (int i = 0; i < test::samples(pair.poses / 2); ++i) {
    const PlacedShape a = place(random.shape(pair.a), {random.vector(1), random.rotation()});
    PlacedShape b = place(random.shape(pair.b), {Vec3::Zero(), random.rotation()});
    if (!oracle::slide_to(random, a, b, kGaps[i % 5])) continue;
    const Pose X{random.vector(10), random.rotation()};
    const Manifold m = oracle::collide(a, b, kMargin);
    const Manifold moved = oracle::collide(oracle::moved(a, X), oracle::moved(b, X), kMargin);
    ASSERT_EQ(m.size(), moved.size()) << "pose " << i;
    for (int k = 0; k < m.size(); ++k) {
      ASSERT_EQ(m[k].key, moved[k].key) << "pose " << i;
      ASSERT_NEAR(m[k].gap, moved[k].gap, 1e-13);
      ASSERT_LT((X.q * m[k].n - moved[k].n).norm(), 1e-9);
      ASSERT_LT((X * m[k].p - moved[k].p).norm(), 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, AgainstOracle,
                         testing::Values(PairCase{ShapeKind::sphere, ShapeKind::sphere, 1000},
                                         PairCase{ShapeKind::sphere, ShapeKind::capsule, 1000},
                                         PairCase{ShapeKind::box, ShapeKind::sphere, 1000},
                                         PairCase{ShapeKind::capsule, ShapeKind::capsule, 1000},
                                         PairCase{ShapeKind::capsule, ShapeKind::box, 1000},
                                         PairCase{ShapeKind::box, ShapeKind::capsule, 400},
                                         PairCase{ShapeKind::box, ShapeKind::box, 5000}),
                         [](const auto& case_info) {
                           return std::string(name_of(case_info.param.a)) + "_" +
                                  std::string(name_of(case_info.param.b));
                         });

class AgainstPlane : public testing::TestWithParam<ShapeKind> {};

// Lowest point of the shape along the plane's normal, by its support function; both argument orders.
TEST_P(AgainstPlane, GapIsTheSupportHeight) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const PlacedShape plane = place(Shape::plane(), {random.vector(1), random.rotation()});
    const Vec3 n = plane.R_WG.col(2);
    PlacedShape body = place(random.shape(GetParam()), {random.vector(1), random.rotation()});
    const double target = kGaps[i % 5];
    body.p_W += (target + oracle::support(body, -n) + n.dot(plane.p_W)) * n;
    const Manifold m = oracle::collide(plane, body, kMargin);
    ASSERT_FALSE(m.empty());
    ASSERT_NEAR(oracle::deepest(m).gap, target, 1e-14);
    for (const ManifoldPoint& point : m) {
      ASSERT_EQ(point.n, n);
      ASSERT_NEAR(oracle::surface_distance(plane, point.p), 0, 1e-14);
      const double below = GetParam() == ShapeKind::capsule ? 0.0051 * body.size[0] : 0;
      const double on_body = oracle::surface_distance(body, point.p + point.gap * n);
      ASSERT_LE(on_body, 1e-14);
      ASSERT_GE(on_body, -below - 1e-14);
    }
    const Manifold swapped = oracle::collide(body, plane, kMargin);
    ASSERT_EQ(swapped.size(), m.size());
    for (int k = 0; k < m.size(); ++k) {
      ASSERT_EQ(swapped[k].gap, m[k].gap);
      ASSERT_EQ(swapped[k].n, -n);
      ASSERT_EQ(swapped[k].key.lo >> 60, m[k].key.lo >> 60 == 1 ? 0u : 3u);
    }
    body.p_W += (kMargin + 1e-12 - target) * n;
    ASSERT_TRUE(oracle::collide(plane, body, kMargin).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AgainstPlane, testing::Values(ShapeKind::sphere, ShapeKind::capsule, ShapeKind::box),
                         [](const auto& case_info) { return std::string(name_of(case_info.param)); });

// Deep overlap, centres included: the oracle is exact there too.
TEST(NarrowPhase, DeepOverlapIsExact) {
  Random random(8);
  for (const ShapeKind kind : {ShapeKind::capsule, ShapeKind::box}) {
    for (int i = 0; i < 2000; ++i) {
      const PlacedShape a = place(random.shape(kind), {random.vector(1), random.rotation()});
      PlacedShape b = place(random.shape(ShapeKind::box), {a.p_W + random.vector(0.1), random.rotation()});
      const double d = oracle::separation(a, b).d;
      const Manifold m = oracle::collide(a, b, kMargin);
      ASSERT_EQ(m.empty(), d > kMargin);
      if (m.empty()) continue;
      ASSERT_NEAR(oracle::deepest(m).gap, d, oracle::tolerance(a, b));
      ASSERT_GE(oracle::support_distance(a, b, m[0].n), d - oracle::tolerance(a, b));
    }
  }
}

// Plates, needles, and a small box against one a thousand times larger.
TEST(NarrowPhase, ExtremeProportions) {
  Random random(31);
  const auto size = [&random] { return std::pow(10.0, random.uniform(-2.5, 0.7)); };
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    const Shape first = i % 2 == 0 ? Shape::box({size(), size(), size()}) : Shape::capsule(size(), size());
    const PlacedShape a = place(first, {Vec3::Zero(), random.rotation()});
    PlacedShape b = place(Shape::box({size(), size(), size()}), {Vec3::Zero(), random.rotation()});
    b.p_W = random.vector(0.5 * std::max(a.diagonal, b.diagonal));
    const Vec3 n = oracle::separation(a, b).n;
    b.p_W += (kGaps[i % 5] - oracle::separation(a, b).d) * n;
    const double d = oracle::separation(a, b).d;
    const double tol = oracle::tolerance(a, b);
    const Manifold m = oracle::collide(a, b, kMargin);
    if (std::abs(d - kMargin) < tol) continue;
    ASSERT_EQ(m.empty(), d > kMargin) << i;
    if (m.empty()) continue;
    ++compared;
    ASSERT_NEAR(oracle::deepest(m).gap, d, tol + 1e-12) << i;
    ASSERT_GE(oracle::support_distance(a, b, oracle::deepest(m).n), d - tol - 1e-12) << i;
  }
  EXPECT_GT(compared, 2000);
}

// The distance of separated boxes where separating axes fail: two corners face each other.
TEST(NarrowPhase, CornerToCornerDistance) {
  const PlacedShape a = place(Shape::box({0.1, 0.1, 0.1}), {});
  const PlacedShape b = place(Shape::box({0.1, 0.1, 0.1}), {Vec3::Constant(0.201), Quat::Identity()});
  const Manifold m = oracle::collide(a, b, 5e-3);
  ASSERT_EQ(m.size(), 1);
  EXPECT_NEAR(m[0].gap, 1e-3 * std::sqrt(3.0), 1e-14);
  EXPECT_LT((m[0].n - Vec3::Constant(1 / std::sqrt(3.0))).norm(), 1e-12);
  EXPECT_LT((m[0].p - Vec3::Constant(0.1)).norm(), 1e-14);
  EXPECT_TRUE(oracle::collide(a, b, 1.7e-3).empty()) << "the largest axis distance, 1 mm, is not the gap";
}

TEST(NarrowPhase, CoincidentCentresGiveFiniteContacts) {
  const Shape shapes[] = {Shape::sphere(0.1), Shape::capsule(0.1, 0.2), Shape::box({0.1, 0.2, 0.3})};
  const Quat turned[] = {Quat::Identity(), so3_exp({0.5 * std::numbers::pi, 0, 0}), so3_exp({0.3, 0.2, -1.0})};
  for (const Shape& a : shapes) {
    for (const Shape& b : shapes) {
      for (const Quat& q : turned) {
        const Vec3 p(0.5, -2, 1);
        const Manifold m = oracle::collide(place(a, {p, Quat::Identity()}), place(b, {p, q}), kMargin);
        ASSERT_FALSE(m.empty());
        for (const ManifoldPoint& point : m) {
          EXPECT_TRUE(point.p.allFinite());
          EXPECT_NEAR(point.n.norm(), 1, 1e-14);
          EXPECT_LT(point.gap, -0.1);
        }
      }
    }
  }
}

// Gaps and normals at 1e5 m from the origin: only the stored positions lose digits (1.5e-11 m there).
TEST(NarrowPhase, AccurateFarFromTheOrigin) {
  Random random(21);
  const Vec3 far(1e5, -2e5, 3e5);
  for (int i = 0; i < 500; ++i) {
    const PlacedShape a =
        place(random.shape(i % 2 == 0 ? ShapeKind::box : ShapeKind::capsule), {Vec3::Zero(), random.rotation()});
    PlacedShape b = place(random.shape(ShapeKind::box), {Vec3::Zero(), random.rotation()});
    if (!oracle::slide_to(random, a, b, -1e-3)) continue;
    PlacedShape far_a = a;
    PlacedShape far_b = b;
    far_a.p_W += far;
    far_b.p_W = far_a.p_W + (b.p_W - a.p_W);
    const Manifold m = oracle::collide(a, b, kMargin);
    const Manifold m_far = oracle::collide(far_a, far_b, kMargin);
    ASSERT_EQ(m.size(), m_far.size());
    for (int k = 0; k < m.size(); ++k) {
      ASSERT_EQ(m[k].key, m_far[k].key);
      ASSERT_NEAR(m[k].gap, m_far[k].gap, 3e-10);
      ASSERT_LT((m[k].p + far - m_far[k].p).norm(), 1e-8);
    }
  }
}

// The corners of a box as a closed triangle mesh.
Shape box_mesh(double h) {
  std::vector<Vec3> x;
  for (int k = 0; k < 8; ++k) x.push_back({k & 1 ? h : -h, k & 2 ? h : -h, k & 4 ? h : -h});
  const std::vector<TriangleMesh::Triangle> t = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                                 {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return Shape::triangles(TriangleMesh::build(x, t, "box mesh"));
}

// Of two meshes, or a mesh and a height field, the first is taken as its hull.
TEST(NarrowPhase, MeshAgainstSurfaceUsesItsHull) {
  const Shape mesh = box_mesh(0.1);
  const Shape hull = Shape::convex(mesh.mesh->hull());
  const std::vector<double> heights(16, 0.0);
  const Shape ground = Shape::terrain(HeightField::build(4, 4, 0.5, 0.5, heights, "ground"));
  const Shape table = box_mesh(0.3);
  for (const Shape& below : {ground, table}) {
    const PlacedShape b = place(below, {Vec3(0, 0, below.kind == ShapeKind::mesh ? -0.3 : 0.0), Quat::Identity()});
    const Pose X{Vec3(0.02, 0.01, 0.099), so3_exp({0, 0, 0.3})};
    const Manifold as_mesh = oracle::collide(place(mesh, X), b, kMargin);
    const Manifold as_hull = oracle::collide(place(hull, X), b, kMargin);
    ASSERT_EQ(as_mesh.size(), 4);
    ASSERT_EQ(as_hull.size(), 4);
    for (int k = 0; k < 4; ++k) {
      EXPECT_NEAR(as_mesh[k].gap, -1e-3, 1e-12);
      EXPECT_EQ(as_mesh[k].gap, as_hull[k].gap);
      EXPECT_EQ(as_mesh[k].key, as_hull[k].key);
    }
  }
}

TEST(NarrowPhase, PairsWithoutContact) {
  const std::vector<double> heights(4, 0.0);
  const Shape ground = Shape::terrain(HeightField::build(2, 2, 1, 1, heights, "ground"));
  const std::vector<Vec3> corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const Shape sheet =
      Shape::triangles(TriangleMesh::build(corners, std::vector<TriangleMesh::Triangle>{{0, 1, 2}}, "sheet"));
  const Shape shapes[] = {Shape::plane(), ground, sheet};
  for (const Shape& a : shapes) {
    for (const Shape& b : shapes) {
      const bool plane_and_sheet =
          a.kind != b.kind && a.kind != ShapeKind::height_field && b.kind != ShapeKind::height_field;
      if (plane_and_sheet) continue;
      Vec3 axis = Vec3::UnitX();
      NarrowWorkspace workspace;
      Manifold m;
      m.push({});
      collide(place(a, {}), place(b, {Vec3(0, 0, -1e-3), Quat::Identity()}), kMargin, workspace, axis, m);
      EXPECT_TRUE(m.empty()) << name_of(a.kind) << " " << name_of(b.kind);
    }
  }
}

}  // namespace
}  // namespace sarrus::narrow_phase_test
