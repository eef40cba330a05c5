#include "sarrus/solvers/island_solver.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <numeric>

#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// Union-find over nodes; the root of an island is its lowest node.
class Components {
 public:
  void reset(int n) {
    parent_.resize(at(n));
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int root(int i) {
    while (parent_[at(i)] != i) {
      parent_[at(i)] = parent_[at(parent_[at(i)])];
      i = parent_[at(i)];
    }
    return i;
  }
  void join(int a, int b) {
    a = root(a);
    b = root(b);
    parent_[at(std::max(a, b))] = std::min(a, b);
  }

 private:
  std::vector<int> parent_;
};

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
  void find_islands(const ConstraintProblem& problem);
  void solve_island(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda, int i);

  std::function<std::unique_ptr<IslandMethod>()> make_method_;
  IslandOptions options_;
  std::unique_ptr<tbb::task_arena> arena_;

  Components components_;
  int island_count_ = 0;
  std::vector<int> island_of_;               // by node; -1: untouched
  std::vector<int> local_node_;              // by node
  std::vector<int> node_begin_, node_list_;  // nodes by island
  std::vector<int> block_begin_, block_list_;
  std::vector<std::unique_ptr<Island>> islands_;
  JudgeWorkspace judge_;
};

// Lists of nodes and blocks by island, ascending; islands in the order of their lowest nodes.
void IslandSolver::find_islands(const ConstraintProblem& p) {
  components_.reset(p.node_count());
  island_of_.assign(at(p.node_count()), -1);
  for (const ConstraintBlock& b : p.blocks) {
    for (int k = 1; k < b.nodes; ++k) components_.join(b.node[0], b.node[k]);
  }
  // Mark what constraints touch: first with the root, then with the number of the island.
  for (const ConstraintBlock& b : p.blocks) {
    for (int k = 0; k < b.nodes; ++k) island_of_[at(b.node[k])] = components_.root(b.node[k]);
  }
  local_node_.assign(at(p.node_count()), -1);
  island_count_ = 0;
  for (int i = 0; i < p.node_count(); ++i) {
    if (island_of_[at(i)] == i) local_node_[at(i)] = island_count_++;
  }
  for (int& island : island_of_) island = island < 0 ? -1 : local_node_[at(island)];

  node_begin_.assign(at(island_count_ + 1), 0);
  block_begin_.assign(at(island_count_ + 1), 0);
  for (const int island : island_of_) {
    if (island >= 0) ++node_begin_[at(island + 1)];
  }
  for (const ConstraintBlock& b : p.blocks) {
    if (b.nodes > 0) ++block_begin_[at(island_of_[at(b.node[0])] + 1)];
  }
  std::partial_sum(node_begin_.begin(), node_begin_.end(), node_begin_.begin());
  std::partial_sum(block_begin_.begin(), block_begin_.end(), block_begin_.begin());
  node_list_.resize(at(node_begin_.back()));
  block_list_.resize(at(block_begin_.back()));
  // Filling moves the begins to the ends; shifting them back afterwards saves a copy.
  for (int i = 0; i < p.node_count(); ++i) {
    const int island = island_of_[at(i)];
    if (island < 0) continue;
    const int position = node_begin_[at(island)]++;
    node_list_[at(position)] = i;
  }
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    if (p.blocks[i].nodes == 0) continue;
    block_list_[at(block_begin_[at(island_of_[at(p.blocks[i].node[0])])]++)] = static_cast<int>(i);
  }
  for (auto* begins : {&node_begin_, &block_begin_}) {
    std::rotate(begins->begin(), begins->end() - 1, begins->end());
    begins->front() = 0;
  }
  for (int island = 0; island < island_count_; ++island) {
    for (int k = node_begin_[at(island)]; k < node_begin_[at(island + 1)]; ++k) {
      local_node_[at(node_list_[at(k)])] = k - node_begin_[at(island)];
    }
  }
  while (static_cast<int>(islands_.size()) < island_count_) {
    islands_.push_back(std::make_unique<Island>());
    islands_.back()->method = make_method_();
  }
}

void IslandSolver::solve_island(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda, int i) {
  const auto part = [&](const std::vector<int>& list, const std::vector<int>& begin) {
    return std::span<const int>(list).subspan(at(begin[at(i)]), at(begin[at(i + 1)] - begin[at(i)]));
  };
  const std::span<const int> blocks = part(block_list_, block_begin_);
  Island& island = *islands_[at(i)];
  NcpSearch& search = island.search;
  search.problem.law = options_.law;
  search.problem.load(p, blocks, part(node_list_, node_begin_), local_node_);
  search.begin(goal.tolerance, options_.budget);
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
  find_islands(p);
  const auto run = [&](int i) { solve_island(p, goal, lambda, i); };
  if (arena_ && island_count_ > 1) {
    arena_->execute([&] { tbb::parallel_for(0, island_count_, run); });
  } else {
    for (int i = 0; i < island_count_; ++i) run(i);
  }
  bool found = true;
  bool exhausted = false;
  int stage = -1;
  for (int i = 0; i < island_count_; ++i) {
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
