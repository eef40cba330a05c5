// The dense contact problem behind the elimination of joints: closed forms, random problems by the judge's natural map,
// one Newton step against the whole generalised Jacobian, units of rows, and its budget.
#include "sarrus/solvers/dense_ncp.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <random>
#include <vector>

#include "sarrus/math/tools.h"
#include "sarrus/problem/judge.h"

namespace sarrus {

struct DenseNcpProbe {
  // dlambda of one Newton step from lambda, scaled rows, without shift.
  static VecX step(DenseNcp& d, const VecX& v, const VecX& lambda) {
    place(d, v, lambda);
    EXPECT_TRUE(d.direction({1.0, 0.0, 1, 1, false, 0.1}, d.x_));
    return d.step_.head(d.rows());
  }
  // The same of the whole matrix [dF/dlambda], open rows in it, by central differences of F.
  static VecX whole_step(DenseNcp& d, const VecX& v, const VecX& lambda) {
    constexpr double h = 1e-6;
    const int n = d.rows();
    MatX A(n, n);
    for (int c = 0; c < n; ++c) {
      VecX plus = lambda, minus = lambda;
      plus[c] += h;
      minus[c] -= h;
      place(d, v, plus);
      const VecX F = d.x_.F.head(n);
      place(d, v, minus);
      A.col(c) = (F - d.x_.F.head(n)) / (2 * h);
    }
    place(d, v, lambda);
    return -A.partialPivLu().solve(VecX(d.x_.F.head(n)));
  }
  static double q(const DenseNcp& d, int row) { return d.q_[row]; }

 private:
  static void place(DenseNcp& d, const VecX& v, const VecX& lambda) {
    d.x_.lambda.setZero();
    d.x_.lambda.head(d.rows()) = lambda;
    d.multiply(d.x_.lambda, d.x_.sigma);
    d.x_.sigma.head(d.rows()) += v;
    d.classify(1.0, d.x_);
  }
};

}  // namespace sarrus

namespace sarrus::dense_ncp_test {
namespace {

struct Sample {
  MatX S;
  VecX v;
  std::vector<DenseNcp::Unit> units;
};

DenseNcp::Unit contact(int row, double mu) {
  DenseNcp::Unit u;
  u.contact = true;
  u.row = row;
  u.mu = mu;
  return u;
}

DenseNcp::Unit bounded(int row, double lower, double upper) {
  DenseNcp::Unit u;
  u.row = row;
  u.lower = lower;
  u.upper = upper;
  return u;
}

// Contacts, limits and drives with bounds; S of full rank, as of bodies with more freedom than contacts.
Sample random_sample(std::mt19937& rng, int contacts, int limits, int drives) {
  std::normal_distribution<double> d;
  const int n = 3 * contacts + limits + drives;
  Sample s;
  MatX A(n, n + 4);
  for (double& x : A.reshaped()) x = d(rng);
  s.S = A * A.transpose() / (n + 4);
  s.v.resize(n);
  for (double& x : s.v) x = d(rng);
  for (int i = 0; i < contacts; ++i) s.units.push_back(contact(3 * i, 0.2 + 0.3 * (i % 3)));
  for (int i = 0; i < limits; ++i) s.units.push_back(bounded(3 * contacts + i, 0, kInf));
  for (int i = 0; i < drives; ++i) s.units.push_back(bounded(3 * contacts + limits + i, -0.1, 0.3));
  return s;
}

void load(const Sample& s, DenseNcp& d, int budget = 1000) {
  const int n = static_cast<int>(s.v.size());
  d.clear(n, budget);
  d.units() = s.units;
  for (int i = 0; i < n; ++i) {
    d.unconstrained()[i] = s.S(i, i);
    for (int j = 0; j < n; ++j) d.S()[i * d.stride() + j] = s.S(i, j);
  }
  d.equilibrate();
}

GrowingVector growing(const VecX& x) {
  GrowingVector g;
  g.resize(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) g[i] = x[i];
  return g;
}

bool solve(const Sample& s, DenseNcp& d, VecX& lambda, double tolerance = 1e-12) {
  const GrowingVector v = growing(s.v);
  GrowingVector l = growing(lambda);
  const bool done = d.solve(v, tolerance, l);
  for (Eigen::Index i = 0; i < lambda.size(); ++i) lambda[i] = l[i];
  return done;
}

// By the judge's functions, raw rows.
double natural_map_of(const Sample& s, const VecX& lambda) {
  const VecX sigma = s.S * lambda + s.v;
  double worst = 0;
  for (const DenseNcp::Unit& u : s.units) {
    const double r = u.contact
                         ? natural_map(Vec3(lambda.segment<3>(u.row)), Vec3(sigma.segment<3>(u.row)), u.mu, Law::ncp)
                         : natural_map(lambda[u.row], sigma[u.row], u.lower, u.upper);
    worst = std::max(worst, r);
  }
  return worst;
}

// A block of 2 kg on the floor, pushed along it by the velocity v_t while gravity gives it v_n: S = 1/m.
VecX block_on_floor(double v_t, double v_n, double mu) {
  Sample s{Mat3::Identity() / 2, Vec3(v_t, 0, v_n), {contact(0, mu)}};
  DenseNcp d;
  load(s, d);
  VecX lambda = VecX::Zero(3);
  EXPECT_TRUE(solve(s, d, lambda));
  return lambda;
}

TEST(DenseNcp, ABlockSticksSlidesAndLiftsOff) {
  EXPECT_NEAR((block_on_floor(0.1, -1, 0.5) - Vec3(-0.2, 0, 2)).norm(), 0, 1e-11) << "sticks";
  EXPECT_NEAR((block_on_floor(3, -1, 0.5) - Vec3(-1, 0, 2)).norm(), 0, 1e-11)
      << "slides, and the floor does not lift it";
  EXPECT_EQ(block_on_floor(3, 1, 0.5), VecX::Zero(3)) << "lifts off";
}

TEST(DenseNcp, RandomProblemsByTheJudgesNaturalMap) {
  std::mt19937 rng(21);
  DenseNcp d;
  int solved = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const Sample s = random_sample(rng, sample % 7, 1 + sample % 3, sample % 4);
    load(s, d);
    VecX lambda = VecX::Zero(s.v.size());
    if (!solve(s, d, lambda)) continue;
    ++solved;
    EXPECT_LE(natural_map_of(s, lambda), 1e-10) << "sample " << sample;
  }
  EXPECT_EQ(solved, 200);
}

// Rows that are open or at a bound are left out of the matrix: the step is that of the whole one.
TEST(DenseNcp, AStepIsThatOfTheWholeJacobian) {
  std::mt19937 rng(22);
  std::normal_distribution<double> normal;
  DenseNcp d;
  int open = 0;
  for (int sample = 0; sample < 40; ++sample) {
    const Sample s = random_sample(rng, 3, 2, 2);
    load(s, d);
    VecX v(s.v.size()), lambda(s.v.size());
    for (double& x : v) x = normal(rng);
    for (double& x : lambda) x = normal(rng);
    const VecX a = DenseNcpProbe::step(d, v, lambda);
    const VecX b = DenseNcpProbe::whole_step(d, v, lambda);
    for (Eigen::Index i = 0; i < a.size(); ++i) open += a[i] == -lambda[i];
    EXPECT_LE((a - b).norm(), 1e-6 * (1 + b.norm())) << "sample " << sample;
  }
  EXPECT_GT(open, 20);
}

// Rows in other units: S' = d S d, v' = d v has the impulses lambda / d; contacts have one unit.
TEST(DenseNcp, UnitsOfRowsDoNotMatter) {
  std::mt19937 rng(23);
  std::uniform_real_distribution<double> exponent(-4, 4);
  DenseNcp d;
  for (int sample = 0; sample < 40; ++sample) {
    const Sample s = random_sample(rng, 2 + sample % 3, 2, 0);
    VecX unit(s.v.size());
    for (const DenseNcp::Unit& u : s.units)
      unit.segment(u.row, u.contact ? 3 : 1).setConstant(std::pow(10, exponent(rng)));
    Sample other = s;
    other.S = unit.asDiagonal() * s.S * unit.asDiagonal();
    other.v = unit.cwiseProduct(s.v);
    for (DenseNcp::Unit& u : other.units) u.scale /= unit[u.row];  // as the judge's p = (D + R)_ii^-1/2
    VecX a = VecX::Zero(s.v.size()), b = a;
    load(s, d);
    ASSERT_TRUE(solve(s, d, a)) << "sample " << sample;
    load(other, d);
    ASSERT_TRUE(solve(other, d, b)) << "sample " << sample;
    EXPECT_LE((unit.cwiseProduct(b) - a).norm(), 1e-9 * (1 + a.norm())) << "sample " << sample;
  }
}

// It takes no more steps than it may, and an answer that is none leaves the impulses as they were.
TEST(DenseNcp, KeepsItsBudget) {
  std::mt19937 rng(24);
  DenseNcp d;
  int ended = 0;
  for (int sample = 0; sample < 50; ++sample) {
    const Sample s = random_sample(rng, 6, 2, 2);
    for (const int budget : {0, 1, 3}) {
      load(s, d, budget);
      VecX lambda = VecX::Constant(s.v.size(), 0.01);
      const VecX before = lambda;
      const bool done = solve(s, d, lambda);
      EXPECT_LE(d.iterations(), budget);
      if (done) continue;
      ++ended;
      EXPECT_EQ(lambda, before);
    }
  }
  EXPECT_GT(ended, 50);
}

TEST(DenseNcp, WhatIsNoNumberIsNoAnswer) {
  std::mt19937 rng(25);
  Sample s = random_sample(rng, 2, 1, 1);
  DenseNcp d;
  load(s, d);
  s.v[1] = std::numeric_limits<double>::quiet_NaN();
  VecX lambda = VecX::Zero(s.v.size());
  EXPECT_FALSE(solve(s, d, lambda));
  EXPECT_EQ(lambda, VecX::Zero(s.v.size()));
}

}  // namespace
}  // namespace sarrus::dense_ncp_test
