// `sarrus bench soak`: very long runs.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "sarrus/bench/soak.h"
#include "sarrus/math/error.h"
#include "scene_argument.h"
#include "suite_progress.h"

namespace sarrus::app {
namespace {

struct SoakArguments {
  std::vector<std::string> scenes = {"stack15_equal", "fourbar_swing", "clutter40"};
  std::int64_t steps = 10'000'000;
  bool quiet = false;
};

int run_soak(const SoakArguments& a) {
  constexpr std::int64_t kMost = 10'000'000'000;
  if (a.steps < 10 || a.steps > kMost) throw InputError("--steps", fmt::format("is {}; give 10 to {}", a.steps, kMost));
  std::vector<Model> models;
  for (const std::string& scene : a.scenes) {
    SceneArgument argument;
    argument.scene = scene;
    models.push_back(resolve_scene(argument));
  }
  using Clock = std::chrono::steady_clock;
  std::vector<SoakRun> runs;
  SuiteProgress progress(!a.quiet);
  bool good = true;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Clock::time_point begin = Clock::now();
    runs.push_back(soak(a.scenes[i], models[i], a.steps, [&](std::int64_t steps) {
      const double share = 0.5 * static_cast<double>(steps) / static_cast<double>(a.steps);
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      progress({i, models.size(), share, seconds, seconds * (1 / share - 1), a.scenes[i]});
    }));
    good = good && runs.back().same && runs.back().message.empty();
  }
  fmt::print("{}", soak_text(runs));
  return good ? kExitOk : kExitSimulationFailed;
}

}  // namespace

void add_bench_soak(CLI::App& bench, int& exit_code) {
  auto a = std::make_shared<SoakArguments>();
  CLI::App* soak = bench.add_subcommand("soak", "Very long runs: drift, creep, memory, the same bits again");
  soak->add_option("--scenes", a->scenes, "Scenes, built-in or files")
      ->delimiter(',')
      ->type_name("LIST")
      ->capture_default_str();
  soak->add_option("--steps", a->steps, "Steps of each")->type_name("N")->capture_default_str();
  soak->add_flag("--quiet", a->quiet, "No progress");
  soak->footer(
      "Every scene runs twice. Creep, penetration and memory count after the first tenth. The table is Markdown.\n"
      "Exit code 3: a step failed, or the second run ended in other bits.");
  soak->callback([a, &exit_code] { exit_code = run_soak(*a); });
}

}  // namespace sarrus::app
