// One contact: Coulomb's law, least energy and the roots behind them, against their definitions.
#include "sarrus/solvers/local_contact.h"
#include "sarrus/problem/judge.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "problem/random_problem.h"
#include "sarrus/math/cones.h"

namespace sarrus::local_contact_test {
namespace {

constexpr double kPi = std::numbers::pi;

LocalContact contact(const Mat3& G, double mu) {
  LocalContact c;
  c.set(G, mu);
  return c;
}

struct Drawn {
  LocalContact c;
  Vec3 b;
  bool hyperbolic = false;
};

// mu from 0.03 to 4, evenly in its logarithm; mostly closing and sliding.
Drawn draw(std::mt19937& rng) {
  std::uniform_real_distribution<double> uniform(0, 1);
  const Mat3 B = testing::random_vector(9, rng).reshaped(3, 3);
  Drawn d;
  d.c = contact(B * B.transpose() + 0.05 * Mat3::Identity(), 0.03 * std::pow(4 / 0.03, uniform(rng)));
  d.b = Vec3(3, 3, 1).cwiseProduct(Vec3(testing::random_vector(3, rng))) - Vec3(0, 0, 0.7);
  d.hyperbolic = d.c.mu * length2(d.c.G(0, 2), d.c.G(1, 2)) > d.c.G(2, 2);
  return d;
}

// Natural map of Coulomb's law relative to max(1, |b|, |lambda|).
double coulomb_error(const LocalContact& c, const Vec3& b, const Vec3& l) {
  const double scale = std::max({1.0, b.cwiseAbs().maxCoeff(), l.cwiseAbs().maxCoeff()});
  return natural_map(l, c.G * l + b, c.mu, Law::ncp) / scale;
}

Vec3 coulomb(const LocalContact& c, const Vec3& b) { return solve_contact_ncp(c, b, Vec3::Zero()); }

bool slips(const LocalContact& c, const Vec3& b, const Vec3& l) {
  return l[2] > 0 && (c.G * l + b).norm() > 1e-8 * b.norm();
}

double energy(const LocalContact& c, const Vec3& b, double s_n, const Vec3& l) {
  return 0.5 * l.dot(c.G * l) + l.dot(b) + s_n * l[2];
}

// --- roots --------------------------------------------------------------------------------------------

// The product of four half-angle sines has degree two and exactly these roots.
TrigonometricQuartic with_roots(const double (&root)[4]) {
  constexpr int kSamples = 8;
  TrigonometricQuartic f;
  for (int k = 0; k < kSamples; ++k) {
    const double t = 2 * kPi * k / kSamples;
    double y = 1;
    for (const double r : root) y *= std::sin(0.5 * (t - r));
    f.constant += y / kSamples;
    f.cos1 += 2 * y * std::cos(t) / kSamples;
    f.sin1 += 2 * y * std::sin(t) / kSamples;
    f.cos2 += 2 * y * std::cos(2 * t) / kSamples;
    f.sin2 += 2 * y * std::sin(2 * t) / kSamples;
  }
  return f;
}

double nearest(const TrigonometricRoots& roots, double angle) {
  double best = 10;
  for (int i = 0; i < roots.count; ++i) {
    best = std::min(best, std::hypot(roots.cosine[i] - std::cos(angle), roots.sine[i] - std::sin(angle)));
  }
  return best;
}

TEST(TrigonometricRoots, AllFourAreFound) {
  std::mt19937 rng(1);
  std::uniform_real_distribution<double> angle(-kPi, kPi);
  for (int trial = 0; trial < 20000; ++trial) {
    double root[4];
    for (double& r : root) r = angle(rng);
    if (trial % 4 == 1) root[0] = kPi;             // tan(theta / 2) is infinite
    if (trial % 4 == 2) root[0] = kPi / 2;         // border of the two halves
    if (trial % 4 == 3) root[1] = root[0] + 1e-3;  // nearly double
    double gap = 10;                               // error is amplified by close roots
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < i; ++k) gap = std::min(gap, std::abs(std::sin(0.5 * (root[i] - root[k]))));
    }
    TrigonometricRoots found;
    find_roots(with_roots(root), found);
    ASSERT_LE(found.count, TrigonometricRoots::kMost);
    for (const double r : root) {
      ASSERT_LT(nearest(found, r), std::min(1e-14 / (gap * gap * gap), 1e-4)) << trial << ", gap " << gap;
    }
  }
}

TEST(TrigonometricRoots, DoubleRootsAreFound) {
  std::mt19937 rng(2);
  std::uniform_real_distribution<double> angle(-kPi, kPi);
  for (int trial = 0; trial < 2000; ++trial) {
    const double a = angle(rng);
    const double b = a + 1 + std::abs(angle(rng)) / 2;
    TrigonometricRoots found;
    find_roots(with_roots({a, a, b, b + 1}), found);
    EXPECT_LT(nearest(found, a), 1e-6);
  }
}

TEST(TrigonometricRoots, NoneWhereThereAreNone) {
  TrigonometricRoots found;
  find_roots({.cos2 = 0.3, .sin2 = -0.2, .cos1 = 0.1, .sin1 = 0.3, .constant = 1}, found);
  EXPECT_EQ(found.count, 0);
}

// --- Coulomb's law ------------------------------------------------------------------------------------

TEST(LocalCoulomb, RandomContacts) {
  std::mt19937 rng(3);
  int slipping = 0;
  int hyperbolic = 0;
  int sticking = 0;
  int moved = 0;
  for (int trial = 0; trial < 100000; ++trial) {
    const Drawn d = draw(rng);
    const Vec3 l = coulomb(d.c, d.b);
    ASSERT_LE(coulomb_error(d.c, d.b, l), 1e-12) << trial;
    // From anywhere else, near to the answer or far from it, there is an answer too: the same if it is near.
    const Vec3 close = l + 1e-3 * l.norm() * Vec3(testing::random_vector(3, rng));
    const Vec3 again = solve_contact_ncp(d.c, d.b, close);
    ASSERT_LE(coulomb_error(d.c, d.b, again), 1e-12) << trial;
    ASSERT_LE(coulomb_error(d.c, d.b, solve_contact_ncp(d.c, d.b, testing::random_vector(3, rng))), 1e-12) << trial;
    moved += (again - l).norm() > 1e-6 * l.norm();
    const bool slip = slips(d.c, d.b, l);
    slipping += slip;
    hyperbolic += slip && d.hyperbolic;
    sticking += l[2] > 0 && !slip;
  }
  EXPECT_GT(slipping, 50000);
  EXPECT_GT(hyperbolic, 1000);
  EXPECT_GT(sticking, 5000);
  EXPECT_LE(moved, 5) << "two solutions next to each other are rare";
}

// Eigenvalues of G from 1e-4 to 1e4. G lambda has cancelled to about b, so |G| |lambda| joins the scale.
TEST(LocalCoulomb, AnisotropicContacts) {
  std::mt19937 rng(4);
  std::uniform_real_distribution<double> exponent(-4, 4);
  int slipping = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Drawn d = draw(rng);
    const Mat3 Q = Eigen::HouseholderQR<Mat3>(d.c.G).householderQ();
    const Vec3 s(std::pow(10, exponent(rng)), std::pow(10, exponent(rng)), std::pow(10, exponent(rng)));
    const Mat3 skewed = Q * s.asDiagonal() * Q.transpose();
    const LocalContact c = contact(0.5 * (skewed + skewed.transpose()), d.c.mu);
    const Vec3 l = coulomb(c, d.b);
    const double rounding = std::max(1.0, c.G.norm() * l.norm());
    ASSERT_LE(coulomb_error(c, d.b, l), 1e-12 * rounding) << trial;
    slipping += slips(c, d.b, l);
  }
  EXPECT_GT(slipping, 5000);
}

TEST(LocalCoulomb, DegenerateContacts) {
  std::mt19937 rng(5);
  for (int trial = 0; trial < 2000; ++trial) {
    Drawn d = draw(rng);
    const LocalContact smooth = contact(d.c.G, 0);
    const Vec3 l = coulomb(smooth, d.b);
    EXPECT_EQ(l.head<2>().norm(), 0);
    EXPECT_LE(coulomb_error(smooth, d.b, l), 1e-14);
    d.b[2] = std::abs(d.b[2]);
    EXPECT_EQ(coulomb(d.c, d.b), Vec3(Vec3::Zero())) << "opening";
    d.b[2] = 0;
    EXPECT_EQ(coulomb(d.c, d.b), Vec3(Vec3::Zero())) << "touching";
  }
  EXPECT_EQ(coulomb(contact(Mat3::Zero(), 0.5), Vec3(1, 2, -1)), Vec3(Vec3::Zero())) << "immovable";
  EXPECT_TRUE(coulomb(contact(Mat3::Zero(), 0.5), Vec3(1, 2, -1)).allFinite());
}

// Rank one and two: a body that cannot move in some direction. b comes from such a motion too.
TEST(LocalCoulomb, SingularContacts) {
  std::mt19937 rng(6);
  int slipping = 0;
  int sticking = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    const int rank = 1 + trial % 2;
    const MatX B = testing::random_vector(3 * rank, rng).reshaped(3, rank);
    Vec3 b = B * testing::random_vector(rank, rng);
    if (b[2] > 0) b = -b;
    const LocalContact c = contact(B * B.transpose(), 0.05 + 0.2 * (trial % 5));
    const Vec3 l = coulomb(c, b);
    const double rounding = std::max(1.0, c.G.norm() * l.norm());
    ASSERT_LE(coulomb_error(c, b, l), 1e-12 * rounding) << trial;
    (slips(c, b, l) ? slipping : sticking) += 1;
  }
  EXPECT_GT(slipping, 300);
  EXPECT_GT(sticking, 300);
}

// --- least energy -------------------------------------------------------------------------------------

TEST(LocalEnergy, BisectionAndQuarticAgree) {
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> uniform(0, 3);
  int compared = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Drawn d = draw(rng);
    for (const double s_n : {0.0, uniform(rng)}) {
      const Vec3 a = solve_contact_energy(d.c, d.b, s_n);
      const Vec3 b = bisect_contact_energy(d.c, d.b, s_n);
      ASSERT_LE((a - b).norm(), 1e-9 * std::max(1.0, a.norm())) << trial << ", s_n " << s_n;
      compared += slips(d.c, d.b, a);
    }
  }
  EXPECT_GT(compared, 20000);
}

TEST(LocalEnergy, NoPointOfTheSlipCurveHasLess) {
  std::mt19937 rng(8);
  int scanned = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Drawn d = draw(rng);
    const double s_n = trial % 2 == 0 ? 0.0 : 1.3;
    const Vec3 l = solve_contact_energy(d.c, d.b, s_n);
    if (!slips(d.c, d.b, l)) continue;
    ++scanned;
    EXPECT_NEAR((d.c.G * l + d.b)[2], 0, 1e-12 * std::max(1.0, d.c.G.norm() * l.norm()));
    EXPECT_NEAR(length2(l[0], l[1]), d.c.mu * l[2], 1e-12 * l.norm());
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 4001; ++k) {
      const double x = std::cos(2 * kPi * k / 4001);
      const double y = std::sin(2 * kPi * k / 4001);
      const double g = d.c.G(2, 2) + d.c.mu * (d.c.G(0, 2) * x + d.c.G(1, 2) * y);
      if (g > 0) least = std::min(least, energy(d.c, d.b, s_n, -d.b[2] / g * Vec3(d.c.mu * x, d.c.mu * y, 1)));
    }
    EXPECT_LE(energy(d.c, d.b, s_n, l), least + 1e-12 * std::max(1.0, std::abs(least))) << trial;
  }
  EXPECT_GT(scanned, 200);
}

// With the De Saxce term of Coulomb's own answer, least energy gives that answer; without it, a different one.
TEST(LocalEnergy, FixedPointsOfTheDeSaxceTermObeyCoulomb) {
  std::mt19937 rng(9);
  int different = 0;
  int slipping = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Drawn d = draw(rng);
    const Vec3 l = coulomb(d.c, d.b);
    if (!slips(d.c, d.b, l)) continue;
    ++slipping;
    const double s_n = de_saxce(d.c.G * l + d.b, d.c.mu);
    ASSERT_LE((solve_contact_energy(d.c, d.b, s_n) - l).norm(), 1e-9 * std::max(1.0, l.norm())) << trial;
    ASSERT_LE((bisect_contact_energy(d.c, d.b, s_n) - l).norm(), 1e-9 * std::max(1.0, l.norm())) << trial;
    different += (solve_contact_energy(d.c, d.b, 0) - l).norm() > 1e-3 * l.norm();
  }
  EXPECT_GT(slipping, 10000);
  EXPECT_GT(different, slipping / 2);
}

TEST(LocalEnergy, EqualsCoulombWithoutCoupling) {
  std::mt19937 rng(10);
  for (int trial = 0; trial < 5000; ++trial) {
    const Drawn d = draw(rng);
    Mat3 G = d.c.G;
    G(0, 2) = G(2, 0) = G(1, 2) = G(2, 1) = 0;
    const LocalContact c = contact(G, d.c.mu);
    const Vec3 l = coulomb(c, d.b);
    EXPECT_LE((solve_contact_energy(c, d.b, 0) - l).norm(), 1e-10 * std::max(1.0, l.norm())) << trial;
    EXPECT_LE((bisect_contact_energy(c, d.b, 0) - l).norm(), 1e-10 * std::max(1.0, l.norm())) << trial;
  }
}

// --- simple steps --------------------------------------------------------------------------------------

// Repeated on one contact they converge to the law they stand for.
TEST(LocalSteps, FixedPoints) {
  std::mt19937 rng(11);
  for (int trial = 0; trial < 300; ++trial) {
    Drawn d = draw(rng);
    d.c.set(d.c.G + Mat3::Identity(), std::min(d.c.mu, 0.8));
    Vec3 ccp = Vec3::Zero();
    Vec3 disk = Vec3::Zero();
    for (int i = 0; i < 3000; ++i) {
      ccp = contact_step_ccp(d.c, ccp, d.c.G * ccp + d.b, 0);
      disk = contact_step_disk(d.c, disk, d.c.G * disk + d.b, d.c.normal_step, d.c.tangent_step);
    }
    EXPECT_LE(natural_map(ccp, d.c.G * ccp + d.b, d.c.mu, Law::ccp), 1e-12) << trial;
    EXPECT_LE(coulomb_error(d.c, d.b, disk), 1e-12) << trial;
  }
}

// Printed step lengths overshoot when G_TT is anisotropic; the ones in use never exceed 1.5 / lambda_max.
TEST(LocalSteps, TangentStepsAreSafe) {
  std::mt19937 rng(12);
  for (int trial = 0; trial < 1000; ++trial) {
    const LocalContact c = draw(rng).c;
    EXPECT_GE(c.tangent_step, c.spectral_step);
    EXPECT_LE(c.tangent_step, 1.5 * c.spectral_step);
    const Eigen::Matrix2d T = c.G.topLeftCorner<2, 2>();
    const double largest = 0.5 * T.trace() + std::sqrt(0.25 * T.trace() * T.trace() - T.determinant());
    EXPECT_NEAR(c.spectral_step * largest, 1, 1e-12);
  }
}

}  // namespace
}  // namespace sarrus::local_contact_test
