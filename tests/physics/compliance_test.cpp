// What simulations with compliant contacts, joints and limits settle to, and how free motion ends in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "effort.h"
#include "physics/harness.h"
#include "problem/compliance_checks.h"
#include "sarrus/analysis/analysis.h"
#include "sarrus/math/error.h"
#include "sarrus/rows/compliance.h"
#include "sarrus/scenes/foundation.h"

namespace sarrus::compliance_test {
namespace {

using test::all_models;
using test::expect_relative;

constexpr double kPi = std::numbers::pi;
constexpr double kGravity = 9.81;

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
      // The solver stops at 1e-9 m/s, which is 1e-12 m in a step.
      EXPECT_NEAR(rest_depth(c, dt), near_rigid_depth(dt, tau, beta), 1e-12);
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
      ASSERT_NEAR(sim.state().twist[0][2], v, 1e-9) << name_of(c.model);
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
  SARRUS_FULL_SIZE_ONLY();
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
  SARRUS_FULL_SIZE_ONLY();
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
    EXPECT_NEAR(sim.state().twist[0][0], 2 - 0.4 * kGravity * 0.3, 2e-3) << name_of(c.model);
    while (sim.time() < 1) ASSERT_EQ(sim.step().status, StepStatus::converged);
    EXPECT_LT(std::abs(sim.state().twist[0][0]), 1e-4) << name_of(c.model);
  }
}

// --- larger scenes ---------------------------------------------------------------------------------------

// A built-in scene with all contacts, joints, couplings and limits soft.
Model softened(std::string_view scene, const Compliance& contact, const Compliance& joint) {
  ModelData d = make_scene(scene).data();
  for (Material& m : d.materials) m.compliance = contact;
  for (MaterialPair& p : d.material_pairs) p.compliance = contact;
  for (Joint& j : d.joints) j.compliance = joint;
  for (Coupling& c : d.couplings) c.compliance = joint;
  for (Dof& dof : d.dofs) dof.limit.compliance = joint;
  return finish_model(std::move(d));
}

TEST(SoftScenes, StacksSolveWithEveryModel) {
  const Compliance rigid;
  for (const Compliance& c :
       {Compliance::soft_cfm_erp(1e-4, 0.2), Compliance::soft_mujoco(), Compliance::soft_physical(1e6, 0.01),
        Compliance::soft_physical(1e15, 1e-3 / kPi), Compliance::soft_spring_damper(1e6, 1e3),
        Compliance::mlcp_unilateral(), Compliance::soft_hertz(1e8, 0.1, 1e3)}) {
    Simulation sim(softened("stack15_equal", c, rigid));
    const testing::Worst worst = testing::run(sim, test::samples(400));
    EXPECT_EQ(worst.not_converged, 0) << name_of(c.model);
    EXPECT_LT(worst.penetration, 0.02) << name_of(c.model);
    for (const Vec6& twist : sim.state().twist) EXPECT_LT(twist.norm(), 0.2) << name_of(c.model);
  }
}

TEST(SoftScenes, LoopsSolveWithEveryModel) {
  const Compliance rigid;
  for (const Compliance& c :
       {Compliance::soft_cfm_erp(1e-5, 0.2), Compliance::soft_mujoco(), Compliance::soft_physical(1e6, 0.01),
        Compliance::soft_spring_damper(1e6, 1e3), Compliance::mlcp_bilateral()}) {
    for (const char* scene : {"fourbar_swing", "bennett_linkage", "slider_crank"}) {
      for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
        SimulationOptions options;
        options.integrator = integrator;
        Simulation sim(softened(scene, rigid, c), options);
        double stretch = 0;
        const testing::Worst worst = testing::run(
            sim, test::samples(300), [&](const StepReport& r) { stretch = std::max(stretch, r.compliant_gap); });
        EXPECT_EQ(worst.not_converged, 0) << scene << ' ' << name_of(c.model);
        EXPECT_EQ(worst.joint_gap, 0) << scene;
        EXPECT_GT(stretch, 0) << scene;
        EXPECT_LT(stretch, 0.01) << scene << ' ' << name_of(c.model) << ' ' << name_of(integrator);
      }
    }
  }
}

// The stiffer the joints, the nearer the motion to that of rigid ones.
TEST(SoftScenes, StiffJointsApproachRigidOnes) {
  const auto end_of = [](const Compliance& joint) {
    Simulation sim(softened("fourbar_swing", {}, joint));
    testing::run(sim, 200);
    return sim.state().X_WB[0].p;
  };
  const Vec3 rigid = end_of({});
  const double soft = (end_of(Compliance::soft_spring_damper(1e5, 1e3)) - rigid).norm();
  const double stiff = (end_of(Compliance::soft_spring_damper(1e7, 1e4)) - rigid).norm();
  EXPECT_GT(soft, 0);
  EXPECT_LT(stiff, soft);
  EXPECT_LT(stiff, 2e-3);
}

}  // namespace
}  // namespace sarrus::compliance_test
