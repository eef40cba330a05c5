// What a benchmark run measured: the data behind every table, picture and comparison (docs/benchmarks.md).
//
// A *system* is a scene with its driving. A *sample* is the constraint problem of one step of the system's reference
// run (docs/theory/benchmarks.md §4), with the warm start of that step. A *solve* is one solver on one sample, cold or
// warm, at one tolerance; a *run* is a whole simulation of a system advanced by one solver. Metrics come from the judge
// (problem/judge.h), times from outside the solvers. Failures are records like others: nothing is dropped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/analysis/category.h"
#include "sarrus/problem/judge.h"

namespace sarrus {

inline constexpr int kBenchFormat = 1;

enum class Start : std::uint8_t { cold, warm };
std::string_view name_of(Start start);

struct SystemInfo {
  std::string id;
  std::string group;    // "maximal-coordinate suite", "SAP", ...: the paper or set it belongs to
  std::string summary;  // one line
  int bodies = 0;
  int joints = 0;
  int loops = 0;
  int joint_rows = 0;
  int joint_rank = 0;
  int mobility = 0;
  double mass_ratio = 1;
  double dt = 0;        // s, of the reference run
  double duration = 0;  // s
};

struct SampleInfo {
  std::string id;  // "walker_like/1200": system and step
  int system = 0;  // into BenchResult::systems
  int step = 0;    // of the reference run, from 0
  ProblemCategory category = ProblemCategory::unconstrained;
  int nodes = 0;
  int joints = 0;  // blocks
  int joint_rows = 0;
  int soft_rows = 0;
  int limits = 0;
  int contacts = 0;
  int rows = 0;
  bool compliant = false;       // some joint, limit or contact row gives way (R > 0)
  double seconds_assembly = 0;  // building the problem: collision, rows, free velocity
  std::string hash;             // of the problem and its warm start, hexadecimal
};

struct SolverSetup {
  std::string id;
  Law law = Law::ncp;
  std::string summary;
  std::string limits;  // parameters that differ from the solver's defaults, "max_iterations=200"
};

// How a solve ended; the first five are SolveStatus.
enum class Outcome : std::uint8_t {
  converged,
  max_iterations,
  stalled,
  infeasible,
  non_finite,
  refused,   // the solver does not take such problems (rigid rows, say); `message` has its words
  too_large  // not tried: a dense method on a problem beyond the size limit
};
inline constexpr int kOutcomeCount = 7;
std::string_view name_of(Outcome outcome);

struct SolveRecord {
  int sample = 0;  // into BenchResult::samples
  int solver = 0;  // into BenchResult::solvers
  int level = 0;   // into BenchResult::tolerances
  Start start = Start::cold;
  Outcome outcome = Outcome::max_iterations;
  // By the judge, NCP versions whatever the solver's law; infinite where there is no finite answer.
  double natural_map = 0;           // N s, m/s: raw SI
  double natural_map_relative = 0;  // the error that is compared with tolerances (problem/judge.h)
  double own_law_relative = 0;      // by the law that the solver solves
  double primal = 0;
  double dual = 0;
  double complementarity = 0;
  double equations = 0;
  double joint_velocity = 0;
  double momentum_error = 0;         // e_m of docs/theory/benchmarks.md §5
  double complementarity_error = 0;  // e_mu
  double delta_psi = 0;              // MLCP error
  int iterations = 0;
  int factorisations = 0;
  double seconds = 0;        // whole solve, smallest of the repeats
  double seconds_first = 0;  // a solve limited to one iteration: set-up and one iteration; 0: not measurable
  double instructions = 0;   // user-space instructions of a solve; 0: not counted
  std::string message;       // refused: why

  // Seconds of every iteration after the first, 0 if there was none.
  double seconds_per_iteration() const {
    return iterations > 1 && seconds_first > 0 && seconds > seconds_first ? (seconds - seconds_first) / (iterations - 1)
                                                                          : 0.0;
  }
};

struct RunRecord {
  int system = 0;
  std::string solver;
  int steps = 0;          // taken
  int planned_steps = 0;  // fewer were taken: the run stopped, `message` says why
  int not_converged = 0;
  int substepped = 0;
  double natural_map_relative = 0;  // worst step
  double joint_gap = 0;             // m, worst
  double joint_angle = 0;           // rad
  double limit_violation = 0;       // m or rad
  double penetration = 0;           // m
  double energy_drift = 0;          // (final - initial) / largest kinetic energy
  double jitter = 0;                // median of |lambda+ - lambda| / (1 + |lambda|) between steps with equal rows
  int iterations_median = 0;
  int iterations_max = 0;
  int contacts_max = 0;
  double step_median = 0;  // s, whole step
  double step_p95 = 0;
  double solve_median = 0;
  double real_time_factor = 0;  // simulated over elapsed time
  std::string message;
};

// Judged relative natural map (NCP) of cold solves that were cut off after so many iterations.
struct CurveRecord {
  int sample = 0;
  int solver = 0;
  std::vector<int> iterations;
  std::vector<double> residual;
};

struct ScalingRecord {
  std::string family;  // "chain", "tree", "grid", "pile", "islands"
  int bodies = 0;
  int threads = 1;
  int rows = 0;
  int contacts = 0;
  int steps = 0;
  int not_converged = 0;
  double iterations = 0;   // mean
  double step_median = 0;  // s
  double step_p95 = 0;
  double solve_median = 0;  // s, of it in the solver
  double bytes = 0;         // heap memory that building and warming up took
  std::string message;      // not run, or stopped: why
};

struct MachineInfo {
  std::string cpu;
  int cores = 0;
  std::string compiler;
  std::string version;  // of sarrus
  int ranks = 1;
};

struct BenchResult {
  int format = kBenchFormat;
  std::string command;  // that made it, without folders of the machine
  std::string kind;     // "suite", "solvers", "scenes", "scaling", "peers"
  bool quick = false;
  MachineInfo machine;
  std::vector<double> tolerances;  // levels, relative natural map
  double success = 1e-4;           // natural map (raw) of the paper's success criterion
  int repeats = 5;
  std::vector<SolverSetup> solvers;
  std::vector<SystemInfo> systems;
  std::vector<SampleInfo> samples;
  std::vector<SolveRecord> solves;
  std::vector<RunRecord> runs;
  std::vector<CurveRecord> curves;
  std::vector<ScalingRecord> scaling;
  double seconds = 0;  // of the whole benchmark

  // The record counts as solved at a level: a finite answer within the level's relative natural map (NCP).
  bool solved(const SolveRecord& r) const {
    return r.natural_map_relative <= tolerances[static_cast<std::size_t>(r.level)];
  }
};

// JSON text; infinities are the string "inf". Reading throws InputError naming file, element and remedy.
std::string to_json(const BenchResult& result);
BenchResult bench_result_from_json(std::string_view text, const std::string& file);

// One row per solve, respectively run and scaling point; a header line with units.
std::string solves_csv(const BenchResult& result);
std::string runs_csv(const BenchResult& result);
std::string scaling_csv(const BenchResult& result);

}  // namespace sarrus
