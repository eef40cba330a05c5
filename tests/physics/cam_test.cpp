// Polynomial couplings: a follower that rides on a cam, a = P(b).
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "physics/harness.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus::cam_test {
namespace {

using testing::coordinate;
using testing::energy_of;
using testing::expect_near;
using testing::expect_within;
using testing::order_of;
using testing::run;

SimulationOptions tight(double dt, std::optional<Integrator> integrator = {}) {
  SimulationOptions o = testing::options_with(dt, integrator);
  o.tolerance = 1e-12;
  return o;
}

constexpr double kInertia = 0.02;
constexpr double kMass = 1.5;

// A wheel about x and a slider along z with z = P(angle); P(0) = 0.
ModelBuilder cam(const Coupling& law, double spin) {
  ModelBuilder b("cam");
  b.set_gravity(Vec3::Zero());
  b.add_body("wheel", 1.0, kInertia * Mat3::Identity(), {});
  b.add_body("follower", kMass, 0.01 * Mat3::Identity(), {Vec3(0, 0, 1)});
  b.add_joint_at("shaft", JointType::revolute, kWorld, 0, Vec3::Zero());
  b.add_joint_at("guide", JointType::prismatic, kWorld, 1, Vec3(0, 0, 1), frame_with_x(Vec3::UnitZ()));
  Coupling c = law;
  c.name = "cam";
  c.dof_a = b.dof_index(1);
  c.dof_b = b.dof_index(0);
  b.add_coupling(c);
  b.set_velocity(0, Vec3::Zero(), Vec3(spin, 0, 0));
  b.set_velocity(1, Vec3(0, 0, law.slope(0) * spin), Vec3::Zero());
  return b;
}

Coupling polynomial() {
  Coupling c;
  c.ratio = 0.1;
  c.higher = {0.3, -0.2, 0.04};
  return c;
}

double P(double b) { return 0.1 * b + 0.3 * b * b - 0.2 * b * b * b + 0.04 * b * b * b * b; }
double slope(double b) { return 0.1 + 0.6 * b - 0.6 * b * b + 0.16 * b * b * b; }

TEST(Polynomial, ValueAndSlope) {
  const Coupling c = polynomial();
  for (const double b : {-2.0, -0.3, 0.0, 0.7, 3.0}) {
    EXPECT_NEAR(c.residual(P(b), b), 0, 1e-14);
    EXPECT_NEAR(c.slope(b), slope(b), 1e-14);
    EXPECT_NEAR((c.residual(0, b - 1e-6) - c.residual(0, b + 1e-6)) / 2e-6, slope(b), 1e-8);
  }
  Coupling line;
  line.ratio = 0.1;
  line.offset = 0.3;
  EXPECT_TRUE(line.linear());
  EXPECT_EQ(line.residual(0.7, 0.9), 0.7 - 0.1 * 0.9 - 0.3) << "in the same bits as ever";
}

// Without friction (I + m P'^2) b'^2 stays, and with it the time of a way: dt = sqrt((I + m P'^2)/2E) db.
double time_to(double from, double to, double spin) {
  const double two_E = (kInertia + kMass * slope(from) * slope(from)) * spin * spin;
  const int n = 20000;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double h = (to - from) / n;
    const auto f = [&](double b) { return std::sqrt((kInertia + kMass * slope(b) * slope(b)) / two_E); };
    const double b = from + i * h;
    sum += h / 6 * (f(b) + 4 * f(b + 0.5 * h) + f(b + h));
  }
  return sum;
}

TEST(CamFollower, KeepsToItsCurveAndItsEnergyInEveryScheme) {
  for (const Scheme& scheme : schemes()) {
    const bool second = scheme.integrator == Integrator::moreau;
    const double spin = 2;
    double error[2];
    for (int i = 0; i < 2; ++i) {
      const double dt = i == 0 ? 1e-3 : 5e-4;
      Simulation sim(cam(polynomial(), spin).build(), tight(dt, scheme.integrator));
      const int steps = static_cast<int>(std::lround(0.8 / dt));
      double off = 0;
      run(sim, steps, [&](const StepReport&) {
        off = std::max(off, std::abs(coordinate(sim, "guide") - P(coordinate(sim, "shaft"))));
      });
      expect_within(fmt::format("{}_off_curve", scheme.name), off, 1e-11);
      error[i] = time_to(0, coordinate(sim, "shaft"), spin) - 0.8;
      if (second) {
        const double before = 0.5 * (kInertia + kMass * 0.01) * spin * spin;
        expect_within(fmt::format("{}_energy", scheme.name), energy_of(sim).total() / before - 1, 1e-4);
        EXPECT_FALSE(sim.report().creates_energy);
      }
    }
    expect_within(fmt::format("{}_time_s", scheme.name), error[1], second ? 1e-6 : 2e-3);
    // Some of the others happen to be better than their order along this curve.
    EXPECT_GT(order_of(std::abs(error[0]), std::abs(error[1])), second ? 1.7 : 0.8) << scheme.name;
  }
}

// At rest under weight the shaft carries P' m g, and the reaction of the shaft says so.
TEST(CamFollower, TorqueOfAWeightIsItsSlope) {
  ModelBuilder b = cam(polynomial(), 0);
  b.set_gravity(Vec3(0, 0, -9.81));
  b.dof(0).drive = {.mode = DriveMode::position, .kp = 1e4, .kd = 100, .target = {.offset = 0.5}};
  Simulation sim(b.build(), tight(1e-3));
  run(sim, 3000);
  const double q = coordinate(sim, "shaft");
  expect_near("effort", sim.drive_effort(0), slope(q) * kMass * 9.81, 1e-6);
  expect_within("net_torque", sim.joint_reaction(0)[3], 1e-6);
  expect_near("guide", sim.joint_reaction(1)[2], kMass * 9.81, 1e-6);
}

// Many turns: the polynomial counts them.
TEST(CamFollower, CountsTurns) {
  Coupling screw;
  screw.ratio = 0.01;
  screw.higher = {1e-4, 0, 0};
  Simulation sim(cam(screw, 30).build(), tight(1e-3));
  run(sim, 1000);
  const double q = coordinate(sim, "shaft");
  EXPECT_GT(q, 25);
  expect_near("guide", coordinate(sim, "guide"), 0.01 * q + 1e-4 * q * q, 1e-10);
}

}  // namespace
}  // namespace sarrus::cam_test
