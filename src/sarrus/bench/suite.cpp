#include "sarrus/bench/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <thread>

#include "sarrus/bench/result_fields.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;
using bench::Json;

// One of each family of methods, to advance whole simulations with.
constexpr const char* kRunSolvers[] = {"cascade", "admm-ncp-sa", "pgs-ncp", "sap"};
constexpr std::string_view kReferenceSolver = "cascade";  // of samples.h
constexpr double kCurveTolerance = 1e-10;
constexpr int kCurveIterations = 1000;

fs::path samples_folder(const SuitePlan& plan) { return plan.folder / "samples"; }
fs::path result_file(const SuitePlan& plan, const std::string& unit) {
  return plan.folder / "results" / (unit + ".json");
}

template <class Record>
void save_records(const fs::path& file, const std::vector<Record>& records) {
  write_file_atomically(file, bench::table_json(records).dump() + "\n");
}

template <class Record>
std::vector<Record> load_records(const fs::path& file) {
  try {
    return bench::table_from_json<Record>(Json::parse(read_file(file, "a file of records", bench::kMaxFile)));
  } catch (const Json::exception& e) {
    throw InputError(file.string(), fmt::format("cannot be read ({}); remove it and run again", e.what()));
  } catch (const std::invalid_argument& e) {
    throw InputError(file.string(), fmt::format("{}; remove it and run again", e.what()));
  }
}

bool wants_solves(BenchKind kind) { return kind == BenchKind::suite || kind == BenchKind::solvers; }
bool wants_runs(BenchKind kind) { return kind == BenchKind::suite || kind == BenchKind::scenes; }

// The run that the samples were recorded from need not be taken twice.
bool is_reference_run(const SuitePlan& plan, const SolverInfo& solver) {
  return wants_solves(plan.options.kind) && solver.id == kReferenceSolver;
}

// What must be equal for results of the same folder to belong together.
Json plan_json(const SuitePlan& plan) {
  const SuiteOptions& o = plan.options;
  Json j;
  j["format"] = kBenchFormat;
  j["version"] = o.version;
  j["kind"] = std::string(name_of(o.kind));
  j["quick"] = o.quick;
  j["samples"] = o.samples.count;
  j["duration_limit"] = bench::number_json(o.samples.duration_limit);
  j["run_limit"] = bench::number_json(o.run_limit);
  j["repeats"] = o.replay.repeats;
  j["instructions"] = o.replay.instructions;
  for (const Level& l : o.replay.levels) {
    j["levels"].push_back({l.tolerance, l.splitting_iterations, l.admm_iterations});
  }
  for (const BenchSystem& s : plan.systems) j["systems"].push_back(s.id);
  for (const SolverInfo* s : plan.solvers) j["solvers"].push_back(std::string(s->id));
  for (const SolverInfo* s : plan.run_solvers) j["run_solvers"].push_back(std::string(s->id));
  if (o.kind == BenchKind::scaling) {
    j["sizes"] = o.scaling.sizes;
    j["families"] = o.scaling.families;
  }
  return j;
}

void solve_unit(const SuitePlan& plan, const BenchSystem& system, const SolverInfo& solver, const fs::path& result) {
  const SampleSet set = load_samples(samples_folder(plan), system.id);
  std::vector<SolveRecord> records;
  for (std::size_t i = 0; i < set.samples.size(); ++i) {
    for (int level = 0; level < static_cast<int>(plan.options.replay.levels.size()); ++level) {
      for (const Start start : {Start::cold, Start::warm}) {
        records.push_back(replay(set.samples[i], solver, level, start, plan.options.replay));
        records.back().sample = static_cast<int>(i);
      }
    }
  }
  save_records(result, records);
}

struct SampleChoice {
  std::string system;
  std::size_t index = 0;  // within its system
  int rows = 0;
};

// One sample a category for the convergence curves: the one of median size.
std::map<ProblemCategory, SampleChoice> curve_samples(const SuitePlan& plan) {
  std::map<ProblemCategory, std::vector<SampleChoice>> all;
  for (const BenchSystem& s : plan.systems) {
    const std::vector<SampleInfo> infos = load_sample_infos(samples_folder(plan), s.id).samples;
    for (std::size_t i = 0; i < infos.size(); ++i) all[infos[i].category].push_back({s.id, i, infos[i].rows});
  }
  std::map<ProblemCategory, SampleChoice> out;
  for (auto& [category, choices] : all) {
    std::ranges::stable_sort(choices, {}, &SampleChoice::rows);
    out[category] = choices[choices.size() / 2];
  }
  return out;
}

// CurveRecord::sample is an index into the samples of all systems, in the order of the plan.
void curve_unit(const SuitePlan& plan, const SolverInfo& solver, const fs::path& result) {
  std::map<std::string, int> first;
  int count = 0;
  for (const BenchSystem& s : plan.systems) {
    first[s.id] = count;
    count += static_cast<int>(load_sample_infos(samples_folder(plan), s.id).samples.size());
  }
  std::vector<CurveRecord> curves;
  for (const auto& [category, choice] : curve_samples(plan)) {
    const SampleSet set = load_samples(samples_folder(plan), choice.system);
    CurveRecord c =
        replay_curve(set.samples[choice.index], solver, kCurveTolerance, kCurveIterations, plan.options.replay);
    if (c.iterations.empty()) continue;
    c.sample = first[choice.system] + static_cast<int>(choice.index);
    curves.push_back(std::move(c));
  }
  save_records(result, curves);
}

void run_unit(const SuitePlan& plan, const BenchSystem& system, const SolverInfo& solver, const fs::path& result) {
  const Model model = system.make();
  const double duration = system.duration > 0 ? system.duration : model.defaults().duration;
  const double limit =
      std::min(plan.options.samples.duration_limit, solver.id == kReferenceSolver ? kInf : plan.options.run_limit);
  save_records(result,
               std::vector<RunRecord>{run_system(system, model, {std::string(solver.id), std::min(duration, limit)})});
}

std::string scaling_name(const ScalingPoint& p) {
  return fmt::format("scaling.{}.{}.{}", p.family, p.bodies, p.threads);
}
std::string solves_name(const BenchSystem& s, const SolverInfo& v) { return fmt::format("solves.{}.{}", s.id, v.id); }
std::string run_name(const BenchSystem& s, const SolverInfo& v) { return fmt::format("run.{}.{}", s.id, v.id); }
std::string curves_name(const SolverInfo& v) { return fmt::format("curves.{}", v.id); }

class UnitList {
 public:
  explicit UnitList(const SuitePlan& plan) : plan_(plan) {}
  void add_samples() {
    for (const BenchSystem& s : plan_.systems) {
      first_samples_.push_back(units.size());
      add("samples." + s.id, samples_folder(plan_) / (s.id + ".json"), {}, 20,
          [&plan = plan_, &s] { save_samples(samples_folder(plan), record_samples(s, plan.options.samples)); });
    }
  }
  void add_solves() {
    for (std::size_t i = 0; i < plan_.systems.size(); ++i) {
      for (const SolverInfo* v : plan_.solvers) {
        const BenchSystem& s = plan_.systems[i];
        const fs::path result = result_file(plan_, solves_name(s, *v));
        add(solves_name(s, *v), result, {first_samples_[i]}, 3,
            [&plan = plan_, &s, v, result] { solve_unit(plan, s, *v, result); });
      }
    }
    for (const SolverInfo* v : plan_.solvers) {
      const fs::path result = result_file(plan_, curves_name(*v));
      add(curves_name(*v), result, first_samples_, 5, [&plan = plan_, v, result] { curve_unit(plan, *v, result); });
    }
  }
  void add_runs() {
    for (const BenchSystem& s : plan_.systems) {
      for (const SolverInfo* v : plan_.run_solvers) {
        if (is_reference_run(plan_, *v)) continue;
        const fs::path result = result_file(plan_, run_name(s, *v));
        add(run_name(s, *v), result, {}, 20, [&plan = plan_, &s, v, result] { run_unit(plan, s, *v, result); });
      }
    }
  }
  void add_scaling() {
    const ScalingOptions& o = plan_.options.scaling;
    for (const ScalingPoint& p : scaling_points(o)) {
      const fs::path result = result_file(plan_, scaling_name(p));
      add(scaling_name(p), result, {}, p.bodies,
          [&o, p, result] { save_records(result, std::vector<ScalingRecord>{measure_scaling(p, o)}); });
    }
  }
  std::vector<WorkUnit> units;

 private:
  void add(std::string name, fs::path result, std::vector<std::size_t> after, double weight,
           std::function<void()> run) {
    units.push_back({std::move(name), std::move(result), std::move(after), weight, std::move(run)});
  }
  const SuitePlan& plan_;
  std::vector<std::size_t> first_samples_;  // by system
};

void assemble_solves(const SuitePlan& plan, BenchResult& out) {
  for (std::size_t i = 0; i < plan.systems.size(); ++i) {
    const SampleInfos infos = load_sample_infos(samples_folder(plan), plan.systems[i].id);
    const int first = static_cast<int>(out.samples.size());
    out.systems[i] = infos.system;
    for (SampleInfo s : infos.samples) {
      s.system = static_cast<int>(i);
      out.samples.push_back(std::move(s));
    }
    for (std::size_t v = 0; v < plan.solvers.size(); ++v) {
      for (SolveRecord r :
           load_records<SolveRecord>(result_file(plan, solves_name(plan.systems[i], *plan.solvers[v])))) {
        r.sample += first;
        r.solver = static_cast<int>(v);
        out.solves.push_back(std::move(r));
      }
    }
  }
  for (std::size_t v = 0; v < plan.solvers.size(); ++v) {
    for (CurveRecord c : load_records<CurveRecord>(result_file(plan, curves_name(*plan.solvers[v])))) {
      c.solver = static_cast<int>(v);
      out.curves.push_back(std::move(c));
    }
  }
}

}  // namespace

std::string_view name_of(BenchKind kind) {
  constexpr std::string_view kNames[] = {"suite", "solvers", "scenes", "scaling"};
  return kNames[static_cast<std::size_t>(kind)];
}

SuiteOptions quick_options(SuiteOptions options) {
  options.quick = true;
  options.run_solvers = {"cascade", "admm-ncp-sa"};
  options.samples.count = 3;
  options.samples.duration_limit = 0.6;
  options.replay.repeats = 3;
  options.replay.repeat_budget = 0.01;
  options.scaling.sizes = {10, 30, 100, 300, 1000};
  options.scaling.steps = 10;
  options.scaling.budget = 2;
  return options;
}

SuitePlan plan_suite(const SuiteOptions& options, const fs::path& folder) {
  SuitePlan plan{options, folder, {}, {}, {}};
  if (options.kind != BenchKind::scaling) {
    for (const std::string& id : options.systems) plan.systems.push_back(bench_system(id));
    if (options.systems.empty()) {
      for (const BenchSystem& s : bench_systems()) {
        if (s.quick || !options.quick) plan.systems.push_back(s);
      }
    }
  }
  if (wants_solves(options.kind)) {
    for (const std::string& id : options.solvers) plan.solvers.push_back(&solver_info(id));
    if (options.solvers.empty()) {
      for (const SolverInfo& s : solver_registry()) plan.solvers.push_back(&s);
    }
  }
  if (wants_runs(options.kind)) {
    for (const std::string& id : options.run_solvers) plan.run_solvers.push_back(&solver_info(id));
    if (options.run_solvers.empty()) {
      for (const char* id : kRunSolvers) plan.run_solvers.push_back(&solver_info(id));
    }
  }
  const fs::path file = folder / "plan.json";
  const std::string text = plan_json(plan).dump(1) + "\n";
  if (fs::exists(file) && read_file(file, "a file of records", bench::kMaxFile) != text) {
    throw InputError(
        folder.string(),
        "holds the work of a benchmark with other options or another version; finish that one with its own "
        "command, remove the folder, or give another with --work");
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(folder.string(), fmt::format("cannot be used as work folder ({})", error.message()));
  write_file_atomically(file, text);
  return plan;
}

std::vector<WorkUnit> suite_units(const SuitePlan& plan) {
  UnitList list(plan);
  const BenchKind kind = plan.options.kind;
  if (wants_solves(kind)) {
    list.add_samples();
    list.add_solves();
  }
  if (wants_runs(kind)) list.add_runs();
  if (kind == BenchKind::scaling) list.add_scaling();
  return std::move(list.units);
}

BenchResult assemble_suite(const SuitePlan& plan) {
  const SuiteOptions& o = plan.options;
  BenchResult out;
  out.command = o.command;
  out.kind = name_of(o.kind);
  out.quick = o.quick;
  out.machine = this_machine();
  out.machine.version = o.version;
  for (const Level& l : o.replay.levels) out.tolerances.push_back(l.tolerance);
  out.repeats = o.replay.repeats;
  for (const SolverInfo* s : plan.solvers) out.solvers.push_back(describe_solver(*s, o.replay.levels));
  out.systems.resize(plan.systems.size());
  if (wants_solves(o.kind)) {
    assemble_solves(plan, out);
  } else {
    for (std::size_t i = 0; i < plan.systems.size(); ++i) {
      out.systems[i] = describe(plan.systems[i], plan.systems[i].make());
      out.systems[i].duration = std::min(out.systems[i].duration, o.samples.duration_limit);
    }
  }
  for (std::size_t i = 0; i < plan.systems.size(); ++i) {
    for (const SolverInfo* v : plan.run_solvers) {
      RunRecord r = is_reference_run(plan, *v)
                        ? load_sample_infos(samples_folder(plan), plan.systems[i].id).run
                        : load_records<RunRecord>(result_file(plan, run_name(plan.systems[i], *v))).at(0);
      r.system = static_cast<int>(i);
      out.runs.push_back(std::move(r));
    }
  }
  if (o.kind == BenchKind::scaling) {
    for (const ScalingPoint& p : scaling_points(o.scaling)) {
      out.scaling.push_back(load_records<ScalingRecord>(result_file(plan, scaling_name(p))).at(0));
    }
  }
  return out;
}

MachineInfo this_machine() {
  MachineInfo m;
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 <= line.size()) m.cpu = line.substr(colon + 2);
    break;
  }
  m.cores = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__clang__)
  m.compiler = fmt::format("clang {}.{}", __clang_major__, __clang_minor__);
#else
  m.compiler = fmt::format("gcc {}.{}", __GNUC__, __GNUC_MINOR__);
#endif
  return m;
}

}  // namespace sarrus
