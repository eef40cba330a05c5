// `sarrus bench peers`: other engines and this one on the same scenes and problems, judged alike (docs/peers.md).
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "output_file.h"
#include "sarrus/bench/peers.h"

namespace sarrus::app {
namespace {

struct PeersArguments {
  PeerOptions scenes;
  FclibOptions fclib;
  std::string json;
  bool quick = false;
};

void say_progress(int done, int total, const std::string& next) {
  fmt::print(stderr, "{}/{} {}\n", done + 1, total, next);
}

void run_peers_command(PeersArguments a) {
  OutputFile json("--json", a.json);
  a.scenes.quick = a.fclib.quick = a.quick;
  PeerReport report;
  report.scenes = run_peers(a.scenes, say_progress);
  const bool fclib = !a.fclib.folder.empty() && std::filesystem::is_directory(a.fclib.folder);
  if (fclib) report.fclib = run_fclib_peers(a.fclib, say_progress);
  if (json.wanted()) json.write(to_json_text(report));
  fmt::print("{}", to_text(report));
  if (!fclib) {
    fmt::print("\nFCLIB problems left out: {}\n", a.fclib.folder.empty()
                                                      ? "give the folder of the collection by --fclib"
                                                      : "there is no folder " + a.fclib.folder.string());
  }
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
  peers->add_option("--json", a->json, "Write the results as JSON")->type_name("FILE");
  peers->add_option("--timeout", a->scenes.timeout, "Longest time of one run, s")
      ->type_name("S")
      ->capture_default_str();
  peers->add_option("--fclib-timeout", a->fclib.timeout, "Longest time of one solve by Siconos, s")
      ->type_name("S")
      ->capture_default_str();
  peers->add_flag("--quick", a->quick, "At most 1 s of each scene, small FCLIB problems only");
  peers->callback([a] { run_peers_command(*a); });
}

}  // namespace sarrus::app
