// Simulation: the loop that advances a model by one step at a time, every solve judged.
//
//   Simulation sim(model, {.dt = 1e-3});
//   while (sim.time() < 5.0) {
//     const StepReport& report = sim.step();
//     if (report.status == StepStatus::failed) ...          // the state is unchanged and finite
//   }
//
// One step (docs/theory/README.md §4): assemble (poses, events, free velocity, rows), solve, judge, move, close the
// joints.
// step() allocates nothing after warm-up and is deterministic: same build, same input, same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/model/model.h"
#include "sarrus/problem/contact_mode.h"
#include "sarrus/problem/judge.h"
#include "sarrus/step/options.h"

namespace sarrus {

enum class StepStatus : std::uint8_t {
  converged,   // the judge confirms the tolerance
  accepted,    // best iterate used: within `acceptable`, not within `tolerance`
  fallback,    // the fallback solver's answer was used (and is acceptable)
  substepped,  // solved as shorter steps, halves of halves
  failed       // nothing acceptable was found: the state was not changed; `message` names the worst constraint
};
std::string_view name_of(StepStatus status);

// Energy that entered the system, J, by cause; losses are negative (docs/theory/integrators.md §13).
struct EnergyFlow {
  double change = 0;    // of kinetic and potential energy (gravity, springs, armature): the sum of all below
  double drives = 0;    // servos, force drives, set_joint_force()
  double external = 0;  // set_body_wrench(), set_drag()
  double friction = 0;  // of contacts and joints
  double impacts = 0;   // normal impulses of contacts and limits
  double damping = 0;   // dampers, springs that a step does not resolve, compliant rows, damping of bodies
  // Judges of `damping`, no terms of the sum: work on the way that positions went, which passive elements only take.
  double springs = 0;      // of springs, dampers and armatures of coordinates, what they store included
  double compliance = 0;   // of compliant joints, limits and contacts; they give back what they stored
  double correction = 0;   // height gained by pushing bodies out of each other
  double taken_back = 0;   // from velocities where the scheme would have created energy: <= 0
  double unaccounted = 0;  // what is left: the error of the scheme

  double work_in() const { return drives + external; }
  double dissipated() const { return -(friction + impacts + damping); }
  EnergyFlow& operator+=(const EnergyFlow& other);
};

// What happened in the attempt that was integrated: nothing in it is of attempts that were rejected. A step taken in
// parts (substepped) has the worst of their residuals, limits and penetrations, the sums of iterations and times, and
// the contacts, rows and joint gaps of the last part. A failed step tells of its last attempt.
struct StepReport {
  StepStatus status = StepStatus::converged;
  SolveStatus solve_status = SolveStatus::converged;
  Residuals residuals;        // of the answer that was integrated
  double error = 0;           // of them, what is compared with `tolerance`: by the law and the criterion
  bool met_tolerance = true;  // it is within
  int iterations = 0;         // of the solver whose answer was integrated, like the factorisations
  int factorisations = 0;
  std::string_view stage;  // of a solver with stages: the last that an island needed; empty: the warm start was good
  int contacts = 0;
  int contacts_matched = 0;  // contacts that found their impulse of the last step again
  int limits = 0;
  int rows = 0;
  int substeps = 1;  // parts that were integrated; what other islands take at once is one of them
  int rejected = 0;  // attempts that were not, over the whole step
  int projection_iterations = 0;
  // Violations at the end of the step (joints) or at its detection pose (limits, contacts, compliant ones included).
  double joint_gap = 0;          // m, largest translational residual of rigid joints
  double joint_angle = 0;        // rad, largest rotational residual of rigid joints
  double compliant_gap = 0;      // m, largest deformation of compliant joints
  double compliant_angle = 0;    // rad
  double limit_violation = 0;    // m or rad
  double penetration = 0;        // m
  double restitution_scale = 1;  // < 1: restitution was reduced by this factor, or it would have created energy
  EnergyFlow energy;             // of this step
  // Over all steps more than the scheme's bound (energy_bound()) is unaccounted for, or came out of springs that are
  // too stiff for the step or out of compliant rows beyond what they held at the start: energy was created.
  bool creates_energy = false;
  // The gimbal or serial joint whose axes are nearest to being dependent at the end of the step, if they are nearly so
  // and something acts on its coordinates (a lock: drives, springs and limits act wrongly there); valid as the model.
  std::string_view locked_joint;
  double seconds_collision = 0;
  double seconds_assembly = 0;    // inputs, poses, free velocity, rows
  double seconds_solve = 0;       // solver, fallback, judge
  double seconds_projection = 0;  // joints closed, velocities made tangent
  double seconds_total = 0;       // of the whole step, rejected attempts included
  std::string_view message;       // for failed: what was worst; valid until the next step
};

// How far a joint is open: its largest translational and rotational residual, as StepReport has them of all joints. A
// rope: what it exceeds its length by; a compliant joint: its deformation.
struct JointOpening {
  double gap = 0;    // m
  double angle = 0;  // rad
};

// All that a simulation is at a moment: state, warm start, inputs, time, energy so far, and what the next step takes
// over from the last one. A simulation of the same model and options that restores it goes on in the same bits, except
// with solvers that adapt a penalty from step to step (admm-*), which start with their first one. A value: it may be
// copied, compared, and stored (recording/checkpoint.h).
class Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(std::string bytes) : bytes_(std::move(bytes)) {}
  bool empty() const { return bytes_.empty(); }
  const std::string& bytes() const { return bytes_; }
  bool operator==(const Snapshot&) const = default;

 private:
  std::string bytes_;
};

class Simulation {
 public:
  // Throws InputError for bad options, or if the joints cannot be assembled at the initial pose: it then names the file
  // of the model and the loop.
  explicit Simulation(Model model, SimulationOptions options = {});
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  const StepReport& step();

  // The constraint problem of the step that step() would take now, neither solved nor taken: rows and free velocity at
  // the present state and inputs. What is told of the last step below stays as it is.
  const ConstraintProblem& assemble();

  const Model& model() const;
  const SimulationOptions& options() const;
  const State& state() const;
  double time() const;
  double dt() const;
  // Replaces the state and drops the warm start. Throws InputError if sizes differ or a number is not finite.
  void set_state(const State& state);
  Snapshot snapshot() const;
  // Throws InputError if the snapshot is of another model or other options, or damaged; the simulation is then as after
  // set_state() with its present state.
  void restore(const Snapshot& snapshot);

  // Inputs, kept until changed. Non-finite numbers and bad indices are refused with InputError by name. A `dof` here
  // and below may be any index in Model::scalars(): that of a joint coordinate or of a combination. Overrides the
  // drive's target signal with a constant (position, velocity or force by the drive's mode).
  void set_drive_target(int dof, double target, double target_rate = 0);
  void clear_drive_target(int dof);
  // Force or torque added on a dof besides its drive.
  void set_joint_force(int dof, double force);
  double joint_force(int dof) const;
  // External wrench [f; tau] on a body, world axes, at the centre of mass.
  void set_body_wrench(int body, const Vec6& wrench_W);
  Vec6 body_wrench(int body) const;
  // Pulls a point of one body (body frame) to a target (world), m, until clear_drag(), like a hand on a spring that the
  // step resolves implicitly (docs/theory/rows.md §3.1): stable for any mass and step. The pull grows with the mass of
  // all that joints connect with the body and is at most ten times its weight along each axis.
  void set_drag(int body, const Vec3& point_B, const Vec3& target_W);
  void clear_drag();

  const StepReport& report() const;
  // Summed over all steps since the construction or the last set_state().
  const EnergyFlow& energy_flow() const;
  // What `unaccounted` may amount to: max(1e-6, (dt w)^p) of the energy turned over so far, w the fastest rotation
  // seen, p the order of the scheme. J.
  double energy_bound() const;
  // Geoms that overlap at the start by more than is tolerated, worst first; they are pushed apart at push_out_speed.
  struct Overlap {
    int geom_a = 0;
    int geom_b = 0;
    double depth = 0;  // m
  };
  const std::vector<Overlap>& initial_overlaps() const;
  // Contacts of the last step, with their impulses [t, o, n] (N s) in the frames of contact_frame()
  // (collision/contact.h).
  std::span<const Contact> contacts() const;
  Vec3 contact_impulse(int contact) const;
  // The impulse as a world vector, acting on body B (and negated on A), N s.
  Vec3 contact_impulse_W(int contact) const;
  // Its mean over the step (the last part of it, if it was taken in parts), N.
  Vec3 contact_force_W(int contact) const;
  // What the friction of a contact did in the step. Impulses that change the velocity of the contact by less than
  // tolerance x 1 m/s count as none; on the cone it slides if its points part faster than 100 tolerance x 1 m/s,
  // at most 1e-6 m/s.
  ContactMode contact_mode(int contact) const;
  // Effort of a dof's drive in the last step taken, N or N m: the impulse of a servo over dt, else the force drive's
  // effort and set_joint_force().
  double drive_effort(int dof) const;
  // What a dof's drive aims at now: its input, or its signal at the present time, within the bounds of its targets. 0
  // without drive.
  double drive_target(int dof) const;
  // The body that is dragged, kWorld: none; where (m, body frame) and to what (m, world); the mean force of the drag on
  // it in the last step taken, N.
  int dragged_body() const;
  Vec3 drag_point_B() const;
  Vec3 drag_target_W() const;
  Vec3 drag_force_W() const;
  // Rate of a dof at the present state, m/s or rad/s; of spherical joints the angular velocity about the axes of the
  // base's joint frame.
  double joint_rate(int dof) const;
  // Mean wrench [f; tau] (N, N m) over the last step that the joint applied on its follower (and negated on its base),
  // world axes, at the follower's anchor: its constraint, limits, drive, spring, damping, friction and couplings, so
  // that gravity, contacts, set_body_wrench(), body damping and these move a body (up to the corrections of second
  // order after the solve). Of a step taken in parts it is that of the last one; after a failed step that of the
  // attempt. Zero before the first step. Where joints are redundant (`sarrus check`) it is one of many that fit.
  Vec6 joint_reaction(int joint) const;
  // Of all joints; `out` by joint.
  std::vector<Vec6> joint_reactions() const;
  void joint_reactions(std::span<Vec6> out) const;
  // At the present state, of any joint and of all: the largest of the rigid ones are `joint_gap` and, but for
  // couplings, `joint_angle` of the last report.
  JointOpening joint_opening(int joint) const;
  void joint_openings(std::span<JointOpening> out) const;
  // The constraint problem of the last step and its impulses: what was solved, for dumps and tests.
  const ConstraintProblem& problem() const;
  std::span<const double> impulses() const;
  // What its solver started from.
  std::span<const double> warm_start_impulses() const;

 private:
  friend class SharedSimulation;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sarrus
