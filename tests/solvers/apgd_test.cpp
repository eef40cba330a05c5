// APGD: sliding boxes, agreement with SAP, and what restart and the step length do.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sarrus/families/families.h"
#include "solvers/problem_surgery.h"

namespace sarrus::apgd_test {
namespace {

using testing::Answer;
using testing::solve;

Vec6 vec6(double a, double b, double c, double d, double e, double f) {
  Vec6 v;
  v << a, b, c, d, e, f;
  return v;
}

// Twelve rows on six velocities: redundant, and contacts that slide, turn and lift.
std::vector<ConstraintProblem> boxes() {
  return {testing::box_on_plane(2.0, 0.5, 0.2, 0.5, vec6(3, 1, -0.1, 0, 0, 0)),
          testing::box_on_plane(2.0, 0.5, 0.2, 0.8, vec6(1, 0, -0.3, 0.1, 0.4, 2)),
          testing::box_on_plane(100.0, 0.1, 0.3, 0.3, vec6(0.5, -0.5, -0.098, 0.3, 0, 0)),
          testing::box_on_plane(0.01, 0.02, 0.05, 1.2, vec6(0.2, 0.1, -0.5, 1, -3, 0.5))};
}

TEST(Apgd, SlidingBoxes) {
  const std::vector<ConstraintProblem> problems = boxes();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Answer a = solve(problems[i], "apgd", 1e-9);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << i << ": " << a.judged.error(Law::ccp);
    EXPECT_LE(a.report.iterations, 3000) << i;
    EXPECT_EQ(a.report.factorisations, 0);
    const Answer sap = solve(problems[i], "sap", 1e-12);
    EXPECT_LT((solve(problems[i], "apgd", 1e-12, {{"max_iterations", 50000}}).u - sap.u).cwiseAbs().maxCoeff(), 1e-9)
        << i;
  }
  // The first one slides without turning: four contacts, each as the relaxation wants it.
  const Answer a = solve(problems[0], "apgd", 1e-12, {{"max_iterations", 50000}});
  for (int corner = 0; corner < 4; ++corner) {
    EXPECT_GT(a.lambda[static_cast<std::size_t>(3 * corner + 2)], -1e-12);
  }
  EXPECT_GT(a.u[2], 0.1);  // lifts
}

TEST(Apgd, CompliantFamiliesAgreeWithSap) {
  for (const char* family : {"fourbar_chain", "stewart", "ring20", "stack15_light_sliding"}) {
    ConstraintProblem p = problem_family(family).make(1);
    testing::make_compliant(p);
    const Answer apgd = solve(p, "apgd", 1e-12, {{"max_iterations", 20000}});
    EXPECT_EQ(apgd.report.status, SolveStatus::converged) << family;
    EXPECT_LT((apgd.u - solve(p, "sap", 1e-12).u).cwiseAbs().maxCoeff(), 1e-9) << family;
  }
}

TEST(Apgd, RestartAndSmallerStepsPay) {
  int with = 0;
  int without = 0;
  int timid = 0;
  for (const char* family : {"stewart", "ring20", "stack15_light_sliding", "stack15_heavy_resting"}) {
    ConstraintProblem p = problem_family(family).make(1);
    testing::make_compliant(p);
    with += solve(p, "apgd", 1e-9, {{"max_iterations", 20000}}).report.iterations;
    without += solve(p, "apgd", 1e-9, {{"max_iterations", 20000}, {"restart", 0}}).report.iterations;
    timid += solve(p, "apgd", 1e-9, {{"max_iterations", 20000}, {"relax", 1}}).report.iterations;
  }
  EXPECT_LT(2 * with, without);
  EXPECT_LT(with, timid);
}

TEST(Apgd, WarmStartsSaveIterations) {
  for (const ConstraintProblem& p : boxes()) {
    const Answer first = solve(p, "apgd", 1e-9);
    EXPECT_EQ(solve(p, "apgd", 1.01e-9, {}, first.lambda).report.iterations, 0);
    ConstraintProblem next = p;
    next.u_free[0] += 1e-6;
    next.finish();
    EXPECT_LT(solve(next, "apgd", 1e-9, {}, first.lambda).report.iterations,
              solve(next, "apgd", 1e-9).report.iterations);
  }
}

}  // namespace
}  // namespace sarrus::apgd_test
