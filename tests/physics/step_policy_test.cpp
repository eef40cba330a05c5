// What a step does when it cannot be solved, and what it refuses to start with.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "physics/harness.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::step_policy_test {
namespace {

using testing::simulate;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Solver and fallback get this many iterations.
SimulationOptions starved(int iterations, double tolerance, double acceptable) {
  SimulationOptions o;
  o.solver = "admm-ncp-sa";
  o.fallback = "admm-ncp-la";
  o.solver_parameters = {{"max_iterations", iterations}};
  o.fallback_parameters = {{"max_iterations", iterations}};
  o.tolerance = tolerance;
  o.acceptable = acceptable;
  return o;
}

// f() must throw an InputError whose text holds `what`.
void expect_refused(const std::string& what, const std::function<void()>& f) {
  try {
    f();
    ADD_FAILURE() << "not refused: " << what;
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what() << "\n  does not name " << what;
  }
}

// Two hinged bars of half a unit, m, that turn by `angle` in a step of 1 ms.
Model whirling(double angle, double unit = 1) {
  ModelBuilder b("whirling");
  b.set_gravity(Vec3::Zero());
  b.set_self_collision(false);
  const Quat along_y = Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitY());
  const Vec3 w(0, angle / 1e-3, 0);
  int last = kWorld;
  for (int i = 0; i < 2; ++i) {
    const Vec3 centre(unit * (0.25 + 0.5 * i), 0, 0);
    const int bar = b.add_box_body(i == 0 ? "inner" : "outer", 1, unit * Vec3(0.25, 0.01, 0.01), {centre});
    b.set_velocity(bar, w.cross(centre), w);
    b.add_joint_at(i == 0 ? "pivot" : "elbow", JointType::revolute, last, bar, Vec3(0.5 * unit * i, 0, 0), along_y);
    last = bar;
  }
  return b.build();
}

// A step too long for the joints to be closed again is halved, and refused by the name of the joint if that is not
// enough: no state with an open joint is ever reported as solved.
TEST(FailedStep, JointsThatDoNotCloseShortenTheStepOrEndIt) {
  bool substepped = false;
  for (const double angle : {0.1, 1.0, 2.0, 4.0, 10.0, 40.0, 1000.0}) {
    Simulation sim(whirling(angle), {.dt = 1e-3});
    StepStatus status = StepStatus::converged;
    for (int i = 0; i < 30 && status != StepStatus::failed; ++i) {
      const std::uint64_t before = sim.state().hash();
      const StepReport& r = sim.step();
      status = r.status;
      substepped = substepped || status == StepStatus::substepped;
      if (status == StepStatus::failed) {
        EXPECT_EQ(sim.state().hash(), before);
        EXPECT_NE(r.message.find("joint '"), std::string_view::npos) << r.message;
        EXPECT_NE(r.message.find("would open by"), std::string_view::npos) << r.message;
      } else {
        EXPECT_LE(r.joint_gap, 1e-5) << angle;
        EXPECT_LE(r.joint_angle, 1e-5) << angle;
      }
    }
    if (angle < 0.5) {
      EXPECT_EQ(status, StepStatus::converged);
    }
    if (angle > 500) {
      EXPECT_EQ(status, StepStatus::failed);
    }
  }
  EXPECT_TRUE(substepped);
}

// What is open is measured by the size of the bodies: the same mechanism closes alike in any unit.
TEST(FailedStep, GapsAreMeasuredByTheBodies) {
  for (const double angle : {0.1, 1.0, 2.0, 4.0, 40.0}) {
    for (const double unit : {1e-4, 1.0, 1e3}) {
      Simulation sim(whirling(angle, unit), {.dt = 1e-3});
      for (int i = 0; i < 30 && sim.report().status != StepStatus::failed; ++i) {
        if (sim.step().status == StepStatus::failed) break;
        EXPECT_LE(sim.report().joint_gap, 0.5e-5 * unit) << angle << " rad per step, unit " << unit << " m";
      }
    }
  }
}

// A bar that whirls in a plane about a point a metre away from its centre, with x of that point locked at 0.
ModelBuilder whirling_in_a_plane(double angle) {
  ModelBuilder b("plane");
  b.set_gravity(Vec3::Zero());
  const int bar = b.add_box_body("bar", 1, Vec3(0.5, 0.01, 0.01), {Vec3(1, 0, 0), Quat::Identity()});
  b.set_velocity(bar, Vec3(0, angle / 1e-3, 0), Vec3(0, 0, angle / 1e-3));
  const int slide = b.add_joint_at("slide", JointType::planar, kWorld, bar, Vec3::Zero());
  b.dof(slide, 0).limit.lower = b.dof(slide, 0).limit.upper = 0;
  return b;
}

// A locked coordinate is a joint: a step that leaves it off its value is not taken, and says which one it is.
TEST(FailedStep, ALockedCoordinateIsHeldOrNamed) {
  int failed = 0;
  for (const double angle : {0.05, 0.5, 2.0, 40.0, 1000.0}) {
    Simulation sim(whirling_in_a_plane(angle).build(), {.dt = 1e-3, .projection_iterations = 2});
    for (int i = 0; i < 20; ++i) {
      const StepReport& r = sim.step();
      if (r.status == StepStatus::failed) {
        ++failed;
        EXPECT_NE(r.message.find("'slide.x' is locked"), std::string_view::npos) << r.message;
        break;
      }
      EXPECT_NEAR(sim.state().q[0], 0, 2e-5) << angle;  // of the two metres that the bar reaches
    }
  }
  EXPECT_GT(failed, 0);
  EXPECT_LT(failed, 5);
}

// Locked where its mechanism cannot go: refused before the first step, with the name of the lock.
TEST(FailedStep, ALockOutOfReachIsRefused) {
  ModelBuilder b("twice");
  const int block = b.add_box_body("block", 1, Vec3(0.1, 0.1, 0.1), {});
  for (const double place : {0.0, 1.0}) {
    const int slide = b.add_joint_at(place > 0 ? "one" : "zero", JointType::prismatic, kWorld, block, Vec3::Zero());
    b.dof(slide).limit.lower = b.dof(slide).limit.upper = place;
  }
  expect_refused("limit of 'zero.position': it is locked at 0", [&] { Simulation sim(b.build()); });
}

TEST(FailedStep, LeavesTheStateInEveryBitAndNamesTheConstraint) {
  Simulation sim = simulate("stack15_equal", starved(1, 1e-12, 1e-11));
  StepStatus status = StepStatus::converged;
  std::uint64_t before = 0;
  double time = 0;
  for (int i = 0; i < 20 && status != StepStatus::failed; ++i) {
    before = sim.state().hash();
    time = sim.time();
    status = sim.step().status;
  }
  const StepReport& r = sim.report();
  ASSERT_EQ(status, StepStatus::failed);
  EXPECT_EQ(sim.state().hash(), before);
  EXPECT_EQ(sim.time(), time);
  EXPECT_FALSE(r.met_tolerance);
  EXPECT_EQ(r.substeps, 0) << "nothing was integrated";
  EXPECT_GT(r.rejected, 1);
  EXPECT_NE(r.message.find("contact between geoms 'geom"), std::string_view::npos) << r.message;
  EXPECT_NE(r.message.find("its iterations or its budget"), std::string_view::npos) << r.message;
  EXPECT_NE(r.message.find("raise --budget"), std::string_view::npos) << r.message;
  EXPECT_NE(r.message.find("where 1e-11 is acceptable"), std::string_view::npos) << r.message;
  RecordProperty("message", std::string(r.message));
  // Failing again changes nothing either, and the simulation can still be used.
  EXPECT_EQ(sim.step().status, StepStatus::failed);
  EXPECT_EQ(sim.state().hash(), before);
  State s = sim.state();
  s.X_WB[0].p.z() += 10;
  EXPECT_NO_THROW(sim.set_state(s));
}

// Bodies that differ so much that rounding is in the way are named.
TEST(FailedStep, NamesBodiesOfVeryUnlikeMass) {
  ModelBuilder b("unlike");
  const int dust = b.add_box_body("dust", 1e-3, Vec3(0.1, 0.1, 0.1), {Vec3(0, 0, 0.1)});
  const int house = b.add_box_body("house", 1e5, Vec3(0.1, 0.1, 0.1), {Vec3(0, 0, 0.3)});
  b.add_joint_at("hinge", JointType::revolute, dust, house, Vec3(0, 0.01, 0.2));
  Simulation sim(b.build(), starved(1, 1e-30, 1e-30));
  State s = sim.state();
  for (Vec6& twist : s.twist) twist << 0.1, 0.2, 0.3, 0.5, 0.7, 0.4;
  sim.set_state(s);
  for (int i = 0; i < 20 && sim.report().status != StepStatus::failed; ++i) sim.step();
  ASSERT_EQ(sim.report().status, StepStatus::failed);
  const std::string message(sim.report().message);
  EXPECT_NE(message.find("body 'house' weighs 1e+08 times as much as body 'dust'"), std::string::npos) << message;
}

// Four bars without a contact: only a joint of theirs can be the worst.
TEST(FailedStep, NamesTheJointWhereThereIsNoContact) {
  Simulation sim = simulate("bennett_linkage", starved(1, 1e-14, 1e-13));
  for (int i = 0; i < 200 && sim.report().status != StepStatus::failed; ++i) sim.step();
  ASSERT_EQ(sim.report().status, StepStatus::failed);
  const std::string message(sim.report().message);
  EXPECT_EQ(message.find("contact between"), std::string::npos) << message;
  const auto named = [&](const Joint& j) { return message.find("worst: joint '" + j.name + "'") != std::string::npos; };
  EXPECT_EQ(std::ranges::count_if(sim.model().joints(), named), 1) << message;
}

TEST(FailedStep, IsNotSubdividedBeyondTheDepthAllowed) {
  for (const int depth : {0, 1, 2}) {
    SimulationOptions o = starved(1, 1e-12, 1e-11);
    o.max_substep_depth = depth;
    Simulation sim = simulate("stack15_equal", o);
    for (int i = 0; i < 20 && sim.report().status != StepStatus::failed; ++i) sim.step();
    EXPECT_EQ(sim.report().status, StepStatus::failed);
    EXPECT_EQ(sim.report().rejected, depth + 1);
  }
}

// Too few iterations for some steps: those are divided, and what is reported is what was integrated.
// A body at 1e160 m is finite and leads to numbers that are not: nothing of them stays behind for a state that is good.
TEST(FailedStep, LeavesNothingBehindThatIsNotFinite) {
  Simulation sim = simulate("ring20");
  const State good = sim.state();
  State far = good;
  far.X_WB[3].p.x() = 1e160;
  sim.set_state(far);
  EXPECT_EQ(sim.step().status, StepStatus::failed);
  sim.set_state(good);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(sim.step().status, StepStatus::converged) << sim.report().message;
  EXPECT_LE(sim.report().joint_gap, 1e-11);
}

TEST(SubdividedStep, AdvancesByTheWholeStepWithAcceptableResiduals) {
  struct Case {
    const char* scene;
    int iterations;
    double acceptable;
  };
  int subdivided = 0;
  for (const Case& c :
       {Case{"fourbar_swing", 1, 1e-8}, Case{"bennett_linkage", 1, 1e-6}, Case{"fourbar_free", 20, 1e-5},
        Case{"fourbar_free", 50, 1e-8}, Case{"stack15_equal", 70, 1e-5}, Case{"clutter40", 50, 1e-5}}) {
    Simulation sim = simulate(c.scene, starved(c.iterations, 1e-10, c.acceptable));
    for (int i = 0; i < 200; ++i) {
      const double time = sim.time();
      const StepReport& r = sim.step();
      if (r.status == StepStatus::failed) break;
      EXPECT_NEAR(sim.time() - time, sim.dt(), 1e-12);
      EXPECT_LE(r.residuals.error(), c.acceptable) << c.scene << ", " << name_of(r.status) << ", step " << i;
      if (r.status != StepStatus::substepped) continue;
      ++subdivided;
      EXPECT_GE(r.substeps, 2);
    }
  }
  RecordProperty("subdivided", subdivided);
  EXPECT_GT(subdivided, 0);
}

// The fallback is taken when the solver alone cannot do it, and the run goes on.
TEST(Fallback, SavesAStepTheSolverCannotSolve) {
  SimulationOptions o;
  o.solver = "admm-ncp-sa";
  o.solver_parameters = {{"max_iterations", 1}};
  o.acceptable = 1e-7;
  Simulation sim = simulate("stack15_equal", o);
  int fallbacks = 0;
  for (int i = 0; i < 30; ++i) {
    const StepReport& r = sim.step();
    ASSERT_NE(r.status, StepStatus::failed) << r.message;
    EXPECT_LE(r.residuals.error(), o.acceptable);
    fallbacks += r.status == StepStatus::fallback;
  }
  RecordProperty("fallbacks", fallbacks);
  EXPECT_GT(fallbacks, 0);
}

// A tower that ten times its weight presses on, and a box apart from it.
Model pile_and_box() {
  ModelBuilder b("pile_and_box");
  for (int i = 0; i < 6; ++i) {
    b.add_box_body("brick" + std::to_string(i), i == 5 ? 50 : 1, Vec3(0.1, 0.1, 0.1), {Vec3(0, 0, 0.1 + 0.2 * i)});
  }
  b.add_box_body("apart", 1, Vec3(0.1, 0.1, 0.1), {Vec3(5, 0, 0.1)});
  b.add_geom(kWorld, Shape::plane(), {}, b.add_material("floor", 0.5), "floor");
  return b.build();
}

// Islands that the solver solved keep its answer in every bit; the others get the fallback's.
TEST(Fallback, IsForTheIslandsThatNeedIt) {
  SimulationOptions o;
  o.solver = "admm-ncp-sa";
  o.solver_parameters = {{"max_iterations", 5}};
  o.fallback = "cascade";
  o.acceptable = 1e-6;
  o.tolerance = 1e-6;
  Simulation sim(pile_and_box(), o);
  int fallbacks = 0, kept = 0;
  for (int i = 0; i < 40; ++i) {
    const StepReport& r = sim.step();
    ASSERT_NE(r.status, StepStatus::failed) << r.message;
    if (r.status != StepStatus::fallback) continue;
    ++fallbacks;
    // What the fallback would make of all of them.
    const ConstraintProblem& p = sim.problem();
    std::vector<double> all(static_cast<std::size_t>(p.rows()), 0.0);
    make_solver(o.fallback)->solve(p, o.tolerance, all);
    int replaced = 0;
    for (int k = 0; k < p.islands.count(); ++k) {
      bool same = true;
      for (const int index : p.islands.blocks(k)) {
        const ConstraintBlock& b = p.blocks[static_cast<std::size_t>(index)];
        same = same && std::equal(all.begin() + b.row, all.begin() + b.row + b.rows, sim.impulses().begin() + b.row);
      }
      replaced += same ? 1 : 0;
    }
    EXPECT_GE(replaced, 1) << "step " << i;
    kept += p.islands.count() - replaced;
  }
  RecordProperty("fallbacks", fallbacks);
  RecordProperty("kept", kept);
  EXPECT_GT(fallbacks, 0);
  EXPECT_GT(kept, 0);
}

// A step has a budget: what it does not solve by then is used if it is acceptable, and never called converged.
TEST(Budget, EndsStepsThatAreCountedAsAccepted) {
  int accepted = 0;
  for (const int budget : {3, 10, 40}) {
    SimulationOptions o;
    o.budget = budget;
    o.acceptable = 0.1;
    Simulation sim = simulate("clutter40", o);
    for (int i = 0; i < 250; ++i) {
      const StepReport& r = sim.step();
      if (r.status == StepStatus::failed && budget < 10) break;
      ASSERT_NE(r.status, StepStatus::failed) << budget << ": " << r.message;
      EXPECT_EQ(r.met_tolerance, r.residuals.error() <= o.tolerance);
      EXPECT_LE(r.residuals.error(), o.acceptable);
      if (r.status != StepStatus::accepted) continue;
      ++accepted;
      EXPECT_FALSE(r.met_tolerance);
      EXPECT_NE(r.solve_status, SolveStatus::converged);
      // Every island has its budget; an attempt ends within the few factorisations of the step under way.
      EXPECT_LE(r.factorisations, (budget + 2) * sim.problem().islands.count());
    }
  }
  RecordProperty("accepted", accepted);
  EXPECT_GT(accepted, 0);
}

// All that a step tries shares the budget: a step that fails at every depth has not taken many times as much.
TEST(Budget, IsSharedByTheAttemptsOfAStep) {
  SimulationOptions o;
  o.budget = 30;
  o.tolerance = o.acceptable = 1e-16;  // out of reach
  o.fallback_parameters = {{"max_iterations", 1}};
  Simulation sim = simulate("mixed_pile", o);
  for (int i = 0; i < 400 && sim.report().status != StepStatus::failed; ++i) sim.step();
  EXPECT_EQ(sim.report().status, StepStatus::failed);
  EXPECT_GE(sim.report().rejected, o.max_substep_depth + 1);
  // The first half of a part may end well, and the second be halved in its turn.
  EXPECT_LE(sim.report().rejected, 2 * o.max_substep_depth + 1);
}

// A wall-clock budget ends a step with a typed status, whatever it is; one that does not matter changes nothing.
TEST(StepTime, EndsTheStepAndIsOtherwiseNotThere) {
  SimulationOptions o;
  o.max_step_time = 1e-9;
  Simulation hurried = simulate("mixed_pile", o);
  StepStatus status = StepStatus::converged;
  int accepted = 0;
  for (int i = 0; i < 300 && status != StepStatus::failed; ++i) {
    const StepReport& r = hurried.step();
    status = r.status;
    accepted += status == StepStatus::accepted;
    EXPECT_EQ(r.substeps, status == StepStatus::failed ? 0 : 1) << "no time for parts";
    const auto rows = static_cast<std::size_t>(hurried.problem().rows());
    EXPECT_EQ(hurried.impulses().size(), rows) << "impulses are those of the problem that is shown";
    EXPECT_EQ(hurried.warm_start_impulses().size(), rows);
    for (int k = 0; k < static_cast<int>(hurried.contacts().size()); ++k) {
      EXPECT_TRUE(hurried.contact_impulse(k).allFinite());
    }
  }
  if (status == StepStatus::failed) {
    EXPECT_NE(hurried.report().message.find("that a step may take are over"), std::string_view::npos)
        << hurried.report().message;
  } else {
    EXPECT_GT(accepted, 0);
  }
  o.max_step_time = 1e6;
  Simulation relaxed = simulate("mixed_pile", o);
  Simulation usual = simulate("mixed_pile");
  for (int i = 0; i < 100; ++i) {
    relaxed.step();
    usual.step();
  }
  EXPECT_EQ(relaxed.state().hash(), usual.state().hash());
}

TEST(Inputs, NonFiniteNumbersAndBadIndicesAreRefusedByName) {
  Simulation sim = simulate("fourbar_free");
  const int crank = sim.model().dof("crank");
  const std::uint64_t before = sim.state().hash();
  for (const double bad : {kNan, kInf, -kInf}) {
    expect_refused("set_joint_force 'crank", [&] { sim.set_joint_force(crank, bad); });
    expect_refused("set_drive_target 'crank", [&] { sim.set_drive_target(crank, bad); });
    expect_refused("set_drive_target 'crank", [&] { sim.set_drive_target(crank, 0, bad); });
    Vec6 wrench = Vec6::Zero();
    wrench[4] = bad;
    expect_refused("set_body_wrench 'base'", [&] { sim.set_body_wrench(sim.model().body("base"), wrench); });
    for (const int what : {0, 1, 2, 3, 4, 5}) {
      State s = sim.state();
      if (what == 0) s.time = bad;
      if (what == 1) s.X_WB[1].p.y() = bad;
      if (what == 2) s.X_WB[2].q.w() = bad;
      if (what == 3) s.twist[3][5] = bad;
      if (what == 4) s.q[0] = bad;
      if (what == 5) s.rate_lag.assign(s.q.size(), bad);
      expect_refused("set_state", [&] { sim.set_state(s); });
    }
  }
  for (const int index : {-1, 1000}) {
    expect_refused("set_joint_force", [&] { sim.set_joint_force(index, 0); });
    expect_refused("set_drive_target", [&] { sim.set_drive_target(index, 0); });
    expect_refused("clear_drive_target", [&] { sim.clear_drive_target(index); });
    expect_refused("set_body_wrench", [&] { sim.set_body_wrench(index, Vec6::Zero()); });
    expect_refused("drive_effort", [&] { sim.drive_effort(index); });
    expect_refused("contact_impulse", [&] { sim.contact_impulse(index); });
  }
  State s = sim.state();
  s.X_WB.pop_back();
  expect_refused("set_state", [&] { sim.set_state(s); });
  s = sim.state();
  s.rate_lag.resize(s.q.size() + 1);
  expect_refused("set_state", [&] { sim.set_state(s); });
  s = sim.state();
  s.X_WB[0].q.coeffs() *= 2;
  expect_refused("set_state", [&] { sim.set_state(s); });
  EXPECT_EQ(sim.state().hash(), before);
  // Nothing of what was refused is left behind.
  Simulation untouched = simulate("fourbar_free");
  for (int i = 0; i < 20; ++i) {
    sim.step();
    untouched.step();
  }
  EXPECT_EQ(sim.state().hash(), untouched.state().hash());
}

TEST(Options, BadOnesAreRefusedByName) {
  const auto refuse = [](const std::string& what, const std::function<void(SimulationOptions&)>& set) {
    SimulationOptions o;
    set(o);
    expect_refused(what, [&] { simulate("box_on_plane", o); });
  };
  using O = SimulationOptions;
  for (const double bad : {-1.0, kNan, kInf}) {
    refuse("'dt'", [&](O& o) { o.dt = bad; });
    refuse("'tolerance'", [&](O& o) { o.tolerance = bad; });
    refuse("'acceptable'", [&](O& o) { o.acceptable = bad; });
    refuse("'restitution_threshold'", [&](O& o) { o.rows.restitution_threshold = bad; });
    refuse("'limit_margin'", [&](O& o) { o.rows.limit_margin = bad; });
    refuse("'collision.margin'", [&](O& o) { o.collision.margin = bad; });
    refuse("'collision.speculative_factor'", [&](O& o) { o.collision.speculative_factor = bad; });
    refuse("'projection_tolerance'", [&](O& o) { o.projection_tolerance = bad; });
    refuse("'contact_give'", [&](O& o) { o.rows.contact_give = bad; });
    refuse("'max_step_time'", [&](O& o) { o.max_step_time = bad; });
    refuse("'acceptable_gap'", [&](O& o) { o.acceptable_gap = bad; });
    refuse("'max_factorisations'", [&](O& o) { o.solver_parameters = {{"max_factorisations", bad}}; });
    refuse("'eta'", [&](O& o) { o.fallback_parameters = {{"eta", bad}}; });
  }
  for (const double bad : {-2.0, 1.1, kNan, kInf}) {  // -1: the scene's
    refuse("'erp_joint'", [&](O& o) { o.rows.erp_joint = bad; });
    refuse("'erp_limit'", [&](O& o) { o.rows.erp_limit = bad; });
    refuse("'erp_contact'", [&](O& o) { o.rows.erp_contact = bad; });
    refuse("'contact_compliance'", [&](O& o) { o.rows.contact_compliance = bad; });
  }
  for (const double bad : {-2.0, kNan, kInf}) {
    refuse("'contact_slop'", [&](O& o) { o.rows.contact_slop = bad; });
    refuse("'push_out_speed'", [&](O& o) { o.rows.push_out_speed = bad; });
  }
  refuse("'acceptable'", [](O& o) { o.acceptable = 0.1 * o.tolerance; });
  refuse("'budget'", [](O& o) { o.budget = 0; });
  refuse("'max_substep_depth'", [](O& o) { o.max_substep_depth = -1; });
  refuse("'max_substep_depth'", [](O& o) { o.max_substep_depth = 11; });
  refuse("'projection_iterations'", [](O& o) { o.projection_iterations = 0; });
  refuse("'no-such-solver'", [](O& o) { o.solver = "no-such-solver"; });
  refuse("'no-such-solver'", [](O& o) { o.fallback = "no-such-solver"; });
  refuse("did you mean 'max_factorisations'", [](O& o) { o.solver_parameters = {{"max_factorisation", 10}}; });
}

}  // namespace
}  // namespace sarrus::step_policy_test
