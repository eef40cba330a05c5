// Combinations of coordinates (tendons over pulleys, differentials) against closed forms.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "physics/harness.h"
#include "sarrus/inverse/inverse_dynamics.h"
#include "sarrus/math/random.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/rows/rows.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::combination_test {
namespace {

using testing::coordinate;
using testing::energy_of;
using testing::EnergyDrift;
using testing::expect_near;
using testing::expect_within;
using testing::run;

SimulationOptions tight(double dt, std::optional<Integrator> integrator = {}) {
  SimulationOptions o = testing::options_with(dt, integrator);
  o.tolerance = 1e-12;
  return o;
}

constexpr double kGravity = 9.81;

// Weights of the given masses that slide along z, one beside the other.
ModelBuilder weights(const std::vector<double>& masses) {
  ModelBuilder b("weights");
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const Vec3 at(static_cast<double>(i), 0, 0);
    const int body = b.add_body("weight" + std::to_string(i), masses[i], 0.02 * Mat3::Identity(), {at});
    b.add_joint_at("slide" + std::to_string(i), JointType::prismatic, kWorld, body, at, frame_with_x(Vec3::UnitZ()));
  }
  return b;
}

Combination sum(const std::vector<double>& c, std::string name = "tendon") {
  Combination out{.name = std::move(name), .terms = {}, .law = {}};
  for (std::size_t i = 0; i < c.size(); ++i) out.terms.push_back({static_cast<int>(i), c[i]});
  return out;
}

// A rope over pulleys holds sum c_i q_i: a_i = -g + c_i T/m_i with T = g sum c_i / sum (c_i^2/m_i).
TEST(Combination, HeldSumIsARopeOverPulleys) {
  const std::vector<std::vector<double>> cases = {{1, 1}, {1, 2, 1}, {1, -1, 2, 0.5}, {1, 2, 3, 1, 2, 1, 0.5, 1}};
  for (const Scheme& scheme : schemes()) {
    for (const std::vector<double>& c : cases) {
      std::vector<double> m;
      for (std::size_t i = 0; i < c.size(); ++i) m.push_back(1 + 0.7 * static_cast<double>(i));
      ModelBuilder b = weights(m);
      Combination rope = sum(c, "rope");
      rope.offset = 0.3;
      rope.law.limit = {.lower = 0.3, .upper = 0.3};
      b.add_combination(rope);
      Simulation sim(b.build(), tight(1e-3, scheme.integrator));
      const auto worst = run(sim, 500);
      double cc = 0, cg = 0;
      for (std::size_t i = 0; i < c.size(); ++i) cc += c[i] * c[i] / m[i], cg += c[i];
      const double tension = kGravity * cg / cc;
      const std::string tag = fmt::format("{}_{}", scheme.name, c.size());
      for (std::size_t i = 0; i < c.size(); ++i) {
        expect_near(fmt::format("{}_speed{}", tag, i), sim.state().twist[i][2],
                    0.5 * (-kGravity + c[i] * tension / m[i]), 1e-9);
        // The guide carries the rope on its weight.
        expect_near(fmt::format("{}_pull{}", tag, i), sim.joint_reaction(static_cast<int>(i))[2], c[i] * tension, 1e-6);
      }
      expect_within(tag + "_length", sim.model().scalar_value(sim.model().combination("rope"), sim.state().q) - 0.3,
                    1e-11);
      EXPECT_LE(worst.joint_angle, 1e-11);
    }
  }
}

// Rows on eight bodies, held, limited and with friction, are the same to every solver that solves them.
TEST(Combination, EverySolverTakesRowsOfEightBodies) {
  ModelBuilder b = weights({1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5});
  Combination rope = sum({1, 1, 1, 1, 1, 1, 1, 1}, "rope");
  rope.law.limit = {.lower = 0, .upper = 0};
  b.add_combination(rope);
  Combination stop = sum({1, -1, 1, -1, 1, -1, 1, -1}, "stop");
  stop.law.limit.upper = 1e-3;
  stop.law.dry_friction = 0.3;
  b.add_combination(stop);
  const Model model = b.build();
  SimulationOptions o = tight(1e-3);
  Simulation reference(model, o);
  run(reference, 100);
  int solved = 0;
  for (const SolverInfo& solver : solver_registry()) {
    if (solver.law != Law::ncp) continue;
    o = testing::options_with(1e-3);
    o.solver = solver.id;
    Simulation sim(model, o);
    bool accurate = true;
    for (int i = 0; i < 100 && accurate; ++i) {
      const StepReport& r = sim.step();
      accurate = r.status == StepStatus::converged;
    }
    if (!accurate) continue;
    ++solved;
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(sim.state().twist[i][2], reference.state().twist[i][2], 1e-5) << solver.id << i;
    }
  }
  EXPECT_GE(solved, 8);
}

// A tendon pulls two fingers with one motor: each gets c_i times its force, whatever the other does.
TEST(Combination, OneDrivePullsSeveralJoints) {
  for (const Scheme& scheme : schemes()) {
    ModelBuilder b("fingers");
    b.set_gravity(Vec3::Zero());
    const double I[] = {0.02, 0.05};
    for (int i = 0; i < 2; ++i) {
      b.add_body("finger" + std::to_string(i), 1.0, I[i] * Mat3::Identity(), {Vec3(i, 0, 0)});
      b.add_joint_at("hinge" + std::to_string(i), JointType::revolute, kWorld, i, Vec3(i, 0, 0));
    }
    Combination tendon = sum({0.5, -2});
    tendon.law.drive = {.mode = DriveMode::force, .effort_limit = 3, .target = {.offset = 7}};
    tendon.law.drive.name = "motor";
    b.add_combination(tendon);
    const Model model = b.build();
    Simulation sim(model, tight(1e-3, scheme.integrator));
    run(sim, 200);
    const std::string tag(scheme.name);
    expect_near(tag + "_effort", sim.drive_effort(model.drive("motor")), 3, 1e-12);
    expect_near(tag + "_first", sim.state().twist[0][3], 0.5 * 3 / I[0] * 0.2, 1e-9);
    expect_near(tag + "_second", sim.state().twist[1][3], -2 * 3 / I[1] * 0.2, 1e-9);
    expect_near(tag + "_rate", sim.joint_rate(model.drive("motor")), (0.25 / I[0] + 4 / I[1]) * 3 * 0.2, 1e-9);
    expect_near(tag + "_work", sim.energy_flow().drives, energy_of(sim).kinetic, 1e-9);
    sim.set_drive_target(model.drive("motor"), -1);
    sim.set_joint_force(model.combination("tendon"), 0.5);
    const double before = sim.state().twist[0][3];
    run(sim, 100);
    expect_near(tag + "_set", sim.state().twist[0][3] - before, 0.5 * -0.5 / I[0] * 0.1, 1e-9);
  }
}

// A finger of two links in a chain, driven by one position servo on the sum of its angles: it settles where the springs
// of the joints share the torque, k_1 q_1 = k_2 q_2.
TEST(Combination, UnderactuatedFingerSharesItsTorque) {
  ModelBuilder b("finger");
  b.set_gravity(Vec3::Zero());
  b.add_body("proximal", 0.05, 1e-4 * Mat3::Identity(), {Vec3(0.02, 0, 0)});
  b.add_body("distal", 0.03, 5e-5 * Mat3::Identity(), {Vec3(0.06, 0, 0)});
  const Quat axes = frame_with_x(Vec3::UnitY());
  b.add_joint_at("mcp", JointType::revolute, kWorld, 0, Vec3::Zero(), axes);
  b.add_joint_at("pip", JointType::revolute, 0, 1, Vec3(0.04, 0, 0), axes);
  for (int j = 0; j < 2; ++j) {
    b.dof(j).stiffness = j == 0 ? 0.3 : 0.1;
    b.dof(j).damping = 0.01;
  }
  Combination tendon = sum({1, 1});
  tendon.law.drive = {.mode = DriveMode::position, .kp = 2, .kd = 0.05, .target = {.offset = 1.2}};
  b.add_combination(tendon);
  Simulation sim(b.build(), tight(1e-3));
  run(sim, 5000);
  // 2 (1.2 - L) = T, L = T/0.3 + T/0.1.
  const double T = 2.4 / (1 + 2 / 0.3 + 2 / 0.1);
  expect_near("mcp", coordinate(sim, "mcp"), T / 0.3, 1e-9);
  expect_near("pip", coordinate(sim, "pip"), T / 0.1, 1e-9);
  expect_near("effort", sim.drive_effort(2), T, 1e-9);
}

// A spring between two sliders: they swing with w^2 = k (c_1^2/m_1 + c_2^2/m_2) about L = rest, damped by d.
TEST(Combination, SpringAndDamper) {
  for (const double damping : {0.0, 2.0}) {
    ModelBuilder b = weights({1, 3});
    b.set_gravity(Vec3::Zero());
    Combination spring = sum({1, -2});
    spring.law.stiffness = 200;
    spring.law.rest = 0.1;
    spring.law.damping = damping;
    b.add_combination(spring);
    const Model model = b.build();
    Simulation sim(model, tight(2e-4, Integrator::moreau));
    EnergyDrift drift(sim);
    run(sim, 2500, [&](const StepReport& r) {
      drift.add(sim);
      EXPECT_FALSE(r.creates_energy);
    });
    const double W = 1 + 4.0 / 3;
    const double decay = 0.5 * damping * W;
    const double w = std::sqrt(200 * W - decay * decay);
    const double L = 0.1 - 0.1 * std::exp(-decay * 0.5) * (std::cos(w * 0.5) + decay / w * std::sin(w * 0.5));
    const std::string tag = fmt::format("damping_{}", damping);
    expect_near(tag + "_length", model.scalar_value(2, sim.state().q), L, 2e-5);
    if (damping == 0) expect_within("drift", drift.worst(), 1e-4);
    // What the damper took is in the account.
    expect_near(tag + "_account", sim.energy_flow().change, sim.energy_flow().damping, 1e-6);
    if (damping > 0) {
      EXPECT_LT(sim.energy_flow().damping, -0.1);
    }
  }
}

// Three sliders run into the limit of their sum: the impulse lambda along c makes L still (e = 0) or turns it round.
TEST(Combination, LimitOfASum) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    for (const double e : {0.0, 1.0}) {
      const std::vector<double> m = {1, 2, 4}, c = {1, 2, -1}, v = {1, 0.5, -0.25};
      ModelBuilder b = weights(m);
      b.set_gravity(Vec3::Zero());
      for (int i = 0; i < 3; ++i) b.set_velocity(i, Vec3(0, 0, v[static_cast<std::size_t>(i)]), Vec3::Zero());
      Combination stop = sum(c);
      stop.law.limit.upper = 0.2;
      stop.law.limit.restitution = e;
      b.add_combination(stop);
      Simulation sim(b.build(), tight(1e-3, integrator));
      const auto worst = run(sim, 400);
      double rate = 0, W = 0;
      for (std::size_t i = 0; i < 3; ++i) rate += c[i] * v[i], W += c[i] * c[i] / m[i];
      const double lambda = -(1 + e) * rate / W;
      const std::string tag = fmt::format("{}_{}", name_of(integrator), e);
      for (std::size_t i = 0; i < 3; ++i) {
        expect_near(fmt::format("{}_{}", tag, i), sim.state().twist[i][2], v[i] + c[i] * lambda / m[i], 1e-8);
      }
      expect_within(tag + "_violation", worst.limit_violation, 1e-6);
    }
  }
}

// The friction of a rope brakes the sum alone: what keeps L goes on.
TEST(Combination, DryFriction) {
  ModelBuilder b = weights({1, 1});
  b.set_gravity(Vec3::Zero());
  b.set_velocity(0, Vec3(0, 0, 1), Vec3::Zero());
  Combination rope = sum({1, 1});
  rope.law.dry_friction = 2;
  b.add_combination(rope);
  Simulation sim(b.build(), tight(1e-3));
  run(sim, 100);  // L' falls by 2 (1/1 + 1/1) per second
  expect_near("first", sim.state().twist[0][2], 1 - 0.2, 1e-9);
  expect_near("second", sim.state().twist[1][2], -0.2, 1e-9);
  run(sim, 400);
  expect_near("first_at_rest", sim.state().twist[0][2], 0.5, 1e-9);
  expect_near("second_at_rest", sim.state().twist[1][2], -0.5, 1e-9);
  expect_near("friction", sim.energy_flow().friction, 0.25 - 0.5, 1e-9);
}

// The row is the derivative of L, in a chain whose bodies belong to several of its joints.
TEST(Combination, RowIsTheDerivativeOfItsLength) {
  ModelBuilder b("chain");
  Random r(4);
  int last = kWorld;
  for (int i = 0; i < 4; ++i) {
    const Vec3 p(0.3 * i, 0, 0);
    const int body = b.add_body("body" + std::to_string(i), 1, Mat3::Identity(), {p, so3_exp(r.in_box(1))});
    b.add_joint_at("joint" + std::to_string(i), i == 2 ? JointType::cylindrical : JointType::revolute, last, body,
                   p - Vec3(0.15, 0, 0), frame_with_x(r.direction()));
    last = body;
  }
  Combination c{.name = "sum", .terms = {{0, 1.0}, {1, -2.0}, {2, 0.7}, {3, 0.4}, {4, 3.0}}, .offset = 0.1, .law = {}};
  b.add_combination(c);
  const Model model = b.build();
  const State s = State::initial(model);
  std::vector<Vec6> u;
  for (int i = 0; i < 4; ++i) {
    const Vec3 v = r.in_box(1);
    u.push_back(spatial(v, r.in_box(1)));
  }
  constexpr double h = 1e-6;
  double length[2];
  for (int side = 0; side < 2; ++side) {
    std::vector<Pose> X;
    for (std::size_t i = 0; i < 4; ++i) X.push_back(integrate_pose(s.X_WB[i], u[i], side == 0 ? h : -h));
    JointKinematics kin(model);
    kin.update(X);
    length[side] = kin.scalar(5, s.q);
  }
  JointKinematics kin(model);
  kin.update(s.X_WB);
  const CombinationRow row = combination_row(model, kin, 5);
  EXPECT_EQ(row.count, 4);
  double rate = 0;
  for (int i = 0; i < row.count; ++i) rate += row.J[i].dot(u[static_cast<std::size_t>(row.body[i])]);
  expect_near("rate", rate, (length[0] - length[1]) / (2 * h), 1e-8);
  expect_near("kinematics", kin.rate(5, u), rate, 1e-12);
}

// The effort of a tendon behind a motion.
TEST(Combination, InverseDynamicsFindsTheTendonForce) {
  ModelBuilder b = weights({1, 2});
  Combination tendon = sum({1, 1});
  tendon.law.drive.mode = DriveMode::force;
  b.add_combination(tendon);
  InverseOptions options;
  options.step = tight(1e-3, Integrator::semi_implicit);
  InverseDynamics inverse(b.build(), options);
  const State rest = State::initial(b.build());
  std::vector<Vec6> u = rest.twist;
  u[0][2] = 1e-3 * (5.0 / 1 - kGravity);
  u[1][2] = 1e-3 * (5.0 / 2 - kGravity);
  inverse.set_state(rest);
  const InverseResult& r = inverse.solve(u);
  EXPECT_EQ(r.status, InverseStatus::realised) << r.message;
  ASSERT_EQ(r.effort.size(), 3u);
  expect_near("force", r.effort[2], 5, 1e-9);
}

TEST(Combination, GoesOnInTheSameBitsFromASnapshot) {
  ModelBuilder b = weights({1, 2, 3});
  Combination tendon = sum({1, 1, -2});
  tendon.law.stiffness = 100;
  tendon.law.limit.lower = -0.1;
  tendon.law.drive = {.mode = DriveMode::velocity, .kd = 3, .target = {.amplitude = 1, .frequency = 2}};
  b.add_combination(tendon);
  const Model model = b.build();
  Simulation a(model, tight(1e-3));
  a.set_drive_target(3, 0.4);
  run(a, 111);
  Simulation c(model, tight(1e-3));
  c.restore(a.snapshot());
  run(a, 100);
  run(c, 100);
  EXPECT_EQ(a.state().hash(), c.state().hash());
}

}  // namespace
}  // namespace sarrus::combination_test
