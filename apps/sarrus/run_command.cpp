// `sarrus run`: simulates a scene, prints a judged summary, writes what was asked for.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <vector>

#include "commands.h"
#include "progress.h"
#include "run_options.h"
#include "sarrus/math/error.h"
#include "sarrus/recording/run_sink.h"
#include "sarrus/step/simulation.h"
#include "scene_argument.h"

namespace sarrus::app {
namespace {

void refuse_equal_paths(const RunArguments& a) {
  const std::pair<const char*, const std::string*> files[] = {{"--json", &a.json},
                                                              {"--csv", &a.csv},
                                                              {"--csv-contacts", &a.csv_contacts},
                                                              {"--record", &a.record},
                                                              {"--svg", &a.svg}};
  std::map<std::filesystem::path, const char*> taken;
  for (const auto& [option, path] : files) {
    if (path->empty()) continue;
    std::error_code ignored;
    const auto [other, fresh] = taken.emplace(std::filesystem::weakly_canonical(*path, ignored), option);
    if (fresh) continue;
    throw InputError(option, fmt::format("names the same file as {}: '{}'; give two names", other->second, *path));
  }
}

// What the run shall leave behind.
std::vector<std::unique_ptr<RunSink>> make_sinks(const RunArguments& a) {
  refuse_equal_paths(a);
  std::vector<std::unique_ptr<RunSink>> sinks;
  if (!a.json.empty()) sinks.push_back(json_sink(a.json));
  if (!a.csv.empty()) sinks.push_back(csv_sink(a.csv));
  if (!a.csv_contacts.empty()) sinks.push_back(contact_csv_sink(a.csv_contacts));
  if (!a.record.empty()) sinks.push_back(recording_sink(a.record, a.record_every));
  if (!a.svg.empty()) sinks.push_back(svg_sink(a.svg, a.svg_options));
  if (!a.dump_problems.empty()) sinks.push_back(problem_sink(a.dump_problems, a.every));
  return sinks;
}

// Geoms without a name are called by their body.
std::string geom_name(const Model& model, int geom) {
  const Geom& g = model.geoms()[static_cast<std::size_t>(geom)];
  if (!g.name.empty()) return fmt::format("'{}'", g.name);
  return g.body == kWorld ? "the world" : fmt::format("'{}'", model.bodies()[static_cast<std::size_t>(g.body)].name);
}

std::vector<std::string> overlap_texts(const Simulation& sim) {
  std::vector<std::string> out;
  for (const Simulation::Overlap& o : sim.initial_overlaps()) {
    out.push_back(fmt::format("{} and {} overlap by {:.3g} m; they are pushed apart", geom_name(sim.model(), o.geom_a),
                              geom_name(sim.model(), o.geom_b), o.depth));
  }
  return out;
}

int run(const RunArguments& a) {
  const Model model = resolve_scene(a.scene);
  const RunLength length = run_length(a, model);
  Simulation sim(model, a.options);
  const std::vector<std::unique_ptr<RunSink>> sinks = make_sinks(a);
  RunSummary summary({model.name(), length.duration, sim.options(), SARRUS_VERSION}, sim.state(),
                     energy(model, sim.state()), overlap_texts(sim));
  for (const auto& sink : sinks) sink->begin(sim, summary.info());
  {
    Progress progress(!a.quiet, length.duration);
    for (std::int64_t step = 1; step <= length.steps && !summary.failed(); ++step) {
      const StepReport& report = sim.step();
      const Energy now = energy(model, sim.state());
      summary.add(report, now);
      for (const auto& sink : sinks) sink->step({sim, now, step, step == length.steps});
      progress.update(sim.time());
    }
  }
  summary.finish(sim.state(), sim.energy_bound());
  for (const auto& sink : sinks) sink->finish(sim, summary);
  if (!a.quiet) fmt::print("{}", summary.to_text());
  if (!summary.failed()) return kExitOk;
  fmt::print(stderr, "sarrus: error: {}\n", sim.report().message);
  return kExitSimulationFailed;
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
      "the start; failed, a step failed: the files then hold the part before it.\n"
      "Exit codes: 0 ok, 2 bad input, 3 the simulation failed.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace sarrus::app
