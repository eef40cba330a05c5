// Triangle meshes: welding, adjacency, search, surface and mass (docs/theory/collision.md §1, §6).
#include "sarrus/geometry/triangle_mesh.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "effort.h"
#include "geometry/shape_checks.h"
#include "sarrus/math/error.h"

namespace sarrus::triangle_mesh_test {
namespace {

using shapes::at;
using shapes::Body;
using shapes::Random;
using Mesh = std::shared_ptr<const TriangleMesh>;
using Surface = TriangleMesh::Surface;
using Triangles = std::vector<shapes::Triangle>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Mesh build(const Body& b) { return TriangleMesh::build(b.vertices, b.triangles, "mesh"); }

std::string error_of(const Body& b) {
  try {
    build(b);
  } catch (const InputError& e) {
    EXPECT_EQ(e.element(), "mesh");
    return e.what();
  }
  return "no error";
}

std::string mass_error_of(const Body& b) {
  try {
    build(b)->mass_properties("body 'x'");
  } catch (const InputError& e) {
    EXPECT_EQ(e.element(), "body 'x'");
    return e.what();
  }
  return "no error";
}

void expect_text(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
}

// Three vertices of its own for every triangle, as in STL files.
Body soup(const Body& b, double noise, Random& r) {
  Body s;
  for (const shapes::Triangle& t : b.triangles) {
    const int first = static_cast<int>(s.vertices.size());
    for (const int v : t) s.vertices.push_back(b.vertices[at(v)] + r.vector(noise));
    s.triangles.push_back({first, first + 1, first + 2});
  }
  return s;
}

Body turned(Body b) {
  for (shapes::Triangle& t : b.triangles) std::swap(t[1], t[2]);
  return b;
}

Body random_soup(int n, double size, Random& r) {
  Body b;
  for (int k = 0; k < n; ++k) {
    const Vec3 c = r.vector(1);
    for (int j = 0; j < 3; ++j) b.vertices.push_back(c + r.vector(size));
    b.triangles.push_back({3 * k, 3 * k + 1, 3 * k + 2});
  }
  return b;
}

// ---------------------------------------------------------------------------------------------------------------------
// Welding and cleaning

TEST(TriangleMesh, WeldsTriangleSoup) {
  Random r(1);
  for (const double noise : {0.0, 1e-11, 4e-10}) {
    const Mesh m = build(soup(shapes::box({1, 1, 1}), noise, r));
    EXPECT_EQ(m->vertices().size(), 8U);
    EXPECT_EQ(m->triangle_count(), 12);
    EXPECT_EQ(m->dropped_triangles(), 0);
    EXPECT_EQ(m->surface(), Surface::closed);
    EXPECT_EQ(shapes::mesh_error(*m), "");
  }
  EXPECT_EQ(build(soup(shapes::icosphere(3), 1e-10, r))->vertices().size(), 642U);
  // Beyond the tolerance nothing is joined.
  EXPECT_EQ(build(soup(shapes::box({1, 1, 1}), 1e-7, r))->vertices().size(), 36U);
  EXPECT_EQ(build(soup(shapes::box({1, 1, 1}), 1e-7, r))->surface(), Surface::open);
}

// A grid of cells would lose partners on the other side of a wall: pairs at 0.9 and 1.1 tolerances everywhere.
TEST(TriangleMesh, WeldingDistanceIsTheSameEverywhere) {
  Random r(2);
  Body b;
  b.vertices = {{-1, -1, -1}, {1, 1, 1}, {1, -1, 0}};
  b.triangles = {{0, 1, 2}};
  const double tolerance = 1e-9 * std::sqrt(12.0);
  constexpr int pairs = 20'000;
  for (int k = 0; k < pairs; ++k) {
    const int first = static_cast<int>(b.vertices.size());
    const Vec3 a = r.vector(0.9);
    const Vec3 u = r.chance(0.5) ? r.direction() : Vec3(Vec3::Unit(r.integer(0, 2)));
    b.vertices.push_back(a);
    b.vertices.push_back(a + (k % 2 == 0 ? 0.9 : 1.1) * tolerance * u);
    b.vertices.push_back(a + r.vector(0.05));
    b.vertices.push_back(a + r.vector(0.05));
    b.triangles.push_back({first, first + 2, first + 3});
    b.triangles.push_back({first + 1, first + 3, first + 2});
  }
  const Mesh m = build(b);
  ASSERT_EQ(m->dropped_triangles(), 0);
  for (int k = 0; k < pairs; ++k) {
    const bool joined = m->triangle(1 + 2 * k)[0] == m->triangle(2 + 2 * k)[0];
    ASSERT_EQ(joined, k % 2 == 0) << k;
  }
}

TEST(TriangleMesh, DropsDegenerateAndRepeatedTriangles) {
  Body b = shapes::box({1, 1, 1});
  const Triangles good = b.triangles;
  b.vertices.emplace_back(0, -1, -1);                       // 8: on the edge 0-1
  b.vertices.emplace_back(5e5, 5e5, 5e5);                   // 9: used by nobody
  b.vertices.emplace_back(-1 + 1e-10, -1, -1);              // 10: same place as 0
  b.triangles.insert(b.triangles.begin() + 3, {0, 8, 1});   // no area
  b.triangles.insert(b.triangles.begin() + 5, {2, 2, 5});   // one corner twice
  b.triangles.insert(b.triangles.begin() + 7, {3, 10, 2});  // triangle 0 again, other start
  b.triangles.push_back({0, 10, 4});                        // an edge after welding
  const Mesh m = build(b);
  EXPECT_EQ(m->dropped_triangles(), 4);
  ASSERT_EQ(m->triangle_count(), 12);
  for (int t = 0; t < 12; ++t) EXPECT_EQ(m->triangle(t), good[at(t)]);
  EXPECT_EQ(m->vertices().size(), 8U);
  EXPECT_EQ(m->box().hi, Vec3::Ones());
  EXPECT_EQ(m->surface(), Surface::closed);
}

TEST(TriangleMesh, NormalsPointOutwards) {
  const Mesh m = build(shapes::icosphere(2));
  for (int t = 0; t < m->triangle_count(); ++t) {
    EXPECT_GT(m->normal(t).dot(m->corner(t, 0)), 0.9);
    EXPECT_NEAR(m->normal(t).dot(m->corner(t, 0)), m->normal(t).dot(m->corner(t, 2)), 1e-15);
  }
  EXPECT_NEAR(m->outer_radius(), 1, 1e-15);
}

// ---------------------------------------------------------------------------------------------------------------------
// Adjacency

TEST(TriangleMesh, AdjacencyOfClosedSurfaces) {
  for (const Body& b : {shapes::box({1, 2, 3}), shapes::icosphere(0), shapes::icosphere(3)}) {
    const Mesh m = build(b);
    EXPECT_EQ(shapes::mesh_error(*m), "");
    int links = 0;
    for (int v = 0; v < static_cast<int>(m->vertices().size()); ++v) {
      EXPECT_EQ(m->triangles_of(v).size(), m->vertex_neighbours(v).size());  // closed fans
      links += static_cast<int>(m->vertex_neighbours(v).size());
    }
    EXPECT_EQ(static_cast<int>(m->vertices().size()) - links / 2 + m->triangle_count(), 2);
    for (int t = 0; t < m->triangle_count(); ++t) {
      for (int k = 0; k < 3; ++k) {
        const int n = m->neighbour(t, k);
        ASSERT_GE(n, 0);
        EXPECT_TRUE(m->neighbour(n, 0) == t || m->neighbour(n, 1) == t || m->neighbour(n, 2) == t);
      }
    }
  }
}

TEST(TriangleMesh, BordersAndBranchesHaveNoNeighbour) {
  Body fan;  // three triangles on the edge 0-1
  fan.vertices = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, -1, 0}};
  fan.triangles = {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}};
  Mesh m = build(fan);
  for (int t = 0; t < 3; ++t) {
    for (int k = 0; k < 3; ++k) EXPECT_EQ(m->neighbour(t, k), -1);
  }
  EXPECT_EQ(m->surface(), Surface::open);
  EXPECT_EQ(m->triangles_of(0).size(), 3U);
  fan.triangles = {{0, 1, 2}, {1, 0, 3}};
  m = build(fan);
  EXPECT_EQ(m->neighbour(0, 0), 1);
  EXPECT_EQ(m->neighbour(1, 0), 0);
  EXPECT_EQ(m->neighbour(0, 1), -1);
  fan.triangles = {{0, 1, 2}, {0, 1, 3}};  // both run the same way along the edge
  EXPECT_EQ(build(fan)->neighbour(0, 0), -1);
}

// ---------------------------------------------------------------------------------------------------------------------
// Surface and mass

TEST(TriangleMesh, MassOfABoxFarAway) {
  const Vec3 half(0.125, 0.25, 0.0625);
  Body b = shapes::box(half);
  for (Vec3& x : b.vertices) x += Vec3(300, 256, -128);
  const MassProperties m = build(b)->mass_properties("box");
  EXPECT_NEAR(m.volume, 8 * half.prod(), 1e-12 * m.volume);
  EXPECT_LE((m.centre - Vec3(300, 256, -128)).norm(), 1e-12);
  const Vec3 s = half.cwiseProduct(half) * (8 * half.prod() / 3);
  EXPECT_NEAR(m.inertia(0, 0), s.y() + s.z(), 1e-12 * s.maxCoeff());
  EXPECT_NEAR(m.inertia(2, 2), s.x() + s.y(), 1e-12 * s.maxCoeff());
  EXPECT_NEAR(m.inertia(0, 1), 0, 1e-12 * s.maxCoeff());
}

TEST(TriangleMesh, HollowBodies) {
  Body b = shapes::icosphere(3);
  const int outer = static_cast<int>(b.vertices.size());
  for (int v = 0; v < outer; ++v) b.vertices.emplace_back(0.5 * b.vertices[at(v)]);
  const Triangles t = b.triangles;
  for (const shapes::Triangle& k : t) b.triangles.push_back({k[0] + outer, k[2] + outer, k[1] + outer});
  const MassProperties solid = build(shapes::icosphere(3))->mass_properties("");
  const MassProperties hollow = build(b)->mass_properties("");
  EXPECT_NEAR(hollow.volume, 7.0 / 8 * solid.volume, 1e-13);
  EXPECT_NEAR(hollow.inertia(0, 0), 31.0 / 32 * solid.inertia(0, 0), 1e-13);
}

TEST(TriangleMesh, OpenSurfacesSayWhere) {
  Body b = shapes::box({1, 1, 1});
  b.triangles.pop_back();  // {1, 7, 5}
  EXPECT_EQ(build(b)->surface(), Surface::open);
  EXPECT_EQ(build(b)->open_edge()[0], Vec3(1, -1, -1));
  expect_text(mass_error_of(b), {"body 'x': ", "not closed", "(1, -1, -1)", "; close the mesh", "mass and inertia",
                                 "\"mass_from\": \"hull\""});
  b = shapes::box({1, 1, 1});
  std::swap(b.triangles[4][0], b.triangles[4][1]);  // one triangle turned
  EXPECT_EQ(build(b)->surface(), Surface::open);
  b = shapes::box({1, 1, 1});
  b.vertices.emplace_back(3, 3, 0);
  b.triangles.push_back({0, 7, 8});  // a fin
  EXPECT_EQ(build(b)->surface(), Surface::open);
}

TEST(TriangleMesh, InsideOutIsAnErrorForMass) {
  const Body b = turned(shapes::icosphere(1));
  EXPECT_EQ(build(b)->surface(), Surface::inverted);
  expect_text(mass_error_of(b), {"inside out", "; reverse", "\"flip\": true", "\"mass_from\": \"hull\""});
}

TEST(TriangleMesh, MoebiusBandIsOpen) {
  Body b;
  constexpr int n = 20;
  for (int k = 0; k < n; ++k) {
    const double a = 2 * shapes::kPi * k / n;
    const Vec3 e(std::cos(a), std::sin(a), 0);
    const Vec3 u = std::cos(0.5 * a) * e + std::sin(0.5 * a) * Vec3::UnitZ();
    b.vertices.emplace_back(e - 0.3 * u);
    b.vertices.emplace_back(e + 0.3 * u);
  }
  for (int k = 0; k < n; ++k) {
    const bool last = k + 1 == n;
    const int p = 2 * k;
    const int q = last ? 1 : p + 2;
    const int s = last ? 0 : p + 3;
    b.triangles.push_back({p, q, p + 1});
    b.triangles.push_back({q, s, p + 1});
  }
  const Mesh m = build(b);
  EXPECT_EQ(m->surface(), Surface::open);
  EXPECT_EQ(shapes::mesh_error(*m), "");
}

TEST(TriangleMesh, BackToBackEnclosesNothing) {
  Body b;
  b.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  b.triangles = {{0, 1, 2}, {0, 2, 1}};
  EXPECT_EQ(build(b)->triangle_count(), 2);  // opposite faces are not repeats
  EXPECT_EQ(build(b)->surface(), Surface::open);
  expect_text(mass_error_of(b), {"no volume", "\"mass_from\": \"hull\""});
}

TEST(TriangleMesh, HullOfItsVertices) {
  Body b = shapes::box({1, 2, 3});
  b.vertices.emplace_back(0, 0, 0);
  b.triangles.push_back({0, 3, 8});
  const Mesh m = build(b);
  ASSERT_NE(m->hull(), nullptr);
  EXPECT_EQ(m->hull()->vertex_count(), 8);
  EXPECT_EQ(m->hull()->face_count(), 6);
  Body flat;
  flat.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  flat.triangles = {{0, 1, 2}, {1, 3, 2}};
  EXPECT_EQ(build(flat)->hull(), nullptr);
}

// ---------------------------------------------------------------------------------------------------------------------
// Search

void expect_search(const TriangleMesh& m, int queries, double size, std::uint64_t seed) {
  Random r(seed);
  std::vector<int> found;
  for (int k = 0; k < test::samples(queries); ++k) {
    const Vec3 c = m.box().centre() + 0.6 * r.vector(1).cwiseProduct(m.box().hi - m.box().lo);
    const Vec3 e = r.uniform(0, size) * Vec3(r.uniform(0, 1), r.uniform(0, 1), r.uniform(0, 1));
    Aabb box{c - e, c + e};
    if (r.chance(0.1)) box.lo[r.integer(0, 2)] = -kInf;
    if (r.chance(0.1)) box.hi[r.integer(0, 2)] = kInf;
    if (r.chance(0.2)) box.lo = box.hi = m.vertex(r.integer(0, static_cast<int>(m.vertices().size()) - 1));  // touching
    found.assign({-7, 5});
    m.find_triangles(box, found);
    ASSERT_GE(found.size(), 2U);
    EXPECT_EQ(found[0], -7);
    EXPECT_EQ(found[1], 5);
    found.erase(found.begin(), found.begin() + 2);
    ASSERT_EQ(found, shapes::brute_find(m, box));
  }
}

TEST(MeshSearch, AgreesWithBruteForce) {
  Random r(3);
  expect_search(*build(shapes::icosphere(4)), 1000, 0.5, 4);
  expect_search(*build(random_soup(3000, 0.05, r)), 1000, 0.5, 5);
  expect_search(*build(random_soup(3000, 1, r)), 300, 0.5, 6);
  for (const int n : {1, 2, 4, 5, 9}) expect_search(*build(random_soup(n, 0.3, r)), 200, 0.5, 7);
}

// Distributions that defeat splitting planes: equal boxes, and sizes in geometric progression.
TEST(MeshSearch, AwkwardDistributions) {
  Random r(8);
  Body equal;
  for (int k = 0; k < 2000; ++k) {
    const int first = static_cast<int>(equal.vertices.size());
    const double s = r.uniform(-1, 1);
    equal.vertices.insert(equal.vertices.end(), {{-1, -1, s}, {1, 1, -s}, {s, -1, 1}, {-s, 1, -1}});
    equal.triangles.push_back({first, first + 1, first + 2});
    equal.triangles.push_back({first, first + 1, first + 3});
  }
  expect_search(*build(equal), 200, 1, 9);
  Body series;
  double scale = 1;
  for (int k = 0; k < 1500; ++k) {
    const int first = static_cast<int>(series.vertices.size());
    series.vertices.insert(series.vertices.end(), {{scale, 0, 0}, {1.01 * scale, scale, 0}, {scale, 0, scale}});
    series.triangles.push_back({first, first + 1, first + 2});
    scale *= 0.99;
  }
  expect_search(*build(series), 300, 0.1, 10);
}

// A sheet that lies aslant, whose vertices along its normal are equal up to round-off.
Body slanted_sheet(int cells, double noise, Random& r) {
  Body b;
  const Mat3 R = Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, -3).normalized())).toRotationMatrix();
  for (int j = 0; j <= cells; ++j) {
    for (int i = 0; i <= cells; ++i) b.vertices.emplace_back(R * Vec3(i, j, 0) / cells + r.vector(noise));
  }
  for (int j = 0; j < cells; ++j) {
    for (int i = 0; i < cells; ++i) {
      const int a = j * (cells + 1) + i;
      b.triangles.push_back({a, a + 1, a + cells + 2});
      b.triangles.push_back({a, a + cells + 2, a + cells + 1});
    }
  }
  return b;
}

TEST(MeshSearch, SupportAgreesWithBruteForce) {
  Random r(21);
  std::vector<Mesh> meshes = {build(shapes::icosphere(4)),    build(turned(shapes::icosphere(3))),
                              build(shapes::box({1, 2, 3})),  build(random_soup(2000, 0.05, r)),
                              build(slanted_sheet(40, 0, r)), build(slanted_sheet(40, 1e-8, r))};
  Body far = shapes::icosphere(3);
  for (Vec3& x : far.vertices) x += Vec3(1e5, -2e5, 3e5);
  meshes.push_back(build(far));
  for (const Mesh& m : meshes) {
    const double slack = 2 * kSupportSlack * m->box().diagonal();
    for (int n = 0; n < test::samples(2000); ++n) {
      // Along normals, too: all vertices of a flat part are as far as each other.
      Vec3 l = r.chance(0.3) ? m->normal(r.integer(0, m->triangle_count() - 1)) : r.vector(1);
      if (r.chance(0.2)) l += r.vector(1e-6);
      double farthest = -kInf;
      for (const Vec3& x : m->vertices()) farthest = std::max(farthest, l.dot(x - m->box().centre()));
      long visited = 0;
      const int guess = r.integer(0, static_cast<int>(m->vertices().size()) - 1);
      const Vec3& found = m->vertex(m->support(l, guess, visited));
      ASSERT_NEAR(l.dot(found - m->box().centre()), farthest, slack * l.norm());
      ASSERT_GT(visited, 0);
    }
  }
}

TEST(MeshSearch, VerticesBelowAPlaneAgreeWithBruteForce) {
  Random r(22);
  for (const Mesh& m :
       {build(shapes::icosphere(4)), build(random_soup(2000, 0.05, r)), build(slanted_sheet(40, 0, r))}) {
    for (int n = 0; n < test::samples(1000); ++n) {
      const Vec3 normal = r.chance(0.3) ? m->normal(r.integer(0, m->triangle_count() - 1)) : r.vector(1);
      const int any = r.integer(0, static_cast<int>(m->vertices().size()) - 1);
      const double limit = normal.dot(m->vertex(any)) + (r.chance(0.5) ? 0 : 1e-3 * r.uniform(-1, 1));
      std::set<int> expected;
      for (int v = 0; v < static_cast<int>(m->vertices().size()); ++v) {
        if (normal.dot(m->vertex(v)) <= limit) expected.insert(v);
      }
      std::set<int> found;
      long visited = 0;
      const auto add = [&](int v) {
        found.insert(v);
        return true;
      };
      m->visit_vertices_below(normal, limit, add, visited);
      ASSERT_EQ(found, expected);
      int calls = 0;
      m->visit_vertices_below(
          normal, limit, [&](int) { return ++calls < 3; }, visited);
      ASSERT_LE(calls, 3);
    }
  }
}

TEST(MeshSearch, OddBoxes) {
  const Mesh m = build(shapes::icosphere(1));
  const auto count = [&](const Aabb& box) {
    std::vector<int> found;
    m->find_triangles(box, found);
    return static_cast<int>(found.size());
  };
  EXPECT_EQ(count({Vec3::Constant(-kInf), Vec3::Constant(kInf)}), 80);
  EXPECT_EQ(count(Aabb::nothing()), 0);
  EXPECT_EQ(count({Vec3::Constant(kNan), Vec3::Constant(kNan)}), 0);
  EXPECT_EQ(count({Vec3(-2, kNan, -2), Vec3::Constant(2)}), 0);
  EXPECT_EQ(count({Vec3::Constant(1e300), Vec3::Constant(1e308)}), 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Reproducibility, limits, messages

TEST(TriangleMesh, SecondBuildIsEqualBitForBit) {
  Random r(11);
  const Body b = soup(shapes::icosphere(3), 1e-10, r);
  const Mesh m = build(b);
  const Mesh n = build(b);
  ASSERT_TRUE(std::equal(m->vertices().begin(), m->vertices().end(), n->vertices().begin(), n->vertices().end()));
  ASSERT_TRUE(std::equal(m->triangles().begin(), m->triangles().end(), n->triangles().begin(), n->triangles().end()));
  for (int t = 0; t < m->triangle_count(); ++t) EXPECT_EQ(m->normal(t), n->normal(t));
  EXPECT_EQ(m->mass_properties("").inertia, n->mass_properties("").inertia);
}

TEST(TriangleMesh, BadInputNamesTheRemedy) {
  const Body good = shapes::box({1, 1, 1});
  Body b = good;
  b.triangles.clear();
  expect_text(error_of(b), {"mesh:", "no triangles", "; give at least one"});
  for (const int bad : {8, -1, std::numeric_limits<int>::max()}) {
    b = good;
    b.triangles[3][1] = bad;
    expect_text(error_of(b), {"triangle 3", std::to_string(bad).c_str(), "from 0 to 7"});
  }
  b = good;
  b.vertices[2].y() = kNan;
  expect_text(error_of(b), {"point 2", "; give finite"});
  b.vertices[2].y() = 1.1e6;
  expect_text(error_of(b), {"point 2", "unit of length"});
  b = good;
  for (Vec3& x : b.vertices) x *= 1e-10;
  expect_text(error_of(b), {"unit of length"});
  b = good;
  for (shapes::Triangle& t : b.triangles) t[2] = t[1];
  expect_text(error_of(b), {"all 12 triangles", "no area", "; check"});
  b.vertices.clear();
  expect_text(error_of(b), {"triangle 0", "of 0"});
  b = good;
  b.triangles.resize(at(kMaxMeshTriangles) + 1, good.triangles[0]);
  expect_text(error_of(b), {"5000001 triangles", "; simplify"});
}

}  // namespace
}  // namespace sarrus::triangle_mesh_test
