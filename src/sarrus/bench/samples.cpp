#include "sarrus/bench/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/bench/result_fields.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/hash.h"
#include "sarrus/math/random.h"
#include "sarrus/math/statistics.h"
#include "sarrus/problem_files/problem_file.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;
using bench::Json;

std::uint64_t seed_of(const std::string& text) {
  Hash64 h;
  h.bytes(text.data(), text.size());
  return h.value();
}

void add_all(Hash64& h, std::span<const double> values) {
  h.add(static_cast<std::uint64_t>(values.size()));
  for (const double v : values) h.add(v);
}

int count_blocks(const ConstraintProblem& p, BlockKind kind) {
  return static_cast<int>(std::ranges::count_if(p.blocks, [&](const ConstraintBlock& b) { return b.kind == kind; }));
}

bool is_compliant(const ConstraintProblem& p) {
  return std::ranges::any_of(p.blocks, [&](const ConstraintBlock& b) {
    return b.kind != BlockKind::soft && p.R[static_cast<std::size_t>(b.row)] > 0;
  });
}

SampleInfo describe_sample(const std::string& system, int step, const ConstraintProblem& p, int rank,
                           std::span<const double> warm) {
  SampleInfo info;
  info.id = fmt::format("{}/{}", system, step);
  info.step = step;
  info.category = category(p, rank);
  info.nodes = p.node_count();
  info.joints = count_blocks(p, BlockKind::joint);
  info.joint_rows = p.rows_of(BlockKind::joint);
  info.soft_rows = p.rows_of(BlockKind::soft);
  info.limits = count_blocks(p, BlockKind::limit);
  info.contacts = count_blocks(p, BlockKind::contact);
  info.rows = p.rows();
  info.compliant = is_compliant(p);
  info.hash = problem_hash(p, warm);
  return info;
}

// What a run collects step by step.
class RunCounter {
 public:
  explicit RunCounter(const Simulation& sim) : start_(energy(sim.model(), sim.state())), kinetic_(start_.kinetic) {}

  void add(const Simulation& sim, RunRecord& r) {
    const StepReport& s = sim.report();
    ++r.steps;
    r.not_converged += !s.met_tolerance;
    r.substepped += s.status == StepStatus::substepped;
    r.natural_map_relative = std::max(r.natural_map_relative, s.residuals.error());
    r.joint_gap = std::max({r.joint_gap, s.joint_gap, s.compliant_gap});
    r.joint_angle = std::max({r.joint_angle, s.joint_angle, s.compliant_angle});
    r.limit_violation = std::max(r.limit_violation, s.limit_violation);
    r.penetration = std::max(r.penetration, s.penetration);
    r.contacts_max = std::max(r.contacts_max, s.contacts);
    step_.push_back(s.seconds_total);
    solve_.push_back(s.seconds_solve);
    iterations_.push_back(s.iterations);
    const std::span<const double> now = sim.impulses();
    if (now.size() == last_.size() && !now.empty()) {
      double change = 0, size = 0;
      for (std::size_t i = 0; i < now.size(); ++i) {
        change = std::max(change, std::abs(now[i] - last_[i]));
        size = std::max(size, std::abs(last_[i]));
      }
      jitter_.push_back(change / (1 + size));
    }
    last_.assign(now.begin(), now.end());
    last_energy_ = energy(sim.model(), sim.state());
    kinetic_ = std::max(kinetic_, last_energy_.kinetic);
  }

  void finish(const Simulation& sim, RunRecord& r) const {
    if (r.steps == 0) return;
    r.energy_drift = kinetic_ > 0 ? (last_energy_.total() - start_.total()) / kinetic_ : 0;
    r.jitter = median(jitter_);
    r.iterations_median = static_cast<int>(median(iterations_));
    r.iterations_max = static_cast<int>(*std::ranges::max_element(iterations_));
    r.step_median = median(step_);
    r.step_p95 = percentile(step_, 0.95);
    r.solve_median = median(solve_);
    double elapsed = 0;
    for (const double s : step_) elapsed += s;
    r.real_time_factor = elapsed > 0 ? sim.time() / elapsed : 0;
  }

 private:
  Energy start_, last_energy_;
  double kinetic_;  // J, largest
  std::vector<double> step_, solve_, iterations_, jitter_, last_;
};

fs::path manifest(const fs::path& folder, const std::string& system) { return folder / (system + ".json"); }
fs::path problem_path(const fs::path& folder, const SampleInfo& info) { return folder / (info.id + ".h5"); }

}  // namespace

std::vector<int> sample_steps(const std::string& system, int steps, int count) {
  Random random(seed_of(system));
  std::vector<int> out;
  const int n = std::min(steps, count);
  for (int i = 0; i < n; ++i) {
    const double part = (i + random.uniform()) / n;
    const int step = std::min(steps - 1, static_cast<int>(part * steps));
    if (out.empty() || step > out.back()) out.push_back(step);
  }
  return out;
}

std::string problem_hash(const ConstraintProblem& p, std::span<const double> warm) {
  Hash64 h;
  for (const int n : p.node_size) h.add(static_cast<std::uint64_t>(n));
  add_all(h, p.mass);
  add_all(h, {p.u_free.data(), static_cast<std::size_t>(p.u_free.size())});
  for (const ConstraintBlock& b : p.blocks) {
    h.add(static_cast<std::uint64_t>(b.kind));
    h.add(static_cast<std::uint64_t>(b.rows));
    for (int k = 0; k < b.nodes; ++k) h.add(static_cast<std::uint64_t>(b.node[k]));
    h.add(b.mu);
  }
  for (const std::vector<double>* values : {&p.jacobian, &p.R, &p.bias, &p.lower, &p.upper}) add_all(h, *values);
  add_all(h, warm);
  return fmt::format("{:016x}", h.value());
}

std::string set_hash(std::span<const SampleInfo> samples) {
  Hash64 h;
  for (const SampleInfo& s : samples) {
    h.bytes(s.id.data(), s.id.size());
    h.bytes(s.hash.data(), s.hash.size());
  }
  return fmt::format("{:016x}", h.value());
}

RunRecord run_system(const BenchSystem& system, const Model& model, const RunOptions& options,
                     const std::function<void(Simulation&, int)>& every) {
  RunRecord record;
  record.solver = options.solver;
  SimulationOptions simulation;
  simulation.solver = options.solver;
  Simulation sim(model, simulation);
  record.planned_steps = std::max(1, static_cast<int>(std::llround(std::ceil(options.duration / sim.dt() - 1e-6))));
  const int pushed = system.pushed ? pushed_body(model) : -1;
  RunCounter counter(sim);
  for (int step = 0; step < record.planned_steps; ++step) {
    if (pushed >= 0) apply_push(sim, pushed);
    const StepReport& report = sim.step();
    if (report.status == StepStatus::failed) {
      record.message = fmt::format("stopped at {:.4g} s: {}", sim.time(), report.message);
      break;
    }
    counter.add(sim, record);
    if (every) every(sim, step);
  }
  counter.finish(sim, record);
  return record;
}

SampleSet record_samples(const BenchSystem& system, const SampleOptions& options) {
  SampleSet set;
  const Model model = system.make();
  set.system = describe(system, model);
  set.system.duration = std::min(set.system.duration, options.duration_limit);
  const int rank = set.system.joint_rank;
  const int steps = std::max(1, static_cast<int>(std::llround(set.system.duration / set.system.dt)));
  const int count = set.system.joint_rows > options.large_rows ? std::min(2, options.count) : options.count;
  const std::vector<int> wanted = sample_steps(system.id, steps, count);
  auto next = wanted.begin();
  set.run = run_system(system, model, {"cascade", set.system.duration}, [&](Simulation& sim, int step) {
    if (next == wanted.end() || *next != step) return;
    ++next;
    const ConstraintProblem& p = sim.problem();
    if (p.rows() == 0) return;  // a free flight poses no problem
    const std::span<const double> warm = sim.warm_start_impulses();
    Sample sample{describe_sample(system.id, step, p, rank, warm), p, {warm.begin(), warm.end()}};
    sample.info.seconds_assembly = sim.report().seconds_collision + sim.report().seconds_assembly;
    set.samples.push_back(std::move(sample));
  });
  return set;
}

void save_samples(const fs::path& folder, const SampleSet& set) {
  std::error_code error;
  fs::create_directories(folder / set.system.id, error);
  if (error) throw InputError(folder.string(), fmt::format("cannot be created ({})", error.message()));
  std::vector<SampleInfo> infos;
  for (const Sample& s : set.samples) {
    save_problem(problem_path(folder, s.info), s.problem, s.warm);
    infos.push_back(s.info);
  }
  Json j;
  j["format"] = "sarrus-bench-samples";
  j["version"] = kBenchFormat;
  j["system"] = bench::table_json(std::vector<SystemInfo>{set.system});
  j["samples"] = bench::table_json(infos);
  j["run"] = bench::table_json(std::vector<RunRecord>{set.run});
  write_file_atomically(manifest(folder, set.system.id), j.dump(1) + "\n");
}

bool samples_saved(const fs::path& folder, const std::string& system) { return fs::exists(manifest(folder, system)); }

SampleInfos load_sample_infos(const fs::path& folder, const std::string& system) {
  const fs::path path = manifest(folder, system);
  try {
    const Json j = Json::parse(read_file(path, "a file of records", bench::kMaxFile));
    if (j.at("format") != "sarrus-bench-samples" || j.at("version") != kBenchFormat) {
      throw std::invalid_argument("is no list of samples of this version");
    }
    return {bench::table_from_json<SystemInfo>(j.at("system")).at(0),
            bench::table_from_json<SampleInfo>(j.at("samples")), bench::table_from_json<RunRecord>(j.at("run")).at(0)};
  } catch (const Json::exception& e) {
    throw InputError(path.string(), fmt::format("cannot be read ({}); remove it and record again", e.what()));
  } catch (const std::logic_error& e) {
    throw InputError(path.string(), fmt::format("{}; remove it and record again", e.what()));
  }
}

SampleSet load_samples(const fs::path& folder, const std::string& system) {
  SampleInfos infos = load_sample_infos(folder, system);
  SampleSet set{std::move(infos.system), {}, std::move(infos.run)};
  for (SampleInfo& info : infos.samples) {
    const fs::path file = problem_path(folder, info);
    StoredProblem stored = load_problem(file);
    if (problem_hash(stored.problem, stored.warm) != info.hash) {
      throw InputError(file.string(),
                       fmt::format("is not the problem listed in {}; record again", manifest(folder, system).string()));
    }
    set.samples.push_back({std::move(info), std::move(stored.problem), std::move(stored.warm)});
  }
  return set;
}

}  // namespace sarrus
