// Time per narrow-phase query for every kind of pair, with Bullet's own detector on the same poses as a yardstick.
//
//   build/release/bench/collision_pairs_bench --benchmark_format=json > pairs.json
//   scripts/collision_table.py pairs.json                                    the tables of docs/collision.md
//
// Each scene is 100 poses that differ by a small slide and turn in the contact plane and by a common rigid motion, at
// gaps of -1, 0 and +1 mm. A time is the mean over the poses, the whole manifold included.
#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>
#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <BulletCollision/CollisionDispatch/btCollisionWorld.h>
#include <BulletCollision/CollisionDispatch/btDefaultCollisionConfiguration.h>
#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btCapsuleShape.h>
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/CollisionShapes/btCylinderShape.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <benchmark/benchmark.h>

#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "sarrus/collision/narrow_phase.h"
#include "sarrus/math/so3.h"

namespace sarrus {
namespace {

constexpr int kPoses = 100;
constexpr double kMargin = 2e-3;

class Random {
 public:
  double uniform(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(engine_); }
  Vec3 vector(double half) { return {uniform(-half, half), uniform(-half, half), uniform(-half, half)}; }
  Quat rotation() { return so3_exp(vector(1.7)); }
  Vec3 direction() {
    Vec3 x = vector(1);
    while (x.norm() > 1 || x.norm() < 0.1) x = vector(1);
    return x.normalized();
  }

 private:
  std::mt19937_64 engine_{2024};
};

// A rests under B along z: at gap 0 the highest point of A and the lowest of B meet at z = 0.
struct Scene {
  std::string name;
  Shape a;
  Pose X_a;
  Shape b;
  Pose X_b;
};

Shape round_hull(int points, bool flat) {
  Random random;
  std::vector<Vec3> x;
  for (int i = 0; i < points; ++i) x.push_back(0.15 * random.direction());
  if (flat) {  // a 16-sided face at the bottom and one at the top
    for (int i = 0; i < 16; ++i) {
      const double angle = 2 * std::numbers::pi * i / 16;
      for (const double z : {-0.15, 0.15}) x.emplace_back(0.08 * std::cos(angle), 0.08 * std::sin(angle), z);
    }
  }
  return Shape::convex(ConvexHull::build(x, "bench hull"));
}

double lowest(const Shape& hull, const Quat& q) {
  double z = 1e9;
  for (const Vec3& x : hull.hull->vertices()) z = std::min(z, (q * x).z());
  return z;
}

Shape grid_mesh(int n, double cell) {
  std::vector<Vec3> x;
  std::vector<TriangleMesh::Triangle> t;
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) x.emplace_back((i - 0.5 * n) * cell, (j - 0.5 * n) * cell, 0);
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const int a = j * (n + 1) + i;
      t.push_back({a, a + 1, a + n + 2});
      t.push_back({a, a + n + 2, a + n + 1});
    }
  }
  return Shape::triangles(TriangleMesh::build(x, t, "bench grid"));
}

Pose up(double z, const Quat& q = Quat::Identity()) { return {Vec3(0, 0, z), q}; }

std::vector<Scene> scenes() {
  const double quarter = 0.25 * std::numbers::pi;
  const Quat lying = so3_exp({0.5 * std::numbers::pi, 0, 0});
  const Quat on_edge = so3_exp({quarter, 0, 0});
  const Quat on_edge_across = so3_exp({0, quarter, 0});
  const Quat on_vertex = Quat::FromTwoVectors(Vec3::Ones().normalized(), Vec3::UnitZ());
  const double r2 = std::numbers::sqrt2;
  const Shape plane = Shape::plane();
  const Shape cube = Shape::box(Vec3::Constant(0.1));
  const Shape slab = Shape::box(Vec3(1, 1, 0.1));
  const Shape ball = Shape::sphere(0.1);
  const Shape rod = Shape::capsule(0.05, 0.1);
  const Shape can = Shape::cylinder(0.08, 0.1);
  const Shape egg = Shape::ellipsoid(Vec3(0.1, 0.08, 0.06));
  const Shape hull200 = round_hull(200, false);
  const Shape flat200 = round_hull(168, true);
  const Shape hull1000 = round_hull(1000, false);
  const Quat turn = so3_exp({0.3, 0.5, 0.2});
  const Quat other = so3_exp({-0.7, 0.2, 0.4});
  const auto rest = [](const Shape& hull, const Quat& q) { return up(-lowest(hull, q), q); };
  const auto hang = [](const Shape& hull, const Quat& q) {
    const Quat down = so3_exp({std::numbers::pi, 0, 0}) * q;
    return up(lowest(hull, q), down);
  };
  return {
      {"plane-sphere", plane, {}, ball, up(0.1)},
      {"plane-capsule", plane, {}, rod, up(0.05, lying)},
      {"plane-box", plane, {}, cube, up(0.1)},
      {"plane-cylinder/standing", plane, {}, can, up(0.1)},
      {"plane-cylinder/lying", plane, {}, can, up(0.08, lying)},
      {"plane-ellipsoid", plane, {}, egg, up(0.06)},
      {"plane-hull200/flat", plane, {}, flat200, up(0.15)},
      {"plane-hull1000/vertex", plane, {}, hull1000, rest(hull1000, turn)},
      {"sphere-sphere", ball, up(-0.1), ball, up(0.1)},
      {"sphere-capsule", ball, up(-0.1), rod, up(0.05, lying)},
      {"sphere-box", slab, up(-0.1), ball, up(0.1)},
      {"sphere-cylinder", can, up(-0.1), ball, up(0.1)},
      {"sphere-ellipsoid", egg, up(-0.06), ball, up(0.1)},
      {"sphere-hull200", flat200, up(-0.15), ball, up(0.1)},
      {"capsule-capsule/parallel", rod, up(-0.05, lying), rod, up(0.05, lying)},
      {"capsule-capsule/crossed", rod, up(-0.05, lying), rod, up(0.05, so3_exp({0, 0, 1.2}) * lying)},
      {"capsule-box", slab, up(-0.1), rod, up(0.05, lying)},
      {"capsule-cylinder", can, up(-0.1), rod, up(0.05, lying)},
      {"capsule-ellipsoid", egg, up(-0.06), rod, up(0.05, lying)},
      {"capsule-hull200", flat200, up(-0.15), rod, up(0.05, lying)},
      {"box-box/face", slab, up(-0.1), cube, up(0.1)},
      {"box-box/identical", cube, up(-0.1), cube, up(0.1)},
      {"box-box/tilted", slab, up(-0.1), cube,
       up(0.1 * std::cos(1.745e-3) + 0.1 * std::sin(1.745e-3), so3_exp({1.745e-3, 0, 0}))},
      {"box-box/edge", cube, up(-0.1 * r2, on_edge), cube, up(0.1 * r2, on_edge_across)},
      {"box-box/vertex", slab, up(-0.1), cube, up(0.1 * std::numbers::sqrt3, on_vertex)},
      {"box-cylinder/standing", slab, up(-0.1), can, up(0.1)},
      {"box-cylinder/lying", slab, up(-0.1), can, up(0.08, lying)},
      {"box-ellipsoid", slab, up(-0.1), egg, up(0.06)},
      {"box-hull200/vertex", slab, up(-0.1), hull200, rest(hull200, turn)},
      {"box-hull200/flat", slab, up(-0.1), flat200, up(0.15)},
      {"box-hull1000/vertex", slab, up(-0.1), hull1000, rest(hull1000, turn)},
      {"cylinder-cylinder/stacked", can, up(-0.1), can, up(0.1)},
      {"cylinder-cylinder/side", can, up(-0.08, lying), can, up(0.08, lying)},
      {"cylinder-cylinder/crossed", can, up(-0.08, lying), can, up(0.08, so3_exp({0, 0, 1.2}) * lying)},
      {"cylinder-ellipsoid", can, up(-0.1), egg, up(0.06)},
      {"cylinder-hull200", can, up(-0.1), flat200, up(0.15)},
      {"ellipsoid-ellipsoid", egg, up(-0.06), egg, up(0.06)},
      {"ellipsoid-hull200", egg, up(-0.06), flat200, up(0.15)},
      {"hull200-hull200/vertex", hull200, hang(hull200, other), hull200, rest(hull200, turn)},
      {"hull200-hull200/flat", flat200, up(-0.15), flat200, up(0.15)},
      {"hull1000-hull1000", hull1000, hang(hull1000, other), hull1000, rest(hull1000, turn)},
      {"mesh-sphere", grid_mesh(40, 0.05), {}, ball, up(0.1)},
      {"mesh-capsule", grid_mesh(40, 0.05), {}, rod, up(0.05, lying)},
      {"mesh-box", grid_mesh(40, 0.05), {}, cube, up(0.1)},
      {"mesh-cylinder", grid_mesh(40, 0.05), {}, can, up(0.1)},
      {"mesh-ellipsoid", grid_mesh(40, 0.05), {}, egg, up(0.06)},
      {"mesh-hull200", grid_mesh(40, 0.05), {}, flat200, up(0.15)},
  };
}

struct Pair {
  PlacedShape a, b;
};

std::vector<Pair> poses(const Scene& scene, double gap) {
  Random random;
  std::vector<Pair> out;
  for (int i = 0; i < kPoses; ++i) {
    const Pose frame{random.vector(1), random.rotation()};
    const Pose slide{Vec3(random.uniform(-0.02, 0.02), random.uniform(-0.02, 0.02), gap),
                     so3_exp({0, 0, random.uniform(-0.05, 0.05)})};
    // Vertical contacts of round bodies must stay in place: only the ground may be wide enough to slide on.
    const bool wide = scene.a.kind == ShapeKind::plane || scene.a.kind == ShapeKind::mesh ||
                      (scene.a.kind == ShapeKind::box && scene.a.size[0] > 0.5);
    const Pose shift = wide ? slide : Pose{Vec3(0, 0, gap)};
    out.push_back({place(scene.a, frame * scene.X_a), place(scene.b, frame * (shift * scene.X_b))});
  }
  return out;
}

void time_ours(benchmark::State& state, const Scene& scene, double gap) {
  const std::vector<Pair> pairs = poses(scene, gap);
  NarrowWorkspace workspace;
  Manifold manifold;
  std::size_t i = 0;
  double points = 0;
  for (auto _ : state) {
    collide(pairs[i].a, pairs[i].b, kMargin, workspace, manifold);
    points += manifold.size();
    benchmark::DoNotOptimize(manifold);
    i = (i + 1) % pairs.size();
  }
  state.counters["points"] = benchmark::Counter(points, benchmark::Counter::kAvgIterations);
}

std::unique_ptr<btCollisionShape> bullet_shape(const Shape& s) {
  std::unique_ptr<btCollisionShape> out;
  switch (s.kind) {
    case ShapeKind::plane:
      return std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), 0);
    case ShapeKind::sphere:
      return std::make_unique<btSphereShape>(s.size[0]);
    case ShapeKind::capsule:
      return std::make_unique<btCapsuleShapeZ>(s.size[0], 2 * s.size[1]);
    case ShapeKind::box:
      out = std::make_unique<btBoxShape>(btVector3(s.size[0], s.size[1], s.size[2]));
      break;
    case ShapeKind::cylinder:
      out = std::make_unique<btCylinderShapeZ>(btVector3(s.size[0], s.size[0], s.size[1]));
      break;
    case ShapeKind::hull: {
      auto hull = std::make_unique<btConvexHullShape>();
      for (const Vec3& x : s.hull->vertices()) hull->addPoint(btVector3(x[0], x[1], x[2]), false);
      hull->recalcLocalAabb();
      hull->initializePolyhedralFeatures();
      out = std::move(hull);
      break;
    }
    default:
      return nullptr;
  }
  out->setMargin(1e-3);
  return out;
}

struct CountPoints : btCollisionWorld::ContactResultCallback {
  int points = 0;
  btScalar addSingleResult(btManifoldPoint&, const btCollisionObjectWrapper*, int, int, const btCollisionObjectWrapper*,
                           int, int) override {
    ++points;
    return 0;
  }
};

btTransform to_bullet(const PlacedShape& s) {
  const Mat3& R = s.R_WG;
  return btTransform(btMatrix3x3(R(0, 0), R(0, 1), R(0, 2), R(1, 0), R(1, 1), R(1, 2), R(2, 0), R(2, 1), R(2, 2)),
                     btVector3(s.p_W[0], s.p_W[1], s.p_W[2]));
}

// The pair algorithm that Bullet's dispatcher chooses, called on fresh manifolds like ours.
void time_bullet(benchmark::State& state, const Scene& scene, double gap) {
  const std::vector<Pair> pairs = poses(scene, gap);
  const auto shape_a = bullet_shape(scene.a);
  const auto shape_b = bullet_shape(scene.b);
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad_phase;
  btCollisionWorld world(&dispatcher, &broad_phase, &configuration);
  btCollisionObject a;
  btCollisionObject b;
  a.setCollisionShape(shape_a.get());
  b.setCollisionShape(shape_b.get());
  std::size_t i = 0;
  double points = 0;
  for (auto _ : state) {
    a.setWorldTransform(to_bullet(pairs[i].a));
    b.setWorldTransform(to_bullet(pairs[i].b));
    CountPoints count;
    count.m_closestDistanceThreshold = kMargin;
    world.contactPairTest(&a, &b, count);
    points += count.points;
    i = (i + 1) % pairs.size();
  }
  state.counters["points"] = benchmark::Counter(points, benchmark::Counter::kAvgIterations);
}

}  // namespace
}  // namespace sarrus

int main(int argc, char** argv) {
  using sarrus::Scene;
  const std::vector<Scene> all = sarrus::scenes();
  for (const Scene& scene : all) {
    for (const double gap : {-1e-3, 0.0, 1e-3}) {
      const std::string suffix = scene.name + (gap < 0 ? ":deep" : gap > 0 ? ":open" : ":touching");
      benchmark::RegisterBenchmark(("sarrus:" + suffix).c_str(),
                                   [&scene, gap](benchmark::State& s) { sarrus::time_ours(s, scene, gap); });
      if (sarrus::bullet_shape(scene.a) == nullptr || sarrus::bullet_shape(scene.b) == nullptr) continue;
      benchmark::RegisterBenchmark(("bullet:" + suffix).c_str(),
                                   [&scene, gap](benchmark::State& s) { sarrus::time_bullet(s, scene, gap); });
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
