// Imports against what MuJoCo 3.12 makes of the same files (scripts/mujoco_facts.py): masses, inertias, poses,
// coordinates. The robots are found in a folder beside the project; without them the tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "effort.h"
#include "robots/shared_robots.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/load.h"
#include "sarrus/robot_files/mjcf_source.h"

namespace sarrus::mujoco_facts_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kFacts = fs::path(SARRUS_SOURCE_DIR) / "tests/robots/facts";
const fs::path kData = test::shared_robots();

std::vector<std::string> fact_files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFacts)) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<double> numbers(const json& list) { return list.get<std::vector<double>>(); }
Vec3 vec3(const std::vector<double>& x, std::size_t i) { return {x[3 * i], x[3 * i + 1], x[3 * i + 2]}; }
Quat quat(const std::vector<double>& x, std::size_t i) { return {x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]}; }

// A file, as the user loads it, and as the reader sees it before the reduction.
struct Both {
  Model model;
  ImportReport report;
  std::unique_ptr<robot::mjcf::Source> source;
};

const Both& load_both(const fs::path& file) {
  static std::map<fs::path, Both> loaded;  // the tests of a file follow each other
  const auto known = loaded.find(file);
  if (known != loaded.end()) return known->second;
  ImportOptions options;
  options.accept = {"all"};
  options.visuals = false;
  options.assemble = ImportAssembly::never;
  ImportResult result = import_model(file, options);
  ImportReport ignored;
  robot::Findings findings(options, ignored);
  const robot::Folders folders(file, options);
  Both both = {
      result.model, result.report,
      robot::mjcf::read_bodies(robot::mjcf::build_tree(xml::read(file), folders, findings), folders, findings)};
  return loaded.emplace(file, std::move(both)).first->second;
}

std::string body_name(const json& body, std::size_t index) {
  const std::string name = body["name"];
  return name.empty() ? "body" + std::to_string(index + 1) : name;
}

class MujocoFacts : public testing::TestWithParam<std::string> {
 protected:
  // Calls f(facts, file) for the files of this set of facts.
  template <class F>
  void each_file(F f) {
    if (!fs::is_directory(kData)) GTEST_SKIP() << "no " << kData;
    std::ifstream in(kFacts / (GetParam() + ".json"));
    const json all = json::parse(in);
    for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(std::min(4, test::sample_divisor()))) {
      const json& facts = all[i];
      const fs::path file = kData / facts["file"].get<std::string>();
      if (!GetParam().starts_with("small_") && !test::effort_takes(file)) continue;
      SCOPED_TRACE(file.string());
      f(facts, file);
    }
  }
};

struct Sum {
  double mass = 0;
  Vec3 moment = Vec3::Zero();
  std::vector<const json*> parts;
};

Mat3 inertia_of(const json& list) {
  const std::vector<double> x = numbers(list);
  Mat3 I;
  I << x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2];
  return I;
}

TEST_P(MujocoFacts, MassesCentresAndInertias) {
  each_file([](const json& facts, const fs::path& file) {
    const Both& both = load_both(file);
    std::map<std::string, Sum> sums;
    for (std::size_t i = 0; i < facts["bodies"].size(); ++i) {
      const json& b = facts["bodies"][i];
      const auto found = both.report.names.find(body_name(b, i));
      ASSERT_NE(found, both.report.names.end()) << body_name(b, i);
      Sum& sum = sums[found->second.body];
      sum.mass += b["mass"].get<double>();
      sum.moment += b["mass"].get<double>() * Vec3(numbers(b["com"]).data());
      sum.parts.push_back(&b);
    }
    // Bodies between the axes of a chain carry a share of the body behind them.
    std::map<std::string, double> share;
    for (const Joint& j : both.model.joints()) {
      if (j.follower == kWorld) continue;
      const std::string& name = both.model.bodies()[at(j.follower)].name;
      if (sums.count(name) > 0) continue;
      for (const auto& [owner, sum] : sums) {
        if (owner != "world" && name.starts_with(owner + "_")) share[owner] += both.model.bodies()[at(j.follower)].mass;
      }
    }
    for (const Body& body : both.model.bodies()) {
      const auto found = sums.find(body.name);
      if (found == sums.end()) continue;
      const Sum& sum = found->second;
      SCOPED_TRACE(body.name);
      if (sum.mass == 0) continue;  // a base of which only the contacts matter
      const bool chain = share.count(body.name) > 0;
      if (!chain) {
        EXPECT_NEAR(body.mass, sum.mass, 1e-11 * std::max(1.0, sum.mass));
      }
      const Vec3 com = sum.moment / sum.mass;
      EXPECT_LE((body.X_WB0.p - com).norm(), 1e-9);
      if (chain) continue;
      Mat3 I = Mat3::Zero();
      for (const json* part : sum.parts) {
        const Vec3 d = Vec3(numbers((*part)["com"]).data()) - com;
        I += inertia_of((*part)["inertia"]) +
             (*part)["mass"].get<double>() * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
      }
      const Mat3 R = body.X_WB0.R();
      // MuJoCo stores principal axes that it stops to improve at 1e-12 kg m^2, and principal moments of meshes.
      EXPECT_LE((R * body.inertia_B * R.transpose() - I).norm(), 1e-3 * I.norm() + 2e-12);
    }
  });
}

TEST_P(MujocoFacts, PosesAndCoordinates) {
  each_file([](const json& facts, const fs::path& file) {
    const Both& both = load_both(file);
    const robot::mjcf::Source& s = *both.source;
    ASSERT_EQ(s.bodies.size(), facts["bodies"].size() + 1);
    ASSERT_EQ(s.joints.size(), facts["joints"].size());
    for (const json& pose : facts["poses"]) {
      const std::vector<double> qpos = numbers(pose["qpos"]);
      const std::vector<double> xpos = numbers(pose["xpos"]);
      const std::vector<double> xquat = numbers(pose["xquat"]);
      ASSERT_EQ(static_cast<int>(qpos.size()), s.nq);
      const std::vector<Pose> X = s.kinematics(qpos);
      std::vector<Pose> X_WB(both.model.bodies().size());
      std::vector<bool> known(X_WB.size(), false);
      for (std::size_t b = 1; b < X.size(); ++b) {
        SCOPED_TRACE(s.bodies[b].name);
        // Bodies that MuJoCo aligns with their inertia have another frame there.
        if (s.bodies[b].align && !s.bodies[b].has_children) continue;
        ASSERT_LE((X[b].p - vec3(xpos, b - 1)).norm(), 1e-12 * std::max(1.0, X[b].p.norm()));
        ASSERT_LE(so3_log(X[b].q.conjugate() * quat(xquat, b - 1)).norm(), 1e-12);
        const ImportedName& name =
            both.report.names.at(s.bodies[b].name.empty() ? "body" + std::to_string(b) : s.bodies[b].name);
        if (name.body == "world") continue;
        const auto body = at(both.model.body(name.body));
        X_WB[body] = X[b] * name.X_BN.inverse();
        known[body] = true;
      }
      if (std::find(known.begin(), known.end(), false) != known.end()) continue;  // chains: bodies that the file lacks
      JointKinematics kinematics(both.model);
      kinematics.update(X_WB);
      for (const robot::mjcf::SourceJoint& j : s.joints) {
        if (j.name.empty() || j.positions() != 1) continue;
        const auto c = both.report.coordinates.find(j.name);
        ASSERT_NE(c, both.report.coordinates.end()) << j.name;
        const int dof = both.model.dof(c->second.coordinate);
        const Joint& joint = both.model.joints()[at(both.model.joint_of_dof(dof))];
        const double wanted = c->second.sign * qpos[at(j.qpos)];
        EXPECT_NEAR(kinematics.coordinate(dof, wanted), wanted, 1e-11) << j.name;
        double residual[6];
        joint_residual(joint, kinematics.frame(both.model.joint_of_dof(dof)), residual);
        for (int r = 0; r < joint_rows(joint); ++r) EXPECT_NEAR(residual[r], 0, 1e-11) << j.name;
      }
    }
  });
}

TEST_P(MujocoFacts, JointsHaveTheirSpringsDampersAndLimits) {
  each_file([](const json& facts, const fs::path& file) {
    const Both& both = load_both(file);
    std::map<std::string, bool> loaded;  // by tendons and actuators, too
    for (std::size_t i = 0; i < facts["joints"].size(); ++i) {
      const json& j = facts["joints"][i];
      const std::string name = j["name"];
      const robot::mjcf::SourceJoint& mine = both.source->joints[i];
      SCOPED_TRACE(name);
      EXPECT_EQ(mine.name, name);
      EXPECT_EQ(static_cast<int>(mine.kind), j["type"].get<int>());
      EXPECT_EQ(mine.body, j["body"].get<int>());
      EXPECT_EQ(mine.limited, j["limited"].get<bool>());
      if (mine.limited) {
        EXPECT_NEAR(mine.range[0], j["range"][0].get<double>(), 1e-14 * std::max(1.0, std::abs(mine.range[0])));
        EXPECT_NEAR(mine.range[1], j["range"][1].get<double>(), 1e-14 * std::max(1.0, std::abs(mine.range[1])));
      }
      EXPECT_NEAR(mine.armature, j["armature"].get<double>(), 1e-14);
      if (mine.springdamper[0] > 0) continue;  // resolved later
      EXPECT_NEAR(mine.stiffness, j["stiffness"].get<double>(), 1e-12 * std::max(1.0, mine.stiffness));
      EXPECT_NEAR(mine.damping, j["damping"].get<double>(), 1e-12 * std::max(1.0, mine.damping));
    }
  });
}

// A damping ratio of 1 on the inertia that the hip feels.
TEST(MujocoRobots, DampingRatiosOfG1) {
  SARRUS_FULL_SIZE_ONLY();  // its meshes are large
  const fs::path file = kData / "mjcf/unitree_g1/g1.xml";
  if (!fs::exists(file)) GTEST_SKIP() << "no " << file;
  const Model& m = load_both(file).model;
  const Drive& drive = m.dofs()[at(m.dof("left_hip_pitch_joint"))].drive;
  EXPECT_NEAR(drive.kp, 500, 1e-12);
  EXPECT_NEAR(drive.kd, 43.010683, 5e-7);
}

// The loops of the robots: rows, and what they leave free, are those of the rigid mechanisms.
struct Counts {
  const char* file;
  int bodies, joints, couplings, loops;
};

TEST(MujocoRobots, BodiesJointsAndLoopsOfTheRobots) {
  if (!fs::is_directory(kData)) GTEST_SKIP() << "no " << kData;
  const Counts table[] = {
      {"agility_cassie/cassie.xml", 23, 26, 0, 4}, {"anybotics_anymal_c/anymal_c.xml", 13, 12, 0, 0},
      {"pal_talos/talos_motor.xml", 45, 44, 6, 0}, {"toddlerbot_2xc/toddlerbot_2xc.xml", 45, 46, 9, 2},
      {"unitree_go2/go2.xml", 13, 12, 0, 0},       {"universal_robots_ur5e/ur5e.xml", 6, 6, 0, 0}};
  for (const Counts& c : table) {
    if (!test::effort_takes(c.file)) continue;
    SCOPED_TRACE(c.file);
    const Model& m = load_both(kData / "mjcf" / c.file).model;
    EXPECT_EQ(m.body_count(), c.bodies);
    EXPECT_EQ(m.joint_count(), c.joints);
    EXPECT_EQ(static_cast<int>(m.couplings().size()), c.couplings);
    EXPECT_EQ(static_cast<int>(m.loop_joints().size()), c.loops);
  }
}

std::string parameter_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Robots, MujocoFacts, testing::ValuesIn(fact_files()), parameter_name);

}  // namespace
}  // namespace sarrus::mujoco_facts_test
