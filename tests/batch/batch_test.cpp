// Batches: the bits of single simulations for any number of threads, worlds that differ, frozen worlds, memory.
#include "sarrus/batch/batch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "batch/worlds.h"
#include "effort.h"
#include "sarrus/math/error.h"
#include "sarrus/model/parameters.h"
#include "support/allocations.h"

namespace sarrus::batch_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Case {
  const char* scene;
  int steps;
};

class BatchBits : public ::testing::TestWithParam<Case> {};

// Each world is pushed by itself; calls of different lengths hand worlds over between workers in every order.
std::vector<std::uint64_t> hashes(const Model& model, int worlds, int threads, const std::vector<int>& calls) {
  Batch batch(model, worlds, {.threads = threads});
  batch.set_wrenches(testing::pushes(model, worlds, 7));
  for (const int n : calls) batch.step(n);
  std::vector<std::uint64_t> out;
  for (int w = 0; w < worlds; ++w) {
    EXPECT_EQ(batch.message(w), "");
    out.push_back(batch.state(w).hash());
  }
  return out;
}

TEST_P(BatchBits, AreThoseOfASimulationForAnyNumberOfThreads) {
  const Model model = make_scene(GetParam().scene);
  const int worlds = test::sample_divisor() > 1 ? 3 : 9;
  const int n = test::samples(GetParam().steps);
  const std::vector<double> pushes = testing::pushes(model, worlds, 7);
  std::vector<std::uint64_t> alone;
  for (int w = 0; w < worlds; ++w) {
    Simulation sim(model);
    testing::push(sim, pushes, w);
    for (int i = 0; i < n; ++i) sim.step();
    alone.push_back(sim.state().hash());
  }
  EXPECT_NE(alone[0], alone[1]);
  EXPECT_EQ(hashes(model, worlds, 1, std::vector<int>(static_cast<std::size_t>(n), 1)), alone);
  const int half = n / 2;
  EXPECT_EQ(hashes(model, worlds, 2, {half, n - half}), alone);
  EXPECT_EQ(hashes(model, worlds, 7, {1, half, n - half - 1}), alone);
}

INSTANTIATE_TEST_SUITE_P(Scenes, BatchBits,
                         ::testing::Values(Case{"fourbar_free", 400}, Case{"jansen_walker", 60},
                                           Case{"walker_like", 60}, Case{"mixed_pile", 60},
                                           Case{"stewart_platform", 60}, Case{"pendulum_stop", 400}, Case{"ring20", 40},
                                           Case{"slip_control", 100}, Case{"gazelle_like", 40}, Case{"box_wall", 60}),
                         [](const auto& of) { return std::string(of.param.scene); });

TEST(Batch, WorldsOfOtherNumbersAreSimulationsOfTheirModels) {
  for (const char* scene : {"jansen_walker", "incline", "delta_robot", "spring_cylinder"}) {
    const Model model = make_scene(scene);
    const int worlds = test::sample_divisor() > 1 ? 3 : 6;
    const int steps = test::samples(60) + 2;
    std::vector<Model> models;
    for (int w = 0; w < worlds; ++w) {
      std::vector<ParameterChange> changes = {
          {"body.*.mass", 1 + 0.1 * w, true},      {"material.*.friction", 0.3 + 0.1 * w},
          {"gravity.z", -9.81 - 0.1 * w},          {"dof.*.damping", 1 + 0.2 * w, true},
          {"dof.*.stiffness", 1 + 0.2 * w, true},  {"drive.*.kd", 1 + 0.3 * w, true},
          {"drive.*.amplitude", 1 - 0.1 * w, true}};
      if (model.dof_count() == 0) changes.resize(3);
      const auto drives = [](const Dof& d) { return d.drive.mode != DriveMode::none; };
      if (std::ranges::none_of(model.scalars(), drives)) changes.resize(std::min<std::size_t>(changes.size(), 5));
      models.push_back(changed(model, changes));
    }
    std::vector<std::uint64_t> alone;
    for (const Model& m : models) {
      Simulation sim(m);
      for (int i = 0; i < steps; ++i) sim.step();
      alone.push_back(sim.state().hash());
    }
    EXPECT_NE(alone[0], alone[1]) << scene;
    for (const int threads : {1, 2}) {
      Batch batch(models, {.threads = threads});
      for (int i = 0; i < steps; i += 2) batch.step(std::min(2, steps - i));
      for (int w = 0; w < worlds; ++w) {
        EXPECT_EQ(batch.state(w).hash(), alone[static_cast<std::size_t>(w)]) << scene << " world " << w;
        EXPECT_EQ(parameter(batch.model(w), "gravity.z"), parameter(models[static_cast<std::size_t>(w)], "gravity.z"));
      }
    }
  }
}

TEST(Batch, OtherStructureIsRefusedByName) {
  const Model model = make_scene("fourbar_fixed");
  const auto refusal = [&](const Model& other) {
    const std::vector<Model> models = {model, other};
    try {
      const Batch batch(models);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  ModelData renamed = model.data();
  renamed.bodies[1].name = "another";
  EXPECT_NE(refusal(finish_model(renamed)).find("body '" + model.bodies()[1].name + "'"), std::string::npos);
  ModelData moved = model.data();
  moved.joints[2].p_BJ.x() += 1e-3;
  EXPECT_NE(refusal(finish_model(moved)).find("joint '" + model.joints()[2].name + "'"), std::string::npos);
  EXPECT_NE(refusal(finish_model(moved)).find("model of world 1"), std::string::npos);
  const std::vector<ParameterChange> damped = {{"dof.*.damping", 0.5}};
  EXPECT_NE(refusal(changed(model, damped)).find("degree of freedom of joint"), std::string::npos);
  EXPECT_NE(refusal(make_scene("free_body")), "");
  const std::vector<ParameterChange> heavier = {{"body.*.mass", 2, true}};
  EXPECT_EQ(refusal(changed(model, heavier)), "");
}

TEST(Batch, ControlsAreThoseOfASimulation) {
  const Model model = make_scene("stewart_platform");
  constexpr int kWorlds = 4;
  Batch batch(model, kWorlds, {.threads = 2});
  ASSERT_EQ(batch.control_count(), 6);
  EXPECT_EQ(batch.control(batch.control_name(3)), 3);
  std::vector<double> targets(kWorlds * 6, kNaN);  // world 0: the scene's own
  for (std::size_t w = 1; w < kWorlds; ++w) {
    for (std::size_t k = 0; k < 6; ++k) {
      const auto dof = static_cast<std::size_t>(batch.control_scalars()[k]);
      targets[w * 6 + k] = batch.q()[dof] + 0.002 * static_cast<double>(w);
    }
  }
  for (int i = 0; i < 5; ++i) batch.step(targets, 4);
  for (int w = 0; w < kWorlds; ++w) {
    Simulation sim(model);
    for (std::size_t k = 0; k < 6 && w > 0; ++k) {
      sim.set_drive_target(batch.control_scalars()[k], targets[static_cast<std::size_t>(w) * 6 + k]);
    }
    for (int i = 0; i < 20; ++i) sim.step();
    EXPECT_EQ(batch.state(w).hash(), sim.state().hash());
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_EQ(batch.effort()[static_cast<std::size_t>(w) * 6 + k], sim.drive_effort(batch.control_scalars()[k]));
    }
    const Energy e = energy(model, sim.state());
    EXPECT_NEAR(batch.energy()[static_cast<std::size_t>(2 * w)], e.kinetic, 1e-12 * (1 + e.kinetic));
    EXPECT_NEAR(batch.energy()[static_cast<std::size_t>(2 * w) + 1], e.potential, 1e-12 * (1 + std::abs(e.potential)));
    for (int d = 0; d < model.dof_count(); ++d) {
      const auto at = static_cast<std::size_t>(w * model.dof_count() + d);
      EXPECT_EQ(batch.q()[at], sim.state().q[static_cast<std::size_t>(d)]);
      EXPECT_EQ(batch.qd()[at], sim.joint_rate(d));
    }
  }
}

TEST(Batch, ContactForcesCarryTheWeight) {
  const Model model = make_scene("box_on_plane");
  Batch batch(model, 2, {.threads = 1});
  batch.step(2000);
  const double weight = model.bodies()[0].mass * 9.81;
  for (std::size_t w = 0; w < 2; ++w) {
    EXPECT_NEAR(batch.contact_force()[3 * w + 2], weight, 1e-6 * weight);
    EXPECT_NEAR(batch.contact_force()[3 * w], 0, 1e-6 * weight);
    EXPECT_EQ(batch.reports()[w].steps, 2000);
    EXPECT_EQ(batch.reports()[w].status, WorldStatus::running);
  }
}

// A body at 1e160 m leads to numbers that are none: the step fails, the world stays where it is, and the others do not
// notice, those too that the same worker steps afterwards.
TEST(Batch, AFailedWorldIsFrozenAndFlagged) {
  const Model model = make_scene("ring20");
  const int n = test::samples(20);
  Batch batch(model, 5, {.threads = 2});
  batch.step(n);
  State bad = batch.state(3);
  bad.X_WB[3].p.x() = 1e160;
  batch.set_state(3, bad);
  batch.step(n);
  EXPECT_EQ(batch.failed_count(), 1);
  EXPECT_EQ(batch.failed()[3], 1);
  EXPECT_EQ(batch.reports()[3].status, WorldStatus::failed);
  EXPECT_EQ(batch.reports()[3].worst, StepStatus::failed);
  EXPECT_EQ(batch.reports()[3].steps, 0);
  EXPECT_NE(batch.message(3), "");
  EXPECT_EQ(batch.state(3).hash(), bad.hash());
  const std::string why = batch.message(3);
  batch.step(n);
  EXPECT_EQ(batch.message(3), why);
  EXPECT_EQ(batch.time()[3], bad.time);

  Simulation alone(model);
  for (int i = 0; i < 3 * n; ++i) alone.step();
  for (const int w : {0, 1, 2, 4}) EXPECT_EQ(batch.state(w).hash(), alone.state().hash());

  // Given another state, it goes on.
  std::vector<std::uint8_t> mask(5, 0);
  mask[3] = 1;
  batch.reset(mask);
  EXPECT_EQ(batch.failed_count(), 0);
  EXPECT_EQ(batch.message(3), "");
  EXPECT_EQ(batch.time()[3], 0);
  for (int i = 0; i < 3; ++i) batch.step(n);
  EXPECT_EQ(batch.state(3).hash(), alone.state().hash());
  // In the middle of a rollout the frames after it are those before the step.
  batch.set_state(2, bad);
  const Rollout out = batch.rollout({}, {.steps = 3, .keep = Keep::position});
  const std::size_t width = 3 * model.bodies().size();
  for (std::size_t f = 0; f < 3; ++f) EXPECT_EQ(out.position[(2 * 3 + f) * width + 9], 1e160);
}

// A step that throws leaves the worker's simulation of no use; it is made anew, for this world and those after it.
TEST(Batch, AWorldWhoseStepThrowsIsFrozenToo) {
  const Model model = make_scene("sphere_stack100");
  Batch batch(model, 3, {.threads = 1});
  batch.step(2);
  State crowd = batch.state(1);
  for (Pose& X : crowd.X_WB) X.p = Vec3(0, 0, 5);
  Simulation thrower(model);
  thrower.set_state(crowd);
  ASSERT_THROW(thrower.step(), InputError);
  batch.set_state(1, crowd);
  batch.step(2);
  EXPECT_EQ(batch.failed_count(), 1);
  EXPECT_NE(batch.message(1).find("lie within each other"), std::string::npos) << batch.message(1);
  EXPECT_EQ(batch.state(1).hash(), crowd.hash());
  batch.step(2);
  Simulation alone(model);
  for (int i = 0; i < 6; ++i) alone.step();
  for (const int w : {0, 2}) EXPECT_EQ(batch.state(w).hash(), alone.state().hash());
}

TEST(Batch, RolloutsAreSteps) {
  const Model model = make_scene("fivebar_leg");
  constexpr int kWorlds = 3, kSteps = 12, kHold = 3, kRows = 4;
  Batch steps(model, kWorlds, {.threads = 1}), rolled(model, kWorlds, {.threads = 2});
  const auto width = static_cast<std::size_t>(steps.control_count());
  ASSERT_GT(width, 0U);
  Random random(5);
  std::vector<double> targets(kWorlds * kRows * width);
  for (double& x : targets) x = random.uniform(-0.1, 0.1);
  const Rollout out = rolled.rollout(targets, {.steps = kSteps, .hold = kHold, .every = 2, .keep = Keep::all});
  EXPECT_EQ(out.frames, 6);
  for (int i = 0; i < kSteps; ++i) {
    std::vector<double> now(kWorlds * width);
    for (std::size_t w = 0; w < kWorlds; ++w) {
      std::copy_n(
          targets.begin() + static_cast<std::ptrdiff_t>((w * kRows + static_cast<std::size_t>(i / kHold)) * width),
          width, now.begin() + static_cast<std::ptrdiff_t>(w * width));
    }
    steps.step(now, 1);
    if (i % 2 == 0) continue;
    const auto expect_frame = [&](const std::vector<double>& all, std::span<const double> present) {
      const std::size_t n = present.size() / kWorlds;
      for (std::size_t w = 0; w < kWorlds; ++w) {
        for (std::size_t k = 0; k < n; ++k) {
          ASSERT_EQ(all[(w * 6 + static_cast<std::size_t>(i / 2)) * n + k], present[w * n + k]);
        }
      }
    };
    expect_frame(out.time, steps.time());
    expect_frame(out.position, steps.position());
    expect_frame(out.quaternion, steps.quaternion());
    expect_frame(out.twist, steps.twist());
    expect_frame(out.q, steps.q());
    expect_frame(out.qd, steps.qd());
    expect_frame(out.contact_force, steps.contact_force());
    expect_frame(out.energy, steps.energy());
  }
  for (int w = 0; w < kWorlds; ++w) EXPECT_EQ(steps.state(w).hash(), rolled.state(w).hash());
  // Afterwards the batch goes on from there with the last controls.
  steps.step(5);
  rolled.step(5);
  EXPECT_EQ(steps.state(1).hash(), rolled.state(1).hash());
  const Rollout few = rolled.rollout({}, {.steps = 4, .keep = Keep::q});
  EXPECT_TRUE(few.position.empty());
  EXPECT_EQ(few.q.size(), static_cast<std::size_t>(kWorlds * 4 * model.dof_count()));
}

TEST(Batch, SavedWorldsGoOnInTheSameBitsHereAndInASimulation) {
  const Model model = make_scene("jansen_walker");
  const std::vector<ParameterChange> heavier = {{"body.*.mass", 1.2, true}};
  const std::vector<Model> models = {model, changed(model, heavier)};
  const int n = test::samples(40);
  Batch batch(models, {.threads = 1});
  batch.set_wrenches(testing::pushes(model, 2, 3));
  batch.step(n);
  const Snapshot saved = batch.save(1);
  Simulation alone = batch.simulation(1);
  Simulation restored(models[1], batch.options());
  restored.restore(saved);
  batch.step(n);
  for (int i = 0; i < n; ++i) {
    alone.step();
    restored.step();
  }
  const std::uint64_t expected = batch.state(1).hash();
  EXPECT_EQ(alone.state().hash(), expected);
  EXPECT_EQ(restored.state().hash(), expected);
  batch.set_wrenches({});
  batch.restore(1, saved);
  batch.step(n);
  EXPECT_EQ(batch.state(1).hash(), expected);
  EXPECT_THROW(batch.restore(0, saved), InputError);  // of another model
}

TEST(Batch, StatesAreGivenAsArrays) {
  const Model model = make_scene("fourbar_free");
  Batch batch(model, 3, {.threads = 2});
  batch.step(50);
  const std::vector<double> p(batch.position().begin(), batch.position().end());
  const std::vector<double> r(batch.quaternion().begin(), batch.quaternion().end());
  const std::vector<double> u(batch.twist().begin(), batch.twist().end());
  const std::vector<double> q(batch.q().begin(), batch.q().end());
  batch.step(50);
  const std::vector<std::uint8_t> mask = {0, 1, 0};
  const double* before = batch.position().data();
  batch.set_states({.position = p, .quaternion = r, .twist = u}, mask);
  EXPECT_EQ(batch.position().data(), before);
  const std::size_t bodies = model.bodies().size(), dofs = model.dofs().size();
  for (std::size_t k = 0; k < 3 * bodies; ++k) EXPECT_EQ(batch.position()[3 * bodies + k], p[k]);
  for (std::size_t k = 0; k < dofs; ++k) EXPECT_NEAR(batch.q()[dofs + k], q[k], 1e-9);
  EXPECT_EQ(batch.time()[1], 0);
  EXPECT_GT(batch.time()[0], 0);
  // One for all.
  batch.set_states({.position = std::span(p).first(3 * bodies), .quaternion = std::span(r).first(4 * bodies)});
  for (std::size_t k = 0; k < batch.twist().size(); ++k) EXPECT_EQ(batch.twist()[k], 0);
  for (std::size_t k = 0; k < batch.position().size(); ++k) EXPECT_EQ(batch.position()[k], p[k]);
}

TEST(Batch, BadInputIsRefusedByName) {
  const Model model = make_scene("stewart_platform");
  EXPECT_THROW(Batch(model, 0), InputError);
  EXPECT_THROW(Batch(model, 1, {.threads = -1}), InputError);
  EXPECT_THROW(Batch(model, 1, {.simulation = {.threads = 2}}), InputError);
  EXPECT_THROW(Batch(std::span<const Model>()), InputError);
  Batch batch(model, 2, {.threads = 1});
  const auto before = batch.state(1).hash();
  std::vector<double> targets(12, 0.0);
  targets[7] = std::numeric_limits<double>::infinity();
  try {
    batch.step(targets, 1);
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("world 1"), std::string::npos);
  }
  EXPECT_THROW(batch.set_controls(std::vector<double>(11)), InputError);
  EXPECT_THROW(batch.set_joint_forces(std::vector<double>(3)), InputError);
  EXPECT_THROW(batch.set_wrenches(std::vector<double>(12 * model.bodies().size(), kNaN)), InputError);
  EXPECT_THROW(batch.reset(std::vector<std::uint8_t>(3)), InputError);
  EXPECT_THROW(batch.step(-1), InputError);
  EXPECT_THROW(batch.rollout({}, {.steps = 0}), InputError);
  EXPECT_THROW(batch.rollout(targets, {.steps = 3}), InputError);
  EXPECT_THROW((void)batch.state(2), InputError);
  EXPECT_THROW((void)batch.control("nobody"), InputError);
  EXPECT_THROW(batch.set_states(std::vector<State>(3)), InputError);
  std::vector<State> states(2, batch.state(0));
  states[1].X_WB[0].p.x() = kNaN;
  EXPECT_THROW(batch.set_states(states), InputError);
  const std::vector<double> none(8 * model.bodies().size(), 0.0), positions(6 * model.bodies().size(), 0.0);
  EXPECT_THROW(batch.set_states({.position = positions, .quaternion = none}), InputError);
  EXPECT_EQ(batch.state(1).hash(), before);
}

// One thread: with more, it is chance whether each of them has had a world while it warmed up.
TEST(Batch, AllocatesNothingAfterWarmUp) {
  const Model model = make_scene("jansen_walker");
  Batch batch(model, 4, {.threads = 1});
  const std::vector<double> targets(4 * static_cast<std::size_t>(batch.control_count()), kNaN);
  const int n = test::samples(60) + 3;
  for (int i = 0; i < n; ++i) batch.step(targets, 3);
  batch.reset();
  const long allocations = test::allocations_of([&] {
    for (int i = 0; i < n - 2; ++i) batch.step(targets, 3);
  });
  EXPECT_EQ(allocations, 0);
}

// Of what an own simulation takes, at most a third: 376 KiB (walker_like), 621 KiB (the walker).
TEST(Batch, AWorldTakesAThirdOfTheMemoryOfASimulation) {
  struct Memory {
    const char* scene;
    double most;  // bytes
  };
  for (const auto& [scene, most] : {Memory{"walker_like", 376 * 1024 / 3}, Memory{"jansen_walker", 621 * 1024 / 3}}) {
    const Model model = make_scene(scene);
    constexpr int kFew = 2, kMany = 22;
    double told = 0;
    const auto bytes_of = [&](int worlds) {
      std::unique_ptr<Batch> batch;
      const long held = test::bytes_held_by([&] {
        batch = std::make_unique<Batch>(model, worlds, BatchOptions{.threads = 1});
        batch->step(test::samples(40));
      });
      told = batch->bytes_per_world();
      return static_cast<double>(held);
    };
    const double few = bytes_of(kFew);
    const double per_world = (bytes_of(kMany) - few) / (kMany - kFew);
    EXPECT_LT(per_world, most) << scene;
    EXPECT_NEAR(told, per_world, 0.1 * per_world) << scene;
    RecordProperty(std::string(scene) + "_bytes", std::to_string(per_world));
  }
}

// The row of the drag is one that the other worlds do not have.
TEST(BatchRestore, OfAStepThatDraggedIsRefused) {
  const Model model = make_scene("fourbar_free");
  Simulation dragged(model, {.dt = 1e-3});
  dragged.set_drag(0, Vec3::Zero(), Vec3(0, 0, 1));
  dragged.step();
  dragged.clear_drag();
  const Snapshot after = dragged.snapshot();
  dragged.step();
  const Snapshot later = dragged.snapshot();
  Batch batch(model, 2, {.simulation = {.dt = 1e-3}, .threads = 1});
  try {
    batch.restore(1, after);
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("drag"), std::string::npos) << e.what();
  }
  batch.step(3);
  EXPECT_EQ(batch.failed_count(), 0);
  batch.restore(1, later);
  batch.step(3);
  EXPECT_EQ(batch.failed_count(), 0);
  for (int i = 0; i < 3; ++i) dragged.step();
  EXPECT_EQ(batch.state(1).twist[0], dragged.state().twist[0]);
}

}  // namespace
}  // namespace sarrus::batch_test
