// `sarrus batch`: sweeps over the parameters of a model, on threads and ranks.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "commands.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/hash.h"
#include "sarrus/model/fingerprint.h"
#include "sarrus/sweep/results.h"
#include "sarrus/work/ranks.h"
#include "scene_argument.h"
#include "suite_progress.h"
#include "work_plan.h"

namespace sarrus::app {
namespace {

namespace fs = std::filesystem;

struct BatchArguments {
  std::string spec;
  std::string out = "out/batch.h5";
  std::string csv;
  std::string work;
  int threads = 0;
  bool list = false;
  bool quiet = false;
};

// The scene of a specification, beside it if it is a file.
Model sweep_scene(const fs::path& spec_file, const SweepSpec& spec) {
  SceneArgument scene;
  const fs::path beside = spec_file.parent_path() / spec.scene;
  scene.scene = fs::exists(beside) ? beside.string() : spec.scene;
  return resolve_scene(scene);
}

SweepPlan sweep_plan(const std::string& file) {
  SweepSpec spec = read_sweep(file);
  Model model = sweep_scene(file, spec);
  try {
    return {std::move(spec), std::move(model)};
  } catch (const InputError& e) {
    throw InputError(file, e.what());
  }
}

void print_runs(const SweepPlan& plan) {
  fmt::print("run");
  for (const SweepAxis& a : plan.spec().axes) fmt::print(",{}", a.target);
  fmt::print("\n");
  for (int i = 0; i < plan.runs(); ++i) {
    fmt::print("{}", i);
    for (const double x : plan.values(i)) fmt::print(",{}", x);
    fmt::print("\n");
  }
}

// Threads of one process share the folder like processes do.
std::vector<std::string> work_on(const std::vector<WorkUnit>& units, const fs::path& folder, const std::string& name,
                                 int threads, bool show) {
  std::vector<std::string> lost;
  std::exception_ptr error;
  std::mutex mutex;
  const auto run = [&](int thread) {
    try {
      WorkFolder mine(folder, thread == 0 ? name : fmt::format("{}.{}", name, thread));
      SuiteProgress progress(show && thread == 0);
      mine.run(units, [&](const WorkFolder::Progress& p) { progress(p); });
      const std::lock_guard lock(mutex);
      lost.insert(lost.end(), mine.lost().begin(), mine.lost().end());
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(run, i);
  run(0);
  for (std::thread& t : others) t.join();
  if (error) std::rethrow_exception(error);
  return lost;
}

int run_batch(const BatchArguments& a) {
  if (a.threads < 0 || a.threads > 1024) {
    throw InputError("--threads", fmt::format("is {}; give 0 (all cores) to 1024", a.threads));
  }
  Ranks ranks;
  const SweepPlan plan = sweep_plan(a.spec);
  if (a.list) {
    if (ranks.first()) print_runs(plan);
    return kExitOk;
  }
  OutputFile out("--out", ranks.first() ? a.out : "");
  OutputFile csv("--csv", ranks.first() ? a.csv : "");
  const fs::path folder = a.work.empty() ? fs::path(a.out + ".work") : fs::path(a.work);
  Hash64 of_spec;
  of_spec.bytes(plan.spec().text.data(), plan.spec().text.size());
  const std::string command = fmt::format("sarrus batch, specification {:016x}, model {:016x}, {} steps of {} s",
                                          of_spec.value(), fingerprint(plan.model()), plan.steps(), plan.dt());
  if (ranks.first()) require_same_plan(folder, command);
  ranks.require_shared(folder / "plan.txt");
  prepare_last_words(folder);
  const std::vector<WorkUnit> units = sweep_units(plan, folder);
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = a.threads > 0 ? a.threads : ranks.size() > 1 ? 1 : cores;
  const std::vector<std::string> lost = work_on(
      units, folder, ranks.name(), std::min(threads, static_cast<int>(units.size())), ranks.first() && !a.quiet);
  for (const std::string& worker : lost) {
    fmt::print(stderr, "sarrus: warning: {} was lost; its unit was finished by {}\n", worker, ranks.name());
  }
  if (!lost.empty()) ranks.forget_others();
  if (!ranks.first()) return kExitOk;
  std::string rows;
  const SweepCounts counts =
      write_sweep(plan, units, out.path().string(), SARRUS_VERSION, csv.wanted() ? &rows : nullptr);
  out.commit();
  csv.write(rows);
  if (!a.quiet) {
    fmt::print("{} runs of {} steps: {} finished, {} failed, {} refused{}\n", plan.runs(), plan.steps(),
               counts.finished, counts.failed, counts.refused,
               counts.creates_energy > 0 ? fmt::format(", {} created energy", counts.creates_energy) : "");
    if (counts.first_run >= 0) fmt::print("run {}: {}\n", counts.first_run, counts.first_message);
    fmt::print("results in {}\n", a.out);
  }
  remove_when_deserted(folder, 2);
  return ranks.ends_with(counts.finished > 0 ? kExitOk : kExitSimulationFailed);
}

}  // namespace

void add_batch_command(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<BatchArguments>();
  CLI::App* batch = app.add_subcommand("batch", "Many runs of a scene: sweeps over its parameters and Monte Carlo");
  batch->add_option("spec", a->spec, "What varies and how (JSON, docs/batch.md)")->required()->type_name("SPEC.json");
  batch->add_option("--out", a->out, "Results, one HDF5 file")->type_name("FILE")->capture_default_str();
  batch->add_option("--csv", a->csv, "A row for each run, too: values, status, figures")->type_name("FILE");
  batch->add_option("--work", a->work, "Folder of unfinished work; default: FILE.work")->type_name("DIR");
  batch->add_option("--threads", a->threads, "Runs at the same time; 0: as many as there are cores, under mpirun 1")
      ->type_name("N")
      ->capture_default_str();
  batch->add_flag("--list", a->list, "Print every run and its values as CSV, and run nothing");
  batch->add_flag("--quiet", a->quiet, "No progress, no summary");
  batch->footer(
      "{\"scene\": \"fourbar_free\", \"samples\": 100, \"vary\": [\n"
      "  {\"target\": \"material.default.friction\", \"uniform\": [0.2, 0.9]},\n"
      "  {\"target\": \"body.*.mass\", \"values\": [0.9, 1, 1.1], \"factor\": true}]}\n"
      "Interrupted or killed, the same command goes on after the last finished run; other processes, also mpirun's,\n"
      "share the work. The results do not depend on who did it. Exit code 3: no run finished.");
  batch->callback([a, &exit_code] { exit_code = run_batch(*a); });
}

}  // namespace sarrus::app
