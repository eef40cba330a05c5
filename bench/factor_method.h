// What block_factor_bench times: one way to factor a given H.
#pragma once

#include <benchmark/benchmark.h>

#include <Eigen/SparseCore>
#include <vector>

#include "sarrus/problem/constraint_problem.h"

namespace sarrus::bench {

using SparseMatrix = Eigen::SparseMatrix<double>;

struct System {
  ConstraintProblem problem;
  std::vector<double> g;  // weights by row
  SparseMatrix H;         // both halves
};

// The constructor does the symbolic phase.
class Method {
 public:
  virtual ~Method() = default;
  virtual void load() {}  // whatever factor() destroys; not timed
  virtual bool factor() = 0;
  virtual void solve(VecX& b) = 0;
  virtual void count(benchmark::State&) const {}  // extra counters
};

}  // namespace sarrus::bench
