// Meshes with many triangles cost what their contacts cost (docs/theory/collision.md §6): what is
// looked at is counted, and the answer is that of looking at everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "collision/mesh_scenes.h"
#include "effort.h"
#include "sarrus/collision/convex_distance.h"
#include "sarrus/collision/detector.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/builder.h"
#include "support/allocations.h"

namespace sarrus::large_mesh_test {
namespace {

using oracle::Random;
using scene::Surface;

constexpr double kRadius = 0.5;  // of spheres, half the side of sheets and boxes, m
constexpr double kMargin = 2e-3;

// The finer of two surfaces has 64 times as many triangles, more than a million. The short run is content with less.
int fine(int full) { return test::sample_divisor() > 1 ? full - 3 : full; }

Shape sphere(int levels) { return scene::icosphere(kRadius, levels, false).shape(); }
// It takes seconds to build: once for all tests.
const Shape& fine_sphere() {
  static const Shape shape = sphere(fine(8));
  return shape;
}

Shape sheet(int cells) {
  Random random(1);
  return scene::grid(cells, cells, kRadius, kRadius, 0, random, scene::flat).shape();
}

// Ripples of 5 mm that are 0.1 m long.
double ripples(double x, double y) { return 5e-3 * std::sin(60 * x) * std::sin(60 * y); }

Shape rippled_sheet(int cells) {
  Random random(1);
  return scene::grid(cells, cells, kRadius, kRadius, 0, random, ripples).shape();
}

// A cube whose sides are grids.
Shape cube(int cells) {
  Surface s;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-1.0, 1.0}) {
      const int first = static_cast<int>(s.v.size());
      for (int j = 0; j <= cells; ++j) {
        for (int i = 0; i <= cells; ++i) {
          Vec3 x;
          x[axis] = side * kRadius;
          x[(axis + 1) % 3] = side * kRadius * (2.0 * i / cells - 1);
          x[(axis + 2) % 3] = kRadius * (2.0 * j / cells - 1);
          s.add(x);
        }
      }
      for (int j = 0; j < cells; ++j) {
        for (int i = 0; i < cells; ++i) {
          const int a = first + j * (cells + 1) + i;
          s.t.push_back({a, a + 1, a + cells + 2});
          s.t.push_back({a, a + cells + 2, a + cells + 1});
        }
      }
    }
  }
  return s.shape();
}

struct Work {
  MeshWork work;
  Manifold manifold;

  double total() const { return static_cast<double>(work.parts + work.triangles + work.vertices); }
  double gap() const {
    double least = kInf;
    for (const ManifoldPoint& point : manifold) least = std::min(least, point.gap);
    return least;
  }
};

Work work_of(const PlacedShape& a, const PlacedShape& b, double margin = kMargin) {
  NarrowWorkspace workspace;
  Work w;
  collide(a, b, margin, workspace, w.manifold);
  w.work = workspace.mesh.work;
  return w;
}

void expect_no_more(const std::string& what, const Work& coarse, const Work& fine, double more) {
  ::testing::Test::RecordProperty(what, std::to_string(coarse.total()) + " and " + std::to_string(fine.total()));
  EXPECT_FALSE(coarse.manifold.empty()) << what;
  EXPECT_FALSE(fine.manifold.empty()) << what;
  // Far from 64 times as much: the tree is a few levels deeper, and what was taken as it is now has to be chosen.
  EXPECT_LE(fine.total(), 2 * coarse.total() + more) << what;
}

const PlacedShape kPlane = place(Shape::plane(), {});

// The mesh turned by q, its lowest point 10 um below z = 0.
PlacedShape resting(const Shape& mesh, const Quat& q) {
  const Mat3 R = q.toRotationMatrix();
  double lowest = kInf;
  for (const Vec3& x : mesh.mesh->vertices()) lowest = std::min(lowest, (R * x).z());
  return place(mesh, {Vec3(0.1, 0.2, -lowest - 1e-5), q});
}

const Quat kTurned = so3_exp({0.3, -0.2, 0.7});

std::vector<Shape> bodies() {
  std::vector<Vec3> prism;
  for (int k = 0; k < 12; ++k) {
    const double angle = k * std::numbers::pi / 6;
    for (const double z : {-0.1, 0.1}) prism.emplace_back(0.2 * std::cos(angle), 0.2 * std::sin(angle), z);
  }
  return {
      Shape::sphere(0.2),        Shape::capsule(0.1, 0.2),           Shape::box({0.2, 0.15, 0.1}),
      Shape::cylinder(0.2, 0.1), Shape::ellipsoid({0.2, 0.15, 0.1}), Shape::convex(ConvexHull::build(prism, "prism"))};
}

// Lowered onto the surface below it until it is 10 um deep.
PlacedShape lowered(const Shape& body, const Quat& q, const PlacedShape& surface, double from) {
  PlacedShape b = place(body, {Vec3(0.013, 0.021, from), q});
  for (int i = 0; i < 60; ++i) {
    const double gap = work_of(b, surface, 0.05).gap();
    if (std::abs(gap + 1e-5) < 1e-9) break;
    b.p_W.z() -= gap == kInf ? 0.04 : gap + 1e-5;
  }
  return b;
}

TEST(LargeMesh, LooksAtFewVerticesOnAPlane) {
  SARRUS_FULL_SIZE_ONLY();
  const auto compare = [](const std::string& what, const Shape& coarse, const Shape& fine, const Quat& q) {
    const Work a = work_of(kPlane, resting(coarse, q));
    const Work b = work_of(kPlane, resting(fine, q));
    expect_no_more(what, a, b, 6000);
    // Of several points within tol of the deepest one is enough.
    EXPECT_NEAR(b.gap(), -1e-5, 5e-6 * 2 * std::sqrt(3.0) * kRadius) << what;
    EXPECT_LE(b.manifold.size(), 8) << what;
  };
  const Shape& ball = fine_sphere();
  EXPECT_FALSE(test::sample_divisor() == 1 && ball.mesh->hull_is_whole());
  compare("sphere", sphere(fine(8) - 3), ball, Quat::Identity());
  compare("sphere_turned", sphere(fine(8) - 3), ball, kTurned);
  const int cells = 8 << fine(6);
  const Shape flat = sheet(2 * cells);
  for (const double tilt : {0.0, 1e-7, 1e-4, 1e-2}) {
    compare("sheet_tilted_" + std::to_string(tilt), sheet(cells / 4), flat, so3_exp({tilt, 0.3 * tilt, 0}));
  }
  EXPECT_EQ(work_of(kPlane, resting(flat, Quat::Identity())).manifold.size(), 4) << "its corners";
  const Shape block = cube(cells / 2);
  compare("cube", cube(cells / 16), block, Quat::Identity());
  compare("cube_turned", cube(cells / 16), block, kTurned);
}

// The rule of collide_plane_mesh (mesh_pairs.h), by looking at every vertex for each of its questions.
class EveryVertex {
 public:
  EveryVertex(const PlacedShape& mesh, double margin) : b_(mesh), margin_(margin), tol_(5e-6 * mesh.diagonal) {
    hull_ = b_.mesh->hull_is_whole() ? b_.mesh->hull().get() : nullptr;
    x_ = hull_ != nullptr ? hull_->vertices() : b_.mesh->vertices();
    far_.resize(x_.size());
    std::iota(far_.begin(), far_.end(), 0);
    lowest_ = support(-(b_.R_WG.transpose() * Vec3::UnitZ()));
    if (hull_ == nullptr) far_.assign(b_.mesh->outline().begin(), b_.mesh->outline().end());
    n_ = b_.R_WG.transpose() * Vec3::UnitZ();
  }

  void collide(Manifold& manifold) const {
    MeshMergeBuffers merge;
    merge.clear();
    for (const int v : candidates()) {
      const Vec3& x = x_[at(v)];
      merge.begin_patch();
      merge.points.push_back({b_.p_W + (b_.R_WG * x - gap(v) * Vec3::UnitZ()), Vec3::UnitZ(), gap(v),
                              make_key(FeatureKind::vertex_b, 0, v)});
      merge.end_patch(face(v), 0, x, x, x, false);
    }
    merge_patches(merge, {4, std::cos(std::numbers::pi / 18), margin_, tol_}, manifold);
  }

 private:
  double gap(int v) const { return b_.p_W.z() + n_.dot(x_[at(v)]); }
  std::vector<int> within(double limit) const {
    std::vector<int> found;
    for (int v = 0; v < static_cast<int>(x_.size()); ++v) {
      if (gap(v) <= limit) found.push_back(v);
    }
    return found;
  }
  int support(const Vec3& l) const {
    return *std::max_element(far_.begin(), far_.end(),
                             [&](int v, int w) { return l.dot(x_[at(v)]) < l.dot(x_[at(w)]); });
  }

  std::vector<int> candidates() const {
    constexpr std::size_t most = 64;
    std::vector<int> found = within(margin_);
    if (found.size() <= most) return found;
    const double deepest = gap(lowest_);
    double span = tol_;
    found = within(deepest + span);
    const bool level = found.size() > most;
    while (!level && found.size() < 16) {
      const std::vector<int> more = within(deepest + (span *= 4));
      if (more.size() > most) break;
      found = more;
    }
    if (level) found.clear();
    bool has_lowest = !level;
    for (int k = 0; k < 8; k += level ? 1 : 2) {
      has_lowest = add_outline(k, level ? deepest + tol_ : kInf, found) || has_lowest;
    }
    if (!has_lowest) found.push_back(lowest_);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }
  bool add_outline(int k, double limit, std::vector<int>& found) const {
    const double angle = (k + 0.3) * std::numbers::pi / 4;
    const Mat3 frame = contact_frame(n_);
    const Vec3 t = std::cos(angle) * frame.col(0) + std::sin(angle) * frame.col(1);
    bool outer = false;
    bool inner = limit == kInf;
    for (int i = 0; i <= 10; ++i) {
      const int v = support(std::pow(0.25, i) * t - n_);
      if (!outer && gap(v) <= margin_) found.push_back(v);
      outer = outer || gap(v) <= margin_;
      if (!inner && gap(v) <= limit) found.push_back(v);
      inner = inner || gap(v) <= limit;
    }
    return inner;
  }

  Vec3 face(int v) const {
    if (hull_ == nullptr) return -n_;
    double least = kInf;
    for (const int f : hull_->faces_of(v)) least = std::min(least, n_.dot(hull_->faces()[at(f)].normal));
    for (const int f : hull_->faces_of(v)) {
      if (n_.dot(hull_->faces()[at(f)].normal) <= least + 1e-3) return hull_->faces()[at(f)].normal;
    }
    return -n_;
  }

  PlacedShape b_;
  double margin_;
  double tol_;
  const ConvexHull* hull_;
  std::span<const Vec3> x_;
  std::vector<int> far_;  // the vertices to choose far ones from
  int lowest_;
  Vec3 n_;
};

// An icosphere with every vertex moved along its radius by up to `noise` of it.
Shape bumpy_sphere(int levels, double noise, Random& random) {
  Surface s = scene::icosphere(kRadius, levels, false);
  for (Vec3& x : s.v) x *= 1 + noise * random.uniform(-1, 1);
  return s.shape();
}

// The same points in the same order, whether few or many vertices are within the margin.
TEST(LargeMesh, OnAPlaneFindsWhatLookingAtEveryVertexFinds) {
  Random random(23);
  std::vector<Shape> meshes = {cube(12), sphere(3), sphere(fine(6))};
  for (const double noise : {1e-6, 1e-4, 1e-2}) {
    for (const int levels : {2, 4, fine(6)}) meshes.push_back(bumpy_sphere(levels, noise, random));
  }
  meshes.push_back(fine_sphere());
  NarrowWorkspace workspace;
  Manifold found;
  Manifold expected;
  long many = 0;
  for (const Shape& mesh : meshes) {
    const int count = mesh.mesh->triangle_count() > 20'000 ? std::max(2, test::samples(20)) : test::samples(300);
    for (int n = 0; n < count; ++n) {
      PlacedShape b = resting(mesh, random.rotation());
      b.p_W.z() += random.integer(0, 2) == 0 ? 0 : random.uniform(-2e-3, 2e-3);
      const double margin = std::pow(10, random.uniform(-4, -1.5));
      workspace.mesh.work = {};
      collide(kPlane, b, margin, workspace, found);
      EveryVertex(b, margin).collide(expected);
      ASSERT_EQ(found.size(), expected.size()) << "sample " << n;
      many += workspace.mesh.work.vertices > 64;
      for (int k = 0; k < found.size(); ++k) {
        ASSERT_EQ(found[k].key, expected[k].key) << "sample " << n;
        ASSERT_NEAR(found[k].gap, expected[k].gap, 1e-12) << "sample " << n;
        ASSERT_LT((found[k].p - expected[k].p).norm(), 1e-12) << "sample " << n;
        ASSERT_EQ(found[k].n, Vec3::UnitZ()) << "sample " << n;
      }
    }
  }
  EXPECT_GT(many, test::samples(100));
}

TEST(LargeMesh, LooksAtFewTrianglesUnderAnything) {
  SARRUS_FULL_SIZE_ONLY();
  const int cells = 8 << fine(6);
  struct Pair {
    std::string name;
    Shape coarse;
    Shape fine;
    double top;
  };
  const std::vector<Pair> grounds = {{"sphere", sphere(fine(8) - 3), fine_sphere(), kRadius},
                                     {"sheet", sheet(cells / 4), sheet(2 * cells), 0}};
  for (const Pair& ground : grounds) {
    int k = 0;
    for (const Shape& body : bodies()) {
      for (const Quat& q : {Quat::Identity(), kTurned}) {
        const PlacedShape coarse = place(ground.coarse, {});
        const PlacedShape fine_one = place(ground.fine, {});
        const Work a = work_of(lowered(body, q, coarse, ground.top + 0.3), coarse);
        const Work b = work_of(lowered(body, q, fine_one, ground.top + 0.3), fine_one);
        expect_no_more(ground.name + "_" + std::to_string(k++), a, b, 500);
      }
    }
  }
}

// Thirty crests of the same height, each of which may touch.
TEST(LargeMesh, LooksAtFewTrianglesOfRipples) {
  SARRUS_FULL_SIZE_ONLY();
  const Shape ground = rippled_sheet(1024);
  const PlacedShape surface = place(ground, {});
  int k = 0;
  for (const Shape& shape : bodies()) {
    for (const Quat& q : {Quat::Identity(), kTurned}) {
      const PlacedShape body = lowered(shape, q, surface, 0.3);
      std::vector<int> below;
      ground.mesh->find_triangles({body.p_W - Vec3(0.1, 0.1, 1), body.p_W + Vec3(0.1, 0.1, 1)}, below);
      const Work w = work_of(body, surface);
      EXPECT_FALSE(w.manifold.empty()) << k;
      EXPECT_LE(w.total(), 0.25 * static_cast<double>(below.size()) + 500) << k;
      ++k;
    }
  }
}

// A wide ground is not near every triangle because its box in the axes of the mesh is.
TEST(LargeMesh, LooksAtFewTrianglesOfAMovingMeshOnAWideGround) {
  SARRUS_FULL_SIZE_ONLY();
  const Shape coarse = sphere(fine(8) - 3);
  const Shape& ball = fine_sphere();
  const PlacedShape ground = place(Shape::box({5, 5, 0.5}), {Vec3(0, 0, -0.5)});
  for (const Quat& q : {Quat::Identity(), kTurned}) {
    const Work a = work_of(ground, resting(coarse, q));
    const Work b = work_of(ground, resting(ball, q));
    expect_no_more("ground", a, b, 500);
    EXPECT_NEAR(b.gap(), -1e-5, 1e-9);
    EXPECT_NEAR(work_of(resting(ball, q), ground).gap(), b.gap(), 0) << "in either order";
  }
}

// A cube with crowned sides, nearly level where they touch.
Shape crowned_cube(int cells) {
  Surface s;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-1.0, 1.0}) {
      const int first = static_cast<int>(s.v.size());
      for (int j = 0; j <= cells; ++j) {
        for (int i = 0; i <= cells; ++i) {
          Vec3 x;
          x[axis] = side * kRadius;
          x[(axis + 1) % 3] = side * kRadius * (2.0 * i / cells - 1);
          x[(axis + 2) % 3] = kRadius * (2.0 * j / cells - 1);
          const Vec3 crown = 4e-4 * (Vec3::Ones() - (x / kRadius).cwiseAbs2());
          s.add(x + crown.sum() * x / kRadius);
        }
      }
      for (int j = 0; j < cells; ++j) {
        for (int i = 0; i < cells; ++i) {
          const int a = first + j * (cells + 1) + i;
          s.t.push_back({a, a + 1, a + cells + 2});
          s.t.push_back({a, a + cells + 2, a + cells + 1});
        }
      }
    }
  }
  return s.shape();
}

// However many triangles may touch, a box is no more than the plane of its face for a mesh that lies within that.
TEST(LargeMesh, AWideBoxIsAPlane) {
  Random random(31);
  const std::vector<Shape> meshes = {cube(fine(32)), crowned_cube(fine(32)), bumpy_sphere(5, 1e-4, random)};
  NarrowWorkspace workspace;
  workspace.mesh.many_triangles = workspace.mesh.many_on_face = 0;
  Manifold found;
  Manifold expected;
  for (const Shape& mesh : meshes) {
    for (int face = 0; face < 6; ++face) {
      // The face looks up, and everything is turned with it.
      Vec3 n = Vec3::Zero();
      n[face / 2] = face % 2 == 0 ? 1 : -1;
      Vec3 half(2, 3, 4);
      const Quat up = Quat::FromTwoVectors(n, Vec3::UnitZ());
      const Quat turned = random.rotation();
      const PlacedShape b = resting(mesh, Quat::Identity());
      const Vec3 p_B = turned * b.p_W;
      const PlacedShape placed = place(mesh, {p_B, turned});
      const PlacedShape plane = place(Shape::plane(), {Vec3::Zero(), turned});
      const PlacedShape box = place(Shape::box(half), {turned * Vec3(0, 0, -half[face / 2]), turned * up});
      workspace.mesh.work = {};
      collide(box, placed, kMargin, workspace, found);
      EXPECT_LT(workspace.mesh.work.triangles, 100) << face;
      collide(plane, placed, kMargin, workspace, expected);
      ASSERT_EQ(found.size(), expected.size()) << face;
      for (int k = 0; k < found.size(); ++k) {
        EXPECT_EQ(found[k].key, expected[k].key) << face;
        EXPECT_NEAR(found[k].gap, expected[k].gap, 1e-12) << face;
        EXPECT_LT((found[k].p - expected[k].p).norm(), 1e-12) << face;
        EXPECT_LT((found[k].n - expected[k].n).norm(), 1e-12) << face;
      }
      double deepest = kInf;
      for (const ManifoldPoint& point : found) deepest = std::min(deepest, point.gap);
      EXPECT_NEAR(deepest, -1e-5, 5e-6 * mesh.mesh->box().diagonal()) << face;
    }
  }
}

// Over an edge of the box it is no plane: nothing carries the mesh there.
TEST(LargeMesh, ABoxEndsAtItsEdges) {
  const Shape mesh = cube(fine(32));
  const PlacedShape box = place(Shape::box({1, 1, 0.5}), {Vec3(0, 0, -0.5)});
  PlacedShape b = resting(mesh, Quat::Identity());
  b.p_W.x() = 0.8;
  const Manifold found = work_of(box, b).manifold;
  ASSERT_FALSE(found.empty());
  for (const ManifoldPoint& point : found) EXPECT_LT(point.p.x(), 1 + 1e-6);
  b.p_W.x() = 1.6;
  EXPECT_TRUE(work_of(box, b).manifold.empty());
}

// Passing over parts changes no contact: with few triangles near a body all of them are looked at.
TEST(LargeMesh, FindsWhatLookingAtEverythingFinds) {
  Random random(17);
  const auto bumps = [](double x, double y) { return 0.05 * std::sin(5 * x) * std::sin(4 * y); };
  const auto rough = [&](double, double) { return 0.02 * random.uniform(-1, 1); };
  const auto bowl = [](double x, double y) { return 0.2 * (x * x + y * y); };
  const auto saddle = [](double x, double y) { return 0.2 * (x * x - y * y); };
  const std::vector<Shape> surfaces = {scene::grid(40, 40, 1, 1, 0.6, random, scene::flat).shape(),
                                       scene::grid(60, 60, 1, 1, 0.6, random, bumps).shape(),
                                       scene::grid(60, 60, 1, 1, 0.3, random, rough).shape(),
                                       scene::grid(60, 60, 1, 1, 0.3, random, bowl).shape(),
                                       scene::grid(60, 60, 1, 1, 0.3, random, saddle).shape(),
                                       scene::step(0.1, 1, 40).shape(),
                                       scene::roof(0.3, 1, 1, 40).shape(),
                                       scene::roof(-0.3, 1, 1, 40).shape(),
                                       sphere(4),
                                       scene::icosphere(1, 5, true).shape(),
                                       cube(12)};
  NarrowWorkspace quick;
  NarrowWorkspace thorough;
  quick.mesh.many_triangles = 0;
  thorough.mesh.many_triangles = std::numeric_limits<std::size_t>::max();
  Manifold found;
  Manifold expected;
  long touching = 0;
  for (int n = 0; n < test::samples(20'000); ++n) {
    const Shape& surface = surfaces[at(random.integer(0, static_cast<int>(surfaces.size()) - 1))];
    Shape body = random.shape(static_cast<ShapeKind>(random.integer(1, 6)));
    if (random.integer(0, 3) == 0) body = bodies()[5];
    const PlacedShape ground = place(surface, {random.vector(1), random.rotation()});
    // Over a triangle, with its lowest point near it, and level with it in every other case.
    const int t = random.integer(0, surface.mesh->triangle_count() - 1);
    const Vec3 n_G = surface.mesh->normal(t);
    const Vec3 x_G = surface.mesh->corner(t, 0);
    const Quat level = Quat::FromTwoVectors(Vec3::UnitZ(), ground.R_WG * n_G);
    const bool aligned = random.integer(0, 1) == 0;
    PlacedShape placed = place(body, {Vec3::Zero(), aligned ? level : random.rotation()});
    const Convex convex = convex_of(placed, Vec3::Zero());
    const Vec3 n_W = ground.R_WG * n_G;
    const double gap = random.integer(0, 2) == 0 ? -1e-5 : random.uniform(-5e-3, 3e-3);
    placed.p_W = ground.p_W + ground.R_WG * x_G + gap * n_W - convex.support(-n_W);
    const double margin = std::pow(10, random.uniform(-4, -2));
    collide(placed, ground, margin, quick, found);
    collide(placed, ground, margin, thorough, expected);
    ASSERT_EQ(found.size(), expected.size()) << "sample " << n;
    touching += expected.size() > 0;
    for (int k = 0; k < found.size(); ++k) {
      ASSERT_EQ(found[k].key, expected[k].key) << "sample " << n;
      ASSERT_NEAR(found[k].gap, expected[k].gap, 1e-12) << "sample " << n;
      ASSERT_LT((found[k].p - expected[k].p).norm(), 1e-9) << "sample " << n;
    }
  }
  EXPECT_GT(touching, test::samples(5'000));
  EXPECT_LT(quick.mesh.work.triangles, thorough.mesh.work.triangles);
}

// The box of a tilted plate in the axes of the mesh holds the mesh, from which the plate itself is 50 mm away.
TEST(LargeMesh, APlateThatIsAwayTouchesNothing) {
  Random random(3);
  const Shape mesh = sphere(5);
  const PlacedShape ball = place(mesh, {});
  for (int n = 0; n < test::samples(2000); ++n) {
    const Quat q = random.rotation();
    const Vec3 p = q * Vec3(random.uniform(-1, 1), random.uniform(-1, 1), kRadius + 0.2 + 0.05);
    const Work w = work_of(place(Shape::box({2, 2, 0.2}), {p, q}), ball);
    ASSERT_TRUE(w.manifold.empty()) << "sample " << n << ", gap " << w.gap();
  }
}

// A smooth mesh of a million triangles has a hull of far vertices for what needs one, and all of them for a plane.
TEST(LargeMesh, HullsOfSmoothMeshesAreThinnedOut) {
  SARRUS_FULL_SIZE_ONLY();
  const Shape& ball = fine_sphere();
  ASSERT_NE(ball.mesh->hull(), nullptr);
  EXPECT_FALSE(ball.mesh->hull_is_whole());
  EXPECT_LE(ball.mesh->hull()->vertex_count(), kMaxHullVertices);
  EXPECT_GT(ball.mesh->hull()->vertex_count(), kMaxHullVertices / 2);
  EXPECT_GT(ball.mesh->hull()->inner_radius(), (1 - 1e-4) * kRadius);
  for (const Quat& q : {Quat::Identity(), kTurned}) {
    EXPECT_NEAR(work_of(resting(ball, q), place(sheet(20), {Vec3(0.1, 0.2, 0)})).gap(), -1e-5, 5e-5 * kRadius);
  }
}

TEST(LargeMesh, DetectionAllocatesNothingOnceWarm) {
  for (const Shape& mesh : {sphere(5), sheet(100), cube(40)}) {
    ModelBuilder b("mesh");
    b.add_floor();
    b.add_geom(kWorld, Shape::box({5, 5, 0.5}), {Vec3(0, 0, -0.501)});
    const int body = b.add_body("body", 1, Mat3::Identity(), {Vec3(0, 0, 1)});
    b.add_geom(body, mesh);
    CollisionDetector detector(b.build());
    std::vector<Contact> contacts;
    const auto detect = [&](Random& random) {
      const Quat q = so3_exp(random.vector(0.01));
      const Pose X = {resting(mesh, q).p_W, q};
      Vec6 twist;
      twist << random.vector(1), random.vector(1);
      detector.detect({&X, 1}, {&twist, 1}, 1e-3, contacts);
      EXPECT_FALSE(contacts.empty());
    };
    const auto detect_often = [&] {
      Random random(1);
      for (int i = 0; i < 20; ++i) detect(random);
    };
    detect_often();
    EXPECT_EQ(test::allocations_of(detect_often), 0);
  }
}

}  // namespace
}  // namespace sarrus::large_mesh_test
