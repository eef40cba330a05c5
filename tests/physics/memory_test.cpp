// What a body costs in memory: bytes that the model and its simulation hold after some steps, by the allocator.
//
// The bounds are what was reached (docs/benchmarks.md), with room for a few per cent. Who needs more for something new
// raises them and says what for.
#include <gtest/gtest.h>

#include <optional>

#include "physics/harness.h"
#include "sarrus/scenes/scalable.h"
#include "support/allocations.h"

namespace sarrus::memory_test {
namespace {

constexpr int kBodies = 300;

double bytes_per_body(Model (*make)(int), int bodies, SimulationOptions options = {}) {
  std::optional<Simulation> sim;
  const long bytes = test::bytes_held_by([&] {
    sim.emplace(make(bodies), options);
    for (int i = 0; i < 4; ++i) sim->step();
  });
  EXPECT_NE(sim->report().status, StepStatus::failed);
  return static_cast<double>(bytes) / sim->model().body_count();
}

TEST(Memory, TheCounterSeesWhatIsHeldAndWhatIsGivenBack) {
  std::optional<std::vector<double>> kept;
  const long held = test::bytes_held_by([&] {
    kept.emplace(1000);
    test::keep(std::vector<double>(5000));
  });
  EXPECT_GE(held, 8000);
  EXPECT_LT(held, 8200);
}

TEST(Memory, OfAChain) { testing::expect_within("bytes per body", bytes_per_body(make_chain, kBodies), 11100); }
TEST(Memory, OfATree) { testing::expect_within("bytes per body", bytes_per_body(make_tree, kBodies), 11000); }
TEST(Memory, OfAGrid) { testing::expect_within("bytes per body", bytes_per_body(make_linkage_grid, kBodies), 15700); }
TEST(Memory, OfIslands) { testing::expect_within("bytes per body", bytes_per_body(make_islands, kBodies), 11900); }
TEST(Memory, OfAPile) { testing::expect_within("bytes per body", bytes_per_body(make_pile, kBodies), 43300); }

// Nothing is of the size of pairs of bodies, or of the whole for each of its parts.
TEST(Memory, GrowsWithTheNumberOfBodies) {
  for (const auto make : {make_chain, make_tree, make_islands}) {
    const double few = bytes_per_body(make, kBodies);
    testing::expect_within("bytes per body", bytes_per_body(make, 4 * kBodies), 1.1 * few);
  }
}

// A team shares what grows with the model; what is of one worker grows with the island that it works on.
TEST(Memory, OfIslandsHardlyGrowsWithThreads) {
  SimulationOptions four;
  four.threads = 4;
  const double alone = bytes_per_body(make_islands, kBodies);
  testing::expect_within("bytes per body", bytes_per_body(make_islands, kBodies, four), 1.2 * alone);
}

}  // namespace
}  // namespace sarrus::memory_test
