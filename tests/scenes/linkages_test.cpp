// Linkage scenes: mobility against the numerical rank of the joint rows, special geometry, and the motion of
// the swinging four-bar.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "sarrus/scenes/scenes.h"
#include "scenes/mobility.h"

namespace sarrus::linkages_test {
namespace {

using testing::closure_error;
using testing::mobility;
using testing::reference_poses;
using testing::row_count;

TEST(Mobility, RowsAndRanksOfTheLinkages) {
  struct Expected {
    int rows;
    int mobility;
  };
  const std::map<std::string, Expected> expected = {{"boxes_fixed", {6, 6}},
                                                    {"nunchuk", {6, 12}},
                                                    {"fourbar_fixed", {26, 1}},
                                                    {"fourbar_free", {20, 7}},
                                                    {"spinning_top", {3, 3}},
                                                    {"fourbar_swing", {20, 1}},
                                                    {"fourbar_parallelogram", {26, 1}},
                                                    {"double_pendulum", {10, 2}},
                                                    {"slider_crank", {20, 1}},
                                                    {"bennett_linkage", {20, 1}},
                                                    {"sarrus_linkage", {36, 1}},
                                                    {"stewart_platform", {72, 6}},
                                                    {"ring20", {100, 23}},
                                                    {"ring20_tilted", {100, 23}},
                                                    {"closed_loop_drop", {100, 23}},
                                                    {"log_grasp", {78, 13}},  // 7 redundant rows; 6 of the log
                                                    {"winch", {155, 151}},
                                                    {"jansen_walker", {365, 7}}};
  for (const auto& [name, e] : expected) {
    const Model model = make_scene(name);
    EXPECT_EQ(row_count(model), e.rows) << name;
    EXPECT_EQ(mobility(model, reference_poses(model)), e.mobility) << name;
  }
}

// The linkages of special geometry must move by a finite amount, not only infinitesimally.
TEST(Mobility, SpecialLinkagesMoveFinitely) {
  for (const char* name : {"bennett_linkage", "sarrus_linkage", "fourbar_swing"}) {
    const Model model = make_scene(name);
    std::vector<Pose> X = reference_poses(model);
    VecX direction;
    for (int leg = 0; leg < 4; ++leg) {
      testing::walk(model, X, direction, 5, 0.03);
      EXPECT_LT(closure_error(model, X), 1e-12) << name;
      EXPECT_EQ(mobility(model, X), 1) << name;
    }
    double turned = 0;
    for (std::size_t i = 0; i < X.size(); ++i)
      turned = std::max(turned, X[i].q.angularDistance(model.bodies()[i].X_WB0.q));
    EXPECT_GT(turned, 0.4) << name;
  }
}

TEST(Sarrus, TopMovesAlongAVerticalLineWithoutTurning) {
  const Model model = make_scene("sarrus_linkage");
  const auto top = static_cast<std::size_t>(model.body("top"));
  std::vector<Pose> X = reference_poses(model);
  const Pose start = X[top];
  VecX direction;
  testing::walk(model, X, direction, 15, 0.03);
  EXPECT_GT(std::abs(X[top].p.z() - start.p.z()), 0.05);
  EXPECT_LT((X[top].p - start.p).head<2>().norm(), 1e-11);
  EXPECT_LT(X[top].q.angularDistance(start.q), 1e-11);
}

// Lengths and twists from the hinge lines alone: opposite sides equal and a / sin(alpha) = b / sin(beta). The
// common normals meet the hinges at the anchors, so the anchors are the corners.
TEST(Bennett, Condition) {
  const Model model = make_scene("bennett_linkage");
  std::array<Vec3, 4> p;
  std::array<Vec3, 4> axis;
  for (std::size_t i = 0; i < 4; ++i) {
    const Joint& j = model.joints()[i];
    const Pose X = model.bodies()[static_cast<std::size_t>(j.follower)].X_WB0;
    p[i] = X * j.p_FJ;
    axis[i] = X.q * (j.q_FJ * Vec3::UnitX());
  }
  std::array<double, 4> length;
  std::array<double, 4> sine;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t next = (i + 1) % 4;
    const Vec3 side = p[next] - p[i];
    length[i] = side.norm();
    sine[i] = axis[i].cross(axis[next]).norm();
    EXPECT_NEAR(side.dot(axis[i]), 0, 1e-12);
    EXPECT_NEAR(side.dot(axis[next]), 0, 1e-12);
  }
  EXPECT_NEAR(length[0], 0.3, 1e-12);
  EXPECT_NEAR(length[0], length[2], 1e-12);
  EXPECT_NEAR(length[1], length[3], 1e-12);
  EXPECT_GT(length[1] / length[0], 1.2);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_NEAR(length[i] / sine[i], length[0] / sine[0], 1e-12);
}

// The swinging four-bar in one coordinate t, the angle of AB from straight down, positive towards +x; the
// geometry is recomputed here from the four lengths.
struct Swing {
  std::array<double, 3> mass;
  std::array<double, 3> inertia;

  struct Config {
    std::array<Vec2, 4> p;    // A, B, C, D
    std::array<Vec3, 3> bar;  // centre (x, z) and direction angle of AB, BC, DC
  };

  static Config at(double t) {
    const Vec2 A(0, 1);
    const Vec2 D(0.7, 1);
    const Vec2 B = A + 0.4 * Vec2(std::sin(t), -std::cos(t));
    const Vec2 d = D - B;
    const double x = (d.squaredNorm() + 0.8 * 0.8 - 0.6 * 0.6) / (2 * d.norm());
    const double y = std::sqrt(0.8 * 0.8 - x * x);
    const Vec2 u = d.normalized();
    const Vec2 C = B + x * u + y * Vec2(u.y(), -u.x());  // right of B->D: below
    Config c{{A, B, C, D}, {}};
    const auto bar = [](const Vec2& from, const Vec2& to) {
      const Vec2 s = to - from;
      return Vec3(0.5 * (from.x() + to.x()), 0.5 * (from.y() + to.y()), std::atan2(s.y(), s.x()));
    };
    c.bar = {bar(A, B), bar(B, C), bar(D, C)};
    return c;
  }

  double potential(double t) const {
    const Config c = at(t);
    double u = 0;
    for (std::size_t i = 0; i < 3; ++i) u += 9.81 * mass[i] * c.bar[i][1];
    return u;
  }

  // Twice the kinetic energy per squared rate of t.
  double effective_inertia(double t) const {
    const double h = 1e-4;
    const Config plus = at(t + h);
    const Config minus = at(t - h);
    double m = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3 rate = (plus.bar[i] - minus.bar[i]) / (2 * h);
      m += mass[i] * rate.head<2>().squaredNorm() + inertia[i] * rate[2] * rate[2];
    }
    return m;
  }

  double acceleration(double t, double rate) const {
    const double h = 1e-4;
    const double du = (potential(t + h) - potential(t - h)) / (2 * h);
    const double dm = (effective_inertia(t + h) - effective_inertia(t - h)) / (2 * h);
    return -(du + 0.5 * dm * rate * rate) / effective_inertia(t);
  }

  double energy(double t, double rate) const { return potential(t) + 0.5 * effective_inertia(t) * rate * rate; }
};

Swing swing_of(const Model& model) {
  Swing s{};
  for (std::size_t i = 0; i < 3; ++i) {
    s.mass[i] = model.bodies()[i].mass;
    s.inertia[i] = model.bodies()[i].inertia_B(1, 1);
  }
  return s;
}

double sine_between(const Vec2& a, const Vec2& b) {
  return std::abs(a.x() * b.y() - a.y() * b.x()) / (a.norm() * b.norm());
}

TEST(FourbarSwing, LengthsMassesAndAssembly) {
  const Model model = make_scene("fourbar_swing");
  const std::array<double, 3> length = {0.4, 0.8, 0.6};
  const Swing::Config c = Swing::at(-std::numbers::pi / 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const Body& b = model.bodies()[i];
    const double w = 0.05;
    EXPECT_NEAR(b.mass, 2 * length[i], 1e-14);
    EXPECT_NEAR(b.inertia_B(0, 0), b.mass * (w * w + w * w) / 12, 1e-12);
    EXPECT_NEAR(b.inertia_B(1, 1), b.mass * (length[i] * length[i] + w * w) / 12, 1e-12);
    EXPECT_NEAR(b.inertia_B(2, 2), b.mass * (length[i] * length[i] + w * w) / 12, 1e-12);
    EXPECT_NEAR(b.X_WB0.p.x(), c.bar[i][0], 1e-12);
    EXPECT_NEAR(b.X_WB0.p.y(), 0, 1e-15);
    EXPECT_NEAR(b.X_WB0.p.z(), c.bar[i][1], 1e-12);
    EXPECT_EQ(b.v0_W, Vec3::Zero());
  }
  const auto anchor = [&](const char* name) -> Vec3 {
    const Joint& j = model.joints()[static_cast<std::size_t>(model.joint(name))];
    return model.bodies()[static_cast<std::size_t>(j.follower)].X_WB0 * j.p_FJ;
  };
  EXPECT_LT((anchor("crank") - Vec3(0, 0, 1)).norm(), 1e-12);
  EXPECT_LT((anchor("rocker") - Vec3(0.7, 0, 1)).norm(), 1e-12);
  EXPECT_LT((anchor("crank_coupler") - Vec3(-0.346410, 0, 0.8)).norm(), 1e-6);
  EXPECT_LT((anchor("coupler_rocker") - Vec3(0.389614, 0, 0.486521)).norm(), 1e-6);
}

TEST(FourbarSwing, ConservesEnergyAndStaysAwayFromDeadPoints) {
  const Swing s = swing_of(make_scene("fourbar_swing"));
  double t = -std::numbers::pi / 3;
  double rate = 0;
  const double start = s.energy(t, rate);
  double low = t;
  double high = t;
  const double h = 1e-3;
  for (int step = 0; step < 5000; ++step) {
    const double k1 = s.acceleration(t, rate);
    const double k2 = s.acceleration(t + 0.5 * h * rate, rate + 0.5 * h * k1);
    const double k3 = s.acceleration(t + 0.5 * h * rate + 0.25 * h * h * k1, rate + 0.5 * h * k2);
    const double k4 = s.acceleration(t + h * rate + 0.5 * h * h * k2, rate + h * k3);
    t += h * rate + h * h / 6 * (k1 + k2 + k3);
    rate += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    ASSERT_NEAR(s.energy(t, rate), start, 1e-6) << "at step " << step;
    low = std::min(low, t);
    high = std::max(high, t);
  }
  const double degree = std::numbers::pi / 180;
  EXPECT_NEAR(low / degree, -60, 0.1);
  EXPECT_NEAR(high / degree, 50.1, 0.2);
  for (double x = low; x <= high; x += degree) {
    const auto& p = Swing::at(x).p;
    EXPECT_GT(sine_between(p[2] - p[1], p[2] - p[3]), std::sin(24 * degree));
    EXPECT_GT(sine_between(p[1] - p[0], p[2] - p[1]), std::sin(24 * degree));
  }
}

}  // namespace
}  // namespace sarrus::linkages_test
