// Limits, ropes, dry friction, drives, armature, springs and couplings against closed forms.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "physics/harness.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus::actuation_test {
namespace {

using testing::coordinate;
using testing::expect_near;
using testing::expect_within;
using testing::options_with;
using testing::pose;
using testing::run;
using testing::twist;

constexpr double kGravity = 9.81;
constexpr double kTurn = 2 * std::numbers::pi;
constexpr std::array<Integrator, 2> kIntegrators = {Integrator::semi_implicit, Integrator::moreau};

// One joint between the world and a body of 1 kg and inertia 0.02 kg m^2 about every axis, at the origin.
struct OneJoint {
  OneJoint(JointType type, const Vec3& axis, const Vec3& gravity = Vec3::Zero()) : builder("one_joint") {
    builder.set_gravity(gravity);
    body = builder.add_body("body", 1.0, 0.02 * Mat3::Identity(), {});
    joint = builder.add_joint_at("joint", type, kWorld, body, Vec3::Zero(), frame_with_x(axis));
  }
  Dof& dof(int k = 0) { return builder.dof(joint, k); }
  Simulation simulate(double dt = 1e-3, Integrator integrator = Integrator::semi_implicit) const {
    SimulationOptions o = options_with(dt, integrator);
    o.tolerance = 1e-12;
    return Simulation(builder.build(), o);
  }

  ModelBuilder builder;
  int body = 0;
  int joint = 0;
};
OneJoint lift() { return {JointType::prismatic, Vec3::UnitZ(), Vec3(0, 0, -kGravity)}; }
OneJoint slide() { return {JointType::prismatic, Vec3::UnitX()}; }
OneJoint flywheel() { return {JointType::revolute, Vec3::UnitY()}; }
double rate(const Simulation& sim) { return sim.state().twist[0].dot(spatial(Vec3::UnitX(), Vec3::UnitY())); }

// A slide at 1 m/s meets its stop at 0.5 m.
TEST(Limit, StopsAndBouncesAtItsRestitution) {
  for (const Integrator integrator : kIntegrators) {
    for (const double e : {0.0, 0.5}) {
      OneJoint m = slide();
      m.dof().limit.upper = 0.5;
      m.dof().limit.restitution = e;
      m.builder.set_velocity(m.body, Vec3(1, 0, 0), Vec3::Zero());
      Simulation sim = m.simulate(1e-3, integrator);
      double furthest = 0;
      run(sim, 1000, [&](const StepReport&) { furthest = std::max(furthest, coordinate(sim, "joint")); });
      const std::string tag = fmt::format("{}_e_{}", name_of(integrator), e);
      expect_near(tag + "_speed", rate(sim), -e, 1e-8);
      expect_near(tag + "_furthest_m", furthest, 0.5, e == 0 ? 1e-9 : 1.01e-3);
      expect_near(tag + "_position_m", coordinate(sim, "joint"), 0.5 - e * 0.5, e == 0 ? 1e-9 : 2e-3);
    }
  }
}

// A weight rests on its lower limit, which carries it.
TEST(Limit, CarriesAWeightAtRest) {
  for (const Integrator integrator : kIntegrators) {
    OneJoint m = lift();
    m.dof().limit.lower = -0.2;
    Simulation sim = m.simulate(1e-3, integrator);
    run(sim, 1000);
    expect_near(fmt::format("{}_m", name_of(integrator)), coordinate(sim, "joint"), -0.2, 1e-9);
    expect_within(fmt::format("{}_speed", name_of(integrator)), twist(sim, 0).norm(), 1e-9);
  }
}

// Falls freely while the rope is slack, then hangs at its length.
TEST(Rope, CatchesAFallingBall) {
  for (const Integrator integrator : kIntegrators) {
    ModelBuilder b("rope");
    const int ball = b.add_sphere_body("ball", 1.0, 0.05, {Vec3(0, 0, -1)});
    b.add_distance("rope", kWorld, ball, Vec3::Zero(), Vec3(0, 0, -1), true);
    b.body(ball).X_WB0.p = Vec3(0, 0, -0.5);
    Simulation sim(b.build(), options_with(1e-3, integrator));
    double excess = 0;
    double fall = 0;
    int n = 0;
    run(sim, 1500, [&](const StepReport&) {
      ++n;
      excess = std::max(excess, pose(sim, ball).p.norm() - 1);
      if (n > 300) return;  // sqrt(2 h / g) = 0.319 s
      const double extra = integrator == Integrator::moreau ? 0 : n;
      const double z = -0.5 - 0.5 * kGravity * 1e-6 * (static_cast<double>(n) * n + extra);
      fall = std::max(fall, std::abs(pose(sim, ball).p.z() - z));
    });
    const std::string tag(name_of(integrator));
    expect_within(tag + "_slack_fall_m", fall, 1e-11);
    expect_within(tag + "_excess_m", std::max(0.0, excess), 1e-9);
    expect_near(tag + "_hangs_at_m", pose(sim, ball).p.z(), -1, 1e-9);
  }
}

// On a taut rope the ball swings like a pendulum from 60 degrees: speed sqrt(2 g L (1 - cos 60)) at the bottom, and
// the rope does not stretch.
TEST(Rope, SwingsLikeAPendulum) {
  for (const Integrator integrator : kIntegrators) {
    ModelBuilder b("rope_swing");
    const Vec3 start(std::sin(std::numbers::pi / 3), 0, -0.5);
    const int ball = b.add_sphere_body("ball", 1.0, 0.05, {start});
    b.add_distance("rope", kWorld, ball, Vec3::Zero(), start, true);
    Simulation sim(b.build(), options_with(1e-3, integrator));
    double excess = 0;
    double fastest = 0;
    run(sim, 3000, [&](const StepReport&) {
      excess = std::max(excess, pose(sim, ball).p.norm() - 1);
      fastest = std::max(fastest, twist(sim, ball).head<3>().norm());
    });
    const std::string tag(name_of(integrator));
    expect_within(tag + "_excess_m", std::max(0.0, excess), 1e-4);
    expect_near(tag + "_fastest", fastest, std::sqrt(kGravity), 0.01 * std::sqrt(kGravity));
  }
}

TEST(DryFriction, HoldsBelowItsBoundAndSlidesAbove) {
  for (const Integrator integrator : kIntegrators) {
    OneJoint m = slide();
    m.dof().dry_friction = 2.0;
    Simulation sim = m.simulate(1e-3, integrator);
    const std::string tag(name_of(integrator));
    sim.set_joint_force(0, 1.99);
    run(sim, 500);
    expect_within(tag + "_held_m", coordinate(sim, "joint"), 1e-9);
    sim.set_joint_force(0, 3.0);
    run(sim, 500);
    expect_near(tag + "_speed", rate(sim), 0.5 * (3.0 - 2.0), 1e-8);
    sim.set_joint_force(0, 0);
    run(sim, 500);  // stops after 0.25 s
    expect_within(tag + "_stopped", rate(sim), 1e-9);
  }
}

// Against gravity: kp (q_d - q) = m g at rest, q = q_d - m g / kp.
TEST(PositionServo, SettlesWhereItsSpringBalancesTheLoad) {
  for (const Integrator integrator : kIntegrators) {
    OneJoint m = lift();
    m.dof().drive = {.mode = DriveMode::position, .kp = 500, .kd = 40, .effort_limit = kInf, .target = {.offset = 0.3}};
    Simulation sim = m.simulate(1e-3, integrator);
    run(sim, 3000);
    const std::string tag(name_of(integrator));
    expect_near(tag + "_q_m", coordinate(sim, "joint"), 0.3 - kGravity / 500, 1e-8);
    expect_near(tag + "_effort_N", sim.drive_effort(0), kGravity, 1e-6);
    sim.set_drive_target(0, -0.1);
    run(sim, 3000);
    expect_near(tag + "_new_target_m", coordinate(sim, "joint"), -0.1 - kGravity / 500, 1e-8);
    sim.clear_drive_target(0);
    run(sim, 3000);
    expect_near(tag + "_cleared_m", coordinate(sim, "joint"), 0.3 - kGravity / 500, 1e-8);
  }
}

// kd (v_d - v) = m g at steady speed.
TEST(VelocityServo, RunsBelowItsTargetByTheLoadOverItsGain) {
  for (const Integrator integrator : kIntegrators) {
    OneJoint m = lift();
    m.dof().drive = {.mode = DriveMode::velocity, .kp = 0, .kd = 100, .effort_limit = kInf, .target = {.offset = 0.5}};
    Simulation sim = m.simulate(1e-3, integrator);
    run(sim, 1000);
    expect_near(fmt::format("{}_speed", name_of(integrator)), twist(sim, 0)[2], 0.5 - kGravity / 100, 1e-8);
    expect_near(fmt::format("{}_effort_N", name_of(integrator)), sim.drive_effort(0), kGravity, 1e-6);
  }
}

TEST(EffortLimit, SaturatesExactly) {
  for (const Integrator integrator : kIntegrators) {
    for (const DriveMode mode : {DriveMode::position, DriveMode::velocity, DriveMode::force}) {
      OneJoint m = slide();
      m.dof().drive = {.mode = mode, .kp = 1e4, .kd = 100, .effort_limit = 5, .target = {.offset = 1e3}};
      Simulation sim = m.simulate(1e-3, integrator);
      double effort = 0;
      run(sim, 500, [&](const StepReport&) { effort = std::max(effort, std::abs(sim.drive_effort(0) - 5)); });
      const std::string tag = fmt::format("{}_mode_{}", name_of(integrator), static_cast<int>(mode));
      expect_within(tag + "_effort_N", effort, 1e-12);
      expect_near(tag + "_speed", rate(sim), 5 * 0.5, 1e-9);
    }
  }
}

// a = tau / (I + armature), the same for a force by call and by drive.
TEST(Armature, AddsToTheInertiaOfAFlywheel) {
  for (const Integrator integrator : kIntegrators) {
    OneJoint m = flywheel();
    m.dof().armature = 0.03;
    Simulation sim = m.simulate(1e-3, integrator);
    sim.set_joint_force(0, 0.4);
    run(sim, 1000);
    const double a = 0.4 / (0.02 + 0.03);
    const std::string tag(name_of(integrator));
    expect_near(tag + "_rate", rate(sim), a, 1e-8);
    const double extra = integrator == Integrator::moreau ? 0 : 0.5 * a * 1e-3;
    expect_near(tag + "_angle_rad", coordinate(sim, "joint"), 0.5 * a + extra, 1e-8);
  }
}

// Implicit Euler of m x'' + d x' + k x = 0 from rest: x_n = x0 Re(A z^n), z = 1/(1 - dt s) for the roots s.
TEST(SpringDamper, IsTheClosedFormOfImplicitEuler) {
  const double k = 200, d = 1.5, m = 1.0, dt = 1e-3, x0 = 0.1;
  OneJoint slider = slide();
  slider.dof().stiffness = k;
  slider.dof().damping = d;
  slider.dof().rest = -x0;
  Simulation sim = slider.simulate(dt);
  const std::complex<double> s(-d / (2 * m), std::sqrt(k / m - d * d / (4 * m * m)));
  const std::complex<double> z = 1.0 / (1.0 - dt * s);
  // Before the first step x_0 = x0 and v_0 = 0; with v_n = Re(A s z^n) this fixes A = x0 (1 + i Re s / Im s).
  const std::complex<double> A(x0, x0 * s.real() / s.imag());
  std::complex<double> power = 1;
  double error = 0;
  double late = 0;
  int n = 0;
  run(sim, 3000, [&](const StepReport&) {
    ++n;
    power *= z;
    error = std::max(error, std::abs(coordinate(sim, "joint") + x0 - (A * power).real()));
    const double exact = (A * std::exp(s * (n * dt))).real();
    late = std::max(late, std::abs(coordinate(sim, "joint") + x0 - exact));
  });
  expect_within("implicit_euler_m", error, 1e-9);
  expect_within("exact_solution_m", late, 0.05 * x0);
}

// Very stiff springs are stable at any step.
TEST(SpringDamper, IsStableHoweverStiff) {
  for (const Integrator integrator : kIntegrators) {
    OneJoint m = lift();
    m.dof().stiffness = 1e8;
    m.dof().damping = 10;
    m.dof().rest = 0.01;
    Simulation sim = m.simulate(1e-2, integrator);
    double largest = 0;
    run(sim, 500, [&](const StepReport&) { largest = std::max(largest, std::abs(coordinate(sim, "joint"))); });
    expect_within(fmt::format("{}_largest_m", name_of(integrator)), largest, 0.021);
    expect_near(fmt::format("{}_rest_m", name_of(integrator)), coordinate(sim, "joint"), 0.01 - kGravity / 1e8, 1e-8);
  }
}

// q_a = -3 q_b: a torque on a sees I_a + I_b / 9.
TEST(Gear, KeepsItsRatioAndReflectsTheInertia) {
  for (const Integrator integrator : kIntegrators) {
    ModelBuilder b("gear");
    b.set_gravity(Vec3::Zero());
    const int wa = b.add_body("a", 1.0, 0.02 * Mat3::Identity(), {});
    const int wb = b.add_body("b", 1.0, 0.09 * Mat3::Identity(), {Vec3(1, 0, 0)});
    const int ja = b.add_joint_at("ja", JointType::revolute, kWorld, wa, Vec3::Zero(), frame_with_x(Vec3::UnitY()));
    const int jb = b.add_joint_at("jb", JointType::revolute, kWorld, wb, Vec3(1, 0, 0), frame_with_x(Vec3::UnitY()));
    b.add_coupling("gear", b.dof_index(ja), b.dof_index(jb), -3);
    Simulation sim(b.build(), options_with(1e-3, integrator));
    sim.set_joint_force(b.dof_index(ja), 0.6);
    double error = 0;
    run(sim, 2000, [&](const StepReport&) {
      error = std::max(error, std::abs(coordinate(sim, "ja") + 3 * coordinate(sim, "jb")));
    });
    const std::string tag(name_of(integrator));
    expect_within(tag + "_ratio_rad", error, 1e-9);
    expect_near(tag + "_rate", twist(sim, wa)[4], 2.0 * 0.6 / (0.02 + 0.01), 1e-5);
    EXPECT_GT(coordinate(sim, "ja"), 6 * kTurn);
  }
}

// A nut of 1 kg on a vertical screw of 20 mm pitch: g m / (m + I (2 pi / p)^2) downwards.
TEST(Screw, FallsWithItsPitch) {
  const double pitch = 0.02;
  for (const Integrator integrator : kIntegrators) {
    OneJoint m(JointType::cylindrical, Vec3::UnitZ(), Vec3(0, 0, -kGravity));
    m.builder.body(m.body).inertia_B = 1e-4 * Mat3::Identity();
    m.builder.add_coupling("thread", m.builder.dof_index(m.joint, 0), m.builder.dof_index(m.joint, 1), pitch / kTurn);
    Simulation sim = m.simulate(1e-3, integrator);
    double error = 0;
    run(sim, 2000, [&](const StepReport&) {
      error = std::max(error, std::abs(sim.state().q[0] - pitch / kTurn * sim.state().q[1]));
    });
    const double a = kGravity / (1 + 1e-4 * kTurn * kTurn / (pitch * pitch));
    const std::string tag(name_of(integrator));
    expect_within(tag + "_pitch_m", error, 1e-9);
    expect_near(tag + "_speed", twist(sim, 0)[2], -2 * a, 1e-6);
    EXPECT_LT(sim.state().q[1], -kTurn);
  }
}

TEST(MultiTurn, CountsTenTurns) {
  for (const Integrator integrator : kIntegrators) {
    for (const double sign : {1.0, -1.0}) {
      OneJoint m = flywheel();
      m.builder.set_velocity(m.body, Vec3::Zero(), Vec3(0, sign * 10 * kTurn, 0));
      Simulation sim = m.simulate(1e-3, integrator);
      run(sim, 1000);
      expect_near(fmt::format("{}_{}_rad", name_of(integrator), sign), coordinate(sim, "joint"), sign * 10 * kTurn,
                  1e-8);
    }
  }
}

}  // namespace
}  // namespace sarrus::actuation_test
