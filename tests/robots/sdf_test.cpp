// SDF: rules as small files, malformed files, and the Cassies of other projects.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>

#include "effort.h"
#include "robots/shared_robots.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/error.h"
#include "sarrus/robot_files/load.h"
#include "sarrus/step/simulation.h"

namespace sarrus::sdf_test {
namespace {

namespace fs = std::filesystem;

class Sdf : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("sarrus-sdf-" + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    const std::string what = error_of_file("<sdf version='1.9'/>");
    if (what.find("without libsdformat") != std::string::npos) GTEST_SKIP() << "built without libsdformat";
  }
  void TearDown() override { fs::remove_all(folder_); }

  ImportResult read_file(const std::string& text, const ImportOptions& options = {}) const {
    const fs::path file = folder_ / "robot.sdf";
    std::ofstream(file) << text;
    return import_model(file, options);
  }
  std::string error_of_file(const std::string& text) const {
    try {
      read_file(text);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  }
  static std::string file(const std::string& elements, const std::string& version = "1.9") {
    return "<?xml version='1.0'?><sdf version='" + version + "'><model name='m'>" + elements + "</model></sdf>";
  }
  ImportResult read(const std::string& elements, const std::string& version = "1.9") const {
    return read_file(file(elements, version));
  }
  std::string error_of(const std::string& elements) const { return error_of_file(file(elements)); }

  fs::path folder_;
};

std::string link(const std::string& name, const std::string& pose = "0 0 0 0 0 0", const std::string& more = "") {
  return "<link name='" + name + "'><pose>" + pose +
         "</pose><inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz><ixy>0</ixy><ixz>0</ixz>"
         "<iyz>0</iyz></inertia></inertial>" +
         more + "</link>";
}
std::string joint(const std::string& name, const std::string& type, const std::string& parent, const std::string& child,
                  const std::string& more = "<axis><xyz>0 0 1</xyz></axis>") {
  return "<joint name='" + name + "' type='" + type + "'><parent>" + parent + "</parent><child>" + child + "</child>" +
         more + "</joint>";
}
bool has(const ImportReport& report, const std::string& kind) {
  for (const ImportFinding& f : report.findings) {
    if (f.kind == kind) return true;
  }
  return false;
}

TEST_F(Sdf, PosesOfLinksJointsAndModelsComeTogether) {
  const ImportResult r =
      read("<pose>1 0 0 0 0 0</pose>" + link("a", "0 2 0 0 0 1.5707963267948966") +
           joint("j", "revolute", "world", "a", "<pose>0.5 0 0 0 0 0</pose><axis><xyz>1 0 0</xyz></axis>"));
  const Model& m = r.model;
  ASSERT_EQ(m.body_count(), 1);
  EXPECT_LT((m.bodies()[0].X_WB0.p - Vec3(1, 2, 0)).norm(), 1e-14);
  JointKinematics kinematics(m);
  kinematics.update(State::initial(m).X_WB);
  // The joint's frame is the child's, half a metre along its x axis, which points to y of the world.
  EXPECT_LT((kinematics.frame(0).p_F_W - Vec3(1, 2.5, 0)).norm(), 1e-14);
  EXPECT_LT((kinematics.frame(0).A_B.col(0) - Vec3::UnitY()).norm(), 1e-14);
  EXPECT_FALSE(m.dofs()[0].limit.active());
  EXPECT_NEAR(State::initial(m).q[0], 0, 1e-15);
}

TEST_F(Sdf, LimitsSpringsAndDamping) {
  const ImportResult r = read(
      link("a") + joint("j", "prismatic", "world", "a",
                        "<axis><xyz>0 0 1</xyz><limit><lower>-0.1</lower><upper>0.3</upper><effort>7</effort></limit>"
                        "<dynamics><damping>2</damping><friction>0.5</friction><spring_stiffness>40</spring_stiffness>"
                        "<spring_reference>0.05</spring_reference></dynamics></axis>"));
  const Dof& d = r.model.dofs()[0];
  EXPECT_DOUBLE_EQ(d.limit.lower, -0.1);
  EXPECT_DOUBLE_EQ(d.limit.upper, 0.3);
  EXPECT_DOUBLE_EQ(d.damping, 2);
  EXPECT_DOUBLE_EQ(d.dry_friction, 0.5);
  EXPECT_DOUBLE_EQ(d.stiffness, 40);
  EXPECT_DOUBLE_EQ(d.rest, 0.05);
}

TEST_F(Sdf, JointTypes) {
  const auto type_of = [&](const std::string& type, const std::string& more) {
    return read(link("a") + link("b", "0 0 1 0 0 0") + joint("j", type, "a", "b", more)).model.joints()[0].type;
  };
  const std::string z = "<axis><xyz>0 0 1</xyz></axis>";
  const std::string xy = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>";
  EXPECT_EQ(type_of("revolute", z), JointType::revolute);
  EXPECT_EQ(type_of("continuous", z), JointType::revolute);
  EXPECT_EQ(type_of("prismatic", z), JointType::prismatic);
  EXPECT_EQ(type_of("ball", ""), JointType::spherical);
  EXPECT_EQ(type_of("universal", xy), JointType::universal);
  EXPECT_EQ(type_of("revolute2", xy), JointType::universal);
  const Model screw =
      read(link("a") + link("b") + joint("j", "screw", "a", "b", z + "<thread_pitch>-100</thread_pitch>")).model;
  EXPECT_EQ(screw.joints()[0].type, JointType::cylindrical);
  ASSERT_EQ(screw.couplings().size(), 1u);
  EXPECT_NEAR(screw.couplings()[0].ratio, 1.0 / 100, 1e-15);  // position per rad
}

// A four-bar: any joint may close the loop.
TEST_F(Sdf, LoopsAreJointsLikeOthers) {
  const std::string bars =
      link("left", "0 0 0 0 0 0") + link("top", "0 0.5 0 0 0 0") + link("right", "1 0 0 0 0 0") +
      joint("j1", "revolute", "world", "left") + joint("j2", "revolute", "left", "top") +
      joint("j3", "revolute", "world", "right") +
      joint("j4", "revolute", "right", "top", "<pose>1 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis>");
  const ImportResult r = read(bars);
  EXPECT_EQ(r.model.loop_joints().size(), 1u);
  Simulation sim(r.model, {.dt = 1e-3});
  for (int i = 0; i < 200; ++i) ASSERT_NE(sim.step().status, StepStatus::failed);
  EXPECT_NEAR(sim.state().q[0], sim.state().q[2], 1e-9);
}

TEST_F(Sdf, GearboxesAndMimicsAreCouplings) {
  const std::string three = link("base") + link("in", "0 0 1 0 0 0") + link("out", "0 0 2 0 0 0") +
                            joint("j1", "revolute", "base", "in") + joint("j2", "revolute", "base", "out");
  const ImportResult gears =
      read(three + joint("g", "gearbox", "in", "out",
                         "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2><gearbox_ratio>3</gearbox_ratio>"
                         "<gearbox_reference_body>base</gearbox_reference_body>"));
  ASSERT_EQ(gears.model.couplings().size(), 1u);
  EXPECT_NEAR(gears.model.couplings()[0].ratio, -3, 1e-15);
  const ImportResult mimic =
      read(link("base") + link("a") + link("b") + joint("j1", "revolute", "base", "a") +
               joint("j2", "revolute", "base", "b",
                     "<axis><xyz>0 0 1</xyz><mimic joint='j1'><multiplier>2</multiplier><offset>0.1</offset>"
                     "<reference>0.3</reference></mimic></axis>"),
           "1.11");
  ASSERT_EQ(mimic.model.couplings().size(), 1u);
  const State s = State::initial(mimic.model);
  EXPECT_NEAR(s.q[1], 2 * (s.q[0] - 0.3) + 0.1, 1e-9);
  EXPECT_TRUE(has(mimic.report, "sdf-version"));
}

TEST_F(Sdf, WorldsStaticModelsAndFilters) {
  const ImportResult r = read_file(
      "<sdf version='1.9'><world name='w'><gravity>0 0 -1.6</gravity><model name='ground'><static>true</static>"
      "<link name='l'><collision name='c'><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link>"
      "</model><model name='box'><pose>0 0 1 0 0 0</pose>" +
      link("l", "0 0 0 0 0 0",
           "<collision name='c'><geometry><box><size>1 1 1</size></box></geometry><surface><friction><ode><mu>0.4</mu>"
           "<mu2>0.3</mu2></ode></friction><bounce><restitution_coefficient>0.5</restitution_coefficient></bounce>"
           "</surface></collision>") +
      link("m") + "</model></world></sdf>");
  EXPECT_DOUBLE_EQ(r.model.gravity().z(), -1.6);
  EXPECT_EQ(r.model.body_count(), 2);
  ASSERT_EQ(r.model.geoms().size(), 2u);
  EXPECT_EQ(r.model.geoms()[0].body, kWorld);
  const Material& m = r.model.materials()[static_cast<std::size_t>(r.model.geoms()[1].material)];
  EXPECT_DOUBLE_EQ(m.mu, 0.3);
  EXPECT_DOUBLE_EQ(m.restitution, 0.5);
  EXPECT_TRUE(has(r.report, "two-frictions"));
  EXPECT_EQ(r.model.excludes().size(), 1u);  // links of a model do not collide unless it says so
  EXPECT_NO_THROW(r.model.body("box::l"));
}

TEST_F(Sdf, NestedModelsKeepTheirNamesAndALinkWithoutInertialWeighsOneKilogram) {
  const ImportResult r = read("<model name='inner'><pose>0 0 3 0 0 0</pose><link name='x'/></model>" + link("a") +
                              joint("j", "revolute", "a", "inner::x"));
  EXPECT_DOUBLE_EQ(r.model.bodies()[static_cast<std::size_t>(r.model.body("inner::x"))].mass, 1);
  EXPECT_NEAR(r.model.bodies()[static_cast<std::size_t>(r.model.body("inner::x"))].X_WB0.p.z(), 3, 1e-15);
  EXPECT_TRUE(has(r.report, "no-inertial"));
}

// Includes are found by the library in its own ways: none of them leaves the folders of the model, and none goes on for
// ever.
TEST_F(Sdf, IncludesKeepToTheFoldersAndEnd) {
  const fs::path deep = folder_ / "a" / "b" / "c";
  fs::create_directories(deep);
  std::ofstream(folder_ / "other.sdf") << file(link("x"));
  const auto error_in = [&](const std::string& uri) {
    std::ofstream(deep / "robot.sdf") << file(link("a") + "<include><uri>" + uri + "</uri></include>");
    try {
      import_model(deep / "robot.sdf");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(error_in((folder_ / "other.sdf").string()).find("outside"), std::string::npos);
  EXPECT_NE(error_in("file://" + (folder_ / "other.sdf").string()).find("outside"), std::string::npos);
  const std::string cycle = error_in("file://" + (deep / "robot.sdf").string());
  EXPECT_NE(cycle.find("too many includes"), std::string::npos) << cycle;
  // A folder of a model may name any file as its description.
  fs::create_directories(deep / "part");
  std::ofstream(deep / "part/model.config") << "<model><name>p</name><sdf version='1.9'>inner.sdf</sdf></model>";
  std::ofstream(deep / "part/inner.sdf") << file(link("p"));
  EXPECT_EQ(error_in("model://part"), "no error");
  std::ofstream(deep / "part/inner.sdf") << file(link("p") + "<include><uri>file://" +
                                                 (folder_ / "other.sdf").string() + "</uri></include>");
  EXPECT_NE(error_in("model://part").find("outside"), std::string::npos) << error_in("model://part");
  std::ofstream(deep / "part/inner.sdf") << file(link("p") + "<include><uri>model://part</uri></include>");
  EXPECT_NE(error_in("model://part").find("too many includes"), std::string::npos) << error_in("model://part");
  std::ofstream(deep / "part/model.config") << "<model><sdf version='1.9'>../../../../other.sdf</sdf></model>";
  EXPECT_NE(error_in("model://part").find("outside"), std::string::npos) << error_in("model://part");
}

// The library would take a megabyte for each.
TEST_F(Sdf, ThousandsOfLinksAreRefusedBeforeTheyAreRead) {
  std::string links;
  for (int i = 0; i < 20000; ++i) links += "<link name='l" + std::to_string(i) + "'/>";
  EXPECT_NE(error_of(links).find("one element too many"), std::string::npos);
}

TEST_F(Sdf, StaticModelsOfManyLinksArePartOfTheWorld) {
  const std::string plane =
      "<collision name='c'><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>";
  const ImportResult r =
      read_file("<sdf version='1.9'><world name='w'><model name='g'><static>true</static><link name='l'>" + plane +
                "</link><link name='m'/></model><model name='b'>" + link("x") + "</model></world></sdf>");
  EXPECT_EQ(r.model.body_count(), 1);
  ASSERT_EQ(r.model.geoms().size(), 1u);
  EXPECT_EQ(r.model.geoms()[0].body, kWorld);
}

TEST_F(Sdf, MalformedFilesAreNamed) {
  struct Case {
    std::string text, part;
  };
  const std::string a = link("a");
  const std::string z = "<axis><xyz>0 0 1</xyz></axis>";
  const Case cases[] = {
      {"<sdf/>", "version"},
      {"<sdf version='x'/>", "version"},
      {"<sdf version='1.9'/>", "neither a model nor a world"},
      {"<sdf version='1.9'><model/></sdf>", "robot.sdf"},
      {"<sdf version='1.9'><model name='m'/></sdf>", "robot.sdf"},
      {"<sdf version='1.9'><world name='v'/><world name='w'/></sdf>", "several worlds"},
      {"<sdf version='1.9'><world name='v'/></sdf>", "neither a model nor a world"},
      {file(a + a), "robot.sdf"},
      {file(a + "<link/>"), "robot.sdf"},
      {file(a + joint("j", "revolute", "a", "b")), "robot.sdf"},
      {file(a + joint("j", "revolute", "a", "a")), "robot.sdf"},
      {file(a + joint("j", "hinge", "world", "a")), "robot.sdf"},
      {file(a + joint("j", "revolute", "world", "a", "")), "robot.sdf"},
      {file(a + joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>")), "robot.sdf"},
      {file(a + joint("j", "revolute", "world", "a",
                      "<axis><xyz>0 0 1</xyz><limit><lower>2</lower><upper>1</upper></limit></axis>")),
       "swap"},
      {file(a + joint("j", "revolute", "world", "a",
                      "<axis><xyz>0 0 1</xyz><dynamics><damping>-1</damping></dynamics></axis>")),
       "negative"},
      {file(a + joint("j", "screw", "world", "a", z + "<thread_pitch>0</thread_pitch>")), "pitch"},
      {file(a + "<include><uri>https://example.org/x</uri></include>"), "network"},
      {file(a + "<include><uri>fuel://x/y</uri></include>"), "network"},
      {file(a + "<include><uri>model://nowhere</uri></include>"), "robot.sdf"},
      {file(a + "<include/>"), "robot.sdf"},
      {file(link("b", "0 0 0 0 0")), "robot.sdf"},
      {file(link("b", "0 0 0 0 0 0",
                 "<collision name='c'><geometry><mesh><uri>no.stl</uri></mesh></geometry></collision>")),
       "not there"},
      {file(link("b", "0 0 0 0 0 0",
                 "<collision name='c'><geometry><mesh><uri>/etc/hostname</uri></mesh></geometry></collision>")),
       "outside"},
      {file(link("b", "0 0 0 0 0 0",
                 "<collision name='c'><geometry><sphere><radius>-1</radius></sphere></geometry></collision>")),
       "radius"},
      {file("<link name='b'><inertial><mass>-1</mass></inertial></link>"), "robot.sdf"},
      {file("<link name='b'><inertial><mass>nan</mass></inertial></link>"), "robot.sdf"},
      {file(a + "<drake:ball_constraint/>"), "--accept drake-constraint"},
      {file(a + link("b") +
            joint("j", "gearbox", "a", "b",
                  z + "<axis2><xyz>0 0 1</xyz></axis2><gearbox_reference_body>a</gearbox_reference_body>")),
       "robot.sdf"},
      {file(a + joint("j", "revolute", "world", "a", "<axis><xyz>0 0 1</xyz><mimic joint='k'/></axis>"), "1.11"),
       "correct it"},
      {"<sdf version='1.9'><model name='m'>", "robot.sdf"},
  };
  for (const Case& c : cases) {
    const std::string error = error_of_file(c.text);
    EXPECT_NE(error.find(c.part), std::string::npos) << c.text << "\n" << error;
    EXPECT_NE(error, "no error") << c.text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

// Four of their joints begin outside of their limits. Two files cannot meet them: on paper their plantar loops are
// rigid.
TEST_F(Sdf, CassiesAreClosedOrRefused) {
  SARRUS_NEEDS_ROBOTS();
  const fs::path folder = test::shared_robots() / "urdf/example-robot-data/robots/cassie_description/robots";
  struct Robot {
    const char* file;
    int bodies, loops;
  };
  for (const Robot& robot :
       {Robot{"cassie_v2.sdf", 23, 4}, Robot{"cassie.sdf", 35, 6}, Robot{"cassie_wo_gearbox_spring.sdf", 23, 4}}) {
    if (!test::effort_takes(robot.file)) continue;
    SCOPED_TRACE(robot.file);
    const ImportResult r = import_model(folder / robot.file);
    EXPECT_EQ(r.model.body_count(), robot.bodies);
    EXPECT_EQ(static_cast<int>(r.model.loop_joints().size()), robot.loops);
    ASSERT_TRUE(r.report.assembly.has_value());
    EXPECT_TRUE(r.report.assembly->closed());
    Simulation sim(r.model, {.dt = 1e-3});
    double gap = 0;
    for (int i = 0; i < test::samples(200); ++i) {
      const StepReport& report = sim.step();
      ASSERT_NE(report.status, StepStatus::failed) << report.message;
      gap = std::max(gap, report.joint_gap);
    }
    EXPECT_LT(gap, 3e-8);
  }
  for (const char* name : {"cassie_reduced.sdf", "cassie_simple.sdf"}) {
    if (!test::effort_takes(name)) continue;
    try {
      import_model(folder / name);
      ADD_FAILURE() << name;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("limits"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("the loop of joints"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace sarrus::sdf_test
