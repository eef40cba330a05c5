#include "sarrus/bench/scaling.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "sarrus/math/error.h"
#include "sarrus/math/statistics.h"
#include "sarrus/scenes/scalable.h"
#include "sarrus/step/simulation.h"

namespace sarrus {
namespace {

using Clock = std::chrono::steady_clock;

// Bytes that the program has allocated and not freed.
double heap_in_use() {
  const struct mallinfo2 m = ::mallinfo2();
  return static_cast<double>(m.uordblks) + static_cast<double>(m.hblkhd);
}

}  // namespace

const std::vector<ScalingFamily>& scaling_families() {
  static const std::vector<ScalingFamily> families = {
      {"chain", "one serial chain", make_chain},
      {"tree", "one binary tree of hinged bars", make_tree},
      {"grid", "one lattice of hinged four-bars, all loops closed", make_linkage_grid},
      {"pile", "one pile of touching bodies", make_pile},
      {"pile-cold", "the same, every step solved from zero", make_pile, false},
      {"islands", "separate small mechanisms", make_islands}};
  return families;
}

std::vector<ScalingPoint> scaling_points(const ScalingOptions& options) {
  std::vector<ScalingPoint> out;
  const auto wanted = [&](const std::string& family) {
    return options.families.empty() || std::ranges::find(options.families, family) != options.families.end();
  };
  for (const ScalingFamily& f : scaling_families()) {
    for (const int n : options.sizes) {
      if (wanted(f.name)) out.push_back({f.name, n, 1});
    }
  }
  if (options.sizes.empty() || !wanted("islands")) return out;
  const int n = options.sizes[options.sizes.size() - std::min<std::size_t>(2, options.sizes.size())];
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  for (const int t : options.threads) {
    if (t > 1 && t <= std::max(2, cores)) out.push_back({"islands", n, t});
  }
  return out;
}

ScalingRecord measure_scaling(const ScalingPoint& point, const ScalingOptions& options) {
  ScalingRecord r;
  r.family = point.family;
  r.bodies = point.bodies;
  r.threads = point.threads;
  const auto family = std::ranges::find(scaling_families(), point.family, &ScalingFamily::name);
  if (family == scaling_families().end()) throw InputError(point.family, "is no scaling family");
  const double before = heap_in_use();
  SimulationOptions o;
  o.threads = point.threads;
  o.warm_start = family->warm_start;
  Simulation sim(family->make(point.bodies), o);
  r.bodies = sim.model().body_count();
  std::vector<double> step, solve;
  double iterations = 0;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < options.warm_up_steps + options.steps; ++i) {
    const StepReport& report = sim.step();
    if (report.status == StepStatus::failed) {
      r.message = fmt::format("stopped at {:.4g} s: {}", sim.time(), report.message);
      break;
    }
    r.rows = std::max(r.rows, report.rows);
    r.contacts = std::max(r.contacts, report.contacts);
    r.not_converged += !report.met_tolerance;
    const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
    if (i < options.warm_up_steps && spent < 0.5 * options.budget) continue;
    ++r.steps;
    iterations += report.iterations;
    step.push_back(report.seconds_total);
    solve.push_back(report.seconds_solve);
    if (spent > options.budget && r.steps >= 3) break;
  }
  r.bytes = heap_in_use() - before;
  if (r.steps > 0) r.iterations = iterations / r.steps;
  r.step_median = median(step);
  r.step_p95 = percentile(step, 0.95);
  r.solve_median = median(solve);
  return r;
}

}  // namespace sarrus
