// SAP: the laws of compliant contact on a point mass, agreement with ADMM on the same convex problem, the families,
// rigid rows, and the promises of the solver interface.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "effort.h"
#include "problem/random_problem.h"
#include "sarrus/families/families.h"
#include "solvers/problem_surgery.h"

namespace sarrus::sap_test {
namespace {

using testing::Answer;
using testing::make_compliant;
using testing::solve;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kTolerance = 1e-9;

// --- a point mass on a plane (docs/theory/rows.md §6.2) ------------------------------------------------------

constexpr double kGravity = 9.81;
constexpr double kPi = 3.14159265358979323846;

// Compliance in the near-rigid branch: R_n = beta^2 / (4 pi^2) w, R_t = sigma w, v* = gap / (dt + tau).
struct PointMass {
  double m = 2, mu = 0.5, dt = 1e-3, tau = 1e-3, beta = 1, sigma = 1e-3;
  double w = 0.5;  // inverse mass that scales the compliance
  double gap = 0;  // m
  Vec3 u = Vec3::Zero();
  Vec3 force = Vec3::Zero();  // beside gravity, N

  double R_n() const { return beta * beta / (4 * kPi * kPi) * w; }
  double R_t() const { return sigma * w; }

  // One step; returns the impulse.
  Vec3 step() {
    ConstraintProblem p = testing::one_contact(Mat3::Identity() / m, u + dt * (force / m - Vec3(0, 0, kGravity)), mu);
    p.R = {R_t(), R_t(), R_n()};
    p.bias[2] = gap / (dt + tau);
    p.finish();
    const Answer a = solve(p, "sap", 1e-13);
    EXPECT_EQ(a.report.status, SolveStatus::converged);
    EXPECT_LE(a.report.iterations, 20);
    u = a.u;
    gap += dt * u[2];
    return {a.lambda[0], a.lambda[1], a.lambda[2]};
  }
  void settle(int steps) {
    for (int k = 0; k < steps; ++k) step();
  }
};

// At rest the normal row carries the weight: depth = R_n m g dt (dt + tau). With w = 1/m that is
// (1 + tau/dt) beta^2 g dt^2 / (4 pi^2); another measure of the inverse mass scales it.
TEST(SapPointMass, RestDepthOfNearRigidContact) {
  for (const double w : {0.5, std::sqrt(3.0) / 3 * 0.5}) {
    for (const double tau : {1e-4, 1e-3 / kPi, 2e-3}) {
      PointMass body;
      body.w = w;
      body.tau = tau;
      body.settle(400);
      const double depth = body.m * w * (1 + tau / body.dt) * kGravity * body.dt * body.dt / (4 * kPi * kPi);
      EXPECT_NEAR(-body.gap, depth, 1e-9 * depth) << w << ", " << tau;
      EXPECT_LT(body.u.norm(), 1e-12);
    }
  }
}

// Sticking creeps with R_t times the load, at most mu sigma g dt (w = 1/m).
TEST(SapPointMass, SlipOfStictionIsBounded) {
  for (const double load : {0.3, 0.9, 0.999}) {
    PointMass body;
    body.settle(400);
    body.force[0] = load * body.mu * body.m * kGravity;
    body.settle(400);
    const double bound = body.mu * body.sigma * kGravity * body.dt;
    EXPECT_NEAR(body.u[0], load * bound, 1e-6 * bound);
    EXPECT_LT(body.u[0], bound);
  }
}

// Sliding at constant speed hovers over the rest position by (dt + tau) mu |v_T|; its own depth has the factor
// 1 + mu^2 R_t / R_n of the slide branch.
TEST(SapPointMass, GlidingGapOfTheConvexModel) {
  for (const double speed : {0.1, 1.0, 3.0}) {
    PointMass body;
    body.u[0] = speed;
    body.force[0] = body.mu * body.m * kGravity;
    body.settle(3000);
    const double compression =
        body.R_n() * (1 + body.mu * body.mu * body.R_t() / body.R_n()) * body.m * kGravity * body.dt;
    const double expected = (body.dt + body.tau) * (body.mu * body.u[0] - compression);
    EXPECT_GT(body.u[0], 0.5 * speed);
    EXPECT_NEAR(body.gap, expected, 1e-8 * expected);
    EXPECT_NEAR(body.gap, (body.dt + body.tau) * body.mu * body.u[0], 0.01 * body.gap + 1e-6);
  }
}

// --- compliant problems --------------------------------------------------------------------------------

ConstraintProblem compliant(const char* family, std::uint64_t seed) {
  ConstraintProblem p = problem_family(family).make(seed);
  make_compliant(p);
  return p;
}

TEST(SapCompliant, AgreesWithAdmmOnTheSameConvexProblem) {
  std::mt19937 rng(1);
  std::vector<ConstraintProblem> problems;
  for (int i = 0; i < 5; ++i) {
    problems.push_back(testing::feasible_problem(rng));
    make_compliant(problems.back());
  }
  for (const char* family : {"fourbar_chain", "stewart", "ring20", "stack15_light_sliding"}) {
    problems.push_back(compliant(family, 1));
  }
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Answer sap = solve(problems[i], "sap", 1e-12);
    const Answer admm = solve(problems[i], "admm-ccp", 1e-12, {{"max_iterations", 50000}});
    EXPECT_LE(sap.judged.error(Law::ccp), 1e-12) << i;
    EXPECT_LT((sap.u - admm.u).cwiseAbs().maxCoeff(), 1e-9) << i;
    const Answer backtracking = solve(problems[i], "sap", 1e-12, {{"line_search", 1}});
    EXPECT_LT((sap.u - backtracking.u).cwiseAbs().maxCoeff(), 1e-9) << i;
  }
}

TEST(SapCompliant, FewNewtonStepsOnEveryFamily) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Family& family : problem_families()) {
    int most = 0;
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      ConstraintProblem p = family.make(seed);
      make_compliant(p);
      const Answer a = solve(p, "sap", kTolerance);
      EXPECT_EQ(a.report.status, SolveStatus::converged) << family.name << seed;
      EXPECT_LE(a.report.iterations, 40) << family.name << seed;  // 37 measured over 20 seeds
      EXPECT_EQ(a.report.iterations, a.report.factorisations) << family.name << seed;
      const Answer one_round = solve(p, "sap", kTolerance, {{"rounds", 1}});
      EXPECT_EQ(one_round.lambda, a.lambda) << "compliance leaves nothing to do for a second round";
      most = std::max(most, a.report.iterations);
    }
    RecordProperty(std::string(family.name), most);
  }
}

TEST(SapCompliant, WarmStartsSaveNewtonSteps) {
  for (const char* family : {"walker31", "ring20", "stack15_heavy_sliding", "pile200"}) {
    const ConstraintProblem p = compliant(family, 1);
    const Answer cold = solve(p, "sap", kTolerance);
    EXPECT_EQ(solve(p, "sap", 1.01 * kTolerance, {}, cold.lambda).report.iterations, 0) << family;
    EXPECT_LE(solve(p, "sap", 1e-11, {}, cold.lambda).report.iterations, 2) << family;
    WarmPair pair = warm_pair(problem_family(family), 1);
    make_compliant(pair.first);
    make_compliant(pair.second);
    const Answer first = solve(pair.first, "sap", kTolerance);
    const int warm = solve(pair.second, "sap", kTolerance, {}, first.lambda).report.iterations;
    EXPECT_LT(warm, solve(pair.second, "sap", kTolerance).report.iterations) << family;
  }
}

// --- rigid rows ----------------------------------------------------------------------------------------

TEST(SapRigid, EveryFamilyReachesTheTolerance) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Family& family : problem_families()) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Answer a = solve(family.make(seed), "sap", kTolerance);
      EXPECT_EQ(a.report.status, SolveStatus::converged) << family.name << seed << ": " << a.judged.error(Law::ccp);
    }
  }
}

// Contacts and joints twice: impulses are not unique, the motion is.
TEST(SapRigid, AgreesWithAdmmInVelocities) {
  std::mt19937 rng(3);
  std::vector<ConstraintProblem> problems;
  for (int i = 0; i < 4; ++i) problems.push_back(testing::feasible_problem(rng));
  problems.push_back(testing::doubled(problems[0], BlockKind::joint));
  problems.push_back(testing::doubled(problems[1], BlockKind::contact));
  problems.push_back(problem_family("stack15_light_resting").make(1));
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Answer sap = solve(problems[i], "sap", 1e-11);
    const Answer admm = solve(problems[i], "admm-ccp", 1e-11, {{"max_iterations", 50000}, {"split_joints", 1}});
    EXPECT_LE(sap.judged.error(Law::ccp), 1e-11) << i;
    // A row of a light body is asked for 1e-11 of at most 1000 m/s.
    EXPECT_LT((sap.u - admm.u).cwiseAbs().maxCoeff(), std::max(1e-9 * sap.u.cwiseAbs().maxCoeff(), 1e-8))
        << i << ": " << admm.judged.error(Law::ccp);
  }
}

// One closed form: a sliding body of the relaxation lifts by mu |v_T|.
TEST(SapRigid, LiftsASlidingBody) {
  const double mu = 0.5;
  const ConstraintProblem p = testing::one_contact(Mat3::Identity() / 2, Vec3(5, 0, -1), mu);
  const double s = 2 * (1 + 5 * mu) / (1 + mu * mu);
  const Answer a = solve(p, "sap", 1e-12);
  EXPECT_LT((Vec3(a.lambda[0], a.lambda[1], a.lambda[2]) - Vec3(-mu * s, 0, s)).norm(), 1e-10);
  EXPECT_NEAR(a.u[2], mu * a.u[0], 1e-10);
}

// The metric needs equal weights on both tangents; what is missing is proximal, so the answer is that of the given R.
TEST(SapRigid, TangentsOfUnequalCompliance) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 20; ++trial) {
    const Mat3 B = testing::random_vector(9, rng).reshaped(3, 3);
    const Mat3 G = B * B.transpose() + 0.3 * Mat3::Identity();
    ConstraintProblem p = testing::one_contact(G, Vec3(testing::random_vector(3, rng)) - Vec3(0, 0, 2), 0.6);
    p.R = {0.1, 0.4, 0.02};
    const Answer sap = solve(p, "sap", 1e-12);
    const Answer admm = solve(p, "admm-ccp", 1e-12, {{"max_iterations", 50000}});
    EXPECT_EQ(sap.report.status, SolveStatus::converged) << trial;
    EXPECT_LT((sap.u - admm.u).cwiseAbs().maxCoeff(), 1e-9) << trial;
  }
}

TEST(SapRigid, LimitsAndBoxes) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{3});
  for (std::size_t i = 0; i < 3; ++i) p.mass[4 * i] = p.mass_inverse[4 * i] = 1;
  p.u_free = Vec3(2, -2, -3);
  for (const BlockKind kind : {BlockKind::soft, BlockKind::soft, BlockKind::limit}) {
    const ConstraintBlock& b = p.add_block(kind, 1, std::vector<int>{0});
    p.jacobian_row(b, 0, 0)[b.row] = 1;
  }
  p.lower = {-1, -5, 0};
  p.upper = {1, 5, kNan};
  p.finish();
  for (const std::string id : {"sap", "apgd"}) {
    const Answer a = solve(p, id, 1e-12);
    EXPECT_LT((Vec3(a.lambda[0], a.lambda[1], a.lambda[2]) - Vec3(-1, 2, 3)).norm(), 1e-10) << id;
  }
}

// --- promises of the interface, apgd's too ---------------------------------------------------------------

const std::vector<std::string> kBoth = {"sap", "apgd"};

TEST(ConvexPromises, EveryAnswerIsHonestHoweverShortTheRun) {
  for (const std::string& id : kBoth) {
    for (const char* family : {"stewart", "ring20", "stack15_light_sliding"}) {
      const ConstraintProblem p = problem_family(family).make(2);
      double last = std::numeric_limits<double>::infinity();
      for (const int limit : {1, 2, 5, 20, 100, 400}) {
        const Answer a = solve(p, id, kTolerance, {{"max_iterations", limit}});
        EXPECT_EQ(a.report.residuals.natural_map_ccp, a.judged.natural_map_ccp) << id << limit;
        const bool good = a.judged.error(Law::ccp) <= kTolerance;
        EXPECT_EQ(a.report.status, good ? SolveStatus::converged : SolveStatus::max_iterations) << id << limit;
        EXPECT_LE(a.report.iterations, limit);
        const double size = Eigen::Map<const VecX>(a.lambda.data(), p.rows()).cwiseAbs().maxCoeff();
        EXPECT_LE(a.judged.primal, 1e-15 * (1 + size)) << id << limit;
        // A longer run has judged other iterates too, but the best of them cannot be much worse.
        EXPECT_LE(a.judged.error(Law::ccp), 1.5 * last) << id << " on " << family << ", " << limit;
        last = a.judged.error(Law::ccp);
      }
    }
  }
}

TEST(ConvexPromises, ContradictionsAreNotCalledConverged) {
  const ConstraintProblem p = testing::contradiction();
  for (const std::string& id : kBoth) {
    const Answer a = solve(p, id, 1e-8);
    EXPECT_NE(a.report.status, SolveStatus::converged) << id;
    EXPECT_TRUE(a.judged.finite) << id;
  }
}

TEST(ConvexPromises, BadNumbersAreReported) {
  std::mt19937 rng(7);
  const ConstraintProblem good = testing::feasible_problem(rng);
  const std::vector<ConstraintProblem> bad = testing::spoiled(good);
  for (const std::string& id : kBoth) {
    const auto solver = make_solver(id);
    for (std::size_t i = 0; i < bad.size(); ++i) {
      std::vector<double> l(static_cast<std::size_t>(good.rows()), 0.0);
      EXPECT_EQ(solver->solve(bad[i], 1e-8, l).status, SolveStatus::non_finite) << id << ", case " << i;
    }
    // The same object serves again, to the bit.
    std::vector<double> l(static_cast<std::size_t>(good.rows()), 0.0);
    solver->solve(good, 1e-8, l);
    EXPECT_EQ(l, solve(good, id, 1e-8).lambda) << id;
  }
}

TEST(ConvexPromises, NothingToSolve) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6});
  p.finish();
  for (const std::string& id : kBoth) {
    const Answer a = solve(p, id, 1e-8);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
    EXPECT_EQ(a.report.iterations, 0) << id;
  }
}

// Islands are solved by themselves: the motion of one does not depend on the others, to the bit.
TEST(ConvexPromises, IslandsDoNotSeeEachOther) {
  const std::vector<ConstraintProblem> parts = {compliant("stewart", 1), compliant("ring20", 1)};
  std::vector<std::vector<int>> rows;
  const ConstraintProblem both = testing::side_by_side(parts, rows);
  for (const std::string& id : kBoth) {
    const Answer whole = solve(both, id, kTolerance);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const Answer alone = solve(parts[k], id, kTolerance);
      for (std::size_t i = 0; i < rows[k].size(); ++i) {
        EXPECT_EQ(whole.lambda[static_cast<std::size_t>(rows[k][i])], alone.lambda[i]) << id;
      }
    }
  }
}

}  // namespace
}  // namespace sarrus::sap_test
