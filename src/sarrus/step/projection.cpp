#include "sarrus/step/projection.h"

#include <Eigen/LU>
#include <cmath>

#include "sarrus/dynamics/mass.h"
#include "sarrus/math/so3.h"
#include "sarrus/problem/joint_rows.h"

namespace sarrus {
namespace {

// Relative to diag(D): about the square root of the machine precision, so that neither the bias of the
// regularisation nor the round-off of H costs more than one extra iteration.
constexpr double kRegularisation = 1e-8;

// Calls f(i, bias) for the rigid rows among the joint rows of a step's problem; i counts them, as add_position_rows
// does.
template <class F>
void for_each_rigid_row(const Model& model, ConstraintProblem& problem, F f) {
  int i = 0;
  for (const ConstraintBlock& b : problem.blocks) {
    if (b.kind != BlockKind::joint) break;
    if (compliance_of(model, b).compliant()) continue;
    for (int r = 0; r < b.rows; ++r) f(i++, problem.bias[static_cast<std::size_t>(b.row + r)]);
  }
}

Eigen::Map<const VecX> biases(const ConstraintProblem& p) { return {p.bias.data(), p.rows()}; }

}  // namespace

Projector::Projector(const Model& model) : model_(model) {
  const std::vector<int> sizes(static_cast<std::size_t>(model.body_count()), 6);
  rows_.set_nodes(sizes);
  residual_.set_nodes(sizes);
  for (const Body& b : model.bodies()) inertia_inverse_B_.push_back(b.inertia_B.inverse());
  JointKinematics kinematics(model);
  State s = State::initial(model);
  kinematics.update(s.X_WB);
  add_position_rows(model, kinematics, s.q, rows_);
  has_rows_ = rows_.rows() > 0;
  trial_.resize(s.X_WB.size());
  step_.resize(rows_.velocity_size());
}

bool Projector::linearise(std::span<const Pose> X_WB, const JointKinematics& kinematics, std::span<const double> q) {
  rows_.clear_constraints();
  for (std::size_t i = 0; i < X_WB.size(); ++i) {
    body_mass_blocks(model_.bodies()[i], inertia_inverse_B_[i], X_WB[i].q, rows_.mass.data() + rows_.mass_offset[i],
                     rows_.mass_inverse.data() + rows_.mass_offset[i]);
  }
  add_position_rows(model_, kinematics, q, rows_);
  weight_.resize(rows_.rows());
  weighted_.resize(rows_.rows());
  velocity_.resize(rows_.rows());
  rows_.diagonal_D(weight_);
  weight_ = (kRegularisation * weight_.cwiseMax(1e-300)).cwiseInverse();
  normal_.prepare(rows_);
  linearised_ = normal_.factor(rows_, {weight_.data(), static_cast<std::size_t>(weight_.size())});
  return linearised_;
}

void Projector::make_consistent(std::span<const Pose> X_WB, const JointKinematics& kinematics,
                                std::span<const double> q, ConstraintProblem& problem) {
  if (!has_rows_ || (model_.loop_joints().empty() && model_.couplings().empty())) return;
  if (!linearise(X_WB, kinematics, q)) return;
  for_each_rigid_row(model_, problem, [this](int i, double& bias) { velocity_[i] = -bias; });
  newton_step(velocity_);
  if (!step_.allFinite()) return;
  rows_.multiply_J(step_, velocity_);
  for_each_rigid_row(model_, problem, [this](int i, double& bias) { bias = velocity_[i]; });
}

void Projector::newton_step(const Eigen::Ref<const VecX>& residual) {
  weighted_ = -weight_.cwiseProduct(residual);
  rows_.multiply_Jt({weighted_.data(), static_cast<std::size_t>(weighted_.size())}, step_);
  normal_.solve(step_);
}

double Projector::largest_residual(const JointKinematics& kinematics, std::span<const double> q) {
  residual_.clear_constraints();
  add_position_rows(model_, kinematics, q, residual_);
  return biases(residual_).cwiseAbs().maxCoeff();
}

Projector::Result Projector::project_poses(std::vector<Pose>& X_WB, JointKinematics& kinematics,
                                           std::span<const double> q, double tolerance, int max_iterations) {
  Result result;
  if (!has_rows_) return result;
  result.residual = largest_residual(kinematics, q);
  while (result.residual > tolerance && result.iterations < max_iterations) {
    const bool reused = linearised_;
    if (!linearised_ && !linearise(X_WB, kinematics, q)) break;
    newton_step(biases(residual_));
    if (!step_.allFinite()) break;
    for (std::size_t i = 0; i < X_WB.size(); ++i) {
      trial_[i] = integrate_pose(X_WB[i], step_.segment<6>(rows_.node_offset[i]), 1.0);
    }
    kinematics.update(trial_);
    const double residual = largest_residual(kinematics, q);
    ++result.iterations;
    linearised_ = residual < 0.05 * result.residual;
    if (!(residual < result.residual)) {
      kinematics.update(X_WB);
      if (!reused) break;
      largest_residual(kinematics, q);  // the residuals of the poses that are kept
      continue;
    }
    result.residual = residual;
    std::copy(trial_.begin(), trial_.end(), X_WB.begin());
  }
  return result;
}

void Projector::project_velocities(std::span<const Pose> X_WB, const JointKinematics& kinematics,
                                   std::span<const double> q, VecX& u) {
  if (!has_rows_) return;
  if (!linearise(X_WB, kinematics, q)) return;
  for (int pass = 0; pass < 2; ++pass) {
    rows_.multiply_J(u, velocity_);
    newton_step(velocity_);
    if (!step_.allFinite()) return;
    u += step_;
  }
}

}  // namespace sarrus
