// Mass-weighted projection of poses onto the joint manifold, of velocities onto its tangent space, and of biases onto
// the range of J (docs/theory/integrators.md §5, §6).
//
//   positions:  min 1/2 d' M d   s.t.  r(s + d) = 0        Gauss-Newton:  d = -M^-1 J'(J M^-1 J' + eps)^-1 r
//   velocities: min 1/2 d' M d   s.t.  J(s)(u + d) = 0
// Both as d = -H^-1 J' G r with H = M + J' G J, G = 1/(eps D_ii): the regularisation makes redundant rows
// harmless, and iterating removes its bias. r are the residuals of joints, rods, locked dofs and couplings, as far as
// they are rigid: compliant ones are springs, whose deformation is part of the state.
// The joint rows of the step's problem are the linearisation, and its factor is the solver's (linear_factor.h). Rows
// are built anew where it contracts badly, and for velocities, which must be tangent at the new pose, and corrected in
// the metric of the masses there, or the energy drifts at second order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/dynamics/coordinates.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/math/growing_vector.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/rows/rows.h"
#include "sarrus/solvers/linear_factor.h"
#include "sarrus/solvers/normal_matrix.h"
#include "sarrus/step/body_tangent.h"

namespace sarrus {

class JointProjection {
 public:
  // `coordinates` and `linear`, which is shared with the solver, must outlive the projection.
  // `released`: joint rows that are left out (Assembler::released_rows()); empty: none.
  JointProjection(const Model& model, Coordinates& coordinates, LinearFactor& linear,
                  std::span<const std::uint8_t> released = {});

  // The masses of the model have changed (model/numbers.h).
  void read_again() { body_tangent_.read_again(); }
  // Forgets the linearisation of an earlier step.
  void forget() { serves_ = false; }
  // Of the next step; with `warm` the factor of the last one serves as linearisation, if there is one.
  void begin(bool warm);
  // The next step is taken as by `other`, with its factor; for a preview.
  void borrow(JointProjection& other);
  // Takes the joint rows that the problem consists of so far as linearisation. The problem must stay where it is until
  // the next call.
  void use_joints(const ConstraintProblem& problem);
  // Replaces the biases v* of its rigid ones by their mass-weighted projection on the range of J. Where rows are
  // redundant (loops), a bias outside the range asks for a velocity that does not exist: impulses would grow without
  // bound while no residual could vanish. Biases of models without loops are in it as they are.
  void make_consistent(ConstraintProblem& problem);

  struct Result {
    double residual = 0;  // largest |r| afterwards, as position_residuals() has it
    int iterations = 0;   // Gauss-Newton steps taken
  };
  // Moves the poses; keeps them as they were if no step reduces the residual. `kinematics` and q (coordinates near
  // which angles are unwrapped) follow the poses. The tolerance is in rad or shares of the size of a joint.
  Result project_poses(std::span<Pose> X_WB, JointKinematics& kinematics, std::span<const double> q, double tolerance,
                       int max_iterations);
  // Removes the velocity component that violates J(s) u = 0 at the context's poses, of joints and of what is sustained
  // (its limits and the given contacts), of bodies whose scheme finishes; less than `negligible`, m/s (spins times the
  // size of their joint), is left. u is stacked by node; what is sustained connects only bodies of one of the islands.
  void project_velocities(const RowContext& at, std::span<const Contact> contacts, const Islands& islands,
                          double negligible, VecX& u);
  bool has_rows() const { return has_rows_; }

 private:
  void linearise(std::span<const Pose> X_WB, const JointKinematics& kinematics, std::span<const double> q);
  void use(const ConstraintProblem& rows);
  // The linearisation is the problem of the step; its factor is the solver's unless compliant joints are in that, which
  // would change the metric.
  bool is_of_problem() const { return rows_ == problem_; }
  bool shares() const { return is_of_problem() && !has_compliance_; }
  double violation(const JointKinematics& kinematics, const VecX& u);
  // Sets what belongs to released rows to 0.
  void leave_out_released(GrowingVector& of_rows) const;
  bool leave_tangent(const RowContext& at, std::span<const Contact> contacts, const Islands& islands, double negligible,
                     const VecX& u);
  bool finish_lone_bodies(const RowContext& at, std::span<const Contact> contacts, const Islands& islands,
                          double negligible, VecX& u);
  bool use_tangent_rows(const RowContext& at, std::span<const Contact> contacts);
  void leave_tangent_rows();
  void weigh_rows();
  void take_memory(const RowContext& at, std::span<const Contact> contacts);
  // Factors H of the rows in use unless that is done; false if it could not be factored.
  bool factor();
  // step_ = -H^-1 J' G residual
  void newton_step(const GrowingVector& residual);
  double largest_residual(const JointKinematics& kinematics, std::span<const double> q);
  std::span<const ConstraintBlock> blocks() const { return {rows_->blocks.data(), block_count_}; }
  // Those among which compliant ones may be.
  std::span<const ConstraintBlock> compliant_blocks() const {
    return blocks().first(has_compliance_ ? block_count_ : 0);
  }

  Model model_;
  Coordinates& coordinates_;
  LinearFactor& factor_;
  LinearFactor* linear_;                        // factor_, or a borrowed one until use_joints()
  const ConstraintProblem* problem_ = nullptr;  // of the step
  bool has_rows_ = false;
  bool has_redundancy_ = false;
  bool has_compliance_ = false;
  std::span<const std::uint8_t> released_;  // by joint row
  ConstraintProblem own_rows_;     // made by linearise(), or of project_velocities(): joints and what is sustained
  int own_joints_ = 0;             // blocks of it that are of joints
  const ConstraintProblem* rows_;  // the linearisation: own_rows_, or the problem of the step
  std::size_t block_count_ = 0;    // its joint blocks
  int row_count_ = 0;
  bool tangent_ = false;  // they are those of project_velocities()
  bool serves_ = false;   // the linearisation is of this step and contracts well
  bool factored_ = false;
  NormalMatrix joint_normal_, tangent_normal_;  // the latter where something is sustained: their graphs differ
  NormalMatrix* normal_ = &joint_normal_;
  GrowingVector weight_, weighted_, residual_, velocity_;  // by row
  VecX step_;
  std::vector<Pose> trial_;
  std::vector<bool> finishes_;  // by node
  int most_rows_ = 0;           // that tangent_normal_ has memory for
  std::vector<Vec6> twist_;
  std::vector<std::uint8_t> violated_;  // by island
  std::vector<Sustained> sustained_;    // by contact, of violated islands
  BodyTangent body_tangent_;
  std::vector<int> first_of_;  // by body: its first contact, or -1
  std::vector<int> next_of_;   // by contact: the next one of the same body, or -1
};

}  // namespace sarrus
