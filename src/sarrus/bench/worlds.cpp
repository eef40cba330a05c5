#include "sarrus/bench/worlds.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>

#include "sarrus/bench/json_table.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/workers.h"
#include "sarrus/scene_files/scene_file.h"
#include "sarrus/scenes/random_worlds.h"
#include "sarrus/step/simulation.h"

namespace sarrus {

// A column each.
template <class F>
void fields(F& f, WorldRun& r) {
  f("seed", r.seed);
  f("cause", r.cause, kWorldCauseCount);
  f("severity", r.severity);
  f("message", r.message);
  f("features", r.features);
  f("bodies", r.bodies);
  f("length_m", r.length);
  f("dt_s", r.dt);
  f("steps", r.steps);
  f("accepted", r.accepted);
  f("substepped", r.substepped);
  f("joint_gap", r.joint_gap);
  f("penetration", r.penetration);
  f("energy_rise", r.energy_rise);
  f("slowest_s", r.slowest);
  f("hash", r.hash);
}

namespace {

namespace fs = std::filesystem;
using bench::Json;

constexpr std::array<std::string_view, kWorldCauseCount> kWorldCauseNames = {
    "good",          "refused",    "internal_error", "not_finite", "step_failed", "not_deterministic",
    "energy_silent", "joint_open", "sunk_in",        "slow",       "energy_told"};
constexpr std::uint64_t kSeedsOfUnit = 50;
constexpr std::size_t kKeptOfCause = 5;

double processor_seconds() {
  ::timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// What a user gets of the world: through the file.
Model as_scene(const RandomWorld& world) { return parse_scene(scene_to_json(world.model), ""); }

// J: kinetic and spring energy that is there at the start, and the fall of all bodies by a length.
double energy_scale(const RandomWorld& world, const State& start) {
  State still = start;
  for (Vec6& u : still.twist) u.setZero();
  return world.weight_scale + energy(world.model, start).kinetic +
         std::abs(energy(world.model, start).potential - energy(world.model, State::initial(world.model)).potential);
}

// One run to its end or to a step that fails; the hash of its last state.
class WorldWatch {
 public:
  WorldWatch(const RandomWorld& world, WorldRun& run) : world_(world), run_(run) {}

  std::string watch(Simulation& sim) {
    const Energy start = energy(sim.model(), sim.state());
    const double scale = energy_scale(world_, sim.state());
    const auto steps = std::llround(sim.model().defaults().duration / sim.dt());
    note_speeds(sim.state());
    bool finite = true, failed = false, told = false;
    for (int i = 0; i < steps && finite && !failed; ++i) {
      const double before = processor_seconds();
      const StepReport& report = sim.step();
      run_.slowest = std::max(run_.slowest, processor_seconds() - before);
      finite = sim.state().finite();
      failed = report.status == StepStatus::failed;
      if (failed) {
        run_.message = report.message;
        break;
      }
      told = told || report.creates_energy;
      add(report);
      const double rise = energy(sim.model(), sim.state()).total() - start.total() - sim.energy_flow().correction;
      run_.energy_rise = std::max(run_.energy_rise, rise / scale);
      unstated_rise_ = std::max(unstated_rise_, (rise - sim.energy_bound()) / scale);
      add_sinking(report, sim);
    }
    decide(finite, failed, told);
    return fmt::format("{:016x}", sim.state().hash());
  }

 private:
  void add(const StepReport& report) {
    ++run_.steps;
    run_.accepted += report.met_tolerance ? 0 : 1;
    run_.substepped += report.substeps > 1 ? 1 : 0;
    run_.joint_gap = std::max(run_.joint_gap, report.joint_gap / world_.length);
    run_.penetration = std::max(run_.penetration, report.penetration / world_.length);
  }

  // Beyond what bodies move in a step: an impact that was found late is no more than that.
  void add_sinking(const StepReport& report, const Simulation& sim) {
    note_speeds(sim.state());
    sinking_ = std::max(sinking_, (report.penetration - fastest_ * sim.dt()) / world_.length);
  }
  void note_speeds(const State& state) {
    for (const Vec6& u : state.twist)
      fastest_ = std::max(fastest_, u.head<3>().norm() + u.tail<3>().norm() * world_.length);
  }

  void set(WorldCause cause, double severity) {
    if (run_.cause != WorldCause::good) return;
    run_.cause = cause;
    run_.severity = severity;
  }

  void decide(bool finite, bool failed, bool told) {
    constexpr double kRise = 1e-3, kOpen = 1e-4, kSunk = 0.02, kSlow = 1;
    const bool driven = world_.with(WorldFeature::drive);
    // What the world may do: elastic contacts that begin compressed give what they hold, and bodies without continuous
    // detection pass through others.
    const bool overlap = world_.with(WorldFeature::overlap);
    const bool apart = !overlap && !world_.with(WorldFeature::soft_contact) && !world_.with(WorldFeature::no_ccd);
    const bool compressed = overlap && world_.with(WorldFeature::soft_contact);
    if (!finite) set(WorldCause::not_finite, 1);
    if (failed) set(WorldCause::step_failed, 1.0 / (1 + run_.steps));
    if (!driven && !told && !compressed && !(unstated_rise_ <= kRise)) set(WorldCause::energy_silent, unstated_rise_);
    if (!(run_.joint_gap <= kOpen)) set(WorldCause::joint_open, run_.joint_gap);
    if (apart && !(sinking_ <= kSunk)) set(WorldCause::sunk_in, sinking_);
    if (run_.slowest > kSlow) set(WorldCause::slow, run_.slowest);
    if (told) set(WorldCause::energy_told, run_.energy_rise);
  }

  const RandomWorld& world_;
  WorldRun& run_;
  double unstated_rise_ = 0;  // as WorldRun::energy_rise
  double sinking_ = 0;        // of the length
  double fastest_ = 0;        // m/s, of a surface
};

void run_twice(const RandomWorld& world, WorldRun& run) {
  const Model model = as_scene(world);
  Simulation sim(model);
  run.hash = WorldWatch(world, run).watch(sim);
  WorldRun unused;
  Simulation again(model);
  if (WorldWatch(world, unused).watch(again) == run.hash) return;
  run.cause = WorldCause::not_deterministic;
}

std::string unit_name(std::uint64_t first, std::uint64_t end) { return fmt::format("seeds-{}-{}", first, end - 1); }

std::vector<WorldRun> run_worlds(std::uint64_t first, std::uint64_t end, int threads) {
  std::vector<WorldRun> runs(end - first);
  Workers team(threads);
  team.each(static_cast<int>(runs.size()), [&](int i, int /*worker*/) {
    runs[static_cast<std::size_t>(i)] = run_random_world(first + static_cast<std::uint64_t>(i));
  });
  return runs;
}

}  // namespace

std::string_view name_of(WorldCause cause) { return kWorldCauseNames[static_cast<std::size_t>(cause)]; }

bool is_silent(WorldCause cause) {
  return cause != WorldCause::good && cause != WorldCause::refused && cause != WorldCause::step_failed &&
         cause != WorldCause::energy_told;
}

WorldRun run_random_world(std::uint64_t seed) {
  WorldRun run;
  run.seed = seed;
  try {
    const RandomWorld world = random_world(seed, RandomWorldKind::any);
    run.features = world.features();
    run.bodies = world.model.body_count();
    run.length = world.length;
    run.dt = world.dt;
    run_twice(world, run);
  } catch (const InputError& e) {
    run.cause = WorldCause::refused;
    run.message = e.what();
  } catch (const std::exception& e) {
    run.cause = WorldCause::internal_error;
    run.message = e.what();
  }
  return run;
}

std::vector<WorkUnit> world_units(const WorldsOptions& options, const fs::path& folder) {
  std::vector<WorkUnit> units;
  const std::uint64_t end = options.first + options.seeds;
  for (std::uint64_t first = options.first; first < end; first += kSeedsOfUnit) {
    const std::uint64_t last = std::min(end, first + kSeedsOfUnit);
    const std::string name = unit_name(first, last);
    const fs::path result = folder / "results" / (name + ".json");
    units.push_back({name, result, {}, static_cast<double>(last - first), [=, threads = options.threads] {
                       const std::string text = bench::table_json(run_worlds(first, last, threads)).dump() + "\n";
                       write_file_atomically(result, text);
                     }});
  }
  return units;
}

std::vector<WorldRun> collect_worlds(const std::vector<WorkUnit>& units) {
  std::vector<WorldRun> all;
  for (const WorkUnit& unit : units) {
    try {
      const Json j = Json::parse(read_file(unit.result, "a file of records", bench::kMaxFile));
      for (WorldRun& run : bench::table_from_json<WorldRun>(j)) all.push_back(std::move(run));
    } catch (const Json::exception& e) {
      throw InputError(unit.result.string(), fmt::format("cannot be read ({}); remove it and run again", e.what()));
    } catch (const std::invalid_argument& e) {
      throw InputError(unit.result.string(), fmt::format("{}; remove it and run again", e.what()));
    }
  }
  return all;
}

std::string worlds_json(const std::vector<WorldRun>& runs, const std::string& command) {
  Json j;
  j["format"] = "sarrus-worlds";
  j["version"] = 1;
  j["command"] = command;
  Json counts = Json::object();
  for (int c = 0; c < kWorldCauseCount; ++c) {
    const auto cause = static_cast<WorldCause>(c);
    counts[std::string(name_of(cause))] =
        std::ranges::count_if(runs, [&](const WorldRun& r) { return r.cause == cause; });
  }
  j["counts"] = counts;
  j["worlds"] = bench::table_json(runs);
  return j.dump(1) + "\n";
}

int keep_worst_worlds(const std::vector<WorldRun>& runs, const fs::path& folder) {
  int kept = 0;
  for (int c = 1; c < kWorldCauseCount; ++c) {
    std::vector<WorldRun> of_cause;
    std::ranges::copy_if(runs, std::back_inserter(of_cause),
                         [&](const WorldRun& r) { return static_cast<int>(r.cause) == c; });
    std::ranges::stable_sort(of_cause, [](const WorldRun& a, const WorldRun& b) { return a.severity > b.severity; });
    of_cause.resize(std::min(of_cause.size(), kKeptOfCause));
    for (const WorldRun& r : of_cause) {
      fs::create_directories(folder);
      const RandomWorld world = random_world(r.seed, RandomWorldKind::any);
      save_scene(world.model, folder / fmt::format("{}-{}.json", name_of(r.cause), r.seed));
      ++kept;
    }
  }
  return kept;
}

}  // namespace sarrus
