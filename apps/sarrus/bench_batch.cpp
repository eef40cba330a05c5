// `sarrus bench batch`: worlds per second, over threads and ranks, and against MuJoCo's own rollout.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "sarrus/bench/batch_speed.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/statistics.h"
#include "sarrus/work/ranks.h"
#include "scene_argument.h"

namespace sarrus::app {
namespace {

struct BatchSpeedArguments {
  std::vector<std::string> scenes = {"fourbar_free", "quadruped", "walker_like", "jansen_walker"};
  std::vector<int> threads = {1, 2};
  BatchSpeedOptions options;
  int repeats = 5;
  std::string mujoco;
  std::string script = "peers/mujoco_rollout.py";
  std::string json;
};

struct SpeedRow {
  std::string scene;
  int threads = 1;
  std::vector<double> ours, ours_core, theirs, theirs_core, ratios;  // of rates of cores
  double kib = 0, dt = 0;
  int failed = 0;
  bool finite = true;
  std::string version;
};

void check_speed(const BatchSpeedArguments& a) {
  const auto in = [](const char* option, int x, int most) {
    if (x < 1 || x > most) throw InputError(option, fmt::format("is {}; give 1 to {}", x, most));
  };
  in("--worlds", a.options.worlds, 1'000'000);
  in("--steps", a.options.steps, 1'000'000);
  in("--hold", a.options.hold, 1'000'000);
  in("--repeats", a.repeats, 1000);
  for (const int t : a.threads) in("--threads", t, 1024);
  if (!(a.options.amplitude >= 0 && std::isfinite(a.options.amplitude))) {
    throw InputError("--amplitude", fmt::format("is {}; give a number >= 0", a.options.amplitude));
  }
}

// Both in turn, so that whatever else the machine does meets both.
SpeedRow measure_row(const BatchSpeedArguments& a, const std::string& scene, int threads, const Ranks& ranks) {
  SceneArgument argument;
  argument.scene = scene;
  argument.import.accept = {"all"};
  const Model model = resolve_scene(argument);
  SpeedRow row;
  row.scene = std::filesystem::path(scene).stem().string();
  row.threads = threads;
  BatchSpeed speed(model, threads, a.options);
  const bool both = !a.mujoco.empty() && scene.ends_with(".xml") && ranks.size() == 1;
  for (int i = 0; i < a.repeats; ++i) {
    (void)ranks.sum(0);
    const Rate rate = speed.measure();
    row.ours.push_back(ranks.sum(rate.wall));
    row.ours_core.push_back(rate.core);
    if (!both) continue;
    const MujocoSpeed other = measure_mujoco({a.mujoco, a.script, scene}, threads, a.options);
    row.theirs.push_back(other.rate.wall);
    row.theirs_core.push_back(other.rate.core);
    row.ratios.push_back(rate.core / other.rate.core);
    row.finite = row.finite && other.finite;
    row.version = other.version;
  }
  row.kib = speed.kib_per_world();
  row.dt = speed.dt();
  row.failed = speed.failed();
  return row;
}

void print_speed(const std::vector<SpeedRow>& rows, const BatchSpeedArguments& a, int ranks) {
  fmt::print("{} worlds, rollouts of {} steps; medians of {}, least and most\n\n", a.options.worlds, a.options.steps,
             a.repeats);
  fmt::print("{:<16}{:>6}{:>8}{:>7}{:>22}{:>22}{:>10}{:>22}{:>22}{:>18}\n", "scene", "ranks", "threads", "dt ms",
             "k steps/s", "of a core", "KiB/world", "MuJoCo k steps/s", "of a core", "ratio of cores");
  for (const SpeedRow& r : rows) {
    const auto span = [](const std::vector<double>& x, double unit, int digits) {
      if (x.empty()) return std::string("-");
      const auto [low, high] = std::minmax_element(x.begin(), x.end());
      return fmt::format("{:.{}f} ({:.{}f}-{:.{}f})", median(x) / unit, digits, *low / unit, digits, *high / unit,
                         digits);
    };
    fmt::print("{:<16}{:>6}{:>8}{:>7.3g}{:>22}{:>22}{:>10.0f}{:>22}{:>22}{:>18}{}{}\n", r.scene, ranks, r.threads,
               1e3 * r.dt, span(r.ours, 1e3, 1), span(r.ours_core, 1e3, 1), r.kib, span(r.theirs, 1e3, 1),
               span(r.theirs_core, 1e3, 1), span(r.ratios, 1, 2),
               r.failed > 0 ? fmt::format("  {} worlds failed", r.failed) : "", r.finite ? "" : "  MuJoCo: not finite");
  }
}

std::string speed_json(const std::vector<SpeedRow>& rows, const BatchSpeedArguments& a, int ranks) {
  nlohmann::json j;
  j["format"] = "sarrus-batch-speed";
  j["version"] = 1;
  j["worlds"] = a.options.worlds;
  j["steps"] = a.options.steps;
  j["ranks"] = ranks;
  for (const SpeedRow& r : rows) {
    j["rows"].push_back({{"scene", r.scene},
                         {"threads", r.threads},
                         {"dt", r.dt},
                         {"steps_per_second", r.ours},
                         {"steps_per_core_second", r.ours_core},
                         {"kib_per_world", r.kib},
                         {"failed_worlds", r.failed},
                         {"mujoco_steps_per_second", r.theirs},
                         {"mujoco_steps_per_core_second", r.theirs_core},
                         {"mujoco_version", r.version},
                         {"ratios", r.ratios}});
  }
  return j.dump(1) + "\n";
}

void run_batch_speed(const BatchSpeedArguments& a) {
  check_speed(a);
  const Ranks ranks;
  OutputFile json("--json", ranks.first() ? a.json : "");
  std::vector<SpeedRow> rows;
  for (const std::string& scene : a.scenes) {
    for (const int threads : a.threads) rows.push_back(measure_row(a, scene, threads, ranks));
  }
  if (!ranks.first()) return;
  print_speed(rows, a, ranks.size());
  if (json.wanted()) json.write(speed_json(rows, a, ranks.size()));
}

}  // namespace

void add_bench_batch(CLI::App& bench) {
  auto a = std::make_shared<BatchSpeedArguments>();
  CLI::App* batch = bench.add_subcommand("batch", "Steps per second of many worlds, over threads and ranks");
  batch->add_option("scenes", a->scenes, "Scenes or files; .xml ones also run in MuJoCo")->type_name("SCENE");
  batch->add_option("--threads", a->threads, "Threads, a row each")->delimiter(',')->type_name("LIST");
  batch->add_option("--worlds", a->options.worlds, "Worlds")->type_name("N")->capture_default_str();
  batch->add_option("--steps", a->options.steps, "Steps of a rollout")->type_name("N")->capture_default_str();
  batch->add_option("--hold", a->options.hold, "Steps that controls are held for")
      ->type_name("N")
      ->capture_default_str();
  batch->add_option("--amplitude", a->options.amplitude, "Controls are uniform in +- this")
      ->type_name("X")
      ->capture_default_str();
  batch->add_option("--repeats", a->repeats, "Rollouts that are timed, in turn with MuJoCo's")
      ->type_name("N")
      ->capture_default_str();
  batch
      ->add_option("--mujoco", a->mujoco,
                   "Python with the package mujoco (scripts/setup.sh bench: build/mujoco/bin/python)")
      ->type_name("PYTHON");
  batch->add_option("--script", a->script, "What it runs")->type_name("FILE")->capture_default_str();
  batch->add_option("--json", a->json, "All figures")->type_name("FILE");
  batch->footer("Under mpirun every rank has so many worlds and threads, and rates are added.");
  batch->callback([a] { run_batch_speed(*a); });
}

}  // namespace sarrus::app
