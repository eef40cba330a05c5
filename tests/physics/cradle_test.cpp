// Several impacts within a step: Newton's cradle, and bodies that fall together.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "physics/harness.h"
#include "physics/passive.h"

namespace sarrus::cradle_test {
namespace {

using testing::expect_near;
using testing::expect_within;
using testing::passive_options;
using testing::pose;
using testing::run;
using testing::twist;

constexpr int kBalls = 5;
constexpr double kRadius = 0.05;
constexpr double kSpeed = 1;

// Balls in a row without gravity; the first comes from a distance.
Model cradle(double gap) {
  ModelBuilder b("cradle");
  b.set_gravity(Vec3::Zero());
  const int steel = b.add_material("steel", 0, 1);
  for (int i = 0; i < kBalls; ++i) {
    const double x = i * (2 * kRadius + gap) - (i == 0 ? 0.0123 : 0);
    b.add_sphere_body("ball" + std::to_string(i), 1, kRadius, {Vec3(x, 0, 0)}, steel);
  }
  b.set_velocity(0, Vec3(kSpeed, 0, 0), Vec3::Zero());
  return b.build();
}

std::vector<double> speeds_after(double gap, RestitutionLaw law, double dt) {
  SimulationOptions o = passive_options(dt);
  o.rows.restitution = law;
  Simulation sim(cradle(gap), o);
  run(sim, static_cast<int>(std::lround(0.1 / dt)));
  std::vector<double> v;
  for (int i = 0; i < kBalls; ++i) v.push_back(twist(sim, i)[0]);
  return v;
}

double energy_of(const std::vector<double>& v) {
  double e = 0;
  for (const double x : v) e += 0.5 * x * x;
  return e;
}

TEST(Cradle, SequentialImpactsRunThroughToTheLastBall) {
  for (const double gap : {0.0, 1e-4}) {
    for (const double dt : {1e-3, 2e-4}) {
      const std::vector<double> v = speeds_after(gap, RestitutionLaw::sequential, dt);
      for (int i = 0; i < kBalls; ++i) {
        expect_near("v", v[static_cast<std::size_t>(i)], i == kBalls - 1 ? kSpeed : 0, 1e-7);
      }
    }
  }
}

// Balls that do not touch are hit one after the other, whatever the law of several impacts at once.
TEST(Cradle, BallsApartLoseNothingToTheGapBetweenThem) {
  for (const double dt : {1e-3, 2e-4}) {
    const std::vector<double> v = speeds_after(1e-4, RestitutionLaw::simultaneous, dt);
    expect_near("energy", energy_of(v), 0.5 * kSpeed * kSpeed, 1e-7);
    expect_near("last", v.back(), kSpeed, 1e-7);
  }
}

// Newton's law on all touching contacts at once: the first contact separates at its speed of approach, the others hold,
// so that four balls leave as one. Two bodies of masses 1 and 4 after an elastic impact: -3/5 and 2/5.
TEST(Cradle, TouchingBallsAreHitAsOneBodyBySimultaneousImpacts) {
  const std::vector<double> v = speeds_after(0, RestitutionLaw::simultaneous, 1e-3);
  expect_near("first", v[0], -0.6 * kSpeed, 1e-7);
  for (int i = 1; i < kBalls; ++i) expect_near("rest", v[static_cast<std::size_t>(i)], 0.4 * kSpeed, 1e-7);
  expect_near("energy", energy_of(v), 0.5 * kSpeed * kSpeed, 1e-7);
}

// A column falls as one and its lowest body is stopped by the floor within a step: none enters its neighbour.
TEST(FallingTogether, NobodyEntersItsNeighbourWhenTheLowestStops) {
  for (const bool boxes : {false, true}) {
    for (const double gap : {0.0, 1e-4}) {
      for (const double dt : {1e-3, 2e-4}) {
        ModelBuilder b("column");
        const int steel = b.add_material("steel", 0.3, 0);
        b.add_floor(0, steel);
        for (int i = 0; i < 5; ++i) {
          const Pose X{Vec3(0, 0, 0.0307 + kRadius + i * (2 * kRadius + gap))};
          const std::string name = "body" + std::to_string(i);
          const int body = boxes ? b.add_box_body(name, 1, Vec3::Constant(kRadius), X, steel)
                                 : b.add_sphere_body(name, 1, kRadius, X, steel);
          b.set_velocity(body, Vec3(0, 0, -5), Vec3::Zero());
        }
        Simulation sim(b.build(), passive_options(dt));
        double deepest = 0;
        run(sim, static_cast<int>(std::lround(0.05 / dt)), [&](const StepReport&) {
          for (int i = 1; i < 5; ++i) {
            const double apart = pose(sim, i).p.z() - pose(sim, i - 1).p.z();
            deepest = std::max(deepest, 2 * kRadius - apart);
          }
          deepest = std::max(deepest, kRadius - pose(sim, 0).p.z());
        });
        expect_within(boxes ? "boxes_m" : "spheres_m", deepest, 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace sarrus::cradle_test
