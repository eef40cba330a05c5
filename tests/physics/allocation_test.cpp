// step() allocates nothing once its buffers have grown.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "support/allocations.h"

namespace sarrus::allocation_test {
namespace {

using test::allocations_of;
using test::keep;

TEST(Allocation, TheCounterSeesEveryWayToAllocate) {
  EXPECT_GT(allocations_of([] { keep(std::make_unique<int>(1)); }), 0);
  EXPECT_GT(allocations_of([] { keep(std::vector<Pose>(3)); }), 0);
  EXPECT_GT(allocations_of([] { keep(std::string(100, 'x')); }), 0);
  EXPECT_GT(allocations_of([] { keep(VecX(VecX::Zero(50))); }), 0);
  EXPECT_GT(allocations_of([] {
              void* p = std::malloc(10);
              keep(p);
              std::free(p);
            }),
            0);
  EXPECT_EQ(allocations_of([] { keep(Vec6(Vec6::Zero())); }), 0);
}

struct Case {
  const char* scene;
  int warm_up;
  int counted;
};

void expect_no_allocations(const Case& c, SimulationOptions options) {
  Simulation sim = testing::simulate(c.scene, std::move(options));
  for (int i = 0; i < c.warm_up; ++i) sim.step();
  int failed = 0;
  int fewest = sim.report().contacts;
  int most = fewest;
  const long n = allocations_of([&] {
    for (int i = 0; i < c.counted; ++i) {
      const StepReport& r = sim.step();
      failed += r.status == StepStatus::failed;
      fewest = std::min(fewest, r.contacts);
      most = std::max(most, r.contacts);
    }
  });
  EXPECT_EQ(n, 0) << c.scene << " " << name_of(*sim.options().integrator);
  EXPECT_EQ(failed, 0) << c.scene;
  ::testing::Test::RecordProperty(
      fmt::format("{}_{}", c.scene, name_of(*sim.options().integrator)),
      fmt::format("{} allocations in {} steps, {} to {} contacts", n, c.counted, fewest, most));
}

TEST(Allocation, StepsAllocateNothingAfterWarmUp) {
  for (const Case& c :
       {Case{"fourbar_swing", 10, 500}, Case{"stewart_platform", 10, 300}, Case{"ring20", 30, 100},
        Case{"stack15_equal", 10, 300}, Case{"bennett_linkage", 10, 300}, Case{"slider_crank", 10, 300}}) {
    for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
      SimulationOptions o;
      o.integrator = integrator;
      expect_no_allocations(c, o);
    }
  }
}

// The counted steps of the nunchuk hold its landing, so the number of contacts grows while counting. The landing
// of an equal one in the warm-up is what a user's warm-up would be.
TEST(Allocation, ANunchukThatHasLandedOnceFallsAgainWithoutAllocating) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    SimulationOptions o;
    o.integrator = integrator;
    Simulation sim = testing::simulate("nunchuk", o);
    const State start = sim.state();
    for (int i = 0; i < 500; ++i) sim.step();
    sim.set_state(start);
    const long n = allocations_of([&] {
      for (int i = 0; i < 500; ++i) sim.step();
    });
    EXPECT_EQ(n, 0) << name_of(integrator);
    expect_no_allocations({"nunchuk", 400, 300}, o);
  }
}

TEST(Allocation, TheWalkerAllocatesNothing) {
  expect_no_allocations({"jansen_walker", 60, 60}, {});
  SimulationOptions moreau;
  moreau.integrator = Integrator::moreau;
  expect_no_allocations({"jansen_walker", 60, 60}, moreau);
}

TEST(Allocation, StepsWithArmatureAllocateNothing) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    ModelData d = make_scene("slider_crank").data();
    for (Dof& dof : d.dofs) dof.armature = 0.1;
    SimulationOptions o;
    o.integrator = integrator;
    Simulation sim(finish_model(std::move(d)), o);
    const State start = sim.state();
    for (int i = 0; i < 20; ++i) sim.step();
    const long n = allocations_of([&] {
      sim.set_state(start);
      for (int i = 0; i < 300; ++i) sim.step();
    });
    EXPECT_EQ(n, 0) << name_of(integrator);
  }
}

TEST(Allocation, CompliantStepsAllocateNothing) {
  for (const char* scene : {"stack15_equal", "fourbar_swing"}) {
    ModelData d = make_scene(scene).data();
    for (Material& m : d.materials) m.compliance = Compliance::soft_physical(1e6, 0.01);
    for (Joint& j : d.joints) j.compliance = Compliance::soft_mujoco();
    Simulation sim(finish_model(std::move(d)));
    for (int i = 0; i < 30; ++i) sim.step();
    const long n = allocations_of([&] {
      for (int i = 0; i < 200; ++i) sim.step();
    });
    EXPECT_EQ(n, 0) << scene;
  }
}

TEST(Allocation, ThreadsAllocateNothing) {
  SimulationOptions o;
  o.threads = 3;
  expect_no_allocations({"jansen_swarm20", 12, 12}, o);
  expect_no_allocations({"stack15_equal", 10, 100}, o);
  expect_no_allocations({"jansen_walker", 60, 60}, o);
}

TEST(Allocation, ColdStartsAllocateNothingEither) {
  SimulationOptions o;
  o.warm_start = false;
  expect_no_allocations({"stack15_equal", 10, 50}, o);
}

// Out of memory within a step, at any place of it and in any of the threads that share it: the state stays, and a
// restored simulation goes on in the same bits.
TEST(Allocation, ThatFailsInAStepLeavesTheStateAsItWas) {
  if (!test::can_fail_allocations()) GTEST_SKIP() << "malloc is not ours here";
  struct FaultCase {
    const char* scene;
    int threads;
  };
  constexpr int kSteps = 5;
  for (const auto& [scene, threads] :
       {FaultCase{"stack15_equal", 1}, FaultCase{"jansen_walker", 1}, FaultCase{"clutter40", 1},
        FaultCase{"clutter40", 3}, FaultCase{"jansen_swarm20", 3}}) {
    SimulationOptions o;
    o.threads = threads;
    testing::simulate(scene, o).step();  // a thread takes some of its memory once
    Simulation reference = testing::simulate(scene, o);
    const Snapshot start = reference.snapshot();
    const State before = reference.state();
    const long all = allocations_of([&] { reference.step(); });
    for (int i = 1; i < kSteps; ++i) reference.step();
    ASSERT_GT(all, 0) << scene;
    const int tries = std::max(3, test::samples(threads > 1 ? 12 : 25));
    int thrown = 0;
    for (int i = 0; i < tries; ++i) {
      const long n = 1 + (all - 1) * i / (tries - 1);
      Simulation sim = testing::simulate(scene, o);
      bool threw = false;
      try {
        test::with_failing_allocation(n, [&] { sim.step(); });
      } catch (const std::bad_alloc&) {
        threw = true;
      }
      thrown += threw ? 1 : 0;
      // Who takes memory for itself depends on who has had work: with threads there may be less to fail.
      ASSERT_TRUE(threw || threads > 1) << scene << ", allocation " << n << " of " << all;
      if (threw) {
        EXPECT_EQ(sim.state().hash(), before.hash()) << scene << ", allocation " << n;
      }
      sim.restore(start);
      for (int k = 0; k < kSteps; ++k) EXPECT_NE(sim.step().status, StepStatus::failed);
      EXPECT_EQ(sim.state().hash(), reference.state().hash()) << scene << ", allocation " << n;
    }
    EXPECT_GE(2 * thrown, tries) << scene << " with " << threads << " threads";
  }
}

}  // namespace
}  // namespace sarrus::allocation_test
