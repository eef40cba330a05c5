#include "sarrus/solvers/island_solver.h"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <vector>

#include "sarrus/math/tools.h"
#include "sarrus/math/workers.h"
#include "sarrus/solvers/reduction.h"
#include "sarrus/solvers/splitting.h"

namespace sarrus {
namespace {

// Memory of one thread, for the island that it works on.
struct Workspace {
  Reduction reduction;
  NcpSearch search;
  GrowingVector lambda;
  std::unique_ptr<IslandMethod> method;
};

// What became of an island.
struct Outcome {
  bool reduced = false;  // the reduction tried
  bool solved = false;   // by the reduction
  bool found = true;
  bool exhausted = false;
  int iterations = 0, factorisations = 0, attempts = 0;
  int stage = 0;
  std::string_view stage_name = "reduction";
};

// Symbolic phases of the matrices of islands, by their lowest nodes: an island that stays finds its own again, whatever
// others come and go. What was not used in the last solve is given to whoever comes.
class Analyses {
 public:
  void begin(int nodes) {
    if (by_node_.size() != at(nodes)) {
      by_node_.assign(at(nodes), -1);
      for (Entry& e : entries_) e.node = -1;
    }
    ++turn_;
    free_ = 0;
  }
  // The place of an island's; valid as long as there are no more than there were in this solve.
  int place(int lowest) {
    int& known = by_node_[at(lowest)];
    if (known < 0) {
      while (free_ < entries_.size() && entries_[free_].turn + 1 >= turn_ && entries_[free_].node >= 0) ++free_;
      if (free_ == entries_.size()) entries_.emplace_back();
      Entry& e = entries_[free_];
      if (e.node >= 0) by_node_[at(e.node)] = -1;
      e.node = lowest;
      known = static_cast<int>(free_);
    }
    entries_[at(known)].turn = turn_;
    return known;
  }
  NormalMatrix::Analysis& operator[](int place) { return entries_[at(place)].analysis; }

 private:
  struct Entry {
    int node = -1;
    std::int64_t turn = 0;
    NormalMatrix::Analysis analysis;
  };
  std::vector<Entry> entries_;
  std::vector<int> by_node_;
  std::int64_t turn_ = 0;
  std::size_t free_ = 0;
};

class IslandSolver final : public Solver {
 public:
  IslandSolver(std::function<std::unique_ptr<IslandMethod>()> make_method, const IslandOptions& options)
      : make_method_(std::move(make_method)), options_(options), own_workers_(options.threads) {}

  SolveReport solve(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda) override;
  void share(LinearFactor* factor, JudgeWorkspace* judged) override {
    factor_ = factor != nullptr ? factor : &own_factor_;
    judge_ = judged != nullptr ? judged : &own_judge_;
  }
  void reset() override {}

 private:
  struct Size {
    int rows = 0, nodes = 0, product = 0;
    // False if `largest` must grow for this one.
    bool within(Size& largest) const {
      if (rows <= largest.rows && nodes <= largest.nodes && product <= largest.product) return true;
      largest = {std::max(rows, largest.rows), std::max(nodes, largest.nodes), std::max(product, largest.product)};
      return false;
    }
  };
  int budget_of(const Goal& goal) const { return options_.budget > 0 ? options_.budget : goal.budget; }
  void call_workers();
  bool find_work(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda);
  void reduce(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda);
  bool reduce_island(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda, int island,
                     Workspace& workspace);
  void take_memory(const ConstraintProblem& problem, const Goal& goal, std::span<const int> islands,
                   std::span<double> lambda);
  void take_memory_to_reduce(const ConstraintProblem& problem, std::span<const double> lambda);
  void solve_rest(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda);
  void run_method(const ConstraintProblem& problem, const Goal& goal, int budget, std::span<const double> lambda,
                  int island, Workspace& workspace);
  void write(const ConstraintProblem& problem, int island, const NcpSearch& search, std::span<double> lambda) const;
  void sum_up(SolveReport& report) const;

  std::function<std::unique_ptr<IslandMethod>()> make_method_;
  IslandOptions options_;
  Workers own_workers_;
  Workers* workers_ = &own_workers_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // by worker
  Size largest_, largest_reduced_;                      // that all of them have memory for
  Analyses analyses_;
  JudgeWorkspace own_judge_;
  JudgeWorkspace* judge_ = &own_judge_;
  LinearFactor own_factor_;
  LinearFactor* factor_ = &own_factor_;
  Reduction::Shared shared_;
  std::vector<Outcome> outcomes_;  // by island
  std::vector<int> work_;          // islands that do not meet the goal
  std::vector<int> left_;          // islands for the method
  std::vector<int> places_;        // of their analyses
  std::vector<double> start_;
};

// Its own team if it was asked for one, else that of the step.
void IslandSolver::call_workers() {
  workers_ = own_workers_.count() > 1 ? &own_workers_ : &Workers::here();
  while (static_cast<int>(workspaces_.size()) < workers_->count()) {
    workspaces_.push_back(std::make_unique<Workspace>());
    workspaces_.back()->method = make_method_();
    largest_ = largest_reduced_ = {};
  }
  workspaces_.front()->search.system.use(factor_->spare());
}

int rows_of(const ConstraintProblem& p, int island) {
  int rows = 0;
  for (const int b : p.islands.blocks(island)) rows += p.blocks[at(b)].rows;
  return rows;
}

// Those that the reduction has to do with besides joints, which come first.
int reduced_rows(const ConstraintProblem& p, int island) {
  int rows = 0;
  for (const int i : p.islands.blocks(island) | std::views::reverse) {
    const ConstraintBlock& b = p.blocks[at(i)];
    if (b.kind == BlockKind::joint) break;
    rows += b.kind == BlockKind::contact && b.mu == 0 ? 1 : b.rows;
  }
  return rows;
}

// Joints come first.
bool has_joints(const ConstraintProblem& p, int island) {
  return p.blocks[at(p.islands.blocks(island).front())].kind == BlockKind::joint;
}
bool has_others(const ConstraintProblem& p, int island) {
  return p.blocks[at(p.islands.blocks(island).back())].kind != BlockKind::joint;
}

// Islands whose error is too large; false if there are none.
bool IslandSolver::find_work(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  work_.clear();
  left_.clear();
  outcomes_.assign(at(p.islands.count()), Outcome{});
  begin_measure(p, *judge_);
  if (!options_.reduce || budget_of(goal) <= 1 || goal.criterion != Criterion::energy) {
    for (int i = 0; i < p.islands.count(); ++i) left_.push_back(i);
    return true;
  }
  project_on_cones(p, lambda);
  workers_->each(p.islands.count(), [&](int i, int) { measure_island(p, i, lambda, *judge_); });
  for (int i = 0; i < p.islands.count(); ++i) {
    if (!goal.met_by(judge_->error[at(i)])) work_.push_back(i);
  }
  return !work_.empty() || !goal.met_by(finish_measure(p, lambda, *judge_));
}

// Islands that the reduction does not solve go to left_, their impulses as they were.
void IslandSolver::reduce(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  const bool six = std::all_of(p.node_size.begin(), p.node_size.end(), [](int n) { return n == 6; });
  const bool any = six && std::any_of(work_.begin(), work_.end(), [&](int i) { return has_joints(p, i); });
  const bool factored = any && (factor_->is_of(p) || factor_->factor(p));
  if (factored) {
    start_.resize(lambda.size());
    std::copy(lambda.begin(), lambda.end(), start_.begin());
    take_memory(p, goal, work_, lambda);
    shared_.resize(factor_->llt().graph());
    if (workspaces_.size() > 1) take_memory_to_reduce(p, lambda);
    workers_->each(static_cast<int>(work_.size()), [&](int k, int worker) {
      const int i = work_[at(k)];
      outcomes_[at(i)].solved = has_joints(p, i) && reduce_island(p, goal, lambda, i, *workspaces_[at(worker)]);
    });
  }
  for (const int i : work_) {
    if (!outcomes_[at(i)].solved) left_.push_back(i);
  }
}

// Passes until the goal is met; false if they do not get better by half.
bool IslandSolver::reduce_island(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda, int i,
                                 Workspace& workspace) {
  constexpr int kMostPasses = 5;
  constexpr double kBetter = 0.5;
  Reduction& reduction = workspace.reduction;
  if (!reduction.collect(p, *factor_, i, lambda)) return false;
  Outcome& outcome = outcomes_[at(i)];
  outcome.reduced = true;
  outcome.factorisations = 1;  // its part of that of all
  bool solved = false;
  if (reduction.begin(shared_, budget_of(goal))) {
    double error = judge_->error[at(i)];
    for (int pass = 0; pass < kMostPasses && !solved; ++pass) {
      if (!reduction.pass(goal.tolerance, *judge_, lambda)) break;
      const double last = error;
      error = measure_island(p, i, lambda, *judge_);
      solved = goal.met_by(error);
      if (!(error < kBetter * last)) break;
    }
  }
  outcome.iterations = std::max(1, reduction.iterations());
  if (solved) return true;
  for (const int b : p.islands.blocks(i)) {
    const ConstraintBlock& block = p.blocks[at(b)];
    std::copy_n(start_.data() + block.row, block.rows, lambda.data() + block.row);
  }
  return false;
}

// The method may be needed long after the start for the first time, and by any thread: an attempt whose result is
// dropped leaves its first stages the memory that they need, whenever an island is larger than all before. Islands of
// joints alone are linear and do not need it.
void IslandSolver::take_memory(const ConstraintProblem& p, const Goal& goal, std::span<const int> islands,
                               std::span<double> lambda) {
  constexpr int kAttempt = 4;  // factorisations
  for (const int i : islands) {
    if (!has_others(p, i)) continue;
    const int rows = rows_of(p, i);
    const auto nodes = static_cast<int>(p.islands.nodes(i).size());
    if (Size{rows, nodes, rows * nodes}.within(largest_)) continue;
    workers_->each(static_cast<int>(workspaces_.size()),
                   [&](int k, int) { run_method(p, goal, kAttempt, lambda, i, *workspaces_[at(k)]); });
  }
}

// The same of the reduction: which thread meets the largest island first is left to chance.
void IslandSolver::take_memory_to_reduce(const ConstraintProblem& p, std::span<const double> lambda) {
  for (const int i : work_) {
    if (!has_joints(p, i)) continue;
    const int rows = reduced_rows(p, i);
    const auto nodes = static_cast<int>(p.islands.nodes(i).size());
    Size grown = largest_reduced_;
    if (Size{rows, nodes, rows * nodes}.within(grown)) continue;
    if (!workspaces_.front()->reduction.collect(p, *factor_, i, lambda)) continue;
    largest_reduced_ = grown;
    for (const auto& workspace : workspaces_) {
      if (workspace->reduction.collect(p, *factor_, i, lambda)) workspace->reduction.begin(shared_, 1);
    }
  }
}

void IslandSolver::run_method(const ConstraintProblem& p, const Goal& goal, int budget, std::span<const double> lambda,
                              int i, Workspace& workspace) {
  NcpSearch& search = workspace.search;
  search.problem.law = options_.law;
  search.problem.load(p, p.islands.blocks(i), p.islands.nodes(i), p.islands.local_node());
  search.begin(goal, budget);
  workspace.lambda.resize(search.problem.rows());
  search.problem.gather(lambda, workspace.lambda);
  search.problem.project(workspace.lambda);
  workspace.method->solve(search, workspace.lambda);
}

void IslandSolver::write(const ConstraintProblem& p, int i, const NcpSearch& search, std::span<double> lambda) const {
  const std::span<const int> blocks = p.islands.blocks(i);
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

// The islands of left_ by the method.
void IslandSolver::solve_rest(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  if (left_.empty()) return;
  if (workspaces_.size() > 1) take_memory(p, goal, left_, lambda);
  analyses_.begin(p.node_count());
  places_.clear();
  for (const int i : left_) places_.push_back(analyses_.place(p.islands.nodes(i).front()));
  workers_->each(static_cast<int>(left_.size()), [&](int k, int worker) {
    const int i = left_[at(k)];
    Workspace& workspace = *workspaces_[at(worker)];
    NcpSearch& search = workspace.search;
    Outcome& outcome = outcomes_[at(i)];
    search.system.exchange(analyses_[places_[at(k)]]);
    run_method(p, goal, budget_of(goal) - (outcome.reduced ? 1 : 0), lambda, i, workspace);
    search.system.exchange(analyses_[places_[at(k)]]);
    write(p, i, search, lambda);
    measure_island(p, i, lambda, *judge_);
    outcome.found = search.found();
    outcome.exhausted = !search.converged() && (search.exhausted() || search.truncated);
    outcome.iterations += search.iterations;
    outcome.factorisations += search.system.factorisations();
    outcome.attempts = search.attempts;
    outcome.stage = search.stage;
    outcome.stage_name = search.stage_name;
  });
}

void IslandSolver::sum_up(SolveReport& report) const {
  int stage = -1;
  for (const int i : work_.empty() ? left_ : work_) {  // where there is work, islands of left_ are among it
    const Outcome& o = outcomes_[at(i)];
    if (o.stage > stage) {
      stage = o.stage;
      report.stage = o.stage_name;
    }
    report.iterations += o.iterations;
    report.island_iterations = std::max(report.island_iterations, o.iterations);
    report.factorisations += o.factorisations;
    report.island_factorisations = std::max(report.island_factorisations, o.factorisations);
    report.attempts += o.attempts;
  }
}

SolveReport IslandSolver::solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  SolveReport report;
  // 0 x is 0 for numbers alone; a sum is quicker than a test of each.
  if ((0.0 * p.v_free).sum() + (0.0 * p.u_free).sum() != 0) {
    report.residuals = judge(p, lambda, *judge_);
    report.residuals.finite = false;
    report.status = SolveStatus::non_finite;
    return report;
  }
  call_workers();
  own_factor_.forget();  // another problem may be where the last one was
  judge_->forget();
  if (find_work(p, goal, lambda)) {
    if (!work_.empty()) reduce(p, goal, lambda);
    solve_rest(p, goal, lambda);
    finish_measure(p, lambda, *judge_);
  }
  sum_up(report);
  report.residuals = judge_measured(p, lambda, *judge_);
  bool found = true;
  bool exhausted = false;
  for (const int i : left_) {
    found = found && outcomes_[at(i)].found;
    exhausted = exhausted || outcomes_[at(i)].exhausted;
  }
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
