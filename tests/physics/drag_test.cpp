// A body that is dragged (docs/theory/rows.md §3.1): the law of the pull in closed form, its bound, energy, and that no
// mechanism, however light what is pulled or long the step, comes apart or flies off.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/error.h"
#include "sarrus/math/random.h"
#include "support/allocations.h"

namespace sarrus::drag_test {
namespace {

using testing::expect_within;
using testing::options_with;
using testing::order_of;
using testing::pose;
using testing::twist;

Simulation free_ball(double mass, double dt, Integrator integrator, const Vec3& gravity = Vec3::Zero()) {
  ModelBuilder b("ball");
  b.set_gravity(gravity);
  b.add_sphere_body("ball", mass, 0.1, {});
  return Simulation(b.build(), options_with(dt, integrator));
}

// m x'' = k (x_t - x) - d x' with critical damping: x = x_t (1 - (1 + w t) exp(-w t)).
double error_of_pull(double dt, Integrator integrator) {
  constexpr double kTarget = 0.1;
  constexpr double kTime = 0.2;
  Simulation sim = free_ball(2.0, dt, integrator);
  sim.set_drag(0, Vec3::Zero(), {kTarget, 0, 0});
  testing::run(sim, static_cast<int>(std::lround(kTime / dt)));
  const double wt = 15 * kTime;
  EXPECT_EQ(twist(sim, 0).tail<3>().norm(), 0);
  return std::abs(pose(sim, 0).p.x() - kTarget * (1 - (1 + wt) * std::exp(-wt)));
}

TEST(Drag, PullsAFreeBodyAsACriticallyDampedSpring) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    const double coarse = error_of_pull(1e-3, integrator);
    const double fine = error_of_pull(5e-4, integrator);
    expect_within(std::string(name_of(integrator)), fine, 2e-4);
    EXPECT_NEAR(order_of(coarse, fine), 1.0, 0.1) << name_of(integrator);
  }
}

TEST(Drag, PullsWithAtMostTenTimesTheWeight) {
  Simulation sim = free_ball(3.0, 1e-3, Integrator::moreau, {0, 0, -9.81});
  sim.set_drag(0, Vec3::Zero(), {100, 0, 0.0});
  testing::run(sim, 100);
  EXPECT_EQ(sim.dragged_body(), 0);
  EXPECT_NEAR(sim.drag_force_W().x(), 10 * 3.0 * 9.81, 1e-9);
  EXPECT_NEAR(twist(sim, 0)[0], 10 * 9.81 * 0.1, 1e-9);
}

TEST(Drag, HoldsAWeightAtTheForceThatThisTakes) {
  Simulation sim = free_ball(3.0, 1e-3, Integrator::moreau, {0, 0, -9.81});
  sim.set_drag(0, Vec3(0, 0, 0.1), {0, 0, 1});
  testing::run(sim, 3000);
  EXPECT_NEAR(sim.drag_force_W().z(), 3.0 * 9.81, 1e-6);
  // k (x_t - x) = m g.
  EXPECT_NEAR(pose(sim, 0).p.z() + 0.1, 1 - 9.81 / 225, 1e-6);
}

// The work of the pull is external work and all there is.
TEST(Drag, ItsWorkIsInTheAccountOfEnergy) {
  for (const char* scene : {"fourbar_swing", "double_pendulum", "stewart_platform"}) {
    Simulation sim = testing::simulate(scene, options_with(1e-3));
    const int body = sim.model().body_count() - 1;
    const Vec3 start = pose(sim, body).p;
    double turned_over = 0;
    for (int i = 0; i < test::samples(1000); ++i) {
      const double t = sim.time();
      sim.set_drag(body, Vec3(0.01, 0.02, 0), start + 0.1 * Vec3(std::sin(9 * t), std::cos(7 * t), std::sin(5 * t)));
      const StepReport& r = sim.step();
      ASSERT_NE(r.status, StepStatus::failed) << scene << ": " << r.message;
      turned_over += std::abs(r.energy.external);
    }
    const EnergyFlow& f = sim.energy_flow();
    EXPECT_GT(turned_over, 1e-3) << scene;
    EXPECT_NEAR(f.external, f.change - f.drives - f.friction - f.impacts - f.damping, 1e-3 * turned_over) << scene;
  }
}

// A ring of four bars, hinged out of line so that it moves in space, hung on the world by one bar; the bar that is
// pulled has another mass than the others.
Model ring(double mass, double mass_pulled) {
  ModelBuilder b("ring");
  const double a = 0.2;
  const auto at = [&](int k) -> Vec3 {
    const double angle = M_PI / 2 * k;
    return {a * std::cos(angle), 0, 1 + a * std::sin(angle)};
  };
  int bars[4];
  for (int k = 0; k < 4; ++k) {
    const Vec3 middle = 0.5 * (at(k) + at(k + 1));
    const Vec3 along = (at(k + 1) - at(k)).normalized();
    bars[k] = b.add_box_body("bar" + std::to_string(k), k == 2 ? mass_pulled : mass, {0.13, 0.01, 0.01},
                             {middle, Quat::FromTwoVectors(Vec3::UnitX(), along)});
  }
  for (int k = 0; k < 4; ++k) {
    b.add_joint_at("hinge" + std::to_string(k), JointType::revolute, bars[(k + 3) % 4], bars[k], at(k),
                   Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitY()));
  }
  b.add_joint_at("hang", JointType::spherical, kWorld, bars[0], at(0));
  b.set_self_collision(false);
  return b.build();
}

// The hand jumps about like that of a child.
void shake(double mass, double mass_pulled, double dt, Integrator integrator) {
  SCOPED_TRACE(fmt::format("{} kg, pulled {} kg, dt {}, {}", mass, mass_pulled, dt, name_of(integrator)));
  Simulation sim(ring(mass, mass_pulled), options_with(dt, integrator));
  Random random(7);
  const double weight = 10 * 9.81 * (3 * mass + mass_pulled);
  double fastest = 0;
  testing::Worst worst;
  for (int i = 0; i < test::samples(400); ++i) {
    if (i % 20 == 0) {
      const auto far = [&] { return random.uniform(-0.6, 0.6); };
      sim.set_drag(2, {0.1, 0.01, 0}, {far(), far(), 1 + far()});
    }
    const StepReport& r = sim.step();
    worst.add(r);
    ASSERT_NE(r.status, StepStatus::failed) << r.message;
    ASSERT_LE(sim.drag_force_W().cwiseAbs().maxCoeff(), weight * (1 + 1e-9));
    ASSERT_LT(pose(sim, 2).p.norm(), 3.0);
    fastest = std::max(fastest, twist(sim, 2).head<3>().norm());
  }
  expect_within("joint gap", worst.joint_gap, 1e-12);
  EXPECT_EQ(worst.not_converged, 0);
  // From rest, at 10 g or less over 1.2 m there and back.
  expect_within("speed", fastest, 30);
}

TEST(Drag, LoopsOfGramsAndKilogramsStayClosedUnderAWildHand) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    shake(1.0, 1.0, 1e-3, integrator);
    shake(1e-3, 1e-3, 1e-3, integrator);
    shake(1.0, 1e-3, 1e-3, integrator);
  }
}

// Far beyond what an explicit spring would survive: dt k/m of the gram is 14 at 20 ms.
TEST(Drag, LongStepsDoNotMakeALightLinkFlyOff) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    for (const double dt : {0.005, 0.02, 0.05}) {
      ModelBuilder b("gram");
      const int post = b.add_box_body("heavy", 10.0, {0.1, 0.1, 0.1}, {{0, 0, 1}});
      const int link = b.add_box_body("gram", 1e-3, {0.1, 0.005, 0.005}, {{0.2, 0, 1}});
      b.add_joint_at("ball", JointType::spherical, post, link, {0.1, 0, 1});
      b.exclude(post, link);
      b.set_gravity(Vec3::Zero());
      Simulation sim(b.build(), options_with(dt, integrator));
      sim.set_drag(link, {0.1, 0, 0}, {0.3, 0.1, 1.1});
      const testing::Worst worst = testing::run(sim, static_cast<int>(4 / dt));
      SCOPED_TRACE(fmt::format("{} dt {}", name_of(integrator), dt));
      expect_within("gap", worst.joint_gap, 1e-12);
      expect_within("distance", (pose(sim, link) * Vec3(0.1, 0, 0) - Vec3(0.3, 0.1, 1.1)).norm(), 1e-3);
      // What turns about the point that is held, and about its own axis, turns on.
      const Vec3 arm = pose(sim, link).q * Vec3(0.1, 0, 0);
      const Vec6& u = twist(sim, link);
      expect_within("speed", (u.head<3>() + u.tail<3>().cross(arm)).norm(), 1e-2);
    }
  }
}

TEST(Drag, CannotPullABoxThroughTheFloor) {
  Simulation sim = testing::simulate("box_on_plane", options_with(1e-3));
  testing::run(sim, 500);
  const Vec3 p = pose(sim, 0).p;
  sim.set_drag(0, Vec3::Zero(), p - Vec3(0, 0, 0.5));
  const testing::Worst worst = testing::run(sim, 500);
  expect_within("penetration", worst.penetration, 1e-4);
  expect_within("depth", pose(sim, 0).p.z() - p.z(), 1e-4);
  EXPECT_LT(sim.drag_force_W().z(), -9.81);
}

std::uint64_t hash_of(Simulation& sim, int steps) {
  std::uint64_t h = 0;
  for (int i = 0; i < steps; ++i) {
    sim.step();
    h = h * 31 + sim.state().hash();
  }
  return h;
}

TEST(Drag, OneThatIsClearedBeforeTheStepLeavesNoTrace) {
  Simulation a = testing::simulate("fourbar_free");
  Simulation b = testing::simulate("fourbar_free");
  hash_of(a, 20);
  hash_of(b, 20);
  b.set_drag(1, {0, 0, 0.1}, {1, 2, 3});
  b.clear_drag();
  EXPECT_EQ(b.dragged_body(), kWorld);
  EXPECT_EQ(hash_of(a, 50), hash_of(b, 50));
  EXPECT_EQ(b.drag_force_W(), Vec3::Zero());
}

// Also where it began or ended since the last step, whose rows a snapshot holds.
TEST(Drag, SnapshotsHoldIt) {
  for (const char* scene : {"fourbar_free", "jansen_walker", "nunchuk"}) {
    const Model model = make_scene(scene);
    Simulation sim(model);
    const auto same_bits = [&](const char* when) {
      SCOPED_TRACE(std::string(scene) + " " + when);
      Simulation other(model);
      other.restore(sim.snapshot());
      EXPECT_EQ(other.dragged_body(), sim.dragged_body());
      EXPECT_EQ(other.drag_force_W(), sim.drag_force_W());
      EXPECT_TRUE(other.snapshot() == sim.snapshot());
      EXPECT_EQ(hash_of(other, 5), hash_of(sim, 5));
    };
    hash_of(sim, 10);
    const auto drag = [&](int body, const Vec3& by) { sim.set_drag(body, {0, 0, 0.01}, pose(sim, body).p + by); };
    drag(1, {0.1, 0.2, 0.3});
    same_bits("set");
    same_bits("held");
    drag(0, {0, 0.1, 0.1});
    same_bits("another body");
    sim.clear_drag();
    same_bits("dropped");
    same_bits("gone");
  }
}

TEST(Drag, StepsWithItAllocateNothing) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    Simulation sim = testing::simulate("fourbar_swing", options_with(1e-3, integrator));
    const Vec3 start = pose(sim, 1).p;
    const auto pull = [&](int steps) {
      for (int i = 0; i < steps; ++i) {
        sim.set_drag(1, {0.01, 0, 0}, start + 0.2 * Vec3(std::sin(8 * sim.time()), 0, std::cos(8 * sim.time())));
        sim.step();
      }
    };
    pull(50);
    EXPECT_EQ(test::allocations_of([&] { pull(200); }), 0) << name_of(integrator);
  }
}

TEST(Drag, WhatIsNoBodyOrNoNumberIsRefused) {
  Simulation sim = testing::simulate("fourbar_free");
  const double nan = std::nan("");
  EXPECT_THROW(sim.set_drag(-1, Vec3::Zero(), Vec3::Zero()), InputError);
  EXPECT_THROW(sim.set_drag(1 << 30, Vec3::Zero(), Vec3::Zero()), InputError);
  EXPECT_THROW(sim.set_drag(0, Vec3(nan, 0, 0), Vec3::Zero()), InputError);
  EXPECT_THROW(sim.set_drag(0, Vec3::Zero(), Vec3(0, std::numeric_limits<double>::infinity(), 0)), InputError);
  EXPECT_EQ(sim.dragged_body(), kWorld);
}

}  // namespace
}  // namespace sarrus::drag_test
