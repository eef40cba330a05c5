// Compliance models: the formulas of one row, how materials combine, what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "problem/compliance_checks.h"
#include "sarrus/math/error.h"
#include "sarrus/model/builder.h"
#include "sarrus/rows/compliance.h"

namespace sarrus::compliance_test {
namespace {

using test::all_models;
using test::expect_relative;

constexpr double kPi = std::numbers::pi;

// --- one scalar mass on a spring and a damper (docs/theory/rows.md §6.1) ---------------------------------------

struct Oscillator {
  double mass, k, b, dt, phi, v_free;

  // lambda from R and v*: (1/m + R) lambda + v_free + v* = 0
  double impulse(const CompliantRow& row) const { return -(v_free + row.bias) / (1 / mass + row.R); }
  // Implicit Euler: m (v+ - v_free) = -dt (k (phi + dt v+) + b v+)
  double closed_form() const {
    const double v = (mass * v_free - dt * k * phi) / (mass + dt * b + dt * dt * k);
    return mass * (v - v_free);
  }
  RowMotion state() const { return {dt, phi, v_free, v_free, 1 / mass}; }
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
      compliant_contact(Compliance::mlcp_unilateral(), h, -1e-3, Vec3::Zero(), Vec3::Zero(), Mat3::Identity());
  expect_relative(contact.R[2], 1 / (h * h * 1e5 + h * 1e4), 1e-12);
  expect_relative(contact.R[0], 1 / (h * 1e4), 1e-12);
  expect_relative(contact.R[1], 1 / (h * 1e4), 1e-12);
  EXPECT_EQ(contact.bias[0], 0);
  // Without a damper of its own, friction has that of [D].
  const CompliantContact d = compliant_contact(Compliance::soft_spring_damper(1e5, 1e4), h, -1e-3, Vec3::Zero(),
                                               Vec3::Zero(), Mat3::Identity());
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
    // a+ + d (b v+ + k (r + dt v+)) = (1 - d) a_free, the reference at the end of the step.
    const double b = 2 / (c.dw * 0.02);
    const double k = d / std::pow(c.dw * 0.02, 2);
    EXPECT_NEAR((v_plus - v_minus) / dt + d * (b * v_plus + k * (r + dt * v_plus)), (1 - d) * (v_f0 - v_minus) / dt,
                1e-9);
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
  const double b = 2 / (c.dw * 2 * dt);
  const double k = d / std::pow(c.dw * 2 * dt, 2);
  expect_relative(row.bias, -dt * k / (1 + dt * b + dt * dt * k), 1e-12);
  // No stiffness brings back more than the whole error in a step.
  Compliance stiff = Compliance::soft_mujoco(1e-4);
  stiff.damping_ratio = 0.05;
  expect_relative(bilateral_row(stiff, {dt, -1.0, 0.0, 0.0, 1.0}, false).bias, -1 / dt / (2 + dt * b), 1e-12);
}

// --- physical: the near-rigid switch ----------------------------------------------------------------------

TEST(PhysicalCompliance, NearRigidSwitchPicksTheLargerR) {
  const double dt = 1e-3;
  const double tau = 5e-4;
  const Mat3 W = Vec3(1, 2, 2).asDiagonal();  // |W|_F = 3, so w = 1
  const double near_rigid = 1 / (4 * kPi * kPi);
  const double threshold = 1 / (dt * (dt + tau) * near_rigid);  // k where both branches meet
  const auto rows = [&](double k) {
    return compliant_contact(Compliance::soft_physical(k, tau), dt, -1e-4, Vec3::Zero(), Vec3::Zero(), W);
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
  const RowMotion row{dt, 1e-4, 0, 0, 3.0};
  expect_relative(bilateral_row(Compliance::soft_physical(1e15, tau), row, false).R, 3 * near_rigid, 1e-12);
  expect_relative(unilateral_row(Compliance::soft_physical(10, tau), row).R, 1 / (dt * 10 * (dt + tau)), 1e-12);
}

// --- nothing acts at a distance --------------------------------------------------------------------------

// A body that stops short of the surface within the step gets no impulse, whatever the damping.
TEST(OpenGaps, DoNotActAtADistance) {
  const double dt = 1e-3;
  for (const Compliance& c : all_models()) {
    for (const double gap : {1e-6, 1e-4, 5e-3}) {
      const double v = -0.999 * gap / dt;
      const CompliantContact rows = compliant_contact(c, dt, gap, Vec3(1, 0, v), Vec3(1, 0, v), Mat3::Identity());
      EXPECT_GE(v + rows.bias[2], 0) << name_of(c.model) << " at " << gap;
    }
    // Continuous where the gap closes, apart from mujoco, whose reference depends on v-.
    if (c.model == ComplianceModel::mujoco) continue;
    const auto bias = [&](double gap) {
      return compliant_contact(c, dt, gap, Vec3::Zero(), Vec3::Zero(), Mat3::Identity()).bias[2];
    };
    EXPECT_NEAR(bias(1e-14), bias(-1e-14), 1e-10) << name_of(c.model);
  }
}

TEST(OpenGaps, MujocoActsFromItsMarginOn) {
  Compliance c = Compliance::soft_mujoco();
  c.margin = 1e-3;
  const double dt = 1e-3;
  const auto bias = [&](double gap) {
    return compliant_contact(c, dt, gap, Vec3(0, 0, -5), Vec3(0, 0, -5), Mat3::Identity()).bias[2];
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
    EXPECT_EQ(combine_compliances(rigid, c), c);
    EXPECT_EQ(combine_compliances(c, rigid), c);
    const Compliance twice = combine_compliances(c, c);
    EXPECT_EQ(twice.model, c.model);
  }
  EXPECT_FALSE(combine_compliances(rigid, rigid).compliant());
  const Compliance p = combine_compliances(Compliance::soft_physical(1e5, 0.1), Compliance::soft_physical(3e5, 0.02));
  expect_relative(p.stiffness, 0.75e5, 1e-14);
  expect_relative(p.dissipation, (3e5 * 0.1 + 1e5 * 0.02) / 4e5, 1e-14);
  // The same rule with B = tau K.
  const Compliance s =
      combine_compliances(Compliance::soft_spring_damper(1e5, 1e4), Compliance::soft_spring_damper(3e5, 6e3));
  expect_relative(s.stiffness, p.stiffness, 1e-14);
  expect_relative(s.damping, p.dissipation * p.stiffness, 1e-14);
  const Compliance damper =
      combine_compliances(Compliance::soft_spring_damper(0, 10), Compliance::soft_spring_damper(0, 30));
  expect_relative(damper.damping, 7.5, 1e-14);
  const Compliance h = combine_compliances(Compliance::soft_hertz(1e9, 0.1, 5), Compliance::soft_hertz(1e9, 0.3, 5));
  expect_relative(h.modulus, 5e8, 1e-14);
  expect_relative(h.radius, 0.075, 1e-14);
  EXPECT_EQ(combine_compliances(Compliance::soft_cfm_erp(1e-3, 0.5), Compliance::soft_cfm_erp(2e-3, 0.2)),
            Compliance::soft_cfm_erp(3e-3, 0.2));
  expect_relative(combine_compliances(Compliance::soft_mujoco(0.02), Compliance::soft_mujoco(0.04)).time_constant, 0.03,
                  1e-14);
}

TEST(Combination, OfDifferentModelsTheLawOfForceCounts) {
  const std::vector<Compliance> falling = {
      Compliance::soft_hertz(1e7, 0.1, 50),     Compliance::soft_physical(1e5, 0.02),
      Compliance::soft_spring_damper(1e4, 100), Compliance::soft_mujoco(),
      Compliance::soft_cfm_erp(1e-3, 0.3),      Compliance{}};
  for (std::size_t i = 0; i < falling.size(); ++i) {
    for (std::size_t k = i + 1; k < falling.size(); ++k) {
      EXPECT_EQ(combine_compliances(falling[i], falling[k]), falling[i]);
      EXPECT_EQ(combine_compliances(falling[k], falling[i]), falling[i]);
    }
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
}  // namespace sarrus::compliance_test
