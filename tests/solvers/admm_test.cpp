// ADMM on small problems: known answers, the promises of the solver interface, and the registry.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/math/cones.h"
#include "sarrus/math/error.h"
#include "sarrus/solvers/registry.h"
#include "solvers/problem_surgery.h"
#include "support/dense.h"

namespace sarrus::admm_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// The node-graph path loses digits like 1e-16 / eta (Woodbury): bilateral rows bottom out near 1e-10 with eta = 1e-6.
constexpr double kTolerance = 1e-9;
constexpr double kTight = 1e-11;  // reached where every row is penalised

std::vector<double> zeros(const ConstraintProblem& p) {
  return std::vector<double>(static_cast<std::size_t>(p.rows()), 0.0);
}

struct Answer {
  std::vector<double> lambda;
  SolveReport report;
  VecX u;
};

Answer solve(const ConstraintProblem& p, const std::string& id, const SolverParameters& parameters = {},
             std::vector<double> start = {}, double tolerance = kTolerance) {
  Answer a;
  a.lambda = start.empty() ? zeros(p) : std::move(start);
  a.report = make_solver(id, parameters)->solve(p, tolerance, a.lambda);
  JudgeWorkspace ws;
  judge(p, a.lambda, ws);
  a.u = ws.u;
  return a;
}

// Relative natural map of the law that the solver solves.
double own_residual(const Residuals& r, const std::string& id) { return r.error(solver_info(id).law); }

// The variants of this solver.
std::vector<std::string> all_ids() {
  std::vector<std::string> ids;
  for (const SolverInfo& s : solver_registry()) {
    if (s.id.starts_with("admm-")) ids.emplace_back(s.id);
  }
  return ids;
}

using testing::one_contact;

Vec3 first_three(const std::vector<double>& l) { return {l[0], l[1], l[2]}; }

// --- one contact -------------------------------------------------------------------------------------

TEST(AdmmContact, ModesOfADiagonalContact) {
  const Mat3 G = Mat3::Identity() / 2;  // 2 kg
  for (const std::string id : {"admm-ncp-fp", "admm-ncp-la", "admm-ncp-sa"}) {
    const auto impulse = [&](const Vec3& b, double mu) {
      return first_three(solve(one_contact(G, b, mu), id, {}, {}, kTight).lambda);
    };
    EXPECT_LT(impulse(Vec3(1, 2, 3), 0.5).norm(), 1e-9) << id;                            // open
    EXPECT_LT((impulse(Vec3(0.3, 0, -1), 0.5) - Vec3(-0.6, 0, 2)).norm(), 1e-9) << id;    // stick
    EXPECT_LT((impulse(Vec3(3, 4, -1), 0.5) - Vec3(-0.6, -0.8, 2)).norm(), 1e-9) << id;   // slip
    EXPECT_LT((impulse(Vec3(3, 4, -1), 0.0) - Vec3(0, 0, 2)).norm(), 1e-9) << id;         // frictionless
    EXPECT_LT((impulse(Vec3(1e-3, 0, -1), 5.0) - Vec3(-2e-3, 0, 2)).norm(), 1e-9) << id;  // high friction
  }
}

TEST(AdmmContact, CcpLiftsASlidingBody) {
  const double mu = 0.5;
  const ConstraintProblem p = one_contact(Mat3::Identity() / 2, Vec3(5, 0, -1), mu);
  const double s = 2 * (1 + 5 * mu) / (1 + mu * mu);
  const Answer a = solve(p, "admm-ccp", {}, {}, kTight);
  EXPECT_LT((first_three(a.lambda) - Vec3(-mu * s, 0, s)).norm(), 1e-9);
  EXPECT_NEAR(a.u[2], mu * a.u[0], 1e-9);
  EXPECT_GT(a.u[2], 0.1);
}

// Coupled normal and tangential directions: Coulomb's law itself is the reference.
TEST(AdmmContact, CoulombsLawOnRandomContacts) {
  std::mt19937 rng(1);
  int counts[3] = {0, 0, 0};
  for (int trial = 0; trial < 300; ++trial) {
    const Mat3 B = testing::random_vector(9, rng).reshaped(3, 3);
    const Mat3 G = B * B.transpose() + 0.3 * Mat3::Identity();
    const Vec3 b = Vec3(1, 1, trial % 2 == 0 ? 1 : 3).cwiseProduct(Vec3(testing::random_vector(3, rng)));
    const double mu = 0.2 + 0.4 * (trial % 3);
    const Answer a = solve(one_contact(G, b, mu), "admm-ncp-sa", {{"max_iterations", 20000}}, {}, kTight);
    ASSERT_EQ(a.report.status, SolveStatus::converged) << trial;
    const Vec3 l = first_three(a.lambda);
    const Vec3 v = a.u;
    const double lt = l.head<2>().norm();
    if (l.norm() < 1e-8) {
      ++counts[0];
      EXPECT_GE(v[2], -1e-9);
    } else if (v.norm() < 1e-8) {
      ++counts[1];
      EXPECT_LE(lt, mu * l[2] + 1e-9);
      EXPECT_LT((l + G.inverse() * b).norm(), 1e-7);
    } else {
      ++counts[2];
      EXPECT_NEAR(v[2], 0, 1e-9);
      EXPECT_NEAR(lt, mu * l[2], 1e-9);
      EXPECT_LT((l.head<2>() * v.head<2>().norm() + lt * v.head<2>()).norm(), 1e-7);
    }
  }
  for (const int c : counts) EXPECT_GT(c, 20);  // every mode occurs
}

// --- bilateral and box rows ---------------------------------------------------------------------------

// Joints and soft rows with wide bounds are a linear system.
TEST(AdmmRows, BilateralProblemsAreLinear) {
  std::mt19937 rng(2);
  for (const std::vector<int>& sizes : {std::vector<int>{6, 6, 6, 6}, std::vector<int>{3, 12, 7, 6}}) {
    ConstraintProblem p;
    p.set_nodes(sizes);
    testing::fill_nodes(p, rng);
    for (int i = 0; i < 5; ++i) testing::add_random_block(p, BlockKind::joint, 3, 1 + i % 4, rng);
    for (int i = 0; i < 3; ++i) testing::add_random_block(p, BlockKind::soft, 1, 2, rng);
    p.finish();
    const VecX reference = test::solve_spd(p.dense_D_plus_R(), -p.v_free);
    for (const std::string& id : all_ids()) {
      const Answer a = solve(p, id, {{"max_iterations", 20000}});
      EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
      const VecX l = Eigen::Map<const VecX>(a.lambda.data(), p.rows());
      EXPECT_LT((p.dense_D_plus_R() * (l - reference)).norm(), 1e-7 * (1 + reference.norm())) << id;
    }
  }
}

TEST(AdmmRows, LimitsAndBoxes) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{3});
  for (std::size_t i = 0; i < 3; ++i) p.mass[4 * i] = p.mass_inverse[4 * i] = 1;
  p.u_free = Vec3(2, -2, -3);
  const std::vector<int> node = {0};
  for (const BlockKind kind : {BlockKind::soft, BlockKind::soft, BlockKind::limit}) {
    const ConstraintBlock& b = p.add_block(kind, 1, node);
    p.jacobian_row(b, 0, 0)[b.row] = 1;
  }
  p.lower = {-1, -5, 0};
  p.upper = {1, 5, kNan};  // the bounds of limit rows are not read
  p.finish();
  for (const std::string& id : all_ids()) {
    const Answer a = solve(p, id, {}, {}, kTight);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
    EXPECT_LT((first_three(a.lambda) - Vec3(-1, 2, 3)).norm(), 1e-9) << id;  // saturated, inside, active
  }
}

// A joint listed twice has no unique impulse, but the motion is the same.
TEST(AdmmRows, RedundantJointsDoNotChangeTheMotion) {
  std::mt19937 rng(3);
  ConstraintProblem once;
  once.set_nodes(std::vector<int>{6, 6, 6});
  testing::fill_nodes(once, rng);
  ConstraintProblem twice = once;
  const auto build = [](ConstraintProblem& p, int copies) {
    std::mt19937 local(4);
    for (int i = 0; i < 2; ++i) {
      const std::mt19937 state = local;
      for (int c = 0; c < copies; ++c) {
        local = state;
        testing::add_random_block(p, BlockKind::joint, 5, 2, local);
      }
    }
    testing::add_random_block(p, BlockKind::contact, 3, 2, local).mu = 0.6;
    p.finish();
  };
  build(once, 1);
  build(twice, 2);
  ASSERT_EQ(twice.rows(), once.rows() + 10);
  for (const std::string& id : all_ids()) {
    const Answer a = solve(once, id, {{"max_iterations", 20000}});
    const Answer b = solve(twice, id, {{"max_iterations", 20000}});
    EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
    EXPECT_EQ(b.report.status, SolveStatus::converged) << id;
    EXPECT_LT((a.u - b.u).norm(), 1e-7) << id;
  }
}

// --- promises of the interface -------------------------------------------------------------------------

void expect_in_K(const ConstraintProblem& p, const std::vector<double>& l, const std::string& label) {
  for (const ConstraintBlock& b : p.blocks) {
    for (int i = b.row; i < b.row + b.rows; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double eps = 1e-14 * (1 + std::abs(l[k]));
      if (b.kind == BlockKind::limit) {
        EXPECT_GE(l[k], 0) << label;
      }
      if (b.kind == BlockKind::soft) {
        EXPECT_GE(l[k], p.lower[k] - eps) << label;
        EXPECT_LE(l[k], p.upper[k] + eps) << label;
      }
    }
    if (b.kind == BlockKind::contact) {
      const auto k = static_cast<std::size_t>(b.row);
      EXPECT_LE(std::hypot(l[k], l[k + 1]), b.mu * l[k + 2] + 1e-14 * (1 + l[k + 2])) << label;
    }
  }
}

// Whatever the number of iterations: the answer is feasible, and the reported residual is the judge's, to the bit.
TEST(AdmmPromises, EveryAnswerIsFeasibleAndHonest) {
  std::mt19937 rng(5);
  for (int trial = 0; trial < 5; ++trial) {
    const ConstraintProblem p = testing::feasible_problem(rng);
    for (const std::string& id : all_ids()) {
      for (const double limit : {1.0, 2.0, 7.0, 25.0, 26.0, 300.0, 5000.0}) {
        const Answer a = solve(p, id, {{"max_iterations", limit}});
        JudgeWorkspace ws;
        const Residuals r = judge(p, a.lambda, ws);
        EXPECT_EQ(a.report.residuals.natural_map, r.natural_map) << id << limit;
        EXPECT_EQ(a.report.residuals.natural_map_ccp, r.natural_map_ccp) << id << limit;
        EXPECT_EQ(a.report.residuals.complementarity, r.complementarity) << id << limit;
        EXPECT_EQ(a.report.residuals.primal, r.primal) << id << limit;
        EXPECT_EQ(a.report.status == SolveStatus::converged, own_residual(r, id) <= kTolerance) << id << limit;
        EXPECT_LE(own_residual(r, id), own_residual(judge(p, zeros(p), ws), id)) << "worse than the start, " << id;
        EXPECT_LE(a.report.iterations, limit);
        expect_in_K(p, a.lambda, id + ", " + std::to_string(limit));
      }
    }
  }
}

// The status of the last permitted iteration follows the judge too, not only the cheap test inside the loop.
TEST(AdmmPromises, TheLastIterateIsJudgedLikeAnyOther) {
  std::mt19937 rng(5);
  const ConstraintProblem p = testing::feasible_problem(rng);
  for (const std::string& id : all_ids()) {
    for (const double tolerance : {1e-3, 1e-5}) {
      for (int limit = 1; limit <= 80; ++limit) {
        const Answer a = solve(p, id, {{"max_iterations", limit}}, {}, tolerance);
        EXPECT_EQ(a.report.status == SolveStatus::converged, own_residual(a.report.residuals, id) <= tolerance)
            << id << ", " << limit << " iterations, tolerance " << tolerance;
      }
    }
  }
}

// Two joints ask one body for two speeds. No impulse can do it, and growing impulses must not count as a success:
// the residual stays at half the difference, 1 m/s, however large S = max(|lambda|, ...) becomes.
TEST(AdmmPromises, AContradictionIsNotCalledConverged) {
  const ConstraintProblem p = testing::contradiction();
  for (const std::string& id : all_ids()) {
    const Answer a = solve(p, id, {{"max_iterations", 20000}}, {}, 1e-8);
    EXPECT_NE(a.report.status, SolveStatus::converged) << id << ": natural map " << a.report.residuals.natural_map;
  }
}

// A start outside of K must not come back as the answer.
TEST(AdmmPromises, AnInfeasibleStartIsProjected) {
  const ConstraintProblem p = one_contact(Mat3::Identity() / 2, Vec3(0.3, 0, -1), 0.5);
  for (const std::string& id : all_ids()) {
    for (const double limit : {1.0, 3.0, 1000.0}) {
      const Answer a = solve(p, id, {{"max_iterations", limit}}, {-1.3, 0, 2.0});
      expect_in_K(p, a.lambda, id + ", " + std::to_string(limit));
    }
  }
}

TEST(AdmmPromises, TheSolutionIsLeftAlone) {
  std::mt19937 rng(6);
  const ConstraintProblem p = testing::feasible_problem(rng);
  for (const std::string& id : all_ids()) {
    const Answer first = solve(p, id, {{"max_iterations", 50000}});
    ASSERT_EQ(first.report.status, SolveStatus::converged) << id;
    const Answer second = solve(p, id, {}, first.lambda, 1.01 * kTolerance);
    EXPECT_EQ(second.report.iterations, 0) << id;
    EXPECT_EQ(second.report.status, SolveStatus::converged) << id;
    for (std::size_t i = 0; i < first.lambda.size(); ++i) {
      EXPECT_NEAR(second.lambda[i], first.lambda[i], 1e-14 * (1 + std::abs(first.lambda[i]))) << id;
    }
  }
}

TEST(AdmmPromises, BadNumbersAreReported) {
  std::mt19937 rng(7);
  const ConstraintProblem good = testing::feasible_problem(rng);
  const std::vector<ConstraintProblem> bad = testing::spoiled(good);
  for (std::size_t i = 0; i < bad.size(); ++i) {
    for (const std::string& id : all_ids()) {
      std::vector<double> l = zeros(good);
      const SolveReport r = make_solver(id)->solve(bad[i], 1e-8, l);
      EXPECT_EQ(r.status, SolveStatus::non_finite) << id << ", case " << i;
      EXPECT_FALSE(r.residuals.finite) << id << ", case " << i;
    }
  }
}

TEST(AdmmPromises, ABadProblemDoesNotSpoilTheNextOne) {
  std::mt19937 rng(8);
  const ConstraintProblem good = testing::feasible_problem(rng);
  ConstraintProblem bad = good;
  bad.jacobian[7] = kNan;
  for (const std::string& id : all_ids()) {
    const auto solver = make_solver(id);
    std::vector<double> l = zeros(bad);
    EXPECT_EQ(solver->solve(bad, 1e-8, l).status, SolveStatus::non_finite) << id;
    solver->reset();
    l = zeros(good);
    const SolveReport report = solver->solve(good, 1e-8, l);
    const Answer fresh = solve(good, id, {}, {}, 1e-8);
    EXPECT_EQ(report.status, fresh.report.status) << id;
    EXPECT_EQ(report.iterations, fresh.report.iterations) << id;
    EXPECT_EQ(l, fresh.lambda) << id << ": a reset solver is a new one, to the bit";
  }
}

TEST(AdmmPromises, NothingToSolve) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6});
  p.finish();
  for (const std::string& id : all_ids()) {
    std::vector<double> none;
    const SolveReport r = make_solver(id)->solve(p, 1e-8, none);
    EXPECT_EQ(r.status, SolveStatus::converged) << id;
    EXPECT_EQ(r.iterations, 0) << id;
    p.u_free[0] = kNan;
    EXPECT_EQ(make_solver(id)->solve(p, 1e-8, none).status, SolveStatus::non_finite) << id;
    p.u_free[0] = 0;
  }
}

// --- registry ----------------------------------------------------------------------------------------

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Registry, RefusesUnknownNamesAndBadValues) {
  const auto says = [](const std::string& id, const SolverParameters& p, const std::string& text) {
    const std::string what = refusal([&] { make_solver(id, p); });
    EXPECT_NE(what.find(text), std::string::npos) << what;
  };
  says("admm", {},
       "solver 'admm': unknown; use one of cascade, ssn, ipm, admm2, admm-ncp-fp, admm-ncp-la, admm-ncp-sa, admm-ccp");
  says("admm-ccp", {{"max_iteration", 10}}, "parameter 'max_iteration': unknown; did you mean 'max_iterations'?");
  says("admm-ccp", {{"colour_of_the_sky", 10}}, "unknown; use one of max_iterations");
  says("admm-ccp", {{"eta", kNan}}, "give a finite number");
  says("admm-ccp", {{"eta", -1}}, "'eta': is -1; give a number in [0, 1]");
  says("admm-ccp", {{"max_iterations", 0}}, "give a number in [1,");
  says("admm-ccp", {{"omega", 2}}, "give a number in");
  EXPECT_EQ(refusal([] { make_solver("admm-ncp-la", {{"tau", 2}, {"rho0", 0.1}}); }), "accepted");
}

TEST(Registry, DefaultsAreWithinTheirBounds) {
  for (const SolverInfo& s : solver_registry()) {
    EXPECT_FALSE(s.summary.empty());
    SolverParameters all;
    for (const ParameterInfo& p : s.parameters) {
      EXPECT_FALSE(p.meaning.empty());
      all[p.name] = p.default_value;
    }
    EXPECT_NO_THROW(make_solver(s.id, all)) << s.id;
  }
}

}  // namespace
}  // namespace sarrus::admm_test
