// `sarrus bench worlds`: random worlds, looked at from outside.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "commands.h"
#include "sarrus/bench/worlds.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/work/ranks.h"
#include "suite_progress.h"
#include "work_plan.h"

namespace sarrus::app {
namespace {

namespace fs = std::filesystem;

struct WorldsArguments {
  WorldsOptions options;
  std::string json, keep, work;
  bool quiet = false;
};

int run_worlds_command(const WorldsArguments& a) {
  constexpr std::uint64_t kMost = 100'000'000;
  if (a.options.seeds < 1 || a.options.seeds > kMost)
    throw InputError("--seeds", fmt::format("is {}; give 1 to {}", a.options.seeds, kMost));
  if (a.options.first > kMost) throw InputError("--first", fmt::format("is {}; give 0 to {}", a.options.first, kMost));
  if (a.options.threads < 1 || a.options.threads > 1024)
    throw InputError("--threads", fmt::format("is {}; give 1 to 1024", a.options.threads));
  const Ranks ranks;
  OutputFile json("--json", ranks.first() ? a.json : "");
  const std::string command =
      fmt::format("sarrus bench worlds --seeds {} --first {}", a.options.seeds, a.options.first);
  const fs::path folder = a.work.empty() ? fs::path("out/bench-worlds") : fs::path(a.work);
  require_same_plan(folder, command);
  ranks.require_shared(folder / "plan.txt");
  prepare_last_words(folder);
  const std::vector<WorkUnit> units = world_units(a.options, folder);
  {
    WorkFolder work(folder, ranks.name());
    SuiteProgress progress(ranks.first() && !a.quiet);
    work.run(units, [&](const WorkFolder::Progress& p) { progress(p); });
  }
  if (!ranks.first()) return kExitOk;
  const std::vector<WorldRun> runs = collect_worlds(units);
  json.write(worlds_json(runs, command));
  if (!a.quiet) fmt::print("{}", worlds_text(runs));
  if (!a.keep.empty()) {
    const int kept = keep_worst_worlds(runs, a.keep);
    if (!a.quiet) fmt::print("\n{} scenes written to {}; `sarrus run FILE` shows each again\n", kept, a.keep);
  }
  remove_when_deserted(folder, 2);
  const bool silent = std::ranges::any_of(runs, [](const WorldRun& r) { return is_silent(r.cause); });
  return silent ? kExitSimulationFailed : kExitOk;
}

}  // namespace

void add_bench_worlds(CLI::App& bench, int& exit_code) {
  auto a = std::make_shared<WorldsArguments>();
  CLI::App* worlds =
      bench.add_subcommand("worlds", "Random worlds of everything a scene can have, looked at from outside");
  worlds->add_option("--seeds", a->options.seeds, "How many worlds")->type_name("N")->capture_default_str();
  worlds->add_option("--first", a->options.first, "Seed of the first one")->type_name("K")->capture_default_str();
  worlds->add_option("--threads", a->options.threads, "Worlds that run at the same time")
      ->type_name("N")
      ->capture_default_str();
  worlds->add_option("--json", a->json, "Every world: cause, message, figures")->type_name("FILE");
  worlds->add_option("--keep", a->keep, "Write the worst of each cause as scenes that `sarrus run` reproduces")
      ->type_name("DIR");
  worlds->add_option("--work", a->work, "Folder of unfinished work (default out/bench-worlds)")->type_name("DIR");
  worlds->add_flag("--quiet", a->quiet, "No progress, no table");
  worlds->footer(
      "Every world runs twice, 250 steps. Energy, joints, penetration, finiteness, equal bits and the time of a step\n"
      "are looked at. Interrupted, the same command goes on where it stopped; other processes may share the work.\n"
      "Exit code 3: a world failed without saying so.");
  worlds->callback([a, &exit_code] { exit_code = run_worlds_command(*a); });
}

}  // namespace sarrus::app
