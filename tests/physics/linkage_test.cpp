// Linkages against closed-form kinematics and an independent integration in one coordinate.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/fourbar_reference.h"
#include "physics/harness.h"
#include "sarrus/math/so3.h"

namespace sarrus::linkage_test {
namespace {

using testing::coordinate;
using testing::EnergyDrift;
using testing::expect_near;
using testing::expect_within;
using testing::FourBarReference;
using testing::options_with;
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
  double angle_error_end = 0;
};

// fourbar_swing against the reference, which is sampled at every step.
Swing swing(Integrator integrator, double dt, double duration) {
  const int steps = static_cast<int>(std::lround(duration / dt));
  const int substeps = static_cast<int>(std::lround(dt / 1e-4));
  const std::vector<double> reference = FourBarReference::angles(dt, steps, substeps);
  Simulation sim = simulate("fourbar_swing", options_with(dt, integrator));
  EnergyDrift drift(sim);
  Swing out;
  std::size_t i = 0;
  out.worst = run(sim, steps, [&](const StepReport&) {
    drift.add(sim);
    out.angle_error_end = std::abs(coordinate(sim, "crank") - reference[++i]);
    out.angle_error = std::max(out.angle_error, out.angle_error_end);
  });
  out.drift_worst = drift.worst();
  out.drift_end = drift.at_end();
  return out;
}

TEST(FourBarSwing, TheReferenceConservesItsOwnEnergy) {
  const std::vector<double> fine = FourBarReference::angles(1e-3, 2000, 10);
  const std::vector<double> coarse = FourBarReference::angles(1e-3, 2000, 5);
  double difference = 0;
  double highest = 0;
  for (std::size_t i = 0; i < fine.size(); ++i) {
    difference = std::max(difference, std::abs(fine[i] - coarse[i]));
    highest = std::max(highest, std::abs(fine[i]));
  }
  expect_within("step_halving_rad", difference, 1e-9);
  // At the turning point all energy is potential again; the sample nearest to it is at most half a step away.
  const double sign = fine[100] > 0 ? 1 : -1;
  expect_near("energy_at_turn_J", FourBarReference::energy(sign * highest, 0), FourBarReference::energy(0, 0), 1e-4);
}

void expect_swing(const Swing& s, double drift) {
  expect_within("joint_gap_m", s.worst.joint_gap, kGap);
  expect_within("energy_drift_worst", s.drift_worst, drift);
  expect_within("energy_drift_end", s.drift_end, drift);
  EXPECT_EQ(s.worst.not_converged, 0);
}

// The angle after ten seconds; while swinging through at full speed (4.3 rad/s) it is 2.16e-3 rad ahead, the half step
// of the next test.
TEST(FourBarSwing, SemiImplicitOverTenSeconds) {
  SARRUS_FULL_SIZE_ONLY();
  const Swing s = swing(Integrator::semi_implicit, 1e-3, 10);
  expect_swing(s, 0.013);
  expect_within("crank_angle_error_end_rad", s.angle_error_end, 2e-3);
}
TEST(FourBarSwing, MoreauOverTenSeconds) {
  SARRUS_FULL_SIZE_ONLY();
  const Swing s = swing(Integrator::moreau, 1e-3, 10);
  expect_swing(s, 1e-4);
  expect_within("crank_angle_error_rad", s.angle_error, 1e-5);
}

// Started from rest, semi-implicit Euler is the leapfrog scheme with its velocities half a step early: position n is
// that of t = (n + 1/2) dt to second order, and its error at t = n dt is dt/2 times the rate.
TEST(FourBarSwing, SemiImplicitLeadsByHalfAStep) {
  SARRUS_FULL_SIZE_ONLY();
  const double dt = 1e-3;
  const std::vector<double> reference = FourBarReference::angles(0.5 * dt, 20001, 5);
  Simulation sim = simulate("fourbar_swing", options_with(dt, Integrator::semi_implicit));
  double error = 0;
  double fastest = 0;
  std::size_t i = 1;
  run(sim, 10000, [&](const StepReport&) {
    i += 2;
    error = std::max(error, std::abs(coordinate(sim, "crank") - reference[i]));
    fastest = std::max(fastest, std::abs(reference[i] - reference[i - 2]) / dt);
  });
  RecordProperty("half_a_step_at_full_speed_rad", fmt::format("{:.4g}", 0.5 * dt * fastest));
  expect_within("crank_angle_error_rad", error, 1e-4);
}

TEST(FourBarSwing, OrderOfConvergence) {
  SARRUS_FULL_SIZE_ONLY();
  const std::array<double, 3> dt = {4e-3, 2e-3, 1e-3};
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    std::array<double, 3> error{};
    for (std::size_t i = 0; i < 3; ++i) error[i] = swing(integrator, dt[i], 2).angle_error;
    const bool moreau = integrator == Integrator::moreau;
    for (std::size_t i = 0; i < 2; ++i) {
      expect_near(fmt::format("order_{}_{}", name_of(integrator), i), order_of(error[i], error[i + 1]), moreau ? 2 : 1,
                  moreau ? 0.3 : 0.25);
    }
  }
}

TEST(DoublePendulum, MoreauKeepsTheEnergyForTenSeconds) {
  SARRUS_FULL_SIZE_ONLY();
  Simulation sim = simulate("double_pendulum", options_with(1e-3, Integrator::moreau));
  EnergyDrift drift(sim);
  const Worst worst = run(sim, 10000, [&](const StepReport&) { drift.add(sim); });
  expect_within("energy_drift_worst", drift.worst(), 0.002);
  expect_within("joint_gap_m", worst.joint_gap, kGap);
}

// tan(t1/2) tan(t2/2) = sin((b + a)/2) / sin((b - a)/2) = K, t3 = -t1, t4 = -t2; written without the poles of the
// tangent: sin(t1/2) sin(t2/2) - K cos(t1/2) cos(t2/2) = 0. Hinge 4 is measured from the world to the last link,
// against the sense of t4, so its coordinate is that of hinge 2.
TEST(Bennett, OppositeAnglesFollowTheClosedForm) {
  SARRUS_FULL_SIZE_ONLY();
  const double alpha = 40 * kDegree;
  const double beta = 75 * kDegree;
  const double K = std::sin(0.5 * (beta + alpha)) / std::sin(0.5 * (beta - alpha));
  const double t1_start = -30 * kDegree;
  const double t2_start = 2 * std::atan(K / std::tan(0.5 * t1_start));
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    Simulation sim = simulate("bennett_linkage", options_with(1e-3, integrator));
    EnergyDrift drift(sim);
    double relation = 0;
    double opposite = 0;
    double travel = 0;
    const Worst worst = run(sim, 5000, [&](const StepReport&) {
      const double t1 = t1_start + coordinate(sim, "hinge1");
      const double t2 = t2_start + coordinate(sim, "hinge2");
      const double lhs = std::sin(0.5 * t1) * std::sin(0.5 * t2) - K * std::cos(0.5 * t1) * std::cos(0.5 * t2);
      relation = std::max(relation, std::abs(lhs));
      opposite = std::max(opposite, std::abs(coordinate(sim, "hinge3") + coordinate(sim, "hinge1")));
      opposite = std::max(opposite, std::abs(coordinate(sim, "hinge4") - coordinate(sim, "hinge2")));
      travel = std::max(travel, std::abs(coordinate(sim, "hinge1")));
      drift.add(sim);
    });
    const std::string tag(name_of(integrator));
    expect_within(tag + "_relation", relation, 1e-8);
    expect_within(tag + "_opposite_rad", opposite, 1e-8);
    expect_within(tag + "_joint_gap_m", worst.joint_gap, kGap);
    expect_within(tag + "_energy_drift", drift.worst(), integrator == Integrator::moreau ? 1e-3 : 0.02);
    EXPECT_GT(travel, 200 * kDegree);
    EXPECT_EQ(worst.not_converged, 0);
  }
}

// The top moves on a vertical line without turning; its height follows the fold of a leg.
TEST(Sarrus, TheTopMovesOnAStraightLine) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    Simulation sim = simulate("sarrus_linkage", options_with(1e-3, integrator));
    double sideways = 0;
    double turned = 0;
    double height = 0;
    const Worst worst = run(sim, 1000, [&](const StepReport&) {
      const Pose& X = pose(sim, "top");
      sideways = std::max(sideways, X.p.head<2>().norm());
      turned = std::max(turned, so3_log(X.q).norm());
      const double fold = 60 * kDegree - coordinate(sim, "x_foot");
      height = std::max(height, std::abs(X.p.z() - (0.03 + 0.5 * std::sin(fold))));
    });
    const std::string tag(name_of(integrator));
    expect_within(tag + "_sideways_m", sideways, kGap);
    expect_within(tag + "_turned_rad", turned, kGap);
    expect_within(tag + "_height_m", height, 1e-8);
    expect_within(tag + "_joint_gap_m", worst.joint_gap, kGap);
    expect_near(tag + "_stop_rad", coordinate(sim, "x_foot"), 50 * kDegree, 1e-6);
  }
}

// A parallelogram: the coupler only translates, crank and rocker turn alike.
TEST(FourBarFixed, MovesAsAParallelogramUnderItsServo) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    Simulation sim = simulate("fourbar_fixed", options_with(1e-3, integrator));
    const Quat start = pose(sim, "coupler").q;
    double turned = 0;
    double unequal = 0;
    double reach = 0;
    const Worst worst = run(sim, 2000, [&](const StepReport&) {
      turned = std::max(turned, so3_log(pose(sim, "coupler").q * start.conjugate()).norm());
      unequal = std::max(unequal, std::abs(coordinate(sim, "crank") - coordinate(sim, "rocker")));
      reach = std::max(reach, std::abs(coordinate(sim, "crank")));
    });
    const std::string tag(name_of(integrator));
    expect_within(tag + "_coupler_turned_rad", turned, 1e-8);
    expect_within(tag + "_unequal_rad", unequal, 1e-8);
    expect_within(tag + "_joint_gap_m", worst.joint_gap, kGap);
    EXPECT_GT(reach, 0.4);
  }
}

// Lands flat and stays: free fall before, resting on the slop afterwards.
TEST(Ring20, FallsLandsAndRestsWithItsHingesClosed) {
  Simulation sim = simulate("ring20");
  const double dt = sim.dt();
  double fall = 0;
  int n = 0;
  Worst worst = run(sim, 10, [&](const StepReport&) {
    ++n;
    fall = std::max(fall, std::abs(pose(sim, 0).p.z() - (0.3 - 9.81 * dt * dt * n * n / 2)));
  });
  expect_within("free_fall_m", fall, 1e-9);
  const Worst rest = run(sim, 290);
  double height = 0;
  double speed = 0;
  for (int i = 0; i < 20; ++i) {
    height = std::max(height, std::abs(pose(sim, i).p.z() - 0.1));
    speed = std::max(speed, twist(sim, i).norm());
  }
  expect_within("rest_height_m", height, 2e-5);
  expect_within("rest_speed", speed, 1e-6);
  expect_within("joint_gap_m", std::max(worst.joint_gap, rest.joint_gap), kGap);
}

// A second copy of every joint adds only redundant rows.
TEST(Redundancy, DuplicatedJointsDoNotChangeTheMotion) {
  for (const char* scene : {"fourbar_swing", "bennett_linkage", "double_pendulum"}) {
    for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
      const Model model = make_scene(scene);
      ModelData data = model.data();
      const std::size_t joints = data.joints.size();
      for (std::size_t i = 0; i < joints; ++i) {
        Joint copy = data.joints[i];
        copy.name += "_copy";
        copy.first_dof = static_cast<int>(data.dofs.size());
        data.dofs.emplace_back();
        data.joints.push_back(copy);
      }
      Simulation once(model, options_with(1e-3, integrator));
      Simulation twice(finish_model(data), options_with(1e-3, integrator));
      run(once, 200);
      run(twice, 200);
      double difference = 0;
      for (int i = 0; i < model.body_count(); ++i) {
        difference = std::max(difference, (twist(once, i) - twist(twice, i)).cwiseAbs().maxCoeff());
      }
      expect_within(fmt::format("{}_{}", scene, name_of(integrator)), difference, 1e-7);
    }
  }
}

TEST(SliderCrank, TheSliderFollowsTheClosedForm) {
  SARRUS_FULL_SIZE_ONLY();
  const double r = 0.1;
  const double l = 0.3;
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    Simulation sim = simulate("slider_crank", options_with(1e-3, integrator));
    double position = 0;
    double off_rail = 0;
    const Worst worst = run(sim, 3000, [&](const StepReport&) {
      // The crank starts upright; positive angles about +y turn it towards +x.
      const double a = 90 * kDegree - coordinate(sim, "crank");
      const Vec3& p = pose(sim, "slider").p;
      const double s = r * std::sin(a);
      position = std::max(position, std::abs(p.x() - (r * std::cos(a) + std::sqrt(l * l - s * s))));
      off_rail = std::max(off_rail, std::hypot(p.y(), p.z() - 0.5));
    });
    const std::string tag(name_of(integrator));
    expect_within(tag + "_slider_m", position, kGap);
    expect_within(tag + "_off_rail_m", off_rail, kGap);
    expect_within(tag + "_joint_gap_m", worst.joint_gap, kGap);
    EXPECT_GT(coordinate(sim, "crank"), 2.5 * 2 * std::numbers::pi);
  }
}

}  // namespace
}  // namespace sarrus::linkage_test
