// Simulation: the loop that advances a model by one step at a time, every solve judged.
//
//   Simulation sim(model, {.dt = 1e-3});
//   while (sim.time() < 5.0) {
//     const StepReport& report = sim.step();
//     if (report.status == StepStatus::failed) ...          // the state is unchanged and finite
//   }
//
// One step (spec/README.md §3): kinematics, events, free velocity, rows, solve, judge, integrate, project.
// step() allocates nothing after warm-up and is deterministic: same build, same input, same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/collision/detector.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/model/model.h"
#include "sarrus/problem/judge.h"
#include "sarrus/solvers/solver.h"

namespace sarrus {

// How w x I w enters the free velocity (spec/model.md §1). explicit_term: at the start of the step with
// semi-implicit Euler, at the middle with Moreau. implicit_term: one Newton step, for fast spinning long bodies. The
// theta-schemes solve for it by themselves, whatever is chosen here.
enum class Gyroscopic : std::uint8_t { explicit_term, implicit_term };

struct SimulationOptions {
  double dt = 0;                              // s; 0: the model's default
  std::optional<Integrator> integrator = {};  // none: the model's default
  Gyroscopic gyroscopic = Gyroscopic::explicit_term;

  std::string solver = "cascade";           // see `sarrus solvers`
  SolverParameters solver_parameters = {};  // by name; unknown names are errors
  std::string fallback = "admm-ncp-sa";     // tried cold when the solver's answer is not acceptable
  SolverParameters fallback_parameters = {{"max_iterations", 10000}};
  double tolerance = 1e-9;    // natural map <= tolerance * S: converged, S = max(|lambda|, |v_f|, 1)
  double acceptable = 1e-3;   // natural map <= acceptable * S: usable, counted as non-converged
  int max_substep_depth = 3;  // halvings of dt before a step fails

  double erp_joint = 0.1;            // alpha, used where a joint is not projected
  double erp_limit = 0.1;            // beta
  double erp_contact = 0.1;          // gamma
  double contact_slop = 1e-5;        // delta_c, tolerated penetration, m
  double restitution_threshold = 0;  // v_rest, m/s; approach slower than this does not bounce; 0: 2 g dt
  double limit_margin = 0.02;        // m or rad: limit rows exist this far before the limit (plus motion)
  CollisionOptions collision = {};

  bool projection = true;               // mass-weighted projection of positions onto the joint manifold
  double projection_tolerance = 1e-12;  // m or rad
  int projection_iterations = 8;
  double acceptable_gap =
      1e-5;  // m or rad: with projection, a step that leaves a rigid joint further open is not taken

  bool warm_start = true;
};

// Throws InputError naming the option.
void validate(const SimulationOptions& options);

enum class StepStatus : std::uint8_t {
  converged,   // the judge confirms the tolerance
  accepted,    // best iterate used: within `acceptable`, not within `tolerance`
  fallback,    // the fallback solver's answer was used (and is acceptable)
  substepped,  // solved as 2, 4 or 8 shorter steps
  failed       // nothing acceptable was found: the state was not changed; `message` names the worst constraint
};
std::string_view name(StepStatus status);

struct StepReport {
  StepStatus status = StepStatus::converged;
  SolveStatus solve_status = SolveStatus::converged;
  Residuals residuals;        // of the answer that was integrated (worst over substeps)
  bool met_tolerance = true;  // residuals within `tolerance` (over all substeps)
  int iterations = 0;
  int factorisations = 0;
  int contacts = 0;
  int contacts_matched = 0;  // contacts that found their impulse of the last step again
  int limits = 0;
  int rows = 0;
  int substeps = 1;
  int projection_iterations = 0;
  // Violations at the end of the step (joints) or at its detection pose (limits, contacts, compliant ones included).
  double joint_gap = 0;        // m, largest translational residual of rigid joints
  double joint_angle = 0;      // rad, largest rotational residual of rigid joints
  double compliant_gap = 0;    // m, largest deformation of compliant joints
  double compliant_angle = 0;  // rad
  double limit_violation = 0;  // m or rad
  double penetration = 0;      // m
  double seconds_collision = 0;
  double seconds_assembly = 0;
  double seconds_solve = 0;
  double seconds_total = 0;
  std::string_view message;  // for failed: what was worst; valid until the next step
};

class Simulation {
 public:
  // Throws InputError for bad options or if the joints cannot be assembled at the initial pose.
  explicit Simulation(Model model, SimulationOptions options = {});
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  const StepReport& step();

  // Builds the constraint problem of the step that step() would take now, without solving it or moving: rows, free
  // velocity and contacts() at the present state and inputs.
  const ConstraintProblem& assemble();

  const Model& model() const;
  const SimulationOptions& options() const;
  const State& state() const;
  double time() const;
  double dt() const;
  // Replaces the state and drops the warm start. Throws InputError if sizes differ or a number is not finite.
  void set_state(const State& state);

  // Inputs, kept until changed. Non-finite numbers and bad indices are refused with InputError by name.
  // Overrides the drive's target signal with a constant (position, velocity or force by the drive's mode).
  void set_drive_target(int dof, double target, double target_rate = 0);
  void clear_drive_target(int dof);
  // Force or torque added on a dof besides its drive.
  void set_joint_force(int dof, double force);
  // External wrench [f; tau] on a body, world axes, at the centre of mass.
  void set_body_wrench(int body, const Vec6& wrench_W);

  const StepReport& report() const;
  // Contacts of the last step, with their impulses [t, o, n] (N s) in the frames of contact_frame().
  std::span<const Contact> contacts() const;
  Vec3 contact_impulse(int contact) const;
  // The impulse as a world vector, acting on body B (and negated on A), N s.
  Vec3 contact_impulse_W(int contact) const;
  // Impulse of the drive (servo) row of a dof in the last step divided by dt: the effort, N or N m.
  double drive_effort(int dof) const;
  // The last constraint problem and its impulses: what was solved, for dumps and tests.
  const ConstraintProblem& problem() const;
  std::span<const double> impulses() const;
  // What its solver started from.
  std::span<const double> warm_start_impulses() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sarrus
