// The projective splitting family: what each member solves, and the promises of the solver interface.
#include "sarrus/solvers/splitting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/families/families.h"
#include "sarrus/solvers/registry.h"
#include "solvers/problem_surgery.h"

namespace sarrus::splitting_test {
namespace {

using testing::Answer;
using testing::solve;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const std::vector<std::string>& all_ids() {
  static const std::vector<std::string> ids = {"pgs-ccp", "pgs-ccp-ds", "pgs-ncp",      "nbgs", "nbgs-exact",
                                               "raisim",  "raisim-ds",  "raisim-ds-es", "prox"};
  return ids;
}

// Those whose fixed points obey Coulomb's law and that run until the tolerance is met.
const std::vector<std::string>& ncp_ids() {
  static const std::vector<std::string> ids = {"pgs-ccp-ds", "pgs-ncp", "nbgs-exact", "raisim-ds", "prox"};
  return ids;
}

double own_residual(const Residuals& r, const std::string& id) { return r.error(solver_info(id).law); }

// A block of 2 kg on its four lower corners, sliding and turning; half sizes in m.
ConstraintProblem sliding_box(const Vec3& half, double mu) {
  constexpr double kMass = 2, kStep = 0.01;
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6});
  const Vec3 squares = half.cwiseAbs2();
  for (int i = 0; i < 6; ++i) {
    const auto k = static_cast<std::size_t>(7 * i);
    p.mass[k] = i < 3 ? kMass : kMass / 3 * (squares.sum() - squares[i - 3]);
    p.mass_inverse[k] = 1 / p.mass[k];
  }
  p.u_free << 1.0, 0.3, -9.81 * kStep, 0, 0, 0.5;
  p.dt = kStep;
  for (int corner = 0; corner < 4; ++corner) {
    ConstraintBlock& b = p.add_block(BlockKind::contact, 3, std::vector<int>{0});
    b.mu = mu;
    const Vec3 r(corner % 2 == 0 ? -half[0] : half[0], corner / 2 == 0 ? -half[1] : half[1], -half[2]);
    for (int i = 0; i < 3; ++i) {
      const Vec3 e = Vec3::Unit(i);
      Eigen::Map<Vec3>(p.jacobian_row(b, 0, i)) = e;
      Eigen::Map<Vec3>(p.jacobian_row(b, 0, i) + 3) = r.cross(e);
    }
  }
  p.finish();
  return p;
}

const Vec3 kBox(0.5, 0.4, 0.2);

// Every second contact slides, every kind of row; well conditioned.
std::vector<ConstraintProblem> good_problems(int count) {
  std::mt19937 rng(5);
  std::vector<ConstraintProblem> out;
  for (int i = 0; i < count; ++i) out.push_back(testing::feasible_problem(rng));
  return out;
}

// --- the sliding box -----------------------------------------------------------------------------------

TEST(SlidingBox, CoulombSolversReachIt) {
  for (const Vec3& half : {kBox, Vec3(0.3, 0.2, 0.4)}) {
    const ConstraintProblem p = sliding_box(half, 0.5);
    for (const std::string& id : ncp_ids()) {
      const Answer a = solve(p, id, 1e-11);
      EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
      EXPECT_LE(a.judged.error(), 1e-11) << id;
      EXPECT_LE(a.report.iterations, 150) << id;
    }
  }
}

// Normal and tangential directions couple at the corners: least energy per contact is not Coulomb's law.
TEST(SlidingBox, LeastEnergyIsNotCoulomb) {
  const ConstraintProblem p = sliding_box(kBox, 0.5);
  const Answer nbgs = solve(p, "nbgs", 1e-11);
  const Answer raisim = solve(p, "raisim", 1e-11);
  for (const Answer* a : {&nbgs, &raisim}) {
    EXPECT_EQ(a->report.status, SolveStatus::stalled);
    EXPECT_GT(a->judged.natural_map, 1e-3);
    EXPECT_LT(a->judged.natural_map, 1e-2);
  }
  // Equal relaxation: quartic and bisection make the same sweeps.
  const Answer same = solve(p, "raisim", 1e-11, {{"gamma_omega", 1}});
  for (std::size_t i = 0; i < same.lambda.size(); ++i) EXPECT_NEAR(same.lambda[i], nbgs.lambda[i], 1e-10);
}

// Corners at the height of the centre of mass: nothing couples, and least energy is Coulomb's law.
TEST(SlidingBox, WithoutCouplingLeastEnergyIsCoulomb) {
  const ConstraintProblem p = sliding_box(Vec3(0.5, 0.4, 0), 0.5);
  for (const std::string id : {"nbgs", "raisim"}) {
    const Answer a = solve(p, id, 1e-11);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
  }
  const Vec3 b(3, 4, -1);
  const ConstraintProblem mass = testing::one_contact(Mat3::Identity() / 2, b, 0.5);
  for (const std::string& id : all_ids()) {
    if (id == "pgs-ccp" || id == "raisim-ds-es") continue;
    const Answer a = solve(mass, id, 1e-12);
    EXPECT_LT((Vec3(a.lambda[0], a.lambda[1], a.lambda[2]) - Vec3(-0.6, -0.8, 2)).norm(), 1e-10) << id;
  }
}

TEST(SlidingBox, TheConvexRelaxationLifts) {
  const double mu = 0.5;
  const ConstraintProblem p = sliding_box(kBox, mu);
  const Answer a = solve(p, "pgs-ccp", 1e-12);
  EXPECT_EQ(a.report.status, SolveStatus::converged);
  EXPECT_GT(a.judged.natural_map, 0.1) << "far from Coulomb";
  VecX sigma(p.rows());
  p.multiply_J(a.u, sigma);
  int loaded = 0;
  for (const ConstraintBlock& b : p.blocks) {
    if (a.lambda[static_cast<std::size_t>(b.row + 2)] < 1e-6) continue;
    ++loaded;
    EXPECT_NEAR(sigma[b.row + 2], mu * length2(sigma[b.row], sigma[b.row + 1]), 1e-9);
    EXPECT_GT(sigma[b.row + 2], 0.05);
  }
  EXPECT_GE(loaded, 2);
}

TEST(SlidingBox, EarlyStopStopsEarlier) {
  const ConstraintProblem p = sliding_box(kBox, 0.5);
  const Answer full = solve(p, "raisim-ds", 1e-11);
  const Answer early = solve(p, "raisim-ds-es", 1e-11);
  EXPECT_LT(early.report.iterations, full.report.iterations);
  EXPECT_EQ(early.report.status, SolveStatus::stalled) << "it did not reach the tolerance and says so";
  EXPECT_LT(early.judged.error(), 1e-5);
  const Answer never = solve(p, "raisim-ds-es", 1e-11, {{"epsilon_f", 0}});
  EXPECT_EQ(never.lambda, full.lambda);
}

// --- single contacts -----------------------------------------------------------------------------------

// Least energy with the De Saxce term of the last velocity has fixed points besides Coulomb's law, all of them on
// hyperbolic slip curves; raisim-ds leaves them by the exact quartic.
TEST(SingleContact, RaisimDsConvergesInSpiteOfSpuriousFixedPoints) {
  std::mt19937 rng(13);
  std::uniform_real_distribution<double> uniform(0, 1);
  int hyperbolic = 0;
  int spurious = 0;
  for (int trial = 0; trial < 2500; ++trial) {
    const Mat3 B = testing::random_vector(9, rng).reshaped(3, 3);
    const Mat3 G = B * B.transpose() + 0.05 * Mat3::Identity();
    const Vec3 b(3 * uniform(rng), 3 * uniform(rng), -uniform(rng));
    const double mu = 0.03 * std::pow(4 / 0.03, uniform(rng));
    hyperbolic += mu * length2(G(0, 2), G(1, 2)) > G(2, 2);
    LocalContact c;
    c.set(G, mu);
    Vec3 l = Vec3::Zero();
    double change = 0;
    for (int i = 0; i < 500; ++i) {
      const Vec3 next = solve_contact_energy(c, b, de_saxce(G * l + b, mu));
      change = (next - l).norm();
      l = next;
    }
    const bool solved = natural_map(l, G * l + b, mu, Law::ncp) < 1e-6 * std::max(1.0, l.norm());
    EXPECT_TRUE(solved || mu * length2(G(0, 2), G(1, 2)) > G(2, 2)) << trial;
    spurious += !solved && change < 1e-12;
    const ConstraintProblem p = testing::one_contact(G, b, mu);
    EXPECT_EQ(solve(p, "raisim-ds", 1e-11, {{"max_iterations", 5000}}).report.status, SolveStatus::converged) << trial;
    const Answer exact = solve(p, "nbgs-exact", 1e-11);
    EXPECT_EQ(exact.report.status, SolveStatus::converged) << trial;
    EXPECT_LE(exact.report.iterations, 2) << trial;
  }
  EXPECT_GT(hyperbolic, 300);
  EXPECT_GT(spurious, 10);
}

// --- agreement -----------------------------------------------------------------------------------------

TEST(SplittingAgreement, VelocitiesOfTheCascade) {
  int sliding = 0;
  for (const ConstraintProblem& p : good_problems(12)) {
    const Answer reference = solve(p, "cascade", 1e-13);
    ASSERT_LE(reference.judged.error(), 1e-11);
    sliding += reference.judged.error(Law::ccp) > 1e-3;
    for (const std::string& id : ncp_ids()) {
      const Answer a = solve(p, id, 1e-12, {{"max_iterations", 20000}});
      EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
      EXPECT_LT((a.u - reference.u).cwiseAbs().maxCoeff(), 1e-9) << id;
    }
    const Answer relaxed = solve(p, "pgs-ccp", 1e-12, {{"max_iterations", 20000}});
    const Answer other = solve(p, "admm-ccp", 1e-10, {{"max_iterations", 20000}});
    EXPECT_EQ(relaxed.report.status, SolveStatus::converged);
    EXPECT_LT((relaxed.u - other.u).cwiseAbs().maxCoeff(), 1e-7) << "admm-ccp ends at 1e-10";
  }
  EXPECT_GE(sliding, 4);
}

TEST(SplittingAgreement, OrdersAndRelaxationsHaveTheSameSolution) {
  for (const ConstraintProblem& p : good_problems(4)) {
    const Answer reference = solve(p, "cascade", 1e-13);
    for (const std::string& id : ncp_ids()) {
      for (const SolverParameters& parameters :
           {SolverParameters{{"order", 1}}, SolverParameters{{"order", 2}}, SolverParameters{{"omega0", 0.5}},
            SolverParameters{{"omega0", 1.2}}, SolverParameters{{"gamma_omega", 0.98}, {"omega_min", 0.4}}}) {
        SolverParameters with_limit = parameters;
        with_limit["max_iterations"] = 20000;
        const Answer a = solve(p, id, 1e-12, with_limit);
        EXPECT_EQ(a.report.status, SolveStatus::converged) << id << ", " << parameters.begin()->first;
        EXPECT_LT((a.u - reference.u).cwiseAbs().maxCoeff(), 1e-9) << id << ", " << parameters.begin()->first;
      }
    }
  }
}

TEST(SplittingAgreement, ProxWithSpectralJointSteps) {
  for (const ConstraintProblem& p : good_problems(4)) {
    const Answer reference = solve(p, "cascade", 1e-13);
    const Answer a = solve(p, "prox", 1e-12, {{"block_joints", 0}, {"max_iterations", 100000}});
    EXPECT_EQ(a.report.status, SolveStatus::converged);
    EXPECT_LT((a.u - reference.u).cwiseAbs().maxCoeff(), 1e-9);
  }
}

// A stack whose contacts are listed from the top down, swept from the ground up, is the stack listed from the ground
// up.
TEST(SplittingOrder, BottomUpFindsTheGround) {
  const ConstraintProblem up = problem_family("stack15_light_sliding").make(3);
  const int n = static_cast<int>(up.blocks.size());
  ASSERT_EQ(n, 60);
  std::vector<int> reversed;
  for (int group = n / 4 - 1; group >= 0; --group) {
    for (int k = 0; k < 4; ++k) reversed.push_back(4 * group + k);
  }
  const ConstraintProblem down = testing::rebuild(up, testing::counting(up.node_size.size()), reversed);
  const SolverParameters few = {{"max_iterations", 30}};
  const SolverParameters few_bottom_up = {{"max_iterations", 30}, {"order", 2}};
  const Answer expected = solve(up, "pgs-ncp", 1e-12, few);
  const Answer sorted = solve(down, "pgs-ncp", 1e-12, few_bottom_up);
  const Answer unsorted = solve(down, "pgs-ncp", 1e-12, few);
  double difference = 0;
  double without = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) {
      const auto here = static_cast<std::size_t>(3 * i + k);
      const auto there = static_cast<std::size_t>(3 * reversed[static_cast<std::size_t>(i)] + k);
      difference = std::max(difference, std::abs(sorted.lambda[here] - expected.lambda[there]));
      without = std::max(without, std::abs(unsorted.lambda[here] - expected.lambda[there]));
    }
  }
  EXPECT_LT(difference, 1e-12);
  EXPECT_GT(without, 1e-3);
}

// --- promises of the interface -------------------------------------------------------------------------

void expect_in_K(const ConstraintProblem& p, const std::vector<double>& l, const std::string& label) {
  for (const ConstraintBlock& b : p.blocks) {
    for (int i = b.row; i < b.row + b.rows; ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (b.kind == BlockKind::limit) {
        EXPECT_GE(l[k], 0) << label;
      }
      if (b.kind == BlockKind::soft) {
        EXPECT_GE(l[k], p.lower[k]) << label;
        EXPECT_LE(l[k], p.upper[k]) << label;
      }
    }
    if (b.kind == BlockKind::contact) {
      const auto k = static_cast<std::size_t>(b.row);
      EXPECT_LE(std::hypot(l[k], l[k + 1]), b.mu * l[k + 2] + 1e-14 * (1 + l[k + 2])) << label;
    }
  }
}

void expect_honest(const ConstraintProblem& p, const std::string& id, double tolerance, const Answer& a) {
  EXPECT_EQ(a.report.residuals.natural_map, a.judged.natural_map) << id;
  EXPECT_EQ(a.report.residuals.natural_map_ccp, a.judged.natural_map_ccp) << id;
  EXPECT_EQ(a.report.status == SolveStatus::converged, own_residual(a.judged, id) <= tolerance) << id;
  JudgeWorkspace ws;
  const std::vector<double> zero(a.lambda.size(), 0.0);
  EXPECT_LE(own_residual(a.judged, id), own_residual(judge(p, zero, ws), id)) << "worse than the start, " << id;
  expect_in_K(p, a.lambda, id);
}

TEST(SplittingPromises, EveryAnswerIsFeasibleAndHonest) {
  for (const ConstraintProblem& p : good_problems(3)) {
    for (const std::string& id : all_ids()) {
      for (const double omega : {1.0, 1.5}) {
        for (const double limit : {1.0, 2.0, 7.0, 25.0, 26.0, 60.0, 300.0}) {
          const Answer a = solve(p, id, 1e-8, {{"max_iterations", limit}, {"omega0", omega}});
          expect_honest(p, id, 1e-8, a);
          EXPECT_LE(a.report.iterations, limit);
        }
      }
    }
  }
}

// Redundant loops and a mass ratio of 1e4 and more: Gauss-Seidel does not get there and must not say that it did.
TEST(SplittingPromises, HardProblemsEndHonestly) {
  const ConstraintProblem loops = testing::doubled(problem_family("ironman54").make(1), BlockKind::joint);
  for (const ConstraintProblem& p : {loops, problem_family("stack15_heavy_sliding").make(1)}) {
    for (const std::string& id : all_ids()) {
      const Answer a = solve(p, id, 1e-9, {{"max_iterations", 200}});
      expect_honest(p, id, 1e-9, a);
      EXPECT_NE(a.report.status, SolveStatus::converged) << id;
      EXPECT_NE(a.report.status, SolveStatus::non_finite) << id;
      EXPECT_GT(own_residual(a.judged, id), 1e-9) << id;
    }
  }
}

TEST(SplittingPromises, AContradictionIsNotCalledConverged) {
  const ConstraintProblem p = testing::contradiction();
  for (const std::string& id : all_ids()) {
    EXPECT_NE(solve(p, id, 1e-8, {{"max_iterations", 20000}}).report.status, SolveStatus::converged) << id;
  }
}

TEST(SplittingPromises, TheSolutionIsLeftAlone) {
  for (const ConstraintProblem& p : good_problems(3)) {
    const Answer exact = solve(p, "cascade", 1e-13);
    for (const std::string& id : ncp_ids()) {
      const Answer a = solve(p, id, 1e-10, {}, exact.lambda);
      EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
      EXPECT_LE(a.report.iterations, 2) << id;
      const Answer own = solve(p, id, 1e-10, {{"max_iterations", 20000}});
      EXPECT_LE(solve(p, id, 1e-10, {}, own.lambda).report.iterations, 2) << id;
    }
  }
}

// Rows of a joint that say the same thing twice: the diagonal block itself is singular.
TEST(SplittingPromises, ASingularJointBlockIsSolved) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{3});
  for (std::size_t i = 0; i < 3; ++i) p.mass[4 * i] = p.mass_inverse[4 * i] = 1;
  p.u_free = Vec3(1, 2, 3);
  const ConstraintBlock& b = p.add_block(BlockKind::joint, 3, std::vector<int>{0});
  for (int r = 0; r < 3; ++r) p.jacobian_row(b, 0, r)[r % 2] = 1;
  p.finish();
  for (const std::string& id : all_ids()) {
    const Answer a = solve(p, id, 1e-9);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
    EXPECT_LT((a.u - Vec3(0, 0, 3)).norm(), 1e-8) << id;
  }
}

TEST(SplittingPromises, NothingToSolve) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6});
  p.finish();
  for (const std::string& id : all_ids()) {
    std::vector<double> none;
    const SolveReport r = make_solver(id)->solve(p, 1e-8, none);
    EXPECT_EQ(r.status, SolveStatus::converged) << id;
    EXPECT_EQ(r.iterations, 0) << id;
  }
}

TEST(SplittingPromises, BadNumbersAreReportedAndForgotten) {
  const ConstraintProblem good = good_problems(1)[0];
  for (const std::string& id : all_ids()) {
    const auto solver = make_solver(id);
    int which = 0;
    for (const ConstraintProblem& bad : testing::spoiled(good)) {
      std::vector<double> l(static_cast<std::size_t>(bad.rows()), 0.0);
      const SolveReport r = solver->solve(bad, 1e-8, l);
      EXPECT_EQ(r.status, SolveStatus::non_finite) << id << ", case " << which;
      EXPECT_FALSE(r.residuals.finite) << id << ", case " << which;
      for (const double x : l) EXPECT_TRUE(std::isfinite(x)) << id << ", case " << which;
      ++which;
    }
    std::vector<double> l(static_cast<std::size_t>(good.rows()), kNan);
    solver->solve(good, 1e-8, l);
    EXPECT_EQ(l, solve(good, id, 1e-8).lambda) << id << ": neither bad problems nor a bad start leave a trace";
  }
}

TEST(SplittingPromises, TheSameBitsEveryTime) {
  const ConstraintProblem p = problem_family("pile200").make(1);
  const ConstraintProblem other = problem_family("ring20").make(1);
  for (const std::string& id : all_ids()) {
    const auto solver = make_solver(id, {{"max_iterations", 30}});
    const auto run = [&](const ConstraintProblem& problem) {
      std::vector<double> l(static_cast<std::size_t>(problem.rows()), 0.0);
      solver->solve(problem, 1e-9, l);
      return l;
    };
    const std::vector<double> first = run(p);
    run(other);
    EXPECT_EQ(run(p), first) << id;
    EXPECT_EQ(solve(p, id, 1e-9, {{"max_iterations", 30}}).lambda, first) << id;
  }
}

}  // namespace
}  // namespace sarrus::splitting_test
