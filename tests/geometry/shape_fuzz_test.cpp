// Random and mostly degenerate input: every builder either throws InputError or gives a shape that keeps its
// invariants. Nothing else may happen.
#include <gtest/gtest.h>

#include <limits>

#include "effort.h"
#include "geometry/shape_checks.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/math/error.h"

namespace sarrus::shape_fuzz_test {
namespace {

using shapes::at;
using shapes::Random;
using Points = std::vector<Vec3>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---------------------------------------------------------------------------------------------------------------------
// Point sets

Points in_a_box(Random& r, int n) {
  Points x(at(n));
  for (Vec3& p : x) p = r.vector(1);
  return x;
}

Points on_a_sphere(Random& r, int n) { return shapes::sphere_points(n, r); }

// n points on a circle, some of them in the middle, and an apex or two.
Points cocircular(Random& r, int n) {
  Points x;
  for (int k = 0; k < n; ++k) {
    const double a = r.chance(0.5) ? 2 * shapes::kPi * k / n : r.uniform(0, 7);
    x.emplace_back(std::cos(a), std::sin(a), 0);
  }
  x.emplace_back(0, 0, r.uniform(-1, 1));
  if (r.chance(0.5)) x.emplace_back(r.uniform(-0.1, 0.1), 0, r.uniform(-1, 1));
  return x;
}

Points grid(Random& r, int n) {
  const int side = std::max(2, static_cast<int>(std::cbrt(n)));
  const double step = r.chance(0.5) ? 1.0 / side : r.uniform(0.01, 0.3);
  Points x;
  for (int i = 0; i <= side; ++i) {
    for (int j = 0; j <= side; ++j) {
      for (int k = 0; k <= side; ++k) x.emplace_back(i * step, j * step, k * step);
    }
  }
  return x;
}

// Almost a plane: heights of 1e-9 .. 1e-16 above it, sometimes with a few points that give it a body.
Points nearly_coplanar(Random& r, int n) {
  const double height = r.power(-16, -5);
  Points x;
  for (int k = 0; k < n; ++k) {
    const double u = r.chance(0.3) ? 0.25 * r.integer(-4, 4) : r.uniform(-1, 1);
    x.emplace_back(u, r.uniform(-1, 1), r.uniform(-height, height));
  }
  for (int k = r.integer(0, 3); k > 0; --k) x.push_back(r.vector(1));
  return x;
}

// The six faces of a cube, each with points that leave it by noise.
Points noisy_cube(Random& r, int n) {
  const double noise = r.power(-16, -4);
  Points x;
  for (int k = 0; k < n; ++k) {
    Vec3 p = r.vector(1);
    p[k % 3] = k % 2 == 0 ? 1 : -1;
    if (r.chance(0.3)) p[(k + 1) % 3] = 1;
    if (r.chance(0.2)) p[(k + 2) % 3] = -1;
    x.push_back(p + r.vector(noise));
  }
  return x;
}

Points needle(Random& r, int n) {
  const double a = r.power(-12, -3);
  const double b = r.chance(0.5) ? a : r.power(-8, 0);
  Points x(at(n));
  for (Vec3& p : x) p = r.vector(1).cwiseProduct(Vec3(1, b, a));
  return x;
}

Points collinear(Random& r, int n) {
  const Vec3 a = r.vector(1);
  const Vec3 u = r.direction();
  Points x;
  for (int k = 0; k < n; ++k) x.push_back(a + r.uniform(-1, 1) * u);
  if (r.chance(0.3)) x.push_back(r.vector(1));
  return x;
}

Points clusters(Random& r, int n) {
  const double spread = r.power(-17, -1);
  const Points centres = in_a_box(r, r.integer(1, 8));
  Points x;
  for (int k = 0; k < n; ++k)
    x.push_back(centres[at(r.integer(0, static_cast<int>(centres.size()) - 1))] + r.vector(spread));
  return x;
}

Points slender_prism(Random& r, int n) { return shapes::prism(std::max(3, n / 2), 1, r.power(-7, 7)); }

// Lens: points of two large spheres that meet at a sharp rim.
Points lens(Random& r, int n) {
  const double sag = r.power(-8, 0);
  Points x;
  for (int k = 0; k < n; ++k) {
    const double u = r.chance(0.3) ? 1 : std::sqrt(r.uniform(0, 1));
    const double a = r.uniform(0, 7);
    x.emplace_back(u * std::cos(a), u * std::sin(a), (k % 2 == 0 ? sag : -sag) * (1 - u * u));
  }
  return x;
}

// What happens to any of them: repeats, single precision, rotation, scale, offset, broken numbers.
void disturb(Points& x, Random& r) {
  if (r.chance(0.2)) {
    for (int k = r.integer(1, 10); k > 0; --k) x.push_back(x[at(r.integer(0, static_cast<int>(x.size()) - 1))]);
  }
  if (r.chance(0.5)) {
    const Mat3 R = r.rotation();
    for (Vec3& p : x) p = R * p;
  }
  if (r.chance(0.2)) {
    for (Vec3& p : x) p = p.cast<float>().cast<double>();
  }
  if (r.chance(0.3)) {
    const double scale = r.power(-12, 9);
    for (Vec3& p : x) p *= scale;
  }
  if (r.chance(0.3)) {
    const Vec3 offset = r.power(-3, 6) * r.direction();
    for (Vec3& p : x) p += offset;
  }
  if (r.chance(0.02)) {
    const std::array<double, 4> broken = {kNan, kInf, -kInf, 1e300};
    x[at(r.integer(0, static_cast<int>(x.size()) - 1))][r.integer(0, 2)] = broken[at(r.integer(0, 3))];
  }
}

using Generator = Points (*)(Random&, int);
constexpr std::array<Generator, 11> kGenerators = {in_a_box,        on_a_sphere,   cocircular, grid,
                                                   nearly_coplanar, noisy_cube,    needle,     collinear,
                                                   clusters,        slender_prism, lens};

Points random_points(Random& r) {
  const int n = r.chance(0.05) ? r.integer(40, 150) : r.integer(1, 24);
  Points x = kGenerators[at(r.integer(0, static_cast<int>(kGenerators.size()) - 1))](r, n);
  disturb(x, r);
  return x;
}

// How far hulls may cut input points, and faces leave their planes: see the flatness in hull_builder.cpp.
double hull_tolerance(const ConvexHull& h) { return 1e-6 * h.box().diagonal() + 1e-14 * h.outer_radius(); }

TEST(ShapeFuzz, HullsOfDegeneratePointSets) {
  Random r(20240601);
  int built = 0;
  int rejected = 0;
  for (int n = 0; n < test::samples(45'000); ++n) {
    const Points x = random_points(r);
    std::shared_ptr<const ConvexHull> h;
    try {
      h = ConvexHull::build(x, "fuzz");
    } catch (const InputError& e) {
      ASSERT_EQ(e.element(), "fuzz");
      ++rejected;
      continue;
    }
    ++built;
    ASSERT_EQ(shapes::hull_topology_error(*h), "") << "input " << n;
    ASSERT_EQ(shapes::hull_geometry_error(*h, x, hull_tolerance(*h), r, 8), "") << "input " << n;
  }
  EXPECT_GT(built, test::samples(20'000));
  EXPECT_GT(rejected, test::samples(10'000));
}

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

using Triangles = std::vector<shapes::Triangle>;

// Any indices: repeated corners and triangles, edges of many triangles, now and then out of range.
Triangles random_topology(Random& r, int vertices) {
  Triangles t;
  for (int k = r.integer(0, 30); k > 0; --k) {
    const int a = r.integer(0, vertices - 1);
    const int b = r.integer(0, vertices - 1);
    t.push_back({a, b, r.integer(0, vertices - 1)});
    if (r.chance(0.2)) t.push_back({b, a, r.integer(0, vertices - 1)});
    if (r.chance(0.1)) t.push_back({t.back()[1], t.back()[2], t.back()[0]});
  }
  if (r.chance(0.03)) {
    const std::array<int, 4> broken = {-1, vertices, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
    t.push_back({0, broken[at(r.integer(0, 3))], 0});
  }
  return t;
}

// The surface of a hull, or of a part of it, with triangles turned or taken away, or all vertices given per triangle.
shapes::Body random_surface(Random& r) {
  shapes::Body b = r.chance(0.5) ? shapes::box(Vec3(1, r.power(-9, 0), r.power(-9, 0))) : shapes::icosahedron();
  for (Vec3& x : b.vertices) x += r.vector(r.chance(0.5) ? 0 : r.power(-12, -1));
  if (r.chance(0.3)) std::swap(b.triangles[at(r.integer(0, 5))][0], b.triangles[0][1]);
  if (r.chance(0.2)) b.triangles.pop_back();
  if (r.chance(0.2)) {
    for (shapes::Triangle& t : b.triangles) std::swap(t[1], t[2]);
  }
  if (r.chance(0.3)) {
    Points soup;
    for (shapes::Triangle& t : b.triangles) {
      for (int& v : t) {
        soup.push_back(b.vertices[at(v)]);
        v = static_cast<int>(soup.size()) - 1;
      }
    }
    const double noise = r.chance(0.5) ? 0 : r.power(-12, -7);
    for (Vec3& x : soup) x += r.vector(noise);
    b.vertices = soup;
  }
  disturb(b.vertices, r);
  return b;
}

Aabb random_box(Random& r, const Aabb& around) {
  const double size = around.diagonal();
  const Vec3 c = around.centre() + r.vector(0.6 * size);
  Aabb box = {c - r.uniform(0, 0.5) * size * Vec3::Ones(), c + r.uniform(0, 0.5) * size * Vec3::Ones()};
  if (r.chance(0.05)) box.hi[r.integer(0, 2)] = kInf;
  if (r.chance(0.05)) box.lo[r.integer(0, 2)] = -kInf;
  if (r.chance(0.02)) box.lo[r.integer(0, 2)] = kNan;
  if (r.chance(0.02)) box = around;
  return box;
}

TEST(ShapeFuzz, MeshesOfDegenerateTriangles) {
  Random r(20240602);
  int built = 0;
  int rejected = 0;
  int closed = 0;
  for (int n = 0; n < test::samples(35'000); ++n) {
    shapes::Body b;
    if (r.chance(0.5)) {
      b.vertices = random_points(r);
      b.triangles = random_topology(r, static_cast<int>(b.vertices.size()));
    } else {
      b = random_surface(r);
    }
    std::shared_ptr<const TriangleMesh> m;
    try {
      m = TriangleMesh::build(b.vertices, b.triangles, "fuzz");
    } catch (const InputError& e) {
      ASSERT_EQ(e.element(), "fuzz");
      ++rejected;
      continue;
    }
    ++built;
    ASSERT_EQ(shapes::mesh_error(*m), "") << "input " << n;
    const Aabb box = random_box(r, m->box());
    std::vector<int> found;
    m->find_triangles(box, found);
    ASSERT_EQ(found, shapes::brute_find(*m, box)) << "input " << n;
    if (m->hull() != nullptr) {
      ASSERT_EQ(shapes::hull_topology_error(*m->hull()), "") << "input " << n;
    }
    if (m->surface() == TriangleMesh::Surface::closed) {
      ++closed;
      ASSERT_GT(m->mass_properties("fuzz").volume, 0) << "input " << n;
    } else {
      ASSERT_THROW(m->mass_properties("fuzz"), InputError) << "input " << n;
    }
  }
  EXPECT_GT(built, test::samples(15'000));
  EXPECT_GT(rejected, test::samples(2'000));
  EXPECT_GT(closed, test::samples(2'000));
}

// ---------------------------------------------------------------------------------------------------------------------
// Height fields

TEST(ShapeFuzz, HeightFieldsOfAnyShape) {
  Random r(20240603);
  int built = 0;
  int rejected = 0;
  const std::array<double, 6> odd = {0, -1, kNan, kInf, 1e300, 1e-300};
  for (int n = 0; n < test::samples(25'000); ++n) {
    const int columns = r.chance(0.05) ? r.integer(-2, 1) : r.integer(2, 9);
    const int rows = r.chance(0.02) ? std::numeric_limits<int>::max() : r.integer(1, 9);
    const double dx = r.chance(0.05) ? odd[at(r.integer(0, 5))] : r.power(-12, 7);
    const double dy = r.chance(0.05) ? odd[at(r.integer(0, 5))] : r.power(-3, 3);
    std::vector<double> heights(at(std::clamp(columns, 0, 9)) * at(std::clamp(rows, 0, 9)) +
                                (r.chance(0.02) ? 1U : 0U));
    const double scale = r.power(-12, 7);
    for (double& h : heights) h = r.uniform(-scale, scale);
    if (!heights.empty() && r.chance(0.02)) heights.back() = odd[at(r.integer(0, 5))];
    std::shared_ptr<const HeightField> f;
    try {
      f = HeightField::build(columns, rows, dx, dy, heights, "fuzz");
    } catch (const InputError& e) {
      ASSERT_EQ(e.element(), "fuzz");
      ++rejected;
      continue;
    }
    ++built;
    const Aabb box = random_box(r, f->box());
    std::vector<int> found;
    f->find_triangles(box, found);
    std::vector<int> expected;
    for (int t = 0; t < f->triangle_count(); ++t) {
      ASSERT_NEAR(f->normal(t).norm(), 1, 1e-12) << "input " << n;
      Aabb cell = Aabb::nothing();
      for (const int half : {0, 1}) {
        for (const int v : f->triangle(t / 2 * 2 + half)) cell.add(f->vertex(v));
      }
      if (boxes_near(cell, box, 0)) expected.push_back(t);
    }
    ASSERT_EQ(found, expected) << "input " << n;
    double h = 0;
    const Vec3 x = f->box().centre() + r.vector(0.3 * f->box().diagonal());
    if (f->height_at(x.x(), x.y(), h)) {
      ASSERT_GE(h, f->box().lo.z() - 1e-9 * scale) << "input " << n;
      ASSERT_LE(h, f->box().hi.z() + 1e-9 * scale) << "input " << n;
    }
  }
  EXPECT_GT(built, test::samples(8'000));
  EXPECT_GT(rejected, test::samples(2'000));
}

}  // namespace
}  // namespace sarrus::shape_fuzz_test
