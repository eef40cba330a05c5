// Fuzzes the readers of files (readers.h) without a fuzzer: good files, changed at random (mutate.h), under the
// sanitizers.
//
//   sarrus_fuzz SECONDS [READER] [SEED]    every reader, or one, for so long; the input at work is in /dev/shm, and one
//                                          that breaks a promise is kept as crash-READER-SEED-NUMBER in the current
//                                          folder
//   sarrus_fuzz replay READER FILE...      what one input does
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "mutate.h"
#include "readers.h"

namespace sarrus::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Whether nothing was found. An input that ends the process is left under `path`.
bool run(const Reader& target, double seconds, std::uint64_t seed) {
  std::vector<std::string> files = target.seeds();
  for (const std::string& f : files) {
    if (const Finding bad = target.run(f); !bad.empty()) {
      fmt::print("{}: a seed: {}\n", target.name, bad);
      return false;
    }
  }
  constexpr double kSlow = 10;  // s of one input
  Random random(seed * 0x9e3779b97f4a7c15ULL + 1);
  const Clock::time_point begin = Clock::now();
  std::uint64_t executions = 0;
  double slowest = 0;
  bool good = true;
  const fs::path at_work = InputFile::folder() / fmt::format("sarrus-fuzz-{}-{}.input", target.name, ::getpid());
  while (good && seconds_since(begin) < seconds) {
    const std::string input = mutate(files, random);
    std::ofstream(at_work, std::ios::binary | std::ios::trunc) << input;
    const Clock::time_point start = Clock::now();
    Finding finding = target.run(input);
    const double time = seconds_since(start);
    slowest = std::max(slowest, time);
    if (finding.empty() && time > kSlow) finding = fmt::format("it takes {:.1f} s", time);
    ++executions;
    if (finding.empty()) continue;
    const std::string name = fmt::format("crash-{}-{}-{}", target.name, seed, executions);
    std::ofstream(name, std::ios::binary | std::ios::trunc) << input;
    fmt::print("{}: {} ({})\n", target.name, finding, name);
    good = false;
  }
  std::error_code ignored;
  fs::remove(at_work, ignored);
  fmt::print("{:<12}{:>12} executions in {:.0f} s, slowest {:.3f} s, {}\n", target.name, executions,
             seconds_since(begin), slowest, good ? "nothing found" : "FOUND");
  std::fflush(stdout);
  return good;
}

int main(const std::vector<std::string>& arguments) {
  const auto usage = [] {
    fmt::print(stderr, "sarrus_fuzz SECONDS [READER] [SEED], or sarrus_fuzz replay READER FILE...\n");
    return 2;
  };
  if (arguments.empty()) return usage();
  const bool replays = arguments[0] == "replay";
  ask_all = replays;
  if (replays && arguments.size() < 3) return usage();
  const std::string wanted = arguments.size() > 1 ? arguments[1] : "";  // empty: all
  const std::uint64_t seed = !replays && arguments.size() > 2 ? std::strtoull(arguments[2].c_str(), nullptr, 10) : 1;
  bool known = false;
  bool good = true;
  for (const Reader& target : kReaders) {
    if (!wanted.empty() && wanted != target.name) continue;
    known = true;
    if (!replays) good = run(target, std::atof(arguments[0].c_str()), seed) && good;
    for (std::size_t i = 2; replays && i < arguments.size(); ++i) {
      const Finding finding = target.run(bytes_of(arguments[i]));
      fmt::print("{}: {}\n", arguments[i], finding.empty() ? "nothing found" : finding);
      good = good && finding.empty();
    }
  }
  if (!known) return usage();
  return good ? 0 : 1;
}

}  // namespace
}  // namespace sarrus::fuzz

int main(int argc, char** argv) { return sarrus::fuzz::main({argv + 1, argv + argc}); }
