// One assembly: what the step solves is what the assembler gives, and coordinates of another kind need no other rows.
#include "sarrus/step/assembler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/simulation.h"

namespace sarrus::assembler_test {
namespace {

const Vec3 kPivot(0, 0, 1);

// A bar on a hinge about y, with a stop, a spring, a servo and a floor under its end.
Model pendulum() {
  ModelBuilder b("pendulum");
  const int bar = b.add_box_body("bar", 2, Vec3(0.25, 0.05, 0.02), {kPivot + Vec3(0.25, 0, 0)});
  b.add_joint_at("hinge", JointType::revolute, kWorld, bar, kPivot, frame_with_x(Vec3::UnitY()));
  Dof& dof = b.dof(0);
  dof.limit.lower = -0.5;
  dof.limit.upper = 1.2;
  dof.stiffness = 3;
  dof.rest = 0.4;
  dof.damping = 0.5;
  dof.armature = 0.02;
  dof.drive.mode = DriveMode::position;
  dof.drive.kp = 20;
  dof.drive.kd = 1;
  dof.drive.target.offset = 0.3;
  b.add_geom(bar, Shape::sphere(0.05), {Vec3(0.25, 0, 0)});
  b.add_geom(kWorld, Shape::plane(), {Vec3(0, 0, 1 - 0.05 - 0.5 * std::sin(1.0))});
  return b.build();
}

// One node of one component, the rate of the hinge: what reduced coordinates of a tree look like.
class HingeCoordinates final : public Coordinates {
 public:
  explicit HingeCoordinates(const Model& model) : model_(model) {
    node_sizes_ = {1};
    velocity_size_ = 1;
    holds_ = {true};
    maps_ = {{0, 0, 1, X_.data()}};
  }
  void gather(std::span<const Pose>, std::span<const Vec6> twist, VecX& u) const override { u[0] = twist[0][4]; }
  void scatter(std::span<const Pose> X_WB, const VecX& u, std::span<Vec6> twist) const override {
    twist[0] = u[0] * column(X_WB[0]);
  }
  void mass_blocks(std::span<const Pose> X_WB, std::span<double> mass, std::span<double> mass_inverse) override {
    X_ = column(X_WB[0]);
    const Body& b = model_.bodies()[0];
    const Mat3 R = X_WB[0].R();
    mass[0] = b.mass * X_.head<3>().squaredNorm() + X_.tail<3>().dot(R * b.inertia_B * R.transpose() * X_.tail<3>());
    mass_inverse[0] = 1 / mass[0];
  }
  void free_velocity(const FreeMotion& m, std::span<double> mass, std::span<double> mass_inverse,
                     VecX& u_free) override {
    mass_blocks(m.X_WB, mass, mass_inverse);
    gather(m.X_WB, m.twist, u_free);
    const Vec6 force = spatial(model_.bodies()[0].mass * model_.gravity(), Vec3::Zero()) + m.wrench_W[0];
    u_free[0] += m.dt * mass_inverse[0] * X_.dot(force);
  }
  void correct_rotation(const FreeMotion&, VecX&) const override {}
  void rotate_freely(const FreeMotion&, Rotation, VecX&) const override {}
  void move(const FreeMotion& m, std::span<const Pose> from, const VecX& u, std::span<Pose> to) override {
    const double a = m.scheme[0]->position;
    VecX before(1);
    gather(m.X_WB, m.twist, before);
    integrate(from, a * u + (1 - a) * before, m.dt, m.scheme[0]->attitude, to);
  }
  void carry(std::span<const Pose>, std::span<const Pose>, VecX&) const override {}
  void damp(std::span<const double>, double, VecX&) const override {}
  void integrate(std::span<const Pose> from, const VecX& u, double dt, AttitudeMap, std::span<Pose> to) const override {
    const Quat turn = so3_exp(Vec3(0, dt * u[0], 0));
    to[0] = {kPivot + turn * (from[0].p - kPivot), (turn * from[0].q).normalized()};
  }

 private:
  static Vec6 column(const Pose& X_WB) { return spatial(Vec3::UnitY().cross(X_WB.p - kPivot), Vec3::UnitY()); }

  Model model_;
  Vec6 X_ = Vec6::Zero();
};

State at_angle(const Model& model, double angle) {
  State s = State::initial(model);
  const Quat turn = so3_exp(Vec3(0, angle, 0));
  s.X_WB[0] = {kPivot + turn * Vec3(0.25, 0, 0), turn};
  s.q[0] = angle;
  return s;
}

// At rest both formulations have the same accelerations, through every kind of row.
TEST(Assembler, ReducedCoordinatesNeedNoOtherRows) {
  const Model model = pendulum();
  SimulationOptions options;
  options.dt = 1e-3;
  Inputs inputs(model);
  inputs.wrenches_W[0] << 1, 0, -2, 0, 0.3, 0;
  inputs.joint_forces[0] = 0.1;
  int limits = 0, contacts = 0;
  for (const double angle : {-0.5, -0.2, 0.0, 0.4, 0.9, 0.9999}) {
    double rate[2];
    for (const bool reduced : {false, true}) {
      Assembler assembler(model, options, reduced ? std::make_unique<HingeCoordinates>(model) : nullptr);
      assembler.assemble(at_angle(model, angle), inputs, options.dt);
      const ConstraintProblem& p = assembler.problem();
      EXPECT_EQ(p.rows_of(BlockKind::joint), reduced ? 0 : 5);
      std::vector<double> lambda(static_cast<std::size_t>(p.rows()), 0.0);
      EXPECT_EQ(make_solver("cascade")->solve(p, 1e-12, lambda).status, SolveStatus::converged) << angle;
      JudgeWorkspace judged;
      judge(p, lambda, judged);
      std::vector<Vec6> twist(1);
      assembler.coordinates().scatter(assembler.row_poses(), judged.u, twist);
      rate[reduced] = twist[0][4];
      limits += p.rows_of(BlockKind::limit);
      contacts += p.rows_of(BlockKind::contact);
    }
    EXPECT_NEAR(rate[0], rate[1], 1e-9) << angle;
  }
  EXPECT_GT(limits, 0);
  EXPECT_GT(contacts, 0);
}

// assemble() looks ahead; what the simulation tells of its last step stays.
TEST(Assembler, LookingAheadLeavesTheLastStepAlone) {
  ModelBuilder b("falling");
  const int box = b.add_box_body("box", 1, Vec3(0.1, 0.1, 0.1), {Vec3(0, 0, 0.1)});
  b.add_geom(box, Shape::box(Vec3(0.1, 0.1, 0.1)), {});
  b.add_geom(kWorld, Shape::plane());
  const int arm = b.add_box_body("arm", 1, Vec3(0.1, 0.02, 0.02), {Vec3(2, 0, 1)});
  const int joint =
      b.add_joint_at("hinge", JointType::revolute, kWorld, arm, Vec3(1.9, 0, 1), frame_with_x(Vec3::UnitY()));
  Dof& dof = b.dof(joint);
  dof.drive.mode = DriveMode::velocity;
  dof.drive.kd = 10;
  Simulation sim(b.build(), {.dt = 1e-3});
  for (int i = 0; i < 5; ++i) sim.step();
  const auto contacts = static_cast<int>(sim.contacts().size());
  ASSERT_GT(contacts, 0);
  const Vec3 impulse = sim.contact_impulse(0);
  const double effort = sim.drive_effort(0);
  EXPECT_NE(effort, 0);
  State s = sim.state();  // the box leaves the floor: the problem ahead has fewer rows
  s.X_WB[0].p.z() += 1;
  sim.set_state(s);
  EXPECT_LT(sim.assemble().rows(), sim.problem().rows());
  EXPECT_EQ(static_cast<int>(sim.contacts().size()), contacts);
  EXPECT_EQ(sim.contact_impulse(0), impulse);
  EXPECT_EQ(sim.drive_effort(0), effort);
  EXPECT_EQ(sim.impulses().size(), static_cast<std::size_t>(sim.problem().rows()));
}

// The problem of the next step is the one that assemble() shows.
TEST(Assembler, ShowsTheProblemThatTheStepSolves) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau, Integrator::midpoint}) {
    SimulationOptions options;
    options.dt = 1e-3;
    options.integrator = integrator;
    Simulation sim(pendulum(), options);
    for (int i = 0; i < 10; ++i) {
      const ConstraintProblem ahead = sim.assemble();
      sim.step();
      EXPECT_EQ(ahead.jacobian, sim.problem().jacobian);
      EXPECT_EQ(ahead.bias, sim.problem().bias);
      EXPECT_EQ(ahead.u_free, sim.problem().u_free);
    }
  }
}

}  // namespace
}  // namespace sarrus::assembler_test
