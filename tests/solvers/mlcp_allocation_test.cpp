// The dense solvers (MLCP, Drumwright) allocate nothing once their buffers have grown, also when rows come and go.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sarrus/families/families.h"
#include "sarrus/solvers/registry.h"
#include "solvers/problem_surgery.h"
#include "support/allocations.h"

namespace sarrus::mlcp_allocation_test {
namespace {

using test::allocations_of;

// The family's problem, compliant by a hundredth of diag(D), and parts of it with fewer contacts.
std::vector<ConstraintProblem> problems(const char* family) {
  ConstraintProblem all = problem_family(family).make(1);
  VecX diagonal(all.rows());
  all.diagonal_D_plus_R(diagonal);
  for (int i = 0; i < all.rows(); ++i) all.R[static_cast<std::size_t>(i)] = 0.01 * diagonal[i];
  std::vector<ConstraintProblem> out = {all};
  for (int part = 2; part <= 3; ++part) {
    std::vector<int> blocks = testing::counting(all.blocks.size());
    std::erase_if(blocks, [&](int b) { return b % part == 1; });
    out.push_back(testing::rebuild(all, testing::counting(all.node_size.size()), blocks));
  }
  out.push_back(problem_family(family).make(1));  // rigid: the singular path
  return out;
}

TEST(MlcpAllocation, NothingAfterWarmUp) {
  for (const char* family : {"stewart", "ring20"}) {
    const std::vector<ConstraintProblem> list = problems(family);
    for (const std::string id :
         {"bpp", "pgs-box", "pgs-sm", "spook", "drum-bilateral", "drum-unilateral", "drum-qcqp"}) {
      SolverParameters par;
      if (id == "drum-unilateral") par = {{"max_iterations", 200}};
      if (id == "drum-qcqp") par = {{"max_iterations", 20}};
      const auto solver = make_solver(id, par);
      std::vector<double> lambda;
      for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < list.size(); ++i) {
          lambda.assign(static_cast<std::size_t>(list[i].rows()), 0.0);
          const long n = allocations_of([&] { solver->solve(list[i], 1e-9, lambda); });
          EXPECT_TRUE(round < 2 || n == 0) << id << " on " << family << ' ' << i << ": " << n;
        }
      }
    }
  }
}

TEST(MlcpAllocation, LiteralQpToo) {
  const std::vector<ConstraintProblem> list = problems("stewart");
  const auto solver = make_solver("drum-unilateral", {{"literal", 1}, {"max_iterations", 200}});
  std::vector<double> lambda(static_cast<std::size_t>(list[0].rows()), 0.0);
  solver->solve(list[0], 1e-9, lambda);
  EXPECT_EQ(allocations_of([&] { solver->solve(list[0], 1e-9, lambda); }), 0);
}

}  // namespace
}  // namespace sarrus::mlcp_allocation_test
