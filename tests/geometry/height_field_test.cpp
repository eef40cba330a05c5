// Height fields against a triangle mesh of the same grid (docs/theory/collision.md §6).
#include "sarrus/geometry/height_field.h"

#include <gtest/gtest.h>

#include <limits>

#include "geometry/shape_checks.h"
#include "sarrus/math/error.h"

namespace sarrus::height_field_test {
namespace {

using shapes::at;
using shapes::Random;
using Field = std::shared_ptr<const HeightField>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> random_heights(int columns, int rows, Random& r) {
  std::vector<double> h(at(columns * rows));
  for (double& x : h) x = r.uniform(-0.5, 0.5);
  return h;
}

Field random_field(int columns, int rows, Random& r) {
  return HeightField::build(columns, rows, 0.3, 0.2, random_heights(columns, rows, r), "field");
}

// From the description of the grid in the header, not from the field's own functions.
shapes::Body grid_of(int columns, int rows, double dx, double dy, std::span<const double> heights) {
  shapes::Body b;
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < columns; ++i) {
      b.vertices.emplace_back(-(columns - 1) * dx / 2 + i * dx, -(rows - 1) * dy / 2 + j * dy,
                              heights[at(j * columns + i)]);
    }
  }
  for (int j = 0; j + 1 < rows; ++j) {
    for (int i = 0; i + 1 < columns; ++i) {
      const int v = j * columns + i;
      b.triangles.push_back({v, v + 1, v + columns + 1});
      b.triangles.push_back({v, v + columns + 1, v + columns});
    }
  }
  return b;
}

std::string error_of(int columns, int rows, double dx, double dy, const std::vector<double>& heights) {
  try {
    HeightField::build(columns, rows, dx, dy, heights, "field");
  } catch (const InputError& e) {
    EXPECT_EQ(e.element(), "field");
    return e.what();
  }
  return "no error";
}

void expect_text(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
}

struct Size {
  int columns, rows;
};
constexpr std::array<Size, 6> kSizes = {{{2, 2}, {2, 5}, {5, 2}, {3, 3}, {7, 4}, {20, 31}}};

TEST(HeightField, AgreesWithAMeshOfTheSameGrid) {
  Random r(1);
  for (const auto& [columns, rows] : kSizes) {
    const Field f = random_field(columns, rows, r);
    const shapes::Body b = grid_of(columns, rows, 0.3, 0.2, f->heights());
    const auto m = TriangleMesh::build(b.vertices, b.triangles, "mesh");
    ASSERT_EQ(f->triangle_count(), m->triangle_count());
    for (int t = 0; t < f->triangle_count(); ++t) {
      EXPECT_EQ(f->triangle(t), m->triangle(t));
      EXPECT_LE((f->normal(t) - m->normal(t)).norm(), 1e-13);
      for (int k = 0; k < 3; ++k) EXPECT_EQ(f->neighbour(t, k), m->neighbour(t, k)) << t << " " << k;
    }
    for (int v = 0; v < columns * rows; ++v) {
      EXPECT_LE((f->vertex(v) - m->vertex(v)).norm(), 1e-14);
      std::array<int, 6> out{};
      const auto n_triangles = at(f->triangles_of(v, out));
      const std::span<const int> ring = m->triangles_of(v);
      EXPECT_TRUE(std::equal(ring.begin(), ring.end(), out.data(), out.data() + n_triangles)) << v;
      const auto n_links = at(f->vertex_neighbours(v, out));
      const std::span<const int> links = m->vertex_neighbours(v);
      EXPECT_TRUE(std::equal(links.begin(), links.end(), out.data(), out.data() + n_links)) << v;
    }
    EXPECT_LE((f->box().lo - m->box().lo).norm() + (f->box().hi - m->box().hi).norm(), 1e-14);
    EXPECT_NEAR(f->outer_radius(), m->outer_radius(), 1e-14);
  }
}

TEST(HeightField, HeightIsThatOfTheTriangles) {
  Random r(2);
  const Field f = random_field(6, 5, r);
  for (int n = 0; n < 5000; ++n) {
    const int t = r.integer(0, f->triangle_count() - 1);
    double a = r.uniform(0, 1);
    double b = r.uniform(0, 1);
    if (a + b > 1) {
      a = 1 - a;
      b = 1 - b;
    }
    const std::array<int, 3> v = f->triangle(t);
    const Vec3 x = f->vertex(v[0]) * (1 - a - b) + f->vertex(v[1]) * a + f->vertex(v[2]) * b;
    double h = kNan;
    ASSERT_TRUE(f->height_at(x.x(), x.y(), h));
    EXPECT_NEAR(h, x.z(), 1e-13);
  }
  for (int v = 0; v < 30; ++v) {
    double h = kNan;
    // A hair inside: the outermost samples may lie outside by the last bit.
    const Vec3 x = f->vertex(v) * (1 - 1e-15);
    ASSERT_TRUE(f->height_at(x.x(), x.y(), h));
    EXPECT_NEAR(h, f->heights()[at(v)], 1e-13);
  }
}

TEST(HeightField, NoHeightOutside) {
  Random r(3);
  const Field f = random_field(5, 5, r);
  double h = 7;
  for (const double x : {-0.601, 0.601, 1e300, -kInf, kInf, kNan}) {
    EXPECT_FALSE(f->height_at(x, 0, h));
    EXPECT_FALSE(f->height_at(0, x, h));
  }
  EXPECT_EQ(h, 7);
  EXPECT_TRUE(f->height_at(0.599, -0.399, h));
}

std::vector<int> brute_cells(const HeightField& f, const Aabb& box) {
  std::vector<int> found;
  for (int t = 0; t < f.triangle_count(); ++t) {
    Aabb cell = Aabb::nothing();
    for (const int half : {0, 1}) {
      for (const int v : f.triangle(t / 2 * 2 + half)) cell.add(f.vertex(v));
    }
    if (boxes_near(cell, box, 0)) found.push_back(t);
  }
  return found;
}

TEST(HeightField, SearchAgreesWithBruteForce) {
  Random r(4);
  for (const auto& [columns, rows] : kSizes) {
    const Field f = random_field(columns, rows, r);
    for (int n = 0; n < 500; ++n) {
      const Vec3 c = 0.7 * r.vector(1).cwiseProduct(f->box().hi - f->box().lo);
      const Vec3 e = r.uniform(0, 1) * Vec3(r.uniform(0, 1), r.uniform(0, 1), r.uniform(0, 1));
      Aabb box{c - e, c + e};
      if (r.chance(0.2)) box.lo[r.integer(0, 2)] = r.chance(0.5) ? -kInf : -1e300;
      if (r.chance(0.2)) box.hi[r.integer(0, 2)] = r.chance(0.5) ? kInf : 1e300;
      if (r.chance(0.3)) {  // exactly on grid lines
        const Vec3 x = f->vertex(r.integer(0, columns * rows - 1));
        box = {{x.x(), x.y(), -1}, {x.x() + (r.chance(0.5) ? 0 : 0.1), x.y(), 1}};
      }
      std::vector<int> found;
      f->find_triangles(box, found);
      ASSERT_EQ(found, brute_cells(*f, box));
    }
  }
}

TEST(HeightField, OddBoxes) {
  Random r(5);
  const Field f = random_field(5, 4, r);
  const auto count = [&](const Vec3& lo, const Vec3& hi) {
    std::vector<int> found = {3};
    f->find_triangles({lo, hi}, found);
    EXPECT_EQ(found[0], 3);
    return static_cast<int>(found.size()) - 1;
  };
  EXPECT_EQ(count(Vec3::Constant(-kInf), Vec3::Constant(kInf)), 24);
  EXPECT_EQ(count({-kInf, -kInf, 10}, Vec3::Constant(kInf)), 0);
  EXPECT_EQ(count(Vec3::Constant(-1e308), Vec3::Constant(1e308)), 24);
  EXPECT_EQ(count(Vec3::Constant(1e307), Vec3::Constant(1e308)), 0);
  EXPECT_EQ(count(Vec3::Constant(kNan), Vec3::Constant(kNan)), 0);
  EXPECT_EQ(count({-1, -1, -1}, {1, kNan, 1}), 0);
  EXPECT_EQ(count(Aabb::nothing().lo, Aabb::nothing().hi), 0);
}

TEST(HeightField, RangeOfHeightsPerCell) {
  std::vector<double> h(25, 0.0);
  h[12] = 5;  // a spike in the middle: its four cells
  const Field f = HeightField::build(5, 5, 1, 1, h, "field");
  std::vector<int> found;
  f->find_triangles({{-10, -10, 4}, {10, 10, 6}}, found);
  EXPECT_EQ(found, (std::vector<int>{10, 11, 12, 13, 18, 19, 20, 21}));
}

TEST(HeightField, SecondBuildIsEqualBitForBit) {
  Random r(6);
  const std::vector<double> h = random_heights(20, 10, r);
  const Field a = HeightField::build(20, 10, 0.1, 0.3, h, "a");
  const Field b = HeightField::build(20, 10, 0.1, 0.3, h, "b");
  EXPECT_TRUE(std::equal(a->heights().begin(), a->heights().end(), b->heights().begin()));
  for (int t = 0; t < a->triangle_count(); ++t) EXPECT_EQ(a->normal(t), b->normal(t));
  EXPECT_EQ(a->outer_radius(), b->outer_radius());
}

TEST(HeightField, BadInputNamesTheRemedy) {
  const std::vector<double> four(4, 0.0);
  expect_text(error_of(1, 4, 1, 1, four), {"field:", "columns = 1", "; give at least 2"});
  expect_text(error_of(4, -3, 1, 1, four), {"rows = -3", "; give at least 2"});
  expect_text(error_of(2, 3, 1, 1, four), {"4 heights", "2 columns x 3 rows", "; give 6"});
  for (const double bad : {0.0, -1.0, kNan, kInf, 1e-12}) {
    expect_text(error_of(2, 2, bad, 1, four), {"dx = ", "; give a spacing"});
    expect_text(error_of(2, 2, 1, bad, four), {"dy = ", "; give a spacing"});
  }
  expect_text(error_of(2, 2, 3e6, 1, four), {"1500000 m", "dx", "; keep it within 1000000 m"});
  for (const double bad : {kNan, -kInf, 2e6}) {
    expect_text(error_of(2, 2, 1, 1, {0, 0, 0, bad}), {"height 3 (column 1, row 1)", "; give finite heights"});
  }
  expect_text(error_of(5001, 5000, 0.1, 0.1, four), {"25005000 samples", "at most 25000000"});
  constexpr int huge = std::numeric_limits<int>::max();
  expect_text(error_of(huge, huge, 1e-6, 1e-6, four), {"samples"});
}

}  // namespace
}  // namespace sarrus::height_field_test
