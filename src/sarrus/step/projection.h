// Mass-weighted projection of poses onto the joint manifold, and of velocities onto its tangent space.
//
//   positions:  min 1/2 d' M d   s.t.  r(s + d) = 0        Gauss-Newton:  d = -M^-1 J'(J M^-1 J' + eps)^-1 r
//   velocities: min 1/2 d' M d   s.t.  J(s)(u + d) = 0
// Both as d = -H^-1 J' G r with H = M + J' G J, G = 1/(eps D_ii): the regularisation makes redundant rows
// harmless, and iterating removes its bias. r are the residuals of joints, rods, locked dofs and couplings, as far as
// they are rigid: compliant ones are springs, whose deformation is part of the state.
#pragma once

#include <span>
#include <vector>

#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/solvers/normal_matrix.h"

namespace sarrus {

class Projector {
 public:
  explicit Projector(const Model& model);

  // Forgets the linearisation of an earlier step.
  void forget() { linearised_ = false; }
  // Replaces the biases v* of the rigid bilateral rows (what add_joint_rows made) by their mass-weighted projection on
  // the range of J(s). Where rows are redundant (loops), a bias outside the range asks for a velocity that does not
  // exist: impulses would grow without bound while no residual could vanish. Does nothing for models without loops.
  void make_consistent(std::span<const Pose> X_WB, const JointKinematics& kinematics, std::span<const double> q,
                       ConstraintProblem& problem);

  struct Result {
    double residual = 0;  // largest |r| afterwards, m or rad
    int iterations = 0;   // Gauss-Newton steps taken
  };
  // Moves the poses; keeps them as they were if no step reduces the residual. A linearisation made earlier in the
  // step serves as long as it contracts well. `kinematics` and q (coordinates
  // near which angles are unwrapped) follow the poses.
  Result project_poses(std::vector<Pose>& X_WB, JointKinematics& kinematics, std::span<const double> q,
                       double tolerance, int max_iterations);
  // Removes the velocity component that violates J(s) u = 0 at the given poses. u is stacked by node.
  void project_velocities(std::span<const Pose> X_WB, const JointKinematics& kinematics, std::span<const double> q,
                          VecX& u);
  bool has_rows() const { return has_rows_; }

 private:
  // Rows, masses and factor at the given poses; false if H could not be factored.
  bool linearise(std::span<const Pose> X_WB, const JointKinematics& kinematics, std::span<const double> q);
  // step_ = -H^-1 J' G residual
  void newton_step(const Eigen::Ref<const VecX>& residual);
  double largest_residual(const JointKinematics& kinematics, std::span<const double> q);

  Model model_;
  bool has_rows_ = false;
  bool linearised_ = false;
  std::vector<Mat3> inertia_inverse_B_;
  ConstraintProblem rows_;      // Jacobian and masses of the last factorisation
  ConstraintProblem residual_;  // residuals at the current poses
  NormalMatrix normal_;
  VecX weight_, weighted_, step_, velocity_;
  std::vector<Pose> trial_;
};

}  // namespace sarrus
