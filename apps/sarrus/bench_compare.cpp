// `sarrus bench compare A B` (results, or builds) and `sarrus bench report FILE...`.
#include "bench_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "sarrus/bench/compare.h"
#include "sarrus/bench/compare_builds.h"
#include "sarrus/bench/peer_section.h"
#include "sarrus/bench/report.h"
#include "sarrus/bench/result.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::app {
namespace {

constexpr std::uintmax_t kMaxResult = std::uintmax_t{1} << 30;  // bytes

std::string read_result_text(const std::string& file) {
  return read_file(file, "a file of `sarrus bench ... --json`", kMaxResult);
}

BenchResult read_result(const std::string& file) { return bench_result_from_json(read_result_text(file), file); }

struct CompareArguments {
  std::string a, b, json;
  std::vector<std::string> scenes;
  int rounds = 3;
  double duration = 0;
  bool for_builds = false;  // an option was given that only they have
};

// A program, and no result of a run.
bool is_command(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  return !error && fs::is_regular_file(status) && (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
}

int run_compare_builds(const CompareArguments& a, OutputFile& json) {
  BuildComparisonOptions options;
  options.old_command = std::filesystem::absolute(a.a);
  options.new_command = std::filesystem::absolute(a.b);
  options.scenes = a.scenes;
  options.rounds = a.rounds;
  options.duration = a.duration;
  for (const std::string& scene : a.scenes) make_scene(scene);  // refuses what is none before anything runs
  bool head = true;
  bool problem = false;
  json.write(to_json(compare_builds(options, [&](const BuildComparison::Row& row) {
    fmt::print("{}{}", head ? markdown_head() : "", to_markdown(row));
    head = false;
    problem = problem || !row.problem.empty();
    std::fflush(stdout);
  })));
  return problem ? kExitSimulationFailed : kExitOk;
}

int run_compare(const CompareArguments& a) {
  OutputFile json("--json", a.json);
  const bool builds = is_command(a.a);
  if (builds != is_command(a.b)) {
    throw InputError("bench compare",
                     fmt::format("'{}' is a command and '{}' is none; give two results or two commands",
                                 builds ? a.a : a.b, builds ? a.b : a.a));
  }
  if (builds) return run_compare_builds(a, json);
  if (a.for_builds) {
    throw InputError("bench compare", "--scenes, --rounds and --duration are for two commands, and these are results");
  }
  const Comparison c = compare(read_result(a.a), read_result(a.b));
  json.write(to_json(c));
  fmt::print("{}", to_text(c));
  return c.worse ? kExitSimulationFailed : kExitOk;
}

// Adds what another run measured; each kind of record may come from one run only.
void join(BenchResult& all, BenchResult&& more, const std::string& file) {
  const auto refuse = [&](const char* what) {
    throw InputError(file, fmt::format("has {} like a file before it; give one of them", what));
  };
  if (!more.solves.empty() || !more.runs.empty()) {
    if (!all.solves.empty() || !all.runs.empty()) refuse("solves or runs");
    more.scaling.insert(more.scaling.begin(), all.scaling.begin(), all.scaling.end());
    more.command += "; " + all.command;
    more.seconds += all.seconds;
    all = std::move(more);
    return;
  }
  if (!more.scaling.empty() && !all.scaling.empty()) refuse("scaling");
  all.scaling = std::move(more.scaling);
  all.command += "; " + more.command;
  all.seconds += more.seconds;
}

struct ReportArguments {
  std::vector<std::string> files;
  std::string html;
};

void run_report(const ReportArguments& a) {
  OutputFile html("--html", a.html);
  std::optional<BenchResult> all;
  std::vector<ReportSection> sections;
  for (const std::string& file : a.files) {
    const std::string text = read_result_text(file);
    if (text.find("\"sarrus-peers\"") < 200) {
      const PeerReport peers = peer_report_from_json(text);
      std::ranges::move(peer_sections(peers, peers.command), std::back_inserter(sections));
      continue;
    }
    BenchResult result = bench_result_from_json(text, file);
    if (all) {
      join(*all, std::move(result), file);
    } else {
      all = std::move(result);
    }
  }
  if (!all)
    throw InputError("bench report", "needs a result of suite, solvers, scenes or scaling besides those of peers");
  html.write(html_report(*all, sections));
}

}  // namespace

void add_bench_compare(CLI::App& bench, int& exit_code) {
  auto c = std::make_shared<CompareArguments>();
  CLI::App* compare = bench.add_subcommand(
      "compare", "What got better or worse between two runs, beyond noise, or between two builds of this command");
  compare->add_option("A", c->a, "Result of the earlier run (--json), or the earlier build's command")->required();
  compare->add_option("B", c->b, "Result of the later run, or the later build's command")->required();
  compare->add_option("--json", c->json, "The comparison for programs")->type_name("FILE");
  compare->add_option("--scenes", c->scenes, "Builds: scenes to run in turn (default: all built-in ones)")
      ->delimiter(',');
  compare->add_option("--rounds", c->rounds, "Builds: how often; the best time counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  compare->add_option("--duration", c->duration, "Builds: seconds to simulate (default: each scene's own)")
      ->check(CLI::PositiveNumber);
  compare->footer(
      "Exit codes: 0 nothing got worse, 2 bad input, 3 something got worse beyond noise (results) or a scene failed "
      "(builds, whose times are shown and not judged).");
  compare->callback([c, compare, &exit_code] {
    for (const char* option : {"--scenes", "--rounds", "--duration"}) {
      c->for_builds = c->for_builds || compare->count(option) > 0;
    }
    exit_code = run_compare(*c);
  });

  auto r = std::make_shared<ReportArguments>();
  CLI::App* report = bench.add_subcommand("report", "One page from stored results: suite, scaling, peers");
  report->add_option("FILE", r->files, "Results (--json of suite, solvers, scenes, scaling, peers)")->required();
  report->add_option("--html", r->html, "The page")->required()->type_name("FILE");
  report->callback([r] { run_report(*r); });
}

}  // namespace sarrus::app
