// The benchmark as a plan of units that any number of processes work off together (work_folder.h).
//
//   samples.<system>            reference run, recorded problems                       samples.h
//   solves.<system>.<solver>    every sample, level and start                          replay.h
//   curves.<solver>             convergence on one sample a category                   replay.h
//   run.<system>.<solver>       a whole simulation advanced by the solver; the default solver's is the reference run
//   scaling.<family>.<bodies>.<threads>                                                scaling.h
//
// Records are the same whatever the number of processes, but for the times.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sarrus/bench/replay.h"
#include "sarrus/bench/result.h"
#include "sarrus/bench/samples.h"
#include "sarrus/bench/scaling.h"
#include "sarrus/work/work_folder.h"

namespace sarrus {

enum class BenchKind : std::uint8_t { suite, solvers, scenes, scaling };
std::string_view name_of(BenchKind kind);

struct SuiteOptions {
  BenchKind kind = BenchKind::suite;
  std::vector<std::string> systems;      // ids; empty: all (of --quick)
  std::vector<std::string> solvers;      // to replay to; empty: all
  std::vector<std::string> run_solvers;  // to advance with; empty: a representative of each family
  double run_limit = 1;                  // s: runs by others than the default solver, which are slow, are cut off here
  bool quick = false;
  SampleOptions samples;
  ReplayOptions replay;
  ScalingOptions scaling;
  std::string command;  // for the report
  std::string version;
};
// Fewer and shorter: under three minutes on one core with all solvers.
SuiteOptions quick_options(SuiteOptions options);

struct SuitePlan {
  SuiteOptions options;
  std::filesystem::path folder;
  std::vector<BenchSystem> systems;
  std::vector<const SolverInfo*> solvers;
  std::vector<const SolverInfo*> run_solvers;
};
// Throws InputError for unknown names, and for a folder in which another benchmark was begun.
SuitePlan plan_suite(const SuiteOptions& options, const std::filesystem::path& folder);

std::vector<WorkUnit> suite_units(const SuitePlan& plan);
// Puts the results of all units together, in the order of the plan. Throws InputError naming a damaged file.
BenchResult assemble_suite(const SuitePlan& plan);

MachineInfo this_machine();

}  // namespace sarrus
