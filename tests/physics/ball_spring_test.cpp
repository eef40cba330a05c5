// The spring and damper of a spherical joint: torque -k theta - d w_rel, theta the rotation vector from rest.
//
// A body of isotropic inertia I on its centre turns about the fixed axis theta: I theta'' = -k theta - d theta', a
// harmonic oscillator for every |theta| < pi. Any other motion about a fixed point is compared with the Euler
// equations, solved here.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "physics/passive.h"
#include "sarrus/math/so3.h"

namespace sarrus::ball_spring_test {
namespace {

using testing::EnergyRise;
using testing::expect_near;
using testing::expect_within;
using testing::options_with;
using testing::order_of;
using testing::passive_options;
using testing::run;
using testing::steps_for;

constexpr double kInertia = 0.05;               // kg m^2
constexpr double kStiffness = 2;                // N m/rad
constexpr double kPeriod = 0.9934588265796101;  // s, 2 pi sqrt(I/k)

const Vec3 kAxis = Vec3(2, -1, 2) / 3;

// At rest, turned by `angle` about kAxis out of the rest of its spring; the joint frames are turned, too.
Model isotropic(double angle, double stiffness, double damping) {
  ModelBuilder b("ball");
  const Quat axes = so3_exp(Vec3(0.3, 1.1, -0.4));
  const int ball = b.add_body("ball", 2, kInertia * Mat3::Identity(), {Vec3(0.1, 0.2, 0.3), so3_exp(Vec3(1, 2, 0))});
  const int joint = b.add_joint_at("ball", JointType::spherical, kWorld, ball, Vec3(0.1, 0.2, 0.3), axes);
  // Joint frames coincide at the start, so theta = log(q_rest^-1), in joint axes.
  b.set_ball_spring(joint, stiffness, damping, so3_exp(-angle * (axes.conjugate() * kAxis)));
  return b.build();
}

// In world axes, from the poses alone.
Vec3 theta_W(const Simulation& sim, int joint = 0) {
  const Joint& j = sim.model().joints()[static_cast<std::size_t>(joint)];
  const auto axes = [&](int body, const Quat& q) {
    return body == kWorld ? q : Quat(sim.state().X_WB[static_cast<std::size_t>(body)].q * q);
  };
  const Quat base = axes(j.base, j.q_BJ);
  return so3_log(axes(j.follower, j.q_FJ) * (base * j.q_rest).conjugate());
}

double error_after(Integrator integrator, double angle, double dt, double time) {
  Simulation sim(isotropic(angle, kStiffness, 0), options_with(dt, integrator));
  run(sim, steps_for(time, dt));
  return (theta_W(sim) - angle * std::cos(2 * std::numbers::pi * time / kPeriod) * kAxis).norm();
}

TEST(BallSpring, HasThePeriodOfItsInertiaAtAnyAngle) {
  for (const double angle : {1e-3, 1.0, 3.0}) {
    Simulation sim(isotropic(angle, kStiffness, 0), passive_options(1e-3));
    // Upward zeros of theta along the axis, by interpolation.
    std::vector<double> zeros;
    double before = angle, off_axis = 0;
    run(sim, steps_for(10.5 * kPeriod, 1e-3), [&](const StepReport&) {
      const double now = theta_W(sim).dot(kAxis);
      off_axis = std::max(off_axis, (theta_W(sim) - now * kAxis).norm());
      if (before < 0 && now >= 0) zeros.push_back(sim.state().time - 1e-3 * now / (now - before));
      before = now;
    });
    const std::string tag = fmt::format("{:g}_rad", angle);
    ASSERT_EQ(zeros.size(), 10u);
    expect_near("period_s_" + tag, (zeros.back() - zeros.front()) / 9, kPeriod, 4e-5 * kPeriod);
    expect_within("off_axis_rad_" + tag, off_axis, 1e-9 * angle);
  }
}

TEST(BallSpring, IsOfTheOrderOfTheScheme) {
  for (const double angle : {0.5, 2.8}) {
    const auto order = [&](Integrator integrator) {
      return order_of(error_after(integrator, angle, 1e-3, 0.8), error_after(integrator, angle, 5e-4, 0.8));
    };
    const std::string tag = fmt::format("_{:g}_rad", angle);
    expect_near("moreau" + tag, order(Integrator::moreau), 2, 0.1);
    expect_near("midpoint" + tag, order(Integrator::midpoint), 2, 0.1);
    for (const Integrator first : {Integrator::semi_implicit, Integrator::implicit_euler, Integrator::explicit_euler,
                                   Integrator::symplectic_euler}) {
      expect_near(std::string(name_of(first)) + tag, order(first), 1, 0.15);
    }
  }
}

TEST(BallSpring, KeepsItsEnergyOverManyPeriods) {
  const int periods = test::samples(500);
  Simulation sim(isotropic(2.5, kStiffness, 0), passive_options(2e-3));
  testing::EnergyDrift drift(sim);
  run(sim, steps_for(periods * kPeriod, 2e-3), [&](const StepReport&) { drift.add(sim); });
  expect_within("drift", drift.worst(), 5e-4);
  expect_within("drift_at_end", drift.at_end(), 5e-4);
}

TEST(BallSpring, DecaysByItsDampingRatio) {
  for (const double ratio : {0.02, 0.3, 1.5}) {
    const double w = std::sqrt(kStiffness / kInertia), angle = 2;
    Simulation sim(isotropic(angle, kStiffness, 2 * ratio * std::sqrt(kStiffness * kInertia)), passive_options(1e-3));
    double error = 0;
    const double energy_before = testing::total_energy(sim);
    run(sim, 2000, [&](const StepReport& r) {
      const double t = sim.state().time;
      double expected = 0;
      if (ratio < 1) {
        const double wd = w * std::sqrt(1 - ratio * ratio);
        expected = std::exp(-ratio * w * t) * (std::cos(wd * t) + ratio * w / wd * std::sin(wd * t));
      } else {
        const double root = std::sqrt(ratio * ratio - 1), slow = w * (root - ratio), fast = -w * (root + ratio);
        expected = (slow * std::exp(fast * t) - fast * std::exp(slow * t)) / (slow - fast);
      }
      error = std::max(error, (theta_W(sim) - angle * expected * kAxis).norm());
      EXPECT_LE(r.energy.damping, 1e-12);
    });
    const std::string tag = fmt::format("_{:g}", ratio);
    expect_within("error_rad" + tag, error, 2e-4);
    const double lost = energy_before - testing::total_energy(sim);
    expect_near("booked_as_damping" + tag, -sim.energy_flow().damping, lost, 1e-4 * lost);
  }
}

// --- motion about a fixed point with any inertia -------------------------------------------------------------

struct Top {
  double mass = 1.5;
  Vec3 arm = {0.05, -0.02, 0.12};  // from the joint to the centre of mass, body axes
  Mat3 inertia = Vec3(0.01, 0.014, 0.02).asDiagonal();
  Quat q_rest = so3_exp(Vec3(0.5, -0.8, 0.2));
  double stiffness = 1.2;
  double damping = 0;
  Vec3 w0 = {3, -2, 4};

  // The joint at the origin, its axes those of the world and of the body.
  Model model() const {
    ModelBuilder b("top");
    const int body = b.add_body("top", mass, inertia, {arm});
    b.set_velocity(body, w0.cross(arm), w0);
    b.set_ball_spring(b.add_joint_at("foot", JointType::spherical, kWorld, body, Vec3::Zero()), stiffness, damping,
                      q_rest);
    return b.build();
  }
};

struct Turn {
  Quat q;    // body in the world
  Vec3 w_B;  // rad/s
};

// By Euler's equations about the fixed point and the classical method of fourth order.
Turn reference(const Top& top, double time, double dt) {
  const Mat3 I = top.inertia + top.mass * (top.arm.squaredNorm() * Mat3::Identity() - top.arm * top.arm.transpose());
  const Mat3 inverse = I.inverse();
  struct Rate {
    Eigen::Vector4d q;
    Vec3 w;
  };
  const auto rate = [&](const Turn& s) {
    const Vec3 theta = so3_log(s.q * top.q_rest.conjugate());
    const Vec3 torque_W =
        (s.q * top.arm).cross(Vec3(0, 0, -9.81 * top.mass)) - top.stiffness * theta - top.damping * (s.q * s.w_B);
    const Quat spin = s.q * Quat(0, s.w_B.x(), s.w_B.y(), s.w_B.z());
    return Rate{0.5 * spin.coeffs(), inverse * (s.q.conjugate() * torque_W - s.w_B.cross(I * s.w_B))};
  };
  const auto moved = [](const Turn& s, const Rate& r, double h) {
    Turn out = s;
    out.q.coeffs() += h * r.q;
    out.w_B += h * r.w;
    return out;
  };
  Turn s{Quat::Identity(), top.w0};
  for (int i = 0; i < steps_for(time, dt); ++i) {
    const Rate a = rate(s), b = rate(moved(s, a, dt / 2)), c = rate(moved(s, b, dt / 2)), d = rate(moved(s, c, dt));
    s.q.coeffs() += dt / 6 * (a.q + 2 * b.q + 2 * c.q + d.q);
    s.w_B += dt / 6 * (a.w + 2 * b.w + 2 * c.w + d.w);
    s.q.normalize();
  }
  return s;
}

TEST(BallSpring, FollowsEulersEquationsInSecondOrder) {
  for (const double damping : {0.0, 0.02}) {
    Top top;
    top.damping = damping;
    const double time = 1;
    const Turn exact = reference(top, time, 1e-4);
    const auto error = [&](double dt) {
      Simulation sim(top.model(), passive_options(dt));
      run(sim, steps_for(time, dt));
      return so3_log(sim.state().X_WB[0].q * exact.q.conjugate()).norm();
    };
    const std::string tag = damping > 0 ? "_damped" : "";
    const double coarse = error(2e-3), fine = error(1e-3);
    expect_within("error_rad" + tag, fine, 2e-3);
    expect_near("order" + tag, order_of(coarse, fine), 2, 0.2);
  }
}

TEST(BallSpring, KeepsTheEnergyOfATop) {
  Simulation sim(Top().model(), passive_options(1e-3));
  testing::EnergyDrift drift(sim);
  run(sim, test::samples(20000), [&](const StepReport&) { drift.add(sim); });
  expect_within("drift", drift.worst(), 1e-3);
  expect_within("taken_back", sim.energy_flow().taken_back / testing::energy_parts(sim).kinetic(), 1e-3);
}

// --- passivity -------------------------------------------------------------------------------------------------

// Two bodies of any inertia that a ball with a spring connects, free and turning, or the first one hung on another. The
// springs are stretched by up to `stretch` about each axis.
Model random_pair(std::mt19937& random, double stiffness_per_inertia, double stretch, bool hung) {
  const auto uniform = [&](double a, double c) { return std::uniform_real_distribution<double>(a, c)(random); };
  const auto vector = [&](double s) { return Vec3(uniform(-s, s), uniform(-s, s), uniform(-s, s)); };
  ModelBuilder b("pair");
  if (!hung) b.set_gravity(Vec3::Zero());
  for (const char* name : {"a", "b"}) {
    const double mass = uniform(0.5, 3);
    const Vec3 half(uniform(0.02, 0.3), uniform(0.02, 0.3), uniform(0.02, 0.3));
    const Vec3 diagonal = mass / 3 * (half.squaredNorm() * Vec3::Ones() - half.cwiseProduct(half));
    const int body = b.add_body(name, mass, diagonal.asDiagonal(), {vector(0.3), so3_exp(vector(2))});
    b.set_velocity(body, Vec3::Zero(), hung ? Vec3(Vec3::Zero()) : vector(5));
  }
  const double inertia = b.data().bodies[1].inertia_B.trace() / 3;
  const double k = stiffness_per_inertia * inertia;
  const double d = uniform(0, 1) < 0.5 ? 0.0 : uniform(0, 0.2) * std::sqrt(k * inertia);
  const auto add = [&](const char* name, int base, int follower) {
    const Vec3 anchor = vector(0.3);
    const int joint = b.add_joint_at(name, JointType::spherical, base, follower, anchor, so3_exp(vector(2)));
    b.set_ball_spring(joint, k, d, so3_exp(vector(stretch)));
  };
  add("ball", 0, 1);
  if (hung) add("hook", kWorld, 0);
  return b.build();
}

// At steps of 10 ms, from springs that these resolve to those that are as good as rigid.
TEST(BallSpring, NeverGainsEnergyHoweverStiff) {
  const int trials = test::samples(40);
  for (const bool hung : {false, true}) {
    for (const double stretch : {0.0, 0.2}) {
      double worst = 0, worst_motion = 0;
      for (const double frequency : {1e1, 1e2, 1e3, 1e4, 1e6}) {
        for (int i = 0; i < trials; ++i) {
          std::mt19937 random(static_cast<unsigned>(i));
          Simulation sim(random_pair(random, frequency * frequency, stretch, hung), passive_options(1e-2));
          EnergyRise rise(sim);
          double motion = 0;
          run(sim, 200, [&](const StepReport&) {
            rise.add(sim);
            const testing::EnergyParts e = testing::energy_parts(sim);
            motion = std::max(motion, e.kinetic() + e.gravity - rise.start());
          });
          worst_motion = std::max(worst_motion, motion / rise.peak_kinetic());
          // An unstretched spring with 100 radians a step and more has k times the square of what the positions are off
          // as its energy, which is not that of the motion and never becomes it. That is told.
          const double above = rise.above_start() / rise.peak_kinetic();
          if (stretch > 0 || frequency < 1e4) {
            worst = std::max(worst, above);
          } else if (above > 0.1) {
            EXPECT_TRUE(sim.report().creates_energy) << frequency << " rad/s, trial " << i << ": rise " << above;
          }
        }
      }
      const std::string tag = fmt::format("{}_{:g}_rad", hung ? "hung" : "free", stretch);
      expect_within(tag, worst, 6.1e-4);
      expect_within("motion_" + tag, worst_motion, 6.1e-4);
    }
  }
}

// Where the anchor is the centre of mass, nothing curves: at any stiffness, step and angle there is no more than the
// swing that the governor allows.
TEST(BallSpring, NeverGainsEnergyAboutTheCentre) {
  double worst = 0;
  for (const double stiffness : {1e1, 1e3, 1e5, 1e8, 1e12}) {
    for (const double angle : {0.1, 2.0, 3.1}) {
      for (const double dt : {1e-3, 1e-2, 0.1}) {
        Simulation sim(isotropic(angle, stiffness, 0), passive_options(dt));
        EnergyRise rise(sim);
        run(sim, 300, [&](const StepReport&) { rise.add(sim); });
        worst = std::max(worst, rise.above_start() / (0.5 * stiffness * angle * angle));
      }
    }
  }
  expect_within("rise", worst, 3.1e-4);
}

TEST(BallSpring, KeepsTheMomentumOfAFreePair) {
  const auto error = [](double dt) {
    std::mt19937 random(5);
    Simulation sim(random_pair(random, 400, 1, false), passive_options(dt));
    const Vec3 before = momentum(sim.model(), sim.state()).angular;
    run(sim, steps_for(1, dt));
    return (momentum(sim.model(), sim.state()).angular - before).norm() / before.norm();
  };
  const double coarse = error(1e-3), fine = error(5e-4);
  expect_within("angular", coarse, 5e-4);
  expect_near("order", order_of(coarse, fine), 2, 0.3);
}

// Fast enough to turn over: from |theta| = pi on the spring pulls the other way.
TEST(BallSpring, GainsNothingWhereItTurnsOver) {
  for (const double dt : {1e-2, 1e-3}) {
    ModelBuilder b("spin");
    b.set_gravity(Vec3::Zero());
    const int ball = b.add_body("ball", 2, kInertia * Mat3::Identity(), {});
    b.set_velocity(ball, Vec3::Zero(), 25 * kAxis);
    b.set_ball_spring(b.add_joint_at("ball", JointType::spherical, kWorld, ball, Vec3::Zero()), kStiffness, 0);
    Simulation sim(b.build(), passive_options(dt));
    EnergyRise rise(sim);
    run(sim, steps_for(3, dt), [&](const StepReport&) { rise.add(sim); });
    const std::string tag = fmt::format("_{:g}_s", dt);
    expect_within("rise" + tag, rise.above_start() / rise.peak_kinetic(), 6.1e-4);
    expect_within("loss" + tag, rise.loss() / rise.peak_kinetic(), 100 * dt);
  }
}

// --- what is told of it ----------------------------------------------------------------------------------------

TEST(BallSpring, EnergyAndReactionAreThoseOfTheLaw) {
  Simulation sim(isotropic(2, kStiffness, 0.01), options_with(1e-4, Integrator::moreau));
  run(sim, 1000, [&](const StepReport&) {
    const Vec3 theta = theta_W(sim), w = sim.state().twist[0].tail<3>();
    const double potential = 0.5 * kStiffness * theta.squaredNorm() + 2 * 9.81 * 0.3;
    EXPECT_NEAR(testing::energy_of(sim).potential, potential, 1e-12);
    const Vec3 torque = sim.joint_reaction(0).tail<3>();
    EXPECT_LE((torque + kStiffness * theta + 0.01 * w).norm(), 2e-3);  // of the middle of the step, half of it before
    for (int k = 0; k < 3; ++k) {
      const Vec3 axis = sim.model().joints()[0].q_BJ * Vec3::Unit(k);
      EXPECT_NEAR(sim.state().q[static_cast<std::size_t>(k)], axis.dot(theta), 1e-12);
    }
  });
}

// A rod that stands on a ball and a spring leans where k theta = m g l sin(theta), beyond its buckling load.
TEST(BallSpring, BalancesARod) {
  const double mass = 1, arm = 0.5, theta = 0.7, load = mass * 9.81 * arm;
  for (const double dt : {1e-3, 5e-2}) {
    ModelBuilder b("rod");
    const int rod = b.add_box_body("rod", mass, {0.02, 0.02, arm}, {Vec3(0, 0, arm)});
    b.set_velocity(rod, Vec3(0.05, 0, 0), Vec3(0, 0.1, 0));
    const int foot = b.add_joint_at("foot", JointType::spherical, kWorld, rod, Vec3::Zero());
    b.set_ball_spring(foot, load * std::sin(theta) / theta, 0.5);
    Simulation sim(b.build(), passive_options(dt));
    run(sim, steps_for(40, dt));
    const std::string tag = fmt::format("_{:g}_s", dt);
    expect_near("lean_rad" + tag, theta_W(sim).norm(), theta, 1e-6);
    expect_near("torque" + tag, sim.joint_reaction(0).tail<3>().norm(), load * std::sin(theta), 1e-5);
  }
}

}  // namespace
}  // namespace sarrus::ball_spring_test
