// Solves the islands of a problem, the connected components of its node graph, one by one or on threads
// (docs/theory/newton.md §1), and has the whole answer judged.
//
// An island is solved from its own data alone: the result does not depend on the other islands, on the thread or on the
// number of threads, so the bits are the same for any of them.
#pragma once

#include <functional>
#include <memory>

#include "sarrus/solvers/ncp_search.h"
#include "sarrus/solvers/solver.h"

namespace sarrus {

// A method for one island. Each island keeps an object of its own, for its memory.
class IslandMethod {
 public:
  virtual ~IslandMethod() = default;
  // From lambda (scaled, in K; zero: cold) on; every evaluated iterate is offered to `search`, whose best one counts.
  virtual void solve(NcpSearch& search, GrowingVector& lambda) = 0;
};

struct IslandOptions {
  int threads = 1;
  int budget = 1 << 30;  // factorisations per island
  Law law = Law::ncp;    // ncp or ccp
};

std::unique_ptr<Solver> make_island_solver(std::function<std::unique_ptr<IslandMethod>()> make_method,
                                           const IslandOptions& options);

}  // namespace sarrus
