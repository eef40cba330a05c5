// Inverse dynamics: the table of docs/theory/inverse.md §2, closed forms, and round trips through the forward step.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "physics/harness.h"
#include "sarrus/inverse/inverse_dynamics.h"
#include "sarrus/math/cones.h"
#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus::inverse_dynamics_test {
namespace {

using testing::expect_near;
using testing::expect_within;
using testing::options_with;

constexpr double kMu = 0.5;

ContactInverse proximal(const Vec3& c, const Vec3& R, Law law = Law::ncp, double rho = 1e-8, double tolerance = 1e-6) {
  ContactInverseOptions o;
  o.tolerance = tolerance;
  o.law = law;
  o.rho = rho;
  return contact_inverse_proximal(c, R, kMu, Vec3(0, 0, 1), o);
}

TEST(ContactInverse, CompliantSlidingIntoTheSurfaceIsUnique) {
  const Vec3 R(1e-3, 1e-3, 1e-3);
  const Vec3 c(0.2, 0, -1e-3);
  for (const double rho : {1e-8, 1e-2}) {
    const ContactInverse a = proximal(c, R, Law::ncp, rho, 1e-9);
    ASSERT_EQ(a.status, SolveStatus::converged);
    EXPECT_NEAR(a.lambda[2], 1.0, 1e-7);
    EXPECT_NEAR(a.lambda[0], -kMu, 1e-7);
    EXPECT_LE(a.iterations, rho < 1e-4 ? 15 : 400);
  }
}

TEST(ContactInverse, RigidSlidingKeepsTheProjectionOfTheStart) {
  const ContactInverse a = proximal(Vec3(1, 0, 0), Vec3::Zero());
  ASSERT_EQ(a.status, SolveStatus::converged);
  EXPECT_LE(a.iterations, 3);
  EXPECT_NEAR((a.lambda - Vec3(-0.4, 0, 0.8)).norm(), 0, 1e-7);
}

TEST(ContactInverse, RigidSlidingDivergesInTheConvexModel) {
  const ContactInverse a = proximal(Vec3(1, 0, 0), Vec3::Zero(), Law::ccp);
  EXPECT_EQ(a.status, SolveStatus::infeasible);
  EXPECT_TRUE(a.lambda.allFinite());
  ContactInverseOptions o;
  o.law = Law::ccp;
  EXPECT_FALSE(contact_inverse_feasible(Vec3(1, 0, 0), Vec3::Zero(), kMu, o));
  EXPECT_TRUE(contact_inverse_feasible(Vec3(1, 0, 0.5), Vec3::Zero(), kMu, o));
}

TEST(ContactInverse, StickReturnsTheStartPenetrationIsInfeasibleOpeningIsZero) {
  EXPECT_NEAR((proximal(Vec3::Zero(), Vec3::Zero()).lambda - Vec3(0, 0, 1)).norm(), 0, 1e-12);
  EXPECT_EQ(proximal(Vec3(0, 0, -0.1), Vec3::Zero()).status, SolveStatus::infeasible);
  for (const double R : {0.0, 1e-3}) {
    const ContactInverse open = proximal(Vec3(0.3, 0, 0.1), Vec3::Constant(R));
    ASSERT_EQ(open.status, SolveStatus::converged) << R;
    EXPECT_EQ(open.lambda.norm(), 0.0) << R;
  }
}

TEST(ContactInverse, ProximalIterationFindsTheClosedForm) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> velocity(-1, 1), exponent(-4, 0), friction(0, 1.5);
  double worst = 0;
  for (int k = 0; k < 600; ++k) {
    const double R_t = std::pow(10, exponent(random));
    const Vec3 R(R_t, R_t, std::pow(10, exponent(random)));
    const Vec3 c(velocity(random), velocity(random), velocity(random));
    const double mu = friction(random);
    for (const Law law : {Law::ncp, Law::ccp}) {
      ContactInverseOptions o;
      o.law = law;
      o.tolerance = 1e-10;
      const Vec3 exact = contact_inverse_closed_form(c, R, mu, law);
      const ContactInverse a = contact_inverse_proximal(c, R, mu, Vec3::Zero(), o);
      worst = std::max(worst, (a.lambda - exact).cwiseAbs().maxCoeff() / (1 + exact.norm()));
      // The closed form is the solution of the law itself.
      Vec3 v = R.cwiseProduct(exact) + c;
      if (law == Law::ncp) v[2] += de_saxce(v, mu);
      ASSERT_LE((exact - project_cone(exact - v, mu)).cwiseAbs().maxCoeff(), 1e-12 * (1 + exact.norm()));
    }
  }
  expect_within("difference", worst, 1e-7);
}

// Steps the scene with its drives, and asks which efforts led from each state to the next.
struct RoundTrip {
  double effort = 0;      // worst difference of an effort, relative to max(1, |effort|)
  double unrealised = 0;  // N or N m
  int steps = 0;
  int realised = 0;
};
RoundTrip round_trip(const Model& model, InverseOptions options, int steps, int first = 0) {
  options.step.tolerance = 1e-11;
  Simulation sim(model, options.step);
  InverseDynamics inverse(model, options);
  RoundTrip out;
  for (int i = 0; i < steps; ++i) {
    const State before = sim.state();
    const StepReport& report = sim.step();
    EXPECT_NE(report.status, StepStatus::failed);
    if (i < first) continue;
    inverse.set_state(before);
    std::vector<Vec3> start;
    for (int k = 0; k < report.contacts; ++k) start.push_back(sim.contact_impulse_W(k));
    const InverseResult& r = inverse.solve(sim.state().twist, start);
    ++out.steps;
    out.realised += r.status == InverseStatus::realised;
    out.unrealised = std::max(out.unrealised, r.unrealised);
    for (int dof = 0; dof < model.dof_count(); ++dof) {
      if (model.dofs()[static_cast<std::size_t>(dof)].drive.mode == DriveMode::none) continue;
      const double expected = sim.drive_effort(dof);
      const double e = std::abs(r.effort[static_cast<std::size_t>(dof)] - expected);
      out.effort = std::max(out.effort, e / std::max(1.0, std::abs(expected)));
    }
  }
  return out;
}

// A bead with armature on a spoke of a table that turns; both have a rotor and a drive.
constexpr double kTable = 0.4, kTableRotor = 0.1, kBead = 1.0, kBeadRotor = 3.0, kBeadInertia = 0.01;
ModelBuilder bead_on_a_table() {
  ModelBuilder b("bead on a table");
  b.set_gravity(Vec3::Zero());
  const int table = b.add_body("table", 1, kTable * Mat3::Identity(), {});
  const int bead = b.add_body("bead", kBead, kBeadInertia * Mat3::Identity(), {Vec3(0.3, 0, 0)});
  const int turn =
      b.add_joint_at("turn", JointType::revolute, kWorld, table, Vec3::Zero(), frame_with_x(Vec3::UnitZ()));
  const int slide = b.add_joint_at("slide", JointType::prismatic, table, bead, Vec3(0.3, 0, 0));
  b.dof(turn).armature = kTableRotor;
  b.dof(slide).armature = kBeadRotor;
  for (const int joint : {turn, slide}) {
    b.dof(joint).drive.mode = DriveMode::velocity;
    b.dof(joint).drive.kd = 20;
  }
  b.dof(turn).drive.target.offset = 3;
  b.dof(slide).drive.target.offset = 0.4;
  return b;
}

TEST(InverseDynamics, FindsTheEffortsOfDrivesWithArmature) {
  InverseOptions o;
  o.step = options_with(1e-3, Integrator::semi_implicit);
  const RoundTrip r = round_trip(bead_on_a_table().build(), o, 500);
  EXPECT_EQ(r.realised, r.steps);
  expect_within("effort", r.effort, 1e-6);
}

// A motion from elsewhere, phi = 3 t + t^2/2 and r = 0.3 + 0.1 sin 4 t: states with exact velocities and no step
// before.
//   effort of the table = d/dt((I + m r^2) phi'),    of the bead = (m + a) r'' - m r phi'^2
TEST(InverseDynamics, CountsArmatureOnAGivenMotion) {
  const Model model = bead_on_a_table().build();
  const double inertia = kTable + kTableRotor + kBeadInertia;
  const auto r = [](double t) { return 0.3 + 0.1 * std::sin(4 * t); };
  const auto r1 = [](double t) { return 0.4 * std::cos(4 * t); };
  const auto r2 = [](double t) { return -1.6 * std::sin(4 * t); };
  const auto state_at = [&](double t) {
    State s = State::initial(model);
    const double phi = 3 * t + 0.5 * t * t;
    const Vec3 spoke(std::cos(phi), std::sin(phi), 0), w(0, 0, 3 + t);
    s.time = t;
    s.X_WB[0].q = s.X_WB[1].q = Quat(std::cos(phi / 2), 0, 0, std::sin(phi / 2));
    s.X_WB[1].p = r(t) * spoke;
    s.twist[0] = spatial(Vec3::Zero(), w);
    s.twist[1] = spatial(r1(t) * spoke + w.cross(s.X_WB[1].p), w);
    s.q = {phi, r(t) - 0.3};
    return s;
  };
  for (const double dt : {1e-3, 1e-4}) {
    InverseOptions o;
    o.step = options_with(dt, Integrator::semi_implicit);
    InverseDynamics inverse(model, o);
    double table = 0, bead = 0;
    for (const double t : {0.0, 0.2, 0.5, 0.9}) {
      inverse.set_state(state_at(t));
      const InverseResult& result = inverse.solve(state_at(t + dt).twist);
      const double w = 3 + t;
      table =
          std::max(table, std::abs(result.effort[0] - (inertia + kBead * r(t) * r(t) + 2 * kBead * r(t) * r1(t) * w)));
      bead = std::max(bead, std::abs(result.effort[1] - ((kBead + kBeadRotor) * r2(t) - kBead * r(t) * w * w)));
    }
    expect_within(fmt::format("table_{}_Nm", dt), table, 20 * dt);
    expect_within(fmt::format("bead_{}_N", dt), bead, 80 * dt);
  }
}

// Nothing but gravity acts on a body that tumbles, free or on a spherical joint, nor but its spring and damper if that
// has them: no force is missing, none is found.
TEST(InverseDynamics, UndoesTheRotationOfTheStep) {
  for (const double stiffness : {-1.0, 0.0, 3.0}) {
    const bool jointed = stiffness >= 0;
    ModelBuilder b("tumble");
    const int body = b.add_body("body", 2.0, Mat3(Vec3(0.1, 0.2, 0.25).asDiagonal()), {Vec3(0.3, 0, 0)});
    if (jointed) {
      const int ball = b.add_joint_at("ball", JointType::spherical, kWorld, body, Vec3::Zero());
      b.set_ball_spring(ball, stiffness, 0.1 * stiffness, so3_exp(Vec3(0.4, -1, 0.7)));
    } else {
      b.set_velocity(body, Vec3(1, 0, 2), Vec3(5, 1, 5));
    }
    const Model model = b.build();
    InverseOptions options;
    options.step = options_with(1e-3, Integrator::semi_implicit);
    InverseDynamics inverse(model, options);
    Simulation sim(model, options.step);
    for (int i = 0; i < 400; ++i) {
      inverse.set_state(sim.state());
      sim.step();
      const InverseResult& r = inverse.solve(sim.state().twist);
      ASSERT_EQ(r.status, InverseStatus::realised) << stiffness << ", step " << i << ": " << r.unrealised;
      ASSERT_LT(r.unrealised, 1e-6);
    }
  }
}

// A closed loop with three redundant rows: the crank's torque is unique nevertheless.
TEST(InverseDynamics, FindsTheTorqueOfADrivenFourBar) {
  InverseOptions o;
  o.step = options_with(1e-3, Integrator::semi_implicit);
  o.minimum_torque = false;
  const RoundTrip r = round_trip(make_scene("fourbar_fixed"), o, 300);
  EXPECT_EQ(r.realised, r.steps);
  expect_within("effort", r.effort, 1e-6);
}

// Three links in the vertical plane press a round tip against a wall while a servo moves it along: one contact,
// sliding.
Model wall_arm(const Compliance& compliance = {}) {
  ModelBuilder b("wall_arm");
  const int material = b.add_material("tip", 0.4, 0, compliance);
  const double lengths[] = {0.4, 0.35, 0.1};
  const double angles[] = {1.0, -0.6, -0.9};
  Vec3 anchor(0, 0, 0);
  double angle = 0;
  int parent = kWorld;
  for (int i = 0; i < 3; ++i) {
    angle += angles[i];
    const Vec3 along(std::cos(angle), 0, std::sin(angle));
    const Pose X{anchor + 0.5 * lengths[i] * along, Quat(Eigen::AngleAxisd(-angle, Vec3::UnitY()))};
    const int link = b.add_body("link" + std::to_string(i), 2.0 - 0.5 * i, 0.02 * Mat3::Identity(), X);
    const int joint = b.add_joint_at("joint" + std::to_string(i), JointType::revolute, parent, link, anchor,
                                     frame_with_x(Vec3::UnitY()));
    Dof& dof = b.dof(joint);
    dof.drive.mode = DriveMode::position;
    dof.drive.kp = 400;
    dof.drive.kd = 20;
    // Outwards and down: the tip is pressed to the wall and dragged along it.
    dof.drive.target = Signal{.offset = i == 0 ? 0.05 : 0.02, .amplitude = 0.1, .frequency = 0.5, .phase = 0.4 * i};
    parent = link;
    anchor += lengths[i] * along;
  }
  const double radius = 0.03;
  b.add_geom(parent, Shape::sphere(radius), {Vec3(0.05, 0, 0), Quat::Identity()}, material, "tip");
  b.add_geom(kWorld, Shape::plane(),
             {Vec3(anchor.x() + radius, 0, 0), Quat::FromTwoVectors(Vec3::UnitZ(), -Vec3::UnitX())}, material, "wall");
  return b.build();
}

// Carpentier et al. §V-D with an arm of ours: R = 0, rho = 1e-8, tolerance 1e-6.
TEST(InverseDynamics, ArmSlidingOnAWallNeedsTheTrueFrictionLaw) {
  const Model model = wall_arm();
  InverseOptions o;
  o.step = options_with(1e-3, Integrator::semi_implicit);
  o.minimum_torque = false;
  const int settle = 50;
  const RoundTrip ncp = round_trip(model, o, 400, settle);
  EXPECT_EQ(ncp.realised, ncp.steps);
  expect_within("ncp_effort", ncp.effort, 1e-5);

  // The forward motion slides: in the convex model no impulse explains it.
  Simulation sim(model, o.step);
  o.contact.law = Law::ccp;
  InverseDynamics convex(model, o);
  int sliding = 0, infeasible = 0;
  for (int i = 0; i < 400; ++i) {
    const State before = sim.state();
    sim.step();
    if (i < settle || sim.contacts().empty()) continue;
    convex.set_state(before);
    const InverseResult& r = convex.solve(sim.state().twist, std::vector<Vec3>{sim.contact_impulse_W(0)});
    const VecX u = [&] {
      VecX stacked(18);
      for (int k = 0; k < 3; ++k) stacked.segment<6>(6 * k) = sim.state().twist[static_cast<std::size_t>(k)];
      return stacked;
    }();
    VecX v(convex.problem().rows());
    convex.problem().multiply_J(u, v);
    const Vec3 contact = v.tail<3>();
    if (length2(contact[0], contact[1]) < 1e-3 || sim.contact_impulse(0)[2] < 1e-6) continue;
    ++sliding;
    infeasible += r.status == InverseStatus::infeasible;
  }
  EXPECT_GT(sliding, 200);
  EXPECT_EQ(infeasible, sliding);
}

// Compliant contacts determine their impulses: forward and back give the same torques, for both laws and both methods.
TEST(InverseDynamics, CompliantRoundTripsAreExact) {
  const struct {
    const char* solver;
    Law law;
  } cases[] = {{"cascade", Law::ncp}, {"admm-ncp-sa", Law::ncp}, {"sap", Law::ccp}, {"admm-ccp", Law::ccp}};
  for (const auto& c : cases) {
    for (const InverseMethod method : {InverseMethod::proximal, InverseMethod::analytical}) {
      InverseOptions o;
      o.step = options_with(1e-3, Integrator::semi_implicit);
      o.step.solver = c.solver;
      o.contact.law = c.law;
      o.contact.tolerance = 1e-11;
      o.method = method;
      const RoundTrip r = round_trip(wall_arm(Compliance::soft_physical(1e5, 1e-3)), o, 200);
      EXPECT_EQ(r.realised, r.steps) << c.solver;
      expect_within(std::string(c.solver) + (method == InverseMethod::proximal ? "_proximal" : "_analytical"), r.effort,
                    1e-6);
    }
  }
}

// With the wrong law the torques of a sliding compliant contact come out wrong: the test above can fail.
TEST(InverseDynamics, LawsDifferWhileSliding) {
  InverseOptions o;
  o.step = options_with(1e-3, Integrator::semi_implicit);
  o.contact.law = Law::ccp;
  EXPECT_GT(round_trip(wall_arm(Compliance::soft_physical(1e5, 1e-3)), o, 200).effort, 1e-3);
}

TEST(InverseDynamics, AnalyticalMethodNeedsCompliance) {
  InverseOptions o;
  o.step = options_with(1e-3, Integrator::semi_implicit);
  o.method = InverseMethod::analytical;
  const Model model = wall_arm();
  InverseDynamics inverse(model, o);
  const State state = State::initial(model);
  inverse.set_state(state);
  const InverseResult& r = inverse.solve(state.twist);
  EXPECT_EQ(r.status, InverseStatus::infeasible);
  EXPECT_NE(r.message.find("proximal"), std::string::npos) << r.message;
}

// The free choice among rigid contact forces: the smallest torques that still produce the motion.
TEST(InverseDynamics, MinimumTorqueRealisesTheMotionWithNoMoreTorque) {
  const Model model = wall_arm();
  InverseOptions o;
  o.step = options_with(1e-3, Integrator::semi_implicit);
  o.step.tolerance = 1e-11;
  Simulation sim(model, o.step);
  InverseDynamics inverse(model, o);
  for (int i = 0; i < 200; ++i) {
    const State before = sim.state();
    sim.step();
    inverse.set_state(before);
    const InverseResult& r = inverse.solve(sim.state().twist);
    ASSERT_EQ(r.status, InverseStatus::realised) << r.message << " at step " << i;
    double chosen = 0, forward = 0;
    for (int dof = 0; dof < 3; ++dof) {
      chosen += std::pow(r.effort[static_cast<std::size_t>(dof)], 2);
      forward += std::pow(sim.drive_effort(dof), 2);
    }
    ASSERT_LE(chosen, forward * (1 + 1e-3) + 1e-6) << "step " << i;
  }
}

// A free body has nobody to push it: the force that is missing is named in newtons.
TEST(InverseDynamics, ReportsForceThatNoActuatorGives) {
  ModelBuilder b("free");
  b.add_body("body", 2.0, Mat3::Identity(), {});
  InverseOptions o;
  o.step = options_with(1e-2);
  InverseDynamics inverse(b.build(), o);
  inverse.set_state(State::initial(b.build()));
  const InverseResult& r = inverse.solve(std::vector<Vec6>{spatial(Vec3(0.1, 0, 0), Vec3::Zero())});
  EXPECT_EQ(r.status, InverseStatus::underactuated);
  expect_near("vertical", r.unrealised, 20.0, 1e-6);  // 2 kg at 10 m/s^2 along x, 9.81 m/s^2 against gravity
}

// A watch and a crane of the same proportions are judged alike: masses scale by s, so do all forces.
TEST(InverseDynamics, UnderactuationIsRelativeToTheForcesPresent) {
  for (const double s : {1e-9, 1.0, 1e9}) {
    for (const bool driven : {true, false}) {
      ModelBuilder b("arm");
      b.add_box_body("upper", s, Vec3(0.1, 0.02, 0.02), {Vec3(0.1, 0, 1)});
      b.add_box_body("lower", s, Vec3(0.1, 0.02, 0.02), {Vec3(0.3, 0, 1)});
      const Quat y = frame_with_x(Vec3::UnitY());
      const int shoulder = b.add_joint_at("shoulder", JointType::revolute, kWorld, 0, Vec3(0, 0, 1), y);
      const int elbow = b.add_joint_at("elbow", JointType::revolute, 0, 1, Vec3(0.2, 0, 1), y);
      b.dof(shoulder).drive.mode = DriveMode::force;
      if (driven) b.dof(elbow).drive.mode = DriveMode::force;
      InverseOptions o;
      o.step = options_with(1e-3, Integrator::semi_implicit);
      InverseDynamics inverse(b.build(), o);
      inverse.set_state(State::initial(b.build()));
      const InverseResult& r = inverse.solve(std::vector<Vec6>(2, Vec6::Zero()));  // held up
      EXPECT_EQ(r.status, driven ? InverseStatus::realised : InverseStatus::underactuated) << s;
      EXPECT_GE(r.largest_force, 9.81 * s) << s;
      EXPECT_LT(r.largest_force, 1000 * s) << s;
    }
    // At rest on the floor: contacts do it all, and what they leave is rounding of their own forces.
    ModelBuilder b("block");
    b.add_floor();
    b.add_box_body("block", s, Vec3(0.1, 0.1, 0.1), {Vec3(0, 0, 0.1)});
    InverseOptions o;
    o.step = options_with(1e-3, Integrator::semi_implicit);
    Simulation sim(b.build(), o.step);
    for (int i = 0; i < 200; ++i) sim.step();
    InverseDynamics inverse(b.build(), o);
    inverse.set_state(sim.state());
    sim.step();
    const InverseResult& r = inverse.solve(sim.state().twist);
    EXPECT_EQ(r.status, InverseStatus::realised) << s << " " << r.unrealised << " of " << r.largest_force;
  }
}

TEST(InverseDynamics, PenetratingReferenceIsInfeasibleByName) {
  ModelBuilder b("ball");
  b.add_sphere_body("ball", 1.0, 0.1, {Vec3(0, 0, 0.1), Quat::Identity()});
  b.geom(0).name = "ball";
  b.add_floor();
  InverseOptions o;
  o.step = options_with(1e-3);
  InverseDynamics inverse(b.build(), o);
  inverse.set_state(State::initial(b.build()));
  const InverseResult& r = inverse.solve(std::vector<Vec6>{spatial(Vec3(0, 0, -1), Vec3::Zero())});
  EXPECT_EQ(r.status, InverseStatus::infeasible);
  EXPECT_EQ(r.infeasible_rows, 1);
  EXPECT_NE(r.message.find("ball"), std::string::npos) << r.message;
}

TEST(InverseDynamics, BadInputIsRefusedByName) {
  ModelBuilder b("free");
  b.add_body("body", 2.0, Mat3::Identity(), {});
  InverseDynamics inverse(b.build(), {});
  EXPECT_THROW(inverse.solve({}), InputError);
  inverse.set_state(State::initial(b.build()));
  EXPECT_THROW(inverse.solve({}), InputError);
  EXPECT_THROW(inverse.solve(std::vector<Vec6>{Vec6::Constant(std::nan(""))}), InputError);
  EXPECT_THROW(inverse.solve(std::vector<Vec6>{Vec6::Zero()}, std::vector<Vec3>(3)), InputError);
}

}  // namespace
}  // namespace sarrus::inverse_dynamics_test
