// What a simulation tells of its joints and contacts: rates, reactions, forces, against closed forms and Newton's law.
// Damping of bodies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/step/simulation.h"

namespace sarrus::reactions_test {
namespace {

constexpr double kMass = 2;
constexpr double kWeight = kMass * 9.81;
constexpr double kArm = 0.5;

// A rod of 1 m between the world and its own centre, hanging or sticking out along x, on a joint of this type.
ModelBuilder rod_on(JointType type, const Vec3& direction) {
  ModelBuilder b("rod");
  const int rod = b.add_box_body("rod", kMass, Vec3(0.02, 0.02, 0.02), {Vec3(0, 0, 1) + kArm * direction});
  b.add_joint_at("joint", type, kWorld, rod, Vec3(0, 0, 1), frame_with_x(Vec3::UnitY()));
  return b;
}

void expect_wrench(const Vec6& wrench, const Vec3& force, const Vec3& torque, double tolerance = 1e-8) {
  EXPECT_LT((wrench.head<3>() - force).norm(), tolerance) << wrench.transpose();
  EXPECT_LT((wrench.tail<3>() - torque).norm(), tolerance) << wrench.transpose();
}

Simulation run(const ModelBuilder& builder, int steps, Integrator integrator = Integrator::semi_implicit) {
  Simulation sim(builder.build(), {.dt = 1e-3, .integrator = integrator, .tolerance = 1e-12});
  for (int i = 0; i < steps; ++i) EXPECT_NE(sim.step().status, StepStatus::failed);
  return sim;
}

TEST(JointReaction, CarriesAHangingPendulum) {
  for (const JointType type : {JointType::revolute, JointType::spherical, JointType::universal, JointType::fixed}) {
    for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
      const Simulation sim = run(rod_on(type, -Vec3::UnitZ()), 20, integrator);
      expect_wrench(sim.joint_reaction(0), Vec3(0, 0, kWeight), Vec3::Zero());
    }
  }
}

// A cantilever: the weight at half a metre is held by a torque about y, by whatever part of the joint.
TEST(JointReaction, HoldsARodThatSticksOut) {
  const Vec3 force(0, 0, kWeight);
  const Vec3 torque(0, -kWeight * kArm, 0);
  expect_wrench(run(rod_on(JointType::fixed, Vec3::UnitX()), 10).joint_reaction(0), force, torque);
  ModelBuilder locked = rod_on(JointType::revolute, Vec3::UnitX());
  locked.dof(0).limit = {.lower = 0, .upper = 0};
  expect_wrench(run(locked, 10).joint_reaction(0), force, torque);
  ModelBuilder stop = rod_on(JointType::revolute, Vec3::UnitX());
  stop.dof(0).limit.upper = 0;  // gravity turns the rod to positive angles
  expect_wrench(run(stop, 10).joint_reaction(0), force, torque);
  ModelBuilder motor = rod_on(JointType::revolute, Vec3::UnitX());
  motor.dof(0).drive.mode = DriveMode::force;
  motor.dof(0).drive.target.offset = -kWeight * kArm;
  const Simulation sim = run(motor, 10);
  expect_wrench(sim.joint_reaction(0), force, torque);
  EXPECT_NEAR(sim.drive_effort(0), -kWeight * kArm, 1e-12);
  ModelBuilder servo = rod_on(JointType::revolute, Vec3::UnitX());
  servo.dof(0).drive.mode = DriveMode::velocity;
  servo.dof(0).drive.kd = 1e9;
  expect_wrench(run(servo, 10).joint_reaction(0), force, torque, 1e-5);
}

// The same weight on a spring that is stretched to carry it, with implicit and with explicit forces.
TEST(JointReaction, HasTheForceOfASpring) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::explicit_euler}) {
    ModelBuilder b("spring");
    const int body = b.add_sphere_body("body", kMass, 0.1, {});
    const int slide =
        b.add_joint_at("slide", JointType::prismatic, kWorld, body, Vec3::Zero(), frame_with_x(Vec3::UnitZ()));
    b.dof(slide).stiffness = 100;
    b.dof(slide).rest = kWeight / 100;
    expect_wrench(run(b, 5, integrator).joint_reaction(slide), Vec3(0, 0, kWeight), Vec3::Zero(), 1e-6);
  }
}

TEST(JointReaction, OfARodAndARopePullsAlongThem) {
  for (const bool rope : {false, true}) {
    ModelBuilder b("rope");
    const int body = b.add_sphere_body("body", kMass, 0.1, {Vec3(0, 0, -1)});
    b.add_distance("line", kWorld, body, Vec3::Zero(), Vec3(0, 0, -0.9), rope);
    expect_wrench(run(b, 20).joint_reaction(0), Vec3(0, 0, kWeight), Vec3::Zero(), 1e-6);
  }
}

// A gear of ratio 2 between two flywheels: driven with 3 N m, the second one gets twice the torque of the first.
TEST(JointReaction, HasTheTorqueOfACoupling) {
  ModelBuilder b("gear");
  b.set_gravity(Vec3::Zero());
  b.add_body("a", 1, 0.1 * Mat3::Identity(), {});
  b.add_body("b", 1, 0.4 * Mat3::Identity(), {Vec3(1, 0, 0)});
  const int first = b.add_joint_at("first", JointType::revolute, kWorld, 0, Vec3::Zero());
  const int second = b.add_joint_at("second", JointType::revolute, kWorld, 1, Vec3(1, 0, 0));
  b.add_coupling("gear", b.dof_index(first), b.dof_index(second), 2);
  Simulation sim(b.build(), {.dt = 1e-3, .tolerance = 1e-12});
  sim.set_joint_force(0, 3);
  sim.step();
  // 0.1 w_a' = 3 - f, 0.4 w_b' = 2 f, w_a = 2 w_b: f = 1.5, what is left turns a with 1.5 N m, b with 3 N m.
  expect_wrench(sim.joint_reaction(first), Vec3::Zero(), Vec3(1.5, 0, 0));
  expect_wrench(sim.joint_reaction(second), Vec3::Zero(), Vec3(3, 0, 0));
}

TEST(JointReaction, IsZeroBeforeTheFirstStepAndRefusesBadJoints) {
  Simulation sim(rod_on(JointType::revolute, Vec3::UnitX()).build());
  EXPECT_EQ(sim.joint_reaction(0), Vec6::Zero());
  EXPECT_THROW(sim.joint_reaction(1), InputError);
  EXPECT_THROW(sim.joint_reaction(-1), InputError);
  EXPECT_THROW(sim.joint_rate(1), InputError);
}

// Newton and Euler: gravity, reactions and contacts make the change of every body's velocity.
TEST(JointReaction, MovesEveryBodyOfTheScenes) {
  for (const char* scene :
       {"fourbar_fixed", "bennett_linkage", "slider_crank", "stewart_platform", "jansen_walker", "nunchuk", "ring20"}) {
    const Model model = make_scene(scene);
    Simulation sim(model, {.integrator = Integrator::semi_implicit});
    for (int i = 0; i < 50; ++i) sim.step();
    const State before = sim.state();
    ASSERT_EQ(sim.step().substeps, 1) << scene;
    const auto n = model.bodies().size();
    std::vector<Vec6> wrench(n, Vec6::Zero());
    const auto apply = [&](int body, const Vec3& f, const Vec3& tau, const Vec3& at) {
      if (body == kWorld) return;
      const auto i = static_cast<std::size_t>(body);
      wrench[i].head<3>() += f;
      wrench[i].tail<3>() += tau + Vec3(at - before.X_WB[i].p).cross(f);
    };
    JointKinematics kinematics(model);
    kinematics.update(before.X_WB);
    const std::vector<Vec6> reactions = sim.joint_reactions();
    for (int j = 0; j < model.joint_count(); ++j) {
      const Joint& joint = model.joints()[static_cast<std::size_t>(j)];
      const Vec6& r = reactions[static_cast<std::size_t>(j)];
      EXPECT_EQ(sim.joint_reaction(j), r);
      const Vec3 at = kinematics.frame(j).p_F_W;
      apply(joint.follower, r.head<3>(), r.tail<3>(), at);
      // A rod pulls its base along the same line.
      apply(joint.base, -r.head<3>(), -r.tail<3>(), at);
    }
    for (int c = 0; c < static_cast<int>(sim.contacts().size()); ++c) {
      const Contact& contact = sim.contacts()[static_cast<std::size_t>(c)];
      const Vec3 f = sim.contact_force_W(c);
      apply(contact.body_b, f, Vec3::Zero(), contact.p_W);
      apply(contact.body_a, -f, Vec3::Zero(), contact.p_W);
    }
    double worst = 0;
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Body& b = model.bodies()[i];
      const Mat3 R = before.X_WB[i].q.toRotationMatrix();
      const Vec3 w = R.transpose() * before.twist[i].tail<3>();
      const Vec3 w_plus = sim.state().X_WB[i].q.conjugate() * sim.state().twist[i].tail<3>();
      const Vec3 mean = 0.5 * (w + w_plus);
      const Vec3 f = b.mass * ((sim.state().twist[i] - before.twist[i]).head<3>() / sim.dt() - model.gravity());
      const Vec3 tau = R * Vec3(b.inertia_B * (w_plus - w) / sim.dt() + mean.cross(b.inertia_B * mean));
      worst = std::max({worst, (wrench[i].head<3>() - f).norm(), (wrench[i].tail<3>() - tau).norm()});
      largest = std::max({largest, f.norm(), b.mass * model.gravity().norm()});
    }
    // The torque of the mean velocity is that before its own correction: O(dt^2).
    EXPECT_LT(worst, 1e-8 * largest) << scene;
  }
}

// Rates are those of the coordinates, whatever the type.
TEST(JointRate, IsTheDerivativeOfTheCoordinate) {
  for (int t = 0; t < kPlainJointTypeCount; ++t) {
    const auto type = static_cast<JointType>(t);
    const JointTypeInfo& info = joint_type_info(type);
    if (info.dofs == 0 || !info.coordinates) continue;
    ModelBuilder b("joint");
    b.set_gravity(Vec3(1, -2, -3));
    b.add_body("base", 1, Vec3(0.1, 0.15, 0.2).asDiagonal(), {Vec3(0, 0, 0), so3_exp(Vec3(0.1, 0.2, 0.3))});
    b.add_body("follower", 2, Vec3(0.2, 0.15, 0.1).asDiagonal(), {Vec3(0.3, 0.1, 0)});
    b.add_joint_at("anchor", JointType::spherical, kWorld, 0, Vec3(0.1, 0, 0.2));
    const int joint = b.add_joint_at("joint", type, 0, 1, Vec3(0.2, 0, 0), so3_exp(Vec3(0.3, -0.2, 0.5)));
    for (int k = 0; k < info.dofs; ++k)
      b.dof(joint, k).drive = {DriveMode::force, 0, 0, 1e9, {.offset = 0.3 + 0.2 * k}};
    const double dt = 1e-5;
    Simulation sim(b.build(), {.dt = dt});
    for (int i = 0; i < 2000; ++i) sim.step();
    const std::vector<double> before = sim.state().q;
    sim.step();
    for (int k = 0; k < info.dofs; ++k) {
      const int dof = sim.model().joints()[static_cast<std::size_t>(joint)].first_dof + k;
      const double rate = sim.joint_rate(dof);
      const auto i = static_cast<std::size_t>(dof);
      EXPECT_NEAR(rate, (sim.state().q[i] - before[i]) / dt, 1e-3 * (1 + std::abs(rate))) << info.name << " " << k;
      EXPECT_GT(std::abs(rate), 1e-4) << info.name << " " << k;
    }
  }
}

TEST(ContactForce, OfABoxAtRestIsItsWeight) {
  ModelBuilder b("box");
  b.add_floor();
  b.add_box_body("box", kMass, Vec3(0.2, 0.1, 0.1), {Vec3(0, 0, 0.1)});
  const Simulation sim = run(b, 200);
  ASSERT_GE(sim.contacts().size(), 3u);
  Vec3 sum = Vec3::Zero();
  for (int i = 0; i < static_cast<int>(sim.contacts().size()); ++i) {
    const Contact& c = sim.contacts()[static_cast<std::size_t>(i)];
    sum += (c.body_b == 0 ? 1.0 : -1.0) * sim.contact_force_W(i);
  }
  EXPECT_LT((sum - Vec3(0, 0, kWeight)).norm(), 1e-6) << sum.transpose();
}

// --- damping of bodies -----------------------------------------------------------------------------------

TEST(BodyDamping, DecaysAndReachesTheTerminalVelocity) {
  ModelBuilder b("drop");
  b.add_sphere_body("drop", kMass, 0.1, {});
  b.body(0).linear_damping = 4;
  b.body(0).angular_damping = 0.01;
  b.set_velocity(0, Vec3(1, 0, 0), Vec3(0, 3, 0));
  const double inertia = 0.4 * kMass * 0.01;
  Simulation sim = run(b, 1000);
  const Vec6 u = sim.state().twist[0];
  EXPECT_NEAR(u[0], std::exp(-4 / kMass), 1e-3);
  EXPECT_NEAR(u[4], 3 * std::exp(-0.01 / inertia), 1e-3);
  for (int i = 0; i < 20000; ++i) sim.step();
  EXPECT_NEAR(sim.state().twist[0][2], -kWeight / 4, 1e-9);
}

// Whatever the damping and the step: no step of a mechanism without other forces gains kinetic energy.
TEST(BodyDamping, OnlyTakesKineticEnergy) {
  for (const double damping : {0.1, 10.0, 1e6}) {
    for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau, Integrator::implicit_euler}) {
      ModelBuilder b("chain");
      b.set_gravity(Vec3::Zero());
      for (int i = 0; i < 3; ++i) {
        b.add_box_body("link" + std::to_string(i), 1, Vec3(0.1, 0.02, 0.05), {Vec3(0.1 + 0.2 * i, 0, 0)});
        b.body(i).linear_damping = damping;
        b.body(i).angular_damping = 0.01 * damping;
        b.add_joint_at("joint" + std::to_string(i), JointType::spherical, i - 1, i, Vec3(0.2 * i, 0, 0));
        b.set_velocity(i, Vec3(0, 0, 3).cross(Vec3(0.1 + 0.2 * i, 0, 0)), Vec3(0, 0, 3));
      }
      b.set_self_collision(false);
      Simulation sim(b.build(), {.dt = 5e-3, .integrator = integrator});
      double last = energy(sim.model(), sim.state()).kinetic;
      const double first = last;
      for (int i = 0; i < 200; ++i) {
        sim.step();
        const double now = energy(sim.model(), sim.state()).kinetic;
        EXPECT_LE(now, last * (1 + 1e-12) + 1e-20 * first) << damping << " " << name_of(integrator) << " " << i;
        last = now;
      }
      EXPECT_LT(last, 0.95 * first) << damping;
    }
  }
}

// The largest of what joints tell one by one is what the judge reports of all; a rope tells its excess, a soft joint
// its deformation.
TEST(JointOpenings, AddUpToTheReport) {
  for (const char* scene : {"jansen_walker", "stewart_platform", "bennett_linkage"}) {
    Simulation sim(make_scene(scene), {.dt = 1e-3});
    std::vector<JointOpening> errors(sim.model().joints().size());
    for (int i = 0; i < 20; ++i) {
      const StepReport& report = sim.step();
      sim.joint_openings(errors);
      JointOpening most;
      for (const JointOpening& e : errors) most = {std::max(most.gap, e.gap), std::max(most.angle, e.angle)};
      EXPECT_NEAR(most.gap, report.joint_gap, 1e-15) << scene;
      EXPECT_NEAR(most.angle, report.joint_angle, 1e-15) << scene;
    }
    EXPECT_THROW(sim.joint_opening(-1), InputError);
    EXPECT_THROW(sim.joint_opening(sim.model().joint_count()), InputError);
    errors.pop_back();
    EXPECT_THROW(sim.joint_openings(errors), InputError);
  }
}

TEST(JointOpenings, AreTheOpeningOfAJointThatWasPulledApart) {
  Simulation sim(rod_on(JointType::revolute, -Vec3::UnitZ()).build(), {.dt = 1e-3});
  State state = sim.state();
  state.X_WB[0].p += Vec3(0, 3e-4, 0);
  sim.set_state(state);
  EXPECT_NEAR(sim.joint_opening(0).gap, 3e-4, 1e-15);
  EXPECT_NEAR(sim.joint_opening(0).angle, 0, 1e-15);
  state.X_WB[0].q = Quat(Eigen::AngleAxisd(1e-3, Vec3::UnitX()));
  sim.set_state(state);
  EXPECT_NEAR(sim.joint_opening(0).angle, 1e-3, 1e-8);
}

TEST(DriveTarget, IsTheInputOrTheSignalWithinItsBounds) {
  ModelBuilder b = rod_on(JointType::revolute, -Vec3::UnitZ());
  Drive& drive = b.dof(0).drive;
  drive.mode = DriveMode::position;
  drive.kp = 10;
  drive.target.offset = 0.25;
  drive.target_upper = 0.5;
  Simulation sim(b.build(), {.dt = 1e-3});
  EXPECT_EQ(sim.drive_target(0), 0.25);
  sim.set_drive_target(0, 0.4);
  EXPECT_EQ(sim.drive_target(0), 0.4);
  sim.set_drive_target(0, 4);
  EXPECT_EQ(sim.drive_target(0), 0.5);
  sim.clear_drive_target(0);
  EXPECT_EQ(sim.drive_target(0), 0.25);
}

// What slides slowly slides, however loose the tolerance is.
TEST(ContactModes, SlowSlidingWithALooseTolerance) {
  ModelBuilder b("block");
  const int material = b.add_material("wood", 0.5);
  b.add_geom(kWorld, Shape::plane(), {}, material);
  const int block = b.add_box_body("block", kMass, Vec3(0.2, 0.2, 0.1), {Vec3(0, 0, 0.1)}, material);
  SimulationOptions options{.dt = 1e-3};
  options.tolerance = 1e-3;
  Simulation sim(b.build(), options);
  for (int i = 0; i < 5; ++i) sim.step();
  sim.set_body_wrench(block, spatial(Vec3(0.7 * kWeight, 0, 0), Vec3::Zero()));
  for (int i = 0; i < 5; ++i) sim.step();
  const double speed = sim.state().twist[0][0];
  ASSERT_GT(speed, 1e-3);
  ASSERT_LT(speed, 0.1);
  int sliding = 0;
  for (std::size_t i = 0; i < sim.contacts().size(); ++i) {
    sliding += sim.contact_mode(static_cast<int>(i)) == ContactMode::sliding;
  }
  EXPECT_GT(sliding, 0);
}

// A block on a floor that is pushed: below mu m g it stands, above it slides; thrown up it touches nothing.
TEST(ContactModes, OfABlockThatIsPushed) {
  for (const double push : {0.3, 0.7}) {
    ModelBuilder b("block");
    const int material = b.add_material("wood", 0.5);
    b.add_geom(kWorld, Shape::plane(), {}, material);
    const int block = b.add_box_body("block", kMass, Vec3(0.2, 0.2, 0.1), {Vec3(0, 0, 0.1)}, material);
    Simulation sim(b.build(), {.dt = 1e-3});
    for (int i = 0; i < 5; ++i) sim.step();
    sim.set_body_wrench(block, spatial(Vec3(push * kWeight, 0, 0), Vec3::Zero()));
    for (int i = 0; i < 20; ++i) sim.step();
    ASSERT_GE(sim.contacts().size(), 3u);
    for (std::size_t i = 0; i < sim.contacts().size(); ++i) {
      if (sim.contact_force_W(static_cast<int>(i)).z() < 0.1) continue;
      EXPECT_EQ(sim.contact_mode(static_cast<int>(i)), push < 0.5 ? ContactMode::sticking : ContactMode::sliding)
          << push << " contact " << i;
    }
    EXPECT_THROW(sim.contact_mode(100), InputError);
  }
}

TEST(StepReport, TellsTheErrorThatIsComparedWithTheTolerance) {
  Simulation sim(make_scene("fourbar_swing"), {.dt = 1e-3});
  for (int i = 0; i < 20; ++i) {
    const StepReport& report = sim.step();
    EXPECT_EQ(report.error, report.residuals.error());
    EXPECT_EQ(report.met_tolerance, report.error <= sim.options().tolerance);
  }
}

}  // namespace
}  // namespace sarrus::reactions_test
