// The splitting solvers allocate nothing once their buffers have grown.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sarrus/families/families.h"
#include "sarrus/solvers/registry.h"
#include "solvers/problem_surgery.h"
#include "support/allocations.h"

namespace sarrus::splitting_allocation_test {
namespace {

using test::allocations_of;

// The bodies stay, contacts come and go. Buffers of the contact order are swapped, so each set is seen twice before.
TEST(SplittingAllocation, SolvingAgainAllocatesNothing) {
  for (const char* family : {"walker31", "pile200"}) {
    const ConstraintProblem all = problem_family(family).make(1);
    std::vector<int> some = testing::counting(all.blocks.size());
    std::erase_if(some, [](int b) { return b / 4 % 3 == 1; });
    const ConstraintProblem fewer = testing::rebuild(all, testing::counting(all.node_size.size()), some);
    for (const std::string id :
         {"pgs-ccp", "pgs-ccp-ds", "pgs-ncp", "nbgs", "nbgs-exact", "raisim", "raisim-ds", "raisim-ds-es", "prox"}) {
      for (const double order : {0.0, 2.0}) {
        const auto solver = make_solver(id, {{"max_iterations", 30}, {"order", order}});
        for (int round = 0; round < 3; ++round) {
          for (const ConstraintProblem* p : {&fewer, &all}) {
            std::vector<double> lambda(static_cast<std::size_t>(p->rows()), 0.0);
            int sweeps = 0;
            const long n = allocations_of([&] { sweeps = solver->solve(*p, 1e-9, lambda).iterations; });
            EXPECT_GT(sweeps, 0) << id;
            EXPECT_TRUE(round < 2 || n == 0) << id << " on " << family << ": " << n;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sarrus::splitting_allocation_test
