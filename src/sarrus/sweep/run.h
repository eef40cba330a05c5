// One run of a sweep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sarrus/sweep/plan.h"

namespace sarrus {

enum class SweepRunStatus : std::uint8_t {
  finished,
  failed,   // a step was not taken; the message names the worst constraint
  refused,  // values that no model or state may have
};

struct SweepRun {
  std::int32_t run = 0;
  SweepRunStatus status = SweepRunStatus::finished;
  std::string message;
  std::int32_t steps = 0, accepted = 0, fallback = 0, substepped = 0;
  std::int64_t iterations = 0;
  double time = 0, error = 0, joint_gap = 0, penetration = 0;
  bool creates_energy = false;
  double seconds = 0;                                          // wall clock
  double energy_before[2] = {0, 0}, energy_after[2] = {0, 0};  // J: kinetic, potential
  std::vector<double> position, quaternion, twist, q, qd;      // at the end
  Rollout recording;

  template <class A>
  void archive(A& a) {
    std::vector<char> text(message.begin(), message.end());
    a(text);
    message.assign(text.begin(), text.end());
    a(run, status, steps, accepted, fallback, substepped, iterations, time, error, joint_gap, penetration,
      creates_energy, seconds, energy_before, energy_after, position, quaternion, twist, q, qd);
    a(recording.worlds, recording.frames, recording.time, recording.position, recording.quaternion, recording.twist,
      recording.q, recording.qd, recording.contact_force, recording.energy);
  }
};

SweepRun execute(const SweepPlan& plan, int run);

// Throws InputError if the model has no such target, or it cannot be a factor.
void check_target(const Model& model, const std::string& target, bool factor);

// Of a frame, without its time.
std::size_t recorded_numbers(const Model& model, Keep keep);

}  // namespace sarrus
