// Convex bodies against height fields: the same as against the mesh of their triangles, and closed forms of their own.
// Moving meshes on planes and boxes.
#include <gtest/gtest.h>

#include <cstdio>

#include "collision/mesh_scenes.h"
#include "effort.h"

namespace sarrus::height_field_pairs_test {
namespace {

using oracle::Random;
using scene::Surface;

constexpr double kMargin = 2e-3;
constexpr ShapeKind kConvex[] = {ShapeKind::sphere,   ShapeKind::capsule,   ShapeKind::box,
                                 ShapeKind::cylinder, ShapeKind::ellipsoid, ShapeKind::hull};

// A field and the mesh of its triangles, with the same numbers.
struct Ground {
  Shape field;
  Shape mesh;
  Surface surface;
};

template <class Height>
Ground ground(int columns, int rows, double dx, double dy, const Height& z) {
  std::vector<double> heights;
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < columns; ++i) {
      heights.push_back(z((i - 0.5 * (columns - 1)) * dx, (j - 0.5 * (rows - 1)) * dy));
    }
  }
  const auto field = HeightField::build(columns, rows, dx, dy, heights, "field");
  Ground g;
  g.field = Shape::terrain(field);
  for (int v = 0; v < columns * rows; ++v) g.surface.add(field->vertex(v));
  for (int t = 0; t < field->triangle_count(); ++t) g.surface.t.push_back(field->triangle(t));
  g.mesh = g.surface.shape();
  return g;
}

class OnField : public testing::TestWithParam<ShapeKind> {};

TEST_P(OnField, EqualsTheMeshOfItsTriangles) {
  SARRUS_FULL_SIZE_ONLY();
  Random random(7);
  int compared = 0;
  int points = 0;
  for (const double amplitude : {0.0, 1e-4, 3e-3, 2e-2}) {
    const Ground g = ground(27, 31, 0.04, 0.05, [&](double, double) { return amplitude * random.uniform(-1, 1); });
    for (int i = 0; i < 250; ++i) {
      const Pose X_WM = i % 2 == 0 ? Pose{} : Pose{random.vector(10), random.rotation()};
      const Shape shape = random.shape(GetParam());
      // Over the border as well.
      PlacedShape a = place(shape, {{random.uniform(-0.6, 0.6), random.uniform(-0.8, 0.8), 0}, random.rotation()});
      a.p_W.z() = random.uniform(-3e-3, 2e-3) - shape_aabb(a).lo.z();
      a = oracle::moved(a, X_WM);
      const Manifold on_field = scene::collide(a, place(g.field, X_WM), kMargin);
      const Manifold on_mesh = scene::collide(a, place(g.mesh, X_WM), kMargin);
      ASSERT_EQ(on_field.size(), on_mesh.size()) << "amplitude " << amplitude << " pose " << i;
      compared += on_field.empty() ? 0 : 1;
      points += on_field.size();
      for (int k = 0; k < on_field.size(); ++k) {
        ASSERT_EQ(on_field[k].key, on_mesh[k].key) << "amplitude " << amplitude << " pose " << i;
        ASSERT_NEAR(on_field[k].gap, on_mesh[k].gap, 1e-9);
        // Normals of curved bodies at edges are good to 1e-4 rad (§8).
        const bool curved = GetParam() == ShapeKind::cylinder || GetParam() == ShapeKind::ellipsoid;
        ASSERT_LT((on_field[k].n - on_mesh[k].n).norm(), curved ? 1e-4 : 1e-9);
        ASSERT_LT((on_field[k].p - on_mesh[k].p).norm(), curved ? 3e-5 : 1e-9);
      }
    }
  }
  EXPECT_GT(compared, 400);
  std::printf("  %d poses, %d points\n", compared, points);
}

INSTANTIATE_TEST_SUITE_P(Shapes, OnField, testing::ValuesIn(kConvex),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

// A tilted plane as a field: exact normals and gaps, across all cells.
TEST(Field, SlopeIsFeltAsOnePlane) {
  Random random(8);
  const double sx = 0.3;
  const double sy = -0.2;
  const Ground g = ground(40, 40, 0.05, 0.05, [&](double x, double y) { return sx * x + sy * y; });
  const Vec3 up = Vec3(-sx, -sy, 1).normalized();
  const Quat q = Quat::FromTwoVectors(Vec3::UnitZ(), up);
  for (int i = 0; i < 400; ++i) {
    const double gap = (i % 5 - 2) * 4e-4;
    const Vec3 foot(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 0);
    const Vec3 p = foot + Vec3(0, 0, sx * foot.x() + sy * foot.y()) + (0.05 + gap) * up;
    const Quat turn(Eigen::AngleAxisd(random.uniform(-3, 3), up));
    const Manifold m =
        scene::collide(place(Shape::box({0.1, 0.15, 0.05}), {p, turn * q}), place(g.field, Pose{}), kMargin);
    ASSERT_EQ(m.size(), 4) << "pose " << i;
    for (const ManifoldPoint& point : m) {
      ASSERT_LT((point.n + up).norm(), 1e-9);
      ASSERT_NEAR(point.gap, gap, 1e-12);
    }
    ASSERT_NEAR(scene::hull_area(m, -up), 0.06, 1e-9);
  }
}

TEST(Field, SphereAgainstPointTriangleDistances) {
  Random random(9);
  const Ground g =
      ground(14, 14, 0.05, 0.05, [&](double x, double y) { return 0.03 * std::sin(9 * x) * std::cos(11 * y); });
  int contacts = 0;
  double worst = 0;
  for (int i = 0; i < test::samples(2000); ++i) {
    const double r = random.uniform(0.02, 0.1);
    const Vec3 c(random.uniform(-0.35, 0.35), random.uniform(-0.35, 0.35), random.uniform(0.03, 0.12));
    const scene::NearestPoint nearest = scene::nearest_on(g.surface, c);
    const Manifold m = scene::collide(place(Shape::sphere(r), {c, Quat::Identity()}), place(g.field, Pose{}), kMargin);
    const double d = nearest.distance - r;
    ASSERT_EQ(m.empty(), d > kMargin) << "pose " << i;
    if (m.empty()) continue;
    ++contacts;
    worst = std::max(worst, std::abs(scene::smallest_gap(m) - d));
    ASSERT_NEAR(scene::smallest_gap(m), d, 1e-9) << "pose " << i;
  }
  EXPECT_GT(contacts, test::samples(500));
  std::printf("  %d contacts, worst gap error %.1e m\n", contacts, worst);
}

// A closed box of triangles, n x n cells on each face.
Surface box_mesh(const Vec3& h, int n) {
  Surface s;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-1.0, 1.0}) {
      const Vec3 c = side * h[axis] * Vec3::Unit(axis);
      const Vec3 e = 2 * h[(axis + 1) % 3] / n * Vec3::Unit((axis + 1) % 3);
      const Vec3 f = 2 * h[(axis + 2) % 3] / n * Vec3::Unit((axis + 2) % 3);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const Vec3 x = c + (i - 0.5 * n) * e + (j - 0.5 * n) * f;
          if (side > 0) {
            s.quad(x, x + e, x + e + f, x + f);
          } else {
            s.quad(x, x + f, x + e + f, x + e);
          }
        }
      }
    }
  }
  return s;
}

TEST(PlaneMesh, BoxMeshHasTheCornersOfABox) {
  Random random(21);
  const Vec3 h(0.1, 0.15, 0.05);
  for (const int cells : {1, 6}) {
    const Shape mesh = box_mesh(h, cells).shape();
    for (int i = 0; i < 600; ++i) {
      const PlacedShape plane = place(Shape::plane(), {random.vector(3), random.rotation()});
      const Vec3 up = plane.R_WG.col(2);
      PlacedShape body = place(mesh, {plane.p_W + random.vector(2), random.rotation()});
      if (i % 2 == 0) body.R_WG = plane.R_WG * so3_exp(Vec3(random.uniform(-1, 1), random.uniform(-1, 1), 0) * 3e-3);
      double lowest = 1e300;
      Vec3 corner[8];
      for (int v = 0; v < 8; ++v) {
        corner[v] = body.R_WG * Vec3(v & 1 ? h.x() : -h.x(), v & 2 ? h.y() : -h.y(), v & 4 ? h.z() : -h.z());
        lowest = std::min(lowest, up.dot(body.p_W + corner[v] - plane.p_W));
      }
      const double gap = random.uniform(-2e-3, 1.5e-3);
      body.p_W += (gap - lowest) * up;
      const Manifold m = scene::collide(plane, body, kMargin);
      ASSERT_NEAR(scene::smallest_gap(m), gap, 1e-13);
      int expected = 0;
      for (const Vec3& x : corner) expected += up.dot(body.p_W + x - plane.p_W) <= kMargin ? 1 : 0;
      ASSERT_EQ(m.size(), expected) << "pose " << i;
      for (const ManifoldPoint& point : m) {
        ASSERT_LT((point.n - up).norm(), 1e-12);
        ASSERT_NEAR(up.dot(point.p - plane.p_W), 0, 1e-13);
        double nearest = 1e300;
        for (const Vec3& x : corner) {
          nearest = std::min(nearest, (point.p + point.gap * up - body.p_W - x).norm());
        }
        ASSERT_LT(nearest, 1e-13);
      }
    }
  }
}

// Four legs with bevelled feet: the soles stand, the bevels above them do not push them out of the manifold.
TEST(PlaneMesh, FeetKeepTheirSoles) {
  Surface s;
  for (const double x : {-0.3, 0.3}) {
    for (const double y : {-0.2, 0.2}) {
      const Vec3 c(x, y, 0);
      const auto ring = [&](double r, double z, int k) {
        return Vec3(c + Vec3((k == 1 || k == 2) ? r : -r, k >= 2 ? r : -r, z));
      };
      for (int k = 0; k < 4; ++k) {
        const int l = (k + 1) % 4;
        s.quad(ring(0.02, 0, l), ring(0.02, 0, k), ring(0.021, 0.001, k), ring(0.021, 0.001, l));  // bevel
        s.quad(ring(0.021, 0.001, l), ring(0.021, 0.001, k), ring(0.021, 0.3, k), ring(0.021, 0.3, l));
      }
      s.quad(ring(0.02, 0, 0), ring(0.02, 0, 3), ring(0.02, 0, 2), ring(0.02, 0, 1));  // sole, looks down
    }
  }
  const Shape mesh = s.shape();
  const PlacedShape plane = place(Shape::plane(), Pose{});
  for (const double gap : {-1e-3, 0.0, 5e-4}) {
    const Manifold m = scene::collide(plane, place(mesh, {{0.1, 0.2, gap}, Quat::Identity()}), kMargin);
    Manifold soles;
    for (const ManifoldPoint& point : m) {
      if (std::abs(point.gap - gap) < 1e-12) soles.push(point);
    }
    ASSERT_GE(soles.size(), 4);
    ASSERT_LE(m.size(), 32);
    ASSERT_NEAR(scene::hull_area(soles, Vec3::UnitZ()), 0.64 * 0.44, 1e-12);
  }
}

TEST(PlaneMesh, FineAndFlatMeshes) {
  Random random(22);
  const PlacedShape plane = place(Shape::plane(), Pose{});
  const Surface ball = scene::icosphere(0.2, 4, false);
  const Shape mesh = ball.shape();
  const Surface sheet = scene::grid(30, 30, 0.3, 0.2, 0.5, random, scene::flat);
  const Shape flat = sheet.shape();
  for (int i = 0; i < 300; ++i) {
    const Quat q = random.rotation();
    const double z = random.uniform(0.18, 0.2015);
    double lowest = 1e300;
    for (const Vec3& x : ball.v) lowest = std::min(lowest, z + (q * x).z());
    const Manifold m = scene::collide(plane, place(mesh, {{0, 0, z}, q}), kMargin);
    ASSERT_FALSE(m.empty());
    ASSERT_LE(m.size(), 32);
    ASSERT_NEAR(scene::smallest_gap(m), lowest, oracle::tolerance(place(mesh, Pose{}), plane));
    for (int k = 1; k < m.size(); ++k) ASSERT_LT(m[k - 1].key, m[k].key);
  }
  for (const double gap : {-1e-3, 0.0, 1e-3}) {
    const Manifold m = scene::collide(plane, place(flat, {{0, 0, gap}, Quat::Identity()}), kMargin);
    ASSERT_GE(m.size(), 4);
    ASSERT_NEAR(scene::hull_area(m, Vec3::UnitZ()), 0.24, 1e-12);
    for (const ManifoldPoint& point : m) ASSERT_NEAR(point.gap, gap, 1e-14);
  }
}

// The other way round: a small mesh in any pose on a large static box. Whatever touches, the box's face pushes it up,
// and the box, metres deep behind most triangles, pushes nowhere else.
TEST(MovingMesh, OnALargeBoxFeelsItsFace) {
  Random random(66);
  Surface tetrahedron;
  tetrahedron.v = {{0.1, 0.1, 0.1}, {0.1, -0.1, -0.1}, {-0.1, 0.1, -0.1}, {-0.1, -0.1, 0.1}};
  tetrahedron.t = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  Surface cube;
  for (int v = 0; v < 8; ++v) cube.add({v & 1 ? 0.1 : -0.1, v & 2 ? 0.1 : -0.1, v & 4 ? 0.1 : -0.1});
  cube.t = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
            {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  const PlacedShape floor = place(Shape::box({5, 5, 0.5}), {{0, 0, -0.5}, Quat::Identity()});
  for (const Surface& s : {tetrahedron, cube, scene::icosphere(0.15, 1, false)}) {
    const Shape mesh = s.shape();
    for (int i = 0; i < 600; ++i) {
      // Random, or resting on an edge or a face.
      Quat q = random.rotation();
      if (i % 3 != 0) {
        const auto& t = s.t[static_cast<std::size_t>(random.integer(0, static_cast<int>(s.t.size()) - 1))];
        const Vec3 e = s.v[static_cast<std::size_t>(t[1])] - s.v[static_cast<std::size_t>(t[0])];
        const Vec3 f = s.v[static_cast<std::size_t>(t[2])] - s.v[static_cast<std::size_t>(t[0])];
        const Vec3 n = e.cross(f).normalized();
        const Vec3 down = i % 3 == 1 ? n : Vec3(so3_exp(random.uniform(0, 0.3) * e.normalized()) * n);
        q = Quat(Eigen::AngleAxisd(random.uniform(-3, 3), Vec3::UnitZ())) * Quat::FromTwoVectors(down, -Vec3::UnitZ());
      }
      double lowest = 1e300;
      for (const Vec3& x : s.v) lowest = std::min(lowest, (q * x).z());
      const double gap = (i % 7 - 4) * 2e-4;
      const Vec3 p(random.uniform(-4, 4), random.uniform(-4, 4), gap - lowest);
      const Manifold m = scene::collide(floor, place(mesh, {p, q}), kMargin);
      ASSERT_FALSE(m.empty()) << "pose " << i;
      ASSERT_NEAR(scene::smallest_gap(m), gap, 1e-8) << "pose " << i;
      for (const ManifoldPoint& point : m) {
        ASSERT_LT((point.n - Vec3::UnitZ()).norm(), 2e-3) << "pose " << i << ": " << point.n.transpose();
      }
    }
  }
}

TEST(PlaneMesh, NoiseKeepsTheKeys) {
  Random random(23);
  const PlacedShape plane = place(Shape::plane(), Pose{});
  const Shape box = box_mesh({0.1, 0.15, 0.05}, 5).shape();
  int changed = 0;
  for (int i = 0; i < 1000; ++i) {
    PlacedShape body = place(box, {{random.uniform(-1, 1), random.uniform(-1, 1), 0.05 + random.uniform(-5e-6, 1e-6)},
                                   Quat(Eigen::AngleAxisd(random.uniform(-3, 3), Vec3::UnitZ()))});
    const Manifold m = scene::collide(plane, body, kMargin);
    ASSERT_EQ(m.size(), 4);
    body.R_WG = so3_exp(1e-6 * random.direction()) * body.R_WG;
    body.p_W += 1e-7 * random.direction();
    const Manifold noisy = scene::collide(plane, body, kMargin);
    bool same = noisy.size() == m.size();
    for (int k = 0; same && k < m.size(); ++k) same = m[k].key == noisy[k].key;
    changed += same ? 0 : 1;
  }
  EXPECT_EQ(changed, 0);
}

}  // namespace
}  // namespace sarrus::height_field_pairs_test
