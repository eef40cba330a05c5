// Single rigid bodies: conservation laws, Euler's equations, free fall and the heavy top.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "physics/harness.h"
#include "sarrus/math/so3.h"

namespace sarrus::rigid_body_test {
namespace {

using testing::energy_of;
using testing::expect_near;
using testing::expect_within;
using testing::options_with;
using testing::order_of;
using testing::pose;
using testing::run;
using testing::simulate;
using testing::twist;

Vec3 spin_B(const Simulation& sim, int body = 0) { return pose(sim, body).q.conjugate() * twist(sim, body).tail<3>(); }

struct Drift {
  double energy = 0;     // relative
  double magnitude = 0;  // of angular momentum, relative
  double direction = 0;  // of angular momentum, rad
};

// Largest drifts of a free body over `duration`.
Drift drift_of_free_body(Integrator integrator, double dt, double duration) {
  Simulation sim = simulate("free_body", options_with(dt, integrator));
  const double E = energy_of(sim).total();
  const Vec3 p0 = pose(sim, 0).p;
  const auto spin_momentum = [&]() -> Vec3 {
    const Momentum m = momentum(sim.model(), sim.state());
    return m.angular - pose(sim, 0).p.cross(m.linear);
  };
  const Vec3 L = spin_momentum();
  Drift d;
  run(sim, static_cast<int>(std::lround(duration / dt)), [&](const StepReport&) {
    const Vec3 now = spin_momentum();
    d.energy = std::max(d.energy, std::abs(energy_of(sim).total() - E) / E);
    d.magnitude = std::max(d.magnitude, std::abs(now.norm() - L.norm()) / L.norm());
    d.direction = std::max(d.direction, std::atan2(now.cross(L).norm(), now.dot(L)));
  });
  EXPECT_LE((pose(sim, 0).p - p0).norm(), 1e-14);
  return d;
}

// The midpoint rule keeps the energy and the length of L exactly; the direction of L to second order.
TEST(FreeBody, MoreauConservesEnergyAndAngularMomentum) {
  const Drift d = drift_of_free_body(Integrator::moreau, 1e-3, 20);
  expect_within("energy", d.energy, 1e-10);
  expect_within("momentum_magnitude", d.magnitude, 1e-10);
  expect_within("momentum_direction_rad", d.direction, 1e-4);
  const Drift half = drift_of_free_body(Integrator::moreau, 5e-4, 20);
  expect_near("order_of_direction", order_of(d.direction, half.direction), 2, 0.3);
}

TEST(FreeBody, SemiImplicitDriftsToFirstOrder) {
  const Drift d = drift_of_free_body(Integrator::semi_implicit, 1e-3, 10);
  const Drift half = drift_of_free_body(Integrator::semi_implicit, 5e-4, 10);
  expect_within("energy", d.energy, 0.05);
  expect_within("momentum_magnitude", d.magnitude, 0.05);
  expect_within("momentum_direction_rad", d.direction, 0.05);
  expect_near("order_of_energy", order_of(d.energy, half.energy), 1, 0.25);
}

// Times at which the spin about the middle axis (body y) changes sign.
std::vector<double> flips_by_euler_equations(const Vec3& inertia, Vec3 w, double duration) {
  const auto rate = [&](const Vec3& x) -> Vec3 {
    return Vec3((inertia.y() - inertia.z()) * x.y() * x.z() / inertia.x(),
                (inertia.z() - inertia.x()) * x.z() * x.x() / inertia.y(),
                (inertia.x() - inertia.y()) * x.x() * x.y() / inertia.z());
  };
  const double h = 1e-4;
  std::vector<double> flips;
  for (int i = 0; i * h < duration; ++i) {
    const Vec3 a = rate(w);
    const Vec3 b = rate(w + 0.5 * h * a);
    const Vec3 c = rate(w + 0.5 * h * b);
    const Vec3 d = rate(w + h * c);
    const Vec3 next = w + h / 6 * (a + 2 * b + 2 * c + d);
    if (w.y() * next.y() < 0) flips.push_back(h * (i + w.y() / (w.y() - next.y())));
    w = next;
  }
  return flips;
}

std::vector<double> flips_by_simulation(Integrator integrator, double dt, double duration) {
  Simulation sim = simulate("free_body", options_with(dt, integrator));
  std::vector<double> flips;
  double before = spin_B(sim).y();
  int n = 0;
  run(sim, static_cast<int>(std::lround(duration / dt)), [&](const StepReport&) {
    const double now = spin_B(sim).y();
    if (before * now < 0) flips.push_back(dt * (n + before / (before - now)));
    before = now;
    ++n;
  });
  return flips;
}

TEST(FreeBody, TheMiddleAxisFlipsWhenEulersEquationsSaySo) {
  const Model model = make_scene("free_body");
  const Vec3 inertia = model.bodies()[0].inertia_B.diagonal();
  EXPECT_TRUE(inertia.x() < inertia.y() && inertia.y() < inertia.z());
  const std::vector<double> expected = flips_by_euler_equations(inertia, model.bodies()[0].w0_W, 20);
  ASSERT_GE(expected.size(), 3u);
  const std::vector<double> moreau = flips_by_simulation(Integrator::moreau, 1e-3, 20);
  const std::vector<double> semi = flips_by_simulation(Integrator::semi_implicit, 1e-3, 5);
  ASSERT_EQ(moreau.size(), expected.size());
  ASSERT_GE(semi.size(), 1u);
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::abs(moreau[i] - expected[i]));
  RecordProperty("flips", static_cast<int>(expected.size()));
  expect_within("moreau_flip_time_s", worst, 1e-4 * static_cast<double>(expected.size()));
  const double period = expected[1] - expected[0];
  expect_near("moreau_period_s", moreau[1] - moreau[0], period, 1e-4 * period);
  expect_near("semi_implicit_first_flip_s", semi[0], expected[0], 0.01 * expected[0]);
}

// Semi-implicit: z = z0 + n dt v0 - g dt^2 n (n + 1)/2, v = v0 - n dt g. Moreau: the parabola itself.
TEST(FreeFall, IsTheClosedFormOfTheScheme) {
  const double dt = 1e-3;
  const double v0 = 3;
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    ModelBuilder b("fall");
    const int body = b.add_sphere_body("ball", 2.0, 0.1, {Vec3(0, 0, 10)});
    b.set_velocity(body, Vec3(0.5, 0, v0), Vec3(0, 2, 0));
    Simulation sim(b.build(), options_with(dt, integrator));
    int n = 0;
    double error = 0;
    run(sim, 1000, [&](const StepReport&) {
      ++n;
      const double extra = integrator == Integrator::moreau ? 0.0 : n;
      const double z = 10 + n * dt * v0 - 0.5 * 9.81 * dt * dt * (static_cast<double>(n) * n + extra);
      error = std::max(error, (pose(sim, 0).p - Vec3(0.5 * n * dt, 0, z)).norm());
      error = std::max(error, std::abs(twist(sim, 0)[2] - (v0 - n * dt * 9.81)));
    });
    expect_within(std::string(name_of(integrator)) + "_m", error, 1e-11);
    // A sphere spins on uniformly: 2 rad/s for 1 s about y.
    expect_within(std::string(name_of(integrator)) + "_spin_rad",
                  (so3_log(pose(sim, 0).q) - Vec3(0, 2 * n * dt, 0)).norm(), 1e-11);
  }
}

struct Precession {
  double rate = 0;   // rad/s, from the azimuth of the axis over the run
  double nod = 0;    // rad, largest change of the lean
  double drift = 0;  // relative, of the energy
};

Precession precession(Integrator integrator, double dt, double duration) {
  Simulation sim = simulate("spinning_top", options_with(dt, integrator));
  const double E = energy_of(sim).total();
  const double scale = energy_of(sim).kinetic;
  double azimuth = 0;
  Precession out;
  run(sim, static_cast<int>(std::lround(duration / dt)), [&](const StepReport&) {
    const Vec3 axis = pose(sim, 0).q * Vec3::UnitZ();
    azimuth += wrap_angle(std::atan2(axis.y(), axis.x()) - azimuth);
    const double lean = std::atan2(axis.head<2>().norm(), axis.z());
    out.nod = std::max(out.nod, std::abs(lean - std::numbers::pi / 6));
    out.drift = std::max(out.drift, std::abs(energy_of(sim).total() - E) / scale);
  });
  out.rate = azimuth / sim.time();
  return out;
}

// Slow root W of I1 cos(lean) W^2 - I3 w3 W + m g l = 0, I1 about the tip.
TEST(SpinningTop, PrecessesAtTheClosedFormRate) {
  const double m = 0.5, r = 0.06, h = 0.02, l = 0.06, g = 9.81, w3 = 100;
  const double I3 = 0.5 * m * r * r;
  const double I1 = m * (3 * r * r + h * h) / 12 + m * l * l;
  const double a = I1 * std::cos(std::numbers::pi / 6);
  const double W = (I3 * w3 - std::sqrt(I3 * I3 * w3 * w3 - 4 * a * m * g * l)) / (2 * a);
  const Precession moreau = precession(Integrator::moreau, 2e-4, 5);
  expect_near("moreau_rate", moreau.rate, W, 1e-3 * W);
  expect_within("moreau_nod_rad", moreau.nod, 1e-3);
  expect_within("moreau_energy", moreau.drift, 1e-4);
  const Precession semi = precession(Integrator::semi_implicit, 2e-4, 1);
  expect_near("semi_implicit_rate", semi.rate, W, 0.01 * W);
  expect_within("semi_implicit_nod_rad", semi.nod, 0.02);
}

// A long thin rod (inertia 1 : 100 : 100) spinning at |w| dt = 0.3, mostly across its axis. The implicit term loses
// energy but stays bounded; the explicit one gains without bound.
TEST(Gyroscopic, TheImplicitTermIsStableWhereTheExplicitOneIsNot) {
  const auto largest_spin = [](Gyroscopic gyroscopic) {
    ModelBuilder b("rod");
    b.set_gravity(Vec3::Zero());
    const int rod = b.add_body("rod", 1.0, Vec3(0.01, 1, 1).asDiagonal(), {});
    b.set_velocity(rod, Vec3::Zero(), Vec3(20, 20, 10));
    SimulationOptions o = options_with(1e-2, Integrator::semi_implicit);
    o.gyroscopic = gyroscopic;
    Simulation sim(b.build(), o);
    double largest = 0;
    bool failed = false;
    for (int i = 0; i < 500 && !failed; ++i) {
      failed = sim.step().status == StepStatus::failed;
      largest = std::max(largest, spin_B(sim).norm());
    }
    return failed ? std::numeric_limits<double>::infinity() : largest;
  };
  expect_within("implicit_spin", largest_spin(Gyroscopic::implicit_term), 30.0 * (1 + 1e-9));
  const double explicit_spin = largest_spin(Gyroscopic::explicit_term);
  RecordProperty("explicit_spin", fmt::format("{:.4g}", explicit_spin));
  EXPECT_GT(explicit_spin, 300);
}

}  // namespace
}  // namespace sarrus::rigid_body_test
