// Every shape comes to rest on every kind of ground and stays there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "effort.h"
#include "physics/harness.h"
#include "physics/shape_models.h"

namespace sarrus::resting_test {
namespace {

using testing::energy_of;
using testing::expect_within;
using testing::grounds;
using testing::pose;
using testing::resting_shapes;
using testing::run;
using testing::twist;
using testing::Worst;

Model model_on(const testing::Ground& ground, const testing::Resting& body, double drop, double slope) {
  ModelBuilder b(body.name + "_on_" + ground.name);
  const Pose X_WP{Vec3(0.3, -0.2, 0.1), so3_exp(Vec3(0, slope, 0))};
  b.add_geom(kWorld, ground.shape, X_WP);
  b.add_solid(body.name, 1.0, body.shape, X_WP * Pose{Vec3(0.013, 0.027, body.height + drop), body.turn});
  return b.build();
}

struct Motion {
  double way = 0;    // m
  double turn = 0;   // rad
  double speed = 0;  // m/s
};

// Largest motion from now on during `steps`.
Motion watch(Simulation& sim, int steps, Worst& worst) {
  const Pose start = pose(sim, 0);
  Motion m;
  worst = run(sim, steps, [&](const StepReport&) {
    m.way = std::max(m.way, (pose(sim, 0).p - start.p).norm());
    m.turn = std::max(m.turn, so3_log(pose(sim, 0).q * start.q.conjugate()).norm());
    m.speed = std::max(m.speed, twist(sim, 0).norm());
  });
  return m;
}

class Resting : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  testing::Ground ground() const { return grounds()[static_cast<std::size_t>(std::get<0>(GetParam()))]; }
  testing::Resting body() const { return resting_shapes()[static_cast<std::size_t>(std::get<1>(GetParam()))]; }
};

// Dropped by 1 mm: after half a second it lies, and for ten more seconds nothing moves.
TEST_P(Resting, SettlesAndStaysForTenSeconds) {
  SARRUS_FULL_SIZE_ONLY();
  Simulation sim(model_on(ground(), body(), 1e-3, 0), {.dt = 1e-3});
  const double start = energy_of(sim).total();
  double highest = start;
  run(sim, 500, [&](const StepReport&) { highest = std::max(highest, energy_of(sim).total()); });
  expect_within("energy_gain_J", highest - start, 1e-9);
  EXPECT_LT(energy_of(sim).total(), start - 0.5 * 9.81 * 1e-3) << "it has not come down";
  Worst worst;
  const Motion m = watch(sim, 10000, worst);
  expect_within("creep_m", m.way, 1e-5);
  expect_within("turn_rad", m.turn, 1e-4);
  expect_within("speed", m.speed, 1e-4);
  expect_within("penetration_m", worst.penetration, 5e-5);
  EXPECT_EQ(worst.not_converged, 0);
}

// A slope of 5 degrees: friction holds what has a face to stand on (mu = 0.7 is far above tan 5), the others roll or
// rock without gaining energy.
TEST_P(Resting, HoldsOnASlope) {
  Simulation sim(model_on(ground(), body(), 0, 5 * std::numbers::pi / 180), {.dt = 1e-3});
  const double start = energy_of(sim).total();
  run(sim, 200);
  Worst worst;
  if (body().rolls) {
    const Motion m = watch(sim, 300, worst);
    EXPECT_GT(m.way, 1e-3);  // the ellipsoid rocks about a new rest by 4 mm, the others roll away
    EXPECT_LT(energy_of(sim).total(), start + 1e-9);
    return;
  }
  const Motion m = watch(sim, 2000, worst);
  expect_within("creep_m", m.way, 1e-5);
  expect_within("turn_rad", m.turn, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(AllShapes, Resting, ::testing::Combine(::testing::Range(0, 3), ::testing::Range(0, 9)),
                         [](const auto& param_info) {
                           return resting_shapes()[static_cast<std::size_t>(std::get<1>(param_info.param))].name +
                                  "_on_" + grounds()[static_cast<std::size_t>(std::get<0>(param_info.param))].name;
                         });

}  // namespace
}  // namespace sarrus::resting_test
