// The scene format: lossless round trips, the meaning of every key, the documentation and the schema.
#include "sarrus/scene_files/scene_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "io/scene_test_models.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"
#include "sarrus/step/simulation.h"

namespace sarrus::scene_file_test {
namespace {

namespace fs = std::filesystem;
using test::text_of;

constexpr double kDegree = std::numbers::pi / 180.0;

// A folder of one test, removed with everything in it.
class SceneFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(::testing::TempDir()) / ("sarrus_scene_" + name + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }

  fs::path folder_;
};

std::vector<std::string> documented_scenes() {
  std::ifstream file(fs::path(SARRUS_SOURCE_DIR) / "docs" / "scene-format.md");
  std::vector<std::string> scenes;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```json") scenes.emplace_back();
    if (inside && line != "```") scenes.back() += line + "\n";
    inside = line == "```json" || (inside && line != "```");
  }
  return scenes;
}

// The one with this name.
std::string documented_scene(const std::string& name) {
  for (const std::string& scene : documented_scenes()) {
    if (nlohmann::json::parse(scene)["name"] == name) return scene;
  }
  throw std::runtime_error("docs/scene-format.md has no scene '" + name + "'");
}

void expect_round_trip(const Model& model) {
  const std::string saved = scene_to_json(model);
  const Model loaded = parse_scene(saved, "saved");
  EXPECT_EQ(text_of(loaded), text_of(model));
  EXPECT_EQ(scene_to_json(loaded), saved);
}

double dof_value(const Model& m, int dof, double Dof::*field) { return m.dofs()[static_cast<std::size_t>(dof)].*field; }

TEST_F(SceneFile, RichModelKeepsEveryBit) { expect_round_trip(test::RandomModel(7).make_rich()); }

TEST_F(SceneFile, RandomModelsKeepEveryBit) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    expect_round_trip(test::RandomModel(seed).make(1 + static_cast<int>(seed % 9)));
  }
}

TEST_F(SceneFile, ExtremeNumbersKeepTheirBits) {
  ModelBuilder b("");
  const int body = b.add_sphere_body("a", 1.0 / 3.0, 1e-3, {Vec3(4.9e-324, -0.0, 1.7976931348623157e308)});
  b.set_velocity(body, Vec3(2.2250738585072014e-308, -0.1, 0.1), Vec3(-0.0, 1e22, 9007199254740993.0));
  Joint joint;
  joint.name = "slide";
  joint.type = JointType::prismatic;
  joint.follower = body;
  const int slide = b.add_joint(joint);
  b.dof(slide).limit.lower = -0.0;
  b.dof(slide).rest = 123456789.123456789;
  expect_round_trip(b.build());
}

TEST_F(SceneFile, ComplianceIsReadWhereverItBelongs) {
  const Model m = parse_scene(test::kHandWritten, "hand");
  EXPECT_FALSE(m.materials()[0].compliance.compliant());
  EXPECT_EQ(m.materials()[1].compliance, Compliance::soft_physical(1e5, 0.02));
  EXPECT_EQ(m.material_pairs()[0].compliance, Compliance::soft_hertz(1e7, 0.1, 0));
  EXPECT_FALSE(m.material_pairs()[1].compliance.has_value());
  Compliance limit = Compliance::soft_mujoco(0.1);
  limit.d0 = 0.5;
  EXPECT_EQ(m.dofs()[static_cast<std::size_t>(m.dof("hinge"))].limit.compliance, limit);
  Compliance tube = Compliance::soft_spring_damper(2e4, 10);
  tube.length = 0.1;
  EXPECT_EQ(m.joints()[static_cast<std::size_t>(m.joint("tube"))].compliance, tube);
  EXPECT_EQ(m.couplings()[1].compliance, Compliance::soft_cfm_erp(1e-4, 0.2));
}

TEST_F(SceneFile, EveryComplianceModelRoundTrips) {
  for (int i = 0; i < kComplianceModelCount; ++i) {
    ModelBuilder b("compliance");
    Compliance c = Compliance::soft_spring_damper(1.0 / 3, 0.1);
    c.model = static_cast<ComplianceModel>(i);
    c.modulus = 1e7 / 3;
    c.radius = 0.1;
    c.unit_factor = c.model == ComplianceModel::hertz;
    // Parameters of other models are not part of the file.
    const Model first = [&] {
      b.add_material("soft", 0.5, 0, c);
      return b.build();
    }();
    const Compliance read = parse_scene(scene_to_json(first), "saved").materials()[1].compliance;
    EXPECT_EQ(read.model, c.model);
    ModelBuilder again("compliance");
    again.add_material("soft", 0.5, 0, read);
    again.set_material_pair(0, 1, 0.5, 0, read);
    expect_round_trip(again.build());
  }
}

TEST_F(SceneFile, EmptyModelRoundTrips) { expect_round_trip(ModelBuilder("nothing").build()); }

TEST_F(SceneFile, HandWrittenSceneRoundTrips) { expect_round_trip(parse_scene(test::kHandWritten, "hand")); }

TEST_F(SceneFile, NamesMayLookLikeCoordinates) {
  ModelBuilder b("names");
  const int body = b.add_sphere_body("a", 1, 1, {});
  const int first = b.add_joint_at("a", JointType::revolute, kWorld, body, Vec3::Zero());
  const int second = b.add_joint_at("a.angle", JointType::revolute, kWorld, body, Vec3::Zero());
  b.add_coupling("one", b.dof_index(second), b.dof_index(first), 1);
  b.add_coupling("two", b.dof_index(first), b.dof_index(second), 2);
  expect_round_trip(b.build());
}

TEST_F(SceneFile, ShapeOrderIsWrittenOnlyIfNeeded) {
  ModelBuilder b("order");
  b.add_sphere_body("a", 1, 1, {});
  b.add_floor();
  EXPECT_EQ(scene_to_json(b.build()).find("shape_order"), std::string::npos);
  b.add_sphere_body("b", 1, 1, {});
  EXPECT_NE(scene_to_json(b.build()).find("shape_order"), std::string::npos);
  expect_round_trip(b.build());
}

TEST_F(SceneFile, ReadsTopLevelAndDefaults) {
  const Model m = parse_scene(test::kHandWritten, "hand");
  EXPECT_EQ(m.name(), "hand written");
  EXPECT_EQ(m.gravity(), Vec3(0, 0, -10));
  EXPECT_EQ(m.defaults().dt, 0.002);
  EXPECT_EQ(m.defaults().duration, 3);
  EXPECT_EQ(m.defaults().integrator, "moreau");
  ASSERT_EQ(m.materials().size(), 2u);
  EXPECT_EQ(m.material_pairs()[0].mu, 0.8);
  EXPECT_EQ(m.material_pairs()[0].restitution, 0.5);  // the larger of the two materials'
  EXPECT_EQ(m.material_pairs()[1].mu, 1.0);
  const Geom& left = m.geoms()[1];  // after the floor, by shape_order
  EXPECT_EQ(left.name, "left");
  EXPECT_EQ(left.material, 1);
  EXPECT_EQ(left.group, 2u);
  EXPECT_EQ(left.collides_with, 0x80000001u);
  EXPECT_EQ(m.geoms()[2].material, 0);
  EXPECT_EQ(m.geoms()[2].group, ~0u);
  EXPECT_EQ(m.geoms()[2].collides_with, 0u);
  EXPECT_EQ(m.joints()[0].erp, 0.3);
  EXPECT_EQ(m.joints()[2].erp, 0.1);
  EXPECT_EQ(dof_value(m, m.dof("hinge"), &Dof::damping), 0.25);
  EXPECT_EQ(dof_value(m, m.dof("motor"), &Dof::damping), 0);
  EXPECT_EQ(dof_value(m, m.dof("tube.position"), &Dof::armature), 0.125);
  EXPECT_EQ(dof_value(m, m.dof("tube.angle"), &Dof::dry_friction), 0.5);
  EXPECT_EQ(m.excludes()[0], (BodyPair{0, 3}));
  EXPECT_EQ(m.excludes()[1], (BodyPair{kWorld, 2}));
  EXPECT_EQ(m.includes()[0], (BodyPair{0, 1}));
}

TEST_F(SceneFile, ConvertsDegrees) {
  const Model m = parse_scene(test::kHandWritten, "hand");
  const Dof& hinge = m.dofs()[static_cast<std::size_t>(m.dof("hinge"))];
  EXPECT_DOUBLE_EQ(hinge.limit.lower, -90 * kDegree);
  EXPECT_DOUBLE_EQ(hinge.limit.upper, 45 * kDegree);
  EXPECT_EQ(hinge.limit.restitution, 0.75);
  EXPECT_EQ(hinge.limit.erp, 0.5);
  EXPECT_EQ(hinge.stiffness, 7);
  EXPECT_DOUBLE_EQ(hinge.rest, 30 * kDegree);
  EXPECT_DOUBLE_EQ(hinge.drive.target.offset, 10 * kDegree);
  EXPECT_DOUBLE_EQ(hinge.drive.target.rate, 20 * kDegree);
  EXPECT_DOUBLE_EQ(hinge.drive.target.amplitude, 30 * kDegree);
  EXPECT_EQ(hinge.drive.target.frequency, 2);
  EXPECT_DOUBLE_EQ(hinge.drive.target.phase, 90 * kDegree);
  EXPECT_EQ(hinge.drive.kp, 10);
  EXPECT_EQ(hinge.drive.effort_limit, 5);
  const auto dof = [&](const char* name) { return m.dofs()[static_cast<std::size_t>(m.dof(name))]; };
  EXPECT_EQ(dof("motor").drive.target.offset, 45);  // a torque
  EXPECT_EQ(dof("motor").limit.restitution, 0);     // default limits need a limit
  EXPECT_EQ(dof("tube.position").drive.target.offset, 2);
  EXPECT_EQ(dof("tube.position").limit.lower, -1);
  EXPECT_EQ(dof("tube.position").limit.upper, kInf);
  EXPECT_DOUBLE_EQ(dof("tube.angle").drive.target.offset, 2 * kDegree);
  EXPECT_DOUBLE_EQ(m.joints()[4].swing_limit, 60 * kDegree);
  EXPECT_EQ(m.joints()[4].q_rest.coeffs(), Quat(0.6, 0, 0.8, 0).coeffs());
  for (const char* axis : {"ball.wx", "ball.wy", "ball.wz"}) EXPECT_EQ(dof(axis).stiffness, 3);
  EXPECT_EQ(dof("ball.wx").damping, 0.5);
  EXPECT_EQ(dof("ball.wz").damping, 2);
  EXPECT_DOUBLE_EQ(m.bodies()[0].w0_W[2], std::numbers::pi);
  EXPECT_DOUBLE_EQ(m.couplings()[0].offset, 90 * kDegree);
  EXPECT_EQ(m.couplings()[0].ratio, -2);
  EXPECT_EQ(m.couplings()[0].dof_b, m.dof("hinge"));
  EXPECT_EQ(m.couplings()[1].offset, 0.5);  // a length
}

TEST_F(SceneFile, ReadsOrientations) {
  const Model m = parse_scene(test::kHandWritten, "hand");
  const Mat3 rod = m.bodies()[0].X_WB0.R();
  EXPECT_LT((rod.col(0) - Vec3(0, 0, -1)).norm(), 1e-15);
  const Mat3 bar = m.bodies()[1].X_WB0.R();
  EXPECT_LT((bar.col(0) - Vec3(0, 1, 0)).norm(), 1e-15);
  EXPECT_LT((bar.col(2) - Vec3(1, 0, 0)).norm(), 1e-15);
  EXPECT_NEAR(m.bodies()[2].X_WB0.q.norm(), 1, 1e-15);

  auto scene = nlohmann::json::parse(test::kHandWritten);
  scene["bodies"][0]["pose"] = {{"euler_xyz", {20, 30, 40}}};
  const Mat3 R = parse_scene(scene.dump(), "euler").bodies()[0].X_WB0.R();
  const Vec3 a = Vec3(20, 30, 40) * kDegree;
  const Mat3 expected = (Eigen::AngleAxisd(a[0], Vec3::UnitX()) * Eigen::AngleAxisd(a[1], Vec3::UnitY()) *
                         Eigen::AngleAxisd(a[2], Vec3::UnitZ()))
                            .toRotationMatrix();
  EXPECT_LT((R - expected).norm(), 1e-14);
  scene["bodies"][0]["pose"] = {{"y_axis", {0, 0, 1}}, {"z_axis", {0, 1, 0}}};
  EXPECT_LT((parse_scene(scene.dump(), "yz").bodies()[0].X_WB0.R().col(0) - Vec3(-1, 0, 0)).norm(), 1e-14);
}

TEST_F(SceneFile, WorldAnchorsCloseEveryJoint) {
  const Model m = parse_scene(test::kHandWritten, "hand");
  const auto pose = [&](int body) {
    return body == kWorld ? Pose{} : m.bodies()[static_cast<std::size_t>(body)].X_WB0;
  };
  for (const Joint& j : m.joints()) {
    if (j.type == JointType::distance || j.type == JointType::free) continue;
    const Pose X_WB = pose(j.base) * Pose{j.p_BJ, j.q_BJ};
    const Pose X_WF = pose(j.follower) * Pose{j.p_FJ, j.q_FJ};
    EXPECT_LT((X_WB.p - X_WF.p).norm(), 1e-14) << j.name;
    EXPECT_LT((X_WB.R() - X_WF.R()).norm(), 1e-14) << j.name;
  }
  EXPECT_LT((Mat3(m.joints()[0].q_BJ.toRotationMatrix()).col(0) - Vec3(0, 1, 0)).norm(), 1e-15);
  EXPECT_LT((Mat3(m.joints()[3].q_BJ.toRotationMatrix()).col(2) - Vec3(0, 0, 1)).norm(), 1e-15);
  EXPECT_DOUBLE_EQ(m.joints()[5].length, 5);
  EXPECT_EQ(m.joints()[6].length, 1.5);
  EXPECT_TRUE(m.joints()[6].rope);
}

TEST_F(SceneFile, ComputesMassesFromShapes) {
  const Model m = parse_scene(test::kHandWritten, "hand");
  // rod: two spheres of 1000 kg/m^3 at x = +-1
  const double sphere = 1000 * shape_volume(Shape::sphere(0.1));
  const Body& rod = m.bodies()[0];
  EXPECT_DOUBLE_EQ(rod.mass, 2 * sphere);
  EXPECT_NEAR(rod.inertia_B(0, 0), 2 * 0.4 * sphere * 0.01, 1e-12);
  EXPECT_NEAR(rod.inertia_B(1, 1), 2 * (0.4 * sphere * 0.01 + sphere), 1e-12);
  // bar: one box, the same bits as the builder's
  const Body& bar = m.bodies()[1];
  EXPECT_EQ(bar.inertia_B, solid_inertia(Shape::box({0.1, 0.2, 0.3}), 3));
  EXPECT_EQ(m.bodies()[2].inertia_B(0, 1), 0.1);
  EXPECT_EQ(m.bodies()[2].inertia_B(2, 0), 0.2);
  EXPECT_EQ(m.bodies()[2].inertia_B(1, 2), 0.3);
  EXPECT_DOUBLE_EQ(m.bodies()[3].mass, 500 * shape_volume(Shape::capsule(0.1, 0.2)));
}

// The name is kept as it stands, and checked by who simulates.
TEST_F(SceneFile, AnUnknownIntegratorIsRefusedWithTheFile) {
  auto scene = nlohmann::json::parse(test::kHandWritten);
  scene["run"]["integrator"] = "moreu";
  const Model model = parse_scene(scene.dump(), "bad.json");
  expect_round_trip(model);
  try {
    const Simulation sim(model);
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), "bad.json: scene: run.integrator 'moreu' is unknown; did you mean 'moreau'?");
  }
}

TEST_F(SceneFile, RotatedShapesRotateTheirInertia) {
  auto scene = nlohmann::json::parse(test::kHandWritten);
  scene["bodies"][1]["shapes"][0]["pose"] = {{"euler_xyz", {0, 0, 90}}};
  const Mat3 I = parse_scene(scene.dump(), "turned").bodies()[1].inertia_B;
  EXPECT_LT((I - solid_inertia(Shape::box({0.2, 0.1, 0.3}), 3)).norm(), 1e-14);
}

TEST_F(SceneFile, DocumentedExamplesLoad) {
  const std::vector<std::string> scenes = documented_scenes();
  ASSERT_EQ(scenes.size(), 8u);
  for (const std::string& scene : scenes) expect_round_trip(parse_scene(scene, "documented"));
  const Model pendulum = parse_scene(documented_scene("pendulum"), "pendulum");
  EXPECT_EQ(pendulum.joint_count(), 1);
  EXPECT_TRUE(pendulum.loop_joints().empty());
  const Model four_bar = parse_scene(documented_scene("four-bar"), "four-bar");
  EXPECT_EQ(four_bar.joint_count(), 4);
  EXPECT_EQ(four_bar.loop_joints().size(), 1u);
  const Model shapes = parse_scene(documented_scene("shapes"), "shapes");
  EXPECT_EQ(shapes.geoms().size(), 4u);
  EXPECT_EQ(shapes.geoms()[3].shape.kind, ShapeKind::height_field);
  EXPECT_EQ(shapes.bodies()[0].ccd, Ccd::speculative);
  const Model soft = parse_scene(documented_scene("soft"), "soft");
  EXPECT_EQ(soft.materials()[1].compliance, Compliance::soft_physical(1e5, 0.02));
  EXPECT_EQ(soft.joints()[0].compliance.model, ComplianceModel::spring_damper);
  EXPECT_EQ(soft.dofs()[0].limit.compliance.model, ComplianceModel::mujoco);
  const Model antenna = parse_scene(documented_scene("antenna"), "antenna");
  EXPECT_TRUE(antenna.joints()[0].q_rest.isApprox(so3_exp(Vec3(0, 5 * kDegree, 0)), 1e-15));
  for (const Dof& dof : antenna.dofs()) EXPECT_EQ(dof.stiffness, 20);
  for (const Dof& dof : antenna.dofs()) EXPECT_EQ(dof.damping, 0.1);
}

// The documented pin in a slot: a planar joint with y locked. The pin turns against the yoke by a turn and slides in
// its slot by the radius of the crank to either side; the yoke follows the crank's cosine.
TEST_F(SceneFile, APinSlidesAndTurnsInItsSlot) {
  const Model model = parse_scene(documented_scene("scotch-yoke"), "yoke");
  expect_round_trip(model);
  Simulation sim(model);
  const auto coordinate = [&](const char* name) { return sim.state().q[static_cast<std::size_t>(model.dof(name))]; };
  const double start = coordinate("guide");
  double lowest = 0;
  double highest = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(sim.step().status, StepStatus::failed);
    const double angle = coordinate("motor");
    EXPECT_NEAR(coordinate("guide") - start, 0.1 * (std::cos(angle) - 1), 1e-8);
    EXPECT_NEAR(coordinate("slot.x"), -0.1 * std::sin(angle), 1e-8);
    EXPECT_NEAR(coordinate("slot.y"), 0, 1e-9);
    EXPECT_NEAR(coordinate("slot.angle"), angle, 1e-8);
    lowest = std::min(lowest, coordinate("slot.x"));
    highest = std::max(highest, coordinate("slot.x"));
  }
  EXPECT_NEAR(coordinate("motor"), 2 * std::numbers::pi, 0.1);
  EXPECT_NEAR(lowest, -0.1, 1e-4);
  EXPECT_NEAR(highest, 0.1, 1e-4);
}

TEST_F(SceneFile, OrientationsInTheOtherUnitAreSuspicious) {
  const auto messages = [](const std::string& unit, const std::string& euler) {
    return suspicious_orientations(R"({"angle_unit": ")" + unit +
                                   R"(", "bodies": [{"shapes": [{"pose": {"euler_xyz": )" + euler + "}}]}]}");
  };
  EXPECT_EQ(messages("rad", "[0, 90, 0]"),
            (std::vector<std::string>{"bodies[0].shapes[0].pose.euler_xyz has 90 rad: looks like degrees; set "
                                      "\"angle_unit\": \"deg\", or convert it"}));
  EXPECT_EQ(messages("deg", "[0, 1.5708, 0]").size(), 1u);
  EXPECT_TRUE(messages("deg", "[0, 90, 45]").empty());
  EXPECT_TRUE(messages("rad", "[0, 1.5708, 3]").empty());
  EXPECT_TRUE(messages("rad", "[\"x\", null]").empty());
  for (const char* text : {"", "[1]", "{", "{}", R"({"angle_unit": 3})"}) {
    EXPECT_TRUE(suspicious_orientations(text).empty()) << text;
  }
}

TEST_F(SceneFile, TablesAreReadInTheUnitOfTheFile) {
  const auto scene = [](const std::string& type, const std::string& axis, const std::string& drive) {
    return R"({"format": "sarrus-scene", "version": 1, "angle_unit": "deg",
      "bodies": [{"name": "a", "mass": 1, "inertia": [1, 1, 1]}],
      "joints": [{"name": "j", "type": ")" +
           type + R"(", "base": "world", "follower": "a", "at": [0, 0, 0],
        "axis": )" +
           axis + R"(, "drive": )" + drive + "}]}";
  };
  const std::string table = R"("table": [[0.5, 90], [1, 180], [3, -45.5]], "interpolation": "cubic"}})";
  const auto target = [&](const std::string& type, const std::string& mode) {
    const Model m = parse_scene(
        scene(type, "[0, 0, 1]", R"({"mode": ")" + mode + R"(", "kp": 1, "kd": 1, "target": {)" + table), "table");
    expect_round_trip(m);
    return m.dofs()[0].drive.target;
  };
  const double degree = std::numbers::pi / 180;
  for (const char* mode : {"position", "velocity"}) {
    const Signal s = target("revolute", mode);
    ASSERT_EQ(s.table.size(), 3u);
    EXPECT_EQ(s.interpolation, Interpolation::cubic);
    EXPECT_EQ(s.table[0].time, 0.5);
    EXPECT_DOUBLE_EQ(s.table[2].value, -45.5 * degree);
    EXPECT_DOUBLE_EQ(s.value(0), 90 * degree);
    EXPECT_EQ(target("prismatic", mode).table[1].value, 180);
  }
  EXPECT_EQ(target("revolute", "force").table[1].value, 180);
}

TEST_F(SceneFile, SavesAndLoadsFiles) {
  const Model m = test::RandomModel(3).make_rich();
  const fs::path file = folder_ / "scene.json";
  save_scene(m, file);
  save_scene(m, file);  // over an existing file
  EXPECT_EQ(text_of(load_scene(file)), text_of(m));
  EXPECT_EQ(read(file), scene_to_json(m));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1) << "a temporary file is left";
}

TEST_F(SceneFile, SavingFollowsLinksAndKeepsPermissions) {
  const Model m = ModelBuilder("link").build();
  const fs::path file = write("scene.json", "old");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(file, folder_ / "link.json");
  save_scene(m, folder_ / "link.json");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(read(file), scene_to_json(m));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

void expect_save_error(const Model& model, const fs::path& file, const std::string& phrase) {
  try {
    save_scene(model, file);
    ADD_FAILURE() << "saved to " << file;
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find(file.string() + ": "), 0u) << what;
    EXPECT_NE(what.find(phrase), std::string::npos) << what;
  }
}

TEST_F(SceneFile, SavingNamesThePathItCannotWrite) {
  const Model m = ModelBuilder("x").build();
  expect_save_error(m, folder_ / "missing" / "scene.json", "check that its folder exists");
  expect_save_error(m, folder_, "is a directory");
  expect_save_error(m, "/dev/null", "not a regular file");
}

TEST_F(SceneFile, RefusesModelsThatAFileCannotHold) {
  expect_save_error(ModelBuilder("\xff").build(), folder_ / "a.json", "not UTF-8");
  ModelBuilder b("limits");
  const int body = b.add_sphere_body("a", 1, 1, {});
  b.add_joint_at("j", JointType::revolute, kWorld, body, Vec3::Zero());
  b.dof(0).limit.erp = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(scene_to_json(b.build()), InputError);
}

constexpr const char* kSchemaCheck = R"(
import copy, json, sys
try:
    import jsonschema
except ImportError:
    sys.exit(77)
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

def objects(value, path=()):
    if isinstance(value, dict):
        yield path
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from objects(item, path + (key,))

seen = set()
for name in sys.argv[2:]:
    scene = json.load(open(name))
    for error in validator.iter_errors(scene):
        sys.exit(f'{name}: {list(error.path)}: {error.message}')
    for path in objects(scene):
        kind = tuple(key for key in path if isinstance(key, str))
        if kind in seen:
            continue
        seen.add(kind)
        changed = copy.deepcopy(scene)
        target = changed
        for key in path:
            target = target[key]
        target['no_such_key'] = 1
        if validator.is_valid(changed):
            sys.exit(f'{name}: the schema accepts an unknown key in {path}')
)";

TEST_F(SceneFile, SchemaAcceptsScenesAndRefusesUnknownKeys) {
  std::vector<std::string> scenes = documented_scenes();
  scenes.emplace_back(test::kHandWritten);
  scenes.emplace_back(test::kShapesScene);
  scenes.push_back(scene_to_json(test::RandomModel(7).make_rich()));
  for (unsigned seed = 1; seed <= 5; ++seed) scenes.push_back(scene_to_json(test::RandomModel(seed).make(5)));
  std::string command = "python3 '" + write("check.py", kSchemaCheck).string() + "' '" +
                        (fs::path(SARRUS_SOURCE_DIR) / "docs" / "scene.schema.json").string() + "'";
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    command += " '" + write("scene" + std::to_string(i) + ".json", scenes[i]).string() + "'";
  }
  const fs::path log = folder_ / "log";
  const int status = std::system((command + " > '" + log.string() + "' 2>&1").c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 77 || code == 127) GTEST_SKIP() << "needs python3 with the jsonschema package";
  EXPECT_EQ(code, 0) << read(log);
}

}  // namespace
}  // namespace sarrus::scene_file_test
