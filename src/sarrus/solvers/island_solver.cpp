#include "sarrus/solvers/island_solver.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "sarrus/math/tools.h"
#include "sarrus/solvers/reduction.h"
#include "sarrus/solvers/splitting.h"

namespace sarrus {
namespace {

struct Island {
  NcpSearch search;
  GrowingVector lambda;
  std::unique_ptr<IslandMethod> method;
  int most_rows = 0;  // that it has had memory for
};

class IslandSolver final : public Solver {
 public:
  IslandSolver(std::function<std::unique_ptr<IslandMethod>()> make_method, const IslandOptions& options)
      : make_method_(std::move(make_method)), options_(options) {
    if (options_.threads > 1) arena_ = std::make_unique<tbb::task_arena>(options_.threads);
  }

  SolveReport solve(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda) override;
  void share(LinearFactor* factor) override { factor_ = factor != nullptr ? factor : &own_factor_; }
  void reset() override {}

 private:
  // An island that the reduction works on.
  struct Reduced {
    int island = 0;
    bool begun = false, failed = false;
    double error = 0;
    Reduction reduction;
  };

  template <class Function>
  void for_each(int count, const Function& function);
  void reduce(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda, SolveReport& report);
  void restore(const ConstraintProblem& problem, int island, std::span<double> lambda) const;
  Island& island(std::size_t i);
  void take_memory(const ConstraintProblem& problem, const Goal& goal, int island, Island& memory);
  void solve_island(const ConstraintProblem& problem, const Goal& goal, int budget, std::span<double> lambda, int i,
                    Island& island);

  std::function<std::unique_ptr<IslandMethod>()> make_method_;
  IslandOptions options_;
  std::unique_ptr<tbb::task_arena> arena_;

  std::vector<std::unique_ptr<Island>> islands_;
  JudgeWorkspace judge_;
  LinearFactor own_factor_;
  LinearFactor* factor_ = &own_factor_;
  std::vector<std::unique_ptr<Reduced>> reduced_;
  std::vector<int> left_;  // islands for the method
  std::vector<double> start_, dropped_;
};

template <class Function>
void IslandSolver::for_each(int count, const Function& function) {
  if (arena_ && count > 1) {
    arena_->execute([&] { tbb::parallel_for(0, count, function); });
  } else {
    for (int i = 0; i < count; ++i) function(i);
  }
}

void IslandSolver::restore(const ConstraintProblem& p, int island, std::span<double> lambda) const {
  for (const int b : p.islands.blocks(island)) {
    const ConstraintBlock& block = p.blocks[at(b)];
    std::copy_n(start_.data() + block.row, block.rows, lambda.data() + block.row);
  }
}

// Passes over the islands whose error is too large, each judged with the whole problem; those that fail, or do not get
// better by half, are left to the method from where they started. Leaves in judge_ the verdict on lambda.
void IslandSolver::reduce(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda, SolveReport& report) {
  constexpr int kMostPasses = 5;
  constexpr double kBetter = 0.5;
  start_.resize(lambda.size());
  std::copy(lambda.begin(), lambda.end(), start_.begin());
  std::size_t count = 0;
  for (int i = 0; i < p.islands.count(); ++i) {
    if (goal.met_by(judge_.error[at(i)])) continue;
    if (p.blocks[at(p.islands.blocks(i).front())].kind != BlockKind::joint) {
      left_.push_back(i);
      continue;
    }
    if (count == reduced_.size()) reduced_.push_back(std::make_unique<Reduced>());
    Reduced& r = *reduced_[count++];
    r.island = i;
    r.begun = r.failed = false;
    r.error = judge_.error[at(i)];
    take_memory(p, goal, i, island(count - 1));
  }
  if (count == 0) return;
  if (!factor_->is_of(p)) {
    if (!factor_->factor(p)) {
      for (std::size_t i = 0; i < count; ++i) left_.push_back(reduced_[i]->island);
      return;
    }
  }
  report.factorisations += static_cast<int>(count);  // each island has its part
  for (int pass = 0; pass < kMostPasses; ++pass) {
    for_each(static_cast<int>(count), [&](int i) {
      Reduced& r = *reduced_[at(i)];
      if (r.failed || (r.begun && goal.met_by(r.error))) return;
      r.failed = (!r.begun && !r.reduction.begin(p, *factor_, r.island, lambda)) ||
                 !r.reduction.pass(goal.tolerance, judge_, lambda);
      r.begun = true;
      if (r.failed) restore(p, r.island, lambda);
    });
    report.residuals = judge(p, lambda, judge_);
    bool all = true;
    for (std::size_t i = 0; i < count; ++i) {
      Reduced& r = *reduced_[i];
      if (r.failed || goal.met_by(r.error)) continue;
      const double error = judge_.error[at(r.island)];
      if (!(error <= goal.tolerance) && (!(error < kBetter * r.error) || pass + 1 == kMostPasses)) r.failed = true;
      r.error = error;
      if (r.failed) restore(p, r.island, lambda);
      all = all && (r.failed || goal.met_by(error));
    }
    if (all) break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Reduced& r = *reduced_[i];
    if (r.begun) report.iterations += std::max(1, r.reduction.iterations());
    if (r.failed) left_.push_back(r.island);
  }
}

Island& IslandSolver::island(std::size_t i) {
  while (islands_.size() <= i) {
    islands_.push_back(std::make_unique<Island>());
    islands_.back()->method = make_method_();
  }
  return *islands_[i];
}

// The method may be needed long after the start for the first time: an attempt whose result is dropped leaves it the
// memory that it needs.
void IslandSolver::take_memory(const ConstraintProblem& p, const Goal& goal, int i, Island& memory) {
  constexpr int kAttempt = 4;  // factorisations
  int rows = 0;
  for (const int b : p.islands.blocks(i)) rows += p.blocks[at(b)].rows;
  if (rows <= memory.most_rows) return;
  memory.most_rows = rows;
  dropped_.resize(static_cast<std::size_t>(p.rows()));
  std::copy(start_.begin(), start_.end(), dropped_.begin());
  solve_island(p, goal, kAttempt, dropped_, i, memory);
}

void IslandSolver::solve_island(const ConstraintProblem& p, const Goal& goal, int budget, std::span<double> lambda,
                                int i, Island& island) {
  const std::span<const int> blocks = p.islands.blocks(i);
  NcpSearch& search = island.search;
  search.problem.law = options_.law;
  search.problem.load(p, blocks, p.islands.nodes(i), p.islands.local_node());
  search.begin(goal, budget);
  island.lambda.resize(search.problem.rows());
  search.problem.gather(lambda, island.lambda);
  search.problem.project(island.lambda);
  island.method->solve(search, island.lambda);
  // Rows that the island does not have (tangents without friction) stay zero.
  for (const int b : blocks) {
    std::fill_n(lambda.data() + p.blocks[at(b)].row, p.blocks[at(b)].rows, 0.0);
  }
  if (!search.found()) return;
  search.problem.scatter(search.answer(), lambda);
  // Scaling back rounds: impulses at a bound shall be exactly there.
  for (const int b : blocks) {
    if (p.blocks[at(b)].kind != BlockKind::soft) continue;
    for (int r = p.blocks[at(b)].row; r < p.blocks[at(b)].row + p.blocks[at(b)].rows; ++r) {
      lambda[at(r)] = std::clamp(lambda[at(r)], p.lower[at(r)], p.upper[at(r)]);
    }
  }
}

SolveReport IslandSolver::solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  SolveReport report;
  if (!p.v_free.allFinite() || !p.u_free.allFinite()) {
    report.residuals = judge(p, lambda, judge_);
    report.residuals.finite = false;
    report.status = SolveStatus::non_finite;
    return report;
  }
  left_.clear();
  if (options_.reduce && options_.budget > 1 && goal.criterion == Criterion::energy) {
    project_on_cones(p, lambda);
    report.residuals = judge(p, lambda, judge_);
    if (!meets(report.residuals, options_.law, goal)) {
      report.stage = "reduction";
      reduce(p, goal, lambda, report);
    }
    if (left_.empty()) {
      report.status = SolveStatus::converged;
      return report;
    }
  } else {
    for (int i = 0; i < p.islands.count(); ++i) left_.push_back(i);
  }
  const int count = static_cast<int>(left_.size());
  if (count > 0) island(at(count - 1));
  const int budget = options_.budget - (report.factorisations > 0 ? 1 : 0);
  for_each(count, [&](int i) { solve_island(p, goal, budget, lambda, left_[at(i)], *islands_[at(i)]); });
  bool found = true;
  bool exhausted = false;
  int stage = -1;
  for (int i = 0; i < count; ++i) {
    const NcpSearch& search = islands_[at(i)]->search;
    report.iterations += search.iterations;
    report.island_iterations = std::max(report.island_iterations, search.iterations);
    report.factorisations += search.system.factorisations();
    report.attempts += search.attempts;
    if (search.stage > stage) {
      stage = search.stage;
      report.stage = search.stage_name;
    }
    found = found && search.found();
    exhausted = exhausted || (!search.converged() && (search.exhausted() || search.truncated));
  }
  report.residuals = judge(p, lambda, judge_);
  if (!found || !report.residuals.finite) {
    report.status = SolveStatus::non_finite;
  } else if (meets(report.residuals, options_.law, goal)) {
    report.status = SolveStatus::converged;
  } else {
    report.status = exhausted ? SolveStatus::max_iterations : SolveStatus::stalled;
  }
  return report;
}

}  // namespace

std::unique_ptr<Solver> make_island_solver(std::function<std::unique_ptr<IslandMethod>()> make_method,
                                           const IslandOptions& options) {
  return std::make_unique<IslandSolver>(std::move(make_method), options);
}

}  // namespace sarrus
