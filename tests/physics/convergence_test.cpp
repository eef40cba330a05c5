// Order of the schemes for each element of a coordinate, where the step resolves it: two for Moreau's, one for
// semi-implicit Euler. Where the step does not resolve it, the element only takes energy.
//
// A body turns about a vertical hinge, or slides along a horizontal line, so that its coordinate obeys
//   (I + a) q'' = -k (q - rest) - d q' + kp (q_d(t) - q) + kd (q_d'(t) - q')
// with a closed form where the target is constant.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "physics/passive.h"
#include "sarrus/math/so3.h"

namespace sarrus::convergence_test {
namespace {

using testing::EnergyRise;
using testing::expect_near;
using testing::expect_within;
using testing::options_with;
using testing::order_of;
using testing::passive_options;
using testing::steps_for;

// What acts on the coordinate, per inertia of the body about it: 1/s^2, 1/s, or a share.
struct Element {
  std::string name;
  double stiffness = 0;
  double rest = 0;
  double damping = 0;
  double armature = 0;
  double kp = 0;
  double kd = 0;
  double target = 0;      // of the servo: position or, without kp, velocity
  double frequency = 0;   // rad/s, of a target that swings
  double start_rate = 1;  // rad/s or m/s
};

constexpr double kDuration = 1;  // s

// m q'' = -K (q - q0) - C q', closed form by complex exponentials.
double damped_oscillator(double K, double C, double q0, double q, double rate, double t) {
  if (K == 0) return C == 0 ? q + rate * t : q + rate / C * (1 - std::exp(-C * t));
  const std::complex<double> root = std::sqrt(std::complex<double>(C * C / 4 - K, 0));
  const std::complex<double> a = -C / 2 + root, b = -C / 2 - root;
  const std::complex<double> A = (rate - b * (q - q0)) / (a - b);
  return q0 + (A * std::exp(a * t) + (q - q0 - A) * std::exp(b * t)).real();
}

double expected(const Element& e) {
  const double m = 1 + e.armature;
  if (e.frequency > 0) {
    // Particular motion P cos + Q sin of the servo that follows target sin(w t), and the rest of it freely.
    const double w = e.frequency, K = (e.stiffness + e.kp) / m, C = (e.damping + e.kd) / m;
    const std::complex<double> i(0, 1);
    const std::complex<double> drive = e.target * (e.kp + i * w * e.kd) / m;  // times exp(i w t), imaginary part
    const std::complex<double> z = drive / (K - w * w + i * w * C);
    const auto particular = [&](double t) { return (z * std::exp(i * w * t)).imag(); };
    const double rate = (i * w * z).imag();
    return particular(kDuration) + damped_oscillator(K, C, 0, -particular(0), e.start_rate - rate, kDuration);
  }
  if (e.kp == 0 && e.kd > 0) {
    // A damper towards a velocity.
    const double C = e.kd / m;
    return e.target * kDuration + damped_oscillator(0, C, 0, 0, e.start_rate - e.target, kDuration);
  }
  const double K = e.stiffness + e.kp;
  const double centre = K == 0 ? 0 : (e.stiffness * e.rest + e.kp * e.target) / K;
  return damped_oscillator(K / m, (e.damping + e.kd) / m, centre, 0, e.start_rate, kDuration);
}

// The hinge stands 0.3 m beside the centre of mass.
Model coordinate_model(const Element& e, JointType type) {
  ModelBuilder b(e.name);
  const double mass = 2, arm = 0.3, about_z = 0.05;
  const bool hinge = type == JointType::revolute;
  const double inertia = hinge ? about_z + mass * arm * arm : mass;
  const int body = b.add_body("body", mass, Vec3(0.04, 0.03, about_z).asDiagonal(), {Vec3(arm, 0, 0)});
  const Vec3 rate = e.start_rate * Vec3::UnitZ();
  if (hinge) {
    b.set_velocity(body, rate.cross(Vec3(arm, 0, 0)), rate);
  } else {
    b.set_velocity(body, Vec3(e.start_rate, 0, 0), Vec3::Zero());
  }
  const int joint =
      b.add_joint_at("joint", type, kWorld, body, Vec3::Zero(), frame_with_x(hinge ? Vec3::UnitZ() : Vec3::UnitX()));
  Dof& dof = b.dof(joint);
  dof.stiffness = e.stiffness * inertia;
  dof.rest = e.rest;
  dof.damping = e.damping * inertia;
  dof.armature = e.armature * inertia;
  if (e.kd > 0) {
    dof.drive.mode = e.kp > 0 ? DriveMode::position : DriveMode::velocity;
    dof.drive.kp = e.kp * inertia;
    dof.drive.kd = e.kd * inertia;
    if (e.frequency > 0) {
      dof.drive.target.amplitude = e.target;
      dof.drive.target.frequency = e.frequency / (2 * std::numbers::pi);
    } else {
      dof.drive.target.offset = e.target;
    }
  }
  return b.build();
}

std::vector<Element> elements() {
  return {{.name = "damper", .damping = 3},
          {.name = "spring", .stiffness = 40},
          {.name = "spring_with_rest", .stiffness = 40, .rest = 0.4, .start_rate = 0},
          {.name = "spring_and_damper", .stiffness = 40, .damping = 2},
          {.name = "armature_and_spring", .stiffness = 40, .armature = 0.7},
          {.name = "armature_and_damper", .damping = 3, .armature = 0.7},
          {.name = "position_servo", .kp = 60, .kd = 4, .target = 0.5},
          {.name = "swinging_servo", .kp = 60, .kd = 4, .target = 0.5, .frequency = 5},
          {.name = "velocity_servo", .kd = 4, .target = 2},
          {.name = "servo_with_armature", .armature = 0.7, .kp = 60, .kd = 4, .target = 0.5}};
}

double error_of(const Element& e, JointType type, Integrator integrator, double dt) {
  Simulation sim(coordinate_model(e, type), options_with(dt, integrator));
  testing::run(sim, steps_for(kDuration, dt));
  return std::abs(sim.state().q[0] - expected(e));
}

void expect_order(Integrator integrator, double order) {
  for (const JointType type : {JointType::revolute, JointType::prismatic}) {
    for (const Element& e : elements()) {
      const std::string name = fmt::format("{}_{}", joint_type_info(type).name, e.name);
      const std::array<double, 3> error = {error_of(e, type, integrator, 8e-3), error_of(e, type, integrator, 4e-3),
                                           error_of(e, type, integrator, 2e-3)};
      // Below this it is round-off, of 500 steps.
      if (error[2] < 1e-10) continue;
      expect_near(name + "_8_to_4_ms", order_of(error[0], error[1]), order, 0.3);
      expect_near(name + "_4_to_2_ms", order_of(error[1], error[2]), order, 0.2);
    }
  }
}

// Guards the reference: a spring and a damper at a quarter of the period, and a step of the closed form.
TEST(Convergence, OfTheClosedFormToTheDifferentialEquation) {
  for (const Element& e : elements()) {
    const double m = 1 + e.armature, h = 1e-4;
    double q = 0, rate = e.start_rate;
    const auto acceleration = [&](double x, double v, double t) {
      const bool swings = e.frequency > 0;
      double target = 0, target_rate = 0;
      if (e.kp == 0) {
        target_rate = e.target;
      } else {
        target = swings ? e.target * std::sin(e.frequency * t) : e.target;
        target_rate = swings ? e.target * e.frequency * std::cos(e.frequency * t) : 0;
      }
      return (e.stiffness * (e.rest - x) - e.damping * v + e.kp * (target - x) + e.kd * (target_rate - v)) / m;
    };
    for (int i = 0; i < steps_for(kDuration, h); ++i) {
      const double t = i * h;
      const double a1 = acceleration(q, rate, t);
      const double v2 = rate + h / 2 * a1, a2 = acceleration(q + h / 2 * rate, v2, t + h / 2);
      const double v3 = rate + h / 2 * a2, a3 = acceleration(q + h / 2 * v2, v3, t + h / 2);
      const double v4 = rate + h * a3, a4 = acceleration(q + h * v3, v4, t + h);
      q += h / 6 * (rate + 2 * v2 + 2 * v3 + v4);
      rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    expect_near(e.name, expected(e), q, 1e-9);
  }
}

TEST(Convergence, OfMoreausSchemeIsOfSecondOrderForEveryElement) {
  SARRUS_FULL_SIZE_ONLY();
  expect_order(Integrator::moreau, 2);
}
TEST(Convergence, OfSemiImplicitEulerIsOfFirstOrderForEveryElement) {
  SARRUS_FULL_SIZE_ONLY();
  expect_order(Integrator::semi_implicit, 1);
}

// At a thousandth to a million times what the step resolves: no ringing that grows, no energy.
TEST(StiffElements, OnlyTakeEnergy) {
  constexpr double kStep = 1e-3;
  for (const double resolved : {1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 1e3, 1e6}) {  // omega dt, or damping times dt
    if (test::sample_divisor() > 1 && resolved != 0.5 && resolved != 1e3) continue;
    const double omega = resolved / kStep;
    const std::vector<Element> cases = {
        {.name = "damper", .damping = omega},
        {.name = "spring", .stiffness = omega * omega},
        {.name = "spring_and_damper", .stiffness = omega * omega, .damping = 0.2 * omega},
        {.name = "armature_and_spring", .stiffness = omega * omega, .armature = 5},
        {.name = "armature_and_damper", .damping = omega, .armature = 5}};
    for (const JointType type : {JointType::revolute, JointType::prismatic}) {
      for (const Element& e : cases) {
        Simulation sim(coordinate_model(e, type), passive_options(kStep));
        EnergyRise energy(sim);
        testing::run(sim, 500, [&](const StepReport&) { energy.add(sim); });
        const std::string name = fmt::format("{}_{}_{:g}", joint_type_info(type).name, e.name, resolved);
        // Solves are exact to 1e-9, and there are 500.
        // Where dt hardly resolves it the step is implicit, and its energy swings about that of the motion.
        expect_within(name, energy.above_start() / energy.start(), 2e-5);
        // What is damped must not keep ringing: 100 rad of it or more have gone by.
        if (e.damping > 0 && resolved >= 1) expect_within(name + "_left", energy.now() / energy.start(), 1e-2);
      }
    }
  }
}

// A servo holds its target without energy of its own as long as that rests: kp is a spring.
TEST(StiffElements, AServoAtRestOnlyTakesEnergy) {
  constexpr double kStep = 1e-3;
  for (const double resolved : {1e-2, 0.5, 2.0, 1e3}) {
    const double omega = resolved / kStep;
    for (const double ratio : {1e-3, 0.3, 1.0, 10.0}) {
      const Element e{.name = "servo", .kp = omega * omega, .kd = 2 * ratio * omega};
      Simulation sim(coordinate_model(e, JointType::revolute), passive_options(kStep));
      const double start = testing::total_energy(sim);
      const double kp = sim.model().dofs()[0].drive.kp;
      double worst = 0;
      testing::run(sim, 500, [&](const StepReport&) {
        const double stored = 0.5 * kp * std::pow(sim.state().q[0], 2);
        worst = std::max(worst, (testing::total_energy(sim) + stored) / start - 1);
      });
      expect_within(fmt::format("omega_dt_{:g}_zeta_{:g}", resolved, ratio), std::max(0.0, worst), 1e-6);
    }
  }
}

}  // namespace
}  // namespace sarrus::convergence_test
