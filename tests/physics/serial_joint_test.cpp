// Serial joints against the equations of motion of the same mechanism in its two coordinates, and against a model with
// a small body between the axes.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <array>
#include <cmath>
#include <optional>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/inverse/inverse_dynamics.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus::serial_joint_test {
namespace {

using testing::coordinate;
using testing::EnergyDrift;
using testing::expect_near;
using testing::expect_within;
using testing::order_of;
using testing::run;

SimulationOptions tight(double dt, std::optional<Integrator> integrator = {}) {
  SimulationOptions o = testing::options_with(dt, integrator);
  o.tolerance = 1e-12;
  return o;
}

constexpr double kGravity = 9.81;

// A pendulum of two axes along y: the first at the origin, the second l1 below it without any mass between, the centre
// of mass l2 below that. Angles turn the same way; armature a_i, spring k_i and damper d_i of each.
struct DoublePendulum {
  double m = 1.3, I = 0.02, l1 = 0.5, l2 = 0.3;
  std::array<double, 2> a = {0, 0}, k = {0, 0}, d = {0, 0};
  std::array<double, 2> q0 = {1.2, -0.7};

  using State4 = Eigen::Vector4d;
  State4 derivative(const State4& x) const {
    const double c2 = std::cos(x[1]), s2 = std::sin(x[1]);
    Eigen::Matrix2d M;
    M(0, 0) = m * (l1 * l1 + l2 * l2 + 2 * l1 * l2 * c2) + I + a[0];
    M(0, 1) = M(1, 0) = m * (l2 * l2 + l1 * l2 * c2) + I;
    M(1, 1) = m * l2 * l2 + I + a[1];
    const double h = m * l1 * l2 * s2;
    Eigen::Vector2d f(h * (2 * x[2] * x[3] + x[3] * x[3]), -h * x[2] * x[2]);
    const double lower = m * kGravity * l2 * std::sin(x[0] + x[1]);
    f -= Eigen::Vector2d(m * kGravity * l1 * std::sin(x[0]) + lower, lower);
    for (int i = 0; i < 2; ++i)
      f[i] -= k[static_cast<std::size_t>(i)] * x[i] + d[static_cast<std::size_t>(i)] * x[2 + i];
    const Eigen::Vector2d qdd = M.inverse() * f;
    return {x[2], x[3], qdd[0], qdd[1]};
  }
  // Runge-Kutta with steps of 20 us.
  State4 at(double time) const {
    State4 x(q0[0], q0[1], 0, 0);
    const int steps = static_cast<int>(std::lround(time / 2e-5));
    const double h = time / steps;
    for (int i = 0; i < steps; ++i) {
      const State4 k1 = derivative(x), k2 = derivative(x + 0.5 * h * k1), k3 = derivative(x + 0.5 * h * k2),
                   k4 = derivative(x + h * k3);
      x += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return x;
  }

  // Negative angles about y swing from -z to +x: the axis is -y, so that positive ones do.
  ModelBuilder builder() const {
    ModelBuilder b("serial pendulum");
    const Vec3 axis = -Vec3::UnitY();
    const auto below = [](double angle, double length) {
      return Vec3(length * std::sin(angle), 0, -length * std::cos(angle));
    };
    const Vec3 knee = below(q0[0], l1);
    const double sum = q0[0] + q0[1];
    b.add_body("bob", m, I * Mat3::Identity(), {knee + below(sum, l2), Quat(Eigen::AngleAxisd(sum, axis))});
    const int j = b.add_serial_at("hip", kWorld, 0,
                                  {{.name = "first", .p_J = Vec3::Zero(), .axis_J = axis, .reference = q0[0]},
                                   {.name = "second", .p_J = knee, .axis_J = axis, .reference = q0[1]}});
    for (int i = 0; i < 2; ++i) {
      const auto n = static_cast<std::size_t>(i);
      b.dof(j, i).armature = a[n];
      b.dof(j, i).stiffness = k[n];
      b.dof(j, i).damping = d[n];
    }
    return b;
  }
};

double error_at(const DoublePendulum& p, Integrator integrator, double dt, double time) {
  Simulation sim(p.builder().build(), tight(dt, integrator));
  const auto worst = run(sim, static_cast<int>(std::lround(time / dt)));
  EXPECT_LE(worst.joint_gap, 1e-11);
  EXPECT_LE(worst.joint_angle, 1e-11);
  const DoublePendulum::State4 x = p.at(time);
  return std::max(std::abs(coordinate(sim, "hip.first") - x[0]), std::abs(coordinate(sim, "hip.second") - x[1]));
}

TEST(SerialPendulum, ConvergesToTheEquationsOfMotion) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Scheme& scheme : schemes()) {
    // Of the schemes the default one alone is of second order with joints (docs/theory/integrators.md §2).
    const bool second = scheme.integrator == Integrator::moreau;
    const double coarse = error_at({}, scheme.integrator, 2.5e-4, 0.6);
    const double fine = error_at({}, scheme.integrator, 1.25e-4, 0.6);
    const std::string tag(scheme.name);
    expect_within(tag + "_error", fine, second ? 2e-6 : 2e-2);
    expect_near(tag + "_order", order_of(coarse, fine), second ? 2 : 1, 0.15);
  }
}

TEST(SerialPendulum, ArmaturesSpringsAndDampersOfItsCoordinates) {
  DoublePendulum p;
  p.a = {0.05, 0.2};
  p.k = {3, 8};
  p.d = {0.2, 0.1};
  const double coarse = error_at(p, Integrator::moreau, 1e-3, 0.8);
  const double fine = error_at(p, Integrator::moreau, 5e-4, 0.8);
  expect_within("error", fine, 5e-6);
  expect_near("order", order_of(coarse, fine), 2, 0.25);
}

TEST(SerialPendulum, KeepsItsEnergy) {
  DoublePendulum p;
  p.a = {0.05, 0};
  p.k = {0, 5};
  Simulation sim(p.builder().build(), tight(1e-3, Integrator::moreau));
  EnergyDrift drift(sim);
  run(sim, 5000, [&](const StepReport& r) {
    drift.add(sim);
    EXPECT_FALSE(r.creates_energy);
  });
  expect_within("drift", drift.worst(), 1e-4);
}

// The axes of a foot, 4 cm apart and not parallel, against a body of a ten-thousandth of its mass between them.
TEST(SerialFoot, IsTheLimitOfASmallBodyBetween) {
  const Vec3 first(0, 0, 0), second(0.01, 0, -0.04), centre(0.05, 0.02, -0.1);
  const Vec3 roll = Vec3::UnitX(), pitch = Vec3(0.2, 1, 0.1).normalized();
  const Mat3 inertia = Vec3(0.002, 0.006, 0.005).asDiagonal();
  ModelBuilder serial("serial");
  serial.add_body("foot", 1.5, inertia, {centre});
  serial.add_serial_at("ankle", kWorld, 0,
                       {{.name = {}, .p_J = first, .axis_J = roll}, {.name = {}, .p_J = second, .axis_J = pitch}});
  serial.set_velocity(0, Vec3::Zero(), Vec3::Zero());
  ModelBuilder bodies("bodies");
  bodies.add_body("foot", 1.5, inertia, {centre});
  bodies.add_body("cross", 1.5e-4, 1e-4 * inertia, {second});
  bodies.add_joint_at("roll", JointType::revolute, kWorld, 1, first, frame_with_x(roll));
  bodies.add_joint_at("pitch", JointType::revolute, 1, 0, second, frame_with_x(pitch));
  Simulation a(serial.build(), tight(5e-4, Integrator::moreau));
  Simulation b(bodies.build(), tight(5e-4, Integrator::moreau));
  double largest = 0;
  double turn = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(a.step().status, StepStatus::failed);
    ASSERT_NE(b.step().status, StepStatus::failed);
    largest = std::max(largest, (a.state().X_WB[0].p - b.state().X_WB[0].p).norm());
    turn = std::max({turn, std::abs(a.state().q[0]), std::abs(a.state().q[1])});
  }
  EXPECT_GT(turn, 0.5);
  expect_within("apart_m", largest, 2e-4);
}

// Held by a drive of its second axis against gravity, the first one locked: torque, reaction and inverse dynamics.
TEST(SerialFoot, DrivesLimitsAndReactions) {
  DoublePendulum p;
  p.q0 = {0, 0.5};
  ModelBuilder b = p.builder();
  b.dof(0, 0).limit = {.lower = 0, .upper = 0};
  b.dof(0, 1).drive = {.mode = DriveMode::position, .kp = 400, .kd = 40, .target = {.offset = 0.6}};
  b.dof(0, 1).drive.name = "knee";
  b.dof(0, 1).limit.upper = 0.55;
  const Model model = b.build();
  Simulation sim(model, tight(1e-3));
  run(sim, 3000);
  expect_near("locked", coordinate(sim, "hip.first"), 0, 1e-9);
  expect_near("at_stop", coordinate(sim, "hip.second"), 0.55, 1e-6);
  expect_near("effort", sim.drive_effort(model.drive("knee")), 400 * 0.05, 1e-3);
  const Vec6 reaction = sim.joint_reaction(0);
  expect_near("weight", reaction[2], p.m * kGravity, 1e-6);
  expect_within("sideways", std::abs(reaction[0]) + std::abs(reaction[1]), 1e-6);
  // About the hip the weight turns with m g (l2 sin 0.55); the reaction is told at the anchor of the follower, where
  // the first axis passes at the reference and still does, as it is locked; the second has turned the anchor with the
  // body.
  const Vec3 anchor = sim.state().X_WB[0] * model.joints()[0].p_FJ;
  const Vec3 arm = sim.state().X_WB[0].p - anchor;
  expect_near("moment", reaction[4], (arm.cross(Vec3(0, 0, p.m * kGravity))).dot(Vec3::UnitY()), 1e-6);
}

TEST(SerialFoot, InverseDynamicsFindsTheTorques) {
  DoublePendulum p;
  p.q0 = {0.4, 0.5};
  ModelBuilder b = p.builder();
  for (int k = 0; k < 2; ++k) b.dof(0, k).drive.mode = DriveMode::force;
  const Model model = b.build();
  InverseDynamics inverse(model, {});
  const State rest = State::initial(model);
  inverse.set_state(rest);
  const InverseResult& r = inverse.solve(rest.twist);
  EXPECT_EQ(r.status, InverseStatus::realised) << r.message;
  const double lower = p.m * kGravity * p.l2 * std::sin(0.9);
  expect_near("second", r.effort[1], lower, 1e-6);
  expect_near("first", r.effort[0], p.m * kGravity * p.l1 * std::sin(0.4) + lower, 1e-6);
}

TEST(SerialPendulum, RestoresInTheSameBits) {
  DoublePendulum p;
  p.a = {0.05, 0.2};
  const Model model = p.builder().build();
  Simulation a(model, tight(1e-3));
  run(a, 137);
  const Snapshot saved = a.snapshot();
  Simulation b(model, tight(1e-3));
  b.restore(saved);
  run(a, 200);
  run(b, 200);
  EXPECT_EQ(a.state().hash(), b.state().hash());
}

}  // namespace
}  // namespace sarrus::serial_joint_test
