// Features along a normal and their intersection (docs/theory/collision.md §4.1, §4.2).
#include "sarrus/collision/feature.h"

#include <gtest/gtest.h>

#include <map>
#include <numbers>
#include <set>
#include <vector>

#include "collision/oracles.h"
#include "effort.h"
#include "sarrus/math/tools.h"

namespace sarrus::feature_test {
namespace {

using oracle::Random;

constexpr double kPi = std::numbers::pi;
constexpr double kTol = 1e-6;

// The shape must outlive it: a hull is not copied.
Convex placed(const Shape& shape, const Pose& X = {}) { return convex_of(place(shape, X), X.p); }

Shape prism(int n, double radius, double half_height) {
  std::vector<Vec3> x;
  for (int k = 0; k < n; ++k) {
    const double angle = 2 * kPi * k / n;
    for (const double z : {half_height, -half_height}) {
      x.push_back({radius * std::cos(angle), radius * std::sin(angle), z});
    }
  }
  return Shape::convex(ConvexHull::build(x, "prism"));
}

// Polygons: unit normal, planar, convex, counter-clockwise seen from outside, unique ids.
void check_polygon(const Feature& f, const Vec3& n) {
  ASSERT_GE(f.corners.size(), 3);
  ASSERT_NEAR(f.normal.norm(), 1, 1e-12);
  ASSERT_GT(f.normal.dot(n), 0);
  std::set<int> vertices;
  std::set<int> edges;
  const int count = f.corners.size();
  for (int k = 0; k < count; ++k) {
    const Vec3& a = f.corners[k].p;
    const Vec3& b = f.corners[(k + 1) % count].p;
    const Vec3& c = f.corners[(k + 2) % count].p;
    ASSERT_NEAR(f.normal.dot(a - f.corners[0].p), 0, 1e-12);
    ASSERT_GT((b - a).cross(c - b).dot(f.normal), 0);
    vertices.insert(f.corners[k].vertex);
    edges.insert(f.corners[k].edge);
  }
  ASSERT_EQ(static_cast<int>(vertices.size()), count);
  ASSERT_EQ(static_cast<int>(edges.size()), count);
}

// The body-fixed corner with this id, in the common frame.
Vec3 corner_of(const Convex& x, int vertex) {
  if (x.core == CoreKind::hull) return x.p + x.R * x.hull->vertex(vertex);
  return x.p + x.R * Vec3((vertex & 1) != 0 ? x.size[0] : -x.size[0], (vertex & 2) != 0 ? x.size[1] : -x.size[1],
                          (vertex & 4) != 0 ? x.size[2] : -x.size[2]);
}

TEST(SupportFeature, BoxFacesAndHullFaces) {
  SARRUS_FULL_SIZE_ONLY();
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const Shape shape = i % 2 == 0 ? random.shape(ShapeKind::box) : random.hull(random.integer(8, 200));
    const Convex x = placed(shape, {random.vector(1), random.rotation()});
    const Vec3 n = random.direction();
    const Feature f = support_feature(x, n, kTol);
    if (f.corners.size() < 3) {  // a sharp corner of a flat hull, seen from the side
      ASSERT_EQ(x.core, CoreKind::hull);
      continue;
    }
    check_polygon(f, n);
    if (HasFatalFailure()) FAIL() << i;
    bool has_support = false;
    const double top = n.dot(x.support(n));
    for (const Feature::Corner& c : f.corners) {
      ASSERT_LT((c.p - corner_of(x, c.vertex)).norm(), 1e-14);
      has_support = has_support || n.dot(c.p) > top - 0.01 * kTol;
    }
    ASSERT_TRUE(has_support) << i;
  }
}

// Edge ids belong to the edge, not to the face that is looked at.
TEST(SupportFeature, EdgeIdsBelongToTheBody) {
  Random random(2);
  const Shape hull = random.hull(60);
  for (const Shape& shape : {Shape::box({0.1, 0.2, 0.3}), hull}) {
    const Convex x = placed(shape);
    std::map<int, std::set<int>> ends;
    for (int i = 0; i < 2000; ++i) {
      const Feature f = support_feature(x, random.direction(), kTol);
      for (int k = 0; k < f.corners.size() && f.corners.size() > 2; ++k) {
        ends[f.corners[k].edge].insert(f.corners[k].vertex);
        ends[f.corners[k].edge].insert(f.corners[(k + 1) % f.corners.size()].vertex);
      }
    }
    for (const auto& [edge, vertices] : ends) EXPECT_EQ(vertices.size(), 2u) << edge;
  }
}

// The face under a normal that is exactly its own stays the same for every tiny tilt.
TEST(SupportFeature, HullFaceIsStill) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const Shape shape = i % 2 == 0 ? random.hull(100) : prism(random.integer(3, 60), 0.1, 0.05);
    const Convex x = placed(shape, {Vec3::Zero(), random.rotation()});
    const auto faces = shape.hull->faces();
    const Vec3 n = x.R * faces[static_cast<std::size_t>(random.integer(0, shape.hull->face_count() - 1))].normal;
    const Feature still = support_feature(x, n, kTol);
    ASSERT_LT((still.normal - n).norm(), 1e-12);
    for (int k = 0; k < 20; ++k) {
      const Vec3 noisy = so3_exp(std::pow(10.0, random.uniform(-12, -5)) * random.direction()) * n;
      const Feature f = support_feature(x, noisy, kTol);
      ASSERT_EQ(f.corners.size(), still.corners.size());
      for (int c = 0; c < f.corners.size(); ++c) ASSERT_EQ(f.corners[c].vertex, still.corners[c].vertex);
    }
  }
}

TEST(SupportFeature, LargeFacesHaveAContactPolygon) {
  for (const int n : {32, 33, 64, 200, 1000}) {
    const Shape shape = prism(n, 0.1, 0.05);
    const Feature f = support_feature(placed(shape), Vec3::UnitZ(), kTol);
    EXPECT_EQ(f.corners.size(), std::min(n, kMaxFaceCorners));
    check_polygon(f, Vec3::UnitZ());
  }
}

TEST(SupportFeature, Cylinder) {
  const double r = 0.1;
  const double h = 0.2;
  const Convex x = placed(Shape::cylinder(r, h));
  for (const double side : {1.0, -1.0}) {
    const Feature cap = support_feature(x, side * Vec3::UnitZ(), kTol);
    ASSERT_EQ(cap.corners.size(), 8);
    check_polygon(cap, side * Vec3::UnitZ());
    for (const Feature::Corner& c : cap.corners) {
      EXPECT_EQ(c.vertex / 8, side > 0 ? 0 : 1);
      EXPECT_EQ(c.edge / 8, side > 0 ? 0 : 1);
      const double angle = c.vertex % 8 * kPi / 4;
      EXPECT_LT((c.p - Vec3(r * std::cos(angle), r * std::sin(angle), side * h)).norm(), 1e-15);
    }
  }
  // Tilted: the support point of the rim is one of the corners, and the polygon stays a polygon.
  Random random(4);
  for (int i = 0; i < 500; ++i) {
    const double tilt = std::pow(10.0, random.uniform(-3.9, -0.4));
    const double azimuth = random.uniform(-kPi, kPi);
    Vec3 n(std::sin(tilt) * std::cos(azimuth), std::sin(tilt) * std::sin(azimuth), std::cos(tilt));
    if (i % 2 == 1) n.z() = -n.z();
    const Feature cap = support_feature(x, n, kTol);
    ASSERT_EQ(cap.corners.size(), 8);
    check_polygon(cap, n);
    double top = -kInf;
    for (const Feature::Corner& c : cap.corners) top = std::max(top, n.dot(c.p));
    ASSERT_NEAR(top, n.dot(x.support(n)), 1e-15);
  }
  const Feature line = support_feature(x, Vec3(0.6, 0.8, 0.05).normalized(), kTol);
  ASSERT_EQ(line.corners.size(), 2);
  EXPECT_EQ(line.corners[0].vertex, kDeepestRimTop);
  EXPECT_EQ(line.corners[1].vertex, kDeepestRimBottom);
  EXPECT_LT((line.corners[1].p - Vec3(0.06, 0.08, -h)).norm(), 1e-15);
  const Feature rim = support_feature(x, Vec3(0.6, 0, -0.8), kTol);
  ASSERT_EQ(rim.corners.size(), 1);
  EXPECT_LT((rim.corners[0].p - Vec3(r, 0, -h)).norm(), 1e-15);
}

TEST(SupportFeature, RoundBodiesAndSegments) {
  const Vec3 n = Vec3(1, 2, -2) / 3;
  const Feature sphere = support_feature(placed(Shape::sphere(0.3)), n, kTol);
  ASSERT_EQ(sphere.corners.size(), 1);
  EXPECT_LT((sphere.corners[0].p - 0.3 * n).norm(), 1e-15);
  const Convex ellipsoid = placed(Shape::ellipsoid({0.1, 0.2, 0.3}));
  const Feature point = support_feature(ellipsoid, n, kTol);
  ASSERT_EQ(point.corners.size(), 1);
  EXPECT_LT((point.corners[0].p - ellipsoid.support(n)).norm(), 1e-15);
  const Feature side = support_feature(placed(Shape::capsule(0.1, 0.2)), Vec3::UnitX(), kTol);
  ASSERT_EQ(side.corners.size(), 2);
  EXPECT_LT((side.corners[0].p - Vec3(0.1, 0, 0.2)).norm(), 1e-15);
  EXPECT_LT((side.corners[1].p - Vec3(0.1, 0, -0.2)).norm(), 1e-15);
  EXPECT_EQ(support_feature(placed(Shape::capsule(0.1, 1e-8)), Vec3::UnitX(), kTol).corners.size(), 1);
  EXPECT_EQ(support_feature(placed(Shape::capsule(0.1, 0.2)), Vec3::UnitZ(), kTol).corners.size(), 1);
}

// Seen from the side a triangle is an edge across n, or a corner.
TEST(SupportFeature, TrianglesFromTheSide) {
  const Convex t = convex_of_triangle({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, Mat3::Identity(), Vec3::Zero());
  check_polygon(support_feature(t, Vec3(0.3, 0.2, 0.9).normalized(), kTol), Vec3::UnitZ());
  const Feature edge = support_feature(t, Vec3(0, -1, 0.01).normalized(), kTol);
  ASSERT_EQ(edge.corners.size(), 2);
  EXPECT_EQ(edge.corners[0].vertex, 0);
  EXPECT_EQ(edge.corners[1].vertex, 1);
  EXPECT_EQ(edge.corners[0].edge, 0);
  const Feature corner = support_feature(t, Vec3(1, -0.5, 0.01).normalized(), kTol);
  ASSERT_EQ(corner.corners.size(), 1);
  EXPECT_EQ(corner.corners[0].vertex, 1);
}

// How far p lies outside the polygon, seen along n; negative inside.
double outside(const Feature& f, const Vec3& n, const Vec3& p) {
  double farthest = -kInf;
  for (int k = 0; k < f.corners.size(); ++k) {
    const Vec3 e = f.corners[(k + 1) % f.corners.size()].p - f.corners[k].p;
    farthest = std::max(farthest, e.cross(n).dot(p - f.corners[k].p) / e.norm());
  }
  return farthest;
}

// Two convex polygons in parallel planes: the points are inside both, every corner of one inside the other is among
// them, keys are unique and every gap is the distance of the planes.
TEST(IntersectFeatures, PolygonsInParallelPlanes) {
  SARRUS_FULL_SIZE_ONLY();
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const Shape shape_a = prism(random.integer(3, 32), 0.1, 0.05);
    const Shape shape_b = prism(random.integer(3, 32), random.uniform(0.05, 0.15), 0.05);
    const Quat frame = random.rotation();
    const Vec3 n = frame * Vec3::UnitZ();
    const Vec3 shift = frame * Vec3(random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), 0.1 + 1e-3);
    const Feature a = support_feature(placed(shape_a, {Vec3::Zero(), frame}), n, kTol);
    const Feature b =
        support_feature(placed(shape_b, {shift, frame * so3_exp({0, 0, random.uniform(0, 6)})}), -n, kTol);
    Manifold m;
    const double smallest = intersect_features(a, b, n, 2e-3, kTol, m);
    std::set<FeatureKey> keys;
    for (const ManifoldPoint& point : m) {
      ASSERT_NEAR(point.gap, 1e-3, 1e-14);
      ASSERT_LE(outside(a, n, point.p), kTol + 1e-12);
      ASSERT_LE(outside(b, -n, point.p), kTol + 1e-12);
      keys.insert(point.key);
    }
    ASSERT_EQ(static_cast<int>(keys.size()), m.size()) << i;
    ASSERT_EQ(std::isinf(smallest), m.empty());
    const auto is_found = [&m](const Vec3& p) {
      double nearest = kInf;
      for (const ManifoldPoint& point : m) nearest = std::min(nearest, (point.p - p).norm());
      return nearest < 1e-9;
    };
    for (const Feature::Corner& c : b.corners) {
      ASSERT_TRUE(outside(a, n, c.p) > -2 * kTol || is_found(c.p - 1e-3 * n)) << i;
    }
    for (const Feature::Corner& c : a.corners) {
      ASSERT_TRUE(outside(b, -n, c.p) > -2 * kTol || is_found(c.p)) << i;
    }
  }
}

// Gaps are measured along n between the two planes, whatever their tilt, and none is below s(n).
TEST(IntersectFeatures, TiltedFacesHaveTheirOwnGaps) {
  Random random(6);
  int points = 0;
  for (int i = 0; i < 5000; ++i) {
    const Convex a = placed(random.shape(ShapeKind::box), {Vec3::Zero(), random.rotation()});
    Convex b = placed(random.shape(ShapeKind::box), {Vec3::Zero(), random.rotation()});
    const Vec3 n = random.direction();
    b.p += a.support(n) - b.support(-n) + random.uniform(-1e-2, 1e-2) * n + 0.02 * random.direction().cross(n);
    const Feature fa = support_feature(a, n, kTol);
    const Feature fb = support_feature(b, -n, kTol);
    Manifold m;
    const double smallest = intersect_features(fa, fb, n, 0.05, kTol, m);
    if (m.empty()) continue;
    ASSERT_GE(smallest, support_distance(a, b, n) - 2 * kTol);
    for (const ManifoldPoint& point : m) {
      ++points;
      ASSERT_NEAR(fa.normal.dot(point.p - fa.corners[0].p), 0, 1e-12);
      // A corner that lies up to tol beside A is measured from A's edge.
      ASSERT_NEAR(fb.normal.dot(point.p + point.gap * n - fb.corners[0].p), 0, 2 * kTol);
    }
  }
  EXPECT_GT(points, 5000);
}

Feature segment(const Vec3& p, const Vec3& q, int v, int w, int edge) {
  Feature f;
  f.corners.push({p, v, edge});
  f.corners.push({q, w, edge});
  return f;
}

TEST(IntersectFeatures, SegmentOverAPolygon) {
  const Feature face = support_feature(placed(Shape::box({0.1, 0.1, 0.1})), Vec3::UnitZ(), kTol);
  // In along x from outside, rising by 1 mm.
  const Feature line = segment({0.05, 0.02, 0.101}, {0.25, 0.02, 0.102}, 4, 5, 7);
  Manifold m;
  EXPECT_NEAR(intersect_features(face, line, Vec3::UnitZ(), 2e-3, kTol, m), 1e-3, 1e-15);
  ASSERT_EQ(m.size(), 2);
  EXPECT_EQ(m[0].key, make_key(FeatureKind::vertex_b, 0, 4));
  EXPECT_LT((m[0].p - Vec3(0.05, 0.02, 0.1)).norm(), 1e-15);
  EXPECT_EQ(m[1].key.lo >> 60, 2u);
  EXPECT_EQ(m[1].key.lo & ((1u << 30) - 1), 2u * 7 + 1);
  EXPECT_LT((m[1].p - Vec3(0.1, 0.02, 0.1)).norm(), 1e-15);
  EXPECT_NEAR(m[1].gap, 1.25e-3, 1e-15);
  // As A, below: the same points with the sides exchanged.
  const Feature ceiling =
      support_feature(placed(Shape::box({0.1, 0.1, 0.1}), {Vec3(0, 0, 0.203), Quat::Identity()}), -Vec3::UnitZ(), kTol);
  m.clear();
  EXPECT_NEAR(intersect_features(line, ceiling, Vec3::UnitZ(), 3e-3, kTol, m), 1.75e-3, 1e-15);
  ASSERT_EQ(m.size(), 2);
  EXPECT_EQ(m[0].key, make_key(FeatureKind::vertex_a, 4, 0));
  // Beside it: nothing. Along its border, a hair outside: both ends, on the border.
  m.clear();
  EXPECT_EQ(
      intersect_features(face, segment({-0.05, 0.2, 0.1}, {0.05, 0.2, 0.1}, 0, 1, 0), Vec3::UnitZ(), 2e-3, kTol, m),
      kInf);
  EXPECT_TRUE(m.empty());
  intersect_features(face, segment({-0.05, 0.1 + 5e-6, 0.1}, {0.05, 0.1 + 5e-6, 0.1}, 0, 1, 0), Vec3::UnitZ(), 2e-3,
                     kTol, m);
  ASSERT_EQ(m.size(), 2);
  EXPECT_NEAR(m[0].p.y(), 0.1, 1e-15);
}

TEST(IntersectFeatures, Segments) {
  const Vec3 n = Vec3::UnitZ();
  const Feature a = segment({-0.1, 0, 0}, {0.1, 0, 0}, 0, 1, 3);
  Manifold m;
  // Crossed.
  EXPECT_NEAR(intersect_features(a, segment({0.02, -0.1, 1e-3}, {0.04, 0.1, 1e-3}, 0, 1, 5), n, 2e-3, kTol, m), 1e-3,
              1e-15);
  ASSERT_EQ(m.size(), 1);
  EXPECT_EQ(m[0].key, make_key(FeatureKind::edge_edge, 3, 5));
  EXPECT_LT((m[0].p - Vec3(0.03, 0, 0)).norm(), 1e-15);
  // Side by side, shifted: each overlap ends where one of them does. Opposite directions do not matter.
  for (const bool reversed : {false, true}) {
    m.clear();
    Feature b = segment({-0.05, 0, 1e-3}, {0.15, 0, 1e-3}, 0, 1, 5);
    if (reversed) b = segment({0.15, 0, 1e-3}, {-0.05, 0, 1e-3}, 1, 0, 5);
    EXPECT_NEAR(intersect_features(a, b, n, 2e-3, kTol, m), 1e-3, 1e-15);
    ASSERT_EQ(m.size(), 2);
    EXPECT_EQ(m[0].key, make_key(FeatureKind::vertex_a, 1, 0));
    EXPECT_EQ(m[1].key, make_key(FeatureKind::vertex_b, 0, 0));
    EXPECT_LT((m[0].p - Vec3(0.1, 0, 0)).norm(), 1e-15);
    EXPECT_LT((m[1].p - Vec3(-0.05, 0, 0)).norm(), 1e-15);
  }
  // End to end: nothing in common, or one point.
  m.clear();
  EXPECT_EQ(intersect_features(a, segment({0.2, 0, 0}, {0.3, 0, 0}, 0, 1, 5), n, 2e-3, kTol, m), kInf);
  intersect_features(a, segment({0.1, 0, 0}, {0.3, 0, 0}, 0, 1, 5), n, 2e-3, kTol, m);
  EXPECT_EQ(m.size(), 1);
}

TEST(WitnessPoint, TheSinglePointDecides) {
  const Vec3 n = Vec3::UnitZ();
  const Feature face = support_feature(placed(Shape::box({0.1, 0.1, 0.1})), n, kTol);
  const Feature ball = support_feature(placed(Shape::sphere(0.1), {Vec3(0.02, 0, 0.199), Quat::Identity()}), -n, kTol);
  const ManifoldPoint over = witness_point(face, ball, n, -1e-3, Vec3::Constant(7));
  EXPECT_LT((over.p - Vec3(0.02, 0, 0.1)).norm(), 1e-15);
  EXPECT_EQ(over.gap, -1e-3);
  const ManifoldPoint under = witness_point(ball, face, -n, -1e-3, Vec3::Constant(7));
  EXPECT_LT((under.p - Vec3(0.02, 0, 0.099)).norm(), 1e-15);
  // A corner over a face, far from the proposal.
  const Convex tip = placed(Shape::box({0.1, 0.1, 0.1}),
                            {Vec3(0.01, 0.02, 0.1 + 0.1 * std::sqrt(3.0)), Quat::FromTwoVectors(Vec3(1, 1, 1), -n)});
  const ManifoldPoint corner = witness_point(face, support_feature(tip, -n, kTol), n, 0, Vec3::Constant(7));
  EXPECT_LT((corner.p - Vec3(0.01, 0.02, 0.1)).norm(), 1e-12);
  // Two edges that cross: the proposal.
  const Quat tilt = so3_exp({kPi / 4, 0, 0});
  const Convex ridge = placed(Shape::box({0.1, 0.1, 0.1}), {Vec3(0, 0, -0.1 * std::sqrt(2.0)), tilt});
  const Convex keel =
      placed(Shape::box({0.1, 0.1, 0.1}), {Vec3(0.03, 0.01, 0.1 * std::sqrt(2.0)), so3_exp({0, 0, kPi / 2}) * tilt});
  const Vec3 crossing(0.03, 0, 0);
  const ManifoldPoint edges =
      witness_point(support_feature(ridge, n, kTol), support_feature(keel, -n, kTol), n, 0, crossing);
  EXPECT_LT((edges.p - crossing).norm(), 1e-15);
}

}  // namespace
}  // namespace sarrus::feature_test
