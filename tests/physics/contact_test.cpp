// Contact laws against closed forms: Coulomb friction, Signorini without lift, Newton restitution.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus::contact_test {
namespace {

using testing::expect_near;
using testing::expect_within;
using testing::options_with;
using testing::pose;
using testing::run;
using testing::simulate;
using testing::twist;
using testing::Worst;

constexpr double kGravity = 9.81;
constexpr std::array<Integrator, 2> kIntegrators = {Integrator::semi_implicit, Integrator::moreau};

Vec3 downhill() { return so3_exp(Vec3(0, 15 * std::numbers::pi / 180, 0)) * Vec3::UnitX(); }

TEST(Incline, TravelsAsCoulombSays) {
  const std::array<double, 4> mu = {0, 0.125, 0.25, 0.375};
  const std::array<double, 4> expected = {1.2695, 0.6773, 0.0850, 0};
  for (const Integrator integrator : kIntegrators) {
    Simulation sim = simulate("incline", options_with(1e-3, integrator));
    const State start = sim.state();
    const Worst worst = run(sim, 1000);
    for (std::size_t i = 0; i < 4; ++i) {
      const Vec3 moved = sim.state().X_WB[i].p - start.X_WB[i].p;
      const std::string tag = fmt::format("{}_mu_{}_m", name_of(integrator), mu[i]);
      expect_near(tag, moved.dot(downhill()), expected[i], i == 3 ? 1e-6 : 0.01 * expected[i]);
      EXPECT_LE(std::abs(moved.y()), 1e-6) << tag;
    }
    EXPECT_EQ(worst.not_converged, 0);
  }
}

TEST(Incline, StickIsStick) {
  SARRUS_FULL_SIZE_ONLY();
  for (const Integrator integrator : kIntegrators) {
    Simulation sim = simulate("incline", options_with(1e-3, integrator));
    run(sim, 100);  // the boxes begin a little inside the slope
    const Vec3 start = pose(sim, 3).p;
    run(sim, 10000);
    expect_within(fmt::format("{}_drift_m", name_of(integrator)), (pose(sim, 3).p - start).norm(), 1e-6);
  }
}

// Largest and final height of the lowest contact point while a box slides on a floor, relative to the slop.
struct Lift {
  double highest = 0;
  double steady_ratio = 0;  // (gap + slop) / (dt mu v) at the end
};
Lift lift_of_sliding_box(const std::string& solver) {
  const double mu = 0.5;
  ModelBuilder b("slide");
  const int rubber = b.add_material("rubber", mu);
  b.add_floor(0, rubber);
  const int box = b.add_box_body("box", 1.0, Vec3(0.2, 0.2, 0.02), {Vec3(0, 0, 0.02 - 1e-5)}, rubber);
  b.set_velocity(box, Vec3(4, 0, 0), Vec3::Zero());
  SimulationOptions o = options_with(1e-3, Integrator::semi_implicit);
  o.solver = solver;
  o.rows.contact_slop = 1e-5;
  Simulation sim(b.build(), o);
  Lift lift;
  run(sim, 400, [&](const StepReport&) {
    const double height = pose(sim, box).p.z() - 0.02;
    lift.highest = std::max(lift.highest, height);
    lift.steady_ratio = (height + sim.options().rows.contact_slop) / (sim.dt() * mu * twist(sim, box)[0]);
  });
  return lift;
}

TEST(SlidingBox, DoesNotLiftWithAnNcpSolverAndLiftsWithTheRelaxation) {
  const Lift ncp = lift_of_sliding_box("admm-ncp-sa");
  expect_within("ncp_highest_m", std::max(0.0, ncp.highest), 1e-5);
  const Lift ccp = lift_of_sliding_box("admm-ccp");
  expect_near("ccp_lift_over_dt_mu_v", ccp.steady_ratio, 1, 0.05);
  EXPECT_GT(ccp.highest, 1e-4);
}

// Heights of the first bounces of a ball dropped from 1 m; z is the height of its lowest point.
std::array<double, 2> bounce_heights(double restitution, Integrator integrator, double dt) {
  ModelBuilder b("bounce");
  const int elastic = b.add_material("elastic", 0.5, restitution);
  b.add_floor(0, elastic);
  const int ball = b.add_sphere_body("ball", 1.0, 0.1, {Vec3(0, 0, 1.1)}, elastic);
  Simulation sim(b.build(), options_with(dt, integrator));
  std::array<double, 2> heights{};
  int bounce = -1;
  double before = 0;
  run(sim, static_cast<int>(std::lround(2.2 / dt)), [&](const StepReport&) {
    const double v = twist(sim, ball)[2];
    if (before < -0.1 && v > before + 0.1) ++bounce;
    before = v;
    if (bounce < 0 || bounce > 1) return;
    double& height = heights[static_cast<std::size_t>(bounce)];
    height = std::max(height, pose(sim, ball).p.z() - 0.1);
  });
  return heights;
}

// h_k = h e^2k. A bounce happens up to one step early: the ball turns up to v dt above the floor with a speed up to
// g dt too small, together (1 + e^2) v dt in height per bounce, v = sqrt(2 g h).
TEST(Restitution, BouncesToTheClosedFormHeights) {
  const double dt = 1e-3;
  const double v = std::sqrt(2 * kGravity);
  for (const Integrator integrator : kIntegrators) {
    for (const double e : {0.0, 0.5, 0.9}) {
      const std::array<double, 2> h = bounce_heights(e, integrator, dt);
      const std::string tag = fmt::format("{}_e_{}", name_of(integrator), e);
      if (e == 0) {
        expect_within(tag, std::max(h[0], h[1]), 2 * v * dt);
        continue;
      }
      const double tolerance = (1 + e * e) * v * dt;
      expect_near(tag + "_first_m", h[0], e * e, tolerance);
      expect_near(tag + "_second_m", h[1], std::pow(e, 4), 2 * tolerance);
    }
  }
}

// A ball dropped without restitution stays where it lands.
TEST(Restitution, AnInelasticBallDoesNotLeaveTheFloor) {
  for (const Integrator integrator : kIntegrators) {
    ModelBuilder b("thud");
    b.add_floor();
    b.add_sphere_body("ball", 1.0, 0.1, {Vec3(0, 0, 0.6)});
    Simulation sim(b.build(), options_with(1e-3, integrator));
    run(sim, 400);
    double highest = -kInf;
    const Worst worst =
        run(sim, 600, [&](const StepReport&) { highest = std::max(highest, pose(sim, 0).p.z() - 0.1); });
    expect_within(fmt::format("{}_height_m", name_of(integrator)), highest, 1.1e-5);
    expect_within(fmt::format("{}_penetration_m", name_of(integrator)), worst.penetration, 1.1e-5);
  }
}

struct Rolling {
  double time = -1;   // s, when the contact point stops sliding
  double speed = 0;   // m/s, then
  double change = 0;  // m/s, of the speed in the next 0.3 s
};

Rolling roll(double v0, double spin, double mu, Integrator integrator, double dt) {
  const double r = 0.1;
  ModelBuilder b("roll");
  const int felt = b.add_material("felt", mu);
  b.add_floor(0, felt);
  const int ball = b.add_sphere_body("ball", 1.0, r, {Vec3(0, 0, r - 1e-5)}, felt);
  b.set_velocity(ball, Vec3(v0, 0, 0), Vec3(0, spin, 0));
  Simulation sim(b.build(), options_with(dt, integrator));
  Rolling out;
  int n = 0;
  run(sim, static_cast<int>(std::lround(1.0 / dt)), [&](const StepReport&) {
    ++n;
    const double v = twist(sim, ball)[0];
    const double slip = v - r * twist(sim, ball)[4];
    if (out.time < 0 && std::abs(slip) < 1e-3) {
      out.time = n * dt;
      out.speed = v;
    }
    if (out.time >= 0 && n * dt < out.time + 0.3) out.change = std::max(out.change, std::abs(v - out.speed));
  });
  return out;
}

// Slip s0 = v0 - r w0 decays at 7/2 mu g: rolls from t = 2 |s0| / (7 mu g) on with v = 5/7 v0 + 2/7 r w0.
TEST(RollingSphere, GoesFromSlipToRollingInTheClosedFormTime) {
  struct Case {
    const char* name;
    double v0, rw0;
  };
  const double mu = 0.3;
  const double dt = 1e-3;
  for (const Integrator integrator : kIntegrators) {
    for (const Case& c : {Case{"sliding", 2, 0}, Case{"backspin", 1, -2}, Case{"returning", 0.5, -3}}) {
      const Rolling out = roll(c.v0, c.rw0 / 0.1, mu, integrator, dt);
      const std::string tag = fmt::format("{}_{}", name_of(integrator), c.name);
      const double time = 2 * std::abs(c.v0 - c.rw0) / (7 * mu * kGravity);
      expect_near(tag + "_time_s", out.time, time, 2 * dt);
      expect_near(tag + "_speed", out.speed, 5.0 / 7 * c.v0 + 2.0 / 7 * c.rw0, 1e-3);
      expect_within(tag + "_change_of_speed", out.change, 1e-3);
    }
  }
}

// Two balls, 1 kg and 3 kg, meet off centre with friction and restitution 0.8 and no gravity.
TEST(TwoBalls, CollideWithTheirMomentumConserved) {
  for (const Integrator integrator : kIntegrators) {
    ModelBuilder b("billiards");
    b.set_gravity(Vec3::Zero());
    const int ivory = b.add_material("ivory", 0.2, 0.8);
    const int a = b.add_sphere_body("a", 1.0, 0.1, {Vec3(-1, 0.05, 0)}, ivory);
    const int c = b.add_sphere_body("b", 3.0, 0.1, {Vec3(0, 0, 0)}, ivory);
    b.set_velocity(a, Vec3(3, 0, 0.2), Vec3(0, 0, 5));
    Simulation sim(b.build(), options_with(1e-3, integrator));
    const Momentum before = momentum(sim.model(), sim.state());
    const double kinetic = testing::energy_of(sim).kinetic;
    double linear = 0;
    double angular = 0;
    bool touched = false;
    Vec3 normal = Vec3::Zero();
    double approach = 0;
    double separation = 0;
    run(sim, 600, [&](const StepReport&) {
      const Momentum now = momentum(sim.model(), sim.state());
      linear = std::max(linear, (now.linear - before.linear).norm());
      angular = std::max(angular, (now.angular - before.angular).norm());
      const Vec3 relative = (twist(sim, c) - twist(sim, a)).head<3>();
      const bool hit = !sim.contacts().empty() && sim.contact_impulse(0).z() > 0;
      if (!touched && !hit) approach = -relative.dot((pose(sim, c).p - pose(sim, a).p).normalized());
      if (!touched && hit) {
        touched = true;
        normal = sim.contacts()[0].n_W;
        separation = relative.dot(normal);
      }
    });
    const std::string tag(name_of(integrator));
    EXPECT_TRUE(touched);
    expect_within(tag + "_linear", linear, 1e-12);
    expect_within(tag + "_angular", angular, 1e-12);
    expect_near(tag + "_restitution", separation / approach, 0.8, 0.01);
    EXPECT_LT(testing::energy_of(sim).kinetic, kinetic);
  }
}

TEST(TwoBalls, OfEqualMassExchangeTheirVelocities) {
  ModelBuilder b("newton");
  b.set_gravity(Vec3::Zero());
  const int steel = b.add_material("steel", 0.0, 1.0);
  b.add_sphere_body("a", 2.0, 0.1, {Vec3(-0.5, 0, 0)}, steel);
  b.add_sphere_body("b", 2.0, 0.1, {Vec3(0, 0, 0)}, steel);
  b.set_velocity(0, Vec3(1.5, 0, 0), Vec3::Zero());
  Simulation sim(b.build(), options_with(1e-3));
  run(sim, 400);
  expect_within("left_behind", twist(sim, 0).norm(), 1e-7);
  expect_near("carried_on", twist(sim, 1)[0], 1.5, 1e-7);
}

TEST(FrictionCone, IsRespectedInEveryStep) {
  struct Case {
    const char* scene;
    int steps;
  };
  for (const Case& c : {Case{"nunchuk", 1000}, Case{"fourbar_free", 1000}, Case{"incline", 500}, Case{"clutter40", 300},
                        Case{"box_wall", 200}}) {
    for (const Integrator integrator : kIntegrators) {
      SimulationOptions o;
      o.integrator = integrator;
      Simulation sim = simulate(c.scene, o);
      double outside = 0;
      int checked = 0;
      const int steps = test::samples(c.steps);
      run(sim, steps, [&](const StepReport&) {
        for (int i = 0; i < static_cast<int>(sim.contacts().size()); ++i) {
          const Vec3 l = sim.contact_impulse(i);
          const double mu = sim.contacts()[static_cast<std::size_t>(i)].mu;
          const double excess = std::max(l.head<2>().norm() - mu * l.z(), -l.z());
          outside = std::max(outside, excess / std::max(1.0, l.norm()));
          ++checked;
        }
      });
      EXPECT_TRUE(checked > 0 || steps < c.steps);
      expect_within(fmt::format("{}_{}", c.scene, name_of(integrator)), outside, 1e-12);
    }
  }
}

}  // namespace
}  // namespace sarrus::contact_test
