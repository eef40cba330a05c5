// What a Simulation is made of: its state and inputs, the assembler, the solvers, and the vectors of one step. step.cpp
// has the step, substeps.cpp what is done when it cannot be taken as a whole, simulation.cpp the rest.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sarrus/math/workers.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/assembler.h"
#include "sarrus/step/energy_account.h"
#include "sarrus/step/energy_governor.h"
#include "sarrus/step/impacts.h"
#include "sarrus/step/island_part.h"
#include "sarrus/step/push_out.h"
#include "sarrus/step/simulation.h"
#include "sarrus/step/step_part.h"
#include "sarrus/step/warm_start.h"

namespace sarrus {

struct Simulation::Impl {
  Impl(Model model_in, SimulationOptions options_in);

  void step();
  // The step, or an exception (out of memory, shapes that collision refuses) after which the state is that before it
  // and nothing else of this object is to be relied on: the next call that needs more makes it anew.
  void step_or_break();
  std::unique_ptr<Impl> anew();
  static void mend(std::unique_ptr<Impl>& impl) {
    if (impl->broken) impl = impl->anew();
  }
  void start_from(const State& s);
  bool advance(double dt, int depth);
  bool try_whole(double dt);
  bool take_apart(double dt, int depth);
  bool set_apart(int depth);
  void save(int depth);
  void restore(int depth);
  void find_groups(int depth);
  bool stays_apart();
  bool ran_into_others(int depth);
  void set_stuck(std::uint8_t value) { std::fill(stuck.begin(), stuck.end(), value); }
  void stick_failed();
  void stick_joint(int joint);
  bool attempt(double dt);
  void clear_impulses();

  bool solve();
  bool solve_part();
  bool solve_all(const ConstraintProblem& problem, const VecX& u_minus);
  bool solve(const ConstraintProblem& problem);
  void scatter_twist();
  void hold_still();
  void rest_the_others();
  std::span<const Contact> contacts_of_moving(std::span<const Contact> contacts);
  std::span<const Scheme* const> schemes_of_moving();
  void show_rest();
  Goal goal(int used = 0) const;
  bool use_fallback(const ConstraintProblem& problem, SolveReport& answer);
  bool find_impulses(const ConstraintProblem& problem, const Goal& goal, SolveReport& answer);
  bool take_known(const ConstraintProblem& problem);
  bool by_island(const Goal& goal) const;
  bool mark_failed_islands(const ConstraintProblem& problem, const Goal& goal, const SolveReport& answer);
  void keep_failed(const ConstraintProblem& rest, const Goal& goal);
  void move(double dt);
  bool close_joints(double dt);
  void project_positions();
  void push_out_of_contacts(double dt);
  void finish_velocities(double dt);
  void take_back_energy(double dt);
  bool owes_energy();
  void find_lock();
  double credit();
  void balance_books();
  void keep_books(double dt);
  bool commit(double dt);
  [[noreturn]] void refuse_open_joints(const JointErrors& errors) const;
  void find_overlaps();
  double energy_bound() const;
  double elastic_energy() const;
  double energy_of_fall() const;
  bool creates_energy() const;
  void report_failure();
  std::string_view what_helps() const;
  std::string open_joint_text() const;
  std::vector<int> bodies_around(int joint) const;
  std::vector<int> bodies_at(const ConstraintBlock& block) const;
  std::string turning_text(const std::vector<int>& bodies,
                           std::initializer_list<const std::vector<Vec6>*> twists) const;
  std::string describe(const ConstraintBlock& block) const;
  void check_dof(int dof, std::string_view call) const;
  void check_body(int body, std::string_view call) const;
  Drag drag_of(int body, const Vec3& point_B, const Vec3& target_W) const;

  template <class A>
  void archive(A& a);
  // All that depends on numbers of the model, and the numbers (model/numbers.h).
  template <class A>
  void archive_numbers(A& a);
  std::uint64_t fingerprint();  // of model and options: what a snapshot must agree in
  void load(const Snapshot& snapshot);

  const Model& model() const { return assembler.model(); }
  const SimulationOptions& options() const { return assembler.options(); }

  Assembler assembler;
  Workers workers;
  std::unique_ptr<Assembler> preview;  // of Simulation::assemble(), made when it is first called
  State state;
  Inputs inputs;
  StepReport report;  // of the parts integrated so far
  StepReport part;    // of the attempt under way
  std::string message;

  std::unique_ptr<Solver> solver, fallback;
  Law law, fallback_law;
  Law used_law = Law::ncp;  // of the answer that is integrated
  WarmStart warm;           // of the last step taken
  WarmStart next;           // of the attempt under way
  Impacts impacts;
  PushOut push_out;
  MeanMotion mean;
  EnergyAccount account;
  EnergyGovernor governor;
  // Energy since the construction or set_state().
  struct Books {
    EnergyFlow flow;
    double overlap = 0;        // J, weight times depth of what was deep in each other at the start
    double mass = 0;           // kg, of all bodies
    double turned_over = 0;    // J
    double largest = 0;        // J, kinetic energy
    double fastest = 0;        // rad/s
    double least_springs = 0;  // J, of flow.springs and what was taken back
    double sprung = 0;         // J, the most that sum rose above its least
    double given = 0;          // J, the most that flow.compliance has been
    double elastic = 0;        // J, at most what compliant rows held at the start
    bool first = true;
    bool stiff = false;     // some island took steps of first order
    bool balanced = false;  // `stored` is of the present state
    EnergyAccount::Stored stored;
  };
  Books books;
  std::vector<Simulation::Overlap> overlaps;
  std::vector<int> may_lock;  // gimbals on whose coordinates something acts, and serial joints
  JudgeWorkspace judge_workspace;

  // Of the step: what its attempts, and the one under way, have spent of the budget, by the island that took most, and
  // when its time ends.
  bool may_divide = true;  // the attempt, if it creates energy
  bool owed = false;       // it was refused for that
  int spent = 0, attempt_spent = 0;
  Goal::Clock::time_point deadline = Goal::Clock::time_point::max();
  IslandPart failed_islands;
  std::vector<std::uint8_t> failed;  // by island

  // Who takes the attempt under way. Others have no rows in its problem and stay where they are.
  StepPart moving;
  std::vector<std::uint8_t> stuck;  // by body: why the last attempt was not taken, or whom it ran into
  IslandPart moving_islands;
  std::vector<std::uint8_t> marked;  // by island of the whole problem: it moves
  std::vector<int> place_of_island;  // by island of the whole problem: its place among those that move
  std::vector<int> first_of_island;  // body
  std::vector<std::uint8_t> chosen;  // by body
  std::vector<double> whole_lambda, part_lambda;
  VecX part_u_minus, part_u;
  GrowingVector part_sigma;
  std::vector<const Scheme*> part_scheme;  // by body
  std::vector<Contact> part_contacts;      // after the step, of those that move

  // What the solves of an attempt found, in their order, of one that may be refused for its energy.
  struct Answers {
    struct Found {
      Law law;
      StepStatus status;
    };
    std::vector<Found> found;
    std::vector<double> lambda;  // of all, one after the other
    void clear() {
      found.clear();
      lambda.clear();
    }
  };
  Answers answers;
  const Answers* known = nullptr;  // what the attempt under way takes in place of solving

  // Vectors of one attempt.
  std::vector<double> lambda, fallback_lambda;
  std::vector<double> start_lambda;  // what `lambda` was when the solver got it
  VecX u_plus;
  JointKinematics& kinematics;  // of the assembler, at new_poses
  std::vector<Pose> new_poses, pushed_poses;
  std::vector<Vec6> new_twist;
  std::vector<double> new_q;
  std::vector<double> new_rate;  // by dof, of coordinates with armature
  std::vector<double> old_rate;
  std::vector<State::EnergySwing> new_swing;
  JointErrors closure;         // of the joints at new_poses
  std::vector<double> effort;  // by dof, of the last part taken
  Vec3 drag_force_W = Vec3::Zero();

  // What was before a part of the step.
  struct Undo {
    State state;
    StepReport report;
    std::vector<double> effort;
    Vec3 drag_force_W;
    Books books;
    WarmStart warm;
    Answers answers;                         // of the whole
    std::vector<std::uint8_t> whole, apart;  // by body: who was to take it, and who of them takes halves of it
    std::vector<int> group;                  // by body: those of a group take it in the same way
  };
  std::vector<Undo> undo;  // one per sub-step depth, with memory once a step has got there

  // Time is steps times dt, not a sum that rounding makes drift: 15 s at 1 ms are 15 000 steps. A state whose time is a
  // multiple of dt goes on counting from there, so that a restored run has the bits of the one it was taken from.
  struct Clock {
    double origin = 0;
    std::int64_t steps = 0;
    void set(double time, double dt) {
      const double n = std::round(time / dt);
      const bool whole = std::abs(n) < 1e15 && n * dt == time;
      origin = whole ? 0.0 : time;
      steps = whole ? static_cast<std::int64_t>(n) : 0;
    }
    void tick(double dt, State& state) { state.time = origin + static_cast<double>(++steps) * dt; }
  };
  Clock clock;

  State state_before;  // the step
  bool broken = false;
  std::optional<std::uint64_t> known_fingerprint;
};

}  // namespace sarrus
