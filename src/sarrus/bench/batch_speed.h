// How many steps of worlds a second does: rollouts of a Batch, and of MuJoCo's own `rollout` (peers/mujoco_rollout.py)
// on the same file, in turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sarrus/batch/batch.h"

namespace sarrus {

struct BatchSpeedOptions {
  int worlds = 64;
  int steps = 200;         // of a rollout
  int hold = 10;           // steps that controls are held for
  double amplitude = 0.3;  // controls are uniform in +- this, rad, m or their rates
  std::uint64_t seed = 1;
};

// Steps of all worlds per second of wall clock, and per second of all cores that worked, which other work on the
// machine hardly changes.
struct Rate {
  double wall = 0;
  double core = 0;
};

// Of a rollout from the initial state; one to warm up comes before. `failed` counts worlds that were frozen.
class BatchSpeed {
 public:
  BatchSpeed(const Model& model, int threads, const BatchSpeedOptions& options);
  Rate measure();
  int failed() const { return failed_; }
  double kib_per_world() const { return batch_.bytes_per_world() / 1024; }
  double dt() const { return batch_.dt(); }

 private:
  BatchSpeedOptions options_;
  Batch batch_;
  std::vector<double> targets_;
  int failed_ = 0;
};

struct MujocoRollout {
  std::string python;  // with the package mujoco
  std::string script;
  std::string model;
};
// Likewise; `finite` tells whether its states were. Throws InputError if the program fails.
struct MujocoSpeed {
  Rate rate;
  bool finite = true;
  std::string version;
};
MujocoSpeed measure_mujoco(const MujocoRollout& rollout, int threads, const BatchSpeedOptions& options);

}  // namespace sarrus
