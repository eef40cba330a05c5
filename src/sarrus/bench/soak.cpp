#include "sarrus/bench/soak.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "sarrus/dynamics/state.h"
#include "sarrus/step/simulation.h"

namespace sarrus {
namespace {

double resident_megabytes() {
  std::ifstream in("/proc/self/statm");
  double all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

class SoakWatch {
 public:
  SoakWatch(Simulation& sim, SoakRun& run) : sim_(sim), run_(run), start_(energy(sim.model(), sim.state())) {}

  // False ends the run.
  bool add(const StepReport& report, bool settled) {
    if (report.status == StepStatus::failed) {
      run_.message = report.message;
      return false;
    }
    ++run_.steps;
    run_.missed += report.met_tolerance ? 0 : 1;
    run_.joint_gap = std::max(run_.joint_gap, report.joint_gap);
    if (settled) run_.penetration = std::max(run_.penetration, report.penetration);
    kinetic_ = std::max(kinetic_, energy(sim_.model(), sim_.state()).kinetic);
    return true;
  }
  void settle() {
    settled_ = sim_.state();
    run_.memory_settled = resident_megabytes();
  }
  void finish() {
    const State& last = sim_.state();
    double mass = 0;
    for (const Body& b : sim_.model().bodies()) mass += b.mass;
    const double fall = 20 * sim_.dt() * sim_.model().gravity().norm();
    const double scale = std::max({kinetic_, 0.5 * mass * fall * fall, 1e-300});
    run_.simulated = last.time;
    run_.drift = (energy(sim_.model(), last).total() - start_.total()) / scale;
    run_.unaccounted = sim_.energy_flow().unaccounted / scale;
    run_.memory_end = resident_megabytes();
    run_.hash = last.hash();
    const double minutes = (last.time - settled_.time) / 60;
    for (std::size_t i = 0; minutes > 0 && i < settled_.X_WB.size(); ++i) {
      run_.creep = std::max(run_.creep, (last.X_WB[i].p - settled_.X_WB[i].p).norm() / minutes);
    }
  }

 private:
  Simulation& sim_;
  SoakRun& run_;
  Energy start_;
  State settled_;
  double kinetic_ = 0;
};

}  // namespace

SoakRun soak(const std::string& scene, const Model& model, std::int64_t steps,
             const std::function<void(std::int64_t)>& progress) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kOften = 1000;
  SoakRun run;
  run.scene = scene;
  const std::int64_t settling = steps / 10;
  const Clock::time_point begin = Clock::now();
  {
    Simulation sim(model);
    SoakWatch watch(sim, run);
    for (std::int64_t i = 0; i < steps; ++i) {
      if (i == settling) watch.settle();
      if (!watch.add(sim.step(), i >= settling)) break;
      if (i % kOften == 0) progress(i);
    }
    watch.finish();
  }
  run.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  Simulation again(model);
  for (std::int64_t i = 0; i < run.steps; ++i) {
    again.step();
    if (i % kOften == 0) progress(run.steps + i);
  }
  run.same = again.state().hash() == run.hash;
  return run;
}

std::string soak_text(const std::vector<SoakRun>& runs) {
  std::string text =
      "| scene | steps | simulated | change of energy | unaccounted | mean speed | joint gap | "
      "penetration | "
      "missed | memory settled, end | hash of two runs | per step "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const SoakRun& r : runs) {
    text += fmt::format(
        "| {} | {} | {:.0f} s | {:+.1e} | {:+.1e} | {:.1e} m/min | {:.1e} m | {:.1e} m | {} | {:.1f}, {:.1f} MB | "
        "{:016x}, {} | {:.0f} µs |\n",
        r.scene, r.steps, r.simulated, r.drift, r.unaccounted, r.creep, r.joint_gap, r.penetration, r.missed,
        r.memory_settled, r.memory_end, r.hash, r.same ? "the same" : "ANOTHER",
        1e6 * r.seconds / static_cast<double>(std::max<std::int64_t>(r.steps, 1)));
    if (!r.message.empty()) text += fmt::format("\n{}: {}\n\n", r.scene, r.message);
  }
  return text;
}

}  // namespace sarrus
