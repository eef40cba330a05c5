#include "sarrus/bench/batch_speed.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "sarrus/bench/child_process.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/random.h"

namespace sarrus {
namespace {

double steps_of(const BatchSpeedOptions& o) { return static_cast<double>(o.worlds) * o.steps; }

}  // namespace

BatchSpeed::BatchSpeed(const Model& model, int threads, const BatchSpeedOptions& options)
    : options_(options), batch_(model, options.worlds, {.threads = threads}) {
  const int rows = (options.steps + options.hold - 1) / options.hold;
  targets_.resize(static_cast<std::size_t>(options.worlds) * static_cast<std::size_t>(rows) *
                  static_cast<std::size_t>(batch_.control_count()));
  Random random(options.seed);
  for (double& x : targets_) x = random.uniform(-options.amplitude, options.amplitude);
  (void)measure();
}

Rate BatchSpeed::measure() {
  batch_.reset();
  const std::clock_t cores = std::clock();  // of all threads
  const auto start = std::chrono::steady_clock::now();
  (void)batch_.rollout(targets_, {.steps = options_.steps, .hold = options_.hold, .every = 1, .keep = Keep::q});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double busy = static_cast<double>(std::clock() - cores) / CLOCKS_PER_SEC;
  failed_ = batch_.failed_count();
  return {steps_of(options_) / seconds, steps_of(options_) / busy};
}

MujocoSpeed measure_mujoco(const MujocoRollout& r, int threads, const BatchSpeedOptions& o) {
  const ScratchFolder scratch;
  const auto out = scratch.path() / "speed.json";
  const std::vector<std::string> arguments = {r.script,
                                              "--model",
                                              r.model,
                                              "--worlds",
                                              std::to_string(o.worlds),
                                              "--steps",
                                              std::to_string(o.steps),
                                              "--threads",
                                              std::to_string(threads),
                                              "--hold",
                                              std::to_string(o.hold),
                                              "--amplitude",
                                              fmt::format("{}", o.amplitude),
                                              "--seed",
                                              std::to_string(o.seed),
                                              "--out",
                                              out.string()};
  constexpr double kTimeout = 600;  // s
  const ChildResult child = run_child(r.python, arguments, kTimeout, scratch.path());
  if (!child.ok) {
    throw InputError(
        fmt::format("{} {}", r.python, r.script),
        fmt::format("{} ({}); `scripts/setup.sh bench` installs what it needs", child.status, child.message));
  }
  constexpr std::uintmax_t kMaxFile = 1 << 20;
  const auto j = nlohmann::json::parse(read_file(out, "a result", kMaxFile));
  return {{steps_of(o) / j.at("seconds").get<double>(), steps_of(o) / j.at("core_seconds").get<double>()},
          j.at("finite").get<bool>(),
          j.at("version").get<std::string>()};
}

}  // namespace sarrus
