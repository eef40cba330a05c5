// URDF: every rule as a small file, loops in every spelling, malformed files, and the robots of other projects.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "effort.h"
#include "robots/shared_robots.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/math/error.h"
#include "sarrus/robot_files/hold.h"
#include "sarrus/robot_files/load.h"
#include "sarrus/step/simulation.h"

namespace sarrus::urdf_test {
namespace {

namespace fs = std::filesystem;
constexpr double kPi = std::numbers::pi;

class Urdf : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("sarrus-urdf-" + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& text, const std::string& name = "robot.urdf") const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  // The elements of a robot.
  ImportResult read(const std::string& elements, const ImportOptions& options = {}) const {
    return import_model(write("<robot name='r'>" + elements + "</robot>"), options);
  }
  std::string error_of(const std::string& elements, const ImportOptions& options = {}) const {
    try {
      read(elements, options);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  }

  fs::path folder_;
};

// A link with a mass of 1 kg.
std::string link(const std::string& name, const std::string& more = "", const std::string& mass = "1") {
  return "<link name='" + name + "'><inertial><mass value='" + mass +
         "'/><inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial>" + more + "</link>";
}
std::string joint(const std::string& name, const std::string& type, const std::string& parent, const std::string& child,
                  const std::string& more = "") {
  return "<joint name='" + name + "' type='" + type + "'><parent link='" + parent + "'/><child link='" + child + "'/>" +
         more + "</joint>";
}

bool has(const ImportReport& report, const std::string& kind) {
  for (const ImportFinding& f : report.findings) {
    if (f.kind == kind) return true;
  }
  return false;
}

TEST_F(Urdf, PosesFollowOriginsAndFixedAngles) {
  const ImportResult r =
      read(link("base") + link("arm", "<visual><geometry><sphere radius='0.1'/></geometry></visual>") +
           joint("j", "continuous", "base", "arm", "<origin xyz='1 2 3' rpy='0.1 0.2 0.3'/><axis xyz='0 0 2'/>"));
  const Model& m = r.model;
  ASSERT_EQ(m.body_count(), 1);  // the base is part of the world
  const Mat3 R = (Eigen::AngleAxisd(0.3, Vec3::UnitZ()) * Eigen::AngleAxisd(0.2, Vec3::UnitY()) *
                  Eigen::AngleAxisd(0.1, Vec3::UnitX()))
                     .toRotationMatrix();
  EXPECT_LT((m.bodies()[0].X_WB0.p - Vec3(1, 2, 3)).norm(), 1e-15);
  EXPECT_LT((m.bodies()[0].X_WB0.R() - R).norm(), 1e-14);
  JointKinematics kinematics(m);
  kinematics.update(State::initial(m).X_WB);
  EXPECT_LT((kinematics.frame(0).A_B.col(0) - R.col(2)).norm(), 1e-14);  // the axis is given in the child's frame
  EXPECT_EQ(m.joints()[0].type, JointType::revolute);
  EXPECT_FALSE(m.dofs()[0].limit.active());
  EXPECT_EQ(r.report.format, "URDF");
  EXPECT_TRUE(has(r.report, "base"));
}

TEST_F(Urdf, InertiasTurnWithTheirOriginAndLinksThatAreFixedAreOne) {
  ImportOptions options;
  options.base = ImportBase::free;
  const std::string inertial =
      "<inertial><origin xyz='0.1 0 0' rpy='0 0 1.5707963267948966'/><mass value='2'/>"
      "<inertia ixx='0.1' iyy='0.2' izz='0.25' ixy='0' ixz='0' iyz='0'/></inertial>";
  const ImportResult one = read("<link name='a'>" + inertial + "</link>", options);
  EXPECT_NEAR(one.model.bodies()[0].inertia_B(0, 0), 0.2, 1e-15);
  EXPECT_NEAR(one.model.bodies()[0].inertia_B(1, 1), 0.1, 1e-15);
  // Two points of 1 kg at +-0.5 m of their common centre.
  const ImportResult two =
      read(link("a") + link("b") + joint("j", "fixed", "a", "b", "<origin xyz='1 0 0'/>"), options);
  ASSERT_EQ(two.model.body_count(), 1);
  EXPECT_DOUBLE_EQ(two.model.bodies()[0].mass, 2);
  EXPECT_NEAR(two.model.bodies()[0].X_WB0.p.x(), 0.5, 1e-15);
  EXPECT_NEAR(two.model.bodies()[0].inertia_B(0, 0), 0.02, 1e-15);
  EXPECT_NEAR(two.model.bodies()[0].inertia_B(2, 2), 0.02 + 2 * 0.25, 1e-15);
  EXPECT_EQ(two.report.names.at("b").body, two.report.names.at("a").body);
}

TEST_F(Urdf, JointTypes) {
  const auto type_of = [&](const std::string& type, const std::string& more = "") {
    return read(link("base") + link("arm") + joint("j", type, "base", "arm", more)).model.joints()[0].type;
  };
  EXPECT_EQ(type_of("revolute", "<limit lower='-1' upper='1' effort='5' velocity='1'/>"), JointType::revolute);
  EXPECT_EQ(type_of("prismatic", "<limit lower='-1' upper='1' effort='5' velocity='1'/>"), JointType::prismatic);
  EXPECT_EQ(type_of("planar"), JointType::planar);
  EXPECT_EQ(type_of("ball"), JointType::spherical);
  EXPECT_EQ(type_of("universal"), JointType::universal);
  const Model floating = read(link("base") + link("arm") + joint("j", "floating", "base", "arm")).model;
  EXPECT_EQ(floating.joint_count(), 0);
  EXPECT_EQ(floating.body_count(), 1);
  const Model screw =
      read(link("base") + link("arm") + joint("j", "screw", "base", "arm", "<drake:screw_thread_pitch value='0.02'/>"))
          .model;
  EXPECT_EQ(screw.joints()[0].type, JointType::cylindrical);
  ASSERT_EQ(screw.couplings().size(), 1u);
}

TEST_F(Urdf, LimitsDynamicsAndDrives) {
  const ImportResult r =
      read(link("base") + link("arm") +
           joint("j", "revolute", "base", "arm",
                 "<limit lower='-0.5' upper='1.5' effort='20' velocity='3'/><dynamics damping='0.3' friction='0.7'/>") +
           "<transmission name='t'><joint name='j'><mechanicalReduction>1</mechanicalReduction></joint><actuator "
           "name='motor'>"
           "<drake:rotor_inertia value='2e-5'/><drake:gear_ratio value='100'/><drake:controller_gains p='50' d='2'/>"
           "</actuator></transmission>");
  const Dof& d = r.model.dofs()[0];
  EXPECT_DOUBLE_EQ(d.limit.lower, -0.5);
  EXPECT_DOUBLE_EQ(d.limit.upper, 1.5);
  EXPECT_DOUBLE_EQ(d.damping, 0.3);
  EXPECT_DOUBLE_EQ(d.dry_friction, 0.7);
  EXPECT_DOUBLE_EQ(d.armature, 0.2);
  EXPECT_EQ(d.drive.mode, DriveMode::position);
  EXPECT_DOUBLE_EQ(d.drive.kp, 50);
  EXPECT_DOUBLE_EQ(d.drive.kd, 2);
  EXPECT_DOUBLE_EQ(d.drive.effort_limit, 20);
}

TEST_F(Urdf, MimicsAreCouplingsAndTheirOffsetIsAssembled) {
  const std::string chain =
      link("base") + link("a") + link("b") + joint("j1", "continuous", "base", "a", "<axis xyz='0 0 1'/>") +
      joint("j2", "continuous", "a", "b",
            "<origin xyz='1 0 0'/><axis xyz='0 0 1'/><mimic joint='j1' multiplier='-2' offset='0.3'/>");
  const ImportResult r = read(chain);
  ASSERT_EQ(r.model.couplings().size(), 1u);
  const State s = State::initial(r.model);
  EXPECT_NEAR(s.q[1], -2 * s.q[0] + 0.3, 1e-10);
  ASSERT_TRUE(r.report.assembly.has_value());
  EXPECT_TRUE(r.report.assembly->closed());
}

// Four bars of 1 m x 0.5 m as a tree of three links; the fourth joint in every spelling.
std::string three_bars() {
  const std::string z = "<axis xyz='0 0 1'/>";
  return link("base") + link("left") + link("top") + link("right") + joint("j1", "continuous", "base", "left", z) +
         joint("j2", "continuous", "left", "top", "<origin xyz='0 0.5 0'/>" + z) +
         joint("j3", "continuous", "base", "right", "<origin xyz='1 0 0'/>" + z);
}

TEST_F(Urdf, LoopsInEverySpelling) {
  const std::string revolute[] = {
      "<loop_joint name='close' type='revolute'><link1 link='top' xyz='1 0 0'/><link2 link='right' xyz='0 0.5 0'/>"
      "<axis xyz='0 0 1'/></loop_joint>",
      "<loop_joint name='close' type='revolute'><link1 link='top' xyz='1 0 0'/><link1 link='right' xyz='0 0.5 0'/>"
      "<axis xyz='0 0 1'/></loop_joint>",
      "<loop_joint name='close' type='revolute'><parent link='top'/><child link='right'/><parent_origin xyz='1 0 0'/>"
      "<child_origin xyz='0 0.5 0'/><axis xyz='0 0 1' frame='parent'/></loop_joint>",
      "<constraint name='close' type='revolute'><parent link='top'/><child link='right'/><parent_origin xyz='1 0 0'/>"
      "<child_origin xyz='0 0.5 0'/><parent_axis xyz='0 0 1'/><child_axis xyz='0 0 1'/></constraint>",
      "<gazebo><joint name='close' type='revolute'><parent>top</parent><child>right</child>"
      "<pose>0 0.5 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint></gazebo>",
  };
  for (const std::string& loop : revolute) {
    const ImportResult r = read(three_bars() + loop);
    ASSERT_EQ(r.model.joint_count(), 4) << loop;
    EXPECT_EQ(r.model.loop_joints().size(), 1u) << loop;
    EXPECT_EQ(r.model.joints()[3].type, JointType::revolute) << loop;
    // A parallelogram: whatever the crank does, the top stays as it is and the other crank turns alike.
    Simulation sim(r.model, {.dt = 1e-3});
    for (int i = 0; i < 200; ++i) ASSERT_NE(sim.step().status, StepStatus::failed) << loop;
    const State& s = sim.state();
    EXPECT_NEAR(s.q[0], s.q[2], 1e-9) << loop;
    EXPECT_NEAR(s.q[1], -s.q[0], 1e-9) << loop;
  }
  const std::string points[] = {
      "<drake:ball_constraint><drake:ball_constraint_body_A name='top'/><drake:ball_constraint_body_B name='right'/>"
      "<drake:ball_constraint_p_AP value='1 0 0'/><drake:ball_constraint_p_BQ value='0 0.5 "
      "0'/></drake:ball_constraint>",
      "<loop_joint name='close' type='spherical'><link1 link='top' xyz='1 0 0'/><link2 link='right' xyz='0 0.5 0'/>"
      "</loop_joint>"};
  for (const std::string& loop : points) {
    const ImportResult r = read(three_bars() + loop);
    ASSERT_EQ(r.model.joint_count(), 4) << loop;
    EXPECT_EQ(r.model.joints()[3].type, JointType::spherical) << loop;
  }
  const ImportResult rod =
      read(three_bars() +
           "<drake:distance_constraint><drake:distance_constraint_body_A name='top'/>"
           "<drake:distance_constraint_body_B name='right'/><drake:distance_constraint_p_AP "
           "value='1 0 0'/><drake:distance_constraint_distance value='0.5'/></drake:distance_constraint>");
  EXPECT_EQ(rod.model.joints()[3].type, JointType::distance);
  // A link with two parents.
  const ImportResult second = read(
      three_bars() + link("peg") + joint("p1", "continuous", "top", "peg", "<origin xyz='1 0 0'/><axis xyz='0 0 1'/>") +
      joint("p2", "continuous", "right", "peg", "<origin xyz='0 0.5 0'/><axis xyz='0 0 1'/>"));
  EXPECT_EQ(second.model.joint_count(), 5);
  EXPECT_EQ(second.model.loop_joints().size(), 1u);
  // By names.
  ImportOptions names;
  names.loops_from = "names";
  const std::string marks = "<link name='closing_a_1'/><link name='closing_a_2'/>" +
                            joint("m1", "fixed", "top", "closing_a_1", "<origin xyz='1 0 0'/>") +
                            joint("m2", "fixed", "right", "closing_a_2", "<origin xyz='0 0.5 0'/>");
  EXPECT_EQ(read(three_bars() + marks, names).model.joint_count(), 4);
  EXPECT_EQ(read(three_bars() + marks).model.joint_count(), 3);
}

// A file without drives gets servos of 5 Hz: a bar of 1 kg, 1 m, sags by less than g (l/2) / (l^2/3 w^2) and comes to
// rest.
TEST_F(Urdf, HeldByServosWhereNothingHolds) {
  const auto bar = [](const std::string& name) {
    return "<link name='" + name +
           "'><inertial><origin xyz='0.5 0 0'/><mass value='1'/><inertia ixx='0.001' iyy='0.0833333' izz='0.0833333' "
           "ixy='0' "
           "ixz='0' iyz='0'/></inertial></link>";
  };
  const std::string two = link("base") + bar("upper") + bar("lower") +
                          joint("shoulder", "continuous", "base", "upper", "<axis xyz='0 1 0'/>") +
                          joint("elbow", "continuous", "upper", "lower", "<origin xyz='1 0 0'/><axis xyz='0 1 0'/>");
  const HeldModel h = held(read(two).model);
  EXPECT_EQ(h.kept, 0);
  EXPECT_EQ(h.servos, 2);
  const double w = 10 * kPi;
  EXPECT_NEAR(h.model.dofs()[1].drive.kp, (1.0 / 12 + 0.25) * w * w, 1e-4 * w * w);
  EXPECT_NEAR(h.model.dofs()[0].drive.kp, (1.0 / 3 + 1.0 / 12 + 2.25) * w * w, 1e-4 * w * w);
  Simulation sim(h.model, {.dt = 1e-3});
  for (int i = 0; i < 2000; ++i) ASSERT_NE(sim.step().status, StepStatus::failed);
  EXPECT_LT(std::abs(sim.state().q[0]), 9.81 * 2 / (2.66 * w * w) * 1.1);
  EXPECT_GT(std::abs(sim.state().q[0]), 9.81 * 2 / (2.66 * w * w) * 0.8);
  EXPECT_LT(std::abs(sim.joint_rate(0)), 1e-4);
  // Position drives that are there stay what they are, and nothing else is added.
  const HeldModel again = held(h.model);
  EXPECT_EQ(again.kept, 2);
  EXPECT_EQ(again.servos, 0);
}

TEST_F(Urdf, LoopsOfAListBesideTheFile) {
  const std::string marks = "<link name='tip'/><link name='seat'/>" +
                            joint("m1", "fixed", "top", "tip", "<origin xyz='1 0 0'/>") +
                            joint("m2", "fixed", "right", "seat", "<origin xyz='0 0.5 0'/>");
  ImportOptions options;
  const auto with_list = [&](const std::string& yaml) {
    options.loops_from = write(yaml, "loops.yaml").string();
    return read(three_bars() + marks, options).model;
  };
  const Model ball = with_list("# loops\nclosed_loop: [['tip', \"seat\"]]\ntype: [3d]\nname_mot: mot\n");
  ASSERT_EQ(ball.loop_joints().size(), 1u);
  EXPECT_EQ(ball.joints().back().type, JointType::spherical);
  const Model rigid = with_list("closed_loop:\n  - [tip, seat]\n");
  EXPECT_EQ(rigid.joints().back().type, JointType::fixed);
  EXPECT_EQ(with_list("closed_loop:\n- - m1\n  - m2\ntype:\n- 6d\n").loop_joints().size(), 1u);  // by joints
  // Beside the robot's file, too.
  options.loops_from = "loops.yaml";
  EXPECT_EQ(read(three_bars() + marks, options).model.loop_joints().size(), 1u);
  const auto error_with = [&](const std::string& yaml) {
    options.loops_from = write(yaml, "loops.yaml").string();
    return error_of(three_bars() + marks, options);
  };
  EXPECT_NE(error_with("closed_loop: [[tip, seat, left]]\n").find("give pairs"), std::string::npos);
  EXPECT_NE(error_with("other: 1\n").find("give pairs"), std::string::npos);
  EXPECT_NE(error_with("closed_loop: [[tip, seat]]\ntype: [4d]\n").find("neither 3d nor 6d"), std::string::npos);
  EXPECT_NE(error_with("closed_loop: [[tip, seat]]\ntype: [3d, 3d]\n").find("give as many"), std::string::npos);
  EXPECT_NE(error_with("closed_loop: [['tip, seat]]\n").find("close it"), std::string::npos);
  EXPECT_NE(error_with("closed_loop: [[tip, saet]]\n").find("seat"), std::string::npos);
  options.loops_from = "nothing.yaml";
  EXPECT_NE(error_of(three_bars() + marks, options).find("nothing.yaml"), std::string::npos);
}

// Each follower is walked along once: a long chain is read, a ring at its end refused.
TEST_F(Urdf, LongChainsOfFollowersAndRings) {
  constexpr int n = 3000;
  std::string robot = link("base");
  for (int i = 0; i < n; ++i) {
    const std::string k = std::to_string(i);
    const std::string follows =
        i + 1 < n ? "<axis xyz='0 0 1'/><mimic joint='j" + std::to_string(i + 1) + "'/>" : "<axis xyz='0 0 1'/>";
    robot += link("l" + k) + joint("j" + k, "continuous", "base", "l" + k, follows);
  }
  EXPECT_EQ(read(robot).model.couplings().size(), std::size_t{n - 1});
  const std::string ring = link("x") + link("y") + joint("a", "continuous", "base", "x", "<mimic joint='b'/>") +
                           joint("b", "continuous", "base", "y", "<mimic joint='a'/>");
  EXPECT_NE(error_of(robot + ring).find("ring"), std::string::npos);
}

TEST_F(Urdf, LoopsThatAreDrawnOpenAreClosed) {
  const std::string loop =
      "<loop_joint name='close' type='revolute'><link1 link='top' xyz='1.1 0 0'/><link2 link='right' xyz='0 0.5 0'/>"
      "<axis xyz='0 0 1'/></loop_joint>";
  const ImportResult r = read(three_bars() + loop);
  ASSERT_TRUE(r.report.assembly.has_value());
  EXPECT_EQ(r.report.assembly->status, AssemblyStatus::assembled);
  EXPECT_LT(r.report.assembly->residual, 1e-11);
  EXPECT_NEAR(r.report.assembly->gap_before, 0.1, 1e-9);
  const std::string far =
      "<loop_joint name='close' type='revolute'><link1 link='top' xyz='9 0 0'/><link2 link='right' xyz='0 0.5 0'/>"
      "<axis xyz='0 0 1'/></loop_joint>";
  const std::string error = error_of(three_bars() + far);
  EXPECT_NE(error.find("the loop of joints"), std::string::npos) << error;
  EXPECT_NE(error.find("robot.urdf"), std::string::npos) << error;
  ImportOptions never;
  never.assemble = ImportAssembly::never;
  EXPECT_EQ(read(three_bars() + far, never).model.joint_count(), 4);
}

TEST_F(Urdf, ShapesMaterialsAndFilters) {
  write(
      "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
      "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\n"
      "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 1 0 0\nendloop\nendfacet\n"
      "facet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\nendsolid t\n",
      "part.stl");
  const auto collision = [](const std::string& geometry, const std::string& more = "") {
    return "<collision>" + more + "<geometry>" + geometry + "</geometry></collision>";
  };
  ImportOptions options;
  options.base = ImportBase::free;
  const ImportResult r = read(
      link("a",
           collision("<box size='1 2 3'/>") + collision("<cylinder radius='0.1' length='0.4'/>") +
               collision("<sphere radius='0.2'/>",
                         "<drake:proximity_properties><drake:mu_dynamic value='0.3'/></drake:proximity_properties>") +
               collision("<mesh filename='package://" + folder_.filename().string() + "/part.stl' scale='1 -1 1'/>")) +
          "<gazebo reference='a'><mu1>0.9</mu1></gazebo>",
      options);
  const auto& g = r.model.geoms();
  ASSERT_EQ(g.size(), 4u);
  EXPECT_EQ(g[0].shape.size, Vec3(0.5, 1, 1.5));
  EXPECT_DOUBLE_EQ(g[1].shape.size[1], 0.2);
  EXPECT_DOUBLE_EQ(r.model.materials()[static_cast<std::size_t>(g[2].material)].mu, 0.3);
  EXPECT_DOUBLE_EQ(r.model.materials()[static_cast<std::size_t>(g[0].material)].mu, 0.9);
  EXPECT_EQ(g[3].shape.kind, ShapeKind::hull);
  EXPECT_NEAR(g[3].shape.hull->mass_properties().volume, 1.0 / 6, 1e-12);
  const Model filtered =
      read(link("a") + link("b") + link("c") + joint("ab", "continuous", "a", "b") +
               joint("bc", "continuous", "b", "c") +
               "<drake:collision_filter_group name='g'><drake:member link='a'/><drake:member link='c'/>"
               "<drake:ignored_collision_filter_group name='g'/></drake:collision_filter_group>",
           options)
          .model;
  EXPECT_FALSE(filtered.excludes().empty());
}

TEST_F(Urdf, MalformedFilesAreNamed) {
  struct Case {
    std::string elements, part;
  };
  const std::string two = link("base") + link("arm");
  const Case cases[] = {
      {"", "no <link>"},
      {link("a") + link("a"), "twice"},
      {"<link/>", "'name'"},
      {"<link name='a'><inertial/></link>", "<mass>"},
      {link("a", "", "-1"), "negative"},
      {link("a", "", "nan"), "not 1 finite number"},
      {link("a", "", "1 2"), "not 1 finite number"},
      {"<link name='a'><inertial><mass value='1'/><inertia iyy='1' izz='1'/></inertial></link>", "ixx"},
      {two + "<joint name='j' type='fixed'><parent link='base'/></joint>", "<child"},
      {two + "<joint type='fixed'><parent link='base'/><child link='arm'/></joint>", "'name'"},
      {two + "<joint name='j'><parent link='base'/><child link='arm'/></joint>", "'type'"},
      {two + joint("j", "fixed", "bse", "arm"), "did you mean 'base'"},
      {two + joint("j", "fixed", "base", "base"), "itself"},
      {two + joint("j", "hinge", "base", "arm"), "'hinge'"},
      {two + joint("j", "fixed", "base", "arm") + joint("j", "fixed", "base", "arm"), "twice"},
      {two + joint("j", "continuous", "base", "arm", "<axis xyz='0 0 0'/>"), "no direction"},
      {two + joint("j", "continuous", "base", "arm", "<axis xyz='0 0'/>"), "not 3 finite numbers"},
      {two + joint("j", "continuous", "base", "arm", "<origin xyz='0 0 x'/>"), "not 3 finite numbers"},
      {two + joint("j", "revolute", "base", "arm", "<limit lower='2' upper='1'/>"), "swap"},
      {two + joint("j", "revolute", "base", "arm", "<limit lower='0' upper='1' effort='-1'/>"), "negative"},
      {two + joint("j", "continuous", "base", "arm", "<dynamics damping='-1'/>"), "negative"},
      {two + joint("j", "continuous", "base", "arm", "<mimic joint='j'/>"), "itself"},
      {two + joint("j", "continuous", "base", "arm", "<mimic joint='k'/>"), "not there"},
      {two + joint("j", "screw", "base", "arm"), "screw_thread_pitch"},
      {two, "without a parent"},
      {two + joint("j", "fixed", "base", "arm") + joint("k", "fixed", "arm", "base"), "ring"},
      {link("a", "<collision/>"), "<geometry>"},
      {link("a", "<collision><geometry/></collision>"), "no shape"},
      {link("a", "<collision><geometry><sphere radius='0'/></geometry></collision>"), "not positive"},
      {link("a", "<collision><geometry><box size='1 1'/></geometry></collision>"), "not 3 finite"},
      {link("a", "<collision><geometry><mesh filename='no.stl'/></geometry></collision>"), "not there"},
      {link("a", "<collision><geometry><mesh filename='http://x/y.stl'/></geometry></collision>"), "network"},
      {link("a", "<collision><geometry><mesh filename='/etc/hostname'/></geometry></collision>"), "outside"},
      {link("a", "<collision><geometry><mesh filename='../../../../../../etc/hostname'/></geometry></collision>"),
       "outside"},
      {"<xacro:macro name='m'/>" + link("a"), "xacro"},
      {link("${name}"), "xacro"},
      {two + joint("j", "fixed", "base", "arm") + "<loop_joint name='l' type='revolute'/>", "what it connects"},
      {two + joint("j", "fixed", "base", "arm") +
           "<loop_joint name='l' type='knot'><link1 link='base'/><link2 link='arm'/></loop_joint>",
       "'knot'"},
      {two + joint("j", "fixed", "base", "arm") +
           "<loop_joint name='j' type='fixed'><link1 link='base'/><link2 link='arm'/></loop_joint>",
       "another joint"},
      {two + joint("j", "continuous", "base", "arm") + "<drake:tendon_constraint/>", "--accept tendon"},
      {two + joint("j", "continuous", "base", "arm") +
           "<transmission name='t'><joint name='x'/><actuator name='m'/></transmission>",
       "not there"},
  };
  for (const Case& c : cases) {
    const std::string error = error_of(c.elements);
    EXPECT_NE(error.find(c.part), std::string::npos) << c.elements << "\n" << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

// ---- robots of other projects --------------------------------------------------------------------------------------

TEST(UrdfRobots, LoadAndRun) {
  SARRUS_NEEDS_ROBOTS();
  const fs::path folder = test::shared_robots() / "urdf";
  int count = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".urdf" || !test::effort_takes(entry.path())) continue;
    ++count;
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const ImportResult r = import_model(entry.path());
    Simulation sim(r.model, {.dt = 1e-3});
    int failed = 0;
    double gap = 0;
    for (int i = 0; i < test::samples(400); ++i) {
      const StepReport& report = sim.step();
      failed += report.status == StepStatus::failed;
      gap = std::max(gap, report.joint_gap);
    }
    EXPECT_EQ(failed, 0);
    EXPECT_LT(gap, 1e-9);
  }
  EXPECT_GE(count, test::sample_divisor() == 1 ? 16 : 3);
}

}  // namespace
}  // namespace sarrus::urdf_test
