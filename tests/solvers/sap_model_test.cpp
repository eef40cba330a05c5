// The objective that SAP minimises: derivatives by finite differences, exact complementarity, the contact map.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/math/cones.h"
#include "sarrus/solvers/sap_model.h"
#include "solvers/dense_ncp.h"

namespace sarrus::sap_model_test {
namespace {

using testing::random_vector;

// --- the metric projection ----------------------------------------------------------------------------

TEST(MetricProjection, MeetsTheOptimalityConditions) {
  std::mt19937 rng(1);
  int zone[3] = {};
  for (int trial = 0; trial < 20000; ++trial) {
    const Vec3 y = random_vector(3, rng);
    const Vec3 w = Vec3(random_vector(3, rng)).array().exp();
    const double mu = 0.1 * (trial % 30);
    const Vec3 W(w[0], w[0], w[2]);
    const Vec3 x = project_cone_metric(y, mu, W[0], W[2]);
    const Vec3 v = W.cwiseProduct(x - y);
    const double size = W.cwiseProduct(y).norm();
    EXPECT_LE(length2(x[0], x[1]), mu * x[2] * (1 + 1e-14));
    EXPECT_GE(v[2] - mu * length2(v[0], v[1]), -1e-14 * size);
    EXPECT_NEAR(x.dot(v), 0, 1e-14 * size * y.norm());
    ++zone[x == y ? 0 : x.isZero(0) ? 1 : 2];
  }
  for (const int n : zone) EXPECT_GT(n, 1000);
}

TEST(MetricProjection, IsTheEuclideanOneForEqualWeights) {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 1000; ++trial) {
    const Vec3 y = random_vector(3, rng);
    EXPECT_LT((project_cone_metric(y, 0.7, 3.0, 3.0) - project_cone(y, 0.7)).norm(), 1e-15 * (1 + y.norm()));
  }
  EXPECT_EQ(project_cone_metric(Vec3::Zero(), 0.0, 1.0, 2.0), Vec3(Vec3::Zero()));
  EXPECT_EQ(project_cone_metric(Vec3(1, 0, 2), 0.0, 1.0, 2.0), Vec3(0, 0, 2));
}

// --- derivatives --------------------------------------------------------------------------------------

// Which branch every row is on; derivatives jump where it changes.
std::vector<int> zones(const NcpProblem& p, const SapModel& m) {
  std::vector<int> out;
  for (int i = 0; i < p.scalar_rows; ++i) out.push_back(m.y()[i] < p.lower[i] ? -1 : m.y()[i] > p.upper[i] ? 1 : 0);
  for (int row = p.scalar_rows; row < p.rows(); row += 3) {
    const Vec3 g = m.gamma().segment<3>(row);
    out.push_back(g.isZero(0) ? 2 : g == Vec3(m.y().segment<3>(row)) ? 3 : 4);
  }
  return out;
}

struct Fixture {
  NcpSearch search;
  SapModel model;
  std::mt19937 rng;

  explicit Fixture(unsigned seed, bool rigid) : rng(seed) {
    ConstraintProblem p = testing::random_problem({6, 6, 3, 12}, rng);
    for (const ConstraintBlock& b : p.blocks) {
      const VecX R = random_vector(6, rng).array().abs() + 0.05;
      for (int r = 0; r < b.rows; ++r) {
        const bool second_tangent = b.kind == BlockKind::contact && r == 1;
        p.R[static_cast<std::size_t>(b.row + r)] = rigid ? 0.0 : R[second_tangent ? 0 : r];
      }
    }
    testing::load(search, p);
    model.load(search.problem, rigid ? 0.05 : 1e-12);
    if (rigid) model.set_anchor(testing::growing(random_vector(search.problem.rows(), rng)));
  }
  GrowingVector velocity() {
    const NcpProblem& p = search.problem;
    GrowingVector u = testing::growing(VecX::Zero(p.padded_size()));
    for (std::size_t i = 0; i < p.node_size.size(); ++i) {
      u.segment(p.node_start[i], p.node_size[i]) = random_vector(p.node_size[i], rng);
    }
    return u;
  }
  void at(const GrowingVector& u, const GrowingVector& d, double h) {
    GrowingVector x = u;
    x += h * d;
    model.evaluate(search.problem, x);
  }
};

TEST(SapModel, GradientAndHessianAgreeWithFiniteDifferences) {
  constexpr double h = 1e-4;
  int compared = 0;
  bool slides = false;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Fixture f(seed, seed % 2 == 0);
    const NcpProblem& p = f.search.problem;
    EXPECT_EQ(f.model.proximal(), seed % 2 == 0);
    const GrowingVector u = f.velocity();
    const GrowingVector d = f.velocity();
    f.at(u, d, -4 * h);
    const std::vector<int> before = zones(p, f.model);
    f.at(u, d, 4 * h);
    if (zones(p, f.model) != before) continue;  // too near to a kink
    ++compared;
    for (const int z : before) slides = slides || z == 4;

    double cost[5];
    VecX gradient[5];
    for (int k = -2; k <= 2; ++k) {
      f.at(u, d, k * h);
      cost[k + 2] = f.model.cost();
      gradient[k + 2] = f.model.gradient();
    }
    const auto difference = [](const auto* v) { return ((v[0] - v[4]) + 8 * (v[3] - v[1])) / (12 * h); };
    f.at(u, d, 0);
    const VecX g = f.model.gradient();
    EXPECT_NEAR(difference(cost), g.dot(d), 1e-9 * g.norm() * d.norm()) << seed;

    f.model.linearise(p);
    MatX G = MatX::Zero(p.rows(), p.rows());
    for (int i = 0; i < p.scalar_rows; ++i) G(i, i) = f.model.scalar_G()[static_cast<std::size_t>(i)];
    for (int k = 0; k < p.contacts(); ++k) {
      const Eigen::Map<const Mat3Row> block(f.model.cone_G().data() + 9 * k);
      EXPECT_LE((block - block.transpose()).norm(), 1e-14 * block.norm());
      G.block<3, 3>(p.scalar_rows + 3 * k, p.scalar_rows + 3 * k) = block;
    }
    const MatX J = testing::dense_J(p);
    const VecX Hd = testing::dense_A(p) * d + J.transpose() * (G * (J * d));
    const VecX expected = ((gradient[0] - gradient[4]) + 8 * (gradient[3] - gradient[1])) / (12 * h);
    EXPECT_LT((expected - Hd).norm(), 1e-9 * Hd.norm()) << seed;

    f.model.set_line(p, d);
    const SapModel::Line line = f.model.line(p, 0.0);
    EXPECT_NEAR(line.slope, g.dot(d), 1e-12 * g.norm() * d.norm());
    EXPECT_NEAR(line.curvature, d.dot(Hd), 1e-12 * d.norm() * Hd.norm());
    EXPECT_NEAR(f.model.line_cost(p, 2 * h), cost[4], 1e-13 * std::abs(cost[4]));
  }
  EXPECT_GE(compared, 30);
  EXPECT_TRUE(slides);
}

// Far along a line: slope and cost belong together, and the slope rises (the problem is convex).
TEST(SapModel, TheLineIsConvex) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Fixture f(seed, seed % 2 == 0);
    const NcpProblem& p = f.search.problem;
    const GrowingVector u = f.velocity();
    const GrowingVector d = f.velocity();
    f.at(u, d, 0);
    f.model.set_line(p, d);
    double integral = 0;
    double last = f.model.line(p, -2.0).slope;
    constexpr int kSteps = 20000;
    for (int k = 1; k <= kSteps; ++k) {
      const double slope = f.model.line(p, -2.0 + 4.0 * k / kSteps).slope;
      EXPECT_GT(slope, last);
      integral += 0.5 * (slope + last) * 4.0 / kSteps;
      last = slope;
    }
    const double difference = f.model.line_cost(p, 2.0) - f.model.line_cost(p, -2.0);
    EXPECT_NEAR(integral, difference, 1e-6 * std::abs(f.model.line_cost(p, 2.0)));
    // Going there step by step is being there.
    GrowingVector there = u;
    there += 0.7 * d;
    f.model.advance(p, there, 0.7);
    const VecX carried = f.model.gamma();
    f.model.evaluate(p, there);
    EXPECT_LT((carried - f.model.gamma()).norm(), 1e-13 * (1 + carried.norm()));
  }
}

// Wherever u is, gamma and the compliant velocity J u + v* + W gamma - Q lambda_k complement each other.
TEST(SapModel, ComplementarityIsExactAtAnyIterate) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Fixture f(seed, seed % 2 == 0);
    const NcpProblem& p = f.search.problem;
    f.model.evaluate(p, f.velocity());
    const VecX& W = f.model.W();
    const VecX sigma = W.cwiseProduct(f.model.gamma() - f.model.y());
    for (int i = 0; i < p.scalar_rows; ++i) {
      const double gamma = f.model.gamma()[i];
      EXPECT_TRUE(sigma[i] == 0 || (gamma == p.lower[i] && sigma[i] > 0) || (gamma == p.upper[i] && sigma[i] < 0));
    }
    for (int k = 0; k < p.contacts(); ++k) {
      const int row = p.scalar_rows + 3 * k;
      const double mu = p.blocks[static_cast<std::size_t>(p.scalar_blocks + k)].mu;
      const Vec3 gamma = f.model.gamma().segment<3>(row);
      const Vec3 v = sigma.segment<3>(row);
      EXPECT_LE(length2(gamma[0], gamma[1]), mu * gamma[2] * (1 + 1e-14));
      EXPECT_LT((v - project_dual_cone(v, mu)).norm(), 1e-13 * (1 + v.norm()));
      EXPECT_NEAR(gamma.dot(v), 0, 1e-13 * (1 + gamma.norm() * v.norm()));
    }
  }
}

}  // namespace
}  // namespace sarrus::sap_model_test
