// Compliance models: the formulas of one row, how materials combine, and what simulations with them settle to.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sarrus/math/error.h"
#include "sarrus/model/builder.h"
#include "sarrus/model/foundation.h"
#include "sarrus/problem/compliance_rows.h"
#include "sarrus/problem/contact_rows.h"
#include "sarrus/problem/joint_rows.h"
#include "sarrus/step/analysis.h"
#include "sarrus/step/simulation.h"

namespace sarrus {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kGravity = 9.81;

void expect_relative(double value, double expected, double tolerance) {
  EXPECT_NEAR(value, expected, tolerance * std::abs(expected));
}

// --- one scalar mass on a spring and a damper (spec/problem.md §3.4) ---------------------------------------

struct Oscillator {
  double mass, k, b, dt, phi, v_free;

  // lambda from R and v*: (1/m + R) lambda + v_free + v* = 0
  double impulse(const CompliantRow& row) const { return -(v_free + row.bias) / (1 / mass + row.R); }
  // Implicit Euler: m (v+ - v_free) = -dt (k (phi + dt v+) + b v+)
  double closed_form() const {
    const double v = (mass * v_free - dt * k * phi) / (mass + dt * b + dt * dt * k);
    return mass * (v - v_free);
  }
  RowState state() const { return {dt, phi, v_free, v_free, 1 / mass}; }
};

const Oscillator kOscillators[] = {{2.0, 1e3, 5.0, 1e-2, -0.03, -1.2},
                                   {0.01, 1e6, 30.0, 1e-3, 2e-4, 0.4},
                                   {150, 1e5, 1e4, 1.0 / 60, -0.1, 3.0},
                                   {1, 50, 0, 0.1, 0.5, -2}};

TEST(SpringDamper, AllFormsGiveTheImpulseOfImplicitEuler) {
  for (const Oscillator& o : kOscillators) {
    const double expected = o.closed_form();
    const double dt = o.dt;
    // [T]: CFM and ERP of the equivalent spring
    const double erp = dt * o.k / (dt * o.k + o.b);
    const double cfm = 1 / (dt * (dt * o.k + o.b));
    expect_relative(o.impulse(bilateral_row(Compliance::soft_cfm_erp(cfm, erp), o.state(), false)), expected, 1e-12);
    // [S]: stiffness and dissipation time, the near-rigid switch off
    Compliance physical = Compliance::soft_physical(o.k, o.b / o.k);
    physical.near_rigid = 0;
    expect_relative(o.impulse(bilateral_row(physical, o.state(), false)), expected, 1e-12);
    // [D]: K and B
    const CompliantRow row = bilateral_row(Compliance::soft_spring_damper(o.k, o.b), o.state(), false);
    expect_relative(o.impulse(row), expected, 1e-12);
    // [M]: C and D_phi, written out
    const CompliantRow mlcp{1 / (dt * dt * o.k + dt * o.b), o.k / (dt * o.k + o.b) * o.phi};
    expect_relative(o.impulse(mlcp), expected, 1e-12);
  }
}

TEST(SpringDamper, RotationalRowsOfAJointTakeTheSquaredLength) {
  const Oscillator o = kOscillators[0];
  Compliance c = Compliance::soft_spring_damper(o.k, o.b);
  c.length = 0.1;
  const CompliantRow angular = bilateral_row(c, o.state(), true);
  const CompliantRow scaled = bilateral_row(Compliance::soft_spring_damper(0.01 * o.k, 0.01 * o.b), o.state(), false);
  expect_relative(angular.R, scaled.R, 1e-12);
  expect_relative(angular.bias, scaled.bias, 1e-12);
  c = Compliance::soft_cfm_erp(1e-4, 0.3);
  c.length = 0.1;
  expect_relative(bilateral_row(c, o.state(), true).R, 1e-2, 1e-12);
}

TEST(SpringDamper, MlcpPresetIsTheRegularisationOfTheComparison) {
  const double h = 1.0 / 60;
  const CompliantRow joint = bilateral_row(Compliance::mlcp_bilateral(), {h, 1e-3, 0, 0, 1.0}, false);
  expect_relative(joint.R, 1 / (h * h * 1e10 + h * 1e8), 1e-12);
  expect_relative(joint.bias, 1e10 / (h * 1e10 + 1e8) * 1e-3, 1e-12);
  const CompliantContact contact =
      contact_rows(Compliance::mlcp_unilateral(), h, -1e-3, Vec3::Zero(), Vec3::Zero(), Mat3::Identity());
  expect_relative(contact.R[2], 1 / (h * h * 1e5 + h * 1e4), 1e-12);
  expect_relative(contact.R[0], 1 / (h * 1e4), 1e-12);
  expect_relative(contact.R[1], 1 / (h * 1e4), 1e-12);
  EXPECT_EQ(contact.bias[0], 0);
  // Without a damper of its own, friction has that of [D].
  const CompliantContact d =
      contact_rows(Compliance::soft_spring_damper(1e5, 1e4), h, -1e-3, Vec3::Zero(), Vec3::Zero(), Mat3::Identity());
  expect_relative(d.R[0], 1e-6, 1e-12);
}

// --- mujoco --------------------------------------------------------------------------------------------------

TEST(MujocoSoftening, FollowsTheReferenceWithTheImpedance) {
  const Compliance c = Compliance::soft_mujoco();
  for (const double r : {-2e-3, -8e-4, -5e-4, -1e-4, 0.0, 3e-4}) {
    const double D = 0.8;
    const double v_minus = -0.7;
    const double v_f0 = v_minus - 0.01;
    const double dt = 1e-3;
    const CompliantRow row = bilateral_row(c, {dt, r, v_minus, v_f0, D}, false);
    const double lambda = -(v_f0 + row.bias) / (D + row.R);
    const double v_plus = v_f0 + D * lambda;
    const double d = mujoco_impedance(c, r);
    EXPECT_NEAR(v_plus, (1 - d) * v_f0 - d * row.bias, 1e-12);
    // a+ + d (b v- + k r) = (1 - d) a_free
    const double b = 2 / (c.dw * 0.02);
    const double k = d / std::pow(c.dw * 0.02, 2);
    EXPECT_NEAR((v_plus - v_minus) / dt + d * (b * v_minus + k * r), (1 - d) * (v_f0 - v_minus) / dt, 1e-9);
  }
}

TEST(MujocoSoftening, ImpedanceIsContinuousAndReachesItsEnds) {
  Compliance c = Compliance::soft_mujoco();
  for (const double power : {1.0, 1.5, 2.0, 6.0}) {
    for (const double midpoint : {0.2, 0.5, 0.9}) {
      c.power = power;
      c.midpoint = midpoint;
      EXPECT_EQ(mujoco_impedance(c, 0), c.d0);
      EXPECT_EQ(mujoco_impedance(c, -c.width), c.dw);
      EXPECT_EQ(mujoco_impedance(c, 5.0), c.dw);
      const double below = mujoco_impedance(c, c.width * midpoint * (1 - 1e-12));
      const double above = mujoco_impedance(c, c.width * midpoint * (1 + 1e-12));
      EXPECT_NEAR(below, above, 1e-12);
      double last = c.d0;
      for (int i = 1; i <= 1000; ++i) {
        const double d = mujoco_impedance(c, 1e-3 * i * c.width);
        EXPECT_GE(d, last);
        EXPECT_LE(d - last, 1e-3 * power * (c.dw - c.d0) / std::min(midpoint, 1 - midpoint));
        last = d;
      }
    }
  }
  c.width = 0;
  EXPECT_EQ(mujoco_impedance(c, 1.0), 0.5 * (c.d0 + c.dw));
}

TEST(MujocoSoftening, TimeConstantStaysResolvable) {
  const Compliance c = Compliance::soft_mujoco(1e-4);
  const double dt = 1e-3;
  const double d = mujoco_impedance(c, -1.0);
  const CompliantRow row = bilateral_row(c, {dt, -1.0, 0.0, 0.0, 1.0}, false);
  expect_relative(row.bias, -dt * d / std::pow(c.dw * 2 * dt, 2), 1e-12);
}

// --- physical: the near-rigid switch ----------------------------------------------------------------------

TEST(PhysicalCompliance, NearRigidSwitchPicksTheLargerR) {
  const double dt = 1e-3;
  const double tau = 5e-4;
  const Mat3 W = Vec3(1, 2, 2).asDiagonal();  // |W|_F = 3, so w = 1
  const double near_rigid = 1 / (4 * kPi * kPi);
  const double threshold = 1 / (dt * (dt + tau) * near_rigid);  // k where both branches meet
  const auto rows = [&](double k) {
    return contact_rows(Compliance::soft_physical(k, tau), dt, -1e-4, Vec3::Zero(), Vec3::Zero(), W);
  };
  expect_relative(rows(0.5 * threshold).R[2], 2 * near_rigid, 1e-12);
  expect_relative(rows(0.999 * threshold).R[2], near_rigid / 0.999, 1e-12);
  expect_relative(rows(1.001 * threshold).R[2], near_rigid, 1e-12);
  expect_relative(rows(100 * threshold).R[2], near_rigid, 1e-12);
  expect_relative(rows(threshold).R[0], 1e-3, 1e-12);
  expect_relative(rows(threshold).R[1], 1e-3, 1e-12);
  expect_relative(rows(threshold).bias[2], -1e-4 / (dt + tau), 1e-12);
  EXPECT_EQ(rows(threshold).bias[0], 0);
  // Bilateral and limit rows compare with their own D.
  const RowState row{dt, 1e-4, 0, 0, 3.0};
  expect_relative(bilateral_row(Compliance::soft_physical(1e15, tau), row, false).R, 3 * near_rigid, 1e-12);
  expect_relative(unilateral_row(Compliance::soft_physical(10, tau), row).R, 1 / (dt * 10 * (dt + tau)), 1e-12);
}

// --- nothing acts at a distance --------------------------------------------------------------------------

std::vector<Compliance> all_models() {
  return {Compliance::soft_cfm_erp(1e-3, 0.3), Compliance::soft_mujoco(), Compliance::soft_physical(1e5, 0.02),
          Compliance::soft_spring_damper(1e4, 100), Compliance::soft_hertz(1e7, 0.1, 50)};
}

// A body that stops short of the surface within the step gets no impulse, whatever the damping.
TEST(OpenGaps, DoNotActAtADistance) {
  const double dt = 1e-3;
  for (const Compliance& c : all_models()) {
    for (const double gap : {1e-6, 1e-4, 5e-3}) {
      const double v = -0.999 * gap / dt;
      const CompliantContact rows = contact_rows(c, dt, gap, Vec3(1, 0, v), Vec3(1, 0, v), Mat3::Identity());
      EXPECT_GE(v + rows.bias[2], 0) << name(c.model) << " at " << gap;
    }
    // Continuous where the gap closes, apart from mujoco, whose reference depends on v-.
    if (c.model == ComplianceModel::mujoco) continue;
    const auto bias = [&](double gap) {
      return contact_rows(c, dt, gap, Vec3::Zero(), Vec3::Zero(), Mat3::Identity()).bias[2];
    };
    EXPECT_NEAR(bias(1e-14), bias(-1e-14), 1e-10) << name(c.model);
  }
}

TEST(OpenGaps, MujocoActsFromItsMarginOn) {
  Compliance c = Compliance::soft_mujoco();
  c.margin = 1e-3;
  const double dt = 1e-3;
  const auto bias = [&](double gap) {
    return contact_rows(c, dt, gap, Vec3(0, 0, -5), Vec3(0, 0, -5), Mat3::Identity()).bias[2];
  };
  EXPECT_GE(-5 + bias(1.1e-3), 0);  // off, although the body crosses the margin within the step
  EXPECT_LT(-5 + bias(0.9e-3), 0);
  const CompliantRow row = unilateral_row(c, {dt, 0.5e-3, 0, 0, 1.0});
  Compliance plain = c;
  plain.margin = 0;
  EXPECT_NEAR(row.bias, unilateral_row(plain, {dt, -0.5e-3, 0, 0, 1.0}).bias, 1e-15);
}

// --- combination of materials ----------------------------------------------------------------------------

TEST(Combination, RigidLeavesTheOtherAndSpringsAddInSeries) {
  const Compliance rigid;
  for (const Compliance& c : all_models()) {
    EXPECT_EQ(combine(rigid, c), c);
    EXPECT_EQ(combine(c, rigid), c);
    const Compliance twice = combine(c, c);
    EXPECT_EQ(twice.model, c.model);
  }
  EXPECT_FALSE(combine(rigid, rigid).compliant());
  const Compliance p = combine(Compliance::soft_physical(1e5, 0.1), Compliance::soft_physical(3e5, 0.02));
  expect_relative(p.stiffness, 0.75e5, 1e-14);
  expect_relative(p.dissipation, (3e5 * 0.1 + 1e5 * 0.02) / 4e5, 1e-14);
  // The same rule with B = tau K.
  const Compliance s = combine(Compliance::soft_spring_damper(1e5, 1e4), Compliance::soft_spring_damper(3e5, 6e3));
  expect_relative(s.stiffness, p.stiffness, 1e-14);
  expect_relative(s.damping, p.dissipation * p.stiffness, 1e-14);
  const Compliance damper = combine(Compliance::soft_spring_damper(0, 10), Compliance::soft_spring_damper(0, 30));
  expect_relative(damper.damping, 7.5, 1e-14);
  const Compliance h = combine(Compliance::soft_hertz(1e9, 0.1, 5), Compliance::soft_hertz(1e9, 0.3, 5));
  expect_relative(h.modulus, 5e8, 1e-14);
  expect_relative(h.radius, 0.075, 1e-14);
  EXPECT_EQ(combine(Compliance::soft_cfm_erp(1e-3, 0.5), Compliance::soft_cfm_erp(2e-3, 0.2)),
            Compliance::soft_cfm_erp(3e-3, 0.2));
  expect_relative(combine(Compliance::soft_mujoco(0.02), Compliance::soft_mujoco(0.04)).time_constant, 0.03, 1e-14);
}

TEST(Combination, OfDifferentModelsTheLawOfForceCounts) {
  const std::vector<Compliance> falling = {
      Compliance::soft_hertz(1e7, 0.1, 50),     Compliance::soft_physical(1e5, 0.02),
      Compliance::soft_spring_damper(1e4, 100), Compliance::soft_mujoco(),
      Compliance::soft_cfm_erp(1e-3, 0.3),      Compliance{}};
  for (std::size_t i = 0; i < falling.size(); ++i) {
    for (std::size_t k = i + 1; k < falling.size(); ++k) {
      EXPECT_EQ(combine(falling[i], falling[k]), falling[i]);
      EXPECT_EQ(combine(falling[k], falling[i]), falling[i]);
    }
  }
}

// --- simulations -----------------------------------------------------------------------------------------

constexpr double kRadius = 0.1;
constexpr double kMass = 2.0;

// Steps for a while, after which nothing may move, and returns the last report.
StepReport settle(Simulation& sim, double duration) {
  StepReport report;
  while (sim.time() < duration) {
    report = sim.step();
    EXPECT_EQ(report.status, StepStatus::converged) << "t = " << sim.time();
    if (report.status != StepStatus::converged) break;
  }
  for (const Vec6& twist : sim.state().twist) EXPECT_LT(twist.norm(), 1e-8);
  return report;
}

Model ball_on_floor(const Compliance& compliance, double height = kRadius) {
  ModelBuilder b("ball");
  const int soft = b.add_material("soft", 0.5, 0, compliance);
  b.add_floor();
  b.add_sphere_body("ball", kMass, kRadius, {{0, 0, height}, Quat::Identity()}, soft);
  return b.build();
}

double rest_depth(const Compliance& compliance, double dt, double duration = 3) {
  SimulationOptions options;
  options.dt = dt;
  Simulation sim(ball_on_floor(compliance), options);
  settle(sim, duration);
  return kRadius - sim.state().X_WB[0].p.z();
}

TEST(RestDepth, PhysicalContactSinksByWeightOverStiffness) {
  expect_relative(rest_depth(Compliance::soft_physical(1e4, 0.05), 1e-3), kMass * kGravity / 1e4, 1e-6);
}

TEST(RestDepth, SpringDamperContactSinksByWeightOverStiffness) {
  expect_relative(rest_depth(Compliance::soft_spring_damper(1e4, 300), 1e-3), kMass * kGravity / 1e4, 1e-6);
}

TEST(RestDepth, CfmErpContactSinksLikeItsSpring) {
  const double dt = 1e-3;
  const double k = 2e4;
  const double b = 400;
  const Compliance c = Compliance::soft_cfm_erp(1 / (dt * (dt * k + b)), dt * k / (dt * k + b));
  expect_relative(rest_depth(c, dt), kMass * kGravity / k, 1e-6);
}

// depth = w m (1 + tau_d/dt) beta^2 g dt^2/(4 pi^2). For the ball m W = diag(t, t, 1) with t = 1 + m a^2/I = 1 + 2.5
// (a/r)^2, where a = r - depth is the arm to the contact point, which lies on the floor.
double near_rigid_depth(double dt, double tau, double beta) {
  double depth = 0;
  for (int i = 0; i < 20; ++i) {
    const double t = 1 + 2.5 * std::pow(1 - depth / kRadius, 2);
    const double w_m = std::sqrt(2 * t * t + 1) / 3;
    depth = w_m * (1 + tau / dt) * beta * beta * kGravity * dt * dt / (4 * kPi * kPi);
  }
  return depth;
}

TEST(RestDepth, NearRigidContactSinksByItsFloor) {
  const double dt = 1e-3;
  for (const double tau : {0.0, 0.3 * dt, dt / kPi}) {
    for (const double beta : {1.0, 3.0}) {
      Compliance c = Compliance::soft_physical(1e12, tau);
      c.near_rigid = beta;
      expect_relative(rest_depth(c, dt), near_rigid_depth(dt, tau, beta), 1e-8);
    }
  }
}

TEST(RestDepth, HertzContactFollowsThePowerLaw) {
  Compliance c = Compliance::soft_hertz(1e6, kRadius, 200);
  const double weight = kMass * kGravity;
  expect_relative(rest_depth(c, 1e-3), std::pow(weight / (4.0 / 3.0 * 1e6 * std::sqrt(kRadius)), 2.0 / 3.0), 1e-6);
  c.unit_factor = true;
  expect_relative(rest_depth(c, 1e-3), std::pow(weight / (1e6 * std::sqrt(kRadius)), 2.0 / 3.0), 1e-6);
}

// At rest (1 - d) g = d k depth, k = d/(dw T zeta)^2, d the impedance at that depth.
TEST(RestDepth, MujocoContactHasItsDocumentedPenetration) {
  const Compliance c = Compliance::soft_mujoco(0.02, 1);
  double depth = 0;
  for (int i = 0; i < 200; ++i) {
    const double d = mujoco_impedance(c, -depth);
    depth = (1 - d) * kGravity * std::pow(c.dw * c.time_constant * c.damping_ratio, 2) / (d * d);
  }
  EXPECT_GT(depth, 1e-4);
  expect_relative(rest_depth(c, 1e-3), depth, 1e-6);
}

TEST(RestDepth, MaterialPairOverridesTheMaterials) {
  ModelBuilder b("ball");
  const int soft = b.add_material("soft", 0.5, 0, Compliance::soft_physical(1e3, 0.1));
  const int other = b.add_material("other", 0.5, 0, Compliance::soft_physical(1e3, 0.1));
  b.set_material_pair(soft, other, 0.5, 0, Compliance::soft_physical(5e4, 0.02));
  b.add_floor(0, other);
  b.add_sphere_body("ball", kMass, kRadius, {{0, 0, kRadius}, Quat::Identity()}, soft);
  Simulation sim(b.build());
  settle(sim, 3);
  expect_relative(kRadius - sim.state().X_WB[0].p.z(), kMass * kGravity / 5e4, 1e-6);
}

TEST(RestDepth, MoreauRestsAtTheSameDepth) {
  SimulationOptions options;
  options.integrator = Integrator::moreau;
  Simulation sim(ball_on_floor(Compliance::soft_physical(1e4, 0.05)), options);
  settle(sim, 3);
  expect_relative(kRadius - sim.state().X_WB[0].p.z(), kMass * kGravity / 1e4, 1e-6);
}

// A compliant landing must not be felt before the surface is reached.
TEST(Landing, FallsFreelyDownToTheSurface) {
  for (const Compliance& c : all_models()) {
    Simulation sim(ball_on_floor(c, kRadius + 0.05));
    double v = 0;
    while (sim.state().X_WB[0].p.z() + sim.dt() * (v - kGravity * sim.dt()) > kRadius) {
      ASSERT_EQ(sim.step().status, StepStatus::converged);
      v -= kGravity * sim.dt();
      ASSERT_NEAR(sim.state().twist[0][2], v, 1e-9) << name(c.model);
    }
    EXPECT_LT(v, -0.9);
  }
}

TEST(CompliantJoint, PendulumStretchesByWeightOverStiffness) {
  ModelBuilder b("pendulum");
  const int bob = b.add_sphere_body("bob", kMass, 0.05, {{0, 0, -0.5}, Quat::Identity()});
  const int pivot = b.add_joint_at("pivot", JointType::revolute, kWorld, bob, {0, 0, 0});
  b.joint(pivot).compliance = Compliance::soft_spring_damper(5e3, 100);
  Simulation sim(b.build());
  const StepReport report = settle(sim, 6);
  expect_relative(-0.5 - sim.state().X_WB[0].p.z(), kMass * kGravity / 5e3, 1e-6);
  expect_relative(report.compliant_gap, kMass * kGravity / 5e3, 1e-6);
  EXPECT_EQ(report.joint_gap, 0);  // the rigid joints are none
  EXPECT_EQ(report.projection_iterations, 0);
  const ModelAnalysis analysis = analyse(sim.model());
  EXPECT_EQ(analysis.compliant_joints, 1);
  EXPECT_EQ(analysis.rows, 0);
}

// The rotational rows have k L^2: a cantilever on a fixed joint sags by m g a/(k L^2) in angle.
TEST(CompliantJoint, FixedJointBendsByMomentOverRotationalStiffness) {
  for (const Compliance& base : {Compliance::soft_spring_damper(1e4, 400), Compliance::soft_physical(1e4, 0.04)}) {
    ModelBuilder b("cantilever");
    const int beam = b.add_box_body("beam", 1.0, {0.1, 0.02, 0.02}, {{0.1, 0, 0}, Quat::Identity()});
    const int root = b.add_joint_at("root", JointType::fixed, kWorld, beam, {0, 0, 0});
    Compliance c = base;
    c.length = 0.3;
    b.joint(root).compliance = c;
    Simulation sim(b.build());
    const StepReport report = settle(sim, 6);
    // The joint force acts at the anchor of the follower, 0.1 m from the weight along the beam.
    const double angle = report.compliant_angle;
    expect_relative(angle, kGravity * 0.1 * std::cos(angle) / (1e4 * 0.09), 1e-6);
    expect_relative(report.compliant_gap, kGravity / 1e4, 1e-6);
  }
}

// A rigid and a compliant joint in one loop: the rigid one stays exact, the compliant one takes the misfit.
TEST(CompliantJoint, TakesTheMisfitOfALoop) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    ModelBuilder b("loop");
    const int bar = b.add_box_body("bar", 1.0, {0.5, 0.02, 0.02}, {{0.5, 0, 0}, Quat::Identity()});
    b.add_joint_at("left", JointType::revolute, kWorld, bar, {0, 0, 0}, Quat(std::sqrt(0.5), 0, 0, std::sqrt(0.5)));
    const int right = b.add_joint_at("right", JointType::spherical, kWorld, bar, {1, 0, 0});
    b.joint(right).p_BJ.z() = 0.01;  // pulls the free end up
    b.joint(right).compliance = Compliance::soft_spring_damper(1e4, 200);
    SimulationOptions options;
    options.integrator = integrator;
    Simulation sim(b.build(), options);
    const StepReport report = settle(sim, 4);
    EXPECT_LT(report.joint_gap, 1e-12);
    EXPECT_GT(report.compliant_gap, 1e-4);
    // Half of the weight hangs on the spring, nearly vertical.
    EXPECT_NEAR(report.compliant_gap, 0.5 * kGravity / 1e4, 2e-6);
  }
}

TEST(CompliantCoupling, GearTwistsByTorqueOverStiffness) {
  ModelBuilder b("gears");
  b.set_gravity(Vec3::Zero());
  const int a = b.add_sphere_body("a", 1, 0.1, {{0, 0, 0}, Quat::Identity()});
  const int c = b.add_sphere_body("c", 1, 0.1, {{1, 0, 0}, Quat::Identity()});
  const int ja = b.add_joint_at("ja", JointType::revolute, kWorld, a, {0, 0, 0});
  const int jc = b.add_joint_at("jc", JointType::revolute, kWorld, c, {1, 0, 0});
  b.dof(jc).limit = {0, 0, 0, kUseDefault, {}};  // locked, rigid
  const int gear = b.add_coupling("gear", b.dof_index(ja), b.dof_index(jc), 2.0);
  b.coupling(gear).compliance = Compliance::soft_spring_damper(50, 0.5);
  Simulation sim(b.build());
  sim.set_joint_force(b.dof_index(ja), 3.0);
  const StepReport report = settle(sim, 2);
  EXPECT_NEAR(sim.state().q[0], 3.0 / 50, 1e-8);
  EXPECT_NEAR(report.compliant_angle, 3.0 / 50, 1e-8);
}

TEST(CompliantLimit, StopsAtForceOverStiffness) {
  for (const double bound : {-0.2, 0.0}) {  // a range, and a locked dof
    ModelBuilder b("slider");
    const int body = b.add_box_body("body", kMass, {0.1, 0.1, 0.1}, {{0, 0, 0}, Quat::Identity()});
    const int slide = b.add_joint_at("slide", JointType::prismatic, kWorld, body, {0, 0, 0},
                                     Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitZ()));
    b.dof(slide).limit.lower = bound;
    b.dof(slide).limit.upper = 0;
    b.dof(slide).limit.compliance = Compliance::soft_physical(2e3, 0.05);
    Simulation sim(b.build());
    const StepReport report = settle(sim, 4);
    EXPECT_NEAR(sim.state().q[0], bound - kMass * kGravity / 2e3, 1e-8);
    if (bound < 0) expect_relative(report.limit_violation, kMass * kGravity / 2e3, 1e-5);
    EXPECT_LT(report.joint_gap, 1e-12);
  }
}

TEST(CompliantLimit, RopeStretches) {
  ModelBuilder b("rope");
  const int bob = b.add_sphere_body("bob", kMass, 0.05, {{0, 0, -1}, Quat::Identity()});
  const int rope = b.add_distance("rope", kWorld, bob, {0, 0, 0}, {0, 0, -0.95}, true);
  b.joint(rope).compliance = Compliance::soft_spring_damper(4e3, 80);
  Simulation sim(b.build());
  const StepReport report = settle(sim, 4);
  expect_relative(-1 - sim.state().X_WB[0].p.z(), kMass * kGravity / 4e3, 1e-6);
  expect_relative(report.compliant_gap, kMass * kGravity / 4e3, 1e-6);
}

TEST(ElasticFoundation, CubeSinksByWeightOverFoundationStiffness) {
  ModelBuilder b("cube");
  b.add_floor();
  const double half = 0.1;
  const int cube =
      b.add_body("cube", kMass, solid_inertia(Shape::box({half, half, half}), kMass), {{0, 0, half}, Quat::Identity()});
  Foundation f;
  f.modulus = 1e5;
  f.depth = 0.02;
  f.damping = 5;
  // The outward normal of the face is the body's -z.
  add_foundation(b, "sole", cube, {{0, 0, -half}, Quat(0, 1, 0, 0)}, half, half, f);
  Simulation sim(b.build());
  const StepReport report = settle(sim, 3);
  EXPECT_EQ(report.contacts, 100);
  const double stiffness = f.modulus * 4 * half * half / f.depth;
  expect_relative(half - sim.state().X_WB[0].p.z(), kMass * kGravity / stiffness, 1e-6);
  EXPECT_LT(sim.state().X_WB[0].q.vec().norm(), 1e-9);
  EXPECT_THROW(add_foundation(b, "bad", cube, {}, half, 0, f), InputError);
  f.elements_x = 0;
  EXPECT_THROW(add_foundation(b, "bad", cube, {}, half, half, f), InputError);
}

// Sliding friction keeps the Coulomb force in the compliant models: deceleration mu g.
TEST(Friction, SlidesWithCoulombForce) {
  for (const Compliance& c : {Compliance::soft_physical(1e5, 0.01), Compliance::soft_spring_damper(1e5, 1e3),
                              Compliance::soft_cfm_erp(1e-3, 0.2)}) {
    ModelBuilder b("slider");
    const int soft = b.add_material("soft", 0.4, 0, c);
    b.add_floor(0, soft);
    const double sunk = kMass * kGravity / 4 / (c.model == ComplianceModel::cfm_erp ? 1e9 : 5e4);
    const int box = b.add_box_body("box", kMass, {0.2, 0.2, 0.05}, {{0, 0, 0.05 - sunk}, Quat::Identity()}, soft);
    b.set_velocity(box, {2, 0, 0}, Vec3::Zero());
    Simulation sim(b.build());
    while (sim.time() < 0.3) ASSERT_EQ(sim.step().status, StepStatus::converged);
    EXPECT_NEAR(sim.state().twist[0][0], 2 - 0.4 * kGravity * 0.3, 2e-3) << name(c.model);
    while (sim.time() < 1) ASSERT_EQ(sim.step().status, StepStatus::converged);
    EXPECT_LT(std::abs(sim.state().twist[0][0]), 1e-4) << name(c.model);
  }
}

// --- validation ------------------------------------------------------------------------------------------

std::string error_with(const Compliance& c, bool contact) {
  ModelBuilder b("bad");
  const int body = b.add_sphere_body("ball", 1, 0.1, {});
  const int joint = b.add_joint_at("pin", JointType::revolute, kWorld, body, {0, 0, 0});
  contact ? void(b.add_material("foam", 0.5, 0, c)) : void(b.joint(joint).compliance = c);
  try {
    b.build();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Validation, NamesTheElementTheParameterAndTheRemedy) {
  for (const Compliance& c : all_models()) EXPECT_EQ(error_with(c, true), "");
  Compliance c = Compliance::soft_physical(-1, 0);
  EXPECT_EQ(error_with(c, true), "material 'foam': compliance stiffness is -1; give a finite number > 0");
  EXPECT_EQ(error_with(c, false), "joint 'pin': compliance stiffness is -1; give a finite number > 0");
  c = Compliance::soft_physical(1e5, std::nan(""));
  EXPECT_NE(error_with(c, true).find("dissipation is nan"), std::string::npos);
  c = Compliance::soft_spring_damper(0, 0);
  EXPECT_NE(error_with(c, true).find("neither stiffness nor damping"), std::string::npos);
  c = Compliance::soft_mujoco();
  c.dw = 1;
  EXPECT_NE(error_with(c, true).find("dw is 1; give an impedance in [0.0001, 0.9999]"), std::string::npos);
  c.dw = 0.95;
  c.d0 = 1e-5;
  EXPECT_NE(error_with(c, true).find("d0 is 1e-05"), std::string::npos);
  c = Compliance::soft_cfm_erp(0, 0.2);
  EXPECT_NE(error_with(c, true).find("cfm is 0"), std::string::npos);
  c = Compliance::soft_cfm_erp(1e-3, 1.5);
  EXPECT_NE(error_with(c, true).find("erp is 1.5; give a number in [0, 1]"), std::string::npos);
  c = Compliance::soft_hertz(1e7, 0.1, 1);
  EXPECT_NE(error_with(c, false).find("law of contacts"), std::string::npos);
  c.friction_damping = -2;
  EXPECT_NE(error_with(c, true).find("friction_damping is -2"), std::string::npos);
}

}  // namespace
}  // namespace sarrus
