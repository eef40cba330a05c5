// Linkages against closed-form kinematics and an independent integration in one coordinate.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "physics/fourbar_reference.h"
#include "physics/harness.h"
#include "sarrus/math/so3.h"

namespace sarrus {
namespace {

using testing::coordinate;
using testing::EnergyDrift;
using testing::FourBarReference;
using testing::order_of;
using testing::pose;
using testing::run;
using testing::simulate;
using testing::twist;
using testing::Worst;

constexpr double kDegree = std::numbers::pi / 180;
constexpr double kGap = 1e-9;  // m, largest joint gap allowed anywhere

struct Swing {
  Worst worst;
  double drift_worst = 0;
  double drift_end = 0;
  double angle_error = 0;  // rad, largest over the run
};

// fourbar_swing against the reference, which is sampled at every step.
Swing swing(Integrator integrator, double dt, double duration) {
  const int steps = static_cast<int>(std::lround(duration / dt));
  const int substeps = static_cast<int>(std::lround(dt / 1e-4));
  const std::vector<double> reference = FourBarReference::angles(dt, steps, substeps);
  Simulation sim = simulate("fourbar_swing", {.dt = dt, .integrator = integrator});
  EnergyDrift drift(sim);
  Swing out;
  std::size_t i = 0;
  out.worst = run(sim, steps, [&](const StepReport&) {
    drift.add(sim);
    out.angle_error = std::max(out.angle_error, std::abs(coordinate(sim, "crank") - reference[++i]));
  });
  out.drift_worst = drift.worst();
  out.drift_end = drift.at_end();
  return out;
}

TEST(FourBarSwing, TheReferenceConservesItsOwnEnergy) {
  const std::vector<double> fine = FourBarReference::angles(1e-3, 1000, 10);
  const std::vector<double> coarse = FourBarReference::angles(1e-3, 1000, 5);
  double difference = 0;
  for (std::size_t i = 0; i < fine.size(); ++i) difference = std::max(difference, std::abs(fine[i] - coarse[i]));
  EXPECT_LT(difference, 1e-9);
  double lowest = 0;
  double highest = 0;
  for (const double a : fine) {
    lowest = std::min(lowest, a);
    highest = std::max(highest, a);
  }
  RecordProperty("range", std::to_string(lowest) + " " + std::to_string(highest));
  // It turns where all its energy is potential again.
  const double start = FourBarReference::energy(0, 0);
  for (const double turn : {lowest, highest}) EXPECT_NEAR(FourBarReference::energy(turn, 0), start, 1e-3);
}

TEST(FourBarSwing, SemiImplicitOverTenSeconds) {
  const Swing s = swing(Integrator::semi_implicit, 1e-3, 10);
  RecordProperty("gap", std::to_string(s.worst.joint_gap));
  EXPECT_LE(s.worst.joint_gap, kGap);
  EXPECT_LE(s.drift_worst, 0.013);
  EXPECT_LE(std::abs(s.drift_end), 0.013);
  EXPECT_LE(s.angle_error, 2e-3);
  EXPECT_EQ(s.worst.not_converged, 0);
}

TEST(FourBarSwing, MoreauOverTenSeconds) {
  const Swing s = swing(Integrator::moreau, 1e-3, 10);
  EXPECT_LE(s.worst.joint_gap, kGap);
  EXPECT_LE(s.drift_worst, 1e-4);
  EXPECT_LE(std::abs(s.drift_end), 1e-4);
  EXPECT_LE(s.angle_error, 1e-5);
  EXPECT_EQ(s.worst.not_converged, 0);
}

TEST(FourBarSwing, OrderOfConvergence) {
  const std::array<double, 3> dt = {4e-3, 2e-3, 1e-3};
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    std::array<double, 3> error{};
    for (std::size_t i = 0; i < 3; ++i) error[i] = swing(integrator, dt[i], 2).angle_error;
    const bool moreau = integrator == Integrator::moreau;
    for (std::size_t i = 0; i < 2; ++i) {
      const double order = order_of(error[i], error[i + 1]);
      EXPECT_NEAR(order, moreau ? 2 : 1, moreau ? 0.3 : 0.25) << name(integrator) << " dt " << dt[i];
    }
  }
}
}  // namespace
}  // namespace sarrus
