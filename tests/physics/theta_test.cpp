// The two-stage theta-scheme (docs/theory/integrators.md §3) against closed forms of each of its four members.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "physics/harness.h"
#include "sarrus/math/so3.h"

namespace sarrus::theta_test {
namespace {

using testing::energy_of;
using testing::EnergyDrift;
using testing::expect_near;
using testing::expect_within;
using testing::options_with;
using testing::order_of;
using testing::run;

constexpr std::array<Integrator, 4> kSchemes = {Integrator::explicit_euler, Integrator::symplectic_euler,
                                                Integrator::implicit_euler, Integrator::midpoint};

// The spring of the cylinder in Castro et al.: 0.5 kg on 100 N/m, released 0.1 m from rest.
constexpr double kMass = 0.5;
constexpr double kSpring = 100;
constexpr double kStart = 0.1;
const double kOmega = std::sqrt(kSpring / kMass);

struct Slide {
  explicit Slide(double damping = 0) : builder("slide") {
    builder.set_gravity(Vec3::Zero());
    const int body = builder.add_body("body", kMass, 0.01 * Mat3::Identity(), {});
    joint = builder.add_joint_at("rail", JointType::prismatic, kWorld, body, Vec3::Zero());
    Dof& dof = builder.dof(joint);
    dof.stiffness = kSpring;
    dof.damping = damping;
    dof.rest = -kStart;
  }
  Simulation simulate(double dt, Integrator integrator) const {
    SimulationOptions o = options_with(dt, integrator);
    o.tolerance = 1e-12;
    return Simulation(builder.build(), o);
  }
  ModelBuilder builder;
  int joint = 0;
};

double stretch(const Simulation& sim) { return sim.state().q[0] + kStart; }
double speed(const Simulation& sim) { return sim.state().twist[0][0]; }

// (x, v) after one step of the linear oscillator by the definition of the scheme, solved by hand.
struct Point {
  double x, v;
};
struct Theta {
  double force, position;
};
Theta theta_of(Integrator integrator) {
  if (integrator == Integrator::explicit_euler) return {0, 0};
  if (integrator == Integrator::symplectic_euler) return {0, 1};
  return integrator == Integrator::midpoint ? Theta{0.5, 0.5} : Theta{1, 1};
}
Point hand_step(Point p, double dt, double damping, Integrator integrator) {
  const Theta t = theta_of(integrator);
  // m (v+ - v) = dt (-k (x + dt theta (a v+ + (1-a) v)) - d (theta v+ + (1-theta) v)),  a = theta_vq
  const double left = kMass + dt * dt * t.force * t.position * kSpring + dt * t.force * damping;
  const double right =
      kMass * p.v - dt * (kSpring * (p.x + dt * t.force * (1 - t.position) * p.v) + damping * (1 - t.force) * p.v);
  const double v = right / left;
  return {p.x + dt * (t.position * v + (1 - t.position) * p.v), v};
}

TEST(Theta, EveryMemberIsItsDefinitionOnADampedSpring) {
  for (const Integrator scheme : kSchemes) {
    for (const double damping : {0.0, 3.0}) {
      Simulation sim = Slide(damping).simulate(0.02, scheme);
      Point p{kStart, 0};
      double worst = 0;
      run(sim, 50, [&](const StepReport&) {
        p = hand_step(p, 0.02, damping, scheme);
        worst = std::max({worst, std::abs(stretch(sim) - p.x), std::abs(speed(sim) - p.v)});
      });
      expect_within(std::string(name_of(scheme)), worst, 1e-12);
    }
  }
}

// Explicit Euler multiplies the energy by 1 + (w dt)^2 in every step, implicit Euler divides it by that.
TEST(Theta, EnergyOfTheSpringGrowsDecaysStaysInABandOrIsKept) {
  const double dt = 0.02;
  const double factor = 1 + kOmega * kOmega * dt * dt;
  Simulation growing = Slide().simulate(dt, Integrator::explicit_euler);
  Simulation decaying = Slide().simulate(dt, Integrator::implicit_euler);
  const double start = energy_of(growing).total();
  run(growing, 20);
  run(decaying, 20);
  expect_near("explicit", energy_of(growing).total() / start, std::pow(factor, 20), 1e-10);
  expect_near("implicit", energy_of(decaying).total() / start, std::pow(factor, -20), 1e-10);

  Simulation banded = Slide().simulate(dt, Integrator::symplectic_euler);
  double low = start, high = start;
  run(banded, 2000, [&](const StepReport&) {
    low = std::min(low, energy_of(banded).total());
    high = std::max(high, energy_of(banded).total());
  });
  expect_near("band", (high - low) / start, 0.28, 0.01);

  Simulation kept = Slide().simulate(dt, Integrator::midpoint);
  double drift = 0;
  run(kept, 2000, [&](const StepReport&) { drift = std::max(drift, std::abs(energy_of(kept).total() - start)); });
  expect_within("midpoint", drift / start, 1e-12);
}

double trajectory_error(Integrator scheme, double dt) {
  Simulation sim = Slide().simulate(dt, scheme);
  double sum = 0;
  const int steps = static_cast<int>(std::lround(1.0 / dt));
  run(sim, steps, [&](const StepReport&) {
    const double e = stretch(sim) - kStart * std::cos(kOmega * sim.time());
    sum += e * e * dt;
  });
  return std::sqrt(sum);
}

TEST(Theta, OrderIsTwoForTheMidpointAndOneForTheOthers) {
  for (const Integrator scheme : kSchemes) {
    const double order = order_of(trajectory_error(scheme, 1e-3), trajectory_error(scheme, 5e-4));
    expect_near(std::string(name_of(scheme)), order, scheme == Integrator::midpoint ? 2.0 : 1.0, 0.1);
  }
}

// A servo is part of the implicit forces: the same step as the spring and damper that it is.
TEST(Theta, ServosAreSpringsAndDampers) {
  for (const Integrator scheme : kSchemes) {
    Slide with_servo;
    Dof& dof = with_servo.builder.dof(with_servo.joint);
    dof.stiffness = 0;
    dof.drive.mode = DriveMode::position;
    dof.drive.kp = kSpring;
    dof.drive.kd = 3.0;
    dof.drive.target = Signal{.offset = -kStart};
    Simulation servo = with_servo.simulate(0.01, scheme);
    Simulation spring = Slide(3.0).simulate(0.01, scheme);
    for (int i = 0; i < 50; ++i) {
      servo.step();
      spring.step();
      ASSERT_NEAR(servo.state().q[0], spring.state().q[0], 1e-12) << name_of(scheme);
    }
  }
}

// A servo of a scheme without an implicit part is a force within its limit, and is reported as such.
TEST(Theta, ExplicitServoRespectsItsEffortLimit) {
  Slide m;
  Dof& dof = m.builder.dof(m.joint);
  dof.stiffness = 0;
  dof.drive.mode = DriveMode::velocity;
  dof.drive.kd = 1e3;
  dof.drive.effort_limit = 2.0;
  dof.drive.target = Signal{.offset = 1.0};
  Simulation sim = m.simulate(1e-3, Integrator::symplectic_euler);
  run(sim, 100);
  expect_near("speed", speed(sim), 2.0 / kMass * 0.1, 1e-12);
  expect_near("effort", sim.drive_effort(0), 2.0, 1e-12);
}

TEST(Theta, MidpointKeepsTheEnergyOfATumblingBody) {
  double drift[2];
  for (int k = 0; k < 2; ++k) {
    ModelBuilder b("top");
    b.set_gravity(Vec3::Zero());
    b.add_body("top", 1.0, Vec3(0.01, 0.02, 0.03).asDiagonal(), {});
    b.set_velocity(0, Vec3::Zero(), Vec3(0.3, 8.0, 0.2));
    const double dt = k == 0 ? 1e-3 : 5e-4;
    Simulation sim(b.build(), options_with(dt, Integrator::midpoint));
    EnergyDrift d(sim);
    run(sim, k == 0 ? 2000 : 4000, [&](const StepReport&) { d.add(sim); });
    drift[k] = d.worst();
  }
  expect_within("drift", drift[0], 1e-4);
  expect_near("order", order_of(drift[0], drift[1]), 2.0, 0.2);
}

// Joints stay closed with every scheme. Their rows are taken at the start of the step (one solve, no re-linearisation),
// so joint impulses turn by O(dt) late and all four are of first order here; Moreau's scheme is the one for linkages.
TEST(Theta, PendulumStaysTogetherAndKeepsItsEnergy) {
  for (const Integrator scheme : kSchemes) {
    double drift[2];
    for (int k = 0; k < 2; ++k) {
      ModelBuilder b("pendulum");
      const int rod = b.add_body("rod", 1.0, 0.02 * Mat3::Identity(), {Vec3(0.5, 0, 0), Quat::Identity()});
      b.add_joint_at("pivot", JointType::revolute, kWorld, rod, Vec3::Zero(), frame_with_x(Vec3::UnitY()));
      const double dt = k == 0 ? 1e-3 : 5e-4;
      Simulation sim(b.build(), options_with(dt, scheme));
      EnergyDrift d(sim);
      const testing::Worst worst = run(sim, k == 0 ? 2000 : 4000, [&](const StepReport&) { d.add(sim); });
      EXPECT_LE(worst.joint_gap, 1e-12) << name_of(scheme);
      drift[k] = d.worst();
    }
    expect_within(std::string(name_of(scheme)) + "_drift", drift[0], 0.05);
    expect_near(std::string(name_of(scheme)) + "_order", order_of(drift[0], drift[1]), 1.0, 0.1);
  }
}

}  // namespace
}  // namespace sarrus::theta_test
