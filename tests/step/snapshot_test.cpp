// A simulation that restores a snapshot goes on in the bits of the one that it was taken from.
#include <gtest/gtest.h>

#include <string>

#include "effort.h"
#include "sarrus/math/error.h"
#include "sarrus/math/hash.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/step/simulation.h"

namespace sarrus::snapshot_test {
namespace {

std::uint64_t run(Simulation& sim, int steps) {
  Hash64 h;
  for (int i = 0; i < steps; ++i) {
    sim.step();
    h.add(sim.state().hash());
  }
  h.add(sim.energy_flow().unaccounted);
  return h.value();
}

TEST(Snapshot, EverySceneGoesOnInTheSameBits) {
  const int steps = std::max(3, test::samples(40));
  for (const SceneInfo& scene : scene_registry()) {
    SCOPED_TRACE(scene.name);
    const Model model = scene.make();
    Simulation original(model);
    run(original, steps);
    const Snapshot saved = original.snapshot();
    Simulation restored(model);
    restored.restore(saved);
    EXPECT_EQ(restored.state().hash(), original.state().hash());
    EXPECT_EQ(restored.time(), original.time());
    EXPECT_TRUE(restored.snapshot() == saved);
    EXPECT_EQ(run(original, 10), run(restored, 10));
  }
}

TEST(Snapshot, HoldsInputsAndEnergy) {
  const Model model = make_scene("fourbar_swing");
  Simulation original(model);
  original.set_joint_force(0, 0.3);
  Vec6 wrench;
  wrench << 1, 2, 3, 0.1, 0.2, 0.3;
  original.set_body_wrench(0, wrench);
  run(original, 20);
  Simulation restored(model);
  restored.restore(original.snapshot());
  EXPECT_EQ(restored.energy_flow().external, original.energy_flow().external);
  EXPECT_EQ(restored.energy_bound(), original.energy_bound());
  EXPECT_EQ(run(original, 50), run(restored, 50));
}

TEST(Snapshot, OtherModelsOptionsAndDamageAreRefused) {
  const Model model = make_scene("stack15_equal");
  Simulation sim(model);
  run(sim, 20);
  const Snapshot saved = sim.snapshot();
  const auto refused = [&](Simulation& other, const Snapshot& s) {
    const std::uint64_t before = other.state().hash();
    EXPECT_THROW(other.restore(s), InputError);
    EXPECT_EQ(other.state().hash(), before);
    other.step();
    EXPECT_TRUE(other.state().finite());
  };
  Simulation other(make_scene("box_on_plane"));
  refused(other, saved);
  Simulation shorter(model, {.dt = 0.5 * sim.dt()});
  refused(shorter, saved);
  for (std::size_t n = 0; n < saved.bytes().size(); n += 1 + saved.bytes().size() / 50) {
    refused(sim, Snapshot(saved.bytes().substr(0, n)));
  }
  refused(sim, Snapshot(saved.bytes() + "x"));
  // Any byte may be another: what is restored steps on, or is refused.
  std::uint64_t state = 7;
  for (int i = 0; i < std::max(20, test::samples(300)); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::string bytes = saved.bytes();
    bytes[(state >> 20) % bytes.size()] = static_cast<char>(state >> 56);
    try {
      sim.restore(Snapshot(bytes));
    } catch (const InputError&) {
    }
    if (i % 10 == 0) sim.step();
    EXPECT_TRUE(sim.state().finite());
  }
}

}  // namespace
}  // namespace sarrus::snapshot_test
