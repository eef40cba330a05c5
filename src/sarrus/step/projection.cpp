#include "sarrus/step/projection.h"

#include <algorithm>
#include <cmath>

#include "sarrus/dynamics/state.h"

namespace sarrus {
namespace {

// Relative to diag(D): about the square root of the machine precision, so that neither the bias of the
// regularisation nor the round-off of H costs more than one extra iteration.
constexpr double kRegularisation = 1e-8;
// A linearisation is kept while it contracts by this factor and two more steps will do.
constexpr double kContraction = 0.05;

// 0 x is 0 for numbers alone; a sum is quicker than a test of each.
bool is_finite(const VecX& v) { return (0.0 * v).sum() == 0; }

std::span<const double> as_span(const GrowingVector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

}  // namespace

JointProjection::JointProjection(const Model& model, Coordinates& coordinates, LinearFactor& linear,
                                 std::span<const std::uint8_t> released)
    : model_(model),
      coordinates_(coordinates),
      factor_(linear),
      linear_(&linear),
      has_redundancy_(!model.loop_joints().empty() || !model.couplings().empty() || !model.combinations().empty()),
      released_(released),
      rows_(&own_rows_),
      trial_(model.bodies().size()),
      twist_(model.bodies().size()),
      body_tangent_(model),
      first_of_(model.bodies().size()) {
  for (const Joint& j : model.joints()) has_compliance_ = has_compliance_ || j.compliance.compliant();
  for (const Coupling& c : model.couplings()) has_compliance_ = has_compliance_ || c.compliance.compliant();
  for (const Dof& d : model.scalars())
    has_compliance_ = has_compliance_ || (d.limit.locked() && d.limit.compliance.compliant());
  own_rows_.set_nodes(coordinates.node_sizes());
  tangent_normal_.use(linear.spare());
  step_.resize(coordinates.velocity_size());
  finishes_.reserve(coordinates.node_sizes().size());
  violated_.reserve(coordinates.node_sizes().size());
  const State s = State::initial(model);
  JointKinematics kinematics(model);
  kinematics.update(s.X_WB, s.q);
  linearise(s.X_WB, kinematics, s.q);
  has_rows_ = row_count_ > 0;
  if (has_rows_) factor();  // its memory
  serves_ = false;
}

void JointProjection::use(const ConstraintProblem& rows) {
  rows_ = &rows;
  block_count_ = 0;
  row_count_ = 0;
  for (const ConstraintBlock& b : rows.blocks) {
    if (is_of_problem() && b.kind != BlockKind::joint) break;  // those are added later
    ++block_count_;
    row_count_ = b.row + b.rows;
  }
  for (GrowingVector* v : {&weight_, &weighted_, &residual_, &velocity_}) v->resize(row_count_);
  factored_ = false;
  serves_ = true;
}

void JointProjection::linearise(std::span<const Pose> X_WB, const JointKinematics& kinematics,
                                std::span<const double> q) {
  set_position_rows(model_, coordinates_, X_WB, kinematics, q, own_rows_);
  use(own_rows_);
}

void JointProjection::borrow(JointProjection& other) {
  problem_ = other.problem_;
  linear_ = other.linear_;
}

void JointProjection::begin(bool warm) {
  serves_ = false;
  if (warm && !has_compliance_ && problem_ != nullptr && linear_->is_of(*problem_)) use(*problem_);
}

// weight_ = D_ii. For what regularises tangent rows, those of the joints at the pose of the problem are good enough.
void JointProjection::weigh_rows() {
  std::size_t known = 0;
  if (tangent_ && problem_ != nullptr && !has_compliance_ && own_joints_ > 0) {
    known = static_cast<std::size_t>(own_joints_);
    const ConstraintBlock& last = own_rows_.blocks[known - 1];
    if (last.row + last.rows == problem_->rows_of(BlockKind::joint)) {
      weight_.head(last.row + last.rows) = problem_->diagonal.head(last.row + last.rows);
    } else {
      known = 0;
    }
  }
  rows_->diagonal_D_plus_R(blocks().subspan(known), weight_);
}

bool JointProjection::factor() {
  if (shares()) return linear_->is_of(*rows_) || linear_->factor(*rows_);
  if (factored_) return true;
  weigh_rows();
  weight_ = (kRegularisation * weight_.cwiseMax(1e-300)).cwiseInverse();
  for (const ConstraintBlock& b : blocks()) {
    if (has_compliance_ && is_compliant(model_, b)) weight_.segment(b.row, b.rows).setZero();
  }
  leave_out_released(weight_);
  normal_->prepare(*rows_, blocks());
  factored_ = normal_->factor(*rows_, blocks(), as_span(weight_));
  return factored_;
}

void JointProjection::use_joints(const ConstraintProblem& problem) {
  problem_ = &problem;
  linear_ = &factor_;
  if (has_rows_) use(problem);
}

void JointProjection::make_consistent(ConstraintProblem& problem) {
  if (!has_rows_ || !has_redundancy_) return;
  Eigen::Map<VecX> bias(problem.bias.data(), row_count_);
  velocity_ = -bias;
  for (const ConstraintBlock& b : compliant_blocks()) {
    if (is_compliant(model_, b)) velocity_.segment(b.row, b.rows).setZero();
  }
  if (velocity_.isZero(0) || !factor()) return;
  newton_step(velocity_);
  if (!is_finite(step_)) return;
  problem.multiply_J(blocks(), step_, velocity_);
  leave_out_released(velocity_);
  for (const ConstraintBlock& b : compliant_blocks()) {
    if (is_compliant(model_, b)) velocity_.segment(b.row, b.rows) = bias.segment(b.row, b.rows);
  }
  bias = velocity_;
}

void JointProjection::leave_out_released(GrowingVector& of_rows) const {
  for (std::size_t i = 0; i < released_.size(); ++i) {
    if (released_[i] != 0) of_rows[static_cast<Eigen::Index>(i)] = 0;
  }
}

void JointProjection::newton_step(const GrowingVector& residual) {
  if (shares()) {
    linear_->step(residual, step_);
    return;
  }
  weighted_ = -weight_.cwiseProduct(residual);
  normal_->solve(*rows_, blocks(), as_span(weighted_), step_);
}

double JointProjection::largest_residual(const JointKinematics& kinematics, std::span<const double> q) {
  return position_residuals(model_, blocks(), has_compliance_, kinematics, q, residual_, released_);
}

JointProjection::Result JointProjection::project_poses(std::span<Pose> X_WB, JointKinematics& kinematics,
                                                       std::span<const double> q, double tolerance,
                                                       int max_iterations) {
  Result result;
  if (!has_rows_) return result;
  result.residual = largest_residual(kinematics, q);
  while (result.residual > tolerance && result.iterations < max_iterations) {
    const bool reused = serves_;
    if (!serves_) {
      linearise(X_WB, kinematics, q);
      largest_residual(kinematics, q);
    }
    if (!factor()) break;
    newton_step(residual_);
    if (!is_finite(step_)) break;
    coordinates_.retract(X_WB, step_, trial_);
    kinematics.update(trial_, q);
    const double residual = largest_residual(kinematics, q);
    ++result.iterations;
    const double rate = residual / result.residual;
    serves_ = rate < kContraction && residual * rate * rate <= tolerance;
    if (!(residual < result.residual)) {
      kinematics.update(X_WB, q);
      if (!reused) break;
      continue;
    }
    result.residual = residual;
    std::copy(trial_.begin(), trial_.end(), X_WB.begin());
  }
  return result;
}

// Largest component of J u at the tangent rows, left in velocity_, of bodies whose scheme finishes, in m/s.
double JointProjection::violation(const JointKinematics& kinematics, const VecX& u) {
  own_rows_.multiply_J(u, velocity_);
  leave_out_released(velocity_);
  double largest = 0;
  for (const ConstraintBlock& b : own_rows_.blocks) {
    if (!finishes_[static_cast<std::size_t>(b.node[0])]) velocity_.segment(b.row, b.rows).setZero();
    const BlockReach reach = block_reach(model_, kinematics, b);
    for (int r = 0; r < b.rows; ++r) largest = std::max(largest, std::abs(velocity_[b.row + r]) * reach.of(r));
  }
  return largest;
}

// Without joints most contacts are tangent as they are: what rests, slides on a plane or rolls on one. Leaves those of
// islands of which none violates J u = 0 by more than `negligible` out of sustained_; false if none is left.
bool JointProjection::leave_tangent(const RowContext& at, std::span<const Contact> contacts, const Islands& islands,
                                    double negligible, const VecX& u) {
  const auto island_of = [&](const Contact& c) {
    return islands.of_node(coordinates_.map(c.body_a == kWorld ? c.body_b : c.body_a).node);
  };
  violated_.assign(static_cast<std::size_t>(islands.count()), 0);
  coordinates_.scatter(at.X_WB, u, twist_);
  sustained_.assign(at.sustained.begin(), at.sustained.end());
  // What rests while other islands move may have lost its contacts at the pose of the rows: it is in no island then.
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (sustained_[i].loaded && island_of(contacts[i]) < 0) sustained_[i] = {};
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    if (!sustained_[i].loaded || c.gap > contact_slop(at.options, c)) continue;
    const Vec3 v_W = contact_velocity(c, twist_, at.X_WB);
    const double slip = at.sustained[i].stuck ? v_W.norm() : std::abs(v_W.dot(c.n_W));
    if (!(slip <= negligible)) violated_[static_cast<std::size_t>(island_of(c))] = 1;
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (sustained_[i].loaded && violated_[static_cast<std::size_t>(island_of(contacts[i]))] == 0) sustained_[i] = {};
  }
  return std::find(violated_.begin(), violated_.end(), 1) != violated_.end();
}

// Islands of one body without joints have a matrix of their own (body_tangent.h). Takes their contacts out of
// sustained_; false if no others are left.
bool JointProjection::finish_lone_bodies(const RowContext& at, std::span<const Contact> contacts,
                                         const Islands& islands, double negligible, VecX& u) {
  std::fill(first_of_.begin(), first_of_.end(), -1);
  next_of_.assign(contacts.size(), -1);
  bool others = false;
  for (std::size_t i = contacts.size(); i-- > 0;) {
    if (!sustained_[i].loaded) continue;
    const Contact& c = contacts[i];
    const int body = std::max(c.body_a, c.body_b);
    const BodyMap& map = coordinates_.map(body);
    if (std::min(c.body_a, c.body_b) != kWorld || map.X != nullptr ||
        islands.nodes(islands.of_node(map.node)).size() > 1) {
      others = true;
      continue;
    }
    if (c.gap <= contact_slop(at.options, c) && at.scheme_at(body).finish) {
      next_of_[i] = first_of_[static_cast<std::size_t>(body)];
      first_of_[static_cast<std::size_t>(body)] = static_cast<int>(i);
    }
  }
  for (std::size_t k = 0; k < first_of_.size(); ++k) {
    if (first_of_[k] < 0) continue;
    const int body = static_cast<int>(k);
    body_tangent_.begin(body, at.X_WB[k]);
    for (int i = first_of_[k]; i >= 0; i = next_of_[static_cast<std::size_t>(i)]) {
      body_tangent_.add(contacts[static_cast<std::size_t>(i)], sustained_[static_cast<std::size_t>(i)].stuck);
    }
    body_tangent_.finish(kRegularisation, negligible, u.segment<6>(coordinates_.map(body).offset));
  }
  if (!others) return false;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const int body = std::max(contacts[i].body_a, contacts[i].body_b);
    if (first_of_[static_cast<std::size_t>(body)] >= 0) sustained_[i] = {};
  }
  return true;
}

// The memory for more tangent rows than there ever were is taken when they come, not when they first need correction,
// perhaps long after the start. What is done with them depends on the present step alone.
void JointProjection::take_memory(const RowContext& at, std::span<const Contact> contacts) {
  int rows = has_rows_ ? static_cast<int>(row_count_) : 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const bool tangent = at.sustained[i].loaded && contacts[i].gap <= contact_slop(at.options, contacts[i]);
    if (tangent) rows += at.sustained[i].stuck ? 3 : 1;
  }
  rows += static_cast<int>(at.sustained_limits.size());
  if (rows <= most_rows_) return;
  most_rows_ = rows;
  if (!use_tangent_rows(at, contacts)) return;
  velocity_.setZero();
  if (factor()) newton_step(velocity_);
  leave_tangent_rows();
}

// False if there are none.
bool JointProjection::use_tangent_rows(const RowContext& at, std::span<const Contact> contacts) {
  set_position_rows(model_, coordinates_, at.X_WB, at.kinematics, at.q, own_rows_);
  own_joints_ = static_cast<int>(own_rows_.blocks.size());
  add_sustained_rows(at, contacts, own_rows_);
  if (own_rows_.rows() == 0) return false;
  normal_ = static_cast<int>(own_rows_.blocks.size()) == own_joints_ ? &joint_normal_ : &tangent_normal_;
  tangent_ = true;
  use(own_rows_);
  return true;
}

void JointProjection::leave_tangent_rows() {
  normal_ = &joint_normal_;
  tangent_ = false;
  own_rows_.keep_blocks(own_joints_);
  use(own_rows_);
  serves_ = false;
}

void JointProjection::project_velocities(const RowContext& at_all, std::span<const Contact> contacts,
                                         const Islands& islands, double negligible, VecX& u) {
  RowContext at = at_all;
  bool any = false;
  for (int i = 0; i < model_.body_count() && !any; ++i) any = at.scheme_at(i).finish;
  if (!any) return;
  take_memory(at, contacts);
  if (!has_rows_ && at.sustained_limits.empty()) {
    if (!leave_tangent(at, contacts, islands, negligible, u)) return;
    if (!finish_lone_bodies(at, contacts, islands, negligible, u)) return;
    at.sustained = sustained_;
  }
  if (!use_tangent_rows(at, contacts)) return;
  finishes_.assign(own_rows_.node_size.size(), true);
  for (int i = 0; i < model_.body_count(); ++i) {
    if (!at.scheme_at(i).finish) finishes_[static_cast<std::size_t>(coordinates_.map(i).node)] = false;
  }
  for (int pass = 0; pass < 2 && violation(at.kinematics, u) > negligible; ++pass) {
    if (!factor()) break;
    newton_step(velocity_);
    if (!is_finite(step_)) break;
    u += step_;
  }
  leave_tangent_rows();
}

}  // namespace sarrus
