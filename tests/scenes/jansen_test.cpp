// Jansen's linkage: link lengths, the path of the foot, and the machine built from it.
#include "sarrus/scenes/jansen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "sarrus/scenes/scenes.h"

namespace sarrus::jansen_test {
namespace {

constexpr int kSamples = 720;
constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kDegree = std::numbers::pi / 180;

double sample(int i) { return kTurn * i / kSamples; }

TEST(Jansen, EveryLinkKeepsItsLengthOverAFullTurn) {
  for (int i = 0; i < kSamples; ++i) {
    for (const JansenSide side : {JansenSide::rear, JansenSide::front}) {
      const JansenLeg p = jansen_leg(sample(i), side);
      const auto expect = [](const Vec2& from, const Vec2& to, double units) {
        EXPECT_NEAR((to - from).norm(), kJansenScale * units, 1e-14);
      };
      expect(Vec2::Zero(), p.pin, 15.0);
      expect(p.pin, p.upper, 50.0);
      expect(p.pivot, p.upper, 41.5);
      expect(p.pivot, p.outer, 40.1);
      expect(p.upper, p.outer, 55.8);
      expect(p.pin, p.lower, 61.9);
      expect(p.pivot, p.lower, 39.3);
      expect(p.outer, p.knee, 39.4);
      expect(p.lower, p.knee, 36.7);
      expect(p.knee, p.foot, 65.7);
      expect(p.lower, p.foot, 49.0);
      EXPECT_NEAR(std::abs(p.pivot.x()), kJansenScale * 38.0, 1e-15);
      EXPECT_NEAR(p.pivot.y(), -kJansenScale * 7.8, 1e-15);
    }
  }
}

TEST(Jansen, FrontLegMirrorsTheRearLegOnTheSamePin) {
  for (int i = 0; i < kSamples; i += 10) {
    const JansenLeg rear = jansen_leg(sample(i), JansenSide::rear);
    const JansenLeg front = jansen_leg(sample(i), JansenSide::front);
    EXPECT_LT((rear.pin - front.pin).norm(), 1e-15);
    const Vec2 mirrored = jansen_foot(std::numbers::pi - sample(i));
    EXPECT_LT((front.foot - Vec2(-mirrored.x(), mirrored.y())).norm(), 1e-15);
    EXPECT_LT(rear.foot.x(), 0);
    EXPECT_GT(front.foot.x(), 0);
  }
}

TEST(Jansen, FootPathIsContinuousClosedAndFlatAtTheBottom) {
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (int i = 0; i < kSamples; ++i) {
    EXPECT_LT((jansen_foot(sample(i + 1)) - jansen_foot(sample(i))).norm(), 0.003);
    lowest = std::min(lowest, jansen_foot(sample(i)).y());
    highest = std::max(highest, jansen_foot(sample(i)).y());
  }
  EXPECT_LT((jansen_foot(kTurn) - jansen_foot(0)).norm(), 1e-15);
  EXPECT_NEAR(lowest, -91.834 * kJansenScale, 1e-5);
  EXPECT_NEAR(highest - lowest, 22.457 * kJansenScale, 1e-5);

  // Within 2 mm of the ground for 132 degrees of the turn and 50 units of travel.
  int low_count = 0;
  double rear = 0;
  double fore = -1;
  for (int i = 0; i < kSamples; ++i) {
    const Vec2 foot = jansen_foot(sample(i));
    if (foot.y() > lowest + 0.002) continue;
    ++low_count;
    rear = std::min(rear, foot.x());
    fore = std::max(fore, foot.x());
  }
  EXPECT_NEAR(low_count * 360.0 / kSamples, 132, 1.5);
  EXPECT_NEAR((fore - rear) / kJansenScale, 50.2, 0.5);
}

// On each half of the machine the lower of the two opposite feet, rear and front, is within 7 mm of the
// lowest point of the path at every crank angle: four feet near the ground, whatever the angle.
TEST(Jansen, FourFeetAreAlwaysNearTheGround) {
  const double ground = -91.834 * kJansenScale;
  for (int i = 0; i < kSamples; ++i) {
    for (const std::size_t half : {0u, 2u}) {
      for (const JansenSide side : {JansenSide::rear, JansenSide::front}) {
        const double a = jansen_foot(sample(i) + kDegree * kJansenThrow[half], side).y();
        const double b = jansen_foot(sample(i) + kDegree * kJansenThrow[half + 1], side).y();
        EXPECT_LT(std::min(a, b) - ground, 0.0070);
      }
    }
  }
}

// Distance per turn if the lowest of the given feet does not slip; the crank turns about +y.
double stride(std::span<const double> throws) {
  double travel = 0;
  for (int i = 0; i < kSamples; ++i) {
    double lowest = std::numeric_limits<double>::infinity();
    double step = 0;
    for (const double phase : throws) {
      const double angle = -sample(i) + kDegree * phase;
      const Vec2 foot = jansen_foot(angle);
      if (foot.y() >= lowest) continue;
      lowest = foot.y();
      step = foot.x() - jansen_foot(angle - kTurn / kSamples).x();
    }
    travel += step;
  }
  return travel;
}

TEST(Jansen, StridePerTurnIsForwards) {
  EXPECT_NEAR(stride(kJansenThrow), 0.564, 0.003);
  EXPECT_NEAR(stride(std::span(kJansenThrow).first(2)), 0.508, 0.003);
  EXPECT_GT(stride(std::span(kJansenThrow).first(2)) * kJansenCrankSpeed / kTurn * 10, 2 * 0.86);  // m in 10 s
}

// The plane on which the machine rests at a crank angle: three feet with all others above their plane and the
// centre of mass between them. Returns its lean, or no value if the machine would tip over.
std::optional<double> resting_lean(double crank_angle) {
  std::vector<Vec3> feet;
  for (std::size_t t = 0; t < kJansenThrow.size(); ++t) {
    for (const JansenSide side : {JansenSide::rear, JansenSide::front}) {
      const Vec2 foot = jansen_foot(crank_angle + kDegree * kJansenThrow[t], side);
      feet.emplace_back(foot.x(), kJansenThrowY[t], foot.y());
    }
  }
  const auto turn = [](const Vec3& a, const Vec3& b) { return a.x() * b.y() - a.y() * b.x(); };  // seen from above
  for (const Vec3& a : feet) {
    for (const Vec3& b : feet) {
      for (const Vec3& c : feet) {
        const Vec3 n = (b - a).cross(c - a);
        if (n.z() < 1e-9 || turn(a, b) < 0 || turn(b, c) < 0 || turn(c, a) < 0) continue;
        if (std::ranges::all_of(feet, [&](const Vec3& p) { return n.dot(p - a) > -1e-12; })) {
          return std::acos(n.z() / n.norm());
        }
      }
    }
  }
  return std::nullopt;
}

TEST(Jansen, RestsOnItsFeetAtEveryCrankAngle) {
  double largest = 0;
  for (int i = 0; i < kSamples; i += 4) {
    const std::optional<double> lean = resting_lean(sample(i));
    ASSERT_TRUE(lean.has_value()) << "tips over at " << sample(i) / kDegree << " degrees";
    largest = std::max(largest, *lean);
  }
  EXPECT_LT(largest, 1.5 * kDegree);
}

TEST(Jansen, WalkerStandsOnFourFeetAndOnlyFeetAndChassisCollide) {
  const Model model = make_scene("jansen_walker");
  const Geom& floor = model.geoms()[0];
  ASSERT_EQ(floor.shape.kind, ShapeKind::plane);
  int feet = 0;
  int standing = 0;
  double left = 0;
  double right = 0;
  for (const Geom& g : model.geoms()) {
    if (g.body == kWorld) continue;
    const Pose X = model.bodies()[static_cast<std::size_t>(g.body)].X_WB0 * g.X_BG;
    const double reach = (X.q * Vec3(g.shape.size.x(), 0, 0)).cwiseAbs().x();
    left = std::min(left, X.p.x() - reach);
    right = std::max(right, X.p.x() + reach);
    if (!((g.group & floor.collides_with) || (floor.group & g.collides_with))) continue;
    if (g.shape.kind == ShapeKind::sphere) {
      ++feet;
      const double gap = X.p.z() - g.shape.size.x();
      EXPECT_GT(gap, -1e-12);
      if (gap < 1.3e-4) ++standing;
    } else {
      EXPECT_EQ(g.body, model.body("chassis"));
      EXPECT_GT(X.p.z() - g.shape.size.z(), 0.3);
    }
  }
  EXPECT_EQ(feet, 8);
  EXPECT_EQ(standing, 4);
  EXPECT_NEAR(right - left, 0.86, 0.03);

  const Drive& drive = model.dofs()[static_cast<std::size_t>(model.dof("crank"))].drive;
  EXPECT_EQ(drive.mode, DriveMode::velocity);
  EXPECT_DOUBLE_EQ(drive.target.value(3.0), kJansenCrankSpeed);
}

TEST(Jansen, WalkerIsBalanced) {
  const Model model = make_scene("jansen_walker");
  double mass = 0;
  Vec3 moment = Vec3::Zero();
  for (const Body& b : model.bodies()) {
    mass += b.mass;
    moment += b.mass * b.X_WB0.p;
  }
  EXPECT_GT(mass, 4);
  EXPECT_LT(mass, 10);
  EXPECT_LT((moment / mass).head<2>().norm(), 0.01);
  const Body& shaft = model.bodies()[static_cast<std::size_t>(model.body("crankshaft"))];
  EXPECT_LT(shaft.X_WB0.p.head<2>().norm(), 1e-12);
  // A shaft of 0.4 m and four throws of 0.06 m, thin square bars: dominated by their own lengths.
  const double line = 0.3 / (0.4 + 4 * 0.06);
  const double spin = 4 * line * std::pow(0.06, 3) / 3;
  EXPECT_NEAR(shaft.inertia_B(1, 1), spin, 0.1 * spin);
  EXPECT_GT(shaft.inertia_B(0, 0), line * std::pow(0.4, 3) / 12);
}

}  // namespace
}  // namespace sarrus::jansen_test
