// Rolling without slip is a motion in which contacts do no work: the energy of a disc or an ellipsoid that rolls must
// neither rise nor fall, and the motion must be that of the closed form or of the equations of rolling
// (rolling_reference.h), to second order in the step.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "effort.h"
#include "physics/harness.h"
#include "physics/passive.h"
#include "physics/rolling_reference.h"
#include "sarrus/math/so3.h"

namespace sarrus::rolling_test {
namespace {

using testing::EnergyRise;
using testing::expect_near;
using testing::expect_within;
using testing::order_of;
using testing::passive_options;
using testing::pose;
using testing::RollingBody;
using testing::run;
using testing::steps_for;
using testing::twist;

constexpr double kGravity = 9.81;
constexpr double kRadius = 0.1;  // m, of the disc
constexpr double kMass = 1;      // kg
constexpr double kFriction = 5;  // never slips

// --- the thin disc -------------------------------------------------------------------------------------

// A disc without thickness that rolls steadily: its normal is tilted from the vertical by `tilt` and precesses at
// `rate`; `spin` is the angular velocity about the normal. With I = m r^2/4 across and m r^2/2 along the normal the
// equation of moments about the centre is
//   3/2 spin rate sin(tilt) - 1/4 rate^2 sin(tilt) cos(tilt) + g/r cos(tilt) = 0
struct SteadyDisc {
  double tilt;  // rad
  double rate;  // rad/s
  double spin;  // rad/s

  static SteadyDisc with_centre_at_rest(double tilt) {
    return {tilt, std::sqrt(4 * kGravity / (kRadius * std::sin(tilt))), 0};
  }
  static SteadyDisc with_rate(double tilt, double rate) {
    const double s = std::sin(tilt), c = std::cos(tilt);
    return {tilt, rate, (0.25 * rate * rate * s * c - kGravity / kRadius * c) / (1.5 * rate * s)};
  }

  Vec3 normal() const { return Vec3(std::sin(tilt), 0, std::cos(tilt)); }
  Vec3 to_contact() const { return Vec3(std::cos(tilt), 0, -std::sin(tilt)); }  // unit, in the disc
  Vec3 angular_velocity() const { return spin * normal() - rate * std::sin(tilt) * to_contact(); }
  Vec3 velocity() const { return -kRadius * angular_velocity().cross(to_contact()); }
  // Where the centre of its circle is when the disc begins at the origin: v = rate z x (p - centre).
  Vec3 centre() const { return Vec3::UnitZ().cross(velocity()) / rate; }
};

// The geom is a cylinder above the disc, so that its lower rim is that of a disc without thickness.
Model disc_model(const SteadyDisc& disc, double friction) {
  ModelBuilder b("disc");
  const int rubber = b.add_material("rubber", friction);
  b.add_floor(0, rubber);
  const double across = 0.25 * kMass * kRadius * kRadius;
  const Mat3 inertia = Vec3(across, across, 2 * across).asDiagonal();
  Quat q;
  q = Eigen::AngleAxisd(disc.tilt, Vec3::UnitY());
  const int body = b.add_body("disc", kMass, inertia, {Vec3(0, 0, kRadius * std::sin(disc.tilt)), q});
  b.add_geom(body, Shape::cylinder(kRadius, 0.005), {Vec3(0, 0, 0.005)}, rubber);
  b.set_velocity(body, disc.velocity(), disc.angular_velocity());
  return b.build();
}

double azimuth(const Simulation& sim) {
  const Vec3 n = pose(sim, 0).q * Vec3::UnitZ();
  return std::atan2(n.y(), n.x());
}

struct DiscRun {
  double rise = 0;        // of the energy, relative to the start
  double loss = 0;        // the same, at the end
  double precession = 0;  // rad/s, mean
  double tilt = 0;        // rad, at the end
  Vec3 position = Vec3::Zero();
  double penetration = 0;
};

DiscRun roll(const SteadyDisc& disc, double dt, double duration) {
  Simulation sim(disc_model(disc, kFriction), passive_options(dt));
  EnergyRise energy(sim);
  DiscRun result;
  double turned = 0, last = azimuth(sim);
  const testing::Worst worst = run(sim, steps_for(duration, dt), [&](const StepReport&) {
    energy.add(sim);
    const double now = azimuth(sim);
    turned += wrap_angle(now - last);
    last = now;
  });
  result.rise = energy.above_start() / energy.start();
  result.loss = energy.loss() / energy.start();
  result.precession = turned / sim.time();
  result.tilt = std::acos((pose(sim, 0).q * Vec3::UnitZ()).z());
  result.position = pose(sim, 0).p;
  result.penetration = worst.penetration;
  return result;
}

constexpr double kDegree = std::numbers::pi / 180;

// The limit of Euler's disk: the centre is at rest, the contact runs round at 30.47 rad/s. A law on the velocity after
// the step gains 2.5 percent of the energy in 2 s at 1 ms and turns 2 percent too slowly.
TEST(EulersDisk, RollsSteadilyOnItsRimWithoutGainOrLoss) {
  SARRUS_FULL_SIZE_ONLY();
  const SteadyDisc disc = SteadyDisc::with_centre_at_rest(25 * kDegree);
  std::array<double, 3> error{};
  const std::array<double, 3> dt = {2e-3, 1e-3, 2e-4};
  for (std::size_t i = 0; i < dt.size(); ++i) {
    const DiscRun r = roll(disc, dt[i], 2);
    const std::string at = fmt::format("_at_{:g}", dt[i]);
    expect_within("rise" + at, r.rise, 1e-6);
    // Of second order in dt: what making velocities tangent takes.
    expect_within("loss" + at, r.loss, 2.5e-5 * std::pow(dt[i] / 1e-3, 2));
    expect_within("penetration" + at, r.penetration, 2e-5);
    error[i] = std::abs(r.precession - disc.rate);
    expect_near("precession" + at, r.precession, disc.rate, 1.5e-3 * std::max(0.1, std::pow(dt[i] / 1e-3, 2)));
    expect_near("tilt" + at, r.tilt, disc.tilt, 0.01 * kDegree);
  }
  expect_near("order", order_of(error[0], error[1]), 2, 0.3);
  RecordProperty("errors", fmt::format("{:.3g} {:.3g} {:.3g}", error[0], error[1], error[2]));
}

// A coin that rolls round a circle, leaning inwards: the closed form has its centre on a circle for ever.
TEST(Coin, RollsInACircle) {
  const SteadyDisc disc = SteadyDisc::with_rate(60 * kDegree, 3);
  const double duration = 2;
  const Vec3 centre = disc.centre();
  const Vec3 expected = centre +
                        Eigen::AngleAxisd(disc.rate * duration, Vec3::UnitZ()) * Vec3(-centre.x(), -centre.y(), 0) +
                        Vec3(0, 0, kRadius * std::sin(disc.tilt));
  const double path = disc.velocity().norm() * duration;
  const std::array<double, 3> dt = {4e-3, 2e-3, 1e-3};
  std::array<double, 3> error{};
  for (std::size_t i = 0; i < dt.size(); ++i) {
    const DiscRun r = roll(disc, dt[i], duration);
    const std::string at = fmt::format("_at_{:g}", dt[i]);
    expect_within("rise" + at, r.rise, 1e-6);
    expect_within("loss" + at, r.loss, 1e-5 * std::pow(dt[i] / 1e-3, 2));
    error[i] = (r.position - expected).norm() / path;
    RecordProperty("position" + at, fmt::format("{:.3g}", error[i]));
  }
  // 12 rad/s of spin: (w dt)^2/12 of a turn is 1.2e-5 at 1 ms, and no scheme of second order is much better.
  expect_within("position_1ms", error[2], 1e-4);
  expect_near("order_4_to_2_ms", order_of(error[0], error[1]), 2, 0.3);
  expect_near("order_2_to_1_ms", order_of(error[1], error[2]), 2, 0.3);
}

// Thrown on with a wobble: tilt, precession and spin all change. The reference is the equation of rolling.
TEST(Coin, WobblesAsTheEquationsOfRollingSay) {
  RollingBody body;
  body.mass = kMass;
  body.inertia_B = kMass * kRadius * kRadius * Vec3(0.25, 0.25, 0.5);
  body.support = [](const Vec3& d) {
    const double across = std::hypot(d.x(), d.y());
    return Vec3(kRadius * d.x() / across, kRadius * d.y() / across, 0);
  };
  SteadyDisc disc = SteadyDisc::with_rate(60 * kDegree, 3);
  disc.spin *= 1.2;
  RollingBody::Motion start;
  start.q = Eigen::AngleAxisd(disc.tilt, Vec3::UnitY());
  start.w = disc.angular_velocity();
  body.place(start);
  const double duration = 1;
  const RollingBody::Motion end = body.after(start, duration, 20000);
  ASSERT_NEAR(body.energy(end) / body.energy(start), 1, 1e-9);
  ASSERT_GT(std::abs(end.q.angularDistance(start.q)), 0.1);
  const double path = 2.5 * duration * disc.velocity().norm();
  const std::array<double, 3> dt = {2e-3, 1e-3, 5e-4};
  std::array<double, 3> error{};
  for (std::size_t i = 0; i < dt.size(); ++i) {
    const DiscRun r = roll(disc, dt[i], duration);
    const std::string at = fmt::format("_at_{:g}", dt[i]);
    expect_within("rise" + at, r.rise, 1e-6);
    expect_within("loss" + at, r.loss, 1e-5 * std::pow(dt[i] / 1e-3, 2));
    error[i] = (r.position - end.p).norm() / path;
    RecordProperty("position" + at, fmt::format("{:.3g}", error[i]));
  }
  expect_within("position_1ms", error[1], 1e-4);
  expect_near("order_2_to_1_ms", order_of(error[0], error[1]), 2, 0.3);
  expect_near("order_1_to_05_ms", order_of(error[1], error[2]), 2, 0.3);
}

// A coin of metal, spun on a table and let fall: it slips, rolls on its rim, rattles and lies down. Friction and
// impacts only ever take energy.
TEST(Coin, SpunOnATableOnlyLosesEnergy) {
  for (const double friction : {0.2, 0.6}) {
    ModelBuilder b("coin");
    const int metal = b.add_material("metal", friction);
    b.add_floor(0, metal);
    const double radius = 0.012, half = 0.001, lean = 80 * kDegree;
    Quat q;
    q = Eigen::AngleAxisd(lean, Vec3::UnitY());
    const double height = radius * std::sin(lean) + half * std::cos(lean);
    const int coin = b.add_solid("coin", 0.007, Shape::cylinder(radius, half), {Vec3(0, 0, height), q}, metal);
    b.set_velocity(coin, Vec3(0.1, 0, 0), Vec3(0, 0, 60));
    Simulation sim(b.build(), passive_options(1e-3));
    EnergyRise energy(sim);
    run(sim, test::samples(10000), [&](const StepReport&) { energy.add(sim); });
    const std::string with = fmt::format("_mu_{:g}", friction);
    expect_within("above_start" + with, energy.above_start() / energy.start(), 1e-6);
    // What lifts the coin out when it has entered the table by 1e-4 of its size.
    expect_within("above_lowest" + with, energy.above_lowest() / energy.start(), 1e-4);
    EXPECT_LT(energy.now(), energy.start()) << friction;
    RecordProperty("left" + with, fmt::format("{:.4g}", energy.now() / energy.start()));
  }
}

// --- ellipsoids ----------------------------------------------------------------------------------------

RollingBody ellipsoid_reference(const Vec3& axes) {
  RollingBody body;
  body.mass = kMass;
  body.inertia_B = kMass / 5 *
                   Vec3(axes.y() * axes.y() + axes.z() * axes.z(), axes.x() * axes.x() + axes.z() * axes.z(),
                        axes.x() * axes.x() + axes.y() * axes.y());
  body.support = [axes](const Vec3& d) {
    const Vec3 scaled = axes.cwiseProduct(d);
    return Vec3(axes.cwiseProduct(scaled) / scaled.norm());
  };
  return body;
}

void roll_an_ellipsoid(const Vec3& axes, RollingBody::Motion start, double duration, double tolerance) {
  const RollingBody body = ellipsoid_reference(axes);
  body.place(start);
  const RollingBody::Motion end = body.after(start, duration, 4000);
  ASSERT_NEAR(body.energy(end) / body.energy(start), 1, 1e-9);
  const std::array<double, 3> dt = {1e-3, 5e-4, 2.5e-4};
  std::array<double, 3> error{};
  for (std::size_t i = 0; i < dt.size(); ++i) {
    ModelBuilder b("ellipsoid");
    const int rubber = b.add_material("rubber", kFriction);
    b.add_floor(0, rubber);
    const int egg = b.add_solid("egg", kMass, Shape::ellipsoid(axes), {start.p, start.q}, rubber);
    b.set_velocity(egg, body.velocity(start), start.w);
    Simulation sim(b.build(), passive_options(dt[i]));
    ASSERT_NEAR(testing::total_energy(sim), body.energy(start), 1e-9 * body.energy(start));
    EnergyRise energy(sim);
    run(sim, steps_for(duration, dt[i]), [&](const StepReport&) { energy.add(sim); });
    const std::string at = fmt::format("_at_{:g}", dt[i]);
    expect_within("rise" + at, energy.above_start() / energy.start(), 1e-6);
    expect_within("loss" + at, energy.loss() / energy.start(), 1e-4 * std::pow(dt[i] / 1e-3, 2));
    error[i] = (pose(sim, egg).p - end.p).norm() / axes.maxCoeff() + pose(sim, egg).q.angularDistance(end.q);
    ::testing::Test::RecordProperty("error" + at, fmt::format("{:.3g}", error[i]));
  }
  expect_within("error_1ms", error[0], tolerance);
  expect_near("order_1_to_05_ms", order_of(error[0], error[1]), 2, 0.4);
  expect_near("order_05_to_025_ms", order_of(error[1], error[2]), 2, 0.4);
}

// About one axis: rocks like a pendulum.
TEST(Ellipsoid, RocksAsTheEquationsOfRollingSay) {
  SARRUS_FULL_SIZE_ONLY();
  RollingBody::Motion start;
  start.q = so3_exp(Vec3(0, 0.6, 0));
  roll_an_ellipsoid(Vec3(0.12, 0.06, 0.05), start, 2, 2e-4);
}

// About all axes.
TEST(Ellipsoid, RollsAsTheEquationsOfRollingSay) {
  SARRUS_FULL_SIZE_ONLY();
  RollingBody::Motion start;
  start.q = so3_exp(Vec3(0.3, 0.5, 0));
  start.w = Vec3(3, 2, 1.5);
  roll_an_ellipsoid(Vec3(0.1, 0.08, 0.06), start, 1, 2e-4);
}

}  // namespace
}  // namespace sarrus::rolling_test
