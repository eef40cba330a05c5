// Contacts that open, close, stop and bounce, against closed forms and with the energy watched: a block that rocks, one
// that slides and stays, a cube that begins inside of the floor, and bounces without loss, with friction and spin.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "effort.h"
#include "physics/harness.h"
#include "physics/passive.h"
#include "sarrus/math/random.h"
#include "sarrus/math/so3.h"

namespace sarrus::rest_and_impact_test {
namespace {

using testing::EnergyRise;
using testing::expect_near;
using testing::expect_within;
using testing::passive_options;
using testing::pose;
using testing::run;
using testing::steps_for;
using testing::twist;

constexpr double kGravity = 9.81;

// --- a block that rocks ----------------------------------------------------------------------------------

constexpr double kWidth = 0.1, kHeight = 0.4;  // m
constexpr double kRelease = 0.15;              // rad

// The block turns about a corner: angle'' = -3 g/(4 R) sin(slenderness - angle), R from the corner to the centre.
struct FirstImpact {
  double time = 0;   // s
  double speed = 0;  // rad/s
};
FirstImpact first_impact() {
  const double R = 0.5 * std::hypot(kWidth, kHeight);
  const double slenderness = std::atan2(kWidth, kHeight);
  const auto acceleration = [&](double angle) { return -0.75 * kGravity / R * std::sin(slenderness - angle); };
  const double h = 1e-5;
  double angle = kRelease, rate = 0, time = 0;
  while (angle > 0) {
    // Runge-Kutta-Nystrom of fourth order.
    const double a = acceleration(angle);
    const double b = acceleration(angle + h / 2 * rate + h * h / 8 * a);
    const double c = acceleration(angle + h * rate + h * h / 2 * b);
    angle += h * rate + h * h / 6 * (a + 2 * b);
    rate += h / 6 * (a + 4 * b + c);
    time += h;
  }
  return {time - angle / rate, -rate};
}

TEST(RockingBlock, FallsBackAtItsTimeLosesWhatTheImpactsTakeAndComesToRest) {
  SARRUS_FULL_SIZE_ONLY();
  const FirstImpact expected = first_impact();
  ASSERT_NEAR(expected.time, 0.26830, 5e-6);
  for (const double dt : {2e-3, 1e-3, 2e-4}) {
    ModelBuilder b("rocking block");
    const int stone = b.add_material("stone", 2);
    b.add_floor(0, stone);
    const Quat q = so3_exp(Vec3(0, kRelease, 0));
    const Vec3 corner(kWidth / 2, 0, -kHeight / 2);
    const Vec3 centre = Vec3(kWidth / 2, 0, 0) - q * corner;
    const int block = b.add_box_body("block", 1, Vec3(kWidth / 2, 0.05, kHeight / 2), {centre, q}, stone);
    Simulation sim(b.build(), passive_options(dt));
    EnergyRise energy(sim);
    double impact = 0, before = 0, after = 0;
    run(sim, steps_for(4, dt), [&](const StepReport&) {
      energy.add(sim);
      const Vec3 axis = pose(sim, block).q * Vec3::UnitZ();
      const double speed = std::abs(twist(sim, block)[4]);
      if (impact == 0) {
        if (std::atan2(axis.x(), axis.z()) <= 1e-4) impact = sim.time();
        before = std::max(before, speed);
      } else if (sim.time() > impact + 2 * dt && after == 0) {
        after = speed;
      }
    });
    const std::string at = fmt::format("_at_{:g}", dt);
    expect_within("above_start" + at, energy.above_start() / energy.start(), 1e-9);
    expect_within("above_lowest" + at, energy.above_lowest() / energy.start(), 1e-5);
    // An impact is at the end of the step in which it happens.
    expect_near("first_impact" + at, impact, expected.time, 1.05 * dt);
    // Gravity makes it faster by 8.7 rad/s^2, and what is seen is the speed up to a step and a half before the impact.
    expect_near("speed_before" + at, before, expected.speed, 15 * dt);
    // Angular momentum about the other corner is kept: 1 - 3/2 sin^2(slenderness) of the speed is left. Up to five
    // steps of gravity come after.
    const double left = 1 - 1.5 * std::pow(std::sin(std::atan2(kWidth, kHeight)), 2);
    expect_near("speed_after" + at, after, left * expected.speed, 60 * dt);
    // Solves are exact to 1e-9 of what the step would do without them.
    expect_within("speed_at_end" + at, twist(sim, block).norm(), 1e-8);
  }
}

// --- a block that slides and stays -------------------------------------------------------------------------

TEST(SlidingBlock, StopsAtItsDistanceAndStays) {
  for (const double dt : {4e-3, 1e-3}) {
    const double mu = 0.5, speed = 2;
    ModelBuilder b("sliding block");
    const int wood = b.add_material("wood", mu);
    b.add_floor(0, wood);
    const int block = b.add_box_body("block", 1, Vec3(0.1, 0.1, 0.05), {Vec3(0, 0, 0.05)}, wood);
    // Across the axes of the contact frames, so that no row has the motion to itself.
    const Vec3 direction = Vec3(3, 4, 0) / 5;
    b.set_velocity(block, speed * direction, Vec3::Zero());
    Simulation sim(b.build(), passive_options(dt));
    EnergyRise energy(sim);
    const double stop = speed / (mu * kGravity);
    double later = 0;
    run(sim, steps_for(stop + 1, dt), [&](const StepReport&) {
      energy.add(sim);
      if (sim.time() > stop + 5 * dt) later = std::max(later, twist(sim, block).norm());
    });
    const std::string at = fmt::format("_at_{:g}", dt);
    // In the last step the speed falls by less than mu g dt: what that can change in the way is mu g dt^2/8. The
    // tolerated penetration of 1e-5 m is closed in the first steps, where the load is less: up to mu times it.
    const double tolerance = mu * kGravity * dt * dt / 4 + mu * 1e-5;
    expect_near("distance" + at, pose(sim, block).p.dot(direction), speed * speed / (2 * mu * kGravity), tolerance);
    expect_within("speed_later" + at, later, 1e-9);
    expect_within("rise" + at, energy.above_lowest() / energy.peak_kinetic(), 1e-6);
  }
}

// A ball that slides, then rolls at 5/7 of its speed, and goes on rolling.
TEST(SlidingBall, RollsAtFiveSeventhsAndGoesOn) {
  for (const double dt : {4e-3, 1e-3}) {
    const double mu = 0.3, speed = 2, radius = 0.1;
    ModelBuilder b("bowl");
    const int wood = b.add_material("wood", mu);
    b.add_floor(0, wood);
    const int ball = b.add_sphere_body("ball", 1, radius, {Vec3(0, 0, radius)}, wood);
    const Vec3 direction = Vec3(3, 4, 0) / 5;
    b.set_velocity(ball, speed * direction, Vec3::Zero());
    Simulation sim(b.build(), passive_options(dt));
    EnergyRise energy(sim);
    run(sim, steps_for(2, dt), [&](const StepReport&) { energy.add(sim); });
    const double stop = 2 * speed / (7 * mu * kGravity);
    const double way = 12.0 / 49 * speed * speed / (mu * kGravity) + 5.0 / 7 * speed * (2 - stop);
    const std::string at = fmt::format("_at_{:g}", dt);
    // A penetration of 1e-4 radii is tolerated and shortens the arm of the friction by as much.
    expect_near("speed" + at, twist(sim, ball).head<3>().dot(direction), 5.0 / 7 * speed, 1e-4 * speed);
    expect_near("way" + at, pose(sim, ball).p.dot(direction), way, mu * kGravity * dt * dt + 1e-4 * way);
    expect_within("rise" + at, energy.above_lowest() / energy.peak_kinetic(), 1e-6);
  }
}

// --- a cube that begins inside of the floor ------------------------------------------------------------------

TEST(CubeInsideTheFloor, IsPushedOutGently) {
  const double half = 0.05, depth = 5e-3;
  for (const double tilt : {0.0, 0.02}) {
    for (const double dt : {1e-3, 1e-4}) {
      ModelBuilder b("buried cube");
      b.add_floor();
      const int cube =
          b.add_box_body("cube", 1, Vec3::Constant(half), {Vec3(0, 0, half - depth), so3_exp(Vec3(0, tilt, 0))});
      Simulation sim(b.build(), passive_options(dt));
      double highest = -depth, speed = 0;
      run(sim, test::samples(steps_for(2, dt)), [&](const StepReport&) {
        const Pose& X = pose(sim, cube);
        double lowest = kUnlimited;
        for (int k = 0; k < 8; ++k) {
          const Vec3 corner = half * Vec3((k & 1) != 0 ? 1 : -1, (k & 2) != 0 ? 1 : -1, (k & 4) != 0 ? 1 : -1);
          lowest = std::min(lowest, (X * corner).z());
        }
        highest = std::max(highest, lowest);
        if (sim.time() > 1) speed = std::max(speed, twist(sim, cube).norm());
      });
      const std::string at = fmt::format("_tilt_{:g}_at_{:g}", tilt, dt);
      // Of its lowest corner, and on the way out it may not fly.
      expect_within("height_above_floor" + at, std::max(0.0, highest), 1e-3);
      if (test::sample_divisor() == 1) {
        expect_near("rest" + at, pose(sim, cube).p.z(), half, 1e-4);
        expect_within("speed_later" + at, speed, 1e-6);
      }
    }
  }
}

// --- bounces without loss, with friction and spin -----------------------------------------------------------

// One body over a floor, both with restitution 1 and friction 1.
Model bouncing(const Shape& shape, const Quat& q, double height, const Vec3& v, const Vec3& w) {
  ModelBuilder b("bouncing");
  const int steel = b.add_material("steel", 1, 1);
  b.add_floor(0, steel);
  const int body = b.add_solid("body", 1, shape, {Vec3(0, 0, height), q}, steel);
  b.set_velocity(body, v, w);
  return b.build();
}

double rise_of_bouncing(const Model& model, int steps) {
  Simulation sim(model, passive_options(1e-3));
  EnergyRise energy(sim);
  run(sim, steps, [&](const StepReport&) { energy.add(sim); });
  return energy.above_start() / std::max(energy.start(), energy.peak_kinetic());
}

TEST(Bouncing, OfABallWithSpinMakesNoEnergy) {
  double worst = 0;
  for (const Vec3& w : {Vec3(0, 0, 0), Vec3(0, 50, 20), Vec3(-30, 0, 100), Vec3(0, -200, 0)}) {
    worst = std::max(worst, rise_of_bouncing(bouncing(Shape::sphere(0.1), Quat::Identity(), 0.5, Vec3(1, 0.3, 0), w),
                                             test::samples(3000)));
  }
  expect_within("rise", worst, 1e-6);
}

TEST(Bouncing, OfBoxesAndCapsulesMakesNoEnergy) {
  Random random(5);
  double boxes = 0, capsules = 0;
  for (int i = 0; i < test::samples(20); ++i) {
    const Quat q = so3_exp(random.in_box(3));
    const Vec3 v = random.in_box(2), w = random.in_box(20);
    boxes = std::max(boxes, rise_of_bouncing(bouncing(Shape::box(Vec3(0.1, 0.07, 0.04)), q, 0.5, v, w), 1000));
    capsules = std::max(capsules, rise_of_bouncing(bouncing(Shape::capsule(0.05, 0.1), q, 0.5, v, w), 1000));
  }
  expect_within("boxes", boxes, 1e-6);
  expect_within("capsules", capsules, 1e-6);
}

// --- very heavy, very light, very small ---------------------------------------------------------------------

// In raw units the impulses of a heavy ball hid any velocity error: it stopped instead of bouncing.
TEST(MassesFarFromOne, AHeavyBallLeavesAsFastAsItCame) {
  for (const double mass : {1e-10, 1e-6, 1.0, 1e6, 1e10}) {
    ModelBuilder b("ball");
    b.set_gravity(Vec3::Zero());
    const int steel = b.add_material("steel", 0.3, 1.0);
    b.add_floor(0, steel);
    const int ball = b.add_sphere_body("ball", mass, 0.1, {Vec3(0, 0, 0.15)}, steel);
    b.set_velocity(ball, Vec3(0, 0, -5), Vec3::Zero());
    Simulation sim(b.build(), passive_options(1e-3));
    run(sim, 50);
    expect_near(fmt::format("speed_{:g}", mass), twist(sim, ball)[2], 5, 1e-8);
  }
}

TEST(MassesFarFromOne, OnACartesianJointKeepTheirEnergy) {
  for (const double mass : {1e-8, 1e-3, 1.0, 1e6}) {
    ModelBuilder b("gantry");
    b.set_gravity(Vec3::Zero());
    const int body = b.add_box_body("body", mass, Vec3(0.2, 0.1, 0.1), {Vec3(0.3, 0, 0)});
    b.add_joint_at("gantry", JointType::cartesian, kWorld, body, Vec3::Zero());
    b.set_velocity(body, Vec3(1, 2, -3), Vec3::Zero());
    Simulation sim(b.build(), passive_options(1e-3));
    EnergyRise energy(sim);
    run(sim, 2000, [&](const StepReport&) { energy.add(sim); });
    expect_within(fmt::format("rise_{:g}", mass), energy.above_start() / energy.start(), 1e-10);
    expect_within(fmt::format("loss_{:g}", mass), energy.loss() / energy.start(), 1e-9);
  }
}

// Three grains of sand on a floor and one on top of them, which pushes them apart.
TEST(GrainsOfSand, OnlyLoseEnergy) {
  SARRUS_FULL_SIZE_ONLY();
  const double radius = 1e-4;  // m
  const double mass = 2650 * 4.0 / 3 * std::numbers::pi * std::pow(radius, 3);
  for (const double dt : {1e-3, 1e-4}) {
    ModelBuilder b("grains");
    const int sand = b.add_material("sand", 0.3);
    b.add_floor(0, sand);
    const double ring = 2 * radius / std::sqrt(3.0) * 1.02;
    for (int i = 0; i < 3; ++i) {
      const double a = 2 * std::numbers::pi * i / 3;
      b.add_sphere_body(fmt::format("grain{}", i), mass, radius,
                        {Vec3(ring * std::cos(a), ring * std::sin(a), 1.01 * radius)}, sand);
    }
    b.add_sphere_body("top", mass, radius, {Vec3(0.05 * radius, 0, 3.2 * radius)}, sand);
    Simulation sim(b.build(), passive_options(dt));
    EnergyRise energy(sim);
    run(sim, steps_for(0.3, dt), [&](const StepReport&) { energy.add(sim); });
    const double scale = 4 * mass * kGravity * radius;
    const std::string at = fmt::format("_at_{:g}", dt);
    expect_within("above_start" + at, energy.above_start() / scale, 1e-6);
    EXPECT_GT(energy.loss(), 0.1 * scale) << at;
    double lowest = 1;
    for (int i = 0; i < 4; ++i) lowest = std::min(lowest, pose(sim, i).p.z() / radius);
    expect_near("lowest_grain_in_radii" + at, lowest, 1, 0.01);
  }
}

// What is tolerated to sink in goes with the size of what lies there.
TEST(SmallCubes, SinkInNoFurtherThanLargeOnes) {
  for (const double side : {2e-4, 2e-3, 0.2, 20.0}) {
    ModelBuilder b("cube");
    b.add_floor(0);
    const double mass = 1000 * std::pow(side, 3);
    const int cube = b.add_box_body("cube", mass, Vec3::Constant(0.5 * side), {Vec3(0, 0, 0.51 * side)});
    const double dt = 0.01 * std::sqrt(side / kGravity);
    Simulation sim(b.build(), passive_options(dt));
    double deepest = 0;
    run(sim, 1000, [&](const StepReport& r) { deepest = std::max(deepest, r.penetration / side); });
    expect_within(fmt::format("deepest_of_{:g}", side), deepest, 1e-4);
    expect_near(fmt::format("height_of_{:g}", side), pose(sim, cube).p.z() / side, 0.5, 1e-4);
  }
}

// Below the angle of friction, whatever its mass and size.
TEST(LightCubes, StickOnASlope) {
  struct Cube {
    double mass, half;
  };
  const double angle = 20 * std::numbers::pi / 180;
  for (const Cube cube : {Cube{1, 0.05}, Cube{1e-8, 0.05}, Cube{1e-8, 1e-4}, Cube{1e8, 0.05}}) {
    ModelBuilder b("slope");
    const int wood = b.add_material("wood", 0.5);
    const Quat turn = so3_exp(Vec3(0, angle, 0));
    b.add_geom(kWorld, Shape::plane(), {Vec3::Zero(), turn}, wood);
    const int body =
        b.add_box_body("cube", cube.mass, Vec3::Constant(cube.half), {turn * Vec3(0, 0, cube.half), turn}, wood);
    Simulation sim(b.build(), passive_options(1e-3));
    const Vec3 downhill = turn * Vec3::UnitX();
    run(sim, 100);  // a contact may sink by what is tolerated
    const Vec3 start = pose(sim, body).p;
    run(sim, test::samples(2000));
    const std::string of = fmt::format("_{:g}_kg_{:g}_m", cube.mass, cube.half);
    expect_within("slip" + of, (pose(sim, body).p - start).dot(downhill) / cube.half, 1e-6);
    expect_within("speed" + of, twist(sim, body).head<3>().norm() / std::sqrt(kGravity * cube.half), 1e-6);
  }
}

}  // namespace
}  // namespace sarrus::rest_and_impact_test
