#include "sarrus/solvers/island_solver.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

struct Island {
  NcpSearch search;
  GrowingVector lambda;
  std::unique_ptr<IslandMethod> method;
};

class IslandSolver final : public Solver {
 public:
  IslandSolver(std::function<std::unique_ptr<IslandMethod>()> make_method, const IslandOptions& options)
      : make_method_(std::move(make_method)), options_(options) {
    if (options_.threads > 1) arena_ = std::make_unique<tbb::task_arena>(options_.threads);
  }

  SolveReport solve(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda) override;
  void reset() override {}

 private:
  void solve_island(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda, int i);

  std::function<std::unique_ptr<IslandMethod>()> make_method_;
  IslandOptions options_;
  std::unique_ptr<tbb::task_arena> arena_;

  std::vector<std::unique_ptr<Island>> islands_;
  JudgeWorkspace judge_;
};

void IslandSolver::solve_island(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda, int i) {
  const std::span<const int> blocks = p.islands.blocks(i);
  Island& island = *islands_[at(i)];
  NcpSearch& search = island.search;
  search.problem.law = options_.law;
  search.problem.load(p, blocks, p.islands.nodes(i), p.islands.local_node());
  search.begin(goal, options_.budget);
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
  const int count = p.islands.count();
  while (static_cast<int>(islands_.size()) < count) {
    islands_.push_back(std::make_unique<Island>());
    islands_.back()->method = make_method_();
  }
  const auto run = [&](int i) { solve_island(p, goal, lambda, i); };
  if (arena_ && count > 1) {
    arena_->execute([&] { tbb::parallel_for(0, count, run); });
  } else {
    for (int i = 0; i < count; ++i) run(i);
  }
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
