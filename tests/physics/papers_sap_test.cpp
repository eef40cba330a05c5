// What Castro, Permenter and Han report of convex compliant contact (docs/papers.md): the cylinder on a spring with the
// theta-schemes, Newton steps on clutter, slip in stiction. Data: docs/theory/benchmarks.md §3 [S].
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/so3.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::papers_sap_test {
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

// The contact point is on the floor, so the arm of friction is shorter than the radius by the depth: with I = m R^2/2
// the rolling cylinder has the effective mass m + I/(R - depth)^2, 0.755 kg instead of 0.75 kg.
const double kDepth = kMass * kGravity / kContact;
double rolling_mass() { return kMass + 0.5 * kMass / std::pow(1 - kDepth / 0.05, 2); }

// The scenes start in touch; here at the rest depth, so that nothing but the spring moves the cylinder.
Simulation cylinder(const char* scene, double dt, Integrator integrator) {
  SimulationOptions o = options_with(dt, integrator);
  o.solver = "sap";
  Simulation sim = simulate(scene, o);
  State s = sim.state();
  s.X_WB[0].p.z() -= kDepth;
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

// Friction F = s k x, s = 1 - m/m_eff, turns the cylinder. Stiction slips at v = sigma w_c F dt, w_c that of the
// contacts together, and this alone takes energy: E falls at the rate F v = sigma w_c dt s^2 k E, as x^2 is E/k on the
// mean of a period. The force of the midpoint rule acts at the middle of a step and works on the mean of two slips,
// each of which brings a factor of cos^2(angle/2) = 1/(1 + (omega dt/2)^2), angle the phase of a step.
TEST(SpringCylinder, RollingLosesWhatStictionSlips) {
  SARRUS_FULL_SIZE_ONLY();
  Simulation sim = cylinder("spring_cylinder", kStep, Integrator::midpoint);
  const double start = oscillation(sim);
  expect_within("band_in_5_s", band(sim, 250), 0.003);
  const ConstraintProblem& p = sim.problem();
  ASSERT_EQ(sim.contacts().size(), 2u);
  const double sigma_w = p.R[static_cast<std::size_t>(p.blocks.back().row)] / 2;  // two equal contacts
  const double share = 1 - kMass / rolling_mass();                                // a third for a contact without depth
  const double late = 1 + kSpring / rolling_mass() * kStep * kStep / 4;
  const double rate = sigma_w * kStep * share * share * kSpring / (late * late);
  ::testing::Test::RecordProperty("w_c", fmt::format("{:.4g}", sigma_w / 1e-3));
  run(sim, 30000 - 250);
  const double lost = 1 - oscillation(sim) / start;
  expect_near("lost_in_10_min", lost, 1 - std::exp(-600 * rate), 1e-4);
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

// Steps short enough for the error of implicit Euler to be small, and long enough for that of the midpoint rule to be
// far above the loss by slip, which is of first order.
TEST(SpringCylinder, OrderIsTwoForTheMidpointAndOneForTheOthers) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Integrator scheme : {Integrator::symplectic_euler, Integrator::implicit_euler, Integrator::midpoint}) {
    const bool midpoint = scheme == Integrator::midpoint;
    const double dt = midpoint ? 4e-3 : 5e-4;
    for (const auto& [scene, mass] :
         {std::pair{"spring_cylinder_smooth", kMass}, {"spring_cylinder", rolling_mass()}}) {
      const double order =
          order_of(trajectory_error(scene, mass, scheme, dt), trajectory_error(scene, mass, scheme, 0.5 * dt));
      expect_near(fmt::format("{}_{}", scene, name_of(scheme)), order, midpoint ? 2 : 1, 0.15);
    }
  }
}

// --- clutter -------------------------------------------------------------------------------------------

// Newton steps of the island that takes most of them, step by step. The solver of the simulation reports the sum over
// all islands, so its problems are solved again from the same warm start.
std::vector<int> newton_steps(const char* scene, int steps) {
  SimulationOptions o;
  o.solver = "sap";
  o.solver_parameters = {{"eps_r", 1e-5}};
  o.tolerance = 1e-3;  // the momentum residual decides, as in the paper
  Simulation sim = simulate(scene, o);
  const std::unique_ptr<Solver> sap = make_solver("sap", o.solver_parameters);
  std::vector<int> taken;
  std::vector<double> lambda;
  run(sim, steps, [&](const StepReport& report) {
    EXPECT_EQ(report.status, StepStatus::converged);
    lambda.assign(sim.warm_start_impulses().begin(), sim.warm_start_impulses().end());
    const SolveReport again = sap->solve(sim.problem(), o.tolerance, lambda);
    EXPECT_EQ(again.iterations, report.iterations);
    taken.push_back(again.island_iterations);
  });
  return taken;
}

double mean(const std::vector<int>& x, int from, int to) {
  return std::accumulate(x.begin() + from, x.begin() + to, 0.0) / (to - from);
}

TEST(Clutter, NewtonStepsPeakWhileFallingAndAreFewAtRest) {
  SARRUS_FULL_SIZE_ONLY();
  for (const std::string scene : {"clutter40_soft", "clutter40_soft_open"}) {
    const std::vector<int> taken = newton_steps(scene.c_str(), 1000);
    const double falling = mean(taken, 40, 120);
    const double at_rest = mean(taken, 500, 1000);
    expect_within(scene + "_peak", *std::max_element(taken.begin(), taken.end()), 40);
    expect_within(scene + "_step_60", taken[59], 30);
    expect_within(scene + "_step_520", taken[519], 12);
    expect_within(scene + "_mean_of_steps_40_to_120", falling, 25);
    expect_within(scene + "_mean_at_rest", at_rest, 6);
    EXPECT_GT(falling, 3 * at_rest) << scene;
  }
}

// --- slip ----------------------------------------------------------------------------------------------

constexpr double kSlopeMu = 0.5;
const std::vector<double> kSigmas = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0};

// A box that sticks on a slope of 15 degrees, half a second after its release.
Simulation box_on_slope(double sigma) {
  ModelBuilder b("slope");
  Compliance soft = Compliance::soft_physical(1e12, 1e-3 / std::numbers::pi);
  soft.stiction = sigma;
  const int rough = b.add_material("rough", kSlopeMu);
  const int soft_rough = b.add_material("soft", kSlopeMu, 0, soft);
  const Pose X_WP{Vec3::Zero(), so3_exp(Vec3(0, std::numbers::pi / 12, 0))};
  b.add_geom(kWorld, Shape::plane(), X_WP, rough);
  b.add_box_body("box", 2.0, Vec3(0.1, 0.1, 0.05), X_WP * Pose{Vec3(0, 0, 0.05)}, soft_rough);
  SimulationOptions o = options_with(1e-3);
  o.solver = "sap";
  o.tolerance = 1e-13;
  Simulation sim(b.build(), o);
  run(sim, 500);
  return sim;
}

// It creeps with R_t = sigma w times its friction, at most mu sigma g dt.
TEST(Stiction, SlipIsProportionalToSigma) {
  double slower = 0;
  for (const double sigma : kSigmas) {
    const Simulation sim = box_on_slope(sigma);
    const double slip = twist(sim, 0).head<3>().norm();
    const double bound = kSlopeMu * sigma * kGravity * sim.dt();
    ::testing::Test::RecordProperty(fmt::format("slip_at_{}", sigma), fmt::format("{:.4g}", slip));
    EXPECT_LE(slip, bound) << sigma;
    EXPECT_GT(slip, 0.1 * bound) << sigma;
    if (slower > 0) expect_near(fmt::format("ratio_at_{}", sigma), slip / slower, 10, 1e-4);
    slower = slip;
  }
}

// kappa(H) of the Hessian H = M + J' R^-1 J of sticking contacts, scaled by the diagonal of M.
double condition_of_hessian(const ConstraintProblem& p) {
  const MatX M = Eigen::Map<const MatX>(p.mass.data(), 6, 6);
  const VecX R = Eigen::Map<const VecX>(p.R.data(), p.rows());
  const VecX S = M.diagonal().cwiseSqrt().cwiseInverse();
  const MatX J = p.dense_J() * S.asDiagonal();
  const MatX H = S.asDiagonal() * M * S.asDiagonal() + J.transpose() * R.cwiseInverse().asDiagonal() * J;
  const VecX values = Eigen::SelfAdjointEigenSolver<MatX>(H).eigenvalues();
  return values[5] / values[0];
}

TEST(Stiction, ConditionOfTheHessianIsInverseToSigma) {
  double better = 0;
  for (const double sigma : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
    const double kappa = condition_of_hessian(box_on_slope(sigma).problem());
    ::testing::Test::RecordProperty(fmt::format("kappa_at_{}", sigma), fmt::format("{:.4g}", kappa));
    if (better > 0) expect_near(fmt::format("ratio_at_{}", sigma), kappa / better, 10, 1);
    better = kappa;
  }
}

}  // namespace
}  // namespace sarrus::papers_sap_test
