// Same build, same input, same bits; and warm starts change nothing but the work.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/hash.h"

namespace sarrus::determinism_test {
namespace {

using testing::expect_within;
using testing::pose;
using testing::run;
using testing::simulate;
using testing::twist;

constexpr std::array<Integrator, 2> kIntegrators = {Integrator::semi_implicit, Integrator::moreau};

SimulationOptions options(Integrator integrator, bool warm_start = true) {
  SimulationOptions o;
  o.integrator = integrator;
  o.warm_start = warm_start;
  return o;
}

// Hash over the states of all steps.
std::uint64_t trajectory_hash(Simulation& sim, int steps) {
  Hash64 h;
  run(sim, steps, [&](const StepReport&) { h.add(sim.state().hash()); });
  return h.value();
}

struct Case {
  const char* scene;
  int steps;
};
constexpr std::array<Case, 3> kCases = {{{"fourbar_free", 2000}, {"nunchuk", 2000}, {"ring20", 2000}}};

TEST(Determinism, TwoRunsAgreeInEveryBit) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Case& c : kCases) {
    for (const Integrator integrator : kIntegrators) {
      Simulation first = simulate(c.scene, options(integrator));
      Simulation second = simulate(c.scene, options(integrator));
      const std::uint64_t hash = trajectory_hash(first, c.steps);
      EXPECT_EQ(hash, trajectory_hash(second, c.steps)) << c.scene << " " << name_of(integrator);
    }
  }
}

TEST(Determinism, InterleavedSimulationsDoNotDisturbEachOther) {
  const int steps = test::samples(500);
  std::vector<std::uint64_t> alone;
  std::vector<Simulation> together;
  for (const Case& c : kCases) {
    for (const Integrator integrator : kIntegrators) {
      Simulation sim = simulate(c.scene, options(integrator));
      alone.push_back(trajectory_hash(sim, steps));
      together.push_back(simulate(c.scene, options(integrator)));
    }
  }
  std::vector<Hash64> hashes(together.size());
  for (int i = 0; i < steps; ++i) {
    for (std::size_t k = 0; k < together.size(); ++k) {
      together[k].step();
      hashes[k].add(together[k].state().hash());
    }
  }
  for (std::size_t k = 0; k < together.size(); ++k) EXPECT_EQ(hashes[k].value(), alone[k]) << k;
}

// Islands, rows, bodies and boxes are shared by threads in pieces; the scenes have one island or twenty, joints or
// contacts alone, steps that need the method and steps that do not.
TEST(Determinism, AnyNumberOfThreadsGivesTheSameBits) {
  for (const Case& c : {Case{"jansen_swarm20", 12}, Case{"jansen_walker", 60}, Case{"clutter40", 250},
                        Case{"ring20", 60}, Case{"dominoes", 120}}) {
    const int steps = test::samples(c.steps);
    if (steps < 3) continue;
    std::uint64_t alone = 0;
    for (const int threads : {1, 2, 7}) {
      SimulationOptions o;
      o.threads = threads;
      Simulation sim = simulate(c.scene, o);
      const std::uint64_t hash = trajectory_hash(sim, steps);
      if (threads == 1) alone = hash;
      EXPECT_EQ(hash, alone) << c.scene << ", " << threads << " threads";
    }
  }
}

// A saved state is all there is when no warm start is kept.
TEST(Determinism, ARestoredStateContinuesInTheSameBits) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Case& c : kCases) {
    for (const Integrator integrator : kIntegrators) {
      Simulation original = simulate(c.scene, options(integrator, false));
      run(original, 200);
      const State saved = original.state();
      Simulation restored = simulate(c.scene, options(integrator, false));
      restored.set_state(saved);
      EXPECT_EQ(restored.state().hash(), saved.hash());
      EXPECT_EQ(trajectory_hash(original, 200), trajectory_hash(restored, 200))
          << c.scene << " " << name_of(integrator);
      // Back to the saved state in the same object, which has moved on meanwhile.
      original.set_state(saved);
      restored.set_state(saved);
      EXPECT_EQ(trajectory_hash(original, 100), trajectory_hash(restored, 100))
          << c.scene << " " << name_of(integrator);
    }
  }
}

// One body rolls, and its velocity is finished; the other rests, and its is not: whatever the simulation did before.
TEST(Determinism, WhatIsFinishedDependsOnTheStateAlone) {
  ModelBuilder b("roll_and_rest");
  b.add_floor();
  const int egg = b.add_body("egg", 1, 0.02 * Mat3::Identity(), {Vec3(0, 0, 0.2)});
  b.add_geom(egg, Shape::ellipsoid({0.3, 0.2, 0.2}));
  b.set_velocity(egg, Vec3(0, -0.4, 0), Vec3(2, 0, 0.1));
  const int box = b.add_body("box", 1, 0.02 * Mat3::Identity(), {Vec3(3, 0, 0.1)});
  b.add_geom(box, Shape::box({0.1, 0.1, 0.1}));
  const Model model = b.build();
  Simulation original(model, options(Integrator::moreau, false));
  run(original, 100);
  const State saved = original.state();
  Simulation fresh(model, options(Integrator::moreau, false));
  fresh.set_state(saved);
  EXPECT_EQ(trajectory_hash(original, 50), trajectory_hash(fresh, 50));
}

// With warm starts, set_state drops them: two simulations of different history continue alike from one state.
TEST(Determinism, SettingTheStateDropsTheWarmStart) {
  for (const Case& c : kCases) {
    Simulation original = simulate(c.scene, options(Integrator::semi_implicit));
    run(original, test::samples(200));
    const State saved = original.state();
    run(original, 50);
    Simulation fresh = simulate(c.scene, options(Integrator::semi_implicit));
    original.set_state(saved);
    fresh.set_state(saved);
    EXPECT_EQ(trajectory_hash(original, test::samples(200)), trajectory_hash(fresh, test::samples(200))) << c.scene;
  }
}

TEST(WarmStart, ChangesNothingBeyondTheSolversTolerance) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Case& c : {Case{"fourbar_free", 100}, Case{"nunchuk", 130}, Case{"ring20", 100},
                        Case{"stack15_equal", 100}, Case{"stewart_platform", 100}}) {
    for (const Integrator integrator : kIntegrators) {
      Simulation warm = simulate(c.scene, options(integrator, true));
      Simulation cold = simulate(c.scene, options(integrator, false));
      run(warm, c.steps);
      run(cold, c.steps);
      double difference = 0;
      for (int i = 0; i < warm.model().body_count(); ++i) {
        difference = std::max(difference, (pose(warm, i).p - pose(cold, i).p).cwiseAbs().maxCoeff());
        difference = std::max(difference, (pose(warm, i).q.coeffs() - pose(cold, i).q.coeffs()).cwiseAbs().maxCoeff());
        difference = std::max(difference, (twist(warm, i) - twist(cold, i)).cwiseAbs().maxCoeff());
      }
      expect_within(fmt::format("{}_{}", c.scene, name_of(integrator)), difference, 1e-5);
    }
  }
}

}  // namespace
}  // namespace sarrus::determinism_test
