// Sweeps over an island: local solutions are exact, and their limit is a solution of the whole.
#include "sarrus/solvers/island_sweeps.h"

#include <gtest/gtest.h>

#include <random>

#include "problem/random_problem.h"
#include "solvers/dense_ncp.h"

namespace sarrus::island_sweeps_test {
namespace {

TEST(IslandSweeps, OneSweepSolvesOneContact) {
  Mat3 G;
  G << 1, 0.2, 0.1, 0.2, 1.5, -0.2, 0.1, -0.2, 1.2;
  for (const double pull : {0.1, 1.0}) {  // sticks, slides
    NcpSearch search;
    testing::load(search, testing::one_contact(G, Vec3(pull, 0.7 * pull, -1), 0.4));
    GrowingVector lambda = testing::growing(VecX::Zero(3));
    IslandSweeps sweeps;
    sweeps.resize(search.problem);
    sweeps.run(search, 1, lambda);
    EXPECT_TRUE(search.consider(lambda)) << search.last_error();
  }
}

// Compliant rows of all kinds, in nodes of several sizes: sweeps contract.
TEST(IslandSweeps, ManyOfThemConverge) {
  std::mt19937 rng(311);
  IslandSweeps sweeps;  // one for all: what it keeps of a problem does not reach the next
  for (int trial = 0; trial < 20; ++trial) {
    ConstraintProblem p = testing::random_problem({6, 6, 3, 12, 6, 17, 6}, rng);
    for (const ConstraintBlock& b : p.blocks) {
      for (int r = 0; r < b.rows; ++r) p.R[static_cast<std::size_t>(b.row + r)] = 3.0;
    }
    p.finish();
    NcpSearch search;
    testing::load(search, p, 1e-10);
    GrowingVector lambda = testing::growing(VecX::Zero(search.problem.rows()));
    sweeps.resize(search.problem);
    sweeps.run(search, 3, lambda);
    EXPECT_FALSE(search.consider(lambda));
    const double first = search.last_error();
    sweeps.run(search, 300, lambda);
    search.consider(lambda);
    EXPECT_LT(search.last_error(), 1e-9) << trial << ", after three sweeps " << first;
  }
}

}  // namespace
}  // namespace sarrus::island_sweeps_test
