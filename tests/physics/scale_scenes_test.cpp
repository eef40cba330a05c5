// No number of the engine may have units: a scene in grams and millimetres, one a thousand times as large, and one of
// other masses move as the first one does, with the options as they are by default.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "physics/passive.h"
#include "physics/scaled_model.h"
#include "sarrus/math/so3.h"

namespace sarrus::scale_scenes_test {
namespace {

using testing::EnergyRise;
using testing::expect_near;
using testing::expect_within;
using testing::passive_options;
using testing::run;
using testing::scaled;
using testing::steps_for;
using testing::Units;

// --- scenes ----------------------------------------------------------------------------------------------

Model box_on_slope(double mu) {
  ModelBuilder b("box on a slope");
  const int wood = b.add_material("wood", mu);
  const Quat turn = so3_exp(Vec3(0, 20 * std::numbers::pi / 180, 0));
  b.add_geom(kWorld, Shape::plane(), {Vec3::Zero(), turn}, wood);
  b.add_box_body("box", 1, Vec3(0.1, 0.06, 0.04), {turn * Vec3(0, 0, 0.045), turn}, wood);
  return b.build();
}

Model small_stack() {
  ModelBuilder b("stack");
  const int wood = b.add_material("wood", 0.6);
  b.add_floor(0, wood);
  for (int i = 0; i < 4; ++i) {
    b.add_box_body(fmt::format("box{}", i), 1 + i, Vec3(0.1, 0.08, 0.05),
                   {Vec3(0.013 * i, -0.007 * i * i, 0.052 + 0.103 * i), so3_exp(Vec3(0, 0, 0.3 * i))}, wood);
  }
  return b.build();
}

// Two fingers on slides close on a box that stands on the floor, and lift it.
Model gripper() {
  ModelBuilder b("gripper");
  const int rubber = b.add_material("rubber", 0.8);
  b.add_floor(0, rubber);
  b.add_box_body("box", 0.5, Vec3(0.03, 0.03, 0.04), {Vec3(0.004, 0, 0.0401)}, rubber);
  const int wrist = b.add_box_body("wrist", 1, Vec3(0.05, 0.03, 0.02), {Vec3(0, 0, 0.25)}, rubber);
  const int lift =
      b.add_joint_at("lift", JointType::prismatic, kWorld, wrist, Vec3(0, 0, 0.25), frame_with_x(Vec3::UnitZ()));
  Drive& servo = b.dof(lift).drive;
  servo.mode = DriveMode::position;
  servo.kp = 2e4;
  servo.kd = 200;
  servo.target.table = {{0.2, 0}, {0.6, 0.05}};
  servo.target.interpolation = Interpolation::cubic;
  for (const double side : {-1.0, 1.0}) {
    const Vec3 p(0.06 * side, 0, 0.08);
    const int finger = b.add_box_body(side < 0 ? "left" : "right", 0.2, Vec3(0.01, 0.02, 0.06), {p}, rubber);
    const int slide = b.add_joint_at(side < 0 ? "close_left" : "close_right", JointType::prismatic, wrist, finger, p,
                                     frame_with_x(-side * Vec3::UnitX()));
    b.dof(slide).drive.mode = DriveMode::force;
    b.dof(slide).drive.target.offset = 15;
    b.dof(slide).damping = 5;
  }
  return b.build();
}

// A spring-driven rocker with limits above a box that it hits.
Model hammer() {
  ModelBuilder b("hammer");
  const int steel = b.add_material("steel", 0.4, 0.5);
  b.add_floor(0, steel);
  b.add_box_body("anvil", 2, Vec3(0.05, 0.05, 0.05), {Vec3(0.3, 0, 0.05)}, steel);
  const int arm = b.add_box_body("arm", 0.5, Vec3(0.15, 0.02, 0.02), {Vec3(0.15, 0, 0.25)}, steel);
  const int hinge =
      b.add_joint_at("hinge", JointType::revolute, kWorld, arm, Vec3(0, 0, 0.25), frame_with_x(Vec3::UnitY()));
  b.dof(hinge).stiffness = 8;
  b.dof(hinge).rest = 0.6;
  b.dof(hinge).damping = 0.02;
  b.dof(hinge).armature = 0.003;
  b.dof(hinge).limit.lower = -0.2;
  b.dof(hinge).limit.upper = 0.8;
  return b.build();
}

struct Scene {
  std::string name;
  std::function<Model()> make;
  double duration;  // s, short enough that what round-off is blown up to stays below the tolerance
};

std::vector<Scene> scenes() {
  return {{"slides_on_slope", [] { return box_on_slope(0.2); }, 0.4},
          {"sticks_on_slope", [] { return box_on_slope(0.5); }, 0.4},
          {"stack", small_stack, 0.4},
          {"gripper", gripper, 0.6},
          {"hammer", hammer, 0.5},
          {"fourbar_free", [] { return make_scene("fourbar_free"); }, 0.3},
          {"nunchuk", [] { return make_scene("nunchuk"); }, 0.5},
          {"slider_crank", [] { return make_scene("slider_crank"); }, 0.5},
          {"double_pendulum", [] { return make_scene("double_pendulum"); }, 1.0}};
}

// Largest difference of positions (in lengths of the scene), attitudes (rad) and velocities (in lengths per
// second of the scene) over a run, each brought back to the units of the first.
double difference(const Scene& scene, const Units& units) {
  const Model model = scene.make();
  const double dt = 1e-3;
  Simulation first(model, passive_options(dt));
  Simulation other(scaled(model, units), passive_options(dt * units.time));
  // Lengths of all these scenes are tenths of a metre to metres.
  constexpr double kLength = 0.1;
  double worst = 0;
  for (int i = 0; i < test::samples(steps_for(scene.duration, dt)); ++i) {
    first.step();
    other.step();
    for (std::size_t k = 0; k < first.state().X_WB.size(); ++k) {
      const Pose& a = first.state().X_WB[k];
      const Pose& b = other.state().X_WB[k];
      const Vec6& u = first.state().twist[k];
      const Vec6& v = other.state().twist[k];
      worst = std::max(worst, (a.p - b.p / units.length).norm() / kLength);
      worst = std::max(worst, a.q.angularDistance(b.q));
      // A velocity counts by what it is against 1 m/s and 10 rad/s.
      worst = std::max(worst, (u.head<3>() - v.head<3>() / units.speed()).norm());
      worst = std::max(worst, (u.tail<3>() - v.tail<3>() * units.time).norm() / 10);
    }
    if (!std::isfinite(worst)) return worst;
  }
  return worst;
}

void compare(const Units& units) {
  for (const Scene& scene : scenes()) expect_within(scene.name, difference(scene, units), 1e-6);
}

TEST(ScenesInOtherUnits, GramsAndMillimetres) { compare({.length = 1e3, .mass = 1e3}); }
TEST(ScenesInOtherUnits, KilometresAndTonnes) { compare({.length = 1e-3, .mass = 1e-3}); }
TEST(ScenesInOtherUnits, MassesTimes1e8) { compare({.mass = 1e8}); }
TEST(ScenesInOtherUnits, MassesTimes1em8) { compare({.mass = 1e-8}); }
// A thing a thousand times as large under the same gravity moves sqrt(1000) times as slowly.
TEST(ScenesInOtherUnits, AThousandTimesAsLarge) { compare({.length = 1e3, .mass = 1e9, .time = std::sqrt(1e3)}); }
TEST(ScenesInOtherUnits, AThousandTimesAsSmall) { compare({.length = 1e-3, .mass = 1e-9, .time = std::sqrt(1e-3)}); }

// The drift of the energy of a pendulum a thousand times as long is that of the first.
TEST(ScenesInOtherUnits, ALongDoublePendulumDriftsAsAShortOne) {
  SARRUS_FULL_SIZE_ONLY();
  const Model model = make_scene("double_pendulum");
  const auto drift = [&](const Units& units) {
    Simulation sim(scaled(model, units), passive_options(1e-3 * units.time));
    EnergyRise energy(sim);
    run(sim, 10000, [&](const StepReport&) { energy.add(sim); });
    ::testing::Test::RecordProperty(fmt::format("rise_{:g}", units.length),
                                    fmt::format("{:.3g}", energy.above_start() / energy.peak_kinetic()));
    return std::max(energy.above_start(), energy.loss()) / energy.peak_kinetic();
  };
  const double one = drift({});
  expect_within("drift_1", one, 1e-4);
  // Chaos: the two end elsewhere, with errors of the same size.
  expect_within("drift_1000", drift({.length = 1e3, .time = std::sqrt(1e3)}), std::max(2 * one, 1e-6));
  expect_within("drift_0.001", drift({.length = 1e-3, .time = std::sqrt(1e-3)}), std::max(2 * one, 1e-6));
}

// --- small beside large --------------------------------------------------------------------------------------------

// A four-bar of links of `size` m, and beside it, if so wanted, a swinging beam of a kilometre. The coupler is given
// away from where it belongs, so that the start has to close the loop.
Model linkage_beside(double size, bool beam) {
  ModelBuilder b("linkage");
  const Vec3 at(1, 0, 2);
  const auto link = [&](const char* name, const Vec3& from, const Vec3& to) {
    const Vec3 along = to - from;
    return b.add_box_body(name, 1e3 * size * size * size, size * Vec3(0.5, 0.05, 0.05),
                          {at + 0.5 * (from + to), Quat::FromTwoVectors(Vec3::UnitX(), along)});
  };
  const Vec3 A = Vec3::Zero(), B = size * Vec3(0, 0, 0.7), C = size * Vec3(1.5, 0, 1.1), D = size * Vec3(1.2, 0, 0);
  const int crank = link("crank", A, B);
  const int coupler = link("coupler", B, C);
  const int rocker = link("rocker", C, D);
  const Quat axis = frame_with_x(Vec3::UnitY());
  b.add_joint_at("A", JointType::revolute, kWorld, crank, at + A, axis);
  b.add_joint_at("B", JointType::revolute, crank, coupler, at + B, axis);
  b.add_joint_at("C", JointType::revolute, coupler, rocker, at + C, axis);
  b.add_joint_at("D", JointType::revolute, kWorld, rocker, at + D, axis);
  if (beam) {
    const int giant = b.add_box_body("beam", 1e9, Vec3(500, 5, 5), {Vec3(500, 100, 300)});
    b.add_joint_at("beam hinge", JointType::revolute, kWorld, giant, Vec3(0, 100, 300), axis);
  }
  ModelData data = b.build().data();
  data.bodies[1].X_WB0.p += 1e-3 * size * Vec3(1, 0.3, -0.5);
  return finish_model(std::move(data));
}

// What is far larger changes nothing for what is small: neither whether the start closes, nor how it moves.
TEST(SmallBesideLarge, LinksOfACentimetreBesideABeamOfAKilometre) {
  for (const double unit : {1e-3, 1.0, 1e3}) {
    const Units units{.length = unit, .mass = unit * unit * unit, .time = std::sqrt(unit)};
    const SimulationOptions options = passive_options(2e-4 * units.time);
    Simulation alone(scaled(linkage_beside(0.01, false), units), options);
    Simulation beside(scaled(linkage_beside(0.01, true), units), options);
    double worst = 0;
    for (int i = 0; i < 500; ++i) {
      ASSERT_EQ(alone.step().status, StepStatus::converged) << i;
      ASSERT_EQ(beside.step().status, StepStatus::converged) << i << ": " << beside.report().message;
      for (std::size_t k = 0; k < 3; ++k) {
        const Vec3 d = alone.state().X_WB[k].p - beside.state().X_WB[k].p;
        worst = std::max(worst, d.norm() / (0.01 * unit));
      }
    }
    expect_within(fmt::format("difference_{:g}", unit), worst, 1e-8);
  }
}

// The same linkage on the end of the beam: its gaps are those of its own links, up to round-off so far out.
TEST(SmallBesideLarge, LinksOfACentimetreOnTheEndOfABeamOfAKilometre) {
  for (const double unit : {1e-3, 1.0, 1e3}) {
    const Units units{.length = unit, .mass = unit * unit * unit, .time = std::sqrt(unit)};
    ModelBuilder b("on the end");
    const Quat axis = frame_with_x(Vec3::UnitY());
    const int beam = b.add_box_body("beam", 1e9, Vec3(500, 5, 5), {Vec3(500, 0, 0)});
    b.add_joint_at("hinge", JointType::revolute, kWorld, beam, Vec3::Zero(), axis);
    int last = beam;
    for (int i = 0; i < 3; ++i) {
      const Vec3 p(1000, 0, -0.01 * i);
      const int link = b.add_box_body(fmt::format("link{}", i), 1e-3, Vec3(1e-3, 1e-3, 5e-3), {p - Vec3(0, 0, 5e-3)});
      b.add_joint_at(fmt::format("joint{}", i), JointType::revolute, last, link, p, axis);
      last = link;
    }
    Simulation sim(scaled(b.build(), units), passive_options(1e-3 * units.time));
    double gap = 0;
    for (int i = 0; i < 500; ++i) {
      const StepReport& r = sim.step();
      ASSERT_NE(r.status, StepStatus::failed) << r.message;
      EXPECT_TRUE(r.met_tolerance) << i;
      gap = std::max(gap, r.joint_gap / unit);
    }
    expect_within(fmt::format("gap_{:g}", unit), gap, 5e-12);
  }
}

}  // namespace
}  // namespace sarrus::scale_scenes_test
