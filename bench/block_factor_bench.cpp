// Factoring H = M + J'GJ on one problem of each family (docs/theory/benchmarks.md §6.1): the block Cholesky of this
// project against Eigen's simplicial and CHOLMOD's simplicial and supernodal ones on the same matrix.
//
// Weights are those of a Newton step on equilibrated rows with shift 1e-8 everywhere: g = 1e8 p^2, p^-2 = D_ii on
// joints and limits, the mean of its three D_ii on a contact. All methods analyse the pattern once, with a minimum
// degree ordering, and are then timed on numbers alone. The general ones get H as a sparse matrix with all entries of
// its 6x6 blocks (what is zero in one pose is not in the next); filling it is not timed, nor is it for `block_llt`. The
// method `assemble+block_llt` shows what a solver pays: assembly from the rows, then the factor.
//
// To add a method (a block LU, for example): derive from Method, add one line to kMethods.
#include <benchmark/benchmark.h>
#include <time.h>

#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "sarrus/families/families.h"
#include "sarrus/math/block_lu.h"
#include "sarrus/solvers/normal_matrix.h"
#ifdef SARRUS_HAVE_CHOLMOD
#include "cholmod_method.h"
#endif
#include "factor_method.h"

namespace sarrus::bench {
namespace {

constexpr std::uint64_t kSeed = 1000;
constexpr double kShift = 1e-8;

std::vector<double> weights(const ConstraintProblem& p) {
  VecX d(p.rows());
  p.diagonal_D_plus_R(d);
  std::vector<double> g(static_cast<std::size_t>(p.rows()));
  for (const ConstraintBlock& b : p.blocks) {
    const double mean = d.segment(b.row, b.rows).mean();
    for (int i = b.row; i < b.row + b.rows; ++i) {
      g[static_cast<std::size_t>(i)] = 1.0 / (kShift * (b.kind == BlockKind::contact ? mean : d[i]));
    }
  }
  return g;
}

// Both halves of H with every entry of every node pair that shares a constraint.
SparseMatrix sparse_H(const ConstraintProblem& p, const std::vector<double>& g) {
  std::vector<Eigen::Triplet<double>> entries;
  const auto add_block = [&](int a, int b, const MatX& block) {
    for (int c = 0; c < block.cols(); ++c) {
      for (int r = 0; r < block.rows(); ++r) entries.emplace_back(a + r, b + c, block(r, c));
    }
  };
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto jacobian = [&](const ConstraintBlock& b, int k) {
    return Eigen::Map<const RowMajor>(p.jacobian.data() + b.jac[k], b.rows,
                                      p.node_size[static_cast<std::size_t>(b.node[k])]);
  };
  for (std::size_t i = 0; i < p.node_size.size(); ++i) {
    const int n = p.node_size[i];
    add_block(p.node_offset[i], p.node_offset[i], Eigen::Map<const MatX>(p.mass.data() + p.mass_offset[i], n, n));
  }
  for (const ConstraintBlock& b : p.blocks) {
    const Eigen::Map<const VecX> G(g.data() + b.row, b.rows);
    for (int k = 0; k < b.nodes; ++k) {
      for (int l = 0; l < b.nodes; ++l) {
        add_block(p.node_offset[static_cast<std::size_t>(b.node[k])],
                  p.node_offset[static_cast<std::size_t>(b.node[l])],
                  jacobian(b, k).transpose() * G.asDiagonal() * jacobian(b, l));
      }
    }
  }
  SparseMatrix H(p.velocity_size(), p.velocity_size());
  H.setFromTriplets(entries.begin(), entries.end());
  return H;
}

System make_system(const Family& family) {
  System s;
  s.problem = family.make(kSeed);
  s.g = weights(s.problem);
  s.H = sparse_H(s.problem, s.g);
  return s;
}

class AssembleBlockLLT : public Method {
 public:
  explicit AssembleBlockLLT(const System& s) : s_(s) { normal_.prepare(s.problem); }
  bool factor() override { return normal_.factor(s_.problem, s_.g); }
  void solve(VecX& b) override { normal_.solve(b); }

 private:
  const System& s_;
  NormalMatrix normal_;
};

// The factor overwrites H, so the blocks are loaded before each run.
class BlockLLTAlone : public Method {
 public:
  explicit BlockLLTAlone(const System& s) {
    const ConstraintProblem& p = s.problem;
    std::vector<std::uint64_t> edges;
    for (const ConstraintBlock& b : p.blocks) {
      for (int k = 0; k < b.nodes; ++k) {
        for (int l = k + 1; l < b.nodes; ++l) edges.push_back(BlockLLT::edge_key(b.node[k], b.node[l]));
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    llt_.set_nodes(p.node_size);
    llt_.analyse(edges);
    for (int i = 0; i < p.node_count(); ++i) store(s, llt_.diagonal(i), i, i);
    for (const std::uint64_t e : edges) {
      const int a = static_cast<int>(e >> 32);
      const int b = static_cast<int>(e & 0xffffffffu);
      const BlockLLT::BlockRef ref = llt_.off_diagonal(a, b);
      store(s, ref, ref.row_is_a ? a : b, ref.row_is_a ? b : a);
    }
  }
  void load() override {
    llt_.set_zero();
    for (const Entry& e : entries_) llt_.values()[e.offset] = e.value;
  }
  bool factor() override { return llt_.factor(); }
  void solve(VecX& b) override { llt_.solve(b); }
  void count(benchmark::State& state) const override {
    state.counters["blocks"] = llt_.block_count();
    state.counters["updates"] = static_cast<double>(llt_.update_count());
  }

 protected:
  struct Entry {
    int offset;
    double value;
  };
  BlockLLT llt_;
  std::vector<Entry> entries_;

 private:
  void store(const System& s, const BlockLLT::BlockRef& ref, int row_node, int column_node) {
    const ConstraintProblem& p = s.problem;
    const auto r0 = static_cast<std::size_t>(row_node);
    const auto c0 = static_cast<std::size_t>(column_node);
    for (int c = 0; c < p.node_size[c0]; ++c) {
      for (int r = 0; r < p.node_size[r0]; ++r) {
        entries_.push_back({ref.offset + c * ref.ld + r, s.H.coeff(p.node_offset[r0] + r, p.node_offset[c0] + c)});
      }
    }
  }
};

// H is symmetric here, so the transposed upper blocks are the lower ones.
class BlockLUAlone : public BlockLLTAlone {
 public:
  explicit BlockLUAlone(const System& s) : BlockLLTAlone(s), padded_(llt_.graph().padded_start(llt_.node_count())) {
    lu_.resize(llt_.graph());
  }
  void load() override {
    lu_.set_zero();
    for (const Entry& e : entries_) lu_.lower()[e.offset] = lu_.upper()[e.offset] = e.value;
  }
  bool factor() override { return lu_.factor(llt_.graph()); }
  void solve(VecX& b) override {
    const BlockGraph& graph = llt_.graph();
    for (int i = 0; i < graph.node_count(); ++i) {
      const int n = graph.node_size(i);
      padded_.segment(graph.padded_start(i), BlockGraph::pad(n)).setZero();
      padded_.segment(graph.padded_start(i), n) = b.segment(graph.node_start(i), n);
    }
    lu_.solve_padded(graph, padded_.data());
    for (int i = 0; i < graph.node_count(); ++i) {
      const int n = graph.node_size(i);
      b.segment(graph.node_start(i), n) = padded_.segment(graph.padded_start(i), n);
    }
  }

 private:
  BlockLU lu_;
  VecX padded_;
};

class EigenSimplicial : public Method {
 public:
  explicit EigenSimplicial(const System& s) : s_(s) { llt_.analyzePattern(s.H); }
  bool factor() override {
    llt_.factorize(s_.H);
    return llt_.info() == Eigen::Success;
  }
  void solve(VecX& b) override { b = llt_.solve(b).eval(); }

 private:
  const System& s_;
  Eigen::SimplicialLLT<SparseMatrix, Eigen::Lower, Eigen::AMDOrdering<int>> llt_;
};

template <class T>
std::unique_ptr<Method> make(const System& s) {
  return std::make_unique<T>(s);
}
struct MethodInfo {
  const char* name;
  std::unique_ptr<Method> (*make)(const System&);
};
constexpr MethodInfo kMethods[] = {
    {"assemble+block_llt", make<AssembleBlockLLT>},
    {"block_llt", make<BlockLLTAlone>},
    {"block_lu", make<BlockLUAlone>},
    {"eigen_simplicial", make<EigenSimplicial>},
#ifdef SARRUS_HAVE_CHOLMOD
    {"cholmod_simplicial", [](const System& s) -> std::unique_ptr<Method> { return make_cholmod(s.H, false); }},
    {"cholmod_supernodal", [](const System& s) -> std::unique_ptr<Method> { return make_cholmod(s.H, true); }},
#endif
};

// CPU time of this thread: unlike the wall clock it does not count what others do on the machine.
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Reading that clock is a system call, some tenths of a microsecond: taken off.
double clock_cost() {
  double cost = 1;
  for (int i = 0; i < 10000; ++i) {
    const double start = cpu_seconds();
    cost = std::min(cost, cpu_seconds() - start);
  }
  return cost;
}

// Loading is not part of factoring, and both take microseconds: timed by hand.
void time_factor(benchmark::State& state, const System& s, const MethodInfo& info) {
  static const double cost = clock_cost();
  const std::unique_ptr<Method> method = info.make(s);
  for (auto _ : state) {
    method->load();
    const double start = cpu_seconds();
    const bool ok = method->factor();
    const double end = cpu_seconds();
    if (!ok) {
      state.SkipWithError("H is not positive definite");
      break;
    }
    state.SetIterationTime(std::max(1e-9, end - start - cost));
  }
  method->count(state);
  state.counters["nodes"] = s.problem.node_count();
  state.counters["rows"] = s.problem.rows();
}

// Normwise backward error |b - Hx| / (|H| |x| + |b|) of the last solve, as a check that all solve the same system.
double backward_error(const System& s, const VecX& b, const VecX& x) {
  double norm = 0;
  for (int c = 0; c < s.H.outerSize(); ++c) norm = std::max(norm, s.H.col(c).cwiseAbs().sum());
  return (b - s.H * x).lpNorm<Eigen::Infinity>() / (norm * x.lpNorm<Eigen::Infinity>() + b.lpNorm<Eigen::Infinity>());
}

void time_solve(benchmark::State& state, const System& s, const MethodInfo& info) {
  const std::unique_ptr<Method> method = info.make(s);
  method->load();
  if (!method->factor()) {
    state.SkipWithError("H is not positive definite");
    return;
  }
  VecX b(s.problem.velocity_size());
  for (int i = 0; i < b.size(); ++i) b[i] = std::sin(1.0 + i);
  VecX x = b;
  for (auto _ : state) {
    x = b;
    method->solve(x);
    benchmark::DoNotOptimize(x.data());
  }
  state.counters["backward"] = backward_error(s, b, x);
}

void register_all(const std::vector<std::unique_ptr<System>>& systems) {
  for (std::size_t i = 0; i < systems.size(); ++i) {
    const System& s = *systems[i];
    const std::string family(problem_families()[i].name);
    for (const MethodInfo& m : kMethods) {
      benchmark::RegisterBenchmark((family + ":" + m.name + ":factor").c_str(), time_factor, s, m)->UseManualTime();
      benchmark::RegisterBenchmark((family + ":" + m.name + ":solve").c_str(), time_solve, s, m);
    }
  }
}

}  // namespace
}  // namespace sarrus::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::unique_ptr<sarrus::bench::System>> systems;
  for (const sarrus::Family& family : sarrus::problem_families()) {
    systems.push_back(std::make_unique<sarrus::bench::System>(sarrus::bench::make_system(family)));
  }
  sarrus::bench::register_all(systems);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
