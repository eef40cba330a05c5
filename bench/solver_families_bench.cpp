// Solvers on the problem families (docs/theory/benchmarks.md §6.2, §6.3): how many are solved, in how many
// factorisations and microseconds, cold, warm and in sequences of steps. What is measured and how: family_runs.h.
//
//   solver_families_bench [--seeds 20] [--first-seed 1000] [--sequences 6] [--solvers a,b]
//                         [--families a,b] [--tolerance 1e-9] [--repeats 3] [--param name=value]
//                         [--csv FILE] [--md]
//
// --param may be repeated and goes to the solvers that have it: --param max_iterations=5000.
// Seeds from 1000 on are for measuring: nothing is to be tuned on them.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include "family_runs.h"
#include "family_tables.h"
#include "sarrus/math/error.h"

namespace sarrus::bench {
namespace {

struct Options {
  int seeds = 20;
  std::uint64_t first_seed = 1000;
  int sequences = 6;
  Protocol protocol;
  std::vector<std::string> solvers = {"cascade", "admm-ncp-sa", "nbgs-exact"};
  std::vector<std::string> families;
  std::string csv;
  bool markdown = false;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) {
    if (!item.empty()) out.push_back(item);
  }
  return out;
}

double number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(value >= 0)) {
    throw InputError(option, fmt::format("'{}' is no number >= 0", text));
  }
  return value;
}

void add_parameter(const std::string& option, const std::string& text, SolverParameters& parameters) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw InputError(option, fmt::format("'{}' is not name=value", text));
  parameters[text.substr(0, equals)] = number(option, text.substr(equals + 1));
}

Options read_options(int argc, char** argv) {
  Options o;
  using Setter = std::function<void(const std::string&, const std::string&)>;
  const std::map<std::string, Setter> setters = {
      {"--seeds", [&](const auto& n, const auto& v) { o.seeds = static_cast<int>(number(n, v)); }},
      {"--first-seed", [&](const auto& n, const auto& v) { o.first_seed = static_cast<std::uint64_t>(number(n, v)); }},
      {"--sequences", [&](const auto& n, const auto& v) { o.sequences = static_cast<int>(number(n, v)); }},
      {"--repeats",
       [&](const auto& n, const auto& v) { o.protocol.repeats = std::max(1, static_cast<int>(number(n, v))); }},
      {"--tolerance", [&](const auto& n, const auto& v) { o.protocol.tolerance = number(n, v); }},
      {"--solvers", [&](const auto&, const auto& v) { o.solvers = split(v); }},
      {"--families", [&](const auto&, const auto& v) { o.families = split(v); }},
      {"--param", [&](const auto& n, const auto& v) { add_parameter(n, v, o.protocol.parameters); }},
      {"--csv", [&](const auto&, const auto& v) { o.csv = v; }},
  };
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--md") {
      o.markdown = true;
      continue;
    }
    const auto setter = setters.find(option);
    if (setter == setters.end()) throw InputError(option, "unknown option; the head of the source lists them");
    if (i + 1 == argc) throw InputError(option, "needs a value");
    setter->second(option, argv[++i]);
  }
  if (o.families.empty()) {
    for (const Family& f : problem_families()) o.families.emplace_back(f.name);
  }
  return o;
}

// Solvers that exist; others are named and left out, so that one command serves before and after one is written.
std::vector<const SolverInfo*> known_solvers(const Options& o) {
  std::vector<const SolverInfo*> out;
  for (const std::string& id : o.solvers) {
    try {
      out.push_back(&solver_info(id));
    } catch (const InputError& error) {
      std::cerr << "skipped: " << error.what() << "\n";
    }
  }
  return out;
}

std::vector<Measured> measure(const Options& o, const Family& family, const SolverInfo& info, Mode mode) {
  Runner runner(info, o.protocol);
  std::vector<Measured> runs;
  const int count = mode == Mode::sequence ? o.sequences : o.seeds;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = o.first_seed + static_cast<std::uint64_t>(i);
    if (mode == Mode::cold) {
      runs.push_back(runner.cold(family.make(seed), seed));
    } else if (mode == Mode::warm) {
      runs.push_back(runner.warm(warm_pair(family, seed), seed));
    } else {
      const std::vector<Measured> steps = runner.sequence(warm_sequence(family, seed), seed);
      runs.insert(runs.end(), steps.begin(), steps.end());
    }
  }
  return runs;
}

std::vector<Batch> measure_all(const Options& o, const std::vector<const SolverInfo*>& solvers) {
  std::vector<Batch> batches;
  for (const Mode mode : kModes) {
    if ((mode == Mode::sequence ? o.sequences : o.seeds) == 0) continue;
    for (const std::string& family : o.families) {
      for (const SolverInfo* info : solvers) {
        Batch b{family, std::string(info->id), mode, measure(o, problem_family(family), *info, mode)};
        const Summary s = summarise(b.runs);
        std::cerr << fmt::format("{:<9}{:<23}{:<14}{:>4}/{:<4} fac {:>5.0f}  {:>9.0f} us\n", name_of(mode), family,
                                 b.solver, s.solved, s.count, s.factorisations[0], s.microseconds[0]);
        batches.push_back(std::move(b));
      }
    }
  }
  return batches;
}

}  // namespace
}  // namespace sarrus::bench

int main(int argc, char** argv) {
  using namespace sarrus::bench;
  try {
    const Options options = read_options(argc, argv);
    const std::vector<const sarrus::SolverInfo*> solvers = known_solvers(options);
    if (solvers.empty()) throw sarrus::InputError("--solvers", "none of them exists");
    const std::vector<Batch> batches = measure_all(options, solvers);
    if (!options.csv.empty()) write_csv(options.csv, batches);
    for (const Mode mode : kModes) {
      print_summary(batches, mode, options.markdown);
      print_details(batches, mode, options.markdown);
    }
    print_misses(batches);
    return print_unrepeatable(batches) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
