// Steps that cannot be taken as a whole: the islands that fail take halves of it, the rest of the world takes it at
// once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/tools.h"

namespace sarrus::substep_test {
namespace {

using testing::simulate;

constexpr double kDt = 1e-3;

// Joints that turn fast do not close in a step of these, and do in halves of it.
SimulationOptions hasty(int threads = 1) {
  SimulationOptions o;
  o.dt = kDt;
  o.projection_iterations = 2;
  o.acceptable_gap = 1e-9;
  o.threads = threads;
  return o;
}

// Two hinged bars that turn by `angle` in a step: their joints do not close if it is long. `at` is the pivot on `base`.
void add_whirl(ModelBuilder& b, double angle, int base, const Vec3& at, const Vec3& v, double mass) {
  const Quat along_y = Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitY());
  const Vec3 w(0, angle / kDt, 0);
  int last = base;
  for (int i = 0; i < 2; ++i) {
    const Vec3 arm(0.25 + 0.5 * i, 0, 0);
    const std::string name = i == 0 ? "inner" : "outer";
    const int bar = b.add_box_body(name, mass, Vec3(0.25, 0.01, 0.01), {at + arm});
    b.set_velocity(bar, v + w.cross(arm), w);
    b.add_joint_at(name + " hinge", JointType::revolute, last, bar, at + Vec3(0.5 * i, 0, 0), along_y);
    last = bar;
  }
}

// Boxes that fall on each other far away, and one that flies.
void add_others(ModelBuilder& b) {
  for (int i = 0; i < 4; ++i) {
    const int box = b.add_box_body("box" + std::to_string(i), 1 + i, Vec3(0.1, 0.1, 0.1),
                                   {Vec3(20 + 0.01 * i, 0, 0.1 + 0.201 * i)});
    b.set_velocity(box, Vec3(0.3, 0, -0.2), Vec3(0, 0.4, 0));
  }
  const int flying = b.add_box_body("flying", 1, Vec3(0.1, 0.2, 0.3), {Vec3(40, 0, 5)});
  b.set_velocity(flying, Vec3(1, 2, 3), Vec3(3, 2, 1));
  b.add_geom(kWorld, Shape::plane(), {Vec3(0, 0, -1)}, b.add_material("floor", 0.5), "floor");
  b.add_geom(kWorld, Shape::box(Vec3(2, 2, 0.5)), {Vec3(20, 0, -0.5)}, b.add_material("table", 0.5), "table");
}

enum class Who { both, whirl, others };
Model world(Who who, double angle) {
  ModelBuilder b("world");
  b.set_self_collision(true);
  if (who != Who::others) add_whirl(b, angle, kWorld, Vec3(0, 0, 10), Vec3::Zero(), 1);
  if (who != Who::whirl) add_others(b);
  return b.build();
}

double distance(const State& a, std::size_t i, const State& b, std::size_t k) {
  return (a.X_WB[i].p - b.X_WB[k].p).norm() + (a.twist[i] - b.twist[k]).norm() +
         (a.X_WB[i].q.coeffs() - b.X_WB[k].q.coeffs()).norm();
}

// Each half of the world moves as it does alone: bars in sub-steps, boxes by whole steps.
TEST(SubdividedIsland, LeavesTheRestOfTheWorldItsWholeStep) {
  int substepped = 0;
  for (const double angle : {0.1, 0.4, 0.6}) {
    // Where the last factor serves as the first linearisation of a projection, its answer depends on what was factored
    // last.
    SimulationOptions o = hasty();
    o.warm_start = false;
    Simulation both(world(Who::both, angle), o);
    Simulation whirl(world(Who::whirl, angle), o);
    Simulation others(world(Who::others, angle), o);
    for (int i = 0; i < 60; ++i) {
      const StepReport& r = both.step();
      ASSERT_EQ(whirl.step().status == StepStatus::failed, r.status == StepStatus::failed);
      if (r.status == StepStatus::failed) break;
      ASSERT_EQ(others.step().status, StepStatus::converged);
      EXPECT_EQ(r.status, whirl.report().status);
      EXPECT_DOUBLE_EQ(both.time(), others.time());
      // What the boxes take at once is one more part.
      EXPECT_EQ(r.substeps, whirl.report().substeps + (r.status == StepStatus::substepped ? 1 : 0));
      substepped += r.status == StepStatus::substepped;
      for (std::size_t k = 0; k < 2; ++k) EXPECT_LE(distance(both.state(), k, whirl.state(), k), 1e-9) << i;
      for (std::size_t k = 2; k < 7; ++k) EXPECT_LE(distance(both.state(), k, others.state(), k - 2), 1e-7) << i;
    }
    // Energy is booked once for each of them.
    const double boxes = others.energy_flow().change + whirl.energy_flow().change;
    EXPECT_NEAR(both.energy_flow().change, boxes, 1e-9 * (1 + std::abs(boxes)));
    EXPECT_NEAR(both.energy_flow().friction, others.energy_flow().friction, 1e-7);
  }
  EXPECT_GT(substepped, 0);
}

// A step that fails at all depths leaves all of the world in every bit, those too who had taken it.
TEST(SubdividedIsland, ThatFailsPutsEverythingBack) {
  Simulation sim(world(Who::both, 1000.0), {.dt = kDt});
  const std::uint64_t before = sim.state().hash();
  EXPECT_EQ(sim.step().status, StepStatus::failed);
  EXPECT_EQ(sim.state().hash(), before);
  EXPECT_EQ(sim.time(), 0.0);
  EXPECT_EQ(sim.energy_flow().change, 0.0);
  EXPECT_NE(sim.report().message.find("hinge"), std::string_view::npos) << sim.report().message;
}

// A carriage with whirling bars strikes a box in the first half of the step, which reaches another one in the same
// step: that one had no constraint with them, takes halves with them then, and is struck.
TEST(SubdividedIsland, ThatMeetsAnotherTakesItAlong) {
  const auto make = [](double angle) {
    ModelBuilder b("strike");
    b.set_gravity(Vec3::Zero());
    const int hard = b.add_material("hard", 0.0, 1.0);
    const Vec3 v(100, 0, 0);
    const int carriage = b.add_body("carriage", 1, Mat3::Identity(), {Vec3::Zero()});
    b.add_geom(carriage, Shape::box(Vec3(0.1, 0.1, 0.1)), {}, hard, "front");
    b.set_velocity(carriage, v, Vec3::Zero());
    for (int i = 0; i < 2; ++i) {
      const int box = b.add_body(i == 0 ? "first" : "second", 1, Mat3::Identity(), {Vec3(i == 0 ? 0.21 : 0.44, 0, 0)});
      b.add_geom(box, Shape::box(Vec3(0.1, 0.1, 0.1)), {}, hard, i == 0 ? "first box" : "second box");
    }
    const Quat along_y = Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitY());
    const Vec3 w(0, angle / kDt, 0);
    int last = carriage;
    for (int i = 0; i < 2; ++i) {
      const Vec3 arm(-0.25 - 0.5 * i, 0, 0);
      const int bar = b.add_body(i == 0 ? "inner" : "outer", 1e-3, 1e-4 * Mat3::Identity(), {arm});
      b.set_velocity(bar, v + w.cross(arm), w);
      b.add_joint_at(i == 0 ? "pivot" : "elbow", JointType::revolute, last, bar, Vec3(-0.5 * i, 0, 0), along_y);
      last = bar;
    }
    return b.build();
  };
  Simulation calm(make(0.0), hasty());
  ASSERT_EQ(calm.step().substeps, 1);
  EXPECT_NEAR(calm.state().twist[2][0], 0, 1e-9) << "the second box is out of reach of one step";

  SimulationOptions o = hasty();
  o.acceptable_gap = 1e-5;
  Simulation sim(make(1.6), o);
  const auto momentum = [&] {
    Vec3 p = Vec3::Zero();
    for (std::size_t i = 0; i < sim.state().twist.size(); ++i) {
      p += sim.model().bodies()[i].mass * sim.state().twist[i].head<3>();
    }
    return p;
  };
  const Vec3 before = momentum();
  const StepReport& r = sim.step();
  ASSERT_EQ(r.status, StepStatus::substepped) << r.message;
  EXPECT_GT(sim.state().twist[2][0], 10.0) << "it was struck";
  EXPECT_LE((momentum() - before).norm(), 1e-9 * before.norm());
}

// The same bits on any number of threads, and from a snapshot taken in between.
TEST(SubdividedIsland, IsDeterministic) {
  std::uint64_t hash[2] = {};
  for (const int threads : {1, 2}) {
    Simulation sim(world(Who::both, 0.4), hasty(threads));
    int substepped = 0;
    for (int i = 0; i < 20; ++i) substepped += sim.step().status == StepStatus::substepped;
    EXPECT_GT(substepped, 0);
    Simulation again(world(Who::both, 0.4), hasty(threads));
    again.restore(sim.snapshot());
    for (int i = 0; i < 20; ++i) {
      sim.step();
      again.step();
    }
    EXPECT_EQ(again.state().hash(), sim.state().hash());
    hash[threads - 1] = sim.state().hash();
  }
  EXPECT_EQ(hash[0], hash[1]);
}

// A solver that fails now and then in a pile: what was integrated is acceptable, nothing tunnels, the account is that
// of the states, and impulses are told of all that moved.
TEST(SubdividedIsland, InAPileKeepsItsBooks) {
  SimulationOptions o;
  o.solver = "admm-ncp-sa";
  o.fallback = "admm-ncp-la";
  o.solver_parameters = o.fallback_parameters = {{"max_iterations", 50}};
  o.tolerance = 1e-10;
  o.acceptable = 1e-5;
  Simulation sim = simulate("clutter40", o);
  const auto energy = [&] {
    double e = 0;
    for (std::size_t i = 0; i < sim.state().twist.size(); ++i) {
      const Body& b = sim.model().bodies()[i];
      const Vec6& u = sim.state().twist[i];
      const Vec3 w_B = sim.state().X_WB[i].q.conjugate() * u.tail<3>();
      e += 0.5 * (b.mass * u.head<3>().squaredNorm() + w_B.dot(b.inertia_B * w_B)) -
           b.mass * sim.model().gravity().dot(sim.state().X_WB[i].p);
    }
    return e;
  };
  const double start = energy();
  int substepped = 0, apart = 0;
  for (int i = 0; i < 300; ++i) {
    const double before = energy();
    const StepReport& r = sim.step();
    if (r.status == StepStatus::failed) break;
    EXPECT_LE(r.residuals.error(), o.acceptable);
    EXPECT_LE(r.penetration, 2e-3);
    EXPECT_NEAR(r.energy.change, energy() - before, 1e-9 * start);
    EXPECT_FALSE(r.creates_energy);
    if (r.status != StepStatus::substepped) continue;
    ++substepped;
    apart += r.substeps % 2;
    // Everything that touches the floor and does not fly is held up by something.
    double up = 0;
    for (std::size_t k = 0; k < sim.contacts().size(); ++k) up += sim.contact_force_W(static_cast<int>(k)).z();
    EXPECT_GT(up, 0);
  }
  RecordProperty("substepped", substepped);
  RecordProperty("apart", apart);
  EXPECT_GT(substepped, 0);
}

}  // namespace
}  // namespace sarrus::substep_test
