// Rotations (exp, log, swing, twist, pose steps, frames) and the projections on friction cones.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "sarrus/math/cones.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus::so3_cones_test {
namespace {

constexpr double kPi = std::numbers::pi;

class Rng {
 public:
  explicit Rng(unsigned seed) : engine_(seed) {}
  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(engine_); }
  Vec3 vector() {
    std::normal_distribution<double> n;
    const double x = n(engine_);
    const double y = n(engine_);
    return {x, y, n(engine_)};
  }
  Vec3 direction() { return vector().normalized(); }
  Quat rotation() { return so3_exp(uniform(0, kPi) * direction()); }

 private:
  std::mt19937 engine_;
};

// Rodrigues' formula with [phi]x: an independent exponential.
Mat3 rodrigues(const Vec3& phi) {
  const double a = phi.norm();
  const Mat3 S = skew(phi);
  if (a < 1e-4) return Mat3::Identity() + S + 0.5 * S * S + S * S * S / 6.0;
  return Mat3::Identity() + std::sin(a) / a * S + (1 - std::cos(a)) / (a * a) * S * S;
}

// --- SO(3) -----------------------------------------------------------------------------------------------

TEST(So3, ExpAgreesWithRodrigues) {
  Rng rng(1);
  for (const double angle : {0.0, 1e-12, 1e-7, 0.99e-6, 1.01e-6, 1e-3, 0.5, 3.0, kPi, 5.0, 20.0}) {
    for (int i = 0; i < 20; ++i) {
      const Vec3 phi = angle * rng.direction();
      const Quat q = so3_exp(phi);
      EXPECT_NEAR(q.norm(), 1.0, 1e-15) << angle;
      EXPECT_LT((q.toRotationMatrix() - rodrigues(phi)).cwiseAbs().maxCoeff(), 1e-14) << angle;
    }
  }
}

TEST(So3, LogInvertsExpWithRelativeAccuracy) {
  Rng rng(2);
  for (const double angle : {1e-300, 1e-20, 1e-12, 1e-10, 1e-9, 3e-9, 1e-7, 1e-6, 1e-3, 0.1, 1.0, 2.0, 3.0}) {
    for (int i = 0; i < 20; ++i) {
      const Vec3 phi = angle * rng.direction();
      EXPECT_LT((so3_log(so3_exp(phi)) - phi).norm(), 1e-14 * angle) << angle;
    }
  }
  EXPECT_EQ(so3_log(Quat::Identity()), Vec3::Zero());
}

TEST(So3, LogNearPiKeepsTheRotation) {
  Rng rng(3);
  for (const double below : {0.0, 1e-16, 1e-12, 1e-8, 1e-4, -1e-12, -1e-8, -1e-4}) {
    for (int i = 0; i < 20; ++i) {
      const Vec3 axis = rng.direction();
      const Quat q = so3_exp((kPi - below) * axis);
      const Vec3 phi = so3_log(q);
      EXPECT_LE(phi.norm(), kPi * (1 + 1e-15));
      EXPECT_NEAR(phi.norm(), kPi - std::abs(below), 1e-14);
      EXPECT_LT((so3_exp(phi).toRotationMatrix() - q.toRotationMatrix()).norm(), 1e-14);
    }
  }
}

TEST(So3, LogIgnoresTheSignOfTheQuaternion) {
  Rng rng(4);
  for (int i = 0; i < 100; ++i) {
    const Quat q = rng.rotation();
    Quat minus = q;
    minus.coeffs() = -q.coeffs();
    EXPECT_LT((so3_log(q) - so3_log(minus)).norm(), 1e-15);
  }
}

// The left product: the derivative of the pose step is the twist in world axes.
TEST(So3, IntegratePoseMatchesFiniteDifferences) {
  Rng rng(5);
  for (int i = 0; i < 50; ++i) {
    const Pose X{rng.vector(), rng.rotation()};
    const Vec6 u = spatial(rng.vector(), rng.vector());
    const Vec3 x_B = rng.vector();
    const double h = 1e-6;
    const Pose plus = integrate_pose(X, u, h);
    const Pose minus = integrate_pose(X, u, -h);
    const Vec3 velocity = (plus * x_B - minus * x_B) / (2 * h);
    const Vec3 arm = X.q * x_B;
    const Vec3 expected = u.head<3>() + u.tail<3>().cross(arm);
    EXPECT_LT((velocity - expected).norm(), 2e-9);
    EXPECT_NEAR(plus.q.norm(), 1.0, 1e-15);
  }
}

// A constant twist is integrated exactly: n steps of h equal one step of n h.
TEST(So3, PoseStepsOfAConstantTwistAdd) {
  Rng rng(6);
  const Pose X{rng.vector(), rng.rotation()};
  const Vec6 u = spatial(rng.vector(), 4.0 * rng.vector());
  Pose steps = X;
  for (int i = 0; i < 1000; ++i) steps = integrate_pose(steps, u, 1e-3);
  const Pose once = integrate_pose(X, u, 1.0);
  EXPECT_LT((steps.p - once.p).norm(), 1e-12);
  EXPECT_LT((steps.R() - once.R()).norm(), 1e-12);
  EXPECT_NEAR(steps.q.norm(), 1.0, 1e-15);
}

TEST(So3, SwingCarriesTheAxisAndIsPerpendicularToIt) {
  Rng rng(7);
  for (int i = 0; i < 200; ++i) {
    const Vec3 e = rng.direction();
    const Vec3 target = rng.rotation() * e;
    const Vec3 s = swing_log(e, target);
    EXPECT_LT(std::abs(s.dot(e)), 1e-14);
    EXPECT_LT((so3_exp(s) * e - target).norm(), 1e-14);
    EXPECT_NEAR(s.norm(), std::atan2(e.cross(target).norm(), e.dot(target)), 1e-14);
  }
  EXPECT_EQ(swing_log(Vec3::UnitX(), Vec3::UnitX()), Vec3::Zero());
  const Vec3 opposite = swing_log(Vec3::UnitX(), -Vec3::UnitX());
  EXPECT_NEAR(opposite.norm(), kPi, 1e-15);
  EXPECT_NEAR(opposite.x(), 0.0, 1e-15);
}

TEST(So3, SmallSwingKeepsRelativeAccuracy) {
  for (const double angle : {1e-15, 1e-13, 1e-11, 1e-8, 1e-4}) {
    const Vec3 target(std::cos(angle), std::sin(angle), 0);
    const Vec3 s = swing_log(Vec3::UnitX(), target);
    EXPECT_NEAR(s.z() / angle, 1.0, 1e-10) << angle;
  }
}

// Q = swing * twist: the twist angle about the axis is recovered whatever the swing.
TEST(So3, TwistSurvivesSwing) {
  Rng rng(8);
  for (int k = 0; k < 3; ++k) {
    const Vec3 e = Vec3::Unit(k);
    for (int i = 0; i < 100; ++i) {
      const double angle = rng.uniform(-3.1, 3.1);
      Vec3 swing = rng.uniform(0, 3.0) * rng.direction();
      swing -= swing.dot(e) * e;
      const Quat Q = so3_exp(swing) * so3_exp(angle * e);
      EXPECT_NEAR(twist_angle(Q, k), angle, 1e-13);
    }
  }
}

TEST(So3, WrapStaysWithinOneTurnAndKeepsTheAngle) {
  Rng rng(9);
  for (int i = 0; i < 1000; ++i) {
    const double a = rng.uniform(-100, 100);
    const double w = wrap_angle(a);
    EXPECT_GE(w, -kPi - 1e-13);
    EXPECT_LE(w, kPi + 1e-13);
    const double turns = (a - w) / (2 * kPi);
    EXPECT_NEAR(turns, std::round(turns), 1e-13);
  }
  EXPECT_EQ(wrap_angle(0.5), 0.5);
  EXPECT_NEAR(std::abs(wrap_angle(kPi)), kPi, 1e-15);
  EXPECT_NEAR(std::abs(wrap_angle(-kPi)), kPi, 1e-15);
}

TEST(So3, FramesAreRightHandedAndAligned) {
  Rng rng(10);
  std::vector<Vec3> axes = {Vec3::UnitX(),  Vec3::UnitY(),  Vec3::UnitZ(),
                            -Vec3::UnitX(), -Vec3::UnitY(), 7 * Vec3::UnitZ()};
  for (int i = 0; i < 100; ++i) axes.push_back(rng.vector());
  for (const Vec3& a : axes) {
    EXPECT_LT((frame_with_x(a) * Vec3::UnitX() - a.normalized()).norm(), 2e-15);
    EXPECT_LT((frame_with_z(a) * Vec3::UnitZ() - a.normalized()).norm(), 2e-15);
    EXPECT_NEAR(frame_with_x(a).norm(), 1.0, 1e-15);
    const Vec3 other = rng.vector();
    const Quat q = frame_with_xy(a, other);
    EXPECT_LT((q * Vec3::UnitX() - a.normalized()).norm(), 2e-15);
    EXPECT_NEAR((q * Vec3::UnitZ()).dot(other), 0.0,
                1e-14 * other.norm() / other.normalized().cross(a.normalized()).norm());
    EXPECT_GT((q * Vec3::UnitY()).dot(other), 0);
  }
}

TEST(Pose, CompositionAndInverse) {
  Rng rng(11);
  for (int i = 0; i < 50; ++i) {
    const Pose A{rng.vector(), rng.rotation()};
    const Pose B{rng.vector(), rng.rotation()};
    const Vec3 x = rng.vector();
    EXPECT_LT(((A * B) * x - A * (B * x)).norm(), 1e-14);
    EXPECT_LT((A.inverse() * (A * x) - x).norm(), 1e-14);
    EXPECT_LT((A * x - (A.p + A.R() * x)).norm(), 1e-14);
  }
}

// --- cones -----------------------------------------------------------------------------------------------

const std::vector<double> kFriction = {0.0, 1e-4, 0.1, 0.7, 1.0, 3.0};

bool in_cone(const Vec3& x, double mu, double tol) { return std::hypot(x[0], x[1]) <= mu * x[2] + tol; }
bool in_dual(const Vec3& x, double mu, double tol) { return mu * std::hypot(x[0], x[1]) <= x[2] + tol; }

// Random points, with some exactly on the axis, in the tangent plane, and at the apex.
std::vector<Vec3> sample_points(Rng& rng, int count) {
  std::vector<Vec3> points = {Vec3::Zero(), Vec3(0, 0, 1), Vec3(0, 0, -1), Vec3(1, 0, 0), Vec3(0, -2, 0)};
  for (int i = 0; i < count; ++i) points.push_back(rng.uniform(0.01, 3) * rng.vector());
  return points;
}

TEST(Cones, ProjectionsLieInTheirConeAndAreIdempotent) {
  Rng rng(20);
  for (const double mu : kFriction) {
    for (const Vec3& x : sample_points(rng, 500)) {
      const Vec3 p = project_cone(x, mu);
      const Vec3 d = project_dual_cone(x, mu);
      EXPECT_TRUE(in_cone(p, mu, 1e-14)) << mu;
      EXPECT_TRUE(in_dual(d, mu, 1e-14)) << mu;
      EXPECT_LT((project_cone(p, mu) - p).norm(), 1e-14);
      EXPECT_LT((project_dual_cone(d, mu) - d).norm(), 1e-14);
    }
  }
}

TEST(Cones, MoreauDecomposition) {
  Rng rng(21);
  for (const double mu : kFriction) {
    for (const Vec3& x : sample_points(rng, 500)) {
      const Vec3 p = project_cone(x, mu);
      const Vec3 d = project_dual_cone(-x, mu);
      EXPECT_LT((x - (p - d)).norm(), 5e-15 * (1 + x.norm())) << mu;
      EXPECT_LT(std::abs(p.dot(d)), 1e-14 * (1 + x.squaredNorm())) << mu;
    }
  }
}

Vec3 random_cone_point(Rng& rng, double mu, bool dual) {
  const double n = rng.uniform(0, 4);
  const double angle = rng.uniform(0, 2 * kPi);
  const double share = rng.uniform(0, 1) < 0.3 ? 1.0 : rng.uniform(0, 1);  // often on the boundary
  if (!dual) return {share * mu * n * std::cos(angle), share * mu * n * std::sin(angle), n};
  if (mu == 0) return {rng.uniform(-4, 4), rng.uniform(-4, 4), n};
  const double t = share * std::min(n / mu, 8.0);
  return {t * std::cos(angle), t * std::sin(angle), n};
}

// No point of the cone is nearer; the variational inequality (x - P)(y - P) <= 0 is the same, but sharper.
TEST(Cones, NoPointOfTheConeIsNearer) {
  Rng rng(22);
  for (const double mu : kFriction) {
    for (const Vec3& x : sample_points(rng, 60)) {
      const Vec3 p = project_cone(x, mu);
      const Vec3 d = project_dual_cone(x, mu);
      for (int i = 0; i < 100; ++i) {
        const Vec3 y = random_cone_point(rng, mu, false);
        const Vec3 w = random_cone_point(rng, mu, true);
        ASSERT_LE((x - p).dot(y - p), 1e-13 * (1 + x.norm()) * (1 + y.norm())) << mu;
        ASSERT_LE((x - d).dot(w - d), 1e-13 * (1 + x.norm()) * (1 + w.norm())) << mu;
      }
    }
  }
}

TEST(Cones, WithoutFrictionTheConeIsARay) {
  EXPECT_EQ(project_cone(Vec3(3, -2, 5), 0), Vec3(0, 0, 5));
  EXPECT_EQ(project_cone(Vec3(3, -2, -5), 0), Vec3::Zero());
  EXPECT_EQ(project_cone(Vec3(3, -2, 0), 0), Vec3::Zero());
  EXPECT_EQ(project_dual_cone(Vec3(3, -2, 5), 0), Vec3(3, -2, 5));
  EXPECT_EQ(project_dual_cone(Vec3(3, -2, -5), 0), Vec3(3, -2, 0));
  EXPECT_EQ(project_dual_cone(Vec3(0, 0, -5), 0), Vec3::Zero());
}

// At the case boundaries both formulas agree, so neighbours on both sides must be close.
TEST(Cones, ProjectionsAreContinuousAcrossTheirCases) {
  Rng rng(23);
  const double h = 1e-9;
  for (const double mu : kFriction) {
    for (int i = 0; i < 100; ++i) {
      const double angle = rng.uniform(0, 2 * kPi);
      const Vec3 t(std::cos(angle), std::sin(angle), 0);
      const Vec3 surface = mu * t + Vec3::UnitZ();       // between the cases "x" and "otherwise"
      const Vec3 polar = t - mu * Vec3::UnitZ();         // between "0" and "otherwise"
      const Vec3 dual_surface = t + mu * Vec3::UnitZ();  // of the dual cone
      const Vec3 dual_polar = mu * t - Vec3::UnitZ();
      const Vec3 nudge = h * rng.direction();
      EXPECT_LT((project_cone(surface + nudge, mu) - surface).norm(), 2 * h);
      EXPECT_LT(project_cone(polar + nudge, mu).norm(), 2 * h);
      EXPECT_LT((project_dual_cone(dual_surface + nudge, mu) - dual_surface).norm(), 2 * h);
      EXPECT_LT(project_dual_cone(dual_polar + nudge, mu).norm(), 2 * h);
    }
  }
}

TEST(Cones, KnownValues) {
  // mu = 1: the point (2, 0, 0) projects on the 45 degree ray.
  EXPECT_LT((project_cone(Vec3(2, 0, 0), 1) - Vec3(1, 0, 1)).norm(), 1e-15);
  EXPECT_LT((project_dual_cone(Vec3(2, 0, 0), 1) - Vec3(1, 0, 1)).norm(), 1e-15);
  // mu = 1/2: direction (1/2, 0, 1)/|.|, foot of (0, 0, 0) + (1, 0, 0): s = (1/2)/(5/4) = 0.4.
  EXPECT_LT((project_cone(Vec3(1, 0, 0), 0.5) - Vec3(0.2, 0, 0.4)).norm(), 1e-15);
  // The dual of mu = 1/2 is steeper: s = 1/(5/4) = 0.8 along (1, 0, 1/2).
  EXPECT_LT((project_dual_cone(Vec3(1, 0, 0), 0.5) - Vec3(0.8, 0, 0.4)).norm(), 1e-15);
  EXPECT_EQ(de_saxce(Vec3(3, 4, 100), 0.5), 2.5);
  EXPECT_EQ(project_interval(2, -1, 1), 1);
  EXPECT_EQ(project_interval(-2, -1, 1), -1);
  EXPECT_EQ(project_interval(0.3, -1, 1), 0.3);
}

}  // namespace
}  // namespace sarrus::so3_cones_test
