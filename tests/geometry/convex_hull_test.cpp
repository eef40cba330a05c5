// Convex hulls and the mass of solids (docs/theory/collision.md §1).
#include "sarrus/geometry/convex_hull.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "geometry/shape_checks.h"
#include "sarrus/math/error.h"

namespace sarrus::convex_hull_test {
namespace {

using shapes::at;
using shapes::Random;
using Points = std::vector<Vec3>;
using Hull = std::shared_ptr<const ConvexHull>;

Hull build(const Points& x) { return ConvexHull::build(x, "hull"); }

Points moved(const Points& x, const Mat3& R, const Vec3& p) {
  Points out;
  for (const Vec3& a : x) out.push_back(R * a + p);
  return out;
}

Points in_single_precision(const Points& x) {
  Points out;
  for (const Vec3& a : x) out.push_back(a.cast<float>().cast<double>());
  return out;
}

std::string error_of(const Points& x) {
  try {
    build(x);
  } catch (const InputError& e) {
    EXPECT_EQ(e.element(), "hull");
    return e.what();
  }
  return "no error";
}

void expect_text(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
}

void expect_sound(const ConvexHull& h, const Points& input, double tolerance) {
  Random r(1);
  EXPECT_EQ(shapes::hull_topology_error(h), "");
  EXPECT_EQ(shapes::hull_geometry_error(h, input, tolerance, r, 200), "");
}

void expect_counts(const ConvexHull& h, int vertices, int edges, int faces) {
  EXPECT_EQ(h.vertex_count(), vertices);
  EXPECT_EQ(h.edge_count(), edges);
  EXPECT_EQ(h.face_count(), faces);
}

// Relative to the largest entry.
void expect_near(const Mat3& a, const Mat3& b, double tolerance) {
  EXPECT_LE((a - b).cwiseAbs().maxCoeff(), tolerance * b.cwiseAbs().maxCoeff()) << a << "\n\n" << b;
}

Mat3 box_inertia(const Vec3& h) {
  const Vec3 s = h.cwiseProduct(h) * (8 * h.prod() / 3);
  return Vec3(s.y() + s.z(), s.z() + s.x(), s.x() + s.y()).asDiagonal();
}

// ---------------------------------------------------------------------------------------------------------------------
// Mass

TEST(MassOfSolids, Box) {
  const Vec3 half(0.1, 0.2, 0.3);
  const shapes::Body b = shapes::box(half);
  const MassProperties m = surface_mass_properties(b.vertices, b.triangles);
  EXPECT_NEAR(m.volume, 8 * half.prod(), 1e-16);
  EXPECT_LE(m.centre.norm(), 1e-16);
  expect_near(m.inertia, box_inertia(half), 1e-15);
}

TEST(MassOfSolids, RightTetrahedron) {
  const Points x = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const std::vector<std::array<int, 3>> t = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  const MassProperties m = surface_mass_properties(x, t);
  EXPECT_NEAR(m.volume, 1.0 / 6, 1e-16);
  EXPECT_LE((m.centre - Vec3::Constant(0.25)).norm(), 1e-16);
  // Integrals over the solid: x^2 1/60, x y 1/120; moved to the centre.
  const double diagonal = 2 * (1.0 / 60 - 1.0 / 96);
  const double off = 1.0 / 96 - 1.0 / 120;
  Mat3 expected = Mat3::Constant(off);
  expected.diagonal().setConstant(diagonal);
  expect_near(m.inertia, expected, 1e-14);
}

// Errors of the inscribed polyhedron are even powers of the edge length: one extrapolation from two levels.
TEST(MassOfSolids, SphereByExtrapolation) {
  const auto mass = [](int levels) {
    const shapes::Body b = shapes::icosphere(levels);
    return surface_mass_properties(b.vertices, b.triangles);
  };
  const MassProperties coarse = mass(5);
  const MassProperties fine = mass(6);
  const double volume = 4 * shapes::kPi / 3;
  const double inertia = 2.0 / 5 * volume;
  EXPECT_NEAR(fine.volume, volume, 2e-3 * volume);
  EXPECT_NEAR((4 * fine.volume - coarse.volume) / 3, volume, 1e-6 * volume);
  expect_near((4 * fine.inertia - coarse.inertia) / 3, inertia * Mat3::Identity(), 1e-6);
  EXPECT_LE(fine.centre.norm(), 1e-14);
}

// The coordinates themselves are rounded to 6e-14 m there; without the mean subtracted first, 4 % would be lost.
TEST(MassOfSolids, FarFromTheOrigin) {
  const Vec3 half(0.125, 0.25, 0.0625);  // exact after the shift
  const Vec3 p(300, -256, 128);
  shapes::Body b = shapes::box(half);
  b.vertices = moved(b.vertices, Mat3::Identity(), p);
  for (const MassProperties& m :
       {surface_mass_properties(b.vertices, b.triangles), build(b.vertices)->mass_properties()}) {
    EXPECT_NEAR(m.volume, 8 * half.prod(), 1e-12 * m.volume);
    EXPECT_LE((m.centre - p).norm(), 1e-12);
    expect_near(m.inertia, box_inertia(half), 1e-12);
  }
}

TEST(MassOfSolids, InsideOutIsNegative) {
  shapes::Body b = shapes::box({1, 1, 1});
  for (auto& t : b.triangles) std::swap(t[0], t[1]);
  EXPECT_NEAR(surface_mass_properties(b.vertices, b.triangles).volume, -8, 1e-14);
}

TEST(MassOfSolids, FramesAndSums) {
  const Vec3 half(0.1, 0.2, 0.3);
  const Pose X{{1, 2, 3}, Quat(Eigen::AngleAxisd(0.7, Vec3(1, -2, 2) / 3))};
  const shapes::Body b = shapes::box(half);
  const MassProperties m = surface_mass_properties(b.vertices, b.triangles);
  const MassProperties expected = surface_mass_properties(moved(b.vertices, X.R(), X.p), b.triangles);
  EXPECT_NEAR(m.in_frame(X).volume, expected.volume, 1e-15);
  EXPECT_LE((m.in_frame(X).centre - expected.centre).norm(), 1e-14);
  expect_near(m.in_frame(X).inertia, expected.inertia, 1e-12);

  const auto part = [](double lo, double hi) {
    shapes::Body half_box = shapes::box({0.5 * (hi - lo), 1, 1});
    return surface_mass_properties(moved(half_box.vertices, Mat3::Identity(), {0.5 * (lo + hi), 0, 0}),
                                   half_box.triangles);
  };
  const MassProperties sum = combine_masses(part(-2, -1), part(-1, 2));
  EXPECT_NEAR(sum.volume, 16, 1e-13);
  EXPECT_LE(sum.centre.norm(), 1e-14);
  expect_near(sum.inertia, box_inertia({2, 1, 1}), 1e-14);
}

// ---------------------------------------------------------------------------------------------------------------------
// Structure

TEST(ConvexHull, CubeHasQuads) {
  const Points x = shapes::box({1, 1, 1}).vertices;
  const Hull h = build(x);
  expect_counts(*h, 8, 12, 6);
  expect_sound(*h, x, 1e-15);
  for (int f = 0; f < 6; ++f) {
    EXPECT_EQ(h->faces()[at(f)].size, 4);
    EXPECT_EQ(h->faces()[at(f)].offset, 1);
    EXPECT_EQ(h->faces()[at(f)].normal.cwiseAbs().maxCoeff(), 1);
  }
  for (int v = 0; v < 8; ++v) EXPECT_EQ(h->vertex(v), x[at(v)]);
  EXPECT_EQ(h->inner_radius(), 1);
  EXPECT_NEAR(h->outer_radius(), std::sqrt(3.0), 1e-15);
  EXPECT_EQ(h->box().lo, Vec3::Constant(-1));
  EXPECT_EQ(h->triangles().size(), 12U);
}

TEST(ConvexHull, KnownBodies) {
  const Points tetrahedron = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  expect_counts(*build(tetrahedron), 4, 6, 4);
  const Points icosahedron = shapes::icosahedron().vertices;
  expect_counts(*build(icosahedron), 12, 30, 20);
  expect_sound(*build(icosahedron), icosahedron, 1e-14);
  for (const int n : {3, 4, 7, 32, 33, 500}) {
    const Points x = shapes::prism(n, 0.3, 0.1);
    const Hull h = build(x);
    expect_counts(*h, 2 * n, 3 * n, n + 2);
    expect_sound(*h, x, 1e-14);
  }
}

TEST(ConvexHull, RandomPointsOnASphere) {
  Random r(2);
  for (const int n : {4, 5, 20, 200, 1000}) {
    const Points x = shapes::sphere_points(n, r);
    const Hull h = build(x);
    expect_counts(*h, n, 3 * n - 6, 2 * n - 4);
    expect_sound(*h, x, 1e-13);
  }
}

TEST(ConvexHull, DropsWhatIsNotACorner) {
  Random r(3);
  const Points corners = shapes::box({1, 0.5, 0.25}).vertices;
  Points x = corners;
  x.insert(x.end(), corners.begin(), corners.end());      // repeats
  for (const Vec3& a : corners) x.emplace_back(0.3 * a);  // inside
  for (int k = 0; k < 50; ++k) {
    const Vec3 u = r.vector(1);
    x.emplace_back(u.x(), 0.5 * u.y(), 0.25);  // on a face
    x.emplace_back(u.x(), -0.5, -0.25);        // on an edge
  }
  const Hull h = build(x);
  expect_counts(*h, 8, 12, 6);
  expect_sound(*h, x, 1e-14);
  for (int v = 0; v < 8; ++v) EXPECT_EQ(h->vertex(v), corners[at(v)]);
}

// Quads stay quads through what happens to coordinates before they get here.
TEST(ConvexHull, FlatFacesSurviveRoundOff) {
  Random r(4);
  Points grid;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      for (int k = 0; k < 8; ++k) grid.emplace_back(0.1 * i, 0.07 * j, 0.05 * k);
    }
  }
  for (int n = 0; n < 50; ++n) {
    const Mat3 R = r.rotation();
    const Points far = moved(grid, R, 300 * r.direction());
    expect_counts(*build(far), 8, 12, 6);
    expect_sound(*build(far), far, 1e-12);
    const Points single = in_single_precision(moved(grid, R, r.vector(0.3)));
    expect_counts(*build(single), 8, 12, 6);
    expect_sound(*build(single), single, 5e-7);
    const Points prism = in_single_precision(moved(shapes::prism(40, 0.3, 0.2), R, r.vector(0.3)));
    expect_counts(*build(prism), 80, 120, 42);
  }
}

TEST(ConvexHull, PlatesAndNeedlesKeepTheirShape) {
  for (const double thin : {1e-2, 1e-4, 4e-6}) {
    for (const Vec3& half : {Vec3(1, 1, thin), Vec3(1, thin, thin)}) {
      const Points x = shapes::box(half).vertices;
      const Hull h = build(x);
      expect_counts(*h, 8, 12, 6);
      expect_sound(*h, x, 1e-15);
      EXPECT_NEAR(h->mass_properties().volume, 8 * half.prod(), 1e-12 * half.prod());
      EXPECT_NEAR(h->inner_radius(), thin, 1e-12 * thin);
    }
  }
}

TEST(ConvexHull, HullOfAHullIsTheSame) {
  Random r(5);
  for (int n = 0; n < 20; ++n) {
    Points x;
    for (int k = 0; k < 300; ++k) x.push_back(r.vector(1));
    const Hull a = build(x);
    const Hull b = build(Points(a->vertices().begin(), a->vertices().end()));
    ASSERT_EQ(a->vertex_count(), b->vertex_count());
    ASSERT_EQ(a->face_count(), b->face_count());
    for (int f = 0; f < a->face_count(); ++f) {
      EXPECT_TRUE(std::equal(a->face_vertices(f).begin(), a->face_vertices(f).end(), b->face_vertices(f).begin(),
                             b->face_vertices(f).end()));
    }
    EXPECT_NEAR(a->mass_properties().volume, b->mass_properties().volume, 1e-14);
  }
}

TEST(ConvexHull, MassAgreesWithItsTriangles) {
  Random r(6);
  const shapes::Body b = shapes::icosphere(3);
  const MassProperties m = build(b.vertices)->mass_properties();
  const MassProperties expected = surface_mass_properties(b.vertices, b.triangles);
  EXPECT_NEAR(m.volume, expected.volume, 1e-13);
  expect_near(m.inertia, expected.inertia, 1e-13);
  const Hull h = build(shapes::sphere_points(100, r));
  double nearest = 10;
  for (const ConvexHull::Face& f : h->faces()) {
    nearest = std::min(nearest, f.offset - f.normal.dot(h->mass_properties().centre));
  }
  EXPECT_NEAR(h->inner_radius(), nearest, 1e-14);
}

TEST(ConvexHull, ContactCornersKeepTheArea) {
  for (const int n : {20, 32, 33, 47, 1000}) {
    const Hull h = build(shapes::prism(n, 1, 0.1));
    for (int f = 0; f < h->face_count(); ++f) {
      const std::span<const int> corners = h->contact_corners(f);
      if (h->faces()[at(f)].size != n || n == 4) continue;
      ASSERT_EQ(static_cast<int>(corners.size()), std::min(n, kMaxFaceCorners));
      Vec3 area = Vec3::Zero();
      for (std::size_t k = 0; k < corners.size(); ++k) {
        const std::span<const int> v = h->face_vertices(f);
        area += 0.5 * h->vertex(v[at(corners[k])]).cross(h->vertex(v[at(corners[(k + 1) % corners.size()])]));
      }
      const int m = std::min(n, kMaxFaceCorners);
      const double best = 0.5 * m * std::sin(2 * shapes::kPi / m);
      EXPECT_GT(std::abs(area.z()), 0.99 * best) << n;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Support

// Directions at random, and the hard ones: normals, edges, perpendiculars to edges, axes.
void expect_support(const ConvexHull& h, int count, const std::string& what) {
  Random r(7);
  std::vector<Vec3> directions;
  for (int k = 0; k < count; ++k) directions.push_back(r.direction() * r.power(-3, 3));
  const std::size_t stride = 1 + at(h.face_count()) / 2000;
  for (std::size_t f = 0; f < at(h.face_count()); f += stride) directions.push_back(h.faces()[f].normal);
  for (std::size_t e = 0; e < at(h.edge_count()); e += stride) {
    const Vec3 u = h.vertex(h.edges()[e][1]) - h.vertex(h.edges()[e][0]);
    directions.push_back(u);
    directions.push_back(u.cross(r.direction()));
  }
  for (int axis = 0; axis < 3; ++axis) {
    directions.push_back(Vec3::Unit(axis));
    directions.push_back(-Vec3::Unit(axis));
  }
  double worst = 0;
  for (const Vec3& l : directions) {
    const double best = shapes::brute_support(h.vertices(), l);
    worst = std::max(worst, (best - l.dot(h.vertex(h.support(l)))) / l.norm());
  }
  EXPECT_LE(worst, 1e-12 * h.box().diagonal()) << what;
}

TEST(HullSupport, SpheresOfManySizes) {
  Random r(8);
  for (const int n : {8, 16, 32, 33, 50, 200}) expect_support(*build(shapes::sphere_points(n, r)), 50'000, "sphere");
  for (const int n : {1000, 2000, 5000}) expect_support(*build(shapes::sphere_points(n, r)), 10'000, "large sphere");
}

TEST(HullSupport, PrismsNeedlesAndPlates) {
  Random r(9);
  for (const int n : {20, 100, 1000}) {
    for (const double h : {1e-5, 1e-2, 1.0, 1e2, 1e5}) {
      const Points x = shapes::prism(n, 1, h);
      expect_support(*build(x), 10'000, "prism");
      expect_support(*build(in_single_precision(moved(x, r.rotation(), Vec3::Zero()))), 10'000, "single precision");
    }
  }
  for (const double thin : {1e-1, 1e-3, 1e-5}) {
    Points x = shapes::sphere_points(500, r);
    for (Vec3& a : x) a = a.cwiseProduct(Vec3(1, thin, thin));
    expect_support(*build(x), 10'000, "needle");
  }
}

// Shallow domes: the faces are coplanar up to 1e-4 .. 1e-16 of the size, so that round-off decides about edges.
TEST(HullSupport, NearlyCoplanarGrids) {
  Random r(10);
  for (int exponent = -16; exponent <= -4; ++exponent) {
    const double sag = std::pow(10.0, exponent);
    Points x;
    for (int i = -20; i <= 20; ++i) {
      for (int j = -20; j <= 20; ++j) {
        const double u = 0.05 * i;
        const double v = 0.05 * j;
        x.emplace_back(u, v, 0.1 - sag * (u * u + v * v));
        x.emplace_back(u, v, -0.1 + r.uniform(0, sag));
      }
    }
    const Hull h = build(x);
    expect_support(*h, 10'000, "dome");
    expect_sound(*h, x, 5e-7 * h->box().diagonal());
    expect_support(*build(moved(x, r.rotation(), Vec3(300, 0, 0))), 10'000, "dome far away");
  }
}

TEST(HullSupport, ClustersOfNearbyPoints) {
  Random r(11);
  for (int exponent = -17; exponent <= -1; ++exponent) {
    Points x;
    for (const Vec3& centre : shapes::sphere_points(100, r)) {
      for (int k = 0; k < 6; ++k) x.push_back(centre + r.vector(std::pow(10.0, exponent)));
    }
    expect_support(*build(x), 10'000, "clusters");
  }
}

TEST(HullSupport, AnyDirectionGivesAVertex) {
  Random r(12);
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const int n : {8, 300}) {
    const Hull h = build(shapes::sphere_points(n, r));
    for (const double a : {0.0, nan, inf, -inf, 1e308, 1e-320}) {
      for (const Vec3& l : {Vec3(a, a, a), Vec3(a, 0, 0), Vec3(1, a, 0), Vec3(0, -1, a)}) {
        const int v = h->support(l);
        EXPECT_TRUE(v >= 0 && v < h->vertex_count());
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Reproducibility, limits, messages

TEST(ConvexHull, SecondBuildIsEqualBitForBit) {
  Random r(13);
  Points x;
  for (int k = 0; k < 2000; ++k) x.push_back(r.vector(1));
  const Hull a = build(x);
  const Hull b = build(x);
  ASSERT_TRUE(std::equal(a->vertices().begin(), a->vertices().end(), b->vertices().begin(), b->vertices().end()));
  ASSERT_TRUE(std::equal(a->edges().begin(), a->edges().end(), b->edges().begin(), b->edges().end()));
  for (int f = 0; f < a->face_count(); ++f) {
    EXPECT_EQ(a->faces()[at(f)].normal, b->faces()[at(f)].normal);
    EXPECT_EQ(a->faces()[at(f)].offset, b->faces()[at(f)].offset);
  }
  EXPECT_EQ(a->mass_properties().inertia, b->mass_properties().inertia);
  for (int k = 0; k < 1000; ++k) {
    const Vec3 l = r.direction();
    EXPECT_EQ(a->support(l), b->support(l));
  }
}

TEST(ConvexHull, IdsFollowTheInputOrder) {
  Random r(14);
  Points x;
  for (int k = 0; k < 500; ++k) x.push_back(r.vector(1));
  const Hull a = build(x);
  std::reverse(x.begin(), x.end());
  const Hull b = build(x);
  ASSERT_EQ(a->vertex_count(), b->vertex_count());
  EXPECT_EQ(a->edge_count(), b->edge_count());
  for (int v = 0; v < a->vertex_count(); ++v) EXPECT_EQ(a->vertex(v), b->vertex(a->vertex_count() - 1 - v));
}

TEST(ConvexHull, BadInputNamesTheRemedy) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Points cube = shapes::box({1, 1, 1}).vertices;
  const auto with = [&](const Vec3& extra) {
    Points x = cube;
    x.push_back(extra);
    return x;
  };
  expect_text(error_of({}), {"hull:", "0 points", "at least four"});
  expect_text(error_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}), {"3 points", "at least four"});
  expect_text(error_of(with({0, nan, 0})), {"point 8", "finite"});
  expect_text(error_of(with({0, 2e6, 0})), {"point 8", "1000000", "unit of length"});
  expect_text(error_of(Points(20, Vec3(1, 2, 3))), {"span 0 m", "unit of length"});
  expect_text(error_of(moved(cube, 1e-10 * Mat3::Identity(), Vec3::Zero())), {"unit of length"});
  expect_text(error_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 3, 0}}), {"in a plane", "volume", "thin box"});
  expect_text(error_of({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}), {"on a line", "volume"});
  expect_text(error_of(shapes::box({1, 1, 1e-7}).vertices), {"in a plane", "thickness 2e-07 m"});
  // 1 mm at 1e6 m is fine, a tenth of a micron is lost in the coordinates.
  EXPECT_EQ(build(moved(shapes::box(Vec3::Constant(5e-4)).vertices, Mat3::Identity(), {9e5, 0, 0}))->face_count(), 6);
  expect_text(error_of(moved(shapes::box({1e-2, 1e-2, 1e-7}).vertices, Mat3::Identity(), {0, 0, 9e5})), {"in a plane"});
  Random r(15);
  expect_text(error_of(shapes::sphere_points(kMaxHullVertices + 500, r)), {"vertices", "simplify", "65535"});
}

TEST(ConvexHull, ManyPointsInside) {
  Random r(16);
  Points x = shapes::box({2, 2, 2}).vertices;
  for (int k = 0; k < 200'000; ++k) x.push_back(r.vector(1));
  expect_counts(*build(x), 8, 12, 6);
}

}  // namespace
}  // namespace sarrus::convex_hull_test
