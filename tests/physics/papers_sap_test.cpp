// What Castro, Permenter and Han report of convex compliant contact (docs/papers.md): the cylinder on a spring with the
// theta-schemes, Newton steps on clutter, slip in stiction. Data: spec/benchmarks.md §3 [S].
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "physics/harness.h"
#include "sarrus/math/so3.h"

namespace sarrus {
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

constexpr double kGravity = 9.81;

// --- spring-cylinder -----------------------------------------------------------------------------------

constexpr double kMass = 0.5;
constexpr double kSpring = 100;
constexpr double kContact = 1e4;
constexpr double kStart = 0.1;
constexpr double kStep = 0.02;

// The scenes start in touch; here at the rest depth, so that nothing but the spring moves the cylinder.
Simulation cylinder(const char* scene, double dt, Integrator integrator) {
  SimulationOptions o = options_with(dt, integrator);
  o.solver = "sap";
  Simulation sim = simulate(scene, o);
  State s = sim.state();
  s.X_WB[0].p.z() -= kMass * kGravity / kContact;
  sim.set_state(s);
  return sim;
}

// Kinetic energy and that of the spring along x.
double oscillation(const Simulation& sim) { return energy_of(sim).total() - kMass * kGravity * pose(sim, 0).p.z(); }

// Largest less smallest energy of a run, relative to the first.
double band(Simulation& sim, int steps) {
  const double start = oscillation(sim);
  double low = start, high = start;
  run(sim, steps, [&](const StepReport&) {
    low = std::min(low, oscillation(sim));
    high = std::max(high, oscillation(sim));
  });
  return (high - low) / start;
}

TEST(SpringCylinder, WithoutFrictionTheSchemesKeepLoseOrSwingTheEnergy) {
  Simulation kept = cylinder("spring_cylinder_smooth", kStep, Integrator::midpoint);
  expect_within("midpoint_band", band(kept, 1000), 1e-9);
  Simulation swinging = cylinder("spring_cylinder_smooth", kStep, Integrator::symplectic_euler);
  expect_near("symplectic_band", band(swinging, 1000), 0.28, 0.01);
  // Three periods of 22 steps. Every step divides the energy by 1 + (omega dt)^2.
  Simulation decaying = cylinder("spring_cylinder_smooth", kStep, Integrator::implicit_euler);
  const double start = oscillation(decaying);
  run(decaying, 66);
  expect_near("implicit_left", oscillation(decaying) / start, std::pow(1 + kSpring / kMass * kStep * kStep, -66), 1e-8);
}

TEST(SpringCylinder, RollingLosesATenthInTenMinutes) {
  Simulation sim = cylinder("spring_cylinder", kStep, Integrator::midpoint);
  const double start = oscillation(sim);
  double low = start, high = start;
  const int periods10 = 270;
  run(sim, periods10, [&](const StepReport&) {
    low = std::min(low, oscillation(sim));
    high = std::max(high, oscillation(sim));
  });
  expect_near("band", (high - low) / start, 0.0016, 0.0005);
  run(sim, 30000 - periods10);
  expect_near("lost_in_10_min", 1 - oscillation(sim) / start, 0.1, 0.02);
}

// (1/T int (x - x_e)^2 dt)^(1/2) over T = 5 s, x_e = x_0 cos(omega t).
double trajectory_error(const char* scene, double effective_mass, Integrator scheme, double dt) {
  Simulation sim = cylinder(scene, dt, scheme);
  const double duration = 5;
  const double omega = std::sqrt(kSpring / effective_mass);
  double sum = 0;
  run(sim, static_cast<int>(std::lround(duration / dt)), [&](const StepReport&) {
    const double e = pose(sim, 0).p.x() - kStart * std::cos(omega * sim.time());
    sum += e * e * dt;
  });
  return std::sqrt(sum / duration);
}

TEST(SpringCylinder, OrderIsTwoForTheMidpointAndOneForTheOthers) {
  for (const Integrator scheme : {Integrator::symplectic_euler, Integrator::implicit_euler, Integrator::midpoint}) {
    const double expected = scheme == Integrator::midpoint ? 2 : 1;
    for (const auto& [scene, mass] : {std::pair{"spring_cylinder_smooth", kMass}, {"spring_cylinder", 1.5 * kMass}}) {
      const double coarse = trajectory_error(scene, mass, scheme, 2e-3);
      const double fine = trajectory_error(scene, mass, scheme, 1e-3);
      expect_near(fmt::format("{}_{}", scene, name(scheme)), order_of(coarse, fine), expected, 0.15);
    }
  }
}

// --- clutter -------------------------------------------------------------------------------------------

struct ClutterRun {
  std::vector<int> iterations;
  double mean(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += iterations[i];
    return sum / static_cast<double>(to - from);
  }
};

ClutterRun clutter(const char* scene, int steps) {
  SimulationOptions o;
  o.solver = "sap";
  o.solver_parameters = {{"eps_r", 1e-5}};
  o.tolerance = 1e-3;  // the momentum residual decides, as in the paper
  Simulation sim = simulate(scene, o);
  ClutterRun result;
  run(sim, steps, [&](const StepReport& report) {
    EXPECT_EQ(report.status, StepStatus::converged);
    result.iterations.push_back(report.iterations);
  });
  return result;
}

TEST(Clutter, NewtonStepsPeakWhileFallingAndAreFewAtRest) {
  for (const char* scene : {"clutter40_soft", "clutter40_soft_open"}) {
    const ClutterRun r = clutter(scene, 1000);
    const int peak = *std::max_element(r.iterations.begin(), r.iterations.end());
    ::testing::Test::RecordProperty(fmt::format("{}_peak", scene), peak);
    ::testing::Test::RecordProperty(fmt::format("{}_step_60", scene), r.iterations[59]);
    ::testing::Test::RecordProperty(fmt::format("{}_step_520", scene), r.iterations[519]);
    expect_within(fmt::format("{}_mean_falling", scene), r.mean(20, 120), 1e9);
    expect_within(fmt::format("{}_mean_at_rest", scene), r.mean(500, 1000), 4);
  }
}

// --- slip ----------------------------------------------------------------------------------------------

// A box that sticks on a slope of 15 degrees creeps with R_t = sigma w times its friction, at most mu sigma g dt.
TEST(Stiction, SlipIsProportionalToSigma) {
  const double mu = 0.5;
  const double angle = std::numbers::pi / 12;
  double slower = 0;
  for (const double sigma : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0}) {
    ModelBuilder b("slope");
    Compliance soft = Compliance::soft_physical(1e12, 1e-3 / std::numbers::pi);
    soft.stiction = sigma;
    const int rough = b.add_material("rough", mu);
    const int soft_rough = b.add_material("soft", mu, 0, soft);
    const Pose X_WP{Vec3::Zero(), so3_exp(Vec3(0, angle, 0))};
    b.add_geom(kWorld, Shape::plane(), X_WP, rough);
    const int box = b.add_box_body("box", 2.0, Vec3(0.1, 0.1, 0.05), X_WP * Pose{Vec3(0, 0, 0.05)}, soft_rough);
    SimulationOptions o = options_with(1e-3);
    o.solver = "sap";
    o.tolerance = 1e-13;
    Simulation sim(b.build(), o);
    run(sim, 500);
    const double slip = twist(sim, box).head<3>().norm();
    const double bound = mu * sigma * kGravity * sim.dt();
    EXPECT_LE(slip, bound) << sigma;
    EXPECT_GT(slip, 0.1 * bound) << sigma;
    if (slower > 0) expect_near(fmt::format("ratio_at_{}", sigma), slip / slower, 10, 0.01);
    slower = slip;
  }
}

}  // namespace
}  // namespace sarrus
