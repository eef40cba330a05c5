// What a Batch is made of: worlds as bytes, workers with a simulation each that worlds use in turn, and the arrays.
// batch.cpp makes them, batch_inputs.cpp has what users give, batch_steps.cpp the steps and what is observed.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <memory>
#include <string>
#include <vector>

#include "sarrus/batch/batch.h"
#include "sarrus/step/shared_simulation.h"

namespace sarrus {

struct Batch::Impl {
  // What worlds of one model share: its numbers, and the world at the initial state.
  struct Variant {
    std::string numbers;
    State start;
    std::string initial;
  };
  struct World {
    std::vector<char> bytes;  // SharedSimulation::store()
    std::shared_ptr<const Variant> variant;
    std::string message;
  };
  struct Worker {
    explicit Worker(const Model& model, const SimulationOptions& options) : shared(model, options) {}
    SharedSimulation shared;
    std::shared_ptr<const Variant> numbers;  // that it has
    Simulation& use(const World& world);
    void keep(World& world);
  };

  Impl(std::span<const Model> models, int worlds, BatchOptions options);

  std::shared_ptr<Variant> variant_of(const Model& model) const;
  void begin(Worker& worker, Variant& variant) const;
  Model model_of(const Variant& variant) const;
  SharedSimulation alone(int world) const;
  void give_inputs(int world, Simulation& simulation) const;
  void give_controls(const double* targets, const double* rates, Simulation& simulation) const;
  void start_from(int world, Worker& worker, const State& state);
  void check_world(int world, std::string_view call) const;
  bool chosen(std::span<const std::uint8_t> mask, int world) const {
    return mask.empty() || mask[static_cast<std::size_t>(world)] != 0;
  }
  void check_mask(std::span<const std::uint8_t> mask, std::string_view call) const;
  State state_of(const StateArrays& arrays, std::size_t row, const Model& model) const;
  void put_states(std::span<const State> states, std::span<const std::uint8_t> mask);

  void begin_report(int world);
  // Loads a world, hands it to `steps`, and keeps what became of it.
  template <class F>
  void run(int world, Worker& worker, const F& steps);
  // False once the world is frozen.
  bool step_once(int world, Simulation& simulation);
  void freeze(int world, std::string_view why);
  void observe(int world, Simulation& simulation, bool stepped);

  // f(worker, i) for i from 0 to n - 1.
  template <class F>
  void each(int n, const F& f) {
    if (threads == 1 || n == 1) {
      for (int i = 0; i < n; ++i) f(*workers.front(), i);
      return;
    }
    // Small pieces: what a step takes differs from world to world.
    const int piece = std::max(1, n / (16 * threads));
    arena.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<int>(0, n, static_cast<std::size_t>(piece)),
          [&](const tbb::blocked_range<int>& range) {
            Worker& worker = *workers[static_cast<std::size_t>(tbb::this_task_arena::current_thread_index())];
            for (int i = range.begin(); i < range.end(); ++i) f(worker, i);
          },
          tbb::simple_partitioner());
    });
  }

  // Of one world in an array with `width` numbers for each.
  static std::span<double> row(std::vector<double>& array, int world, std::size_t width) {
    return {array.data() + static_cast<std::size_t>(world) * width, width};
  }
  static std::span<const double> row(const std::vector<double>& array, int world, std::size_t width) {
    return {array.data() + static_cast<std::size_t>(world) * width, width};
  }

  Model model;
  SimulationOptions options;  // complete, but for what follows from numbers of the models
  int world_count;
  int threads;
  std::size_t bodies, dofs, scalars;
  std::vector<int> controls;    // scalars with a drive
  tbb::global_control allowed;  // more threads than the machine has, if they are asked for
  tbb::task_arena arena;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<World> worlds;
  std::vector<double> targets, rates;          // x controls
  std::vector<double> joint_forces, wrenches;  // x scalars, x bodies x 6; empty until they are set
  std::vector<double> time, position, quaternion, twist, q, qd, contact_force, energy, effort;
  std::vector<WorldReport> reports;
  std::vector<std::uint8_t> failed;
};

}  // namespace sarrus
