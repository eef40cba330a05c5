// A simulation that restores a snapshot goes on in the bits of the one that it was taken from.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "effort.h"
#include "sarrus/math/error.h"
#include "sarrus/math/hash.h"
#include "sarrus/model/builder.h"
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

// A slider on a gravity of its own, two of them summed, on a plane.
ModelBuilder sliders() {
  ModelBuilder b("sliders");
  b.add_floor();
  std::vector<CombinationTerm> terms;
  for (int i = 0; i < 2; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    const int body = b.add_box_body(name, 1, {0.1, 0.1, 0.1}, {{0.5 * i, 0, 0.3}, Quat::Identity()});
    const int slide = b.add_joint_at("slide " + name, JointType::prismatic, kWorld, body, {0.5 * i, 0, 0.3},
                                     Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitZ()));
    terms.push_back({b.dof_index(slide), 1.0});
  }
  Combination sum{"sum", terms, 0, {}};
  sum.law.limit = {.lower = -0.3, .upper = 5};
  b.add_combination(sum);
  return b;
}

// All that moves differently, one thing at a time; and what only looks otherwise, or is another length of the same run.
TEST(Snapshot, EveryDifferenceOfTheModelIsSeen) {
  const ModelData same = sliders().build().data();
  ASSERT_GE(same.geoms.size(), 3u);
  ModelData with_pair = same;
  with_pair.contact_pairs.push_back({0, 1, 0.5, 0, {}});
  const Model model = finish_model(with_pair);
  Simulation sim(model);
  run(sim, 3);
  const Snapshot saved = sim.snapshot();
  using Change = std::function<void(ModelData&, SimulationOptions&)>;
  const std::vector<Change> others = {
      [](ModelData& d, SimulationOptions&) { d.gravity.x() += 1e-6; },
      [](ModelData& d, SimulationOptions&) { d.bodies[1].gravity_scale = 0.5; },
      [](ModelData& d, SimulationOptions&) { d.bodies[0].linear_damping = 1e-3; },
      [](ModelData& d, SimulationOptions&) { d.bodies[0].inertia_B *= 1.01; },
      [](ModelData& d, SimulationOptions&) { d.bodies[0].ccd = Ccd::off; },
      [](ModelData& d, SimulationOptions&) { d.dofs[0].armature = 0.1; },
      [](ModelData& d, SimulationOptions&) { d.dofs[0].drive.target.phase = 0.1; },
      [](ModelData& d, SimulationOptions&) { d.combinations[0].terms[1].coefficient = 2; },
      [](ModelData& d, SimulationOptions&) { d.combinations[0].law.limit.lower = -0.2; },
      [](ModelData& d, SimulationOptions&) { d.combinations[0].offset = 0.1; },
      [](ModelData& d, SimulationOptions&) { d.contact_pairs[0].mu = 0.6; },
      [](ModelData& d, SimulationOptions&) { d.contact_pairs.clear(); },
      [](ModelData& d, SimulationOptions&) { d.materials[0].compliance = Compliance::soft_mujoco(); },
      [](ModelData& d, SimulationOptions&) { d.joints[0].erp = 0.3; },
      [](ModelData& d, SimulationOptions&) { d.geoms[1].margin = 1e-3; },
      [](ModelData& d, SimulationOptions&) { d.geoms[1].X_BG.p.x() = 1e-9; },
      [](ModelData& d, SimulationOptions&) { d.self_collision = false; },
      [](ModelData&, SimulationOptions& o) { o.budget = 999; },
      [](ModelData&, SimulationOptions& o) { o.fallback = "pgs-ncp"; },
      [](ModelData&, SimulationOptions& o) { o.max_substep_depth = 2; },
      [](ModelData&, SimulationOptions& o) { o.rows.contact_slop = 1e-6; },
      [](ModelData&, SimulationOptions& o) { o.collision.margin = 1e-3; },
      [](ModelData&, SimulationOptions& o) { o.acceptable_gap = 1e-6; },
      [](ModelData& d, SimulationOptions&) { d.defaults.dt *= 0.5; },
  };
  for (std::size_t i = 0; i < others.size(); ++i) {
    ModelData d = with_pair;
    SimulationOptions o;
    others[i](d, o);
    Simulation other(finish_model(std::move(d)), o);
    EXPECT_THROW(other.restore(saved), InputError) << "change " << i;
  }
  const std::vector<Change> equal = {
      [](ModelData& d, SimulationOptions&) { d.description = "another"; },
      [](ModelData& d, SimulationOptions&) { d.geoms[0].colour = Colour{}; },
      [](ModelData& d, SimulationOptions&) { d.defaults.duration = 100; },
      [](ModelData&, SimulationOptions& o) { o.threads = 3; },
  };
  for (std::size_t i = 0; i < equal.size(); ++i) {
    ModelData d = with_pair;
    SimulationOptions o;
    equal[i](d, o);
    Simulation other(finish_model(std::move(d)), o);
    EXPECT_NO_THROW(other.restore(saved)) << "change " << i;
  }
}

// Impulses are always those of the problem that is shown with them.
TEST(Snapshot, ImpulsesAreOfTheProblem) {
  const Model model = make_scene("stack15_equal");
  Simulation original(model);
  run(original, 30);
  Simulation restored(model);
  restored.restore(original.snapshot());
  EXPECT_EQ(restored.impulses().size(), static_cast<std::size_t>(restored.problem().rows()));
  EXPECT_EQ(restored.warm_start_impulses().size(), static_cast<std::size_t>(restored.problem().rows()));
  for (int i = 0; i < static_cast<int>(restored.contacts().size()); ++i) {
    EXPECT_TRUE(restored.contact_impulse_W(i).allFinite());
  }
}

}  // namespace
}  // namespace sarrus::snapshot_test
