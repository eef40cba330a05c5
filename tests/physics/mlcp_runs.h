// The comparison of MLCP solvers [M] (docs/theory/benchmarks.md §3): a scene runs with BPP without a limit of pivots,
// and the MLCP of every k-th step is given to all solvers, from zero and from the warm start of the reference.
#pragma once

#include <time.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sarrus/math/statistics.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/solvers/mlcp.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/simulation.h"

namespace sarrus::testing {

inline const std::vector<std::string>& mlcp_scenes() {
  static const std::vector<std::string> names = {"log_grasp", "winch", "closed_loop_drop", "brick_wall"};
  return names;
}
struct MlcpSolverChoice {
  std::string label;
  std::string id;
  SolverParameters parameters = {};  // besides the defaults, which are the limits of the paper
};
// BPP with the five couplings of PGS-SM, too: what is left after few couplings is the error of the friction bounds.
inline const std::vector<MlcpSolverChoice>& mlcp_solvers() {
  static const std::vector<MlcpSolverChoice> list = {{"bpp", "bpp"},
                                                     {"bpp, k_cpl 5", "bpp", {{"k_cpl", 5}}},
                                                     {"pgs-box", "pgs-box"},
                                                     {"pgs-sm", "pgs-sm"},
                                                     {"spook", "spook"}};
  return list;
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
    // No limit of pivots; couplings end after 100, for time. Steps that miss the tolerance are counted.
    o.solver_parameters = {{"k_cpl", 100}, {"k_dir", 0}};
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

enum class MlcpStart : bool { cold, warm };

// What one solver did on the problems of a run.
class MlcpScore {
 public:
  MlcpScore(const MlcpSolverChoice& choice, MlcpStart start)
      : label_(choice.label), start_(start), solver_(make_solver(choice.id, choice.parameters)) {}

  void add(const ConstraintProblem& p, std::span<const double> warm, int repeats) {
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
      lambda_.assign(warm.begin(), warm.end());
      if (start_ == MlcpStart::cold) std::fill(lambda_.begin(), lambda_.end(), 0.0);
      const double begin = cpu_seconds();
      solver_->solve(p, kTolerance, lambda_);
      fastest = std::min(fastest, cpu_seconds() - begin);
    }
    seconds_.push_back(fastest);
    psi_.push_back(delta_psi(p, lambda_, judge_));
  }

  const std::string& label() const { return label_; }
  double psi() const { return quantile(psi_, 0.5); }
  double seconds() const { return quantile(seconds_, 0.5); }

 private:
  static constexpr double kTolerance = 1e-14;  // the limits of the solvers decide when they end
  static double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  std::string label_;
  MlcpStart start_;
  std::unique_ptr<Solver> solver_;
  JudgeWorkspace judge_;
  std::vector<double> lambda_, psi_, seconds_;
};

struct MlcpComparison {
  std::vector<MlcpScore> cold, warm;  // by mlcp_solvers()
  double rows = 0;                    // median, of the problems given to the solvers
  int steps = 0;
  int not_converged = 0;  // steps of the reference
};

inline MlcpComparison compare_mlcp(const std::string& scene, int skip, int steps, int every, int repeats) {
  MlcpComparison out;
  for (const MlcpSolverChoice& choice : mlcp_solvers()) {
    out.cold.emplace_back(choice, MlcpStart::cold);
    out.warm.emplace_back(choice, MlcpStart::warm);
  }
  MlcpRun run(scene);
  std::vector<double> rows;
  for (int i = 0; i < skip + steps; ++i) {
    const StepReport& report = run.step();
    ++out.steps;
    out.not_converged += report.status != StepStatus::converged;
    if (i < skip || (i - skip) % every != 0) continue;
    rows.push_back(run.sim().problem().rows());
    for (std::vector<MlcpScore>* scores : {&out.cold, &out.warm}) {
      for (MlcpScore& s : *scores) s.add(run.sim().problem(), run.sim().warm_start_impulses(), repeats);
    }
  }
  out.rows = quantile(rows, 0.5);
  return out;
}

}  // namespace sarrus::testing
