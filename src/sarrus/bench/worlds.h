// Random worlds (scenes/random_worlds.h) as a test without an end: each is written as a scene, read again, run twice
// and looked at from outside. What is found is put down to one cause, the first that fits:
//
//   refused            the valid scene is not accepted
//   internal_error     something else than bad input was thrown
//   not_finite         the state
//   step_failed        a step said that it cannot be taken, and why
//   not_deterministic  the second run ended in other bits
//   energy_silent      undriven worlds rise above their start by more than 1e-3 of what can move and the bound that the
//                      run states, and no report says so
//   joint_open         a rigid joint, by more than 1e-4 of the length
//   sunk_in            rigid bodies that were apart, by more than 2 % of the length and what bodies move in a step
//   slow               a step took more than a second of processor time
//   energy_told        the run said itself that energy was created
//
// refused, step_failed and energy_told are what a user is told; all others would be silent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/work/work_folder.h"

namespace sarrus {

enum class WorldCause : std::uint8_t {
  good,
  refused,
  internal_error,
  not_finite,
  step_failed,
  not_deterministic,
  energy_silent,
  joint_open,
  sunk_in,
  slow,
  energy_told,
  count
};
inline constexpr int kWorldCauseCount = static_cast<int>(WorldCause::count);
std::string_view name_of(WorldCause cause);
bool is_silent(WorldCause cause);

struct WorldRun {
  std::uint64_t seed = 0;
  WorldCause cause = WorldCause::good;
  double severity = 0;   // for the order within a cause, larger is worse
  std::string message;   // of what was refused or failed
  std::string features;  // of the world
  int bodies = 0;
  double length = 0;  // m
  double dt = 0;      // s
  int steps = 0;      // taken
  int accepted = 0;   // of these above the tolerance
  int substepped = 0;
  double joint_gap = 0;    // of the length
  double penetration = 0;  // of the length
  double energy_rise = 0;  // above the start, of weight times length and the energy at the start
  double slowest = 0;      // s of processor time, of a step
  std::string hash;        // of the last state
};
WorldRun run_random_world(std::uint64_t seed);

struct WorldsOptions {
  std::uint64_t first = 1;
  std::uint64_t seeds = 1000;
  int threads = 1;
};
// Units of work, each of some seeds and with a file of results in the folder.
std::vector<WorkUnit> world_units(const WorldsOptions& options, const std::filesystem::path& folder);
// Of finished units, by seed.
std::vector<WorldRun> collect_worlds(const std::vector<WorkUnit>& units);

std::string worlds_text(const std::vector<WorldRun>& runs);
std::string worlds_json(const std::vector<WorldRun>& runs, const std::string& command);
// The worst of each cause as scenes that `sarrus run` reproduces, CAUSE-SEED.json. Returns how many.
int keep_worst_worlds(const std::vector<WorldRun>& runs, const std::filesystem::path& folder);

}  // namespace sarrus
