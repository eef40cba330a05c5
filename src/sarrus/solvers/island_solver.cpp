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
  void share(LinearFactor* factor, JudgeWorkspace* judged) override {
    factor_ = factor != nullptr ? factor : &own_factor_;
    judge_ = judged != nullptr ? judged : &own_judge_;
  }
  void reset() override {}

 private:
  // Of an island: the reduction that works on it.
  struct Reduced {
    bool begun = false, failed = false;
    double error = 0;
    Reduction reduction;
  };

  template <class Function>
  void for_each(int count, const Function& function);
  void reduce(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda, SolveReport& report);
  void restore(const ConstraintProblem& problem, int island, std::span<double> lambda) const;
  Island& island(std::size_t i);
  void take_memory(const ConstraintProblem& problem, const Goal& goal, int island);
  void solve_island(const ConstraintProblem& problem, const Goal& goal, int budget, std::span<double> lambda, int i,
                    Island& island);

  std::function<std::unique_ptr<IslandMethod>()> make_method_;
  IslandOptions options_;
  std::unique_ptr<tbb::task_arena> arena_;

  std::vector<std::unique_ptr<Island>> islands_;  // by island
  JudgeWorkspace own_judge_;
  JudgeWorkspace* judge_ = &own_judge_;
  LinearFactor own_factor_;
  LinearFactor* factor_ = &own_factor_;
  std::vector<std::unique_ptr<Reduced>> reduced_;  // by island
  Reduction::Shared shared_;
  double error_ = 0;       // of the present impulses
  std::vector<int> work_;  // islands for the reduction
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
// better by half, go to left_, their impulses as they were.
void IslandSolver::reduce(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda, SolveReport& report) {
  constexpr int kMostPasses = 5;
  constexpr double kBetter = 0.5;
  start_.resize(lambda.size());
  std::copy(lambda.begin(), lambda.end(), start_.begin());
  work_.clear();
  const bool six = std::all_of(p.node_size.begin(), p.node_size.end(), [](int n) { return n == 6; });
  while (static_cast<int>(reduced_.size()) < p.islands.count()) reduced_.push_back(std::make_unique<Reduced>());
  for (int i = 0; i < p.islands.count(); ++i) {
    if (goal.met_by(judge_->error[at(i)])) continue;
    Reduced& r = *reduced_[at(i)];
    if (!six || !r.reduction.collect(p, i, lambda)) {
      left_.push_back(i);
      continue;
    }
    r.begun = r.failed = false;
    r.error = judge_->error[at(i)];
    work_.push_back(i);
    take_memory(p, goal, i);
  }
  if (work_.empty()) return;
  if (!factor_->is_of(p) && !factor_->factor(p)) {
    left_.insert(left_.end(), work_.begin(), work_.end());
    std::sort(left_.begin(), left_.end());
    return;
  }
  report.factorisations += static_cast<int>(work_.size());  // each island has its part
  shared_.resize(factor_->llt().graph());
  for (int pass = 0; pass < kMostPasses; ++pass) {
    for_each(static_cast<int>(work_.size()), [&](int k) {
      Reduced& r = *reduced_[at(work_[at(k)])];
      if (r.failed || (r.begun && goal.met_by(r.error))) return;
      if (!r.begun) r.failed = !r.reduction.begin(*factor_, shared_, options_.budget);
      r.begun = true;
      r.failed = r.failed || !r.reduction.pass(goal.tolerance, *judge_, lambda);
      if (r.failed) restore(p, work_[at(k)], lambda);
    });
    error_ = measure(p, lambda, *judge_);
    bool all = true;
    for (const int i : work_) {
      Reduced& r = *reduced_[at(i)];
      if (r.failed || goal.met_by(r.error)) continue;
      const double error = judge_->error[at(i)];
      r.failed = !goal.met_by(error) && (!(error < kBetter * r.error) || pass + 1 == kMostPasses);
      r.error = error;
      if (r.failed) restore(p, i, lambda);
      all = all && (r.failed || goal.met_by(error));
    }
    if (all) break;
  }
  for (const int i : work_) {
    const Reduced& r = *reduced_[at(i)];
    const int iterations = std::max(1, r.reduction.iterations());
    report.iterations += iterations;
    report.island_iterations = std::max(report.island_iterations, iterations);
    if (r.failed) left_.push_back(i);
  }
  std::sort(left_.begin(), left_.end());
}

Island& IslandSolver::island(std::size_t i) {
  while (islands_.size() <= i) {
    islands_.push_back(std::make_unique<Island>());
    islands_.back()->method = make_method_();
  }
  return *islands_[i];
}

// The method may be needed long after the start for the first time: an attempt whose result is dropped leaves its first
// stages the memory that they need. It is made for every island that is larger than what was at its place before.
void IslandSolver::take_memory(const ConstraintProblem& p, const Goal& goal, int i) {
  constexpr int kAttempt = 4;  // factorisations
  Island& memory = island(at(i));
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
    report.residuals = judge(p, lambda, *judge_);
    report.residuals.finite = false;
    report.status = SolveStatus::non_finite;
    return report;
  }
  left_.clear();
  own_factor_.forget();  // another problem may be where the last one was
  judge_->forget();
  if (options_.reduce && options_.budget > 1 && goal.criterion == Criterion::energy) {
    project_on_cones(p, lambda);
    error_ = measure(p, lambda, *judge_);
    if (!goal.met_by(error_)) {
      report.stage = "reduction";
      reduce(p, goal, lambda, report);
    }
    if (left_.empty() && goal.met_by(error_)) {
      report.residuals = judge_measured(p, lambda, *judge_);
      report.status = SolveStatus::converged;
      return report;
    }
  } else {
    for (int i = 0; i < p.islands.count(); ++i) left_.push_back(i);
  }
  const int count = static_cast<int>(left_.size());
  if (count > 0) island(at(left_.back()));
  const int budget = options_.budget - (report.factorisations > 0 ? 1 : 0);
  for_each(count, [&](int i) { solve_island(p, goal, budget, lambda, left_[at(i)], *islands_[at(left_[at(i)])]); });
  bool found = true;
  bool exhausted = false;
  int stage = -1;
  for (int i = 0; i < count; ++i) {
    const NcpSearch& search = islands_[at(left_[at(i)])]->search;
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
  report.residuals = judge_measured(p, lambda, *judge_);
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
