// `sarrus bench peers`: other engines and this one on the same scenes and problems, judged alike (docs/peers.md).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "sarrus/bench/peer_section.h"
#include "sarrus/bench/peers.h"
#include "sarrus/bench/suite.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/work/ranks.h"
#include "sarrus/work/work_folder.h"
#include "suite_progress.h"
#include "work_plan.h"

namespace sarrus::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxPeerFile = std::uintmax_t{256} << 20;  // bytes

struct PeersArguments {
  PeerOptions scenes;
  FclibOptions fclib;
  std::string json, csv, html, work;
  bool quick = false;
  bool quiet = false;
};

std::string peers_command_text(const PeersArguments& a) {
  std::string out = "sarrus bench peers";
  if (a.quick) out += " --quick";
  if (a.scenes.scenes != peer_scenes()) out += fmt::format(" --scenes {}", fmt::join(a.scenes.scenes, ","));
  if (a.scenes.engines != peer_engines()) out += fmt::format(" --engines {}", fmt::join(a.scenes.engines, ","));
  if (!a.fclib.folder.empty()) out += " --fclib DIR";
  return out;
}

// Families of problems: the subfolders of the collection, or itself if it has none.
std::vector<fs::path> fclib_families(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const fs::directory_entry& e : fs::directory_iterator(folder, error)) {
    if (e.is_directory()) out.push_back(e.path());
  }
  std::ranges::sort(out);
  if (out.empty()) out.push_back(folder);
  return out;
}

PeerReport run_family(const PeersArguments& a, const fs::path& family) {
  FclibOptions o = a.fclib;
  o.folder = family;
  PeerReport report;
  report.fclib = run_fclib_peers(o);
  for (FclibRun& r : report.fclib) r.problem = (family.filename() / r.problem).string();
  return report;
}

std::vector<WorkUnit> peer_units(const PeersArguments& a, const fs::path& folder) {
  std::vector<WorkUnit> units;
  const auto add = [&](const std::string& name, const std::function<PeerReport()>& run) {
    const fs::path result = folder / "results" / (name + ".json");
    units.push_back({name, result, {}, 1, [run, result] { write_file_atomically(result, to_json_text(run())); }});
  };
  for (const std::string& scene : a.scenes.scenes) {
    for (const std::string& engine : a.scenes.engines) {
      add(fmt::format("{}.{}", scene, engine), [&a, scene, engine] {
        PeerOptions o = a.scenes;
        o.scenes = {scene};
        o.engines = {engine};
        return PeerReport{run_peers(o), {}};
      });
    }
  }
  if (a.fclib.folder.empty()) return units;
  for (const fs::path& family : fclib_families(a.fclib.folder)) {
    add("fclib." + family.filename().string(), [&a, family] { return run_family(a, family); });
  }
  return units;
}

void check_peers(PeersArguments& a) {
  a.scenes.quick = a.fclib.quick = a.quick;
  for (const std::string& scene : a.scenes.scenes) make_scene(scene);
  for (const std::string& engine : a.scenes.engines) {
    if (std::ranges::find(peer_engines(), engine) != peer_engines().end()) continue;
    throw InputError("--engines", fmt::format("'{}' is not known; use {}", engine, fmt::join(peer_engines(), ", ")));
  }
  if (!a.fclib.folder.empty() && !fs::is_directory(a.fclib.folder)) {
    fmt::print(stderr, "sarrus: warning: --fclib {}: no such folder; Siconos is left out\n", a.fclib.folder.string());
    a.fclib.folder.clear();
  }
}

PeerReport collect_peers(const std::vector<WorkUnit>& units, const std::string& command) {
  PeerReport report;
  report.command = command;
  for (const WorkUnit& u : units) {
    PeerReport part = peer_report_from_json(read_file(u.result, "a file of records", kMaxPeerFile));
    std::ranges::move(part.scenes, std::back_inserter(report.scenes));
    std::ranges::move(part.fclib, std::back_inserter(report.fclib));
  }
  return report;
}

std::string page_of(const PeerReport& report, bool quick) {
  BenchResult frame;
  frame.kind = "peers";
  frame.command = report.command;
  frame.quick = quick;
  frame.machine = this_machine();
  frame.machine.version = SARRUS_VERSION;
  return html_report(frame, peer_sections(report, report.command));
}

void run_peers_command(PeersArguments a) {
  const Ranks ranks;
  if (!ranks.first()) a.json = a.csv = a.html = "";
  OutputFile json("--json", a.json), csv("--csv", a.csv), html("--html", a.html);
  check_peers(a);
  const std::string command = peers_command_text(a);
  const fs::path folder =
      a.work.empty() ? fs::path(a.quick ? "out/bench-peers-quick" : "out/bench-peers") : fs::path(a.work);
  require_same_plan(folder, command);
  ranks.require_shared(folder / "plan.txt");
  prepare_last_words(folder);
  const std::vector<WorkUnit> units = peer_units(a, folder);
  {
    WorkFolder work(folder, ranks.name());
    SuiteProgress progress(ranks.first() && !a.quiet);
    work.run(units, [&](const WorkFolder::Progress& p) { progress(p); });
  }
  if (!ranks.first()) return;
  const PeerReport report = collect_peers(units, command);
  json.write(to_json_text(report));
  csv.write(to_csv(report));
  if (html.wanted()) html.write(page_of(report, a.quick));
  if (!a.quiet) fmt::print("{}", to_text(report));
  if (a.fclib.folder.empty()) fmt::print("\nFCLIB problems left out: give the folder of the collection by --fclib\n");
  remove_when_deserted(folder, 2);
}

}  // namespace

void add_bench_peers(CLI::App& bench) {
  auto a = std::make_shared<PeersArguments>();
  CLI::App* peers = bench.add_subcommand("peers", "Other engines on our scenes, Siconos on FCLIB, judged alike");
  peers->add_option("--scenes", a->scenes.scenes, "Scenes")->delimiter(',')->type_name("LIST")->capture_default_str();
  peers->add_option("--engines", a->scenes.engines, "Engines")
      ->delimiter(',')
      ->type_name("LIST")
      ->capture_default_str();
  peers->add_option("--fclib", a->fclib.folder, "Folder of FCLIB problems for Siconos")->type_name("DIR");
  peers->add_option("--json", a->json, "All results, for programs and `sarrus bench report`")->type_name("FILE");
  peers->add_option("--csv", a->csv, "The runs of the engines as a table")->type_name("FILE");
  peers->add_option("--html", a->html, "Report: one self-contained page")->type_name("FILE");
  peers->add_option("--work", a->work, "Folder of unfinished work (default out/bench-peers)")->type_name("DIR");
  peers->add_option("--timeout", a->scenes.timeout, "Longest time of one run, s")
      ->type_name("S")
      ->capture_default_str();
  peers->add_option("--fclib-timeout", a->fclib.timeout, "Longest time of one solve by Siconos, s")
      ->type_name("S")
      ->capture_default_str();
  peers->add_flag("--quick", a->quick, "At most 1 s of each scene, small FCLIB problems only");
  peers->add_flag("--quiet", a->quiet, "No progress, no tables");
  peers->footer(
      "Engines whose program was not built are said to be not found (docs/peers.md). Interrupted, the same command "
      "goes on\nwhere it stopped.");
  peers->callback([a] { run_peers_command(*a); });
}

}  // namespace sarrus::app
