// Drumwright's compliant solvers: closed forms, the elimination of bilateral rows, and what their laws differ in.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/math/cones.h"
#include "sarrus/math/tools.h"
#include "sarrus/solvers/bilateral_reduction.h"
#include "sarrus/solvers/registry.h"
#include "solvers/problem_surgery.h"
#include "support/dense.h"

namespace sarrus::drumwright_test {
namespace {

using testing::Answer;
using testing::solve;

const std::vector<std::string> kIds = {"drum-bilateral", "drum-unilateral", "drum-qcqp"};

VecX impulses(const Answer& a) {
  return Eigen::Map<const VecX>(a.lambda.data(), static_cast<Eigen::Index>(a.lambda.size()));
}

// One node whose velocity components are the rows: D = mass_inverse.
ConstraintProblem direct_rows(const MatX& D, const VecX& u_free, BlockKind kind) {
  ConstraintProblem p;
  const int n = static_cast<int>(D.rows());
  p.set_nodes(std::vector<int>{n});
  const MatX M = test::inverse(D);
  std::copy(M.data(), M.data() + n * n, p.mass.begin());
  std::copy(D.data(), D.data() + n * n, p.mass_inverse.begin());
  p.u_free = u_free;
  for (int r = 0; r < n; ++r) {
    ConstraintBlock& b = p.add_block(kind, 1, std::vector<int>{0});
    p.jacobian_row(b, 0, 0)[r] = 1;
  }
  p.finish();
  return p;
}

// Everything compliant; `mu` of all contacts.
ConstraintProblem compliant_problem(double mu, std::mt19937& rng) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6, 3, 6, 7});
  testing::fill_nodes(p, rng);
  for (int i = 0; i < 3; ++i) testing::add_random_block(p, BlockKind::joint, 1 + i, 2, rng);
  for (int i = 0; i < 2; ++i) testing::add_random_block(p, BlockKind::soft, 1, 2, rng);
  for (int i = 0; i < 3; ++i) testing::add_random_block(p, BlockKind::limit, 1, 2 + i % 2, rng);
  for (int i = 0; i < 4; ++i) testing::add_random_block(p, BlockKind::contact, 3, 2, rng).mu = mu;
  std::uniform_real_distribution<double> d(0.05, 0.5);
  for (double& r : p.R) r = d(rng);
  p.dt = 0.01;
  p.finish();
  return p;
}

// A direction into the feasible set of a compliant problem without bounds on top: x >= 0 and (D + R) x >= 1 on limits
// and normals, friction zero, bilateral rows satisfied.
VecX inward(ConstraintProblem p) {
  for (ConstraintBlock& b : p.blocks) {
    p.v_free.segment(b.row, b.rows).setZero();
    if (b.kind == BlockKind::limit) p.v_free[b.row] = -1;
    if (b.kind == BlockKind::contact) {
      p.v_free[b.row + 2] = -1;
      b.mu = 0;
    }
  }
  p.u_free.setZero();
  for (int i = 0; i < p.rows(); ++i) p.bias[static_cast<std::size_t>(i)] = p.v_free[i];
  return impulses(solve(p, "drum-unilateral", 1e-9));
}

// x moved at random by about `size` and then along `in` until it is feasible.
template <class Feasible>
VecX feasible_neighbour(const VecX& x, double size, const VecX& in, std::mt19937& rng, Feasible feasible) {
  const VecX start = x + size * testing::random_vector(x.size(), rng);
  for (double s = 0.01 * size;; s *= 1.5) {
    VecX y = feasible(VecX(start + s * in));
    if (y.size() > 0) return y;
    if (s > 1e6) return {};
  }
}

// --- drum-bilateral --------------------------------------------------------------------------------------------------

// m x'' + b x' + k x = 0, one implicit Euler step: v1 = (m v0 - h k x0) / (m + h b + h^2 k).
TEST(DrumBilateral, IsAnImplicitEulerStepOfSpringAndDamper) {
  const double m = 3, h = 0.02;
  for (const double k : {10.0, 1e4, 1e9}) {
    for (const double b : {0.0, 2.0, 1e5}) {
      const double x0 = 0.1, v0 = -0.7;
      ConstraintProblem p = direct_rows(MatX::Constant(1, 1, 1 / m), VecX::Constant(1, v0), BlockKind::soft);
      p.R[0] = 1 / (h * h * k + h * b);
      p.bias[0] = k * x0 / (h * k + b);
      p.finish();
      const Answer a = solve(p, "drum-bilateral", 1e-12);
      EXPECT_EQ(a.report.status, SolveStatus::converged);
      const double v1 = (m * v0 - h * k * x0) / (m + h * b + h * h * k);
      EXPECT_NEAR(a.u[0], v1, 1e-12 * (1 + std::abs(v1)));
      EXPECT_NEAR(a.lambda[0] / h, -k * (x0 + h * v1) - b * v1, 1e-9 * (1 + k * x0 + b));
    }
  }
}

TEST(DrumBilateral, RandomAndRedundantRows) {
  std::mt19937 rng(1);
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6, 3, 6});
  testing::fill_nodes(p, rng);
  for (int i = 0; i < 4; ++i) testing::add_random_block(p, BlockKind::joint, 2, 2, rng);
  std::fill(p.bias.begin(), p.bias.end(), 0.0);
  for (int i = 0; i < 2; ++i) testing::add_random_block(p, BlockKind::soft, 1, 2, rng);
  p.finish();
  for (const ConstraintProblem& q : {p, testing::doubled(p, BlockKind::joint)}) {
    const Answer a = solve(q, "drum-bilateral", 1e-12);
    EXPECT_EQ(a.report.status, SolveStatus::converged);
    EXPECT_LT((q.dense_D_plus_R() * impulses(a) + q.v_free).norm(), 1e-11);
  }
}

TEST(DrumBilateral, KnowsNoInequalities) {
  std::mt19937 rng(2);
  ConstraintProblem p = compliant_problem(0.3, rng);
  EXPECT_EQ(solve(p, "drum-bilateral", 1e-9).report.status, SolveStatus::infeasible);
  // Unless they do not matter: all of them open.
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind == BlockKind::limit) p.bias[static_cast<std::size_t>(b.row)] = 1e3;
    if (b.kind == BlockKind::contact) p.bias[static_cast<std::size_t>(b.row + 2)] = 1e3;
  }
  p.finish();
  const Answer a = solve(p, "drum-bilateral", 1e-9);
  EXPECT_EQ(a.report.status, SolveStatus::converged);
  EXPECT_LT((a.u - solve(p, "cascade", 1e-12).u).norm(), 1e-9);
}

// --- drum-unilateral -------------------------------------------------------------------------------------------------

// Two coupled rows: the law leaves the second one alone, the paper's QP pushes it.
TEST(DrumUnilateral, TheLawAndThePapersQpDiffer) {
  MatX D(2, 2);
  D << 1, 0.5, 0.5, 1;
  const double h = 0.01, K = 1e4, B = 1;
  ConstraintProblem p = direct_rows(D, (VecX(2) << -1, -0.2).finished(), BlockKind::limit);
  for (double& r : p.R) r = 1 / (h * h * K + h * B);
  p.dt = h;
  p.finish();
  const Answer law = solve(p, "drum-unilateral", 1e-12);
  EXPECT_EQ(law.report.status, SolveStatus::converged);
  EXPECT_NEAR(law.lambda[0] / h, 50.25, 5e-3);
  EXPECT_EQ(law.lambda[1], 0);
  const Answer literal = solve(p, "drum-unilateral", 1e-12, {{"literal", 1}});
  EXPECT_EQ(literal.report.status, SolveStatus::stalled);
  EXPECT_NEAR(literal.lambda[0] / h, 47.27, 5e-3);
  EXPECT_NEAR(literal.lambda[1] / h, 11.88, 5e-3);
}

// Without coupling the QP is the law.
TEST(DrumUnilateral, UncoupledRowsAgree) {
  ConstraintProblem p =
      direct_rows(MatX(VecX::LinSpaced(6, 0.5, 3).asDiagonal()), VecX::LinSpaced(6, -2, 1), BlockKind::limit);
  for (double& r : p.R) r = 0.2;
  p.finish();
  const Answer law = solve(p, "drum-unilateral", 1e-12);
  const Answer literal = solve(p, "drum-unilateral", 1e-12, {{"literal", 1}});
  EXPECT_EQ(law.report.status, SolveStatus::converged);
  EXPECT_EQ(literal.report.status, SolveStatus::converged);
  EXPECT_LT((impulses(law) - impulses(literal)).norm(), 1e-12);
}

// The QP's own optimality on random problems: feasible, and no feasible point is shorter.
TEST(DrumUnilateral, LiteralAnswersAreMinimal) {
  std::mt19937 rng(3);
  for (int trial = 0; trial < 10; ++trial) {
    const int n = 3 + trial;
    const MatX B = testing::random_vector(n * n, rng).reshaped(n, n);
    ConstraintProblem p =
        direct_rows(B * B.transpose() + MatX::Identity(n, n), testing::random_vector(n, rng), BlockKind::limit);
    for (double& r : p.R) r = 0.1;
    p.finish();
    const VecX x = impulses(solve(p, "drum-unilateral", 1e-9, {{"literal", 1}}));
    const MatX A = p.dense_D_plus_R();
    EXPECT_GT((A * x + p.v_free).minCoeff(), -1e-10);
    EXPECT_GE(x.minCoeff(), 0);
    const VecX in = inward(p) + VecX::Constant(n, 1e-3);
    const auto feasible = [&](const VecX& y) {
      return y.minCoeff() >= 0 && (A * y + p.v_free).minCoeff() >= 0 ? y : VecX();
    };
    for (int k = 0; k < 300; ++k) {
      const VecX y = feasible_neighbour(x, std::pow(10.0, -(k % 6)), in, rng, feasible);
      ASSERT_EQ(y.size(), x.size());
      EXPECT_GE(y.norm(), x.norm() - 1e-10) << trial;
    }
  }
}

TEST(DrumUnilateral, AgreesWithTheCascadeWithoutFriction) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 10; ++trial) {
    const ConstraintProblem p = compliant_problem(0, rng);
    const Answer a = solve(p, "drum-unilateral", 1e-11);
    EXPECT_EQ(a.report.status, SolveStatus::converged);
    const Answer reference = solve(p, "cascade", 1e-12);
    EXPECT_LT((a.u - reference.u).cwiseAbs().maxCoeff(), 1e-9) << trial;
  }
}

TEST(DrumUnilateral, SaysThatFrictionIsMissing) {
  std::mt19937 rng(5);
  const ConstraintProblem p = compliant_problem(0.5, rng);
  const Answer a = solve(p, "drum-unilateral", 1e-9);
  EXPECT_EQ(a.report.status, SolveStatus::stalled);
  EXPECT_GT(a.judged.error(), 1e-3);
}

// --- elimination -----------------------------------------------------------------------------------------------------

// The paper's own formulas, in forces, with h, K, B and a force f: A_m and f_b.
TEST(BilateralReduction, IsThePapersElimination) {
  std::mt19937 rng(6);
  const double h = 0.01;
  const ConstraintProblem p = compliant_problem(0.4, rng);
  const int nb = p.rows_of(BlockKind::joint) + p.rows_of(BlockKind::soft);
  const int ns = p.rows() - nb;
  Mlcp m;
  m.load(p, std::vector<double>(static_cast<std::size_t>(p.rows()), 0.0), true);
  BilateralReduction reduction;
  for (int i = 0; i < p.rows(); ++i) (i < nb ? reduction.bilateral : reduction.others).push_back(i);
  ASSERT_TRUE(reduction.reduce(m));

  const MatX J = p.dense_J();
  const MatX W = testing::dense_blocks(p, p.mass_inverse);
  const MatX Gb = J.topRows(nb);
  const MatX Gs = J.bottomRows(ns);
  const VecX R = Eigen::Map<const VecX>(p.R.data(), p.rows());
  const VecX v_star = Eigen::Map<const VecX>(p.bias.data(), p.rows());
  const MatX eta = R.head(nb).cwiseInverse().asDiagonal();
  const MatX Dm = -eta * Gb * W;
  const MatX C = MatX::Identity(nb, nb) - Dm * Gb.transpose();
  const MatX Am = W * (Gb.transpose() * test::inverse(C) * Dm + MatX::Identity(W.rows(), W.cols()));
  // K phi_0 + (h K + B) phi'_free = eta (v* + phi'_free) / h, and c is its negative.
  const VecX c = -eta * (v_star.head(nb) + Gb * p.u_free) / h;
  const VecX bilateral_force = test::inverse(C) * c;  // with x_s = 0
  const MatX S = Gs * Am * Gs.transpose() + MatX(R.tail(ns).asDiagonal());
  const VecX v = Gs * (p.u_free + h * W * Gb.transpose() * bilateral_force) + v_star.tail(ns);
  EXPECT_LT((reduction.S() - S).norm(), 1e-12 * S.norm());
  EXPECT_LT((reduction.v() - v).norm(), 1e-11 * v.norm());

  m.x.tail(ns) = testing::random_vector(ns, rng);
  reduction.recover(m);
  const VecX w = p.dense_D_plus_R() * m.x + p.v_free;
  EXPECT_LT(w.head(nb).norm(), 1e-12);
  EXPECT_LT((w.tail(ns) - S * m.x.tail(ns) - v).norm(), 1e-11);
}

// --- drum-qcqp -------------------------------------------------------------------------------------------------------

struct Block {
  double mass = 2, mu = 0.5, h = 0.01;
  double R_n = 1e-3;
  double eta_T = 1e6;
  Vec3 v{1, 0, -0.1};
};

ConstraintProblem block_on_plane(const Block& c) {
  ConstraintProblem p = testing::one_contact(Mat3::Identity() / c.mass, c.v, c.mu);
  p.R = {1 / c.eta_T, 1 / c.eta_T, c.R_n};
  p.dt = c.h;
  p.finish();
  return p;
}

// With normal impulses weighted enough, a sliding block gets Coulomb's friction of its compression.
TEST(DrumQcqp, SlidingBlock) {
  Block c;
  const double normal = 0.1 / (1 / c.mass + c.R_n);
  const Answer a = solve(block_on_plane(c), "drum-qcqp", 1e-6, {{"zeta", 1e15}});
  EXPECT_EQ(a.report.status, SolveStatus::converged);
  EXPECT_NEAR(a.lambda[2], normal, 1e-6 * normal);
  EXPECT_NEAR(a.lambda[0], -c.mu * normal, 1e-6 * normal);
  EXPECT_NEAR(a.lambda[1], 0, 1e-9);
}

// With the paper's weight 1/h nothing holds the normal impulse down: it grows until friction stops the block.
TEST(DrumQcqp, ThePapersWeightPumpsNormalImpulses) {
  Block c;
  const double k = 1 + c.eta_T / c.mass;
  const double pumped = k * c.mu * c.eta_T * c.v[0] / (1 / c.h + c.mu * c.mu * (1 + k * k));
  const Answer a = solve(block_on_plane(c), "drum-qcqp", 1e-6);
  EXPECT_EQ(a.report.status, SolveStatus::stalled);
  EXPECT_GT(pumped, 10 * 0.1 * c.mass);
  EXPECT_NEAR(a.lambda[2], pumped, 1e-6 * pumped);
  EXPECT_LT(std::abs(a.u[0]), 1e-3);  // stopped, and
  EXPECT_GT(a.u[2], 1);               // thrown off the plane
}

// A box of 1 kg on four feet, on a slope of 15 degrees, one step from rest. Redundant feet, tilting coupled to
// friction.
ConstraintProblem box_on_incline(double mu) {
  const double h = 0.01, gravity = 9.81, slope = 15 * M_PI / 180;
  const Vec3 size(0.1, 0.2, 0.05);
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6});
  p.dt = h;
  Vec6 mass = Vec6::Ones();
  for (int k = 0; k < 3; ++k) mass[3 + k] = (size.squaredNorm() - size[k] * size[k]) / 12;
  Eigen::Map<Mat6>(p.mass.data()) = mass.asDiagonal();
  Eigen::Map<Mat6>(p.mass_inverse.data()) = mass.cwiseInverse().asDiagonal();
  p.u_free = VecX::Zero(6);
  p.u_free[0] = h * gravity * std::sin(slope);
  p.u_free[2] = -h * gravity * std::cos(slope);
  for (int foot = 0; foot < 4; ++foot) {
    ConstraintBlock& b = p.add_block(BlockKind::contact, 3, std::vector<int>{0});
    b.mu = mu;
    const Vec3 r(foot % 2 == 0 ? -size[0] / 2 : size[0] / 2, foot < 2 ? -size[1] / 2 : size[1] / 2, -size[2] / 2);
    for (int k = 0; k < 3; ++k) {
      Eigen::Map<Vec6>(p.jacobian_row(b, 0, k)) = spatial(Vec3::Unit(k), r.cross(Vec3::Unit(k)));
      p.R[static_cast<std::size_t>(b.row + k)] = k < 2 ? 1e-6 : 1 / (h * h * 1e6 + h);
    }
  }
  p.finish();
  return p;
}

// Coulomb's answer with a suitable weight; with the paper's weight 23 % too much normal and friction force. The second
// answer was found independently with a dense barrier method in another language.
TEST(DrumQcqp, BoxOnAnIncline) {
  const ConstraintProblem p = box_on_incline(0.125);
  const auto force = [](const Answer& a, int row) {
    double sum = 0;
    for (std::size_t i = static_cast<std::size_t>(row); i < a.lambda.size(); i += 3) sum += a.lambda[i];
    return sum / 0.01;
  };
  const Answer weighted = solve(p, "drum-qcqp", 1e-8, {{"zeta", 1e13}});
  EXPECT_EQ(weighted.report.status, SolveStatus::converged);
  EXPECT_LT((weighted.u - solve(p, "cascade", 1e-12).u).norm(), 1e-7);
  EXPECT_NEAR(force(weighted, 0), -0.125 * force(weighted, 2), 1e-6);
  const Answer paper = solve(p, "drum-qcqp", 1e-8);
  EXPECT_EQ(paper.report.status, SolveStatus::stalled);
  EXPECT_NEAR(force(paper, 2), 11.6201, 2e-4);
  EXPECT_NEAR(force(paper, 0), -1.4525, 2e-4);
}

// Sticking friction is k^2/(1+k^2) of the damper's force, half of it when h B_T / m is small.
TEST(DrumQcqp, StickingFrictionIsReduced) {
  for (const double eta_T : {1e-3, 0.5, 4.0, 1e6}) {
    Block c;
    c.eta_T = eta_T;
    c.mu = 5;
    c.v = Vec3(1e-3, 2e-3, -0.5);
    const double k = 1 + eta_T / c.mass;
    const double needed = eta_T / k;  // per velocity: -v_T / (1/m + 1/eta_T)
    const Answer a = solve(block_on_plane(c), "drum-qcqp", 1e-6);
    for (int i = 0; i < 2; ++i) {
      EXPECT_NEAR(a.lambda[static_cast<std::size_t>(i)], -k * k / (1 + k * k) * needed * c.v[i], 1e-6 * needed * 1e-3)
          << eta_T;
    }
  }
}

// Optimal among feasible points, on random problems with joints: measured with a direct formulation, in which the
// bilateral impulses follow from a dense solve.
TEST(DrumQcqp, AnswersAreMinimal) {
  std::mt19937 rng(7);
  for (int trial = 0; trial < 5; ++trial) {
    const ConstraintProblem p = compliant_problem(0.4, rng);
    const int nb = p.rows_of(BlockKind::joint) + p.rows_of(BlockKind::soft);
    const MatX A = p.dense_D_plus_R();
    const auto complete = [&](VecX x) {
      x.head(nb) = -test::inverse(A.topLeftCorner(nb, nb)) *
                   (p.v_free.head(nb) + A.topRightCorner(nb, p.rows() - nb) * x.tail(p.rows() - nb));
      return x;
    };
    const auto objective = [&](const VecX& x) {
      const VecX w = A * x + p.v_free;
      double f = 0;
      for (const ConstraintBlock& b : p.blocks) {
        if (b.kind == BlockKind::limit) f += 0.5 / p.dt * x[b.row] * x[b.row];
        if (b.kind != BlockKind::contact) continue;
        f += 0.5 / p.dt * x[b.row + 2] * x[b.row + 2];
        for (int i = b.row; i < b.row + 2; ++i) {
          f += 0.5 * x[i] * x[i] + 0.5 * std::pow(w[i] / p.R[static_cast<std::size_t>(i)], 2);
        }
      }
      return f;
    };
    const auto violation = [&](const VecX& x) {
      const VecX w = A * x + p.v_free;
      double v = 0;
      for (const ConstraintBlock& b : p.blocks) {
        const int n = b.row + b.rows - 1;
        if (b.kind == BlockKind::limit || b.kind == BlockKind::contact) v = std::max({v, -x[n], -w[n]});
        if (b.kind == BlockKind::contact) v = std::max(v, x.segment<2>(b.row).norm() - b.mu * x[n]);
      }
      return v;
    };
    const Answer a = solve(p, "drum-qcqp", 1e-9);
    EXPECT_NE(a.report.status, SolveStatus::max_iterations);
    const VecX x = impulses(a);
    EXPECT_LT((complete(x) - x).norm(), 1e-9) << "bilateral impulses";
    EXPECT_LT(violation(x), 1e-6);
    const double f = objective(x);
    VecX in = inward(p);
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind == BlockKind::limit || b.kind == BlockKind::contact) in[b.row + b.rows - 1] += 1e-2;
    }
    const auto feasible = [&](const VecX& y) { return violation(complete(y)) <= 0 ? complete(y) : VecX(); };
    for (int k = 0; k < 400; ++k) {
      const VecX y = feasible_neighbour(x, std::pow(10.0, -(k % 6)), in, rng, feasible);
      ASSERT_EQ(y.size(), x.size());
      EXPECT_GE(objective(y), f * (1 - 1e-7)) << trial;
    }
  }
}

TEST(DrumQcqp, RefusesRigidContacts) {
  Block c;
  ConstraintProblem p = block_on_plane(c);
  p.R[2] = 0;
  EXPECT_EQ(solve(p, "drum-qcqp", 1e-9).report.status, SolveStatus::infeasible);
  p = block_on_plane(c);
  p.R[0] = 0;
  EXPECT_EQ(solve(p, "drum-qcqp", 1e-9).report.status, SolveStatus::infeasible);
}

// --- promises --------------------------------------------------------------------------------------------------------

TEST(Drumwright, Promises) {
  std::mt19937 rng(8);
  const ConstraintProblem p = compliant_problem(0.4, rng);
  ConstraintProblem empty;
  empty.set_nodes(std::vector<int>{6});
  empty.finish();
  for (const std::string& id : kIds) {
    std::vector<double> none;
    EXPECT_EQ(make_solver(id)->solve(empty, 1e-9, none).status, SolveStatus::converged) << id;
    const Answer a = solve(p, id, 1e-9);
    EXPECT_EQ(a.lambda, solve(p, id, 1e-9).lambda) << id << ": not deterministic";
    EXPECT_EQ(a.report.residuals.natural_map, a.judged.natural_map) << id;
    EXPECT_EQ(a.report.status == SolveStatus::converged, a.judged.error() <= 1e-9) << id;
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind != BlockKind::contact) continue;
      const Vec3 l(a.lambda.data() + b.row);
      EXPECT_LT((l - project_cone(l, b.mu)).norm(), 1e-15) << id;
    }
    const std::vector<double> nan(a.lambda.size(), std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(solve(p, id, 1e-9, {}, nan).judged.finite) << id;
    ConstraintProblem bad = p;
    bad.v_free[1] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(solve(bad, id, 1e-9).report.status, SolveStatus::non_finite) << id;
  }
}

}  // namespace
}  // namespace sarrus::drumwright_test
