// What Drumwright reports of implicit compliant constraints (docs/papers.md): stability limits of a spring, pendulums,
// an elastic foundation, boxes on Hertz feet, a stack of spheres. Data: docs/theory/benchmarks.md §3 [D].
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/so3.h"
#include "sarrus/scenes/foundation.h"

namespace sarrus::papers_drumwright_test {
namespace {

using testing::energy_of;
using testing::expect_near;
using testing::expect_within;
using testing::options_with;
using testing::order_of;
using testing::pose;
using testing::run;
using testing::simulate;
using testing::twist;
using testing::Worst;

constexpr double kPi = std::numbers::pi;
constexpr double kGravity = 9.81;

// --- spring, mass, damper ------------------------------------------------------------------------------

// 1 kg on a rail, 0.1 m from the end of its spring, without gravity.
Model spring_mass(double stiffness, double damping) {
  ModelBuilder b("spring_mass");
  b.set_gravity(Vec3::Zero());
  const int body = b.add_body("body", 1.0, Mat3::Identity(), {});
  const int rail = b.add_joint_at("rail", JointType::prismatic, kWorld, body, Vec3::Zero());
  b.dof(rail).stiffness = stiffness;
  b.dof(rail).damping = damping;
  b.dof(rail).rest = -0.1;
  return b.build();
}

double energy_ratio(double stiffness, double damping, double dt, Integrator scheme, int steps) {
  Simulation sim(spring_mass(stiffness, damping), options_with(dt, scheme));
  const double start = energy_of(sim).total();
  run(sim, steps);
  return energy_of(sim).total() / start;
}

// Stable for h k < b and 4 m - 2 h b + h^2 k > 0: 10 < b < 2.00005e5. Below, the energy grows by h^2 k - h b a step.
TEST(SpringMassDamper, ExplicitEulerNeedsDampingButNotTooMuch) {
  SARRUS_FULL_SIZE_ONLY();
  const double h = 1e-5, k = 1e6;
  const auto ratio = [&](double b, int steps) { return energy_ratio(k, b, h, Integrator::explicit_euler, steps); };
  expect_near("b_1", ratio(1, 10000), std::pow(1 + h * h * k - h * 1, 10000), 0.01);
  expect_near("b_5", ratio(5, 20000), std::pow(1 + h * h * k - h * 5, 20000), 0.02);
  expect_near("b_15", ratio(15, 20000), std::pow(1 + h * h * k - h * 15, 20000), 0.02);
  EXPECT_LT(ratio(1.9e5, 2000), 1);
  EXPECT_LT(ratio(2.0e5, 2000), 1);
  EXPECT_GT(ratio(2.1e5, 400), 1e10);
}

// Implicit damper, explicit spring: stable for h^2 k <= 4 m + 2 h b.
TEST(SpringMassDamper, SemiImplicitEulerHasALimitOfStiffness) {
  const double h = 1e-3, b = 1;
  const auto grows = [&](double k) {
    Simulation sim(spring_mass(0, b), options_with(h, Integrator::semi_implicit));
    double largest = 0;
    for (int i = 0; i < 400 && largest < 1e3; ++i) {
      sim.set_joint_force(0, -k * (sim.state().q[0] + 0.1));
      sim.step();
      largest = std::max(largest, std::abs(sim.state().q[0]));
    }
    return largest >= 1e3;
  };
  const double limit = (4 + 2 * h * b) / (h * h);
  EXPECT_FALSE(grows(1e6));
  EXPECT_FALSE(grows(0.998 * limit));
  EXPECT_TRUE(grows(1.002 * limit));
  EXPECT_TRUE(grows(1e7));
}

// Always stable; every step divides the energy by 1 + h^2 k.
TEST(SpringMassDamper, ImplicitEulerAlwaysDecays) {
  SARRUS_FULL_SIZE_ONLY();
  for (const auto& [h, steps] : {std::pair{1e-5, 20000}, {1e-2, 2}}) {
    const double expected = std::pow(1 + h * h * 1e6, -steps);
    expect_near(fmt::format("h_{}", h), energy_ratio(1e6, 0, h, Integrator::implicit_euler, steps), expected,
                1e-6 * expected);
  }
}

// --- pendulums -----------------------------------------------------------------------------------------

// A bob of 1 kg on a rod of 1 m in absolute coordinates, the rod a spring of 1e15 N/m with 1 N s/m. Starts horizontal.
double largest_stretch(double h) {
  ModelBuilder b("pendulum");
  const int bob = b.add_sphere_body("bob", 1.0, 0.05, {Vec3(1, 0, 0)});
  const int rod = b.add_distance("rod", kWorld, bob, Vec3::Zero(), Vec3(1, 0, 0));
  b.joint(rod).compliance = Compliance::soft_spring_damper(1e15, 1);
  Simulation sim(b.build(), options_with(h, Integrator::semi_implicit));
  double worst = 0;
  run(sim, static_cast<int>(std::lround(1 / h)),
      [&](const StepReport&) { worst = std::max(worst, std::abs(pose(sim, bob).p.norm() - 1)); });
  return worst;
}

// The row is linear within a step, so what is left of phi is its second-order term (h v)^2/(2 l).
TEST(StiffPendulum, ResidualScalesWithTheSquareOfTheStep) {
  double before = 0;
  for (const double h : {1e-1, 1e-2, 1e-3, 1e-4}) {
    const double phi = largest_stretch(h);
    expect_near(fmt::format("phi_over_h2_at_{}", h), phi / (h * h), kGravity, (h > 0.05 ? 0.1 : 0.01) * kGravity);
    if (before > 0 && h < 5e-3) expect_near(fmt::format("ratio_at_{}", h), before / phi, 100, 0.2);
    before = phi;
  }
}

// Speed after over speed before the stop. The run starts 3.4 steps before the stop and ends well after the half period
// pi sqrt(I/k) that an elastic impact takes.
double restitution(double h) {
  Simulation sim(simulate("pendulum_stop", options_with(h)));
  const double spin = -std::sqrt(2 * kGravity);
  const double angle = -0.5 * kPi - 3.4 * h * spin;
  State s = sim.state();
  s.X_WB[0] = {so3_exp(Vec3(0, angle, 0)) * Vec3(-1, 0, 0), so3_exp(Vec3(0, angle, 0))};
  const Vec3 w(0, spin, 0);
  s.twist[0] << w.cross(s.X_WB[0].p), w;
  s.q[0] = angle;
  sim.set_state(s);
  run(sim, static_cast<int>(2e-5 / h) + 20);
  return twist(sim, 0)[4] / -spin;
}

TEST(PendulumStop, LooksInelasticUnlessTheStepResolvesTheImpact) {
  expect_within("e_at_1e-5", restitution(1e-5), 0.01);
  expect_within("e_at_1e-6", restitution(1e-6), 0.3);
  const double fine = restitution(1e-7);
  const double finest = restitution(1e-8);
  // Implicit Euler divides the energy by 1 + (omega h)^2 in each of the pi/(omega h) steps.
  expect_near("e_at_1e-7", fine, std::exp(-0.5 * kPi * 0.1), 0.002);
  expect_near("e_at_1e-8", finest, std::exp(-0.5 * kPi * 0.01), 1e-4);
}

// --- cube on an elastic foundation ---------------------------------------------------------------------

constexpr double kCubeMass = 8;

Model foundation_cube(int elements, double modulus) {
  ModelBuilder b("cube");
  b.add_floor(0, b.add_material("floor", 0));
  const int cube = b.add_body("cube", kCubeMass, kCubeMass / 6 * Mat3::Identity(), {Vec3(0, 0, 0.5)});
  Foundation f;
  f.elements_x = f.elements_y = elements;
  f.modulus = modulus;
  f.depth = 1;
  f.damping = 1;
  f.mu = 0;
  add_foundation(b, "sole", cube, {Vec3(0, 0, -0.5), so3_exp(Vec3(kPi, 0, 0))}, 0.5, 0.5, f);
  return b.build();
}

// Penetration d + slope . (x, y) of the points of the sole.
Vec3 penetration_of(const Simulation& sim) {
  const Mat3 R = pose(sim, 0).R();
  return {0.5 * R(2, 2) - pose(sim, 0).p.z(), -R(2, 0), -R(2, 1)};
}

// The same at rest under the weight and a load at (x, y): springs that do not pull, by iteration over those that touch.
Vec3 static_penetration(int elements, double modulus, double load, double x, double y) {
  const double K = modulus / (elements * elements);
  const Vec3 wrench(kCubeMass * kGravity + load, load * x, load * y);
  Vec3 solution(1, 0, 0);
  for (int pass = 0; pass < 100; ++pass) {
    Mat3 A = Mat3::Zero();
    for (int i = 0; i < elements; ++i) {
      for (int j = 0; j < elements; ++j) {
        const Vec3 row(1, (i + 0.5) / elements - 0.5, (j + 0.5) / elements - 0.5);
        if (row.dot(solution) > 0) A += K * row * row.transpose();
      }
    }
    const Vec3 next = A.inverse() * wrench;
    if ((next - solution).norm() <= 1e-14 * next.norm()) return next;
    solution = next;
  }
  ADD_FAILURE() << "the contact set of the static cube was not found";
  return solution;
}

// Largest deviation from rest, relative to the depth at rest, from 0.2 s on.
double deviation_from_rest(int elements, double modulus, double load, const std::string& solver) {
  SimulationOptions o = options_with(0.01);
  o.solver = solver;
  o.tolerance = 1e-12;
  o.integrator = Integrator::semi_implicit;
  Simulation sim(foundation_cube(elements, modulus), o);
  double worst = 0;
  for (int i = 0; i < 100; ++i) {
    const double t = sim.time() + sim.dt();
    const double x = 0.5 * std::cos(10 * t), y = 0.5 * std::sin(10 * t);
    Vec6 wrench;
    wrench << 0, 0, -load, Vec3(x, y, 0.5).cross(Vec3(0, 0, -load));
    sim.set_body_wrench(0, wrench);
    const StepReport& report = sim.step();
    EXPECT_NE(report.status, StepStatus::failed);
    const Vec3 rest = static_penetration(elements, modulus, load, x, y);
    if (t > 0.2) worst = std::max(worst, (penetration_of(sim) - rest).norm() / rest[0]);
  }
  return worst;
}

TEST(FoundationCube, FollowsTheMovingLoadWithoutInstability) {
  SARRUS_FULL_SIZE_ONLY();
  for (const double modulus : {1e7, 1e11}) {
    for (const double load : {5.0, 50.0}) {
      for (const char* solver : {"cascade", "drum-unilateral"}) {
        const double d = deviation_from_rest(10, modulus, load, solver);
        expect_within(fmt::format("{}_E_{}_load_{}", solver, modulus, load), d, load < 10 ? 2e-4 : 2e-3);
      }
    }
  }
}

TEST(FoundationCube, NineHundredElements) {
  SARRUS_FULL_SIZE_ONLY();
  for (const double modulus : {1e7, 1e11}) {
    for (const double load : {5.0, 50.0}) {
      const double d = deviation_from_rest(30, modulus, load, "cascade");
      expect_within(fmt::format("E_{}_load_{}", modulus, load), d, load < 10 ? 1e-3 : 5e-3);
    }
  }
}

// --- box on an incline ---------------------------------------------------------------------------------

constexpr std::array<double, 4> kMu = {0, 0.125, 0.25, 0.375};
constexpr std::array<double, 4> kTravel = {1.2695, 0.6773, 0.0850, 0};

TEST(InclineHertz, TravelsAsCoulombSays) {
  const Vec3 downhill = so3_exp(Vec3(0, kPi / 12, 0)) * Vec3::UnitX();
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::midpoint}) {
    Simulation sim = simulate("incline_hertz", options_with(0.01, integrator));
    const State start = sim.state();
    run(sim, 100);
    // Semi-implicit Euler goes half a step further: x = a t (t + h)/2.
    const double ahead = integrator == Integrator::semi_implicit ? 1.01 : 1.0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double moved = (sim.state().X_WB[i].p - start.X_WB[i].p).dot(downhill);
      expect_near(fmt::format("{}_mu_{}", name_of(integrator), kMu[i]), moved, ahead * kTravel[i], 1e-4);
    }
  }
}

TEST(InclineHertz, FeetCarryAQuarterOfTheLoadEachAndSinkByHertz) {
  Simulation sim = simulate("incline_hertz");
  run(sim, 100);
  ASSERT_EQ(sim.contacts().size(), 16u);
  const double foot_load = kGravity * std::cos(kPi / 12) / 4;
  const double depth = std::pow(foot_load / (4.0 / 3.0 * 1e11 * std::sqrt(0.01)), 2.0 / 3.0);
  std::array<double, 4> load{};
  for (int i = 0; i < 16; ++i) {
    const Contact& c = sim.contacts()[static_cast<std::size_t>(i)];
    const double normal = sim.contact_impulse(i)[2] / sim.dt();
    load[static_cast<std::size_t>(c.body_b)] += normal / 4;
    if (c.body_b != 0) continue;  // with friction the front feet carry more
    expect_near("foot_load", normal, foot_load, 1e-6 * foot_load);
    expect_near("depth", -c.gap, depth, 1e-3 * depth);
  }
  for (const double mean : load) expect_near("mean_foot_load", mean, foot_load, 1e-6 * foot_load);
}

// --- stack of spheres ----------------------------------------------------------------------------------

// Contact i carries 100 - i spheres. Two spheres have half the modulus and half the radius of one on the floor.
double hertz_depth(int i) {
  const double K = i == 0 ? 4.0 / 3.0 * 1e11 * std::sqrt(0.1) : 4.0 / 3.0 * 0.5e11 * std::sqrt(0.05);
  return std::pow((100 - i) * kGravity / K, 2.0 / 3.0);
}

TEST(SphereStack100, StaysUp) {
  SARRUS_FULL_SIZE_ONLY();
  Simulation sim = simulate("sphere_stack100");
  const Worst worst = run(sim, 500);
  EXPECT_EQ(worst.not_converged, 0);
  double aside = 0, speed = 0, off = 0, sunk = 0;
  for (int i = 0; i < 100; ++i) {
    const Vec3 p = pose(sim, i).p;
    sunk += hertz_depth(i);
    aside = std::max(aside, p.head<2>().norm());
    speed = std::max(speed, twist(sim, i).norm());
    off = std::max(off, std::abs(p.z() - (0.1 * (2 * i + 1) - sunk)));
  }
  ::testing::Test::RecordProperty("sunk", fmt::format("{:.4g}", sunk));
  expect_within("aside", aside, 1e-12);
  expect_within("speed", speed, 1e-6);
  expect_within("off_rest_height", off, 1e-8);
}

}  // namespace
}  // namespace sarrus::papers_drumwright_test
