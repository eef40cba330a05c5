// H = M + J' G J on the node graph against dense algebra, and Woodbury's identity built on it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/solvers/normal_matrix.h"
#include "support/dense.h"

namespace sarrus::normal_matrix_test {
namespace {

using testing::dense_blocks;
using testing::node_layouts;
using testing::random_problem;
using testing::random_vector;

std::vector<double> random_weights(int rows, std::mt19937& rng) {
  std::uniform_real_distribution<double> exponent(-3, 3);
  std::vector<double> g(static_cast<std::size_t>(rows));
  for (double& x : g) x = std::pow(10.0, exponent(rng));
  return g;
}

MatX dense_H(const ConstraintProblem& p, const std::vector<double>& g) {
  const MatX J = p.dense_J();
  return dense_blocks(p, p.mass) + J.transpose() * Eigen::Map<const VecX>(g.data(), p.rows()).asDiagonal() * J;
}

void expect_solves(NormalMatrix& normal, const ConstraintProblem& p, const std::vector<double>& g, std::mt19937& rng) {
  ASSERT_TRUE(normal.factor(p, g));
  const MatX H = dense_H(p, g);
  for (int trial = 0; trial < 3; ++trial) {
    const VecX b = random_vector(p.velocity_size(), rng);
    VecX x = b;
    normal.solve(x);
    const double scale = H.cwiseAbs().rowwise().sum().maxCoeff() * x.cwiseAbs().maxCoeff() + b.cwiseAbs().maxCoeff();
    EXPECT_LT((H * x - b).cwiseAbs().maxCoeff() / scale, 1e-14);
    const VecX reference = test::solve_spd(H, b);
    EXPECT_LT((x - reference).norm(), 1e-8 * reference.norm());
  }
}

TEST(NormalMatrix, SolvesLikeDense) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 10; ++trial) {
    for (const std::vector<int>& sizes : node_layouts()) {
      const ConstraintProblem p = random_problem(sizes, rng);
      NormalMatrix normal;
      normal.prepare(p);
      expect_solves(normal, p, random_weights(p.rows(), rng), rng);
    }
  }
}

TEST(NormalMatrix, WithoutWeightsItIsTheMassMatrix) {
  std::mt19937 rng(2);
  const ConstraintProblem p = random_problem({6, 3, 7}, rng);
  NormalMatrix normal;
  normal.prepare(p);
  ASSERT_TRUE(normal.factor(p, std::vector<double>(static_cast<std::size_t>(p.rows()), 0.0)));
  const VecX b = random_vector(p.velocity_size(), rng);
  VecX x = b;
  normal.solve(x);
  EXPECT_LT((x - dense_blocks(p, p.mass_inverse) * b).norm(), 1e-12);
}

// One object through changing graphs, sizes and weights, as contacts come and go.
TEST(NormalMatrix, IsReusableAndAnalysesOnlyNewGraphs) {
  std::mt19937 rng(3);
  NormalMatrix normal;
  const ConstraintProblem a = random_problem({6, 6, 6, 6, 6, 6, 6, 6, 6}, rng);
  ConstraintProblem b = a;
  b.clear_constraints();
  testing::add_random_block(b, BlockKind::joint, 5, 2, rng);
  b.finish();
  const ConstraintProblem c = random_problem({3, 6, 12}, rng);
  const auto run = [&](const ConstraintProblem& p) {
    normal.prepare(p);
    expect_solves(normal, p, random_weights(p.rows(), rng), rng);
    return normal.llt().analyses();
  };
  const int first = run(a);
  EXPECT_EQ(run(a), first);
  EXPECT_GT(run(b), first);
  const int second = normal.llt().analyses();
  EXPECT_EQ(run(b), second);
  EXPECT_GT(run(c), second);
  run(a);
}

// Several blocks on the same pair of nodes add up in one block of H, whatever the order of their nodes.
TEST(NormalMatrix, BlocksOnTheSameNodesAdd) {
  std::mt19937 rng(4);
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 4, 6});
  testing::fill_nodes(p, rng);
  for (const std::vector<int>& nodes : {std::vector<int>{0, 1}, {1, 0}, {2, 1, 0}, {1}, {0, 2}, {2, 0}}) {
    ConstraintBlock& b = p.add_block(BlockKind::joint, 2, nodes);
    for (int k = 0; k < b.nodes; ++k) {
      for (int i = 0; i < 2 * p.node_size[static_cast<std::size_t>(b.node[k])]; ++i) {
        p.jacobian_row(b, k, 0)[i] = random_vector(1, rng)[0];
      }
    }
  }
  p.finish();
  NormalMatrix normal;
  normal.prepare(p);
  expect_solves(normal, p, random_weights(p.rows(), rng), rng);
}

// (D + R + shift)^-1 r = E r - E J H^-1 J' E r,  E = 1/(R + shift): never forms D.
TEST(NormalMatrix, WoodburyIdentity) {
  std::mt19937 rng(5);
  for (const std::vector<int>& sizes : node_layouts()) {
    const ConstraintProblem p = random_problem(sizes, rng);
    for (const double shift : {1.0, 1e-3, 1e-6}) {
      VecX E(p.rows());
      for (int i = 0; i < p.rows(); ++i) E[i] = 1 / (p.R[static_cast<std::size_t>(i)] + shift);
      NormalMatrix normal;
      normal.prepare(p);
      ASSERT_TRUE(normal.factor(p, {E.data(), static_cast<std::size_t>(E.size())}));
      const VecX r = random_vector(p.rows(), rng);
      const VecX Er = E.cwiseProduct(r);
      VecX w(p.velocity_size());
      p.multiply_Jt({Er.data(), static_cast<std::size_t>(Er.size())}, w);
      normal.solve(w);
      VecX Jw(p.rows());
      p.multiply_J(w, Jw);
      const VecX x = Er - E.cwiseProduct(Jw);
      MatX A = p.dense_D_plus_R();
      A.diagonal().array() += shift;
      const VecX reference = test::solve_spd(A, r);
      EXPECT_LT((x - reference).norm(), 1e-14 / shift * 1e3 * (1 + reference.norm())) << shift;
      EXPECT_LT((A * x - r).norm(), 1e-13 / shift * 100 * (1 + r.norm())) << shift;
    }
  }
}

TEST(NormalMatrix, RefusesBadNumbers) {
  std::mt19937 rng(6);
  const ConstraintProblem good = random_problem({6, 6, 6, 6}, rng);
  std::vector<double> g(static_cast<std::size_t>(good.rows()), 1.0);
  NormalMatrix normal;
  normal.prepare(good);
  EXPECT_TRUE(normal.factor(good, g));
  g[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(normal.factor(good, g));
  g[3] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(normal.factor(good, g));
  g[3] = 1;
  ConstraintProblem bad = good;
  bad.mass[0] = -1e3;
  EXPECT_FALSE(normal.factor(bad, std::vector<double>(g.size(), 0.0)));
  bad = good;
  bad.jacobian[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(normal.factor(bad, g));
  EXPECT_TRUE(normal.factor(good, g));
}

}  // namespace
}  // namespace sarrus::normal_matrix_test
