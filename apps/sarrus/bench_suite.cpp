// `sarrus bench suite` and its parts: plan, work off (alone or as one of many ranks), report.
#include "bench_suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "sarrus/bench/report.h"
#include "sarrus/bench/suite.h"
#include "sarrus/bench/summary_text.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/work/ranks.h"
#include "suite_progress.h"

namespace sarrus::app {
namespace {

namespace fs = std::filesystem;
using BenchClock = std::chrono::steady_clock;

struct SuiteArguments {
  BenchKind kind = BenchKind::suite;
  std::vector<std::string> systems, solvers, run_solvers;
  bool quick = false;
  bool keep = false;
  bool quiet = false;
  bool instructions = false;
  int samples = 0;
  int repeats = 0;
  std::vector<int> sizes;
  std::vector<std::string> families;
  double patience = 10;
  std::string json, csv, html, work;
};

std::string joined(const char* option, const std::vector<std::string>& list) {
  return list.empty() ? std::string() : fmt::format(" {} {}", option, fmt::join(list, ","));
}

// Without the names of output files: what others would type to get the same figures.
std::string command_text(const SuiteArguments& a) {
  std::string out = fmt::format("sarrus bench {}", name_of(a.kind));
  if (a.quick) out += " --quick";
  out += joined("--systems", a.systems) + joined("--solvers", a.solvers) + joined("--run-solvers", a.run_solvers);
  if (a.samples > 0) out += fmt::format(" --samples {}", a.samples);
  if (a.repeats > 0) out += fmt::format(" --repeats {}", a.repeats);
  if (a.instructions) out += " --instructions";
  out += joined("--families", a.families);
  if (!a.sizes.empty()) out += fmt::format(" --sizes {}", fmt::join(a.sizes, ","));
  return out;
}

std::vector<std::string> without_all(const std::vector<std::string>& list) {
  return list.size() == 1 && list[0] == "all" ? std::vector<std::string>() : list;
}

SuiteOptions suite_options(const SuiteArguments& a) {
  SuiteOptions o;
  o.kind = a.kind;
  if (a.quick) o = quick_options(o);
  o.systems = without_all(a.systems);
  o.solvers = without_all(a.solvers);
  const std::vector<std::string>& advance = a.kind == BenchKind::scenes ? a.solvers : a.run_solvers;
  if (!advance.empty()) o.run_solvers = advance;
  if (o.run_solvers == std::vector<std::string>{"all"}) {
    o.run_solvers.clear();
    for (const SolverInfo& s : solver_registry()) o.run_solvers.emplace_back(s.id);
  }
  if (a.samples != 0) o.samples.count = a.samples;
  if (a.repeats != 0) o.replay.repeats = a.repeats;
  if (!a.sizes.empty()) o.scaling.sizes = a.sizes;
  o.scaling.families = without_all(a.families);
  for (const std::string& f : o.scaling.families) {
    const auto& all = scaling_families();
    if (std::ranges::find(all, f, &ScalingFamily::name) != all.end()) continue;
    throw InputError("--families", fmt::format("'{}' is none; give chain, tree, grid, pile, pile-cold or islands", f));
  }
  o.replay.instructions = a.instructions;
  if (o.samples.count < 1) throw InputError("--samples", fmt::format("is {}; give at least 1", o.samples.count));
  if (o.replay.repeats < 1) throw InputError("--repeats", fmt::format("is {}; give at least 1", o.replay.repeats));
  for (const int n : o.scaling.sizes) {
    if (n < 4 || n > 1000000) throw InputError("--sizes", fmt::format("{} bodies; give 4 to 1000000", n));
  }
  o.command = command_text(a);
  o.version = SARRUS_VERSION;
  return o;
}

const std::string csv_of(const BenchResult& r) {
  return r.kind == "scenes" ? runs_csv(r) : r.kind == "scaling" ? scaling_csv(r) : solves_csv(r);
}

int run_suite(const SuiteArguments& a) {
  const BenchClock::time_point start = BenchClock::now();
  Ranks ranks;
  const SuiteOptions options = suite_options(a);
  const fs::path folder =
      ranks.share(a.work.empty() ? fmt::format("out/bench-{}{}", name_of(a.kind), a.quick ? "-quick" : "") : a.work);
  std::unique_ptr<OutputFile> json, csv, html;
  if (ranks.first()) {
    json = std::make_unique<OutputFile>("--json", a.json);
    csv = std::make_unique<OutputFile>("--csv", a.csv);
    html = std::make_unique<OutputFile>("--html", a.html);
    plan_suite(options, folder);  // refuses a folder of another benchmark before anybody works in it
  }
  ranks.require_shared(folder / "plan.json");
  const SuitePlan plan = plan_suite(options, folder);
  prepare_last_words(folder);
  std::vector<std::string> lost;
  {
    WorkFolder work(folder, ranks.name(), a.patience);
    SuiteProgress progress(ranks.first() && !a.quiet);
    work.run(suite_units(plan), [&](const WorkFolder::Progress& p) { progress(p); });
    lost = work.lost();
  }
  for (const std::string& worker : lost) {
    fmt::print(stderr, "sarrus: warning: {} was lost; its unit was done again by {}\n", worker, ranks.name());
  }
  if (!lost.empty()) ranks.forget_others();
  if (!ranks.first()) return kExitOk;
  BenchResult result = assemble_suite(plan);
  result.machine.ranks = ranks.size();
  result.seconds = std::chrono::duration<double>(BenchClock::now() - start).count();
  json->write(to_json(result));
  csv->write(csv_of(result));
  if (html->wanted()) html->write(html_report(result));
  if (!a.quiet) fmt::print("{}", to_text(result));
  if (!a.keep) remove_when_deserted(folder, 2);
  return kExitOk;
}

struct SamplesArguments {
  std::vector<std::string> systems;
  std::string out;
  int samples = 0;
  bool quick = false;
};

// The fixed sample set as files, and its hashes for comparison with another machine's.
void write_samples(const SamplesArguments& a) {
  SuiteOptions o;
  if (a.quick) o = quick_options(o);
  if (a.samples != 0) o.samples.count = a.samples;
  std::vector<std::string> ids = without_all(a.systems);
  if (ids.empty()) {
    for (const BenchSystem& s : bench_systems()) {
      if (s.quick || !a.quick) ids.push_back(s.id);
    }
  }
  for (const std::string& id : ids) bench_system(id);
  std::vector<SampleInfo> all;
  for (const std::string& id : ids) {
    const SampleSet set = record_samples(bench_system(id), o.samples);
    save_samples(a.out, set);
    for (const Sample& s : set.samples) {
      all.push_back(s.info);
      fmt::print("{}  {:<28} {:<20} {:>6} rows {:>5} contacts\n", s.info.hash, s.info.id, name_of(s.info.category),
                 s.info.rows, s.info.contacts);
    }
    if (!set.run.message.empty()) fmt::print(stderr, "sarrus: warning: {}: {}\n", id, set.run.message);
  }
  fmt::print("{}  the whole set, {} samples\n", set_hash(all), all.size());
}

void list_systems() {
  fmt::print("{:<22}{:>7}{:>7}{:>6}{:>6}{:>6}{:>9}{:>12}  {}\n", "system", "bodies", "joints", "loops", "rows", "rank",
             "mobility", "mass ratio", "group");
  for (const BenchSystem& s : bench_systems()) {
    const SystemInfo i = describe(s, s.make());
    fmt::print("{:<22}{:>7}{:>7}{:>6}{:>6}{:>6}{:>9}{:>12.2f}  {}\n", i.id, i.bodies, i.joints, i.loops, i.joint_rows,
               i.joint_rank, i.mobility, i.mass_ratio, i.group);
  }
}

void add_suite_command(CLI::App& bench, BenchKind kind, const char* what, int& exit_code) {
  auto a = std::make_shared<SuiteArguments>();
  a->kind = kind;
  CLI::App* c = bench.add_subcommand(std::string(name_of(kind)), what);
  if (kind != BenchKind::scaling) {
    c->add_option("--systems", a->systems, "Systems (see sarrus bench systems); default all")
        ->delimiter(',')
        ->type_name("LIST");
    c->add_option(
         "--solvers", a->solvers,
         kind == BenchKind::scenes ? "Solvers that advance the systems" : "Solvers that get the samples; default all")
        ->delimiter(',')
        ->type_name("LIST");
  } else {
    c->add_option("--sizes", a->sizes, "Numbers of bodies")->delimiter(',')->type_name("LIST");
    c->add_option("--families", a->families, "chain, tree, grid, pile, pile-cold, islands; default all")
        ->delimiter(',')
        ->type_name("LIST");
  }
  if (kind == BenchKind::suite) {
    c->add_option("--run-solvers", a->run_solvers, "Solvers that advance whole simulations")
        ->delimiter(',')
        ->type_name("LIST");
  }
  if (kind == BenchKind::suite || kind == BenchKind::solvers) {
    c->add_option("--samples", a->samples, "Samples of a system (8; 3 with --quick)")->type_name("N");
    c->add_option("--repeats", a->repeats, "Repeats of a timed solve, the smallest counts (5; 3 with --quick)")
        ->type_name("N");
    c->add_flag("--instructions", a->instructions, "Count processor instructions too, where the system permits");
  }
  c->add_flag("--quick", a->quick, "Fewer systems and samples, shorter runs: under 3 minutes");
  c->add_option("--json", a->json, "All records, for programs and `sarrus bench compare`")->type_name("FILE");
  c->add_option("--csv", a->csv, "The main table")->type_name("FILE");
  c->add_option("--html", a->html, "Report: one self-contained page")->type_name("FILE");
  c->add_option("--work", a->work, "Folder of unfinished work (default out/bench-...), on a file system all ranks see")
      ->type_name("DIR");
  c->add_flag("--keep", a->keep, "Keep the work folder: samples and records, one file a unit");
  c->add_option("--patience", a->patience, "Seconds without a sign of life after which a rank counts as lost")
      ->type_name("S")
      ->capture_default_str();
  c->add_flag("--quiet", a->quiet, "No progress, no tables");
  c->footer(
      "Interrupted, the same command goes on where it stopped. Several processes may share the work:\n"
      "  mpirun -n 4 sarrus bench suite --html report.html        (built with -DSARRUS_MPI=ON)\n"
      "Residuals are the judge's; a solve that fails, refuses or is too large counts as not solved.");
  c->callback([a, &exit_code] { exit_code = run_suite(*a); });
}

}  // namespace

void add_bench_suite(CLI::App& bench, int& exit_code) {
  add_suite_command(bench, BenchKind::suite, "Everything: recorded problems to all solvers, and whole simulations",
                    exit_code);
  add_suite_command(bench, BenchKind::solvers, "Recorded problems to all solvers", exit_code);
  add_suite_command(bench, BenchKind::scenes, "Whole simulations, advanced by several solvers", exit_code);
  add_suite_command(bench, BenchKind::scaling, "Time and memory of a step against size and threads", exit_code);
  CLI::App* systems = bench.add_subcommand("systems", "The systems of the benchmark, one line each");
  systems->callback([] { list_systems(); });
  auto a = std::make_shared<SamplesArguments>();
  CLI::App* samples = bench.add_subcommand("samples", "Write the fixed sample set as problem files, print its hashes");
  samples->add_option("--out", a->out, "Folder of the files")->type_name("DIR")->required();
  samples->add_option("--systems", a->systems, "Systems; default all")->delimiter(',')->type_name("LIST");
  samples->add_option("--samples", a->samples, "Samples of a system")->type_name("N");
  samples->add_flag("--quick", a->quick, "The set of --quick");
  samples->callback([a] { write_samples(*a); });
}

}  // namespace sarrus::app
