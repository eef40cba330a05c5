// The comparison of MLCP solvers [M] (spec/benchmarks.md §3): a scene runs with BPP without limits, and the MLCP of
// every k-th step is given to all solvers with the same warm start, that of the reference.
#pragma once

#include <time.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "sarrus/scenes/scenes.h"
#include "sarrus/solvers/mlcp.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/simulation.h"

namespace sarrus::testing {

inline const std::vector<std::string>& mlcp_scenes() {
  static const std::vector<std::string> names = {"log_grasp", "winch", "closed_loop_drop", "brick_wall"};
  return names;
}
inline const std::vector<std::string>& mlcp_solvers() {
  static const std::vector<std::string> ids = {"bpp", "pgs-box", "pgs-sm", "spook"};
  return ids;
}

// A scene with the inputs that belong to the run: the cubes of the ring are pushed along the circle by 100 N each
// until the first contact.
class MlcpRun {
 public:
  explicit MlcpRun(const std::string& scene, SimulationOptions options = reference())
      : sim_(make_scene(scene), std::move(options)), pushed_(scene == "closed_loop_drop") {}

  static SimulationOptions reference() {
    SimulationOptions o;
    o.solver = "bpp";
    o.solver_parameters = {{"k_cpl", 0}, {"k_dir", 0}};
    return o;
  }

  const StepReport& step() {
    if (pushed_) push();
    const StepReport& report = sim_.step();
    if (pushed_ && report.contacts > 0) {
      pushed_ = false;
      for (int i = 0; i < sim_.model().body_count(); ++i) sim_.set_body_wrench(i, Vec6::Zero());
    }
    return report;
  }
  Simulation& sim() { return sim_; }

 private:
  void push() {
    for (int i = 0; i < sim_.model().body_count(); ++i) {
      const Vec3 p = sim_.state().X_WB[static_cast<std::size_t>(i)].p;
      Vec6 wrench = Vec6::Zero();
      wrench.head<3>() = 100 * Vec3(-p.y(), p.x(), 0).normalized();
      sim_.set_body_wrench(i, wrench);
    }
  }

  Simulation sim_;
  bool pushed_;
};

inline double median(std::vector<double> x) {
  if (x.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

// What one solver did on the problems of a run.
class MlcpScore {
 public:
  explicit MlcpScore(const std::string& id) : id_(id), solver_(make_solver(id)) {}

  void add(const ConstraintProblem& p, std::span<const double> warm, int repeats) {
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
      lambda_.assign(warm.begin(), warm.end());
      solver_->reset();
      const double start = cpu_seconds();
      const SolveReport report = solver_->solve(p, kTolerance, lambda_);
      fastest = std::min(fastest, cpu_seconds() - start);
      if (i == 0) iterations_.push_back(report.iterations);
    }
    seconds_.push_back(fastest);
    psi_.push_back(delta_psi(p, lambda_, judge_));
  }

  const std::string& id() const { return id_; }
  double psi() const { return median(psi_); }
  double worst_psi() const { return psi_.empty() ? 0 : *std::max_element(psi_.begin(), psi_.end()); }
  double seconds() const { return median(seconds_); }
  double iterations() const { return median(iterations_); }

 private:
  static constexpr double kTolerance = 1e-14;  // the limits of the solvers decide when they end
  static double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  std::string id_;
  std::unique_ptr<Solver> solver_;
  JudgeWorkspace judge_;
  std::vector<double> lambda_, psi_, seconds_, iterations_;
};

struct MlcpComparison {
  std::vector<MlcpScore> scores;  // by mlcp_solvers()
  double rows = 0;                // median, of the problems given to the solvers
  int steps = 0;
  int not_converged = 0;  // steps of the reference
};

// Problems without contacts count, too, as in the paper.
inline MlcpComparison compare_mlcp(const std::string& scene, int skip, int steps, int every, int repeats) {
  MlcpComparison out;
  for (const std::string& id : mlcp_solvers()) out.scores.emplace_back(id);
  MlcpRun run(scene);
  std::vector<double> rows;
  for (int i = 0; i < skip + steps; ++i) {
    const StepReport& report = run.step();
    ++out.steps;
    out.not_converged += report.status != StepStatus::converged;
    if (i < skip || (i - skip) % every != 0) continue;
    rows.push_back(run.sim().problem().rows());
    for (MlcpScore& s : out.scores) s.add(run.sim().problem(), run.sim().warm_start_impulses(), repeats);
  }
  out.rows = median(rows);
  return out;
}

}  // namespace sarrus::testing
