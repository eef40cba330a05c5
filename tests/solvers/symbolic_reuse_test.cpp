// What a solver keeps from earlier problems (orderings, fill, memory) changes no bit of what it finds: heaps in which
// contacts and islands come and go, by a solver that has seen all problems before and by one that has seen none.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "effort.h"
#include "sarrus/scenes/scalable.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/simulation.h"

namespace sarrus::symbolic_reuse_test {
namespace {

void compare(const std::string& name, bool warm) {
  const std::unique_ptr<Solver> kept = make_solver(name);
  Simulation sim(make_clutter(24, false));
  std::set<std::size_t> blocks;
  std::set<int> islands;
  const int steps = test::samples(900);
  for (int i = 0; i < steps; ++i) {
    sim.step();
    const ConstraintProblem& p = sim.problem();
    if (p.rows() == 0 || i % 9 != 0) continue;
    blocks.insert(p.blocks.size());
    islands.insert(p.islands.count());
    const std::span<const double> start = sim.warm_start_impulses();
    std::vector<double> again(start.size(), 0.0);
    if (warm) std::copy(start.begin(), start.end(), again.begin());
    std::vector<double> fresh = again;
    kept->solve(p, Goal(1e-9), again);
    make_solver(name)->solve(p, Goal(1e-9), fresh);
    ASSERT_EQ(again, fresh) << name << ", step " << i;
  }
  if (test::sample_divisor() > 1) return;
  // Or nothing came and went.
  EXPECT_GT(blocks.size(), 20u);
  EXPECT_GT(islands.size(), 1u);
}

TEST(SymbolicReuse, TheDefaultSolverFindsTheSameBitsWhateverItKept) {
  compare("cascade", true);
  compare("cascade", false);
}
TEST(SymbolicReuse, SoDoNewtonAndInteriorPointAlone) {
  compare("ssn", true);
  compare("ipm", false);
}

}  // namespace
}  // namespace sarrus::symbolic_reuse_test
