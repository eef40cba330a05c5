// Samples: constraint problems of a system's reference run, to be replayed to every solver
// (docs/theory/benchmarks.md §4).
//
// The reference run is the system with its own step, its driving and push, advanced by the default solver at 1e-9. Its
// N steps are cut into `count` equal parts and one step is drawn from each by random numbers seeded with the system's
// id: the same set on every machine, bit for bit, as long as model and engine are the same (SampleInfo::hash).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sarrus/bench/result.h"
#include "sarrus/bench/systems.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

struct SampleOptions {
  int count = 8;
  int large_rows = 2000;  // joint rows from which on two samples are enough: a swarm poses the same problem often
  double duration_limit = kUnlimited;  // s: shorter reference runs
};

struct Sample {
  SampleInfo info;
  ConstraintProblem problem;
  std::vector<double> warm;
};

struct SampleSet {
  SystemInfo system;
  std::vector<Sample> samples;
  RunRecord run;  // the reference run itself
};

// Steps to record of a run of `steps` steps, ascending, at most `count` and all different.
std::vector<int> sample_steps(const std::string& system, int steps, int count);

// Hash of everything a solver sees, and of the warm start.
std::string problem_hash(const ConstraintProblem& problem, std::span<const double> warm);

// One hash of many samples, in their order: sets are the same if it is.
std::string set_hash(std::span<const SampleInfo> samples);

// A reference run that fails ends there: the samples up to it remain and the run's message says why.
SampleSet record_samples(const BenchSystem& system, const SampleOptions& options);

// A run of a system advanced by any solver. `every` is called after every step that moved.
struct RunOptions {
  std::string solver = "cascade";
  double duration = 0;  // s
};
RunRecord run_system(const BenchSystem& system, const Model& model, const RunOptions& options,
                     const std::function<void(Simulation&, int step)>& every = {});

// Files <folder>/<system>/<step>.h5, readable by `sarrus solve`, and <folder>/<system>.json with the rest. The JSON is
// written last: where it is, the samples are complete.
void save_samples(const std::filesystem::path& folder, const SampleSet& set);
bool samples_saved(const std::filesystem::path& folder, const std::string& system);
// Without the problems: quick.
struct SampleInfos {
  SystemInfo system;
  std::vector<SampleInfo> samples;
  RunRecord run;
};
SampleInfos load_sample_infos(const std::filesystem::path& folder, const std::string& system);
// Throws InputError, also where a problem is not the one that the hash was taken of.
SampleSet load_samples(const std::filesystem::path& folder, const std::string& system);

}  // namespace sarrus
