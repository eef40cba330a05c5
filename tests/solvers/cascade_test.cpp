// The cascade on small problems: one contact against all its modes, bounds, special problems, budgets and islands.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/families/families.h"
#include "sarrus/math/cones.h"
#include "sarrus/solvers/island_solver.h"
#include "solvers/problem_surgery.h"

namespace sarrus::cascade_test {
namespace {

using testing::Answer;
using testing::one_contact;
using testing::solve;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// --- one contact: all modes --------------------------------------------------------------------------------

struct Modes {
  std::vector<Vec3> impulses;
  bool hyperbolic = false;
};

// Angles at which the tangential velocity of a slipping contact is parallel to its friction
// (docs/theory/solvers.md §4.3).
std::vector<double> slip_angles(const Mat3& G, const Vec3& b, double mu) {
  using Complex = std::complex<double>;
  const double A = -mu * b[2] * G(0, 1) + mu / 2 * (G(0, 2) * b[1] + G(1, 2) * b[0]);
  const double B = -mu * b[2] * (G(1, 1) - G(0, 0)) / 2 + mu / 2 * (G(1, 2) * b[1] - G(0, 2) * b[0]);
  const double C = -b[2] * G(1, 2) + G(2, 2) * b[1];
  const double E = b[2] * G(0, 2) - G(2, 2) * b[0];
  const double F = mu / 2 * (G(0, 2) * b[1] - G(1, 2) * b[0]);
  const auto f = [&](double t) {
    return A * std::cos(2 * t) + B * std::sin(2 * t) + C * std::cos(t) + E * std::sin(t) + F;
  };
  const auto df = [&](double t) {
    return -2 * A * std::sin(2 * t) + 2 * B * std::cos(2 * t) - C * std::sin(t) + E * std::cos(t);
  };
  // In z = exp(i t) a polynomial of degree four; its companion matrix has the roots.
  const Complex c[] = {Complex(A, B) / 2.0, Complex(C, E) / 2.0, Complex(F, 0), Complex(C, -E) / 2.0,
                       Complex(A, -B) / 2.0};
  Eigen::Matrix4cd companion = Eigen::Matrix4cd::Zero();
  for (int i = 0; i < 4; ++i) {
    companion(i, 3) = -c[i] / c[4];
    if (i > 0) companion(i, i - 1) = 1;
  }
  const Eigen::Vector4cd roots = Eigen::ComplexEigenSolver<Eigen::Matrix4cd>(companion, false).eigenvalues();
  std::vector<double> out;
  for (const Complex& z : roots) {
    double t = std::arg(z);
    for (int k = 0; k < 8; ++k) t -= f(t) / df(t);
    const double size = std::abs(A) + std::abs(B) + std::abs(C) + std::abs(E) + std::abs(F);
    if (std::isfinite(t) && std::abs(f(t)) < 1e-12 * size) out.push_back(t);
  }
  return out;
}

Modes all_modes(const Mat3& G, const Vec3& b, double mu) {
  Modes out;
  if (b[2] >= 0) out.impulses.emplace_back(0, 0, 0);
  const Vec3 stick = -G.ldlt().solve(b);
  if (stick.head<2>().norm() <= mu * stick[2]) out.impulses.push_back(stick);
  for (const double t : slip_angles(G, b, mu)) {
    const Vec3 w(mu * std::cos(t), mu * std::sin(t), 1);
    const double normal = -b[2] / G.row(2).dot(w);
    const Vec3 l = normal * w;
    if (!(normal >= 0 && w.head<2>().dot((G * l + b).head<2>()) <= 0)) continue;
    const bool known = std::any_of(out.impulses.begin(), out.impulses.end(),
                                   [&](const Vec3& x) { return (x - l).norm() < 1e-6 * (1 + l.norm()); });
    if (!known) out.impulses.push_back(l);
  }
  out.hyperbolic = mu * G.col(2).head<2>().norm() >= G(2, 2);
  return out;
}

TEST(CascadeContact, FindsOneOfTheModesOfRandomContacts) {
  std::mt19937 rng(500);
  std::uniform_real_distribution<double> log_mu(std::log(0.03), std::log(4.0));
  int hyperbolic = 0, several = 0;
  double worst = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Mat3 B = testing::random_vector(9, rng).reshaped(3, 3);
    const Mat3 G = B * B.transpose() + 0.05 * Mat3::Identity();
    const Vec3 b = testing::random_vector(3, rng) - Vec3(0, 0, 0.5);
    const double mu = std::exp(log_mu(rng));
    const Modes modes = all_modes(G, b, mu);
    hyperbolic += modes.hyperbolic;
    several += modes.impulses.size() > 1;
    const Answer a = solve(one_contact(G, b, mu), "cascade", 1e-11);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << trial;
    double nearest = kInfinity;
    for (const Vec3& l : modes.impulses) {
      nearest = std::min(nearest, (Eigen::Map<const Vec3>(a.lambda.data()) - l).norm() / (1 + l.norm()));
    }
    worst = std::max(worst, nearest);
    EXPECT_LT(nearest, 2e-9) << trial << ": " << modes.impulses.size() << " modes, mu = " << mu;
  }
  EXPECT_GT(hyperbolic, 300);
  EXPECT_GT(several, 3);
  RecordProperty("hyperbolic", hyperbolic);
  RecordProperty("several", several);
  RecordProperty("worst", std::to_string(worst * 1e9) + "e-9");
}

// --- bounds --------------------------------------------------------------------------------------------------

// A mass of 2 kg moving at v with one soft row.
ConstraintProblem motor(double v, double bias, double R, double lower, double upper) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{1});
  p.mass[0] = 2;
  p.mass_inverse[0] = 0.5;
  p.u_free[0] = v;
  const ConstraintBlock& b = p.add_block(BlockKind::soft, 1, std::vector<int>{0});
  p.jacobian_row(b, 0, 0)[0] = 1;
  p.bias[0] = bias;
  p.R[0] = R;
  p.lower[0] = lower;
  p.upper[0] = upper;
  p.finish();
  return p;
}

TEST(CascadeBounds, MotorsInsideAndAtTheirLimits) {
  for (const double R : {0.0, 0.25}) {
    for (const double bias : {-6.0, -0.5, 0.0, 0.5, 6.0}) {
      const double free = -(1 + bias) / (0.5 + R);  // impulse without bounds
      for (const auto& [lower, upper] : {std::pair{-3.0, 3.0},
                                         {-3.0, kInfinity},
                                         {-kInfinity, 3.0},
                                         {-kInfinity, kInfinity},
                                         {1.0, 2.0},
                                         {-1.5, -1.5},
                                         {0.0, 0.0}}) {
        for (const std::string id : {"cascade", "ipm", "ssn", "admm2"}) {
          const Answer a = solve(motor(1, bias, R, lower, upper), id, 1e-9);
          EXPECT_EQ(a.report.status, SolveStatus::converged) << id << ", " << bias << ", " << lower << ", " << upper;
          EXPECT_NEAR(a.lambda[0], std::clamp(free, lower, upper), 1e-8)
              << id << ", " << bias << ", " << lower << ", " << upper;
        }
      }
    }
  }
}

// Bounds on top of loops and contacts: half of the motors saturate.
TEST(CascadeBounds, SaturatedMotorsAmongJointsAndContacts) {
  std::mt19937 rng(501);
  int at_bound = 0, inside = 0;
  for (int trial = 0; trial < 30; ++trial) {
    ConstraintProblem p = testing::feasible_problem(rng);
    for (const ConstraintBlock& b : p.blocks) {
      const auto i = static_cast<std::size_t>(b.row);
      if (b.kind != BlockKind::soft) continue;
      p.lower[i] = trial % 3 == 0 ? -kInfinity : -0.3;
      p.upper[i] = trial % 3 == 1 ? kInfinity : trial % 5 == 0 ? p.lower[i] + 0.1 : 0.6;
      if (std::isinf(p.upper[i]) && p.upper[i] < 0) p.upper[i] = 0.6;
    }
    const Answer a = solve(p, "cascade", 1e-10);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << trial;
    EXPECT_LE(a.judged.error(), 1e-10) << trial;
    for (const ConstraintBlock& b : p.blocks) {
      const auto i = static_cast<std::size_t>(b.row);
      if (b.kind != BlockKind::soft) continue;
      EXPECT_GE(a.lambda[i], p.lower[i]);
      EXPECT_LE(a.lambda[i], p.upper[i]);
      ++(a.lambda[i] == p.lower[i] || a.lambda[i] == p.upper[i] ? at_bound : inside);
    }
  }
  EXPECT_GT(at_bound, 20);
  EXPECT_GT(inside, 20);
}

// --- special problems ------------------------------------------------------------------------------------------

TEST(CascadeSpecial, ContactsWithoutFrictionAreLimits) {
  ConstraintProblem p = problem_family("pile200").make(1);
  for (ConstraintBlock& b : p.blocks) b.mu = 0;
  const Answer a = solve(p, "cascade", 1e-10);
  EXPECT_EQ(a.report.status, SolveStatus::converged);
  double load = 0;
  for (const ConstraintBlock& b : p.blocks) {
    const auto i = static_cast<std::size_t>(b.row);
    EXPECT_EQ(a.lambda[i], 0.0);
    EXPECT_EQ(a.lambda[i + 1], 0.0);
    EXPECT_GE(a.lambda[i + 2], 0.0);
    load += a.lambda[i + 2];
  }
  EXPECT_GT(load, 1);
  // The same problem written with limits has the same velocities.
  ConstraintProblem limits;
  limits.set_nodes(p.node_size);
  for (std::size_t i = 0; i < p.node_size.size(); ++i) testing::copy_node(limits, i, p, i);
  for (const ConstraintBlock& b : p.blocks) {
    ConstraintBlock& mine =
        limits.add_block(BlockKind::limit, 1, std::span<const int>(b.node, static_cast<std::size_t>(b.nodes)));
    for (int k = 0; k < b.nodes; ++k) {
      const int n = p.node_size[static_cast<std::size_t>(b.node[k])];
      std::copy_n(p.jacobian.data() + b.jac[k] + 2 * n, n, limits.jacobian_row(mine, k, 0));
    }
    limits.bias[static_cast<std::size_t>(mine.row)] = p.bias[static_cast<std::size_t>(b.row + 2)];
  }
  limits.finish();
  const Answer c = solve(limits, "cascade", 1e-10);
  EXPECT_EQ(c.report.status, SolveStatus::converged);
  EXPECT_LT((c.u - a.u).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(CascadeSpecial, CompliantContacts) {
  for (const double stiffness : {1e-3, 1e-2, 1.0}) {  // R relative to the diagonal of D
    for (const char* family : {"stewart", "walker31", "ring20"}) {
      ConstraintProblem p = problem_family(family).make(2);
      VecX diagonal(p.rows());
      p.diagonal_D_plus_R(diagonal);
      for (const ConstraintBlock& b : p.blocks) {
        for (int r = 0; r < b.rows; ++r) {
          const int like = b.kind == BlockKind::contact && r == 1 ? b.row : b.row + r;  // R_t = R_o
          p.R[static_cast<std::size_t>(b.row + r)] = stiffness * diagonal[like];
        }
      }
      const Answer a = solve(p, "cascade", 1e-9);
      EXPECT_EQ(a.report.status, SolveStatus::converged) << family << ", " << stiffness;
      EXPECT_LE(a.judged.error(), 1e-9) << family << ", " << stiffness;
    }
  }
}

// Linear problems: one step, and one against the shift. A step leaves delta / (lambda_min + delta) of the error, where
// lambda_min is the least nonzero eigenvalue of the scaled D; at mass ratios of 1e3 and 2.5e4 that takes more of them.
TEST(CascadeSpecial, JointsAloneTakeTwoSteps) {
  struct Case {
    const char* family;
    int steps;
  };
  for (const auto& [family, steps] : {Case{"fourbar_chain", 2}, Case{"stewart", 2}, Case{"walker31", 2},
                                      Case{"ring20", 2}, Case{"gazelle38", 3}, Case{"ironman54", 5}}) {
    const ConstraintProblem p = problem_family(family).make(1);
    std::vector<int> joints;
    for (std::size_t i = 0; i < p.blocks.size(); ++i) {
      if (p.blocks[i].kind == BlockKind::joint) joints.push_back(static_cast<int>(i));
    }
    const Answer a = solve(testing::rebuild(p, testing::counting(p.node_size.size()), joints), "cascade", 1e-9);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << family;
    EXPECT_LE(a.report.iterations, steps) << family;
    EXPECT_GE(a.report.iterations, 1) << family;
  }
}

TEST(CascadeSpecial, NothingToSolveAndNothingMoving) {
  ConstraintProblem empty;
  std::vector<double> none;
  EXPECT_EQ(make_solver("cascade")->solve(empty, 1e-9, none).status, SolveStatus::converged);
  empty.set_nodes(std::vector<int>{6, 3});
  empty.finish();
  EXPECT_EQ(make_solver("cascade")->solve(empty, 1e-9, none).status, SolveStatus::converged);

  ConstraintProblem p = problem_family("walker31").make(1);
  p.u_free.setZero();
  std::fill(p.bias.begin(), p.bias.end(), 0.0);
  p.finish();
  const Answer a = solve(p, "cascade", 1e-9);
  EXPECT_EQ(a.report.status, SolveStatus::converged);
  EXPECT_EQ(a.report.factorisations, 0);
  EXPECT_EQ(a.lambda, std::vector<double>(a.lambda.size(), 0.0));
}

TEST(CascadeSpecial, NumbersThatAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ConstraintProblem good = problem_family("stewart").make(1);
  for (int where = 0; where < 5; ++where) {
    for (const double bad : {nan, kInfinity}) {
      ConstraintProblem p = good;
      if (where == 0) p.u_free[40] = bad;
      if (where == 1) p.bias[50] = bad;
      if (where == 2) p.jacobian[300] = bad;
      if (where == 3) p.mass[7] = bad, p.mass_inverse[7] = bad;
      if (where == 4) p.R[20] = bad;
      p.finish();
      for (const std::string id : {"cascade", "ssn", "ipm", "admm2"}) {
        const Answer a = solve(p, id, 1e-9);
        EXPECT_EQ(a.report.status, SolveStatus::non_finite) << id << ", case " << where << ", " << bad;
      }
    }
  }
}

// --- budget --------------------------------------------------------------------------------------------------

TEST(CascadeBudget, MoreFactorisationsNeverMakeTheAnswerWorse) {
  struct Case {
    const char* family;
    std::uint64_t seed;
  };
  // With most of these some iterate has a small residual and a projection on K with a large one.
  for (const auto& [family, seed] :
       {Case{"walker31", 3}, Case{"walker31", 5}, Case{"ironman54", 2}, Case{"ironman54", 3}, Case{"ring20", 1},
        Case{"stewart", 3}, Case{"pile200", 3}, Case{"stack15_heavy_sliding", 3}}) {
    const ConstraintProblem p = problem_family(family).make(seed);
    double last = solve(p, "cascade", 1e-9, {{"max_factorisations", 1}}).judged.error();
    int exhausted = 0;
    for (const double budget : {1.0, 2.0, 3.0, 5.0, 8.0, 10.0, 13.0, 16.0, 21.0, 27.0, 34.0, 55.0, 5000.0}) {
      const Answer a = solve(p, "cascade", 1e-9, {{"max_factorisations", budget}});
      EXPECT_LE(a.report.factorisations, budget) << family;
      EXPECT_EQ(a.report.residuals.natural_map, a.judged.natural_map) << family;
      const bool converged = a.judged.error() <= 1e-9;
      EXPECT_EQ(a.report.status, converged ? SolveStatus::converged : SolveStatus::max_iterations) << family << budget;
      EXPECT_LE(a.judged.error(), std::max(last, 1e-9)) << family << ", " << budget;
      last = a.judged.error();
      exhausted += converged ? 0 : 1;
    }
    EXPECT_GE(exhausted, 2) << family;
    EXPECT_LE(last, 1e-9) << family;
  }
}

// A good warm start is never traded for something worse, even if no stage can finish.
TEST(CascadeBudget, TheWarmStartIsALowerBound) {
  std::mt19937 rng(502);
  for (const char* family : {"walker31", "ring20", "pile200"}) {
    const ConstraintProblem p = problem_family(family).make(1);
    std::vector<double> near = solve(p, "cascade", 1e-9).lambda;
    for (double& l : near) l *= 1 + 1e-5 * testing::random_vector(1, rng)[0];
    JudgeWorkspace ws;
    for (const double budget : {1.0, 2.0, 4.0}) {
      const Answer a = solve(p, "cascade", 0.0, {{"max_factorisations", budget}}, near);
      EXPECT_LE(a.judged.error(), judge(p, near, ws).error()) << family << ", " << budget;
      EXPECT_NE(a.report.status, SolveStatus::converged);
    }
  }
}

// A stage that offers a good point between worse ones, huge ones and numbers that are not finite.
class BadStage final : public IslandMethod {
 public:
  void solve(NcpSearch& search, GrowingVector& lambda) override {
    search.consider(lambda);
    GrowingVector x = lambda;
    for (const double factor : {0.5, -1.0, 1e30, 1e300, std::numeric_limits<double>::quiet_NaN(), kInfinity, 2.0}) {
      x = factor * lambda;
      search.consider(x);
    }
    lambda.setConstant(std::numeric_limits<double>::quiet_NaN());  // what a stage leaves there does not count
  }
};

TEST(CascadeBudget, ABadStageNeverWorsensTheResult) {
  for (const char* family : {"stewart", "walker31", "pile200"}) {
    const ConstraintProblem p = problem_family(family).make(1);
    const std::vector<double> good = solve(p, "cascade", 1e-6).lambda;
    std::vector<double> lambda = good;
    const auto solver = make_island_solver([] { return std::make_unique<BadStage>(); }, {});
    const SolveReport report = solver->solve(p, 1e-30, lambda);  // out of reach
    EXPECT_EQ(report.status, SolveStatus::stalled) << family;
    for (std::size_t i = 0; i < good.size(); ++i) EXPECT_NEAR(lambda[i], good[i], 1e-13 * (1 + std::abs(good[i])));
  }
}

// --- islands -------------------------------------------------------------------------------------------------

TEST(CascadeIslands, PartsGiveTheSameBitsAloneTogetherAndOnThreads) {
  std::vector<ConstraintProblem> parts;
  for (const char* family : {"stewart", "walker31", "stack15_light_sliding", "fourbar_chain", "ring20"}) {
    parts.push_back(problem_family(family).make(2));
  }
  std::vector<std::vector<int>> rows;
  const ConstraintProblem whole = testing::side_by_side(parts, rows);
  std::vector<double> first;
  for (const double threads : {1.0, 2.0, 4.0, 8.0}) {
    const Answer a = solve(whole, "cascade", 1e-9, {{"threads", threads}});
    EXPECT_EQ(a.report.status, SolveStatus::converged);
    if (first.empty()) first = a.lambda;
    EXPECT_EQ(a.lambda, first) << threads << " threads";
  }
  int factorisations = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Answer alone = solve(parts[k], "cascade", 1e-9);
    factorisations += alone.report.factorisations;
    for (std::size_t i = 0; i < rows[k].size(); ++i) {
      EXPECT_EQ(first[static_cast<std::size_t>(rows[k][i])], alone.lambda[i]) << "part " << k << ", row " << i;
    }
  }
  EXPECT_EQ(solve(whole, "cascade", 1e-9).report.factorisations, factorisations);
}

}  // namespace
}  // namespace sarrus::cascade_test
