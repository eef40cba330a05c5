// Assembler: model, state, inputs and dt -> the constraint problem of one step (docs/theory/integrators.md).
//
//   inputs   drive targets at the middle and the end of the step, forces at its start
//   events   contacts closer than their speculative margin; limits are tested when their rows are built
//   modes    islands in which something closes take an impact step (modes.h)
//   poses    of the rows: s + row_pose dt u-, projected onto the joints, and the contacts there
//   nodes    M and u_f = u- + dt M^-1 h: gravity, gyroscopic term, external wrenches, force drives
//   rows     joints | soft rows | limits | contacts; biases of redundant joint rows made consistent
// The step, inverse dynamics and the samples of the benchmark get their problem here. No allocation after warm-up.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sarrus/collision/detector.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/rows/rows.h"
#include "sarrus/step/modes.h"
#include "sarrus/step/options.h"
#include "sarrus/step/projection.h"
#include "sarrus/step/warm_start.h"

namespace sarrus {

// What a user sets between steps; kept until changed.
struct Inputs {
  struct Target {
    bool active = false;  // false: the drive's own signal counts
    double target = 0;
    double rate = 0;
  };
  std::vector<Target> targets;       // by scalar of the model
  std::vector<double> joint_forces;  // by scalar, N or N m
  std::vector<Vec6> wrenches_W;      // by body, [f; tau] at the centre of mass
  Drag drag;

  explicit Inputs(const Model& model)
      : targets(model.scalars().size()),
        joint_forces(model.scalars().size(), 0.0),
        wrenches_W(model.bodies().size(), Vec6::Zero()) {}
};

class Assembler {
 public:
  // Throws InputError for bad options. No coordinates: maximal ones.
  Assembler(Model model, SimulationOptions options, std::unique_ptr<Coordinates> coordinates = nullptr);

  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  // `last`: what constraints did in the last step, matched with the contacts of this one for its impulses.
  void assemble(const State& state, const Inputs& inputs, double dt, WarmStart* last = nullptr);

  // What the last assemble() made.
  const ConstraintProblem& problem() const { return problem_; }
  std::span<const Contact> contacts() const { return contacts_; }
  std::span<const Pose> row_poses() const { return row_poses_; }
  // After advance(): at the poses after the step.
  const JointKinematics& kinematics_after() const { return end_; }
  const JointKinematics& row_kinematics() const { return rows_at_start_ ? start_ : kinematics_; }
  // Velocities before the step, carried to the pose of the rows.
  const VecX& u_minus() const { return u_minus_; }
  // What the coordinates with armature move at after the step: q'+ = J u+ + c (docs/theory/integrators.md §10); by dof,
  // others are left as they are. To be called before anything else is projected.
  void rates_after(const VecX& u_plus, std::span<double> rate) const;
  std::span<const int> armature_dofs() const { return armature_dofs_; }
  // Likewise before the step: what the state of the last assemble() says.
  void rates_before(const State& state, std::span<double> rate) const;
  // Of the last assemble().
  FreeMotion free_motion(const Inputs& inputs, double dt) const;
  const StepModes& modes() const { return modes_; }
  // By contact: 1 if its law is that of restitution. Impacts that follow in the same step are added.
  std::span<std::uint8_t> bounced() { return bounced_; }
  // Ids of the limits that bounce, ascending.
  std::span<const std::uint64_t> bounced_limits() const { return bounced_limits_; }

  // Contacts at the poses after the step, kept for the next one if the step is taken (advance()).
  std::span<const Contact> detect_after(std::span<const Pose> X_WB, std::span<const Vec6> twist, double dt);
  // The same once those bodies that have a 1 in `moved` are a little off.
  void detect_moved(std::span<const Pose> X_WB, std::span<const Vec6> twist, double dt,
                    std::span<const std::uint8_t> moved);
  std::span<const Contact> contacts_after() const { return end_contacts_; }
  std::span<const Contact> contacts_before() const { return start_contacts_; }
  // For the poses after the step, from the end of assemble() on.
  JointKinematics& kinematics_after() { return end_; }
  // The step is taken: the last detect_after() becomes the contacts before the next one, and kinematics_after(), at the
  // poses after it, those before the next one.
  void advance();
  // What the next step takes over from the last one: contacts and the linearisation of the joints. To be read after an
  // assemble() at the same state (snapshot.cpp).
  template <class A>
  void archive(A& a);
  // What depends on numbers of the model (model/numbers.h) and takes time or memory to find.
  template <class A>
  void archive_numbers(A& a) {
    a(options_.rows.restitution_threshold, released_);
    modes_.archive_numbers(a);
  }
  // Those have changed; what is found quickly is found here.
  void read_again() {
    coordinates_->read_again();
    detector_.read_again();
    projection_.read_again();
    forget();
  }
  // The state was changed from outside.
  void forget() {
    start_dt_ = 0;
    end_known_ = false;
    factor_.forget();
    projection_.forget();
  }
  // Rows at other poses than those of the last assemble(): after the step.
  RowContext context_at(std::span<const Pose> X_WB, const JointKinematics& kinematics, std::span<const double> q,
                        double dt) const;
  // Force of a scalar that is no row, N or N m: force drives, and servos of schemes with explicit forces.
  double explicit_effort(int dof) const { return explicit_effort_[static_cast<std::size_t>(dof)]; }
  double limit_violation() const { return limit_violation_; }  // m or rad
  double penetration() const { return penetration_; }          // m
  double seconds_collision() const { return seconds_collision_; }
  double seconds_assembly() const { return seconds_assembly_; }
  double seconds_projection() const { return seconds_projection_; }

  const Model& model() const { return model_; }
  const SimulationOptions& options() const { return options_; }
  const Scheme& scheme() const { return scheme_; }
  Coordinates& coordinates() { return *coordinates_; }
  // Joint rows that loops of rounded numbers do without (assembly/rounded_rows.h): 1, by row. They are rows of the
  // problem with a compliance R that leaves them no force. Empty: none.
  std::span<const std::uint8_t> released_rows() const { return released_; }
  // Linearised at the rows of the last assemble().
  JointProjection& projection() { return projection_; }
  // Of the linear rows of the last assemble(), for the solver.
  LinearFactor& factor() { return factor_; }

 private:
  void read_inputs(const State& state, const Inputs& inputs, double dt);
  void find_events(const State& state, double dt);
  void place_rows(const State& state, double dt);
  void place_contacts(const State& state, double dt, WarmStart* last);
  bool moves(const State& state, const Contact& contact, double dt) const;
  bool find_moved_contacts(const State& state, double dt);
  void read_rates(const State& state);
  void add_forces(double dt);
  void build_rows(const Inputs& inputs, double dt, const WarmStart* last);
  void take_soft_rows_along(const RowContext& context, const WarmStart* last);
  void find_bounces(const RowContext& context);

  Model model_;
  SimulationOptions options_;
  const Scheme& scheme_;
  std::unique_ptr<Coordinates> coordinates_;
  CollisionDetector detector_;
  std::vector<std::uint8_t> released_;  // by joint row; empty: none
  LinearFactor factor_;                 // of problem_
  JointProjection projection_;
  StepModes modes_;
  JointKinematics start_, end_, kinematics_;
  bool end_known_ = false;      // end_ is at the poses after a step taken; while rows are built, at predicted_poses_
  bool start_known_ = false;    // the state is as the last step left it
  bool rows_at_start_ = false;  // all rows are at the poses before the step
  std::vector<Pose> row_poses_, predicted_poses_;
  std::vector<Vec6> row_twists_;  // before the step, carried to the pose of the rows
  std::vector<double> row_q_;
  VecX u_minus_;
  std::vector<int> armature_dofs_;
  std::vector<double> armature_rate_;                                  // by dof, q'- - c
  std::vector<double> rate_curvature_;                                 // by dof, c
  std::vector<DriveInput> drives_;                                     // by scalar
  std::vector<double> explicit_effort_;                                // by scalar
  std::vector<Contact> start_contacts_;                                // before the step
  std::vector<Contact> contacts_;                                      // at the poses of the rows
  std::vector<Contact> end_contacts_;                                  // after the step
  std::vector<Contact> moved_contacts_;                                // the next end_contacts_
  std::vector<CollisionDetector::ClosePair> start_pairs_, end_pairs_;  // of start_contacts_ and end_contacts_
  double start_dt_ = 0, end_dt_ = 0;                                   // the horizon they were found for; 0: none
  std::span<const Sustained> sustained_;                               // by contact
  std::span<const double> pair_load_;                                  // by contact, N
  WarmStart marks_;  // contacts before the step, to be found again at the rows
  std::vector<std::uint8_t> bounced_;
  std::vector<std::uint64_t> bounced_limits_;
  ConstraintProblem problem_;
  std::vector<std::uint8_t> taken_along_;  // by block
  double limit_violation_ = 0;
  double penetration_ = 0;
  double seconds_collision_ = 0;
  double seconds_assembly_ = 0;
  double seconds_projection_ = 0;
};

}  // namespace sarrus
