// Facts every built-in scene must have: it builds, its joints are closed, nothing overlaps, and the numbers
// promised in its comment are the numbers in the model.
#include "sarrus/scenes/scenes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <string>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus::scenes_test {
namespace {

Pose world_pose(const Model& model, int body) {
  return body == kWorld ? Pose{} : model.bodies()[static_cast<std::size_t>(body)].X_WB0;
}

Pose geom_pose(const Model& model, const Geom& g) { return world_pose(model, g.body) * g.X_BG; }

bool can_collide(const Geom& a, const Geom& b) { return (a.group & b.collides_with) || (b.group & a.collides_with); }

// Lowest value of n . x over a shape, n a unit vector of the world; infinite for the ground.
double lowest_along(const Shape& shape, const Pose& X, const Vec3& n) {
  const Vec3 l = X.q.conjugate() * n;
  const Vec3& size = shape.size;
  double reach = 0;  // how far the shape extends from its origin along -n
  const auto add_points = [&](const auto& points) {
    reach = -kInf;
    for (const Vec3& p : points) reach = std::max(reach, -l.dot(p));
  };
  switch (shape.kind) {
    case ShapeKind::plane:
    case ShapeKind::height_field:
      return kInf;
    case ShapeKind::sphere:
      reach = size[0];
      break;
    case ShapeKind::capsule:
      reach = size[0] + std::abs(l.z()) * size[1];
      break;
    case ShapeKind::box:
      reach = l.cwiseAbs().dot(size);
      break;
    case ShapeKind::cylinder:
      reach = std::abs(l.z()) * size[1] + size[0] * l.head<2>().norm();
      break;
    case ShapeKind::ellipsoid:
      reach = l.cwiseProduct(size).norm();
      break;
    case ShapeKind::hull:
      add_points(shape.hull->vertices());
      break;
    case ShapeKind::mesh:
      add_points(shape.mesh->vertices());
      break;
    case ShapeKind::compound: {
      double lowest = kInf;
      for (const CompoundChild& c : *shape.children) lowest = std::min(lowest, lowest_along(c.shape, X * c.X_SC, n));
      return lowest;
    }
  }
  return n.dot(X.p) - reach;
}

double lowest_along(const Model& model, const Geom& g, const Vec3& n) {
  return lowest_along(g.shape, geom_pose(model, g), n);
}

// Clearance of two boxes by the separating axes of their faces; enough for the boxes of these scenes.
double box_clearance(const Model& model, const Geom& a, const Geom& b) {
  const Pose A = geom_pose(model, a);
  const Pose B = geom_pose(model, b);
  double best = -kInf;
  for (const Mat3& R : {A.R(), B.R()}) {
    for (int k = 0; k < 3; ++k) {
      const Vec3 n = R.col(k);
      const double reach_a = (A.q.conjugate() * n).cwiseAbs().dot(a.shape.size);
      const double reach_b = (B.q.conjugate() * n).cwiseAbs().dot(b.shape.size);
      best = std::max(best, std::abs(n.dot(B.p - A.p)) - reach_a - reach_b);
    }
  }
  return best;
}

double sphere_clearance(const Model& model, const Geom& sphere, const Geom& other) {
  const Vec3 x = geom_pose(model, other).inverse() * geom_pose(model, sphere).p;
  const double r = sphere.shape.size[0];
  if (other.shape.kind == ShapeKind::sphere) return x.norm() - r - other.shape.size[0];
  return (x.cwiseAbs() - other.shape.size).cwiseMax(0.0).norm() - r;
}

bool joined(const Model& model, int a, int b) {
  return std::ranges::any_of(model.joints(), [&](const Joint& j) {
    return (j.base == a && j.follower == b) || (j.base == b && j.follower == a);
  });
}

bool excluded(const Model& model, int a, int b) {
  const BodyPair pair{std::min(a, b), std::max(a, b)};
  return std::ranges::find(model.excludes(), pair) != model.excludes().end();
}

class EveryScene : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Scenes, EveryScene, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const SceneInfo& s : scene_registry()) names.emplace_back(s.name);
                           return names;
                         }()),
                         [](const ::testing::TestParamInfo<std::string>& param) { return param.param; });

TEST_P(EveryScene, BuildsUnderItsName) {
  EXPECT_TRUE(is_builtin_scene(GetParam()));
  const Model model = make_scene(GetParam());
  EXPECT_EQ(model.name(), GetParam());
  EXPECT_FALSE(model.description().empty());
  EXPECT_GT(model.body_count(), 0);
  EXPECT_LE(model.defaults().dt, 0.02);
}

TEST_P(EveryScene, JointsAreClosedAtTheReferencePose) {
  const Model model = make_scene(GetParam());
  for (const Joint& j : model.joints()) {
    const Pose X_WB = world_pose(model, j.base) * Pose{j.p_BJ, j.q_BJ};
    const Pose X_WF = world_pose(model, j.follower) * Pose{j.p_FJ, j.q_FJ};
    EXPECT_LT((X_WF.p - X_WB.p).norm(), 1e-12) << j.name;
    EXPECT_LT(so3_log(X_WB.q.conjugate() * X_WF.q).norm(), 1e-12) << j.name;
  }
}

// Beyond the 1e-5 m of penetration that contacts tolerate by default.
TEST_P(EveryScene, NothingIsBelowAPlane) {
  const Model model = make_scene(GetParam());
  for (const Geom& plane : model.geoms()) {
    if (plane.shape.kind != ShapeKind::plane) continue;
    const Vec3 n = plane.X_BG.q * Vec3::UnitZ();
    for (const Geom& g : model.geoms()) {
      if (g.body == kWorld || !can_collide(plane, g)) continue;
      EXPECT_GT(lowest_along(model, g, n) - n.dot(plane.X_BG.p), -1.001e-5) << g.name;
    }
  }
}

// Spheres and boxes by formulas of their own; analyse() looks at all pairs with the engine's collision detection.
TEST_P(EveryScene, NoCollidingGeomsOverlap) {
  const Model model = make_scene(GetParam());
  const auto& geoms = model.geoms();
  for (std::size_t i = 0; i < geoms.size(); ++i) {
    for (std::size_t k = i + 1; k < geoms.size(); ++k) {
      const Geom& a = geoms[i];
      const Geom& b = geoms[k];
      const auto has_formula = [](const Geom& g) {
        return g.shape.kind == ShapeKind::sphere || g.shape.kind == ShapeKind::capsule ||
               g.shape.kind == ShapeKind::box;
      };
      if (a.body == b.body || !has_formula(a) || !has_formula(b)) continue;
      if (!can_collide(a, b) || joined(model, a.body, b.body) || excluded(model, a.body, b.body)) continue;
      double clearance = 0;
      if (a.shape.kind == ShapeKind::sphere) {
        clearance = sphere_clearance(model, a, b);
      } else if (b.shape.kind == ShapeKind::sphere) {
        clearance = sphere_clearance(model, b, a);
      } else {
        clearance = box_clearance(model, a, b);
      }
      EXPECT_GT(clearance, -1e-6) << a.name << " and " << b.name;
    }
  }
}

TEST_P(EveryScene, DriveTargetsStartAtTheReferencePose) {
  const Model model = make_scene(GetParam());
  for (const Dof& d : model.dofs()) {
    if (d.drive.mode != DriveMode::position) continue;
    EXPECT_NEAR(d.drive.target.value(0), 0, 1e-15);
  }
}

// Initial velocities must satisfy the joints, or the first step would start with an impulse.
TEST_P(EveryScene, InitialVelocitiesRespectAnchors) {
  const Model model = make_scene(GetParam());
  for (const Joint& j : model.joints()) {
    const auto point_velocity = [&](int body, const Vec3& p) -> Vec3 {
      if (body == kWorld) return Vec3::Zero();
      const Body& b = model.bodies()[static_cast<std::size_t>(body)];
      return b.v0_W + b.w0_W.cross(b.X_WB0.q * p);
    };
    EXPECT_LT((point_velocity(j.follower, j.p_FJ) - point_velocity(j.base, j.p_BJ)).norm(), 1e-12) << j.name;
  }
}

TEST(Scenes, UnknownNameSuggestsTheNearest) {
  EXPECT_FALSE(is_builtin_scene("jansen_walkers"));
  try {
    make_scene("jansen_walkers");
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("jansen_walker'"), std::string::npos) << e.what();
  }
}

TEST(Scenes, BodyAndJointCounts) {
  const std::map<std::string, std::pair<int, int>> expected = {{"box_on_plane", {1, 0}},
                                                               {"boxes_fixed", {2, 1}},
                                                               {"nunchuk", {3, 2}},
                                                               {"fourbar_fixed", {4, 5}},
                                                               {"fourbar_free", {4, 4}},
                                                               {"free_body", {1, 0}},
                                                               {"spinning_top", {1, 1}},
                                                               {"arm7d", {8, 8}},
                                                               {"quadruped", {13, 12}},
                                                               {"bdx_like", {15, 14}},
                                                               {"lima_like", {21, 20}},
                                                               {"misha_like", {22, 24}},
                                                               {"walker_like", {31, 36}},
                                                               {"gazelle_like", {38, 45}},
                                                               {"ironman_like", {54, 67}},
                                                               {"fourbar_swing", {3, 4}},
                                                               {"fourbar_parallelogram", {4, 5}},
                                                               {"double_pendulum", {2, 2}},
                                                               {"slider_crank", {3, 4}},
                                                               {"bennett_linkage", {3, 4}},
                                                               {"sarrus_linkage", {6, 7}},
                                                               {"stewart_platform", {13, 18}},
                                                               {"jansen_walker", {50, 73}},
                                                               {"jansen_swarm20", {1000, 1460}},
                                                               {"delta_robot", {11, 15}},
                                                               {"fivebar_leg", {17, 20}},
                                                               {"slip_control", {3, 2}},
                                                               {"ring20", {20, 20}},
                                                               {"ring20_tilted", {20, 20}},
                                                               {"stack15", {15, 0}},
                                                               {"stack15_equal", {15, 0}},
                                                               {"box_wall", {16, 0}},
                                                               {"clutter40", {40, 0}},
                                                               {"sphere_stack", {20, 0}},
                                                               {"incline", {4, 0}},
                                                               {"mixed_pile", {36, 0}},
                                                               {"cylinder_rolling", {4, 0}},
                                                               {"ellipsoid_rolling", {3, 0}},
                                                               {"mesh_floor", {4, 0}},
                                                               {"height_field", {5, 0}},
                                                               {"hull_gears", {2, 2}},
                                                               {"dominoes", {50, 0}},
                                                               {"spring_cylinder", {1, 1}},
                                                               {"spring_cylinder_smooth", {1, 1}},
                                                               {"clutter40_soft", {40, 0}},
                                                               {"clutter40_soft_open", {40, 0}},
                                                               {"pendulum_stop", {1, 1}},
                                                               {"foundation_cube", {1, 0}},
                                                               {"incline_hertz", {4, 0}},
                                                               {"sphere_stack100", {100, 0}},
                                                               {"log_grasp", {14, 16}},
                                                               {"winch", {51, 51}},
                                                               {"closed_loop_drop", {20, 20}},
                                                               {"brick_wall", {30, 0}}};
  EXPECT_EQ(scene_registry().size(), expected.size());
  for (const auto& [name, counts] : expected) {
    const Model model = make_scene(name);
    EXPECT_EQ(model.body_count(), counts.first) << name;
    EXPECT_EQ(model.joint_count(), counts.second) << name;
  }
}

double mass_of(const Model& model, std::string_view body) {
  return model.bodies()[static_cast<std::size_t>(model.body(body))].mass;
}

TEST(Scenes, MassRatios) {
  EXPECT_DOUBLE_EQ(mass_of(make_scene("boxes_fixed"), "top") / mass_of(make_scene("boxes_fixed"), "bottom"), 1000);
  const Model stack = make_scene("stack15");
  EXPECT_DOUBLE_EQ(mass_of(stack, "cube01"), 1);
  EXPECT_NEAR(mass_of(stack, "cube15"), 1e4, 1e-8);
  EXPECT_NEAR(mass_of(stack, "cube08"), 1e2, 1e-10);
  for (const Body& b : make_scene("stack15_equal").bodies()) EXPECT_DOUBLE_EQ(b.mass, 1);
  const Model wall = make_scene("box_wall");
  EXPECT_DOUBLE_EQ(mass_of(wall, "cube_1_5"), 1);
  EXPECT_DOUBLE_EQ(mass_of(wall, "cube_5_1"), 1e4);
  EXPECT_DOUBLE_EQ(mass_of(wall, "ball"), 1e3);
}

TEST(Scenes, StacksStartWithoutGaps) {
  for (const char* name : {"stack15", "stack15_equal", "sphere_stack"}) {
    const Model model = make_scene(name);
    double below = 0;
    for (const Geom& g : model.geoms()) {
      if (g.body == kWorld) continue;
      EXPECT_NEAR(lowest_along(model, g, Vec3::UnitZ()), below, 1e-14) << name;
      below = -lowest_along(model, g, -Vec3::UnitZ());
    }
  }
}

TEST(Scenes, WallHasEachUpperCubeOnTwoLowerOnes) {
  const Model wall = make_scene("box_wall");
  int pairs = 0;
  for (const Body& a : wall.bodies()) {
    for (const Body& b : wall.bodies()) {
      const Vec3 d = b.X_WB0.p - a.X_WB0.p;
      if (std::abs(d.z() - 0.2) < 1e-12 && std::abs(d.x()) < 0.2 && std::abs(d.y()) < 1e-12) ++pairs;
    }
  }
  EXPECT_EQ(pairs, 20);
}

TEST(Scenes, BrickWallCourses) {
  const Model wall = make_scene("brick_wall");
  std::map<int, int> bricks;  // by course
  for (const Body& b : wall.bodies()) {
    const double course = (b.X_WB0.p.z() - 0.05) / 0.1;
    EXPECT_NEAR(course, std::round(course), 1e-12) << b.name;
    ++bricks[static_cast<int>(std::lround(course))];
    EXPECT_EQ(b.mass, 10) << b.name;
  }
  ASSERT_EQ(bricks.size(), 12u);
  for (const auto& [course, count] : bricks) EXPECT_EQ(count, course % 2 == 0 ? 3 : 2) << course;
}

TEST(Scenes, LogGraspHasTheJointsOfThePaper) {
  const Model model = make_scene("log_grasp");
  std::map<JointType, int> joints;
  for (const Joint& j : model.joints()) ++joints[j.type];
  EXPECT_EQ(joints, (std::map<JointType, int>{
                        {JointType::revolute, 12}, {JointType::prismatic, 2}, {JointType::cylindrical, 2}}));
  EXPECT_DOUBLE_EQ(mass_of(model, "log"), 200);
}

TEST(Scenes, RingHingesSitMidwayBetweenVerticalCubes) {
  for (const char* name : {"ring20", "ring20_tilted", "closed_loop_drop"}) {
    const Model model = make_scene(name);
    for (const Joint& j : model.joints()) {
      const Pose base = world_pose(model, j.base);
      const Pose follower = world_pose(model, j.follower);
      EXPECT_LT((base * j.p_BJ - 0.5 * (base.p + follower.p)).norm(), 1e-12);
      EXPECT_GT((base.q * Vec3::UnitZ()).dot(base.q * (j.q_BJ * Vec3::UnitX())), 1 - 1e-12);
    }
    double lowest = kInf;
    for (const Geom& g : model.geoms()) {
      if (g.body != kWorld) lowest = std::min(lowest, lowest_along(model, g, Vec3::UnitZ()));
    }
    EXPECT_NEAR(lowest, 0.2, 1e-12);
  }
}

TEST(Scenes, ClutterIsTwentyOfEach) {
  const Model model = make_scene("clutter40");
  int spheres = 0;
  for (const Geom& g : model.geoms()) {
    if (g.body == kWorld) continue;
    const double mass = model.bodies()[static_cast<std::size_t>(g.body)].mass;
    if (g.shape.kind == ShapeKind::sphere) {
      ++spheres;
      EXPECT_NEAR(mass, 0.524, 1e-3);
    } else {
      EXPECT_NEAR(mass, 1.0, 1e-12);
    }
  }
  EXPECT_EQ(spheres, 20);
}

TEST(Scenes, InclineHasTheFourPairFrictions) {
  const Model model = make_scene("incline");
  std::set<double> mus;
  for (const MaterialPair& p : model.material_pairs()) mus.insert(p.mu);
  EXPECT_EQ(mus, (std::set<double>{0, 0.125, 0.25, 0.375}));
  const Vec3 n = model.geoms()[0].X_BG.q * Vec3::UnitZ();
  EXPECT_NEAR(n.z(), std::cos(std::numbers::pi / 12), 1e-15);
  EXPECT_GT(n.x(), 0);  // downhill is +x
  for (const Geom& g : model.geoms()) {
    if (g.body == kWorld) continue;
    EXPECT_NEAR(lowest_along(model, g, n), -1e-5, 1e-15);  // the tolerated penetration
  }
}

// Steady precession: with the acceleration of that motion, the moment about the tip equals gravity's.
TEST(Scenes, SpinningTopStartsInSteadyPrecession) {
  const Model model = make_scene("spinning_top");
  const Body& top = model.bodies()[0];
  const Mat3 R = top.X_WB0.R();
  const Vec3 axis = R.col(2);
  const double rate = top.v0_W.norm() / std::hypot(top.X_WB0.p.x(), top.X_WB0.p.y());
  const Vec3 precession = rate * Vec3::UnitZ();
  const Vec3 momentum = R * top.inertia_B * R.transpose() * top.w0_W + top.mass * top.X_WB0.p.cross(top.v0_W);
  const Vec3 moment = top.X_WB0.p.cross(top.mass * model.gravity());
  EXPECT_LT((precession.cross(momentum) - moment).norm(), 1e-12);
  EXPECT_NEAR(top.w0_W.dot(axis), 100, 1e-10);
}

TEST(Scenes, FreeBodySpinsAboutItsMiddleAxis) {
  const Model model = make_scene("free_body");
  const Body& box = model.bodies()[0];
  EXPECT_EQ(model.gravity(), Vec3::Zero());
  EXPECT_LT(box.inertia_B(0, 0), 0.8 * box.inertia_B(1, 1));
  EXPECT_LT(box.inertia_B(1, 1), 0.9 * box.inertia_B(2, 2));
  EXPECT_GT(box.w0_W.y(), 0.99 * box.w0_W.norm());
}

}  // namespace
}  // namespace sarrus::scenes_test
