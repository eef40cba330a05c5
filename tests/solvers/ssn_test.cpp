// The semismooth Newton method: local derivatives against differences and closed forms, the eliminated step against the
// dense Newton system, and the quadratic phase.
#include "sarrus/solvers/ssn.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <random>
#include <string>

#include "problem/random_problem.h"
#include "sarrus/math/cones.h"
#include "solvers/dense_ncp.h"
#include "support/dense.h"

namespace sarrus {

// One step of the method, by itself.
struct SsnProbe {
  Ssn ssn;
  VecX F;

  VecX step(NcpSearch& search, const SsnOptions& o, const VecX& lambda) {
    ssn.resize(search.problem);
    ssn.x_.lambda = lambda;
    ssn.evaluate(search.problem, o.r, ssn.x_);
    F = ssn.x_.F;
    EXPECT_TRUE(ssn.direction(search, o, ssn.x_));
    return ssn.step_;
  }
};

}  // namespace sarrus

namespace sarrus::ssn_test {
namespace {

using Mat3Row = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Mat3 G_of(const Ssn::Local& local) { return Eigen::Map<const Mat3Row>(local.G); }

// dP_K(y): without shift and compliance, with r delta = 1, X = 1 and G = r Pi.
Mat3 derivative(const Vec3& y, double mu) {
  return G_of(Ssn::contact_block(y, Vec3::Zero(), Vec3::Zero(), mu, 1.0, 1.0));
}

// The same from its spectral form.
template <class Real>
Eigen::Matrix<Real, 3, 3> spectral_form(const Eigen::Matrix<Real, 3, 1>& y, Real mu) {
  using Vector = Eigen::Matrix<Real, 3, 1>;
  using Matrix = Eigen::Matrix<Real, 3, 3>;
  const Real t = y.template head<2>().norm();
  if (t <= mu * y[2]) return Matrix::Identity();
  if (mu * t <= -y[2]) return Matrix::Zero();
  const Real m2 = 1 + mu * mu;
  const Vector e(mu * y[0] / t, mu * y[1] / t, 1);
  const Vector tau(-y[1] / t, y[0] / t, 0);
  return e * e.transpose() / m2 + mu * (mu * t + y[2]) / (m2 * t) * tau * tau.transpose();
}
Mat3 spectral(const Vec3& y, double mu) { return spectral_form<double>(y, mu); }

Mat3 coupling(const Vec3& sigma, double mu) {
  Mat3 N = Mat3::Zero();
  N.row(2).head<2>() = mu * sigma.head<2>().normalized().transpose();
  return N;
}

template <class F>
Mat3 differences(const F& f, const Vec3& x, double h) {
  Mat3 out;
  for (int i = 0; i < 3; ++i) out.col(i) = (f(x + h * Vec3::Unit(i)) - f(x - h * Vec3::Unit(i))) / (2 * h);
  return out;
}

Vec3 random3(std::mt19937& rng) { return testing::random_vector(3, rng); }

double friction(std::mt19937& rng) { return std::pow(10.0, std::uniform_real_distribution<double>(-2, 0.602)(rng)); }

// --- derivative of the projection ----------------------------------------------------------------------

TEST(SsnDerivative, MatchesDifferencesNearEveryBoundary) {
  std::mt19937 rng(300);
  double worst = 0, worst_spectral = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const double mu = friction(rng);
    const double m = std::sqrt(1 + mu * mu);
    const Vec2 t = testing::random_vector(2, rng).normalized();
    const Vec3 e1(mu * t[0] / m, mu * t[1] / m, 1 / m);
    const Vec3 e2(t[0] / m, t[1] / m, -mu / m);
    const double s = std::uniform_real_distribution<double>(0.5, 2)(rng);
    for (const double d : {0.3, 1e-3, 1e-5}) {
      // both sides of the cone's boundary and of the polar cone's
      for (const Vec3& y :
           {Vec3(s * e1 - d * e2), Vec3(s * e1 + d * e2), Vec3(s * e2 + d * e1), Vec3(s * e2 - d * e1)}) {
        const auto map = [&](const Vec3& l) { return Ssn::contact_map(l, Vec3::Zero(), mu, 1.0); };
        const Mat3 Pi = derivative(y, mu);
        const Mat3 reference = Mat3::Identity() - differences(map, y, 3e-7);
        worst = std::max(worst, (Pi - reference).cwiseAbs().maxCoeff());
        worst_spectral = std::max(worst_spectral, (Pi - spectral(y, mu)).cwiseAbs().maxCoeff());
      }
    }
  }
  EXPECT_LT(worst, 2e-8);
  EXPECT_LT(worst_spectral, 1e-15);
}

TEST(SsnDerivative, BoundariesApexAndNoFriction) {
  const Mat3 one = Mat3::Identity();
  EXPECT_EQ(derivative(Vec3(1, 0, 2), 0.5), one);  // on the cone: sticks
  EXPECT_EQ(derivative(Vec3(0, -1, 2), 0.5), one);
  EXPECT_EQ(derivative(Vec3(0, 0, 0), 0.5), one);                  // apex
  EXPECT_EQ(derivative(Vec3(2, 0, -1), 0.5), Mat3(Mat3::Zero()));  // on the polar cone: open
  EXPECT_EQ(derivative(Vec3(0, 0, 0), 0.0), one);
  EXPECT_EQ(derivative(Vec3(0.3, 0.1, 1), 0.0), Mat3(Vec3::UnitZ() * Vec3::UnitZ().transpose()));
  EXPECT_EQ(derivative(Vec3(0.3, 0.1, -1), 0.0), Mat3(Mat3::Zero()));
}

// --- local blocks ----------------------------------------------------------------------------------------

struct LocalCase {
  Vec3 lambda, sigma, R, F;
  double mu, r, delta;
  Mat3 Pi, N;
  // X and C = r Pi (1 + N), in long double: the condition of X is 1 / (r delta).
  Eigen::Matrix<long double, 3, 3> X, C;
};

LocalCase random_case(std::mt19937& rng, bool compliant) {
  LocalCase c;
  c.lambda = random3(rng) + Vec3(0, 0, 1);
  c.sigma = random3(rng);
  const double t = compliant ? 0.1 + std::abs(random3(rng)[0]) : 0.0;
  c.R = Vec3(t, t, compliant ? 0.1 + std::abs(random3(rng)[0]) : 0.0);
  c.mu = friction(rng);
  c.r = std::pow(10.0, std::uniform_real_distribution<double>(-1, 1)(rng));
  c.delta = std::pow(10.0, std::uniform_real_distribution<double>(-6, -2)(rng));
  c.N = coupling(c.sigma, c.mu);
  Vec3 v = c.sigma;
  v[2] += de_saxce(c.sigma, c.mu);
  c.Pi = spectral(c.lambda - c.r * v, c.mu);
  using Matrix = Eigen::Matrix<long double, 3, 3>;
  const Eigen::Matrix<long double, 3, 1> y = (c.lambda - c.r * v).cast<long double>();
  const Matrix Pi = spectral_form<long double>(y, c.mu);
  const Matrix one = Matrix::Identity();
  const Matrix one_N = one + c.N.cast<long double>();
  c.X = one - Pi + c.r * Pi * (one_N * Matrix(c.R.cast<long double>().asDiagonal()) + c.delta * one);
  c.C = c.r * Pi * one_N;
  c.F = Ssn::contact_map(c.lambda, c.sigma, c.mu, c.r);
  return c;
}

// G = X^-1 C and h = X^-1 F, in every zone, with and without compliance; det X as docs/theory/newton.md §3 has it.
TEST(SsnLocal, BlocksSolveTheirDefinition) {
  std::mt19937 rng(301);
  for (const bool compliant : {false, true}) {
    double worst = 0, worst_det = 0;
    int zones[3] = {};
    for (int trial = 0; trial < 3000; ++trial) {
      const LocalCase c = random_case(rng, compliant);
      const Ssn::Local local = Ssn::contact_block(c.lambda, c.sigma, c.R, c.mu, c.r, c.delta);
      const Mat3 G = c.X.fullPivLu().solve(c.C).cast<double>();
      const Vec3 h = c.X.fullPivLu().solve(c.F.cast<long double>()).cast<double>();
      worst = std::max({worst, (G_of(local) - G).norm() / (1 + G.norm()), (local.h - h).norm() / (1 + h.norm())});
      const bool stick = c.Pi == Mat3(Mat3::Identity());
      const bool open = c.Pi == Mat3(Mat3::Zero());
      ++zones[stick ? 0 : open ? 1 : 2];
      if (stick || open) continue;
      Vec3 v = c.sigma;
      v[2] += de_saxce(c.sigma, c.mu);
      const Vec3 y = c.lambda - c.r * v;
      const double m2 = 1 + c.mu * c.mu;
      const double kappa = c.mu * (c.mu * y.head<2>().norm() + y[2]) / (m2 * y.head<2>().norm());
      const double cosine = y.head<2>().normalized().dot(c.sigma.head<2>().normalized());
      const double det = c.r * ((c.R[2] + c.mu * c.mu * c.R[0] * (1 + cosine)) / m2 + c.delta) *
                         (1 - kappa + c.r * kappa * (c.R[0] + c.delta));
      EXPECT_GT(det, 0);
      worst_det = std::max(worst_det, std::abs(static_cast<double>(c.X.determinant()) - det) / (1e-3 + det));
    }
    EXPECT_LT(worst, 1e-9) << compliant;
    EXPECT_LT(worst_det, 1e-9) << compliant;
    for (const int n : zones) EXPECT_GT(n, 200);
  }
}

// d/dlambda of F(lambda, (D + R) lambda + b) = 1 - Pi + r Pi (1 + N)(D + R)
TEST(SsnLocal, DerivativeOfTheMapMatchesDifferences) {
  std::mt19937 rng(302);
  double worst = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const LocalCase c = random_case(rng, trial % 2 == 0);
    const Mat3 B = testing::random_vector(9, rng).reshaped(3, 3);
    const Mat3 W = B * B.transpose() + Mat3(c.R.asDiagonal());
    const Vec3 b = c.sigma - W * c.lambda;
    const auto map = [&](const Vec3& l) { return Ssn::contact_map(l, W * l + b, c.mu, c.r); };
    // r delta = 1 and R = 0: G = r Pi (1 + N)
    const Mat3 C = G_of(Ssn::contact_block(c.lambda, c.sigma, Vec3::Zero(), c.mu, c.r, 1 / c.r));
    const Mat3 one = Mat3::Identity();
    const Mat3 derivative = one - c.Pi + C * W;
    const double h = 1e-6;
    const Mat3 fine = differences(map, c.lambda, h);
    // Differences across a kink tell nothing; there the ones of twice the step disagree.
    if ((fine - differences(map, c.lambda, 2 * h)).norm() > 1e-7 * derivative.norm()) continue;
    worst = std::max(worst, (fine - derivative).norm() / derivative.norm());
  }
  EXPECT_LT(worst, 1e-8);
}

// --- whole steps -------------------------------------------------------------------------------------------

// 1 - Pi + r Pi ((1 + N)(D + R) + delta) of a whole island.
MatX dense_newton(const NcpProblem& p, const VecX& lambda, const VecX& sigma, const SsnOptions& o) {
  const int n = p.rows();
  MatX Pi = MatX::Zero(n, n);
  MatX N = MatX::Zero(n, n);
  for (int i = 0; i < p.scalar_rows; ++i) {
    const double y = lambda[i] - o.r * sigma[i];
    Pi(i, i) = y > p.lower[i] && y < p.upper[i] ? 1 : 0;
  }
  for (std::size_t i = static_cast<std::size_t>(p.scalar_blocks); i < p.blocks.size(); ++i) {
    const NcpBlock& b = p.blocks[i];
    const Vec3 s = sigma.segment<3>(b.row);
    Vec3 v = s;
    v[2] += de_saxce(s, b.mu);
    Pi.block<3, 3>(b.row, b.row) = spectral(lambda.segment<3>(b.row) - o.r * v, b.mu);
    N.block<3, 3>(b.row, b.row) = coupling(s, b.mu);
  }
  const MatX one = MatX::Identity(n, n);
  return one - Pi + o.r * Pi * ((one + N) * testing::dense_DR(p) + o.delta * one);
}

ConstraintProblem step_problem(std::mt19937& rng, bool compliant) {
  ConstraintProblem p = testing::random_problem({6, 6, 3, 12, 6, 17, 6}, rng);
  if (compliant) {
    for (const ConstraintBlock& b : p.blocks) {
      for (int r = 0; r < b.rows; ++r) p.R[static_cast<std::size_t>(b.row + r)] = r < 2 ? 0.3 : 0.2;
    }
  }
  return p;
}

void expect_dense_step(bool compliant) {
  std::mt19937 rng(304);
  double worst = 0;
  for (int trial = 0; trial < 60; ++trial) {
    NcpSearch search;
    testing::load(search, step_problem(rng, compliant));
    const NcpProblem& p = search.problem;
    SsnOptions o;
    o.delta = std::pow(10.0, -2 - trial % 5);
    o.r = trial % 3 == 0 ? 1.0 : trial % 3 == 1 ? 10.0 : 0.1;
    const VecX lambda = testing::random_vector(p.rows(), rng);
    SsnProbe probe;
    const VecX step = probe.step(search, o, lambda);
    const VecX sigma = testing::sigma_of(p, lambda);
    const MatX newton = dense_newton(p, lambda, sigma, o);
    const VecX reference = -test::solve_any(newton, probe.F);
    worst = std::max(worst, (step - reference).norm() / reference.norm());
  }
  EXPECT_LT(worst, 1e-8) << (compliant ? "R > 0" : "R = 0");
}

TEST(SsnStep, EliminationEqualsTheDenseNewtonSystem) {
  expect_dense_step(false);
  expect_dense_step(true);
}

ConstraintProblem slipping_contact() {
  Mat3 G;
  G << 1, 0.2, 0.1, 0.2, 1.5, -0.2, 0.1, -0.2, 1.2;
  return testing::one_contact(G, Vec3(1, 0.7, -1), 0.4);
}

TEST(SsnStep, QuadraticPhase) {
  const ConstraintProblem problem = slipping_contact();
  const Vec3 solution(-0.313192, -0.120891, 0.839284);
  const double bounds[] = {1e-3, 1e-8, 1e-15};
  for (int steps = 1; steps <= 3; ++steps) {
    NcpSearch search;
    testing::load(search, problem, 1e-30);  // never met: the steps are counted
    const double scale = search.problem.p[0];
    GrowingVector lambda = testing::growing((solution + Vec3(0.05, -0.03, 0.04)) / scale);
    SsnOptions o;
    o.steps = steps;
    Ssn().run(search, o, lambda);
    const VecX sigma = testing::sigma_of(search.problem, lambda);
    EXPECT_LT(Ssn::contact_map(Vec3(lambda), Vec3(sigma), 0.4, 1.0).norm(), bounds[steps - 1]) << steps;
    if (steps < 3) continue;
    EXPECT_LT((scale * Vec3(lambda) - solution).norm(), 1e-6);
    EXPECT_LT((Vec3(sigma) / scale - Vec3(0.746558, 0.288169, 0)).norm(), 1e-6);
  }
}

// Problems of bilateral rows alone are linear: one step, and another one against the shift.
TEST(SsnStep, LinearProblemsTakeTwoSteps) {
  std::mt19937 rng(305);
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6, 3, 12});
  testing::fill_nodes(p, rng);
  for (int i = 0; i < 4; ++i) testing::add_random_block(p, BlockKind::joint, 1 + i, 2, rng);
  p.finish();
  const testing::Answer a = testing::solve(p, "ssn", 1e-10, {{"delta", 1e-8}, {"adaptive", 0}});
  EXPECT_EQ(a.report.status, SolveStatus::converged);
  EXPECT_LE(a.report.iterations, 2);
  EXPECT_LE(a.judged.error(), 1e-10);
}

// (D + R + shift)^-1 r = E r - E J H^-1 J' E r with E = 1 / (R + shift), H = A + J' E J.
TEST(NormalMatrix, WoodburyEqualsTheDenseSolve) {
  std::mt19937 rng(307);
  double worst = 0;
  for (int trial = 0; trial < 40; ++trial) {
    NcpSearch search;
    testing::load(search, step_problem(rng, trial % 2 == 0));
    const NcpProblem& p = search.problem;
    const double shift = trial % 4 < 2 ? 1.0 : 0.1;
    const VecX E = (VecX(p.R).array() + shift).inverse();
    std::vector<double> cones(static_cast<std::size_t>(9 * p.contacts()), 0.0);
    for (int k = 0; k < p.contacts(); ++k) {
      for (int r = 0; r < 3; ++r) cones[static_cast<std::size_t>(9 * k + 4 * r)] = E[p.scalar_rows + 3 * k + r];
    }
    const VecX rhs = testing::random_vector(p.rows(), rng);
    const MatX shifted = testing::dense_DR(p) + shift * MatX::Identity(p.rows(), p.rows());
    const VecX reference = test::solve_spd(shifted, rhs);
    for (const bool symmetric : {true, false}) {  // both factorisations
      ASSERT_TRUE(search.system.factor(p, E.data(), cones.data(), symmetric));
      VecX w(p.padded_size());
      VecX x(p.rows());
      const VecX weighted = E.cwiseProduct(rhs);
      p.multiply_Jt(weighted.data(), w.data());
      search.system.solve(w.data());
      p.multiply_J(w.data(), x.data());
      x = weighted - E.cwiseProduct(x);
      worst = std::max(worst, (x - reference).norm() / reference.norm());
    }
  }
  EXPECT_LT(worst, 1e-13);
}

}  // namespace
}  // namespace sarrus::ssn_test
