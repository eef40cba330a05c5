// The cascade on the problem families: permuted and redundant rows, scaled masses and velocities, cold solves, and what
// solvers claim against what the judge finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/families/families.h"
#include "solvers/dense_ncp.h"
#include "solvers/problem_surgery.h"

namespace sarrus {
namespace {

using testing::Answer;
using testing::solve;

constexpr double kTolerance = 1e-9;
constexpr const char* kUnique[] = {"fourbar_chain", "stewart", "walker31"};  // velocities are unique
constexpr const char* kAmbiguous[] = {"ring20", "pile200"};                  // several solutions: residuals only

double velocity_difference(const ConstraintProblem& p, const VecX& u, const VecX& other,
                           const std::vector<int>& order) {
  double worst = 0;
  int at = 0;
  for (const int node : order) {
    const auto i = static_cast<std::size_t>(node);
    const int n = p.node_size[i];
    worst = std::max(worst, (u.segment(p.node_offset[i], n) - other.segment(at, n)).cwiseAbs().maxCoeff());
    at += n;
  }
  return worst;
}

void expect_solved(const Answer& a, const std::string& what) {
  EXPECT_EQ(a.report.status, SolveStatus::converged) << what;
  EXPECT_LE(a.judged.natural_map_relative, kTolerance) << what;
}

TEST(CascadeInvariance, OrderOfRowsAndNodes) {
  std::mt19937 rng(600);
  double worst = 0;
  for (const char* family : kUnique) {
    for (int seed = 1; seed <= 3; ++seed) {
      const ConstraintProblem p = problem_family(family).make(static_cast<std::uint64_t>(seed));
      const Answer a = solve(p, "cascade", kTolerance);
      std::vector<int> order;
      const Answer b = solve(testing::shuffled(p, rng, order), "cascade", kTolerance);
      expect_solved(a, family);
      expect_solved(b, family);
      const double difference = velocity_difference(p, a.u, b.u, order);
      worst = std::max(worst, difference);
      EXPECT_LE(difference, 1e-8) << family << ", " << seed;
    }
  }
  for (const char* family : kAmbiguous) {
    std::vector<int> order;
    expect_solved(solve(testing::shuffled(problem_family(family).make(1), rng, order), "cascade", kTolerance), family);
  }
  RecordProperty("worst", std::to_string(worst * 1e9) + "e-9");
}

TEST(CascadeInvariance, DoubledJointsAndContacts) {
  double worst = 0;
  for (const BlockKind kind : {BlockKind::joint, BlockKind::contact}) {
    for (const char* family : kUnique) {
      for (int seed = 1; seed <= 3; ++seed) {
        const ConstraintProblem p = problem_family(family).make(static_cast<std::uint64_t>(seed));
        const ConstraintProblem q = testing::doubled(p, kind);
        ASSERT_GT(q.rows(), p.rows());
        const Answer a = solve(p, "cascade", kTolerance);
        const Answer b = solve(q, "cascade", kTolerance);
        expect_solved(a, family);
        expect_solved(b, family);
        worst = std::max(worst, (a.u - b.u).cwiseAbs().maxCoeff());
        EXPECT_LE((a.u - b.u).cwiseAbs().maxCoeff(), 1e-8) << family << ", " << seed;
      }
    }
  }
  for (const char* family : kAmbiguous) {
    expect_solved(solve(testing::doubled(problem_family(family).make(1), BlockKind::contact), "cascade", kTolerance),
                  family);
  }
  RecordProperty("worst", std::to_string(worst * 1e9) + "e-9");
}

// --- scaling ---------------------------------------------------------------------------------------------------

ConstraintProblem scaled(ConstraintProblem p, double mass, double velocity) {
  for (double& m : p.mass) m *= mass;
  for (double& m : p.mass_inverse) m /= mass;
  p.u_free *= velocity;
  for (double& v : p.bias) v *= velocity;
  p.finish();
  return p;
}

TEST(CascadeScaling, ResidualOfScaledRowsEqualsTheJudges) {
  std::mt19937 rng(601);
  for (const Family& family : problem_families()) {
    for (const bool physical : {true, false}) {
      ConstraintProblem p = family.make(1);
      p.physical = physical;
      NcpSearch search;
      testing::load(search, p);
      VecX raw = testing::random_vector(p.rows(), rng);
      JudgeWorkspace ws;
      const Residuals judged = judge(p, std::span<const double>(raw.data(), static_cast<std::size_t>(raw.size())), ws);
      GrowingVector lambda;
      lambda.resize(p.rows());
      search.problem.gather(std::span<const double>(raw.data(), static_cast<std::size_t>(raw.size())), lambda);
      search.consider(lambda);
      EXPECT_NEAR(search.last_residual().natural, judged.natural_map, 1e-11 * judged.natural_map) << family.name;
      EXPECT_NEAR(search.last_residual().scale, judged.scale, 1e-11 * judged.scale) << family.name;
    }
  }
}

TEST(CascadeScaling, MassesAndVelocities) {
  double worst = 0;
  for (const char* family : kUnique) {
    ConstraintProblem p = problem_family(family).make(1);
    p.physical = false;  // tolerances relative to the problem's own numbers
    const Answer reference = solve(p, "cascade", 1e-10);
    for (const double mass : {1e-3, 1.0, 1e3}) {
      for (const double velocity : {1e-3, 1.0}) {
        const ConstraintProblem q = scaled(p, mass, velocity);
        // S grows with the impulses: ask for what the velocities need.
        const Answer a = solve(q, "cascade", 1e-10 / std::max(1.0, mass));
        EXPECT_EQ(a.report.status, SolveStatus::converged) << family << ", " << mass << ", " << velocity;
        const double difference = (a.u / velocity - reference.u).cwiseAbs().maxCoeff();
        worst = std::max(worst, difference);
        EXPECT_LE(difference, 1e-8) << family << ", " << mass << ", " << velocity;
      }
    }
  }
  RecordProperty("worst", std::to_string(worst * 1e9) + "e-9");
}

// --- cold solves -------------------------------------------------------------------------------------------------

TEST(CascadeCold, EveryFamily) {
  for (const Family& family : problem_families()) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Answer a = solve(family.make(seed), "cascade", kTolerance);
      expect_solved(a, std::string(family.name) + ", seed " + std::to_string(seed));
      EXPECT_EQ(a.report.residuals.natural_map, a.judged.natural_map);
      RecordProperty(std::string(family.name) + "_" + std::to_string(seed), a.report.factorisations);
    }
  }
}

TEST(CascadeCold, ClaimsOfEverySolverAreConfirmed) {
  int claims = 0;
  for (const char* family : {"fourbar_chain", "stewart", "walker31", "ring20", "stack15_light_resting"}) {
    const ConstraintProblem p = problem_family(family).make(1);
    for (const SolverInfo& s : solver_registry()) {
      const std::string id(s.id);
      const SolverParameters few = {{"max_iterations", 500}};
      const Answer a = solve(p, id, 1e-7, id == "cascade" ? SolverParameters{} : few);
      const double judged = s.law == Law::ccp ? a.judged.natural_map_ccp_relative : a.judged.natural_map_relative;
      EXPECT_EQ(a.report.residuals.natural_map, a.judged.natural_map) << id << " on " << family;
      EXPECT_EQ(a.report.status == SolveStatus::converged, judged <= 1e-7) << id << " on " << family << ": " << judged;
      claims += a.report.status == SolveStatus::converged ? 1 : 0;
    }
  }
  EXPECT_GE(claims, 10);
}

TEST(CascadeWarm, TheAnswerOfTheStepBeforeSavesWork) {
  for (const char* family : kUnique) {
    int cold = 0, warm = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
      const WarmPair pair = warm_pair(problem_family(family), seed);
      const Answer first = solve(pair.first, "cascade", kTolerance);
      const Answer second = solve(pair.second, "cascade", kTolerance, {}, first.lambda);
      const Answer from_zero = solve(pair.second, "cascade", kTolerance);
      expect_solved(second, family);
      warm += second.report.factorisations;
      cold += from_zero.report.factorisations;
      EXPECT_LE((second.u - from_zero.u).cwiseAbs().maxCoeff(), 1e-8) << family << ", " << seed;
    }
    EXPECT_LT(warm, cold) << family;
  }
}

}  // namespace
}  // namespace sarrus
