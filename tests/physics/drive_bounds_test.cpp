// Drives that pull more than they push, targets with bounds, bodies with a gravity of their own, coordinates that start
// after whole turns.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus::drive_bounds_test {
namespace {

using testing::coordinate;
using testing::energy_of;
using testing::expect_near;
using testing::expect_within;
using testing::options_with;
using testing::run;
using testing::twist;

constexpr double kTurn = 2 * std::numbers::pi;

// A slide of 2 kg along x without gravity, and its drive.
ModelBuilder slide(const Drive& drive) {
  ModelBuilder b("slide");
  b.set_gravity(Vec3::Zero());
  b.add_body("body", 2.0, 0.02 * Mat3::Identity(), {});
  const int joint = b.add_joint_at("slide", JointType::prismatic, kWorld, 0, Vec3::Zero());
  b.dof(joint).drive = drive;
  return b;
}

// Far from its target a drive pushes with one bound and pulls with the other, whichever is tighter.
TEST(DriveBounds, EffortsDifferByDirection) {
  for (const Scheme& scheme : schemes()) {
    for (const DriveMode mode : {DriveMode::position, DriveMode::velocity, DriveMode::force}) {
      for (const double sign : {-1.0, 1.0}) {
        Drive d{.mode = mode, .kp = 1e4, .kd = 100, .effort_limit = 5, .target = {.offset = sign * 1e3}};
        d.effort_lower = -2;
        d.effort_upper = 7;
        Simulation sim(slide(d).build(), options_with(1e-3, scheme.integrator));
        run(sim, 200);
        const double effort = sign > 0 ? 5 : -2;
        const std::string tag = fmt::format("{}_{}_{}", scheme.name, static_cast<int>(mode), sign);
        expect_near(tag + "_effort", sim.drive_effort(0), effort, 1e-9);
        expect_near(tag + "_speed", twist(sim, 0)[0], effort / 2 * 0.2, 1e-9);
      }
    }
  }
}

// A tendon of a motor only pulls: against a load that it would have to push it does nothing.
TEST(DriveBounds, OneDirectionAlone) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Scheme& scheme : schemes()) {
    Drive d{.mode = DriveMode::position, .kp = 100, .kd = 20};
    d.effort_lower = 0;
    ModelBuilder b = slide(d);
    Simulation sim(b.build(), options_with(1e-3, scheme.integrator));
    sim.set_joint_force(0, 3);  // it would take -3 to hold
    run(sim, 1000);
    expect_near(fmt::format("{}_pushed", scheme.name), twist(sim, 0)[0], 1.5, 1e-9);
    sim.set_joint_force(0, -3);
    run(sim, 8000);
    expect_near(fmt::format("{}_held", scheme.name), coordinate(sim, "slide"), -0.03, 1e-6);
  }
}

// A target beyond its bounds is the bound, which stands still; both for signals and for what a user sets.
TEST(DriveBounds, TargetsAreClamped) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Scheme& scheme : schemes()) {
    Drive d{.mode = DriveMode::position, .kp = 800, .kd = 80, .target = {.rate = 10}};
    d.target_upper = 0.25;
    d.target_lower = -0.5;
    Simulation sim(slide(d).build(), options_with(1e-3, scheme.integrator));
    run(sim, 3000);
    const std::string tag(scheme.name);
    expect_near(tag + "_signal", coordinate(sim, "slide"), 0.25, 1e-9);
    sim.set_drive_target(0, -7, -100);
    run(sim, 3000);
    expect_near(tag + "_set", coordinate(sim, "slide"), -0.5, 1e-9);
    sim.set_drive_target(0, 0.125);
    run(sim, 3000);
    expect_near(tag + "_inside", coordinate(sim, "slide"), 0.125, 1e-9);
  }
}

// v = s g t and energy is kept, whatever share s of gravity acts; what floats does not even round.
TEST(GravityScale, IsTheShareThatActs) {
  for (const Scheme& scheme : schemes()) {
    for (const double share : {-1.0, 0.0, 0.3, 1.0, 2.5}) {
      ModelBuilder b("fall");
      b.add_body("stone", 3.0, 0.02 * Mat3::Identity(), {});
      b.add_body("other", 1.0, 0.02 * Mat3::Identity(), {Vec3(5, 0, 0)});
      b.body(0).gravity_scale = share;
      Simulation sim(b.build(), options_with(1e-3, scheme.integrator));
      run(sim, 1000);
      const std::string tag = fmt::format("{}_{}", scheme.name, share);
      expect_near(tag + "_speed", twist(sim, 0)[2], -share * 9.81, 1e-12);
      expect_near(tag + "_other", twist(sim, 1)[2], -9.81, 1e-12);
      expect_within(tag + "_account", sim.energy_flow().change - energy_of(sim).total(), 1e-10);
      if (!scheme.second_order()) continue;
      expect_within(tag + "_energy", energy_of(sim).total(), 1e-10);
      EXPECT_FALSE(sim.report().creates_energy) << tag;
    }
  }
}

// A balloon presses against the ceiling with what lifts it.
TEST(GravityScale, PressesUpwards) {
  ModelBuilder b("balloon");
  b.add_sphere_body("balloon", 2.0, 0.5, {Vec3(0, 0, -0.5)});
  b.add_geom(kWorld, Shape::box(Vec3(5, 5, 1)), {Vec3(0, 0, 1)});
  b.body(0).gravity_scale = -0.5;
  Simulation sim(b.build(), options_with(1e-3));
  run(sim, 200);
  ASSERT_EQ(sim.contacts().size(), 1u);
  expect_near("force", std::abs(sim.contact_force_W(0).z()), 0.5 * 2 * 9.81, 1e-6);
  expect_within("moved", sim.state().X_WB[0].p.z() + 0.5, 1e-6);
}

// A hinge that starts after two turns and a quarter: spring, limit and target count from there.
TEST(InitialValue, CountsTurns) {
  ModelBuilder b("wound");
  b.set_gravity(Vec3::Zero());
  b.add_body("wheel", 1.0, 0.02 * Mat3::Identity(), {Vec3::Zero(), so3_exp(Vec3(kTurn / 4, 0, 0))});
  Joint j{.name = "hinge", .type = JointType::revolute, .base = kWorld, .follower = 0};
  const int joint = b.add_joint(j);
  const double start = 2.25 * kTurn;
  b.dof(joint).initial = start + 1e-5;  // as rounded by a file
  b.dof(joint).stiffness = 1;
  b.dof(joint).damping = 1;
  b.dof(joint).limit.lower = 1.5 * kTurn;
  Simulation sim(b.build(), options_with(1e-3));
  expect_near("start", coordinate(sim, "hinge"), start, 1e-12);
  expect_near("energy", energy_of(sim).potential, 0.5 * start * start, 1e-9);
  run(sim, 5000);  // the spring turns it back to its stop
  expect_near("stopped", coordinate(sim, "hinge"), 1.5 * kTurn, 1e-6);
}

TEST(InitialValue, HasToBeThatOfThePoses) {
  ModelBuilder b("wrong");
  b.add_body("wheel", 1.0, 0.02 * Mat3::Identity(), {});
  const int joint = b.add_joint({.name = "hinge", .type = JointType::revolute, .base = kWorld, .follower = 0});
  b.dof(joint).initial = 4;
  const Model model = b.build();
  try {
    State::initial(model);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& e) {
    EXPECT_EQ(e.element(), "coordinate 'hinge.angle'");
    EXPECT_NE(std::string(e.what()).find("its initial value is 4, but the poses of the bodies make it 6.28"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace sarrus::drive_bounds_test
