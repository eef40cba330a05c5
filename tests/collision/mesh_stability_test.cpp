// Convex bodies against any mesh (docs/theory/collision.md §8): certified distances, noise, rigid motions, repetition,
// soups of triangles, and no heap.
#include <gtest/gtest.h>

#include <cstdio>

#include "collision/mesh_scenes.h"
#include "effort.h"
#include "sarrus/collision/convex_distance.h"
#include "support/allocations.h"

namespace sarrus::mesh_stability_test {
namespace {

using oracle::Random;
using scene::Surface;

constexpr double kMargin = 2e-3;
constexpr ShapeKind kConvex[] = {ShapeKind::sphere,   ShapeKind::capsule,   ShapeKind::box,
                                 ShapeKind::cylinder, ShapeKind::ellipsoid, ShapeKind::hull};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Surface terrain(double amplitude, Random& random) {
  return scene::grid(24, 24, 0.6, 0.6, 0.4, random, [&](double, double) { return amplitude * random.uniform(-1, 1); });
}

Quat small_turn(Random& random, double angle) { return so3_exp(angle * random.direction()); }

struct Separation {
  double d = 1e300;
  Vec3 n = Vec3::UnitZ();  // from the triangle to the body
  int triangle = -1;
  bool from_front = false;  // all triangles at this distance look at the body
};

// The certified distance of the body to every triangle near it.
Separation separation(const Surface& s, const PlacedShape& a, double reach) {
  const Aabb box = shape_aabb(a);
  const Convex x = convex_of(a, Vec3::Zero());
  Separation best;
  for (std::size_t t = 0; t < s.t.size(); ++t) {
    const Vec3 p[3] = {s.v[at(s.t[t][0])], s.v[at(s.t[t][1])], s.v[at(s.t[t][2])]};
    Aabb triangle_box = Aabb::nothing();
    for (const Vec3& y : p) triangle_box.add(y);
    if (!boxes_near(triangle_box, box, reach)) continue;
    const Convex triangle =
        convex_of_triangle(p[0] - a.p_W, p[1] - a.p_W, p[2] - a.p_W, Mat3::Identity(), Vec3::Zero());
    const ConvexDistance q = convex_distance(triangle, x, reach, 5e-6 * a.diagonal);
    if (!q.near || q.d > best.d + 1e-9) continue;
    const Vec3 n = (p[1] - p[0]).cross(p[2] - p[0]).normalized();
    const Vec3 centre = a.kind == ShapeKind::hull ? a.p_W + a.R_WG * a.hull->mass_properties().centre : a.p_W;
    const bool front = n.dot(q.n) > 1e-3 && n.dot(centre - p[0]) > 0;
    const bool tie = q.d > best.d - 1e-9;
    const bool from_front = front && (!tie || best.from_front);
    if (q.d < best.d) best = {q.d, q.n, static_cast<int>(t), from_front};
    best.from_front = from_front;
  }
  return best;
}

// Lowers the body along z until its distance is `target`.
bool lower_to(const Surface& s, PlacedShape& a, double top, double target) {
  a.p_W.z() += top + 0.01 - shape_aabb(a).lo.z();
  for (int i = 0; i < 80; ++i) {
    const Separation now = separation(s, a, 0.03);
    if (std::abs(now.d - target) < 1e-7) return true;
    a.p_W.z() -= now.triangle < 0 ? 0.02 : now.d - target;
  }
  return false;
}

class OnTerrain : public testing::TestWithParam<ShapeKind> {};

// From almost flat to steep: the smallest gap is the certified distance, apart and slightly overlapping.
TEST_P(OnTerrain, SmallestGapIsTheCertifiedDistance) {
  Random random(71);
  int poses = 0;
  int inexact = 0;
  double worst_apart = 0;
  double worst_overlap = 0;
  for (const double amplitude : {1e-5, 1e-4, 1e-3, 5e-3, 2e-2}) {
    const Surface s = terrain(amplitude, random);
    const Shape mesh = s.shape();
    const PlacedShape ground = place(mesh, Pose{});
    for (int i = 0; i < 40; ++i) {
      const Quat q = i % 2 == 0 ? random.rotation()
                                : Quat(Eigen::AngleAxisd(random.uniform(-3, 3), Vec3::UnitZ())) *
                                      small_turn(random, random.uniform(0, 5e-3));
      const Shape shape = random.shape(GetParam());
      PlacedShape a = place(shape, {{random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), 0}, q});
      const double target = random.uniform(1e-5, 1.8e-3);
      if (!lower_to(s, a, amplitude, target)) continue;
      ++poses;
      const double tol = oracle::tolerance(a, ground);
      const Manifold apart = scene::collide(a, ground, kMargin);
      ASSERT_FALSE(apart.empty()) << "amplitude " << amplitude << " pose " << i;
      const double error = std::abs(scene::smallest_gap(apart) - separation(s, a, 0.01).d);
      worst_apart = std::max(worst_apart, error);
      if (error > 1e-8) ++inexact;
      // A cap of a cylinder counts as an octagon where the ground below is level to within 1e-3: bumps under the rest
      // of the disc, 0.08 r wide, may be missed by up to 8e-5 r.
      ASSERT_LE(error, tol + (GetParam() == ShapeKind::cylinder ? 8e-5 * a.size[0] : 1e-9))
          << "amplitude " << amplitude << " pose " << i;
      // The same features at a small overlap: the gap changes by the way along the normal.
      const double way = target + random.uniform(1e-6, 5e-5);
      PlacedShape b = a;
      b.p_W.z() -= way;
      const Manifold overlap = scene::collide(b, ground, kMargin);
      ASSERT_FALSE(overlap.empty()) << "amplitude " << amplitude << " pose " << i;
      const double d = separation(s, b, 0.01).d;
      if (d > 0) continue;
      double expected = 1e300;
      for (const ManifoldPoint& point : apart) expected = std::min(expected, point.gap + way * point.n.z());
      const double change = std::abs(scene::smallest_gap(overlap) - expected);
      worst_overlap = std::max(worst_overlap, change);
      ASSERT_LE(change, 1e-4) << "amplitude " << amplitude << " pose " << i;
    }
  }
  EXPECT_GT(poses, 150);
  std::printf("  %d poses, apart: worst %.1e m, %d above 1e-8; overlapping: worst %.1e m against the open features\n",
              poses, worst_apart, inexact, worst_overlap);
}

// On an edge, a corner or a rim, over any triangulation: the floor's normal only, and the lowest point's gap.
TEST_P(OnTerrain, AnyOrientationFeelsOnlyAFlatFloor) {
  SARRUS_FULL_SIZE_ONLY();
  Random random(74);
  const Shape meshes[] = {scene::grid(30, 30, 0.9, 0.9, 0.9, random, scene::flat).shape(),
                          scene::grid(120, 120, 0.9, 0.9, 0.6, random, scene::flat).shape(),
                          scene::grid(300, 2, 0.9, 0.9, 0.5, random, scene::flat).shape()};
  for (int i = 0; i < 1500; ++i) {
    const Pose X_WM = i % 2 == 0 ? Pose{} : Pose{random.vector(5), random.rotation()};
    const Shape shape = random.shape(GetParam());
    PlacedShape a = place(shape, {{random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), 0}, random.rotation()});
    const double gap = random.uniform(-4e-3, 1.9e-3);
    a.p_W.z() = gap - shape_aabb(a).lo.z();
    const Manifold m = scene::collide(oracle::moved(a, X_WM), place(meshes[i % 3], X_WM), kMargin);
    ASSERT_FALSE(m.empty()) << "pose " << i;
    ASSERT_NEAR(scene::smallest_gap(m), gap, oracle::tolerance(a, place(meshes[0], Pose{}))) << "pose " << i;
    for (const ManifoldPoint& point : m) {
      ASSERT_LT((X_WM.q.conjugate() * point.n + Vec3::UnitZ()).norm(), 1e-9) << "pose " << i;
      ASSERT_GE(point.gap, gap - 1e-12) << "pose " << i;
    }
  }
}

// Every point on both surfaces, unit normals that look against the triangles, keys in order, and the same bits again.
TEST_P(OnTerrain, PointsAreSoundAndRepeatable) {
  Random random(72);
  Shape mesh;
  for (int i = 0; i < 300; ++i) {
    if (i % 60 == 0) mesh = terrain(std::pow(10.0, random.uniform(-4, -2)), random).shape();
    const PlacedShape ground = place(mesh, Pose{});
    const Shape shape = random.shape(GetParam());
    const PlacedShape a = place(
        shape, {{random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), random.uniform(0.02, 0.3)}, random.rotation()});
    const double margin = i % 3 == 0 ? 0.05 : kMargin;
    const Manifold m = scene::collide(a, ground, margin);
    ASSERT_LE(m.size(), 32);
    for (int k = 0; k < m.size(); ++k) {
      const ManifoldPoint& point = m[k];
      ASSERT_NEAR(point.n.norm(), 1, 1e-12);
      ASSERT_TRUE(point.p.allFinite());
      ASSERT_LE(point.gap, margin);
      ASSERT_LT(point.n.z(), 0);
      // Side lines of capsules may run 0.005 r below the surface (§4.1). Normals of curved bodies are good to 1e-4 rad.
      const double tol =
          oracle::tolerance(a, ground) + (a.kind >= ShapeKind::cylinder ? 1e-4 * std::abs(point.gap) : 0);
      const double below = a.kind == ShapeKind::capsule ? 0.0051 * a.size[0] : tol;
      ASSERT_LE(scene::surface_distance(a, point.p), tol) << "pose " << i;
      ASSERT_GE(scene::surface_distance(a, point.p), -below) << "pose " << i;
      if (k > 0) {
        ASSERT_LT(m[k - 1].key, point.key);
      }
    }
    MeshWorkspace fresh;
    const Manifold again = scene::collide(a, ground, margin, fresh);
    ASSERT_EQ(again.size(), m.size());
    for (int k = 0; k < m.size(); ++k) {
      ASSERT_EQ(again[k].p, m[k].p);
      ASSERT_EQ(again[k].n, m[k].n);
      ASSERT_EQ(again[k].gap, m[k].gap);
      ASSERT_EQ(again[k].key, m[k].key);
    }
  }
}

TEST_P(OnTerrain, RigidMotionChangesNothing) {
  Random random(73);
  const Shape mesh = terrain(3e-3, random).shape();
  const PlacedShape ground = place(mesh, Pose{});
  int compared = 0;
  int different = 0;
  for (int i = 0; i < 300; ++i) {
    const Shape shape = random.shape(GetParam());
    PlacedShape a = place(shape, {{random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), 0}, random.rotation()});
    a.p_W.z() = random.uniform(-2e-3, 3e-3) - shape_aabb(a).lo.z();
    const Manifold m = scene::collide(a, ground, kMargin);
    if (m.empty()) continue;
    ++compared;
    const Pose X{random.vector(100), random.rotation()};
    const Manifold moved = scene::collide(oracle::moved(a, X), oracle::moved(ground, X), kMargin);
    bool same = m.size() == moved.size();
    for (int k = 0; same && k < m.size(); ++k) {
      same = m[k].key == moved[k].key;
      if (!same) break;
      // Normals of curved bodies at edges are good to 1e-4 rad (§8).
      const bool curved = GetParam() == ShapeKind::cylinder || GetParam() == ShapeKind::ellipsoid;
      ASSERT_NEAR(m[k].gap, moved[k].gap, curved ? 1e-9 : 1e-12) << "pose " << i;
      ASSERT_LT((X.q * m[k].n - moved[k].n).norm(), curved ? 1e-4 : 1e-9) << "pose " << i;
      ASSERT_LT((X * m[k].p - moved[k].p).norm(), curved ? 3e-5 : 1e-9) << "pose " << i;
    }
    if (!same) ++different;
  }
  EXPECT_GT(compared, 100);
  EXPECT_EQ(different, 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, OnTerrain, testing::ValuesIn(kConvex),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

// What rests on meshes: keys, count and order survive 1e-6 rad and 1e-7 m in 99.9 % of random poses (§8).
TEST(Noise, RestingContactsKeepTheirKeys) {
  Random random(81);
  const Quat lying(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()));
  const struct {
    Shape shape;
    Quat q;
    double height;
  } bodies[] = {{Shape::sphere(0.1), Quat::Identity(), 0.1},
                {Shape::capsule(0.05, 0.15), lying, 0.05},
                {Shape::box({0.1, 0.15, 0.05}), Quat::Identity(), 0.05},
                {Shape::cylinder(0.1, 0.07), Quat::Identity(), 0.07},
                {Shape::cylinder(0.1, 0.07), lying, 0.1},
                {Shape::ellipsoid({0.1, 0.2, 0.05}), Quat::Identity(), 0.05}};
  const Shape floor = scene::grid(60, 60, 1.5, 1.5, 0.8, random, scene::flat).shape();
  const Shape sheet = scene::grid(12, 12, 0.3, 0.3, 0.8, random, scene::flat).shape();  // bodies reach over its border
  const Shape step = scene::step(0.05, 1, 20).shape();
  const Shape roof = scene::roof(0.2, 1, 1, 9).shape();
  int poses = 0;
  int changed = 0;
  double moved = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto& body = bodies[i % 6];
    const int place_index = i / 6 % 4;
    const Shape& mesh = place_index == 0 ? floor : place_index == 1 ? sheet : place_index == 2 ? step : roof;
    Vec3 p(random.uniform(-0.35, 0.35), random.uniform(-0.35, 0.35), body.height + random.uniform(-5e-6, 1e-6));
    Quat q = Quat(Eigen::AngleAxisd(random.uniform(-3, 3), Vec3::UnitZ())) * body.q;
    if (place_index == 2) {  // against the wall as well, with an edge or a face
      if (i % 3 == 0) q = body.q;
      const PlacedShape a = place(body.shape, {p, q});
      p.x() -= shape_aabb(a).hi.x() + random.uniform(-5e-6, 1e-6);
    }
    if (place_index == 3) {  // across the ridge
      p.x() *= 0.1;
      if (body.shape.kind != ShapeKind::box && body.shape.kind != ShapeKind::cylinder) p.z() += 1e-3;
    }
    const PlacedShape a = place(body.shape, {p, q});
    const PlacedShape ground = place(mesh, Pose{});
    const Manifold m = scene::collide(a, ground, kMargin);
    if (m.empty()) continue;
    ++poses;
    bool same = true;
    for (int k = 0; k < 10; ++k) {
      PlacedShape b = a;
      b.R_WG = small_turn(random, 1e-6) * a.R_WG;
      b.p_W += 1e-7 * random.direction();
      const Manifold noisy = scene::collide(b, ground, kMargin);
      same = same && noisy.size() == m.size();
      for (int j = 0; same && j < m.size(); ++j) {
        same = m[j].key == noisy[j].key;
        if (same) moved = std::max(moved, (m[j].p - noisy[j].p).norm());
      }
    }
    if (!same) ++changed;
  }
  std::printf("  %d poses x 10, %d changed, points moved by at most %.1e m\n", poses, changed, moved);
  EXPECT_GT(poses, 1500);
  EXPECT_LE(changed, poses / 1000);
  EXPECT_LT(moved, 1e-3);
}

// Triangles at random, many of them sharing corners, some of them three at an edge or back to back.
Surface soup(Random& random) {
  Surface s;
  const int corners = random.integer(4, 30);
  for (int i = 0; i < corners; ++i) s.add(random.vector(0.3));
  const int count = random.integer(0, 1) == 0 ? random.integer(1, 3) : random.integer(4, 40);
  while (static_cast<int>(s.t.size()) < count) {
    const int a = random.integer(0, corners - 1);
    const int b = random.integer(0, corners - 1);
    const int c = random.integer(0, corners - 1);
    if (a == b || b == c || c == a) continue;
    s.t.push_back({a, b, c});
    if (random.integer(0, 4) == 0) s.t.push_back({a, c, b});
  }
  return s;
}

TEST(Soup, AnyTrianglesGiveSoundPoints) {
  SARRUS_FULL_SIZE_ONLY();
  Random random(91);
  int apart = 0;
  int overlapping = 0;
  int found = 0;
  for (int i = 0; i < 12000; ++i) {
    Surface s = soup(random);
    const Shape mesh = s.shape();
    s.v.assign(mesh.mesh->vertices().begin(), mesh.mesh->vertices().end());
    s.t.assign(mesh.mesh->triangles().begin(), mesh.mesh->triangles().end());
    const Shape shape = random.shape(kConvex[i % 6]);
    const PlacedShape a = place(shape, {random.vector(0.7), random.rotation()});
    const PlacedShape ground = place(mesh, Pose{});
    const double margin = i / 6 % 2 == 0 ? kMargin : 0.2;
    const double tol = oracle::tolerance(a, ground);
    const Manifold m = scene::collide(a, ground, margin);
    ASSERT_LE(m.size(), 32);
    const Separation truth = separation(s, a, margin + 0.01);
    for (const ManifoldPoint& point : m) {
      ASSERT_TRUE(point.p.allFinite() && std::isfinite(point.gap)) << "soup " << i;
      ASSERT_NEAR(point.n.norm(), 1, 1e-12) << "soup " << i;
      const double below = a.kind == ShapeKind::capsule ? 0.0051 * a.size[0] : 10 * tol;
      ASSERT_LE(std::abs(scene::surface_distance(a, point.p)), below) << "soup " << i;
      // Within tol of all sides of a triangle is farther from an acute corner. A vertex behind both faces of a concave
      // edge counts for both, although it is over one of them at most.
      const double from_mesh = scene::nearest_on(s, point.p + point.gap * point.n).distance;
      ASSERT_LE(from_mesh, 100 * tol + 5 * std::max(0.0, -point.gap)) << "soup " << i;
      if (truth.d > 0) {
        ASSERT_GE(point.gap, truth.d - 2 * tol) << "soup " << i;
      }
    }
    if (truth.d <= 0) {
      ++overlapping;
      continue;
    }
    if (truth.d > margin - tol || !truth.from_front) continue;
    ++apart;
    found += std::abs(scene::smallest_gap(m) - truth.d) <= 2 * tol ? 1 : 0;
    ASSERT_NEAR(scene::smallest_gap(m), truth.d, 2 * tol) << "soup " << i << " kind " << name_of(a.kind);
  }
  std::printf("  %d apart, %d found, %d overlapping\n", apart, found, overlapping);
  EXPECT_GT(apart, 300);
  EXPECT_GT(overlapping, 300);
}

TEST(Memory, NoAllocationAfterWarmUp) {
  Random random(101);
  const Shape mesh = terrain(2e-3, random).shape();
  const Shape ball = scene::icosphere(0.2, 3, false).shape();
  const PlacedShape ground = place(mesh, Pose{});
  const PlacedShape plane = place(Shape::plane(), Pose{});
  std::vector<Shape> shapes;
  std::vector<PlacedShape> bodies;
  for (int i = 0; i < 60; ++i) {
    shapes.push_back(random.shape(kConvex[i % 6]));
    bodies.push_back(
        place(shapes.back(),
              {{random.uniform(-0.4, 0.4), random.uniform(-0.4, 0.4), random.uniform(0.02, 0.2)}, random.rotation()}));
  }
  MeshWorkspace workspace;
  const auto pass = [&] {
    for (const PlacedShape& a : bodies) {
      scene::collide(a, ground, 0.02, workspace);
      PlacedShape moving = place(ball, Pose{});
      moving.R_WG = a.R_WG;
      moving.p_W.z() = 0.19;
      scene::collide(plane, moving, 0.02, workspace);
    }
  };
  EXPECT_GT(test::allocations_of(pass), 0);  // the counter works
  EXPECT_EQ(test::allocations_of(pass), 0);
}

}  // namespace
}  // namespace sarrus::mesh_stability_test
