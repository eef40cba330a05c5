// Convex bodies against triangle meshes (docs/theory/collision.md §6, §8): poses with known answers.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "collision/mesh_scenes.h"
#include "effort.h"
#include "sarrus/collision/convex_distance.h"

namespace sarrus::mesh_pairs_test {
namespace {

using oracle::Random;
using scene::Surface;

constexpr double kMargin = 2e-3;

Quat about(const Vec3& axis, double angle) { return Quat(Eigen::AngleAxisd(angle, axis)); }

// A body that lies on z = 0 in a known way when its frame is at height `height`.
struct Resting {
  std::string name;
  Shape shape;
  Quat q;
  double height;
  int points;
  double area;  // of the points' hull, m^2
};
void PrintTo(const Resting& body, std::ostream* out) { *out << body.name; }

Shape flat_hull() {
  std::vector<Vec3> x;
  for (int k = 0; k < 12; ++k) {
    const double a = std::numbers::pi * k / 6 + 0.1;
    x.push_back({0.1 * std::cos(a), 0.1 * std::sin(a), -0.05});
    x.push_back({0.06 * std::cos(a), 0.07 * std::sin(a), 0.06});
  }
  return Shape::convex(ConvexHull::build(x, "flat hull"));
}

std::vector<Resting> resting_bodies() {
  const Quat lying = about(Vec3::UnitX(), std::numbers::pi / 2);
  const double octagon = 2 * std::sqrt(2.0) * 0.1 * 0.1;
  return {{"sphere", Shape::sphere(0.1), Quat::Identity(), 0.1, 1, 0},
          {"capsule", Shape::capsule(0.05, 0.15), lying, 0.05, 2, 0},
          {"box", Shape::box({0.1, 0.15, 0.05}), Quat::Identity(), 0.05, 4, 0.06},
          {"plate", Shape::box({0.3, 0.25, 0.004}), Quat::Identity(), 0.004, 4, 0.3},
          {"cylinder", Shape::cylinder(0.1, 0.07), Quat::Identity(), 0.07, 8, octagon},
          {"lying_cylinder", Shape::cylinder(0.1, 0.07), lying, 0.1, 2, 0},
          {"ellipsoid", Shape::ellipsoid({0.1, 0.2, 0.05}), Quat::Identity(), 0.05, 1, 0},
          {"hull", flat_hull(), Quat::Identity(), 0.05, 8, 0}};
}

class OnFlatFloor : public testing::TestWithParam<Resting> {
 protected:
  // All points have the floor's normal `up` and `gap`, and the patch is whole.
  void check(const Manifold& m, const Vec3& up, double gap) {
    const Resting& body = GetParam();
    ASSERT_EQ(m.size(), body.points);
    for (int k = 0; k < m.size(); ++k) {
      ASSERT_LT((m[k].n + up).norm(), 1e-9);
      ASSERT_NEAR(m[k].gap, gap, 1e-12);
      if (k > 0) {
        ASSERT_LT(m[k - 1].key, m[k].key);
      }
    }
    if (body.area > 0) {
      ASSERT_NEAR(scene::hull_area(m, up), body.area, 1e-9);
    }
    if (body.name == "hull") {
      ASSERT_GE(scene::hull_area(m, up), 0.9 * 3 * 0.1 * 0.1);
    }
  }
};

TEST_P(OnFlatFloor, AnyTriangulationGivesTheFloorsNormalAndGap) {
  const Resting& body = GetParam();
  Random random(11);
  const struct {
    const char* name;
    Surface surface;
    double reach;  // of the body's place from the middle
  } floors[] = {{"regular", scene::grid(40, 40, 2, 2, 0, random, scene::flat), 1.5},
                {"irregular", scene::grid(40, 40, 2, 2, 0.9, random, scene::flat), 1.5},
                {"fine", scene::grid(100, 100, 0.6, 0.6, 0.5, random, scene::flat), 0.2},
                {"slivers", scene::grid(400, 3, 1, 1.5, 0.5, random, scene::flat), 0.5},
                {"two large triangles", scene::grid(1, 1, 300, 300, 0, random, scene::flat), 200}};
  const double gaps[] = {-3.9e-3, -1e-3, -1e-6, 0, 1e-9, 1e-6, 1e-3, 1.99e-3};
  for (const auto& floor : floors) {
    const Shape mesh = floor.surface.shape();
    for (int i = 0; i < 150; ++i) {
      const double gap = gaps[i % 8];
      const Pose X_WM = i % 3 == 0 ? Pose{} : Pose{random.vector(5), random.rotation()};
      const Pose X_MB{{random.uniform(-1, 1) * floor.reach, random.uniform(-1, 1) * floor.reach, body.height + gap},
                      about(Vec3::UnitZ(), random.uniform(-3, 3)) * body.q};
      const Manifold m = scene::collide(place(body.shape, X_WM * X_MB), place(mesh, X_WM), kMargin);
      check(m, X_WM.q * Vec3::UnitZ(), gap);
      ASSERT_FALSE(HasFatalFailure()) << floor.name << " pose " << i << " gap " << gap;
    }
  }
}

// 10 m in small steps over an irregular floor, at a fixed orientation and depth: no step may feel an inner edge, and no
// key may change, wherever the corners are.
TEST_P(OnFlatFloor, GlidesOverInnerEdges) {
  SARRUS_FULL_SIZE_ONLY();
  const Resting& body = GetParam();
  Random random(12);
  const Shape mesh = scene::grid(220, 16, 5.6, 0.5, 0.8, random, scene::flat).shape();
  const PlacedShape floor = place(mesh, Pose{});
  for (const double gap : {-1e-4, 0.0, 5e-4}) {
    const Quat q = about(Vec3::UnitZ(), random.uniform(-3, 3)) * body.q;
    Manifold first;
    for (int step = 0; step <= 2500; ++step) {
      const Vec3 p(-5 + 4e-3 * step, 0.05 * std::sin(0.01 * step), body.height + gap);
      const Manifold m = scene::collide(place(body.shape, {p, q}), floor, kMargin);
      check(m, Vec3::UnitZ(), gap);
      ASSERT_FALSE(HasFatalFailure()) << "step " << step << " gap " << gap;
      if (step == 0) first = m;
      for (int k = 0; k < m.size(); ++k) ASSERT_EQ(m[k].key, first[k].key) << "step " << step;
    }
  }
}

// The body's centre is still in front of the floor: however deep, the floor pushes it back up.
TEST_P(OnFlatFloor, DeepOverlapDoesNotFlip) {
  const Resting& body = GetParam();
  Random random(13);
  const Shape mesh = scene::grid(60, 60, 1.5, 1.5, 0.6, random, scene::flat).shape();
  for (int i = 0; i < 200; ++i) {
    const double gap = -random.uniform(0.05, 0.9) * body.height;
    const Vec3 p(random.uniform(-0.8, 0.8), random.uniform(-0.8, 0.8), body.height + gap);
    const Manifold m =
        scene::collide(place(body.shape, {p, about(Vec3::UnitZ(), 0.1 * i) * body.q}), place(mesh, Pose{}), kMargin);
    check(m, Vec3::UnitZ(), gap);
    ASSERT_FALSE(HasFatalFailure()) << "pose " << i << " gap " << gap;
  }
}

INSTANTIATE_TEST_SUITE_P(Bodies, OnFlatFloor, testing::ValuesIn(resting_bodies()),
                         [](const auto& body) { return body.param.name; });

// A tilted box on small triangles has all the corners that it would have on a plane.
TEST(TiltedBox, HasTheCornersThatAPlaneGives) {
  Random random(21);
  const Shape mesh = scene::grid(80, 80, 0.8, 0.8, 0.5, random, scene::flat).shape();
  const Shape box = Shape::box({0.12, 0.08, 0.05});
  for (const double margin : {2e-3, 0.05}) {
    for (int i = 0; i < 1000; ++i) {
      const Quat q = about(Vec3(random.uniform(-1, 1), random.uniform(-1, 1), 0).normalized(),
                           std::pow(10.0, random.uniform(-7, -1.5))) *
                     about(Vec3::UnitZ(), random.uniform(-3, 3));
      PlacedShape a = place(box, {{random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 0}, q});
      const double gap = random.uniform(-1e-3, 1.5e-3);
      a.p_W.z() = gap - shape_aabb(a).lo.z();
      const Manifold m = scene::collide(a, place(mesh, Pose{}), margin);
      int expected = 0;
      for (int v = 0; v < 4; ++v) {  // of the bottom
        const Vec3 x = a.p_W + q * Vec3(v & 1 ? 0.12 : -0.12, v & 2 ? 0.08 : -0.08, -0.05);
        if (x.z() > margin) continue;
        ++expected;
        const bool found = std::any_of(m.begin(), m.end(), [&](const ManifoldPoint& point) {
          return (point.p - x).norm() < 1e-12 && std::abs(point.gap - x.z()) < 1e-12 &&
                 (point.n + Vec3::UnitZ()).norm() < 1e-12;
        });
        ASSERT_TRUE(found) << "pose " << i << " margin " << margin;
      }
      ASSERT_EQ(m.size(), expected) << "pose " << i << " margin " << margin;
    }
  }
}

// Normals of the two slopes of scene::roof and everything between them.
bool in_roof_wedge(const Vec3& n, double angle, double slack) {
  return std::abs(n.y()) <= slack && std::abs(std::atan2(n.x(), -n.z())) <= angle + slack;
}

// Dihedral angles from almost flat to 60 degrees; the box lies across the ridge, flat or tilted less than the slopes.
TEST(Ridge, CarriesFlatBodiesAlongTheirOwnNormal) {
  Random random(31);
  const struct {
    Shape shape;
    double bottom;
    double half_length;  // of the contact with a ridge through the middle
  } bodies[] = {{Shape::box({0.1, 0.15, 0.05}), 0.05, 0.15},
                {Shape::cylinder(0.1, 0.07), 0.07, 0.1},
                {flat_hull(), 0.05, 0.1 * std::cos(std::numbers::pi / 12)}};
  for (const double degrees : {0.1, 0.3, 1.0, 5.0, 15.0, 30.0}) {
    const double angle = degrees * std::numbers::pi / 180;
    for (const int rows : {1, 7}) {
      const Shape mesh = scene::roof(angle, 1, 1, rows).shape();
      for (const auto& body : bodies) {
        for (int i = 0; i < 60; ++i) {
          const double gap = (i % 6 - 3) * 3e-4;
          const double tilt = random.uniform(-0.9, 0.9) * std::min(angle - 1.2e-3, 0.3);
          const bool flat = i % 2 == 0;
          const Quat q = flat ? Quat::Identity() : about(Vec3::UnitY(), tilt);
          const double x = random.uniform(-0.02, 0.02);
          const Vec3 p = Vec3(0, random.uniform(-0.3, 0.3), gap) + q * Vec3(x, 0, body.bottom);
          const Manifold m = scene::collide(place(body.shape, {p, q}), place(mesh, Pose{}), kMargin);
          const Vec3 down = q * Vec3(0, 0, -1);
          const double s = gap * q.toRotationMatrix()(2, 2);  // ridge to bottom, along its normal
          ASSERT_FALSE(m.empty()) << degrees << " deg, pose " << i;
          ASSERT_NEAR(scene::smallest_gap(m), s, 1e-5 * 0.3) << degrees << " deg, pose " << i;
          double lo = 1;
          double hi = -1;
          for (const ManifoldPoint& point : m) {
            ASSERT_TRUE(in_roof_wedge(point.n, angle, 1e-4)) << point.n.transpose();
            const Vec3 y = point.p + point.gap * point.n;
            if (std::abs(y.x()) < 1e-6) {  // the rest are corners over the slopes, for what may come
              ASSERT_LT((point.n - down).norm(), 1e-4);
            }
            if (point.gap > s + 2e-5) continue;
            lo = std::min(lo, point.p.y() - p.y());
            hi = std::max(hi, point.p.y() - p.y());
          }
          ASSERT_GE(hi - lo, 2 * 0.9 * body.half_length) << degrees << " deg, pose " << i << " points " << m.size();
        }
      }
    }
  }
}

TEST(Ridge, SphereAgainstPointTriangleDistances) {
  Random random(32);
  for (const double degrees : {-30.0, -5.0, -0.3, -0.01, 0.01, 0.3, 5.0, 30.0}) {
    const double angle = degrees * std::numbers::pi / 180;
    const Surface roof = scene::roof(angle, 1, 1, 5);
    const Shape mesh = roof.shape();
    const double r = 0.1;
    for (int i = 0; i < test::samples(400); ++i) {
      Vec3 c(random.uniform(-0.06, 0.06), random.uniform(-0.5, 0.5), 0.3);
      for (int k = 0; k < 60; ++k) c.z() -= scene::nearest_on(roof, c).distance - r;  // down until it touches
      c.z() += random.uniform(-2e-3, 1e-3);
      const scene::NearestPoint nearest = scene::nearest_on(roof, c);
      const Manifold m = scene::collide(place(Shape::sphere(r), {c, Quat::Identity()}), place(mesh, Pose{}), kMargin);
      ASSERT_FALSE(m.empty());
      const ManifoldPoint& deepest = oracle::deepest(m);
      ASSERT_NEAR(deepest.gap, nearest.distance - r, 1e-9) << degrees << " deg, pose " << i;
      if (degrees > 0 || std::abs(c.x()) > 1e-3) {
        ASSERT_LT((deepest.n - (nearest.y - c) / nearest.distance).norm(), 1e-6) << degrees << " deg, pose " << i;
      }
      // In a valley both slopes hold the sphere; clusters of 1.8 degrees are one.
      if (degrees <= -5 && std::abs(c.x()) < 1e-3) {
        ASSERT_EQ(m.size(), 2);
      }
      for (const ManifoldPoint& point : m) ASSERT_TRUE(in_roof_wedge(point.n, std::abs(angle), 1e-9));
    }
  }
}

TEST(Valley, FlatBoxRestsOnItsEdgesWithTheNormalsOfTheSlopes) {
  for (const double degrees : {0.2, 2.0, 10.0, 30.0}) {
    const double angle = degrees * std::numbers::pi / 180;
    const Shape mesh = scene::roof(-angle, 1, 1, 6).shape();
    for (const double gap : {-5e-4, -1e-6, 0.0, 1e-3}) {
      const double z = 0.1 * std::tan(angle) + gap / std::cos(angle) + 0.05;  // corners at x = +-0.1
      const PlacedShape a = place(Shape::box({0.1, 0.15, 0.05}), {{0, 0.02, z}, Quat::Identity()});
      const Manifold m = scene::collide(a, place(mesh, Pose{}), kMargin);
      ASSERT_EQ(m.size(), 4) << degrees << " deg, gap " << gap;
      for (const ManifoldPoint& point : m) {
        const Vec3 n(std::copysign(std::sin(angle), point.p.x()), 0, -std::cos(angle));
        ASSERT_LT((point.n - n).norm(), 1e-9);
        ASSERT_NEAR(point.gap, gap, 1e-12);
      }
    }
  }
}

// A corner pressed into a groove is behind both slopes and over neither: it must feel both.
TEST(Valley, CornerPressedIntoAGrooveFeelsBothSides) {
  const double angle = std::numbers::pi / 4;
  const Shape mesh = scene::roof(-angle, 1, 1, 6).shape();
  const Quat q = about(Vec3::UnitY(), std::numbers::pi / 4) * about(Vec3::UnitX(), 0.5);
  for (const double depth : {1e-7, 1e-6, 1e-5, 2e-4, 3e-3}) {
    for (const double x : {0.0, 0.3 * depth, -0.6 * depth}) {
      PlacedShape a = place(Shape::box({0.1, 0.12, 0.14}), {Vec3::Zero(), q});
      const Vec3 lowest = convex_of(a, Vec3::Zero()).support(-Vec3::UnitZ());
      a.p_W = Vec3(x, 0.03, -depth) - lowest;
      const Manifold m = scene::collide(a, place(mesh, Pose{}), kMargin);
      for (const double side : {-1.0, 1.0}) {
        const Vec3 n = Vec3(side, 0, -1).normalized();
        const bool felt = std::any_of(m.begin(), m.end(), [&](const ManifoldPoint& point) {
          return (point.n - n).norm() < 1e-9 && std::abs(point.gap - n.dot(Vec3(-x, 0, depth))) < 1e-12;
        });
        ASSERT_TRUE(felt) << "depth " << depth << " x " << x << " side " << side;
      }
    }
  }
}

class StepTest : public testing::TestWithParam<int> {};  // cells

// Floor and wall, nothing from the top of the step, wherever the box touches.
TEST_P(StepTest, BoxInTheCornerTouchesFloorAndWall) {
  Random random(41);
  const Shape mesh = scene::step(0.05, 1, GetParam()).shape();
  const PlacedShape step = place(mesh, Pose{});
  const double gaps[] = {-2e-3, -1e-4, -1e-6, 0, 1e-6, 1e-3};
  for (int i = 0; i < 360; ++i) {
    const double floor_gap = gaps[i % 6];
    const double wall_gap = gaps[i / 6 % 6];
    const Vec3 h(0.1, 0.15, 0.08);
    const Vec3 p(-h.x() - wall_gap, random.uniform(-0.5, 0.5), h.z() + floor_gap);
    const Manifold m = scene::collide(place(Shape::box(h), {p, Quat::Identity()}), step, kMargin);
    Manifold floor;
    Manifold wall;
    for (const ManifoldPoint& point : m) {
      if ((point.n + Vec3::UnitZ()).norm() < 1e-9) {
        ASSERT_NEAR(point.gap, floor_gap, 1e-12);
        floor.push(point);
      } else {
        ASSERT_LT((point.n - Vec3::UnitX()).norm(), 1e-9) << "pose " << i << ": " << point.n.transpose();
        ASSERT_NEAR(point.gap, wall_gap, 1e-12);
        wall.push(point);
      }
    }
    ASSERT_EQ(floor.size(), 4) << floor_gap << " " << wall_gap;
    ASSERT_EQ(wall.size(), 4) << floor_gap << " " << wall_gap;
    ASSERT_NEAR(scene::hull_area(floor, -Vec3::UnitZ()), 4 * 0.1 * 0.15, 1e-3);
    ASSERT_NEAR(scene::hull_area(wall, Vec3::UnitX()), 2 * 0.15 * 0.05, 1e-3);
  }
}

// On top of the step, over its edge: only the top, however deep and however far the box hangs over.
TEST_P(StepTest, OverhangingBoxFeelsOnlyTheTop) {
  const Shape mesh = scene::step(0.05, 1, GetParam()).shape();
  for (const double gap : {-4e-3, -1e-3, -1e-5, -1e-7, 0.0, 1e-7, 1e-3}) {
    for (const double overhang : {1e-3, 0.02, 0.07, 0.13, 0.19}) {
      const Vec3 h(0.1, 0.15, 0.08);
      const Vec3 p(h.x() - overhang, 0.013, 0.05 + h.z() + gap);
      const Manifold m = scene::collide(place(Shape::box(h), {p, Quat::Identity()}), place(mesh, Pose{}), kMargin);
      ASSERT_GE(m.size(), 4);
      for (const ManifoldPoint& point : m) {
        ASSERT_LT((point.n + Vec3::UnitZ()).norm(), 1e-9) << "gap " << gap << " overhang " << overhang;
        ASSERT_NEAR(point.gap, gap, 1e-12);
      }
      ASSERT_NEAR(scene::hull_area(m, -Vec3::UnitZ()), 0.3 * (0.2 - overhang), 1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, StepTest, testing::Values(2, 8, 40, 200));

// A needle under a flat bottom: straight up, never sideways, although the sides of the needle are almost vertical.
TEST(Spike, CarriesFlatBottoms) {
  for (const double width : {2e-3, 0.02, 0.2}) {
    Surface spike;
    const int tip = spike.add({0, 0, 0});
    for (int k = 0; k < 6; ++k) {
      const double a = std::numbers::pi * k / 3;
      spike.add({width * std::cos(a), width * std::sin(a), -0.2});
    }
    for (int k = 0; k < 6; ++k) spike.t.push_back({tip, 1 + k, 1 + (k + 1) % 6});
    const Shape mesh = spike.shape();
    for (const Shape& shape : {Shape::box({0.1, 0.1, 0.05}), Shape::cylinder(0.1, 0.05), flat_hull()}) {
      for (const double gap : {-1.5e-3, -1e-4, -1e-6, 0.0, 1e-6, 1e-3}) {
        for (const Vec2& offset : {Vec2(0, 0), Vec2(0.03, 0.02), Vec2(-0.08, 0.03)}) {
          const Manifold m = scene::collide(place(shape, {{offset.x(), offset.y(), 0.05 + gap}, Quat::Identity()}),
                                            place(mesh, Pose{}), kMargin);
          ASSERT_EQ(m.size(), 1) << "width " << width << " gap " << gap << " kind " << name_of(shape.kind);
          ASSERT_NEAR(m[0].gap, gap, 1e-9);
          ASSERT_LT((m[0].n + Vec3::UnitZ()).norm(), 1e-4);
          ASSERT_LT((m[0].p - Vec3(0, 0, gap)).norm(), 1e-6);
        }
      }
    }
  }
}

// A sphere outside a closed mesh and inside one turned inside out.
TEST(BowlAndDome, SphereAgainstPointTriangleDistances) {
  Random random(51);
  double worst = 0;
  int touching = 0;
  for (const bool bowl : {false, true}) {
    for (const int levels : {0, 2, 3}) {
      const double R = 0.5;
      const Surface ball = scene::icosphere(R, levels, bowl);
      const Shape mesh = ball.shape();
      for (int i = 0; i < 250; ++i) {
        const double r = random.uniform(0.02, 0.2);
        // The facets lie between the sphere around the corners and the one inside that touches them.
        const double inner = levels == 0 ? 0.7947 : levels == 2 ? 0.978 : 0.994;
        const Vec3 c = (bowl ? R * random.uniform(inner, 1) - r + random.uniform(-2e-3, 0.5 * r)
                             : R * random.uniform(inner, 1) + r - random.uniform(-2e-3, 0.5 * r)) *
                       random.direction();
        const bool inside = std::all_of(ball.t.begin(), ball.t.end(), [&](const auto& t) {
          const Vec3& x = ball.v[static_cast<std::size_t>(t[0])];
          const Vec3 e = ball.v[static_cast<std::size_t>(t[1])] - x;
          const Vec3 f = ball.v[static_cast<std::size_t>(t[2])] - x;
          return e.cross(f).dot(c - x) * (bowl ? -1 : 1) < 0;
        });
        if (inside != bowl) continue;  // the centre is behind the surface
        const scene::NearestPoint nearest = scene::nearest_on(ball, c);
        const PlacedShape a = place(Shape::sphere(r), {c, random.rotation()});
        const Manifold m = scene::collide(a, place(mesh, Pose{}), kMargin);
        const double d = nearest.distance - r;
        touching += d <= kMargin ? 1 : 0;
        if (d > kMargin) {
          ASSERT_TRUE(m.empty());
          continue;
        }
        ASSERT_FALSE(m.empty());
        const ManifoldPoint& deepest = oracle::deepest(m);
        worst = std::max(worst, std::abs(deepest.gap - d));
        ASSERT_NEAR(deepest.gap, d, 1e-9) << (bowl ? "bowl" : "dome") << " level " << levels << " pose " << i;
        for (const ManifoldPoint& point : m) {
          ASSERT_NEAR(point.n.norm(), 1, 1e-12);
          ASSERT_LT(scene::nearest_on(ball, point.p + point.gap * point.n).distance, 1e-5);
          ASSERT_GT(point.n.dot(c) * (bowl ? 1 : -1), 0);  // never from behind
        }
      }
    }
  }
  EXPECT_GT(touching, 1000);
  std::printf("  %d contacts, worst gap error %.1e m\n", touching, worst);
}

TEST(Border, BoxHalfOverTheBorderKeepsThePartThatIsCarried) {
  Random random(61);
  const Surface sheet = scene::grid(10, 10, 0.5, 0.5, 0.5, random, scene::flat);
  const Shape mesh = sheet.shape();
  for (int i = 0; i < 300; ++i) {
    const double gap = (i % 5 - 2) * 3e-4;
    const double over = random.uniform(0.002, 0.19);
    const Vec3 p(0.5 - 0.1 + over, random.uniform(-0.2, 0.2), 0.05 + gap);
    const Manifold m =
        scene::collide(place(Shape::box({0.1, 0.15, 0.05}), {p, Quat::Identity()}), place(mesh, Pose{}), kMargin);
    ASSERT_FALSE(m.empty());
    for (const ManifoldPoint& point : m) {
      ASSERT_LT((point.n + Vec3::UnitZ()).norm(), 1e-9) << "pose " << i;
      ASSERT_NEAR(point.gap, gap, 1e-12);
      ASSERT_LE(point.p.x(), 0.5 + 1e-5);
    }
    ASSERT_NEAR(scene::hull_area(m, -Vec3::UnitZ()), 0.3 * (0.2 - over), 1e-6) << "pose " << i;
  }
}

TEST(Border, IsFeltFromTheSideAndFromItsCorners) {
  Random random(62);
  const Surface sheet = scene::grid(4, 4, 0.5, 0.5, 0.5, random, scene::flat);
  const Shape mesh = sheet.shape();
  // A box face against the border, level with the sheet.
  for (const double gap : {-5e-4, -1e-6, 0.0, 1e-3}) {
    const PlacedShape a = place(Shape::box({0.1, 0.15, 0.05}), {{0.6 + gap, 0.1, 0.01}, Quat::Identity()});
    const Manifold m = scene::collide(a, place(mesh, Pose{}), kMargin);
    ASSERT_EQ(m.size(), 2) << gap;
    for (const ManifoldPoint& point : m) {
      ASSERT_LT((point.n + Vec3::UnitX()).norm(), 1e-9);
      ASSERT_NEAR(point.gap, gap, 1e-12);
    }
    ASSERT_NEAR(std::abs(m[0].p.y() - m[1].p.y()), 0.3, 1e-9);
  }
  // Spheres around it, in front of the sheet.
  for (int i = 0; i < 500; ++i) {
    const double r = 0.1;
    Vec3 c(random.uniform(-0.6, 0.6), random.uniform(-0.6, 0.6), random.uniform(0.002, 0.1));
    const scene::NearestPoint nearest = scene::nearest_on(sheet, c);
    const double d = nearest.distance - r;
    const Manifold m = scene::collide(place(Shape::sphere(r), {c, Quat::Identity()}), place(mesh, Pose{}), kMargin);
    ASSERT_EQ(m.empty(), d > kMargin) << "pose " << i;
    if (m.empty()) continue;
    ASSERT_EQ(m.size(), 1);
    ASSERT_NEAR(m[0].gap, d, 1e-12);
    ASSERT_LT((m[0].n - (nearest.y - c) / nearest.distance).norm(), 1e-9);
  }
}

// One-sided: what is behind a sheet does not feel it.
TEST(Border, SheetIsOpenFromBehind) {
  Random random(63);
  const Shape mesh = scene::grid(6, 6, 0.5, 0.5, 0.5, random, scene::flat).shape();
  for (const Resting& body : resting_bodies()) {
    for (const double gap : {-1e-3, 0.0, 1e-3}) {
      const Pose X{{random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), -body.height - gap}, body.q};
      EXPECT_TRUE(scene::collide(place(body.shape, X), place(mesh, Pose{}), kMargin).empty()) << body.name;
    }
  }
}

// Speculative contact: floor and wall from 40 mm away, and nothing else.
TEST(LargeMargin, SeesFloorAndWallFromAfar) {
  const Shape mesh = scene::step(0.3, 1, 20).shape();
  const PlacedShape a = place(Shape::box({0.1, 0.15, 0.08}), {{-0.1 - 0.04, 0.02, 0.08 + 0.03}, Quat::Identity()});
  const Manifold m = scene::collide(a, place(mesh, Pose{}), 0.05);
  ASSERT_EQ(m.size(), 8);
  int floor = 0;
  for (const ManifoldPoint& point : m) {
    const bool down = (point.n + Vec3::UnitZ()).norm() < 1e-12;
    floor += down ? 1 : 0;
    if (!down) {
      ASSERT_LT((point.n - Vec3::UnitX()).norm(), 1e-12);
    }
    ASSERT_NEAR(point.gap, down ? 0.03 : 0.04, 1e-12);
  }
  ASSERT_EQ(floor, 4);
  ASSERT_TRUE(scene::collide(a, place(mesh, Pose{}), 0.029).empty());
}

}  // namespace
}  // namespace sarrus::mesh_pairs_test
