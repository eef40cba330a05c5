// Batch: many worlds of one mechanism, stepped by all cores.
//
//   Batch batch(model, 4096, {.simulation = {.dt = 1e-3}, .threads = 8});
//   batch.step(targets, 20);                  // targets: worlds x batch.control_count()
//   batch.position();                         // worlds x bodies x 3, filled by the threads
//   batch.reset(fallen);                      // these worlds begin again
//
// Worlds share the model and nothing else: what a world does has the same bits for any number of threads, and those of
// a Simulation of its own that takes the same steps. The memory that a step works in belongs to the threads; a world
// keeps its state, its warm start and what else its next step reads (step/snapshot.cpp has the list). Solvers that
// adapt a penalty from step to step (admm-*) start with their first one at every call of step().
//
// A world whose step fails is frozen where it was, flagged with its message, and left out until it gets another state;
// it holds up nobody, since the work of a step is bounded (SimulationOptions::budget).
//
// Worlds may have numbers of their own (masses, frictions, gains, springs, limits, gravity): models of equal structure,
// made for example by changed() of model/parameters.h.
//
// All arrays are contiguous, the world is their first dimension, and they stay where they are as long as the batch.
// A Batch is used by one thread at a time; it allocates nothing in step() after warm-up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/dynamics/state.h"
#include "sarrus/model/model.h"
#include "sarrus/step/simulation.h"

namespace sarrus {

struct BatchOptions {
  SimulationOptions simulation = {};  // its `threads` must be 1
  int threads = 0;                    // that share the worlds; 0: as many as the machine has
};

enum class WorldStatus : std::uint8_t {
  running,
  failed,  // its last step was not taken: the state is that before it
};
std::string_view name_of(WorldStatus status);

// What the steps of the last step() or rollout() were like for a world: the worst of them. A frozen world keeps the one
// of the call that froze it.
struct WorldReport {
  WorldStatus status = WorldStatus::running;
  StepStatus worst = StepStatus::converged;
  std::int32_t steps = 0;  // taken
  std::int32_t accepted = 0, fallback = 0, substepped = 0;
  std::int64_t iterations = 0;
  double error = 0;             // largest, what is compared with the tolerance
  double joint_gap = 0;         // m, largest
  double penetration = 0;       // m, largest
  bool creates_energy = false;  // since its state was set
  double seconds = 0;           // wall clock; the only figure here that is not the same in every run
};

// What rollout() records.
enum class Keep : std::uint32_t {
  none = 0,
  position = 1,
  quaternion = 2,
  twist = 4,
  q = 8,
  qd = 16,
  contact_force = 32,
  energy = 64,
  all = 127
};
constexpr Keep operator|(Keep a, Keep b) {
  return static_cast<Keep>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has(Keep set, Keep what) {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(what)) != 0;
}

struct RolloutOptions {
  int steps = 0;  // per world
  int hold = 1;   // steps that a row of controls is held for
  int every = 1;  // steps between two frames; the first is after `every` steps
  Keep keep = Keep::q | Keep::position | Keep::quaternion;
};

// Frames are worlds x frames x ...; those after a world has failed repeat the state it froze in. What was not asked for
// is empty.
struct Rollout {
  int worlds = 0;
  int frames = 0;
  std::vector<double> time;           // s, x 1
  std::vector<double> position;       // m, x bodies x 3
  std::vector<double> quaternion;     // x bodies x 4: x y z w
  std::vector<double> twist;          // m/s, rad/s, x bodies x 6: v, omega
  std::vector<double> q, qd;          // x dofs
  std::vector<double> contact_force;  // N, x bodies x 3
  std::vector<double> energy;         // J, x 2: kinetic, potential
};

// States as arrays, worlds x ...; all of them may have one world, whose state is then that of all.
struct StateArrays {
  std::span<const double> position = {};    // x bodies x 3
  std::span<const double> quaternion = {};  // x bodies x 4: x y z w; normalised here
  std::span<const double> twist = {};       // x bodies x 6; empty: at rest
  std::span<const double> q = {};           // x dofs; empty: as the poses are, angles in (-pi, pi]
  std::span<const double> time = {};        // x 1; empty: 0
};

class Batch {
 public:
  // Throws InputError for bad options or numbers of worlds, and as Simulation does.
  Batch(const Model& model, int worlds, BatchOptions options = {});
  // A world for each model. Throws InputError that names what differs if they are not of equal structure.
  explicit Batch(std::span<const Model> models, BatchOptions options = {});
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  int worlds() const;
  int threads() const;
  double dt() const;
  const SimulationOptions& options() const;
  const Model& model() const;                    // of world 0; names and structure are those of all
  Model model(int world) const;                  // with its numbers
  int control_count() const;                     // drives of the model
  std::span<const int> control_scalars() const;  // by control: its index in Model::scalars()
  std::string control_name(int control) const;
  int control(std::string_view name) const;  // of a drive, or of the dof it is on; throws InputError

  // Inputs, kept until changed. Wrong sizes and non-finite numbers are refused with InputError.
  // Drive targets, worlds x control_count(); NaN: the drive's own signal. `rates`: of the targets, same size; empty: 0.
  void set_controls(std::span<const double> targets, std::span<const double> rates = {});
  // Besides drives, N or N m, worlds x Model::scalar_count(); empty: none.
  void set_joint_forces(std::span<const double> forces);
  // External wrenches [f; tau], world axes, at the centre of mass, worlds x bodies x 6; empty: none.
  void set_wrenches(std::span<const double> wrenches_W);

  // n steps of each running world, and then what is observed of it.
  void step(int n = 1);
  void step(std::span<const double> targets, int n);

  // Steps of each world with controls that are known before: `targets` is worlds x T x control_count() or
  // T x control_count() for all worlds, T = ceil(steps / hold), or empty: the present controls. The batch goes on from
  // where it is (set_states() before it starts anew), and is afterwards where the rollout ended.
  Rollout rollout(std::span<const double> targets, const RolloutOptions& options);

  // Worlds begin again at the initial state of their model, running; inputs stay as they are. `mask` is by world,
  // empty: all.
  void reset(std::span<const std::uint8_t> mask = {});
  // Those worlds get a state: one for all, or one by world. The warm start is dropped. Throws InputError that names the
  // world; nothing is changed then.
  void set_states(std::span<const State> states, std::span<const std::uint8_t> mask = {});
  void set_states(const StateArrays& states, std::span<const std::uint8_t> mask = {});
  void set_state(int world, const State& state);
  State state(int world) const;
  // All that a world is, with its inputs: restored, it goes on in the same bits, here or in a Simulation of
  // model(world) and the same options.
  Snapshot save(int world) const;
  void restore(int world, const Snapshot& snapshot);
  // Another model of equal structure for one world, from its initial state on.
  void set_model(int world, const Model& model);
  // A simulation of its own that goes on from where a world is, in the same bits.
  Simulation simulation(int world) const;

  // What the worlds are like: after construction, step(), reset() and the like always up to date.
  std::span<const double> time() const;           // s, worlds
  std::span<const double> position() const;       // m, worlds x bodies x 3, centres of mass
  std::span<const double> quaternion() const;     // worlds x bodies x 4: x y z w
  std::span<const double> twist() const;          // m/s, rad/s, worlds x bodies x 6: v, omega, world axes
  std::span<const double> q() const;              // m, rad, worlds x dofs
  std::span<const double> qd() const;             // worlds x dofs
  std::span<const double> contact_force() const;  // N, worlds x bodies x 3: sum of the forces of its contacts on a
                                                  // body, mean over the last step
  std::span<const double> energy() const;         // J, worlds x 2: kinetic, potential
  std::span<const double> effort() const;         // N, N m, worlds x control_count(), of the last step
  std::span<const WorldReport> reports() const;   // by world
  std::span<const std::uint8_t> failed() const;   // by world: 1 if it is frozen
  // Why a world is frozen; empty: it is not.
  const std::string& message(int world) const;
  int failed_count() const;

  // Bytes that worlds hold besides what the threads and the model have, on average.
  double bytes_per_world() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sarrus
