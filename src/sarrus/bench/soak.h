// Very long runs of one scene: what drifts, creeps or grows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus {

// The first tenth of the steps lets the scene settle; memory and creep count from its end.
struct SoakRun {
  std::string scene;
  std::int64_t steps = 0;  // taken, of each run
  double simulated = 0;    // s
  // Change of the total energy over the run, and of it what nothing explains, of the largest kinetic energy, which is
  // at least that of a fall of twenty steps.
  double drift = 0;
  double unaccounted = 0;
  double creep = 0;           // m/min, largest mean speed of a body's centre since the scene settled
  double joint_gap = 0;       // m
  double penetration = 0;     // m, since the scene settled
  std::int64_t missed = 0;    // steps above the tolerance
  double memory_settled = 0;  // MB, resident
  double memory_end = 0;      // MB
  double seconds = 0;         // s of wall clock, of the first run
  std::uint64_t hash = 0;     // of the last state
  bool same = false;          // the second run ends in the same bits
  std::string message;        // of a step that failed
};

// `progress` is told of steps taken, of both runs together, now and then.
SoakRun soak(const std::string& scene, const Model& model, std::int64_t steps,
             const std::function<void(std::int64_t)>& progress);

// A table of docs/reliability.md.
std::string soak_text(const std::vector<SoakRun>& runs);

}  // namespace sarrus
