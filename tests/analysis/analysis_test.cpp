// What analyse() tells about the built-in scenes, and that its warnings come when they should and only then.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "io/shape_test_data.h"
#include "sarrus/analysis/analysis.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/scenes/scalable.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::analysis_test {
namespace {

bool warns(const ModelAnalysis& a, const std::string& text) {
  return std::any_of(a.warnings.begin(), a.warnings.end(),
                     [&](const std::string& w) { return w.find(text) != std::string::npos; });
}

struct Expected {
  const char* scene;
  int bodies, joints, loops, floating, rows, rank, mobility;
};

TEST(Analysis, RanksAndMobilitiesOfTheScenes) {
  const std::vector<Expected> expected = {
      {"fourbar_fixed", 4, 5, 1, 0, 26, 23, 1},      {"fourbar_free", 4, 4, 1, 1, 20, 17, 7},
      {"fourbar_swing", 3, 4, 1, 0, 20, 17, 1},      {"bennett_linkage", 3, 4, 1, 0, 20, 17, 1},
      {"slider_crank", 3, 4, 1, 0, 20, 17, 1},       {"sarrus_linkage", 6, 7, 1, 0, 36, 35, 1},
      {"stewart_platform", 13, 18, 5, 0, 72, 72, 6}, {"ring20", 20, 20, 1, 1, 100, 97, 23},
      {"ring20_tilted", 20, 20, 1, 1, 100, 97, 23},  {"double_pendulum", 2, 2, 0, 0, 10, 10, 2},
      {"boxes_fixed", 2, 1, 0, 1, 6, 6, 6},          {"nunchuk", 3, 2, 0, 1, 6, 6, 12},
      {"spinning_top", 1, 1, 0, 0, 3, 3, 3},         {"free_body", 1, 0, 0, 1, 0, 0, 6},
      {"stack15", 15, 0, 0, 15, 0, 0, 90},
  };
  for (const Expected& e : expected) {
    const ModelAnalysis a = analyse(make_scene(e.scene));
    EXPECT_EQ(a.bodies, e.bodies) << e.scene;
    EXPECT_EQ(a.joints, e.joints) << e.scene;
    EXPECT_EQ(a.loops, e.loops) << e.scene;
    EXPECT_EQ(a.floating_components, e.floating) << e.scene;
    EXPECT_EQ(a.rows, e.rows) << e.scene;
    EXPECT_EQ(a.rank, e.rank) << e.scene;
    EXPECT_EQ(a.mobility, e.mobility) << e.scene;
    EXPECT_EQ(a.redundant_rows, e.rows - e.rank) << e.scene;
    EXPECT_EQ(a.velocity_dofs, 6 * e.bodies) << e.scene;
    EXPECT_LT(a.joint_gap, 1e-12) << e.scene;
    EXPECT_LT(a.joint_angle, 1e-12) << e.scene;
    EXPECT_EQ(warns(a, "redundant"), e.rows > e.rank) << e.scene;
    EXPECT_FALSE(warns(a, "cannot move")) << e.scene;
    EXPECT_FALSE(warns(a, "do not meet")) << e.scene;
  }
}

// The walker: a rigid body in space and one crank.
TEST(Analysis, JansenWalker) {
  const Model model = make_scene("jansen_walker");
  const ModelAnalysis a = analyse(model);
  EXPECT_EQ(a.mobility, 7);
  EXPECT_EQ(a.floating_components, 1);
  EXPECT_EQ(a.loops, a.joints - (a.bodies - 1));
  EXPECT_EQ(a.rank, 6 * a.bodies - 7);
  EXPECT_EQ(a.rows, a.rank + a.redundant_rows);
  EXPECT_GT(a.redundant_rows, 50);  // planar loops: three each
}

// Ranks of separate mechanisms add up.
TEST(Analysis, TwentyWalkersHaveTwentyTimesTheRank) {
  const ModelAnalysis one = analyse(make_scene("jansen_walker"));
  const ModelAnalysis swarm = analyse(make_scene("jansen_swarm20"));
  EXPECT_EQ(swarm.bodies, 20 * one.bodies);
  EXPECT_EQ(swarm.rows, 20 * one.rows);
  EXPECT_EQ(swarm.rank, 20 * one.rank);
  EXPECT_EQ(swarm.mobility, 20 * one.mobility);
  EXPECT_EQ(swarm.floating_components, 20);
}

// Whose rank would take minutes and a GB.
TEST(Analysis, OfALargeGridLeavesOutItsRankAndSaysSo) {
  const ModelAnalysis a = analyse(make_linkage_grid(800));
  EXPECT_GT(a.rows, static_cast<int>(kMostRankRows));
  EXPECT_EQ(a.rank, -1);
  EXPECT_EQ(a.mobility, -1);
  EXPECT_EQ(a.redundant_rows, -1);
  EXPECT_TRUE(warns(a, "rank and mobility are not computed"));
  const ModelAnalysis small = analyse(make_linkage_grid(100));
  EXPECT_GT(small.rank, 0);
  EXPECT_FALSE(warns(small, "rank and mobility are not computed"));
}

TEST(Analysis, EverySceneIsAnalysedWithoutBadNumbers) {
  for (const SceneInfo& s : scene_registry()) {
    const ModelAnalysis a = analyse(s.make());
    if (a.rows <= 1500) {
      EXPECT_TRUE(std::isfinite(a.condition) && a.condition >= 1) << s.name;
    }
    EXPECT_GE(a.mobility, 1) << s.name;
    EXPECT_LE(a.initial_penetration, 1e-4) << s.name;
    EXPECT_FALSE(warns(a, "overlap")) << s.name;
    EXPECT_FALSE(warns(a, "outside its limits")) << s.name;
    EXPECT_FALSE(warns(a, "neither a joint nor a shape")) << s.name;
    EXPECT_FALSE(warns(a, "looks like")) << s.name;
  }
}

TEST(Analysis, MassRatio) {
  EXPECT_NEAR(analyse(make_scene("boxes_fixed")).mass_ratio, 1000, 1e-9);
  EXPECT_NEAR(analyse(make_scene("stack15")).mass_ratio, 1e4, 1e-6);
  EXPECT_EQ(analyse(make_scene("stack15_equal")).mass_ratio, 1);
  EXPECT_TRUE(warns(analyse(make_scene("boxes_fixed")), "mass ratio 1000"));
  EXPECT_FALSE(warns(analyse(make_scene("stack15_equal")), "mass ratio"));
}

TEST(Analysis, CountsDrivesLimitsAndCoordinates) {
  const ModelAnalysis stewart = analyse(make_scene("stewart_platform"));
  EXPECT_EQ(stewart.drives, 6);
  EXPECT_EQ(analyse(make_scene("fourbar_fixed")).drives, 1);
  EXPECT_EQ(analyse(make_scene("fourbar_fixed")).coordinates, 4);
  ModelBuilder b("limits");
  b.add_sphere_body("a", 1, 0.1, {});
  b.add_sphere_body("b", 1, 0.1, {Vec3(1, 0, 0)});
  const int hinge = b.add_joint_at("hinge", JointType::revolute, kWorld, 0, Vec3::Zero());
  const int ball = b.add_joint_at("ball", JointType::spherical, 0, 1, Vec3::Zero());
  b.dof(hinge).limit.lower = -1;
  b.joint(ball).swing_limit = 1;
  const ModelAnalysis a = analyse(b.build());
  EXPECT_EQ(a.limits, 2);
  EXPECT_EQ(a.coordinates, 1);
}

// D of two point-like bodies on a rod: the condition number is known.
TEST(Analysis, ConditionOfADiagonalProblem) {
  ModelBuilder b("sliders");
  for (const double mass : {1.0, 50.0}) {
    const int body = b.add_body(mass > 1 ? "heavy" : "light", mass, Mat3::Identity() * mass, {});
    b.add_joint_at(mass > 1 ? "h" : "l", JointType::spherical, kWorld, body, Vec3::Zero());
  }
  const ModelAnalysis a = analyse(b.build());
  EXPECT_EQ(a.rank, 6);
  EXPECT_NEAR(a.condition, 50, 1e-9);
}

// --- warnings ----------------------------------------------------------------------------------------

TEST(AnalysisWarnings, OverlapAtTheStart) {
  for (const double depth : {0.0, 0.02}) {
    ModelBuilder b("ball");
    b.add_floor();
    b.add_sphere_body("ball", 1, 0.1, {Vec3(0, 0, 0.1 - depth)});
    const ModelAnalysis a = analyse(b.build());
    EXPECT_EQ(a.initial_contacts, 1);
    EXPECT_NEAR(a.initial_penetration, depth, 1e-12);
    EXPECT_EQ(warns(a, "overlap by up to 0.02 m"), depth > 0);
  }
}

TEST(AnalysisWarnings, LimitsViolatedAtTheStart) {
  for (const bool violated : {false, true}) {
    ModelBuilder b("slider");
    b.add_sphere_body("slider", 1, 0.1, {});
    const int slide = b.add_joint_at("rail", JointType::prismatic, kWorld, 0, Vec3::Zero());
    b.dof(slide).limit.lower = violated ? 0.1 : -0.1;
    b.dof(slide).limit.upper = 0.5;
    const ModelAnalysis a = analyse(b.build());
    EXPECT_EQ(warns(a, "coordinate 'rail.position' starts at 0, outside its limits [0.1, 0.5]"), violated);
    EXPECT_EQ(a.warnings.empty(), !violated);
  }
}

TEST(AnalysisWarnings, JointsThatDoNotMeet) {
  ModelBuilder b("gap");
  b.add_sphere_body("a", 1, 0.1, {});
  const int j = b.add_joint_at("ball", JointType::spherical, kWorld, 0, Vec3::Zero());
  b.joint(j).p_BJ.x() = 0.01;
  const ModelAnalysis a = analyse(b.build());
  EXPECT_NEAR(a.joint_gap, 0.01, 1e-15);
  EXPECT_TRUE(warns(a, "do not meet at the reference pose (0.01 m"));
}

// A loop of three bars on the world, the last of which is a tenth too short: named with its joints and bodies.
TEST(AnalysisWarnings, ALoopThatDoesNotMeetIsNamed) {
  ModelBuilder b("loop");
  b.add_sphere_body("left", 1, 0.1, {Vec3(0, 0, 1)});
  b.add_sphere_body("top", 1, 0.1, {Vec3(1, 0, 2)});
  b.add_sphere_body("right", 1, 0.1, {Vec3(2, 0, 1)});
  b.add_sphere_body("hook", 1, 0.1, {Vec3(5, 0, 1)});
  const Quat y = frame_with_x(Vec3::UnitY());
  b.add_joint_at("a", JointType::revolute, kWorld, 0, Vec3(0, 0, 0), y);
  b.add_joint_at("b", JointType::revolute, 0, 1, Vec3(0, 0, 2), y);
  b.add_joint_at("c", JointType::revolute, 1, 2, Vec3(2, 0, 2), y);
  const int d = b.add_joint_at("d", JointType::revolute, kWorld, 2, Vec3(2, 0, 0), y);
  b.add_joint_at("e", JointType::revolute, 2, 3, Vec3(5, 0, 1), y);
  b.joint(d).p_FJ.z() += 0.1;
  EXPECT_TRUE(warns(analyse(b.build()),
                    "most at joint 'd' in the loop of joints 'a', 'b', 'c', 'd' and bodies world, 'left', 'top', "
                    "'right')"));
}

TEST(AnalysisWarnings, AGimbalNextToItsLock) {
  for (const double angle : {0.0, 1.0, 1.54, 0.5 * std::numbers::pi}) {
    ModelBuilder b("gimbal");
    const int body = b.add_box_body("body", 1, Vec3(0.1, 0.1, 0.1), {});
    const int joint = b.add_joint_at("ankle", JointType::gimbal, kWorld, body, Vec3::Zero(), Quat::Identity());
    b.joint(joint).q_FJ = so3_exp(Vec3(0, angle, 0));
    EXPECT_EQ(warns(analyse(b.build()), "gimbal 'ankle' is next to its lock"), angle > 1.5) << angle;
  }
}

// --- units ---------------------------------------------------------------------------------------------

// A door with a hinge whose dof is changed.
template <class Change>
ModelAnalysis analyse_door(Change change) {
  ModelBuilder b("door");
  b.add_box_body("door", 20, Vec3(0.4, 0.02, 1), {Vec3(0.4, 0, 1)});
  const int hinge = b.add_joint_at("hinge", JointType::revolute, kWorld, 0, Vec3::Zero(), frame_with_x(Vec3::UnitZ()));
  b.add_box_body("bolt", 0.2, Vec3(0.1, 0.01, 0.01), {Vec3(0.9, 0, 1)});
  const int slide = b.add_joint_at("slide", JointType::prismatic, 0, 1, Vec3(0.9, 0, 1));
  b.exclude(0, 1);
  change(b, b.dof(hinge), b.dof(slide));
  return analyse(b.build());
}

TEST(AnalysisUnits, AnglesInDegrees) {
  constexpr auto look = "rad: looks like degrees; set \"angle_unit\": \"deg\"";
  for (const double x : {90.0, -45.0, 22.5, 180.0, 360.0}) {
    EXPECT_TRUE(warns(analyse_door([x](auto&, Dof& d, Dof&) { (x > 0 ? d.limit.upper : d.limit.lower) = x; }), look));
    EXPECT_TRUE(warns(analyse_door([x](auto&, Dof& d, Dof&) { d.stiffness = 1, d.rest = x; }), look));
    const auto servo = [x](double Signal::*part) {
      return [x, part](auto&, Dof& d, Dof&) {
        d.drive.mode = DriveMode::position;
        d.drive.kp = 1;
        d.drive.target.*part = x;
      };
    };
    EXPECT_TRUE(warns(analyse_door(servo(&Signal::offset)), look));
    EXPECT_TRUE(warns(analyse_door(servo(&Signal::amplitude)), look));
    EXPECT_FALSE(warns(analyse_door(servo(&Signal::rate)), "looks like"));
  }
  const auto limits = [](auto&, Dof& d, Dof&) { d.limit.lower = -90, d.limit.upper = 90; };
  EXPECT_TRUE(warns(analyse_door(limits), "the lower limit of 'hinge.angle' is -90 rad (and 1 more): looks like deg"));
  ModelBuilder b("ball");
  b.add_sphere_body("a", 1, 0.1, {});
  b.joint(b.add_joint_at("ball", JointType::spherical, kWorld, 0, Vec3::Zero())).swing_limit = 45;
  EXPECT_TRUE(warns(analyse(b.build()), "the swing limit of 'ball' is 45 rad: looks like degrees"));
  b.joint(0).swing_limit = 3.5;
  EXPECT_TRUE(warns(analyse(b.build()), "never reached"));
}

// Turns of a winch, fast motors, and lengths are no degrees.
TEST(AnalysisUnits, OtherNumbersAreNoDegrees) {
  const auto winch = [](auto&, Dof& d, Dof&) { d.limit.lower = 0, d.limit.upper = 20 * M_PI; };
  const auto two_turns = [](auto&, Dof& d, Dof&) { d.limit.lower = -6, d.limit.upper = 4 * M_PI; };
  const auto motor = [](auto&, Dof& d, Dof&) {
    d.drive.mode = DriveMode::velocity, d.drive.kd = 1, d.drive.target.offset = 300;
  };
  const auto torque = [](auto&, Dof& d, Dof&) { d.drive.mode = DriveMode::force, d.drive.target.offset = 45; };
  const auto long_slide = [](auto&, Dof&, Dof& d) { d.limit.upper = 90; };
  for (const ModelAnalysis& a : {analyse_door(winch), analyse_door(two_turns), analyse_door(motor),
                                 analyse_door(torque), analyse_door(long_slide)}) {
    EXPECT_FALSE(warns(a, "looks like")) << a.warnings.front();
  }
}

TEST(AnalysisUnits, RadiansReadAsDegrees) {
  const double unit = M_PI / 180;
  for (const double x : {1.5708, -0.7854, 3.1416, 6.2832}) {
    EXPECT_TRUE(warns(analyse_door([&](auto&, Dof& d, Dof&) { (x > 0 ? d.limit.upper : d.limit.lower) = x * unit; }),
                      "degrees: looks like radians; set \"angle_unit\": \"rad\""))
        << x;
  }
  for (const double x : {1.5, -0.8, 3.0, 6.0, 90.0}) {
    EXPECT_FALSE(warns(analyse_door([&](auto&, Dof& d, Dof&) { (x > 0 ? d.limit.upper : d.limit.lower) = x * unit; }),
                       "looks like"))
        << x;
  }
}

TEST(AnalysisUnits, LengthsInMillimetresAndMassesInGrams) {
  // A slider-crank of a few centimetres: lengths in units of `scale` m, masses in units of `unit` kg.
  const auto analyse_crank = [](double scale, double unit) {
    ModelBuilder b("crank");
    b.add_box_body("crank", 0.05 * unit, scale * Vec3(0.02, 0.005, 0.004), {scale * Vec3(0.02, 0, 0)});
    b.add_box_body("rod", 0.2 * unit, scale * Vec3(0.06, 0.005, 0.004), {scale * Vec3(0.1, 0, 0)});
    b.add_joint_at("a", JointType::revolute, kWorld, 0, Vec3::Zero());
    b.add_joint_at("b", JointType::revolute, 0, 1, scale * Vec3(0.04, 0, 0));
    return analyse(b.build());
  };
  EXPECT_FALSE(warns(analyse_crank(1, 1), "looks like"));
  EXPECT_TRUE(warns(analyse_crank(1000, 1), "body 'crank' of 0.05 kg reaches"));
  EXPECT_TRUE(warns(analyse_crank(1000, 1), "looks like millimetres; give metres"));
  EXPECT_TRUE(warns(analyse_crank(1, 1000), "body 'crank' of 50 kg has"));
  EXPECT_TRUE(warns(analyse_crank(1, 1000), "looks like grams; give kilograms"));
  // A part of lead and a heavy robot whose foot is its only shape.
  ModelBuilder b("foot");
  b.add_box_body("lead", 11.3, Vec3(0.05, 0.05, 0.05), {Vec3(0, 0, 1)});
  b.add_sphere_body("robot", 50, 0.03, {Vec3(1, 0, 1)});
  EXPECT_FALSE(warns(analyse(b.build()), "looks like"));
}

TEST(AnalysisWarnings, AMechanismThatCannotMove) {
  ModelBuilder b("welded");
  b.add_sphere_body("a", 1, 0.1, {});
  b.add_joint_at("weld", JointType::fixed, kWorld, 0, Vec3::Zero());
  EXPECT_TRUE(warns(analyse(b.build()), "cannot move"));
}

TEST(AnalysisWarnings, ABodyNothingCanTouch) {
  ModelBuilder b("ghost");
  b.add_sphere_body("a", 1, 0.1, {});
  b.add_body("ghost", 1, Mat3::Identity(), {});
  EXPECT_TRUE(warns(analyse(b.build()), "body 'ghost' has neither a joint nor a shape"));
}

TEST(Analysis, CountsShapesByKind) {
  ModelBuilder b("shapes");
  b.add_floor();
  const Shape mesh = test::l_mesh();
  b.add_solid("a", 1, mesh, {});
  b.add_solid("b", 1, mesh, {Vec3(5, 0, 0)});
  b.add_geom(0, Shape::compound({{Shape::box({1, 1, 1}), {}}, {Shape::sphere(1), {}}}));
  std::mt19937 random(1);
  b.add_geom(kWorld, test::random_terrain(random, 4, 3), {Vec3(0, 0, -9)});
  const ModelAnalysis a = analyse(b.build());
  const auto of = [&](ShapeKind kind) { return a.geoms_by_kind[static_cast<std::size_t>(kind)]; };
  EXPECT_EQ(a.geoms, 5);
  EXPECT_EQ(of(ShapeKind::plane), 1);
  EXPECT_EQ(of(ShapeKind::mesh), 2);
  EXPECT_EQ(of(ShapeKind::compound), 1);
  EXPECT_EQ(of(ShapeKind::height_field), 1);
  EXPECT_EQ(of(ShapeKind::box), 0);
  EXPECT_EQ(a.mesh_triangles, 20 + 12);  // the mesh is shared
}

// A mesh of the given triangles, moving or not.
ModelAnalysis analyse_mesh(const std::vector<Vec3>& vertices, const std::vector<TriangleMesh::Triangle>& triangles,
                           bool moves) {
  ModelBuilder b("mesh");
  b.add_body("body", 1, Mat3::Identity(), {});
  b.add_geom(moves ? 0 : kWorld, Shape::triangles(TriangleMesh::build(vertices, triangles, "mesh")), {}, 0, "part");
  return analyse(b.build());
}

TEST(AnalysisWarnings, MeshesThatAreNotClosed) {
  const test::Surface box = test::box_surface({0, 0, 0}, {1, 1, 1});
  for (const bool moves : {false, true}) {
    auto triangles = box.triangles();
    EXPECT_FALSE(warns(analyse_mesh(box.vertices, triangles, moves), "mesh of shape 'part'"));
    triangles.pop_back();
    EXPECT_EQ(warns(analyse_mesh(box.vertices, triangles, moves), "the mesh of shape 'part' is not closed"), moves);
    triangles = box.triangles();
    for (auto& t : triangles) std::swap(t[0], t[1]);
    EXPECT_EQ(warns(analyse_mesh(box.vertices, triangles, moves), "the mesh of shape 'part' is inside out"), moves);
  }
}

TEST(AnalysisWarnings, TrianglesThatAreLeftOut) {
  const test::Surface box = test::box_surface({0, 0, 0}, {1, 1, 1});
  auto triangles = box.triangles();
  triangles.push_back(triangles[3]);
  triangles.push_back({0, 0, 1});
  for (const bool moves : {false, true}) {
    EXPECT_TRUE(
        warns(analyse_mesh(box.vertices, triangles, moves), "2 triangles of the mesh of shape 'part' are left"));
  }
}

// The hull of an L of three cubes has 3.5/3 = 1.17 times its volume, that of a longer one more.
TEST(AnalysisWarnings, MeshesMuchSmallerThanTheirHull) {
  for (const double length : {1.0, 3.0}) {
    std::vector<Vec3> vertices = test::l_surface().vertices;
    for (Vec3& v : vertices) {
      if (v.x() > 1.5) v.x() = 1 + length;
      if (v.z() > 1.5) v.z() = 1 + length;
    }
    const double ratio = (1 + 2 * length + 0.5 * length * length) / (1 + 2 * length);
    for (const bool moves : {false, true}) {
      const ModelAnalysis a = analyse_mesh(vertices, test::l_triangles(), moves);
      EXPECT_EQ(warns(a, "the hull of the mesh of shape 'part' has"), moves && ratio > 1.2) << length;
    }
  }
}

TEST(AnalysisWarnings, SharedMeshesWarnOnce) {
  const test::Surface box = test::box_surface({0, 0, 0}, {1, 1, 1});
  auto triangles = box.triangles();
  triangles.pop_back();
  const Shape open = Shape::triangles(TriangleMesh::build(box.vertices, triangles, "mesh"), true);
  ModelBuilder b("three");
  for (int i = 0; i < 3; ++i) b.add_solid("body" + std::to_string(i), 1, open, {Vec3(3 * i, 0, 0)});
  const ModelAnalysis a = analyse(b.build());
  ASSERT_EQ(a.warnings.size(), 1u);
  EXPECT_TRUE(warns(a, "shape 'geom0' (and 2 more like it) is not closed"));
}

TEST(AnalysisWarnings, SlenderShapes) {
  const std::vector<Vec3> needle = {{0, 0, 0}, {3, 0, 0}, {0, 1e-4, 0}, {0, 0, 1e-4}};
  for (const Shape& s :
       {Shape::cylinder(1e-5, 1), Shape::cylinder(2, 1e-4), Shape::box({1, 1, 5e-5}), Shape::ellipsoid({1e-5, 1, 1}),
        Shape::capsule(1e-5, 1), Shape::convex(ConvexHull::build(needle, "needle"))}) {
    ModelBuilder b("needle");
    b.add_geom(kWorld, s, {}, 0, "needle");
    EXPECT_TRUE(warns(analyse(b.build()), "shape 'needle' is ")) << name_of(s.kind);
  }
  ModelBuilder b("rod");
  b.add_geom(kWorld, Shape::cylinder(1e-3, 1));
  b.add_geom(kWorld, Shape::box({1e-3, 1, 1}));
  b.add_geom(kWorld, Shape::compound({{Shape::box({1e-6, 1, 1}), {}}}), {}, 0, "foil");
  const ModelAnalysis a = analyse(b.build());
  ASSERT_EQ(a.warnings.size(), 1u);
  EXPECT_TRUE(warns(a, "shape 'foil', child 0 is 1e+06 times as long as thick"));
}

TEST(AnalysisWarnings, HullsThatMakeCollisionSlow) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  std::vector<Vec3> ball;
  for (int i = 0; i < 2100; ++i) ball.push_back(Vec3(normal(random), normal(random), normal(random)).normalized());
  ModelBuilder b("ball");
  b.add_geom(kWorld, Shape::convex(ConvexHull::build(ball, "ball")), {}, 0, "ball");
  EXPECT_TRUE(warns(analyse(b.build()), "the hull of shape 'ball' has 2100 vertices"));
}

// Two hinges on one line: five of ten rows are redundant. One line away from it they are not.
TEST(AnalysisWarnings, ADoorOnTwoHinges) {
  for (const double skew : {0.0, 0.1}) {
    ModelBuilder b("door");
    b.add_box_body("door", 1, Vec3(0.4, 0.02, 1), {Vec3(0.4, 0, 1)});
    b.add_joint_at("lower", JointType::revolute, kWorld, 0, Vec3(0, 0, 0.2), frame_with_x(Vec3::UnitZ()));
    b.add_joint_at("upper", JointType::revolute, kWorld, 0, Vec3(skew, 0, 1.8), frame_with_x(Vec3::UnitZ()));
    const ModelAnalysis a = analyse(b.build());
    EXPECT_EQ(a.rank, skew == 0 ? 5 : 6);
    EXPECT_EQ(warns(a, "cannot move"), skew != 0);
    EXPECT_TRUE(warns(a, std::to_string(10 - a.rank) + " of 10 constraint rows are redundant"));
  }
}

// An axis off by 1e-6 rad, in the numbers of a file: the loop has the rank and the freedom that it is meant to have.
TEST(AnalysisWarnings, LoopsOfRoundedNumbers) {
  ModelData data = make_scene("fourbar_swing").data();
  const Quat turn = so3_exp(1e-6 * Vec3(0, 0.6, 0.8));
  data.joints[2].q_BJ = data.joints[2].q_BJ * turn;
  data.joints[2].q_FJ = data.joints[2].q_FJ * turn;
  const ModelAnalysis a = analyse(finish_model(std::move(data)));
  EXPECT_EQ(a.rows, 20);
  EXPECT_EQ(a.rank, 17);
  EXPECT_EQ(a.mobility, 1);
  EXPECT_EQ(a.rounded_rows, 3);
  EXPECT_TRUE(warns(a, "last digits"));
  EXPECT_EQ(analyse(make_scene("fourbar_swing")).rounded_rows, 0);
}

}  // namespace
}  // namespace sarrus::analysis_test
