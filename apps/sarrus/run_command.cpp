// `sarrus run`: simulates a scene, prints a judged summary, writes what was asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "commands.h"
#include "graceful_stop.h"
#include "progress.h"
#include "run_options.h"
#include "run_outputs.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/recording/checkpoint.h"
#include "sarrus/step/simulation.h"
#include "scene_argument.h"

namespace sarrus::app {
namespace {

// Geoms without a name are called by their body.
std::string geom_name(const Model& model, int geom) {
  const Geom& g = model.geoms()[static_cast<std::size_t>(geom)];
  if (!g.name.empty()) return fmt::format("'{}'", g.name);
  return g.body == kWorld ? "the world" : fmt::format("'{}'", model.bodies()[static_cast<std::size_t>(g.body)].name);
}

// The worst of them: a heap of spheres in one place has half a million.
std::vector<std::string> overlap_texts(const Simulation& sim) {
  constexpr std::size_t kShown = 1000;
  std::vector<std::string> out;
  for (const Simulation::Overlap& o : sim.initial_overlaps()) {
    if (out.size() == kShown) {
      out.push_back(fmt::format("and {} overlaps that are less deep", sim.initial_overlaps().size() - kShown));
      break;
    }
    out.push_back(fmt::format("{} and {} overlap by {:.3g} m; they are pushed apart", geom_name(sim.model(), o.geom_a),
                              geom_name(sim.model(), o.geom_b), o.depth));
  }
  return out;
}

void resume(const std::string& file, RunLength& length, Simulation& sim) {
  try {
    sim.restore(load_checkpoint(file));
  } catch (const InputError& e) {
    throw InputError("--resume", fmt::format("{}: {}", file, e.what()));
  }
  length.first = std::llround(sim.time() / sim.dt()) + 1;
  if (length.first <= length.steps) return;
  throw InputError(
      "--resume", fmt::format("{}: the checkpoint is at t = {:g} s, where the run ends; give a longer --duration", file,
                              sim.time()));
}

// Steps until the end, a failure or a signal. What is thrown on the way ends the run, too, and is kept.
std::exception_ptr take_steps(const RunArguments& a, const RunLength& length, Simulation& sim, RunSummary& summary,
                              const GracefulStop& stop, RunOutputs& outputs) {
  Progress progress(!a.quiet, length.duration);
  bool last = false;
  try {
    for (std::int64_t step = length.first; !last && !summary.failed(); ++step) {
      const StepReport& report = sim.step();
      const Energy now = energy(sim.model(), sim.state());
      summary.add(report, now);
      last = step == length.steps || stop.requested();
      if (step < length.steps && stop.requested()) summary.interrupt();
      outputs.step({sim, now, step, last});
      if (outputs.failed()) break;
      progress.update(sim.time());
    }
  } catch (...) {
    summary.interrupt();
    return std::current_exception();
  }
  if (outputs.failed() && !last) summary.interrupt();
  return nullptr;
}

int run(const RunArguments& a) {
  const GracefulStop stop;  // from here on: a signal while the scene is read ends the run after a step
  ImportReport report;
  SceneArgument scene = a.scene;
  scene.import.visuals = !a.svg.empty() || !a.html.empty() || !a.record.empty();
  const Model model = resolve_scene(scene, &report);
  if (!a.quiet) print_warnings(report);
  Simulation sim(model, a.options);
  RunLength length = run_length(a, model);
  if (!a.resume.empty()) resume(a.resume, length, sim);
  RunOutputs outputs(a);
  RunSummary summary({model.name(), length.duration, sim.options(), SARRUS_VERSION}, sim.state(),
                     energy(model, sim.state()), a.resume.empty() ? overlap_texts(sim) : std::vector<std::string>());
  outputs.begin(sim, summary.info());
  const std::exception_ptr error = take_steps(a, length, sim, summary, stop, outputs);
  summary.finish(sim.state(), sim.energy_bound());
  outputs.finish(sim, summary);
  if (error) std::rethrow_exception(error);
  outputs.rethrow();
  if (!a.quiet && !OutputFile::is_standard_output(a.json)) fmt::print("{}", summary.to_text());
  if (summary.failed()) {
    fmt::print(stderr, "sarrus: error: {}\n", sim.report().message);
    return kExitSimulationFailed;
  }
  return summary.status() == "interrupted" ? kExitInterrupted : kExitOk;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Simulate a scene and print a judged summary");
  add_options(*command, *arguments);
  command->footer(
      "Residuals are computed by one judge from the problem and the answer, not by the solver. Times per step\n"
      "cover the step alone, not the writing of files. Energy that is unaccounted for is the change of kinetic\n"
      "and potential energy less the work of drives and outer forces, plus what friction, impacts and dampers\n"
      "took: the error of the scheme.\n"
      "status: ok, all steps converged; ok_with_warnings, some were accepted above the tolerance, needed the\n"
      "fallback solver or shorter steps, energy was created beyond the scheme's bound, or shapes overlapped at\n"
      "the start; interrupted, SIGINT, SIGTERM or SIGHUP ended the run; failed, a step failed: the files then hold\n"
      "the part before it. A run that is killed leaves what it had flushed as FILE.unfinished.\n"
      "Exit codes: 0 ok, 2 bad input or an output that cannot be written, 3 the simulation failed, 130 interrupted.");
  command->callback([arguments, &exit_code] {
    settle_every(*arguments);
    exit_code = run(*arguments);
  });
}

}  // namespace sarrus::app
