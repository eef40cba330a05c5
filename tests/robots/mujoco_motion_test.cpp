// Robots that move as MuJoCo 3.12 moves them (scripts/mujoco_facts.py): accelerations at a random state, the state half
// a second later, forces of actuators, and which shapes may touch. MuJoCo's constraints are soft, ours are not: both
// are compared without them. Without the robots beside the project the tests are skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "effort.h"
#include "robots/shared_robots.h"
#include "sarrus/collision/filter.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/load.h"
#include "sarrus/rows/rows.h"
#include "sarrus/step/simulation.h"

namespace sarrus::mujoco_motion_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kFacts = fs::path(SARRUS_SOURCE_DIR) / "tests/robots/facts";
const fs::path kData = test::shared_robots();

std::vector<std::string> robots() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFacts)) {
    const std::string name = entry.path().stem().string();
    if (!name.starts_with("small_")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<double> numbers(const json& list) { return list.get<std::vector<double>>(); }

std::string text(const json& list) {
  std::string out;
  for (const double x : numbers(list)) out += fmt::format("{} ", x);
  return out;
}

// The file with flags and a keyframe, in a folder of links to what is beside it: as the script reads it.
class Wrapped {
 public:
  Wrapped(const fs::path& file, const std::string& flags, const json& state)
      : folder_(fs::temp_directory_path() / ("sarrus_motion_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const auto& entry : fs::directory_iterator(file.parent_path())) {
      fs::create_symlink(fs::canonical(entry.path()), folder_ / entry.path().filename());
    }
    std::string key;
    for (const char* name : {"qpos", "qvel", "ctrl"}) {
      if (state.contains(name)) key += fmt::format(" {}='{}'", name, text(state[name]));
    }
    std::ofstream(folder_ / "oracle-wrapper.xml")
        << "<mujoco><include file='" << file.filename().string() << "'/><option><flag " << flags
        << "/></option><keyframe><key name='oracle'" << key << "/></keyframe></mujoco>";
  }
  ~Wrapped() { fs::remove_all(folder_); }
  Wrapped(const Wrapped&) = delete;
  Wrapped& operator=(const Wrapped&) = delete;

  ImportResult import(bool at_key = true) const {
    ImportOptions options;
    options.accept = {"all"};
    options.visuals = false;
    options.assemble = ImportAssembly::never;
    options.allow_outside = true;
    if (at_key) options.key = "oracle";
    return import_model(folder_ / "oracle-wrapper.xml", options);
  }

 private:
  fs::path folder_;
};

// A joint of one coordinate, where its numbers are in qpos and qvel, and what it has become.
struct Coordinate {
  std::string name;
  std::size_t qpos, qvel;
  int dof;
  double sign;
};

std::vector<Coordinate> coordinates(const json& facts, const ImportResult& import) {
  constexpr std::size_t positions[] = {7, 4, 1, 1}, velocities[] = {6, 3, 1, 1};
  std::vector<Coordinate> out;
  std::size_t q = 0, v = 0;
  for (const json& j : facts["joints"]) {
    const auto type = j["type"].get<std::size_t>();
    const auto found = import.report.coordinates.find(j["name"].get<std::string>());
    if (type >= 2 && found != import.report.coordinates.end())
      out.push_back({j["name"], q, v, import.model.dof(found->second.coordinate), found->second.sign});
    q += positions[type];
    v += velocities[type];
  }
  return out;
}

class MujocoMotion : public testing::TestWithParam<std::string> {
 protected:
  // Calls f(facts, file), unless the robots are not there.
  template <class F>
  void with_facts(F f) {
    if (!fs::is_directory(kData)) GTEST_SKIP() << "no " << kData;
    std::ifstream in(kFacts / (GetParam() + ".json"));
    const json all = json::parse(in);
    const fs::path file = kData / all[0]["file"].get<std::string>();
    if (!test::effort_takes(file)) GTEST_SKIP() << "the short run takes small robots";
    SCOPED_TRACE(file.string());
    f(all[0], file);
  }
};

Simulation started(const Model& model, double dt, double tolerance = 1e-9) {
  SimulationOptions options;
  options.dt = dt;
  options.tolerance = tolerance;
  options.integrator = Integrator::moreau;
  return Simulation(model, options);
}

// The model with MuJoCo's inertias, whose principal axes stop at 1e-12 kg m^2 (mujoco_facts_test.cpp compares the
// numbers themselves): what is compared here is how it moves. Inertias of `facts` are about the centres of mass, in
// world axes at the reference, at which `reference` stands.
Model with_their_inertias(const json& facts, const ImportResult& import, const ImportResult& reference) {
  struct Sum {
    double mass = 0;
    Vec3 moment = Vec3::Zero();
    std::vector<std::tuple<double, Vec3, Mat3>> parts;
  };
  std::vector<Sum> sums(import.model.bodies().size());
  std::size_t source = 0;
  for (const json& b : facts["bodies"]) {
    const std::string name = b["name"];
    const std::string& body = import.report.names.at(name.empty() ? "body" + std::to_string(++source) : name).body;
    if (!name.empty()) ++source;
    if (body == "world") continue;
    Sum& sum = sums[at(import.model.body(body))];
    const std::vector<double> com = numbers(b["com"]), I = numbers(b["inertia"]);
    Mat3 inertia;
    inertia << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
    const double mass = b["mass"];
    sum.mass += mass;
    sum.moment += mass * Vec3(com[0], com[1], com[2]);
    sum.parts.emplace_back(mass, Vec3(com[0], com[1], com[2]), inertia);
  }
  ModelData data = import.model.data();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (!(sums[i].mass > 0)) continue;
    const Vec3 centre = sums[i].moment / sums[i].mass;
    Mat3 inertia = Mat3::Zero();
    for (const auto& [mass, com, own] : sums[i].parts) {
      const Vec3 d = com - centre;
      inertia += own + mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
    }
    const Mat3 R = reference.model.bodies()[i].X_WB0.R();
    data.bodies[i].inertia_B = R.transpose() * inertia * R;
    data.bodies[i].inertia_B = (0.5 * (data.bodies[i].inertia_B + data.bodies[i].inertia_B.transpose())).eval();
  }
  return finish_model(std::move(data));
}

// Rates after one step give accelerations to the first order of its length, and extrapolation from shorter and shorter
// ones (Neville) to as many orders as there are lengths. What is left is what steps leave: their velocities are tangent
// to the joints up to 1e-9 of what gravity changes.
TEST_P(MujocoMotion, AccelerationsAtARandomState) {
  with_facts([](const json& facts, const fs::path& file) {
    if (!facts.contains("motion")) GTEST_SKIP() << "has tendons in space";
    const json& motion = facts["motion"];
    const Wrapped wrapped(file, motion["flags"], motion);
    const ImportResult import = wrapped.import();
    const Model model = with_their_inertias(facts, import, wrapped.import(false));
    const std::vector<double> qacc = numbers(motion["qacc"]);
    double largest = 1;
    for (const double a : qacc) largest = std::max(largest, std::abs(a));
    // Its dampers are stiff: steps are so short that the round-off of rates shows.
    const bool stiff = GetParam().starts_with("shadow");
    const double h = stiff ? 2e-5 : 4e-4;
    const double bound = stiff ? 5e-9 : 1e-9;
    constexpr std::size_t kLengths = 6;
    std::array<std::vector<double>, kLengths> mean;
    const std::vector<Coordinate> all = coordinates(facts, import);
    for (std::size_t k = 0; k < kLengths; ++k) {
      const double dt = h / static_cast<double>(1 << k);
      Simulation sim = started(model, dt, 1e-15);  // rows of armatures are solved for by iterations
      std::vector<double> before;
      for (const Coordinate& c : all) before.push_back(sim.joint_rate(c.dof));
      sim.step();
      for (std::size_t i = 0; i < all.size(); ++i) mean[k].push_back((sim.joint_rate(all[i].dof) - before[i]) / dt);
    }
    double worst = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t order = 1; order < kLengths; ++order) {
        for (std::size_t k = kLengths - 1; k >= order; --k) {
          mean[k][i] += (mean[k][i] - mean[k - 1][i]) / (std::pow(2.0, static_cast<double>(order)) - 1);
        }
      }
      const double error = std::abs(mean.back()[i] - all[i].sign * qacc[all[i].qvel]) / largest;
      EXPECT_LE(error, bound) << all[i].name;
      worst = std::max(worst, error);
    }
    RecordProperty("largest error", fmt::format("{:.2e} of {:.3g} rad/s^2", worst, largest));
  });
}

TEST_P(MujocoMotion, TrajectoriesOverHalfASecond) {
  with_facts([](const json& facts, const fs::path& file) {
    if (!facts.contains("motion")) GTEST_SKIP() << "has tendons in space";
    if (test::sample_divisor() > 1) GTEST_SKIP() << "at full size only";
    const json& motion = facts["motion"];
    const ImportResult import = Wrapped(file, motion["flags"], motion).import();
    const std::vector<double> end = numbers(motion["end"]);
    const std::vector<Coordinate> all = coordinates(facts, import);
    double error[2] = {0, 0};
    for (int k = 0; k < 2; ++k) {
      const int steps = 500 << k;
      Simulation sim = started(import.model, 0.5 / steps);
      for (int i = 0; i < steps; ++i) ASSERT_NE(sim.step().status, StepStatus::failed);
      for (const Coordinate& c : all) {
        error[k] = std::max(error[k], std::abs(sim.state().q[at(c.dof)] - c.sign * end[c.qpos]));
      }
    }
    RecordProperty("error at 1 ms and at 0.5 ms", fmt::format("{:.2e} {:.2e}", error[0], error[1]));
    // The hands are light: the allegro's fingers reach 340 rad/s^2, and dampers of the shadow hand are too stiff for
    // these steps, which then are of the first order.
    const bool stiff = GetParam().starts_with("shadow"), quick = GetParam().starts_with("wonik");
    EXPECT_LT(error[1], quick ? 2e-2 : 1e-3);
    EXPECT_LT(error[1], (stiff ? 0.52 : 0.3) * error[0] + 3e-7);
  });
}

TEST_P(MujocoMotion, ForcesOfActuators) {
  with_facts([](const json& facts, const fs::path& file) {
    for (const json& state : facts["actuation"]) {
      const ImportResult import = Wrapped(file, "contact='enable'", state).import();
      const Model& model = import.model;
      const std::vector<double> qpos = numbers(state["qpos"]), qvel = numbers(state["qvel"]);
      const std::vector<double> wanted = numbers(state["force"]);
      const std::vector<Coordinate> all = coordinates(facts, import);
      std::vector<double> q(model.dofs().size(), 0.0), rate(q), force(q);
      for (const Coordinate& c : all) {
        q[at(c.dof)] = c.sign * qpos[c.qpos];
        rate[at(c.dof)] = c.sign * qvel[c.qvel];
      }
      for (int i = 0; i < model.scalar_count(); ++i) {
        const Dof& dof = model.scalars()[at(i)];
        double x = model.is_combination(i) ? 0 : q[at(i)], v = model.is_combination(i) ? 0 : rate[at(i)];
        std::vector<CombinationTerm> terms = {{i, 1}};
        if (model.is_combination(i)) {
          const Combination& c = model.combinations()[at(i - model.dof_count())];
          terms = c.terms;
          x = c.offset;
          for (const CombinationTerm& t : terms) {
            x += t.coefficient * q[at(t.dof)];
            v += t.coefficient * rate[at(t.dof)];
          }
        }
        const double target = std::clamp(dof.drive.target.offset, dof.drive.target_lower, dof.drive.target_upper);
        double f = 0;
        if (dof.drive.mode == DriveMode::force) {
          f = dof.drive.clamp_effort(target);
        } else if (dof.drive.mode != DriveMode::none) {
          f = explicit_servo_force(dof, {{target, 0}, {target, 0}, 0}, x, v);
        }
        for (const CombinationTerm& t : terms) force[at(t.dof)] += t.coefficient * f;
      }
      double largest = 1;
      std::vector<double> theirs(force.size(), 0.0);
      for (const Coordinate& c : all) {
        theirs[at(c.dof)] = c.sign * wanted[c.qvel];
        largest = std::max(largest, std::abs(wanted[c.qvel]));
      }
      // What drives several coordinates that are tied to one drives that one here.
      for (const Coupling& c : model.couplings()) {
        for (std::vector<double>* f : {&force, &theirs}) {
          (*f)[at(c.dof_b)] += c.ratio * (*f)[at(c.dof_a)];
          (*f)[at(c.dof_a)] = 0;
        }
      }
      for (const Coordinate& c : all) {
        EXPECT_NEAR(force[at(c.dof)], theirs[at(c.dof)], 1e-12 * largest) << c.name;
      }
    }
  });
}

// By body of the model. Bodies that only an equality joins may touch in MuJoCo and not here.
TEST_P(MujocoMotion, PairsThatMayTouch) {
  with_facts([](const json& facts, const fs::path& file) {
    const ImportResult import = Wrapped(file, "contact='enable'", json::object()).import(false);
    const Model& model = import.model;
    const auto body_of = [&](std::size_t source) {
      if (source == 0) return kWorld;
      const std::string name = facts["bodies"][source - 1]["name"];
      const std::string& body = import.report.names.at(name.empty() ? "body" + std::to_string(source) : name).body;
      return body == "world" ? kWorld : model.body(body);
    };
    std::map<std::pair<int, int>, int> wanted, found;
    for (const json& p : facts["pairs"]) {
      const int a = body_of(p[0].get<std::size_t>()), b = body_of(p[1].get<std::size_t>());
      wanted[std::minmax(a, b)] += p[2].get<int>();
    }
    const PairFilter filter(model);
    for (int a = 0; a < static_cast<int>(model.geoms().size()); ++a) {
      for (int b = 0; b < a; ++b) {
        if (filter.allowed(b, a)) ++found[std::minmax(model.geoms()[at(a)].body, model.geoms()[at(b)].body)];
      }
    }
    for (const int j : model.loop_joints()) {
      const Joint& joint = model.joints()[at(j)];
      wanted.erase(std::minmax(joint.base, joint.follower));
      found.erase(std::minmax(joint.base, joint.follower));
    }
    EXPECT_EQ(found, wanted);
  });
}

std::string parameter_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Robots, MujocoMotion, testing::ValuesIn(robots()), parameter_name);

}  // namespace
}  // namespace sarrus::mujoco_motion_test
