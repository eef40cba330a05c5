// The Newton solvers allocate nothing once their buffers have grown.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sarrus/families/families.h"
#include "sarrus/solvers/registry.h"
#include "solvers/problem_surgery.h"
#include "support/allocations.h"

namespace sarrus::solver_allocation_test {
namespace {

using test::allocations_of;

// The same problem again, cold and warm.
TEST(SolverAllocation, SolvingAgainAllocatesNothing) {
  for (const char* family : {"stewart", "walker31", "ring20", "stack15_heavy_sliding", "pile200"}) {
    const ConstraintProblem p = problem_family(family).make(1);
    for (const std::string id : {"cascade", "ssn", "ipm", "admm2"}) {
      const auto solver =
          make_solver(id, id == "admm2" ? SolverParameters{{"max_iterations", 300}} : SolverParameters{});
      std::vector<double> lambda(static_cast<std::size_t>(p.rows()), 0.0);
      int factorisations = solver->solve(p, 1e-9, lambda).factorisations;
      EXPECT_GT(factorisations, 0);
      std::vector<double> again(lambda.size(), 0.0);
      EXPECT_EQ(allocations_of([&] { factorisations = solver->solve(p, 1e-9, again).factorisations; }), 0)
          << id << " on " << family;
      EXPECT_EQ(again, lambda) << id << " on " << family;
      EXPECT_GT(factorisations, 0);
      EXPECT_EQ(allocations_of([&] { solver->solve(p, 1e-9, again); }), 0) << id << " on " << family << ", warm";
    }
  }
}

TEST(SolverAllocation, ConvexSolversAndAccelerationAllocateNothingEither) {
  const std::vector<std::pair<std::string, SolverParameters>> solvers = {
      {"sap", {}},
      {"sap", {{"line_search", 1}}},
      {"apgd", {{"max_iterations", 300}}},
      {"admm-ncp-sa", {{"max_iterations", 300}, {"acceleration", 1}}}};
  for (const char* family : {"stewart", "stack15_heavy_sliding", "pile200"}) {
    const ConstraintProblem p = problem_family(family).make(1);
    for (const auto& [id, parameters] : solvers) {
      const auto solver = make_solver(id, parameters);
      std::vector<double> lambda(static_cast<std::size_t>(p.rows()), 0.0);
      solver->solve(p, 1e-9, lambda);
      solver->reset();
      std::vector<double> again(lambda.size(), 0.0);
      EXPECT_EQ(allocations_of([&] { solver->solve(p, 1e-9, again); }), 0) << id << " on " << family;
      EXPECT_EQ(again, lambda) << id << " on " << family;
    }
  }
}

// The bodies stay, contacts come and go: graphs, islands and sizes change. Each set has been seen twice before.
TEST(SolverAllocation, ChangingContactsAllocateNothingOnceSeen) {
  const ConstraintProblem all = problem_family("pile200").make(2);
  std::vector<ConstraintProblem> problems;
  for (int part = 2; part <= 5; ++part) {
    std::vector<int> blocks = testing::counting(all.blocks.size());
    std::erase_if(blocks, [&](int b) { return b / 4 % part == 1; });
    problems.push_back(testing::rebuild(all, testing::counting(all.node_size.size()), blocks));
  }
  for (const std::string id : {"cascade", "ssn", "ipm", "admm2"}) {
    const auto solver = make_solver(id, id == "admm2" ? SolverParameters{{"max_iterations", 300}} : SolverParameters{});
    std::vector<std::vector<double>> lambda(problems.size());
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < problems.size(); ++i) {
        lambda[i].assign(static_cast<std::size_t>(problems[i].rows()), 0.0);
        const long n = allocations_of([&] { solver->solve(problems[i], 1e-9, lambda[i]); });
        EXPECT_TRUE(round < 2 || n == 0) << id << ", problem " << i << ": " << n;
      }
    }
  }
}

}  // namespace
}  // namespace sarrus::solver_allocation_test
