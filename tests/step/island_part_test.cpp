// Islands of a problem taken as a problem of their own.
#include "sarrus/step/island_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sarrus/problem/judge.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/simulation.h"

namespace sarrus::island_part_test {
namespace {

// A pile that has not come together yet: many islands. Each half of them has the impulses that it has in the whole, to
// the last bit, and the judge finds the same error of each.
TEST(IslandPart, HasTheAnswerAndTheErrorOfTheWhole) {
  Simulation sim(make_scene("clutter40"));
  for (int i = 0; i < 130; ++i) sim.step();
  const ConstraintProblem& p = sim.problem();
  const int count = p.islands.count();
  ASSERT_GE(count, 4);
  std::vector<double> whole(static_cast<std::size_t>(p.rows()), 0.0);
  make_solver("cascade")->solve(p, 1e-9, whole);
  JudgeWorkspace of_whole, of_part;
  judge(p, whole, of_whole);

  std::vector<double> assembled(whole.size(), -1.0);
  IslandPart part;
  for (int half = 0; half < 2; ++half) {
    std::vector<std::uint8_t> marked(static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k) marked[static_cast<std::size_t>(k)] = k % 2 == half ? 1 : 0;
    part.take(p, marked);
    const ConstraintProblem& mine = part.problem();
    EXPECT_EQ(mine.islands.count(), (count + 1 - half) / 2);
    EXPECT_EQ(mine.dt, p.dt);
    std::vector<double> lambda(static_cast<std::size_t>(mine.rows()), 0.0);
    make_solver("cascade")->solve(mine, 1e-9, lambda);
    judge(mine, lambda, of_part);
    for (int k = 0; k < mine.islands.count(); ++k) {
      const double expected = of_whole.error[static_cast<std::size_t>(2 * k + half)];
      EXPECT_EQ(of_part.error[static_cast<std::size_t>(k)], expected);
    }
    part.scatter(p, lambda, assembled);
  }
  EXPECT_EQ(assembled, whole);
}

}  // namespace
}  // namespace sarrus::island_part_test
