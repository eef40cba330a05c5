// Stacks that must stand, with default options only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/so3.h"

namespace sarrus::stack_test {
namespace {

using testing::expect_near;
using testing::expect_within;
using testing::pose;
using testing::run;
using testing::simulate;
using testing::twist;
using testing::Worst;

// Largest horizontal and vertical way of a body from its reference pose, and largest turn.
struct Creep {
  double horizontal = 0;
  double vertical = 0;
  double turn = 0;
};
Creep creep(const Simulation& sim) {
  Creep c;
  for (int i = 0; i < sim.model().body_count(); ++i) {
    const Pose& start = sim.model().bodies()[static_cast<std::size_t>(i)].X_WB0;
    const Vec3 way = pose(sim, i).p - start.p;
    c.horizontal = std::max(c.horizontal, way.head<2>().norm());
    c.vertical = std::max(c.vertical, std::abs(way.z()));
    c.turn = std::max(c.turn, so3_log(pose(sim, i).q * start.q.conjugate()).norm());
  }
  return c;
}

TEST(Stack, FifteenEqualCubesStandTenSeconds) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    SimulationOptions o;
    o.integrator = integrator;
    Simulation sim = simulate("stack15_equal", o);
    Creep worst_creep;
    const Worst worst = run(sim, integrator == Integrator::moreau ? 2000 : 10000, [&](const StepReport&) {
      const Creep now = creep(sim);
      worst_creep.horizontal = std::max(worst_creep.horizontal, now.horizontal);
      worst_creep.vertical = std::max(worst_creep.vertical, now.vertical);
      worst_creep.turn = std::max(worst_creep.turn, now.turn);
    });
    const std::string tag(name_of(integrator));
    expect_within(tag + "_penetration_m", worst.penetration, 1e-4);
    expect_within(tag + "_horizontal_m", worst_creep.horizontal, 1e-4);
    expect_within(tag + "_vertical_m", worst_creep.vertical, 15 * 1e-4);
    expect_within(tag + "_turn_rad", worst_creep.turn, 1e-3);
    RecordProperty(tag + "_not_converged", worst.not_converged);
  }
}

// Every cube carries the weight above it: the impulses of each interface add up to dt g times that mass.
TEST(Stack, EachInterfaceCarriesTheWeightAboveIt) {
  Simulation sim = simulate("stack15_equal");
  run(sim, 500);
  double error = 0;
  for (int above = 0; above < 15; ++above) {  // interface below cube `above`
    double force = 0;
    for (int i = 0; i < static_cast<int>(sim.contacts().size()); ++i) {
      const Contact& c = sim.contacts()[static_cast<std::size_t>(i)];
      const int upper = std::max(c.body_a, c.body_b);
      const double sign = c.body_b == upper ? 1 : -1;
      if (upper == above) force += sign * sim.contact_impulse_W(i).z() / sim.dt();
    }
    error = std::max(error, std::abs(force - (15 - above) * 9.81) / 9.81);
  }
  expect_within("relative_to_one_weight", error, 1e-3);
}

TEST(Stack, WeldedBoxesLandAsOneBody) {
  Simulation sim = simulate("boxes_fixed");
  const Pose between = pose(sim, 0).inverse() * pose(sim, 1);
  double shift = 0;
  double turn = 0;
  const Worst worst = run(sim, 2000, [&](const StepReport&) {
    const Pose now = pose(sim, 0).inverse() * pose(sim, 1);
    shift = std::max(shift, (now.p - between.p).norm());
    turn = std::max(turn, so3_log(now.q * between.q.conjugate()).norm());
  });
  expect_within("shift_m", shift, 1e-9);
  expect_within("turn_rad", turn, 1e-9);
  expect_within("joint_gap_m", worst.joint_gap, 1e-9);
  expect_near("height_m", pose(sim, 0).p.z(), 0.1, 1e-4);
  expect_within("speed", std::max(twist(sim, 0).norm(), twist(sim, 1).norm()), 1e-5);
}

TEST(Stack, SpheresStayAboveEachOther) {
  Simulation sim = simulate("sphere_stack");
  double horizontal = 0;
  const Worst worst =
      run(sim, 500, [&](const StepReport&) { horizontal = std::max(horizontal, creep(sim).horizontal); });
  expect_within("horizontal_m", horizontal, 1e-6);
  expect_within("penetration_m", worst.penetration, 1e-4);
  expect_within("vertical_m", creep(sim).vertical, 20 * 1e-4);
}

// 1 kg carries 10 t: hard to solve, but every step is judged and none is worse than acceptable.
TEST(Stack, MassRatioOfTenThousandIsJudgedInEveryStep) {
  Simulation sim = simulate("stack15");
  int beyond = 0;
  const Worst worst = run(sim, 1000, [&](const StepReport& r) {
    const bool judged = r.rows > 0 && std::isfinite(r.residuals.natural_map);
    beyond += !judged || r.residuals.error() > sim.options().acceptable;
  });
  EXPECT_EQ(beyond, 0);
  expect_within("natural_map_relative", worst.natural_map_relative, sim.options().acceptable);
  expect_within("penetration_m", worst.penetration, 1e-3);
  expect_within("horizontal_m", creep(sim).horizontal, 1e-3);
  RecordProperty("not_converged", worst.not_converged);
}

}  // namespace
}  // namespace sarrus::stack_test
