#include "sarrus/bench/peers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "sarrus/bench/child_process.h"
#include "sarrus/math/error.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

constexpr int kLevels = 4;  // how soft a stiff setting may get before it counts as unstable

struct Task {
  std::string scene;
  std::string engine;
  std::string setting;
};

void require_known(const std::string& option, const std::vector<std::string>& given,
                   const std::vector<std::string>& known) {
  for (const std::string& g : given) {
    if (std::ranges::count(known, g) == 0) {
      throw InputError(fmt::format("{} {}", option, g), fmt::format("unknown; use some of {}", fmt::join(known, ", ")));
    }
  }
}

PeerRun empty_run(const Task& task, double dt, std::string status) {
  PeerRun run;
  run.engine = task.engine;
  run.setting = task.setting;
  run.scene = task.scene;
  run.dt = dt;
  run.status = std::move(status);
  return run;
}

// One run of a program, judged.
PeerRun run_program(const fs::path& program, const Task& task, int level, const Model& model, double duration,
                    const PeerOptions& options) {
  const ScratchFolder scratch;
  const fs::path file = scratch.path() / "trajectory";
  const double dt = model.defaults().dt;
  const ChildResult child =
      run_child(program,
                {"--scene", task.scene, "--setting", task.setting, "--level", std::to_string(level), "--dt",
                 fmt::format("{}", dt), "--duration", fmt::format("{}", duration), "--sample",
                 fmt::format("{}", options.sample), "--output", file.string()},
                options.timeout, scratch.path());
  if (!child.ok) {
    const std::string said = child.message.empty() ? "" : ": " + child.message;
    return empty_run(task, dt, child.status + said);
  }
  try {
    PeerRun run = judge_trajectory(model, load_trajectory(file));
    run.engine = task.engine;
    run.setting = task.setting;
    run.scene = task.scene;
    run.level = level;
    return run;
  } catch (const InputError& e) {
    return empty_run(task, dt, fmt::format("unreadable answer: {}", e.what()));
  }
}

PeerRun run_task(const Task& task, const PeerOptions& options) {
  const Model model = make_scene(task.scene);
  const RunDefaults& d = model.defaults();
  const double duration = options.quick ? std::min(d.duration, 1.0) : d.duration;
  if (task.engine == "sarrus") return judge_trajectory(model, run_sarrus(model, d.dt, duration, options.sample));
  const fs::path program = find_peer(task.engine, options.folder);
  if (program.empty()) {
    return empty_run(task, d.dt,
                     fmt::format("not found: no program sarrus-peer-{}; make bench-peers builds it", task.engine));
  }
  PeerRun run;
  for (int level = 0; level < kLevels; ++level) {
    run = run_program(program, task, level, model, duration, options);
    if (task.setting != "stiff" || !(run.status.starts_with("unstable") || run.status == "collapsed")) break;
  }
  return run;
}

}  // namespace

const std::vector<std::string>& peer_scenes() {
  static const std::vector<std::string> names = {"fourbar_swing", "stack15",   "ring20",
                                                 "ring20_tilted", "clutter40", "boxes_fixed"};
  return names;
}

const std::vector<std::string>& peer_engines() {
  static const std::vector<std::string> names = {"sarrus", "mujoco", "ode", "bullet", "dart", "simbody"};
  return names;
}

fs::path find_peer(const std::string& engine, const fs::path& folder) {
  std::error_code error;
  fs::path where = folder;
  if (where.empty()) {
    const char* given = std::getenv("SARRUS_PEERS");
    where =
        given != nullptr && *given != '\0' ? fs::path(given) : fs::read_symlink("/proc/self/exe", error).parent_path();
  }
  const fs::path program = where / ("sarrus-peer-" + engine);
  return fs::is_regular_file(program, error) ? program : fs::path();
}

std::vector<PeerRun> run_peers(const PeerOptions& options, const PeerProgress& progress) {
  for (const std::string& scene : options.scenes) make_scene(scene);  // throws for unknown ones
  require_known("--engines", options.engines, peer_engines());
  std::vector<Task> tasks;
  for (const std::string& scene : options.scenes) {
    for (const std::string& engine : options.engines) {
      tasks.push_back({scene, engine, "default"});
      if (engine != "sarrus") tasks.push_back({scene, engine, "stiff"});
    }
  }
  std::vector<PeerRun> runs;
  for (const Task& task : tasks) {
    if (progress) {
      progress(static_cast<int>(runs.size()), static_cast<int>(tasks.size()),
               fmt::format("{} {} {}", task.scene, task.engine, task.setting));
    }
    runs.push_back(run_task(task, options));
  }
  return runs;
}

}  // namespace sarrus
