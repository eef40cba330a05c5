// `sarrus run`: simulates a scene, prints a judged summary, writes what was asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "commands.h"
#include "output_file.h"
#include "problem_dump.h"
#include "progress.h"
#include "run_options.h"
#include "sarrus/io/csv_log.h"
#include "sarrus/io/recording.h"
#include "sarrus/io/run_summary.h"
#include "sarrus/io/svg_strip.h"
#include "sarrus/math/error.h"
#include "sarrus/step/simulation.h"
#include "scene_argument.h"

namespace sarrus::app {
namespace {

// The files of a run, opened before it starts.
class Outputs {
 public:
  Outputs(const RunArguments& a, const Simulation& sim, const RunInfo& info)
      : json_("--json", a.json),
        csv_("--csv", a.csv),
        record_("--record", a.record),
        svg_("--svg", a.svg),
        record_every_(a.record_every) {
    const Energy start = energy(sim.model(), sim.state());
    if (csv_.wanted()) log_.emplace(csv_.path(), sim.model());
    if (record_.wanted()) {
      recording_.emplace(record_.path(), sim.model(), info);
      recording_->add_initial(sim.state(), start);
    }
    if (svg_.wanted()) {
      strip_.emplace(sim.model(), sim.time(), sim.time() + info.duration);
      strip_->observe(sim.state(), {}, {});
    }
  }

  void add(const Simulation& sim, const Energy& now, std::int64_t step, bool last) {
    if (log_) log_->add(sim.state(), sim.report(), now);
    const bool record = recording_ && (last || step % record_every_ == 0);
    const bool draw = strip_ && strip_->wants(sim.time());
    if (!record && !draw) return;
    impulses_.clear();
    for (int i = 0; i < static_cast<int>(sim.contacts().size()); ++i) impulses_.push_back(sim.contact_impulse_W(i));
    if (record) recording_->add(sim.state(), sim.report(), now, sim.contacts(), impulses_);
    if (draw) strip_->observe(sim.state(), sim.contacts(), impulses_);
  }

  void finish(const Simulation& sim, const RunSummary& summary) {
    if (log_) log_->close();
    csv_.commit();
    if (recording_) recording_->close();
    record_.commit();
    if (strip_) {
      strip_->finish(sim.state());
      svg_.write(strip_->to_svg(summary));
    }
    json_.write(summary.to_json_text());
  }

 private:
  OutputFile json_;
  OutputFile csv_;
  OutputFile record_;
  OutputFile svg_;
  int record_every_;
  std::optional<CsvLog> log_;
  std::optional<RecordingWriter> recording_;
  std::optional<SvgStrip> strip_;
  std::vector<Vec3> impulses_;  // of the last step's contacts, world axes, N s
};

void refuse_equal_paths(const RunArguments& a) {
  const std::pair<const char*, const std::string*> files[] = {
      {"--json", &a.json}, {"--csv", &a.csv}, {"--record", &a.record}, {"--svg", &a.svg}};
  std::map<std::filesystem::path, const char*> taken;
  for (const auto& [option, path] : files) {
    if (path->empty()) continue;
    std::error_code ignored;
    const auto [other, fresh] = taken.emplace(std::filesystem::weakly_canonical(*path, ignored), option);
    if (fresh) continue;
    throw InputError(option, fmt::format("names the same file as {}: '{}'; give two names", other->second, *path));
  }
}

int run(const RunArguments& a) {
  const Model model = resolve_scene(a.scene);
  const RunInfo info = run_info(a, model);
  refuse_equal_paths(a);
  Simulation sim(model, info.options);
  const ProblemDump dump(a.dump_problems, info.scene, a.every);
  Outputs outputs(a, sim, info);
  RunSummary summary(info, sim.state(), energy(model, sim.state()));

  // A duration that is a multiple of dt but for rounding takes exactly that many steps.
  const auto steps = std::max<std::int64_t>(1, std::llround(std::ceil(info.duration / info.dt - 1e-6)));
  {
    Progress progress(!a.quiet, info.duration);
    for (std::int64_t step = 1; step <= steps; ++step) {
      const StepReport& report = sim.step();
      const Energy now = energy(model, sim.state());
      summary.add(report, now);
      dump.add(sim, step);
      if (report.status == StepStatus::failed) break;
      outputs.add(sim, now, step, step == steps);
      progress.update(sim.time());
    }
  }
  summary.finish(sim.state());
  outputs.finish(sim, summary);
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
      "cover the step alone, not the writing of files. The relative energy drift is\n"
      "  (final - initial energy) / (largest kinetic energy during the run),\n"
      "0 if nothing moved; drives, friction and impacts change the energy for physical reasons.\n"
      "status: ok, all steps converged; ok_with_warnings, some were accepted above the tolerance, needed the\n"
      "fallback solver or shorter steps; failed, a step failed: the files then hold the part before it.\n"
      "Exit codes: 0 ok, 2 bad input, 3 the simulation failed.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace sarrus::app
