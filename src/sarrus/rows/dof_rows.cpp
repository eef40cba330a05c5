// Rows along single directions: of joints, servos, springs and dampers, dry friction, limits, swing limits, ropes; of a
// body that is dragged.
#include <algorithm>
#include <cmath>

#include "sarrus/math/so3.h"
#include "sarrus/rows/compliance.h"
#include "sarrus/rows/writer.h"

namespace sarrus {
namespace {

// --- soft rows -------------------------------------------------------------------------------------------

void set_soft_row(ConstraintProblem& p, const ConstraintBlock& b, double rho, double momentum, double lower = -kInf,
                  double upper = kInf) {
  const auto i = static_cast<std::size_t>(b.row);
  p.R[i] = 1.0 / rho;
  p.bias[i] = -momentum / rho;
  p.lower[i] = lower;
  p.upper[i] = upper;
}

// A servo pulls with kp error + kd (target_rate - rate), all of the coordinate as it is now.
struct ServoLaw {
  double kp = 0;
  double error = 0;
  double target_rate = 0;
};

// Of the targets: implicit servos aim at that of the end of the step, those on the mean at that of its middle.
enum class Instant : std::uint8_t { middle, end };

ServoLaw servo_law(const Dof& dof, const DriveInput& in, double q, Instant instant) {
  const bool position = dof.drive.mode == DriveMode::position;
  const DriveTarget& aim = instant == Instant::middle ? in.middle : in.end;
  ServoLaw s;
  s.kp = position ? dof.drive.kp : 0.0;
  s.error = aim.target - q;
  if (dof.wrapped) s.error = wrap_angle(s.error);
  s.target_rate = position ? aim.rate : aim.target;
  return s;
}

const Scheme& scheme_of_dof(const RowContext& c, int dof) {
  const Joint& j = c.model.joints()[static_cast<std::size_t>(c.model.joint_of_dof(dof))];
  return c.scheme_between(j.base, j.follower);
}

ConstraintBlock& add_soft_block(const RowContext& c, RowSource source, int dof, ConstraintProblem& p) {
  return with_scalar_row(c.model, c.kinematics, dof, [&](const auto& row) -> ConstraintBlock& {
    return add_dof_block(c.coordinates, BlockKind::soft, source, dof, row, 1.0, p);
  });
}

void add_servo_row(const RowContext& c, int i, ConstraintProblem& p) {
  const Dof& dof = c.model.scalars()[static_cast<std::size_t>(i)];
  const Drive& d = dof.drive;
  if (d.mode != DriveMode::position && d.mode != DriveMode::velocity) return;
  const Scheme& scheme = scheme_of_dof(c, i);
  if (scheme.force == 0) return;  // explicit_servo_force() instead
  const ConstraintBlock& b = add_soft_block(c, RowSource::servo, i, p);
  const ServoLaw s = servo_law(dof, c.inputs[static_cast<std::size_t>(i)], c.model.scalar_value(i, c.q),
                               scheme.row_pose > 0 ? Instant::middle : Instant::end);
  const double rho = c.dt * scheme.force * d.kd + c.dt * c.dt * scheme.spring.plus * s.kp;
  const double rate = row_velocity(p, b, 0, c.u_minus);
  const double error = s.error - c.dt * scheme.spring.minus * rate;
  const double target_rate = s.target_rate - (1 - scheme.force) * rate;
  set_soft_row(p, b, rho, c.dt * (s.kp * error + d.kd * target_rate), c.dt * d.least_effort(),
               c.dt * d.largest_effort());
}

void add_passive_row(const RowContext& c, int i, ConstraintProblem& p) {
  const Dof& dof = c.model.scalars()[static_cast<std::size_t>(i)];
  const double dt = c.dt;
  if (!(dof.armature + dof.damping + dof.stiffness > 0)) return;
  const Scheme& scheme = scheme_of_dof(c, i);
  if (scheme.force == 0 && dof.armature == 0) return;  // explicit_passive_force() instead
  const ConstraintBlock& b = add_soft_block(c, RowSource::passive, i, p);
  const double rate = row_velocity(p, b, 0, c.u_minus);
  const double rho = dof.armature + dt * scheme.force * dof.damping + scheme.spring.plus * dt * dt * dof.stiffness;
  const double q = c.model.scalar_value(i, c.q) + scheme.spring.minus * dt * rate;
  const double force = dof.stiffness * (dof.rest - q) - (1 - scheme.force) * dof.damping * rate;
  const double carried = dof.armature > 0 ? dof.armature * c.armature_rate[static_cast<std::size_t>(i)] : 0.0;
  set_soft_row(p, b, rho, carried + dt * force);
}

void add_dry_friction_row(const RowContext& c, int i, ConstraintProblem& p) {
  const double bound = c.dt * c.model.scalars()[static_cast<std::size_t>(i)].dry_friction;
  if (!(bound > 0)) return;
  const ConstraintBlock& b = add_soft_block(c, RowSource::dry_friction, i, p);
  p.lower[static_cast<std::size_t>(b.row)] = -bound;
  p.upper[static_cast<std::size_t>(b.row)] = bound;
}

// At the end of the step whatever the scheme, x+ = x + dt (w u+ + (1 - w - row_pose) u-) with x at the pose of the
// rows.
void add_drag_rows(const RowContext& c, ConstraintProblem& p) {
  if (c.drag == nullptr || c.drag->body == kWorld) return;
  const Drag& d = *c.drag;
  const Scheme& scheme = c.scheme_at(d.body);
  const Pose& X_WB = c.X_WB[static_cast<std::size_t>(d.body)];
  const Vec3 arm_W = X_WB.q * d.point_B;
  const Vec3 way_W = d.target_W - X_WB.p - arm_W;
  NodeList nodes;
  nodes.add(c.coordinates, d.body);
  const ConstraintBlock& b = add_labelled_block(p, BlockKind::soft, 3, nodes, RowSource::drag, d.body);
  const double rho = c.dt * d.damping + c.dt * c.dt * scheme.position * d.stiffness;
  for (int r = 0; r < 3; ++r) {
    const Vec3 axis = Vec3::Unit(r);
    add_body_row(c.coordinates, p, b, nodes, d.body, r, spatial(axis, arm_W.cross(axis)));
    const double moved = c.dt * (1 - scheme.position - scheme.row_pose) * row_velocity(p, b, r, c.u_minus);
    const auto i = static_cast<std::size_t>(b.row + r);
    p.R[i] = 1 / rho;
    p.bias[i] = -c.dt * d.stiffness * (way_W[r] - moved) / rho;
    p.lower[i] = -c.dt * d.most_force;
    p.upper[i] = c.dt * d.most_force;
  }
}

// --- limits ----------------------------------------------------------------------------------------------

// Whether the limit can matter in this step; rows far from their limit are not built at all.
template <class Row>
bool limit_in_reach(const RowContext& c, const ConstraintProblem& p, const Row& row, double gap, double margin) {
  if (gap <= margin) return true;
  const double rate = dof_rate(c.coordinates, row, c.u_minus);
  const double free_rate = dof_rate(c.coordinates, row, p.u_free);
  return gap <= margin + 2 * c.dt * std::max(std::abs(rate), std::abs(free_rate));
}

// What lengths and speeds of a limit are measured by.
struct LimitScale {
  double unit;   // a size of the joint, in the units of the limit
  double reach;  // m per unit
};

void set_limit_law(const RowContext& c, ConstraintProblem& p, const ConstraintBlock& b, const Scheme& scheme,
                   double gap, double restitution, const Compliance& compliance, const LimitScale& scale) {
  const auto i = static_cast<std::size_t>(b.row);
  if (c.positions) {
    p.bias[i] = gap;
    return;
  }
  const double v_minus = row_velocity(p, b, 0, c.u_minus);
  const double v_free = row_velocity(p, b, 0, p.u_free);
  if (compliance.compliant()) {
    const CompliantRow row = unilateral_row(compliance, {c.dt, gap, v_minus, v_free, block_delassus(p, b)(0, 0)});
    p.R[i] = row.R;
    p.bias[i] = row.bias;
    return;
  }
  const bool sustained = std::binary_search(c.sustained_limits.begin(), c.sustained_limits.end(), b.id);
  p.bias[i] = unilateral_bias({gap, kLimitSlop * scale.unit, v_minus, v_free, restitution, sustained, 0.0}, scheme,
                              c.options.restitution_threshold / scale.reach, c.dt);
}

void add_dof_limits(const RowContext& c, bool lower, ConstraintProblem& p, LimitViolation& violation) {
  const RowSource source = lower ? RowSource::limit_lower : RowSource::limit_upper;
  for (int i = 0; i < c.model.scalar_count(); ++i) {
    const Limit& l = c.model.scalars()[static_cast<std::size_t>(i)].limit;
    const double bound = lower ? l.lower : l.upper;
    if (!std::isfinite(bound) || l.locked() || (c.positions && l.compliance.compliant())) continue;
    const double q = c.model.scalar_value(i, c.q);
    const double gap = lower ? q - bound : bound - q;
    const LimitScale scale{in_units_of(c.model, i, 1.0), c.model.reach(i)};
    violation.add(-gap, scale.unit);
    with_scalar_row(c.model, c.kinematics, i, [&](const auto& row) {
      if (!limit_in_reach(c, p, row, gap - l.compliance.margin, c.options.limit_margin * scale.unit)) return;
      const ConstraintBlock& b = add_dof_block(c.coordinates, BlockKind::limit, source, i, row, lower ? 1.0 : -1.0, p);
      set_limit_law(c, p, b, scheme_of_dof(c, i), gap, l.restitution, l.compliance, scale);
    });
  }
}

template <class Wanted>
void add_joint_limits(const RowContext& c, RowSource source, const Wanted& wanted, ConstraintProblem& p,
                      LimitViolation& violation) {
  for (int i = 0; i < c.model.joint_count(); ++i) {
    const Joint& j = c.model.joints()[static_cast<std::size_t>(i)];
    if (!wanted(j)) continue;
    const UnilateralJoint u = unilateral_joint(j, c.kinematics.frame(i));
    const double size = c.model.joint_size(i);
    const LimitScale scale = j.rope ? LimitScale{size, 1.0} : LimitScale{1.0, size};
    violation.add(-u.gap, scale.unit);
    if (!u.defined) continue;
    if (source == RowSource::swing_limit && !limit_in_reach(c, p, u.row, u.gap, c.options.limit_margin)) continue;
    const ConstraintBlock& b = add_dof_block(c.coordinates, BlockKind::limit, source, i, u.row, 1.0, p);
    const Scheme& scheme = c.scheme_between(j.base, j.follower);
    const Compliance& compliance = j.rope ? j.compliance : Compliance{};
    set_limit_law(c, p, b, scheme, u.gap, 0.0, compliance, scale);
    if (!j.rope || c.positions || compliance.compliant() || scheme.curvature == 0) continue;
    const double predicted = unilateral_joint(j, c.predicted.frame(i)).gap;
    p.bias[static_cast<std::size_t>(b.row)] +=
        scheme.curvature * ((predicted - u.gap) / c.dt - row_velocity(p, b, 0, c.u_minus));
  }
}

void add_swing_limits(const RowContext& c, ConstraintProblem& p, LimitViolation& violation) {
  add_joint_limits(
      c, RowSource::swing_limit, [](const Joint& j) { return std::isfinite(j.swing_limit); }, p, violation);
}

void add_ropes(const RowContext& c, ConstraintProblem& p, LimitViolation& violation) {
  const auto wanted = [&](const Joint& j) { return j.rope && !(c.positions && j.compliance.compliant()); };
  add_joint_limits(c, RowSource::rope, wanted, p, violation);
}

}  // namespace

void add_sustained_limits(const RowContext& c, ConstraintProblem& p) {
  for (const std::uint64_t id : c.sustained_limits) {
    const auto kind = static_cast<RowSource>(id >> 32);
    const auto source = static_cast<int>(id & 0xffffffffu);
    const bool of_dof = kind == RowSource::limit_lower || kind == RowSource::limit_upper;
    const auto add = [&](const auto& row) {
      add_dof_block(c.coordinates, BlockKind::joint, kind, source, row, 1.0, p);
    };
    if (of_dof) {
      with_scalar_row(c.model, c.kinematics, source, add);
    } else {
      add(unilateral_joint(c.model.joints()[static_cast<std::size_t>(source)], c.kinematics.frame(source)).row);
    }
  }
}

UnilateralJoint unilateral_joint(const Joint& j, const JointFrame& f) {
  UnilateralJoint u;
  if (j.rope) {
    double excess[1];
    joint_residual(j, f, excess);
    u.gap = -excess[0];
    u.row = distance_row(j, f);
    u.row.J_base = -u.row.J_base;
    u.row.J_follower = -u.row.J_follower;
    return u;
  }
  const Vec3 s = joint_swing_W(f);
  const double swing = s.norm();
  u.gap = j.swing_limit - swing;
  u.row = {j.base, j.follower};
  u.defined = swing >= 1e-9;
  if (!u.defined) return u;
  u.row.J_follower.tail<3>() = -s / swing;
  u.row.J_base.tail<3>() = s / swing;
  return u;
}

DofRow dof_row(const Model& model, const JointKinematics& kin, int dof) {
  const int ji = model.joint_of_dof(dof);
  const Joint& j = model.joints()[static_cast<std::size_t>(ji)];
  JointAxis axes[kMaxJointDofs];
  kin.dof_axes(ji, axes);
  const JointAxis& a = axes[dof - j.first_dof];
  return {j.base, j.follower, base_row(kin.frame(ji), a), follower_row(kin.frame(ji), a)};
}

CombinationRow combination_row(const Model& model, const JointKinematics& kin, int scalar) {
  CombinationRow out;
  const auto add = [&out](int body, const Vec6& J) {
    if (body == kWorld) return;
    int* const end = out.body + out.count;
    int* const place = std::find(out.body, end, body);
    Vec6& sum = out.J[place - out.body];
    if (place == end) {
      *place = body;
      sum.setZero();
      ++out.count;
    }
    sum += J;
  };
  for (const CombinationTerm& t : model.combination_of(scalar).terms) {
    const DofRow row = dof_row(model, kin, t.dof);
    add(row.base, t.coefficient * row.J_base);
    add(row.follower, t.coefficient * row.J_follower);
  }
  return out;
}

namespace {

double body_rate(const Coordinates& coordinates, int body, const Vec6& J, const VecX& u) {
  if (body == kWorld) return 0.0;
  const BodyMap& map = coordinates.map(body);
  if (map.X == nullptr) return J.dot(u.segment<6>(map.offset));
  const Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic>> X(map.X, 6, map.size);
  double sum = 0;
  for (int c = 0; c < map.size; ++c) sum += J.dot(X.col(c)) * u[map.offset + c];
  return sum;
}

void add_body_impulse(const Coordinates& coordinates, int body, const Vec6& J, double impulse,
                      const ConstraintProblem& p, VecX& u) {
  if (body == kWorld) return;
  const BodyMap& map = coordinates.map(body);
  const double* W = p.mass_inverse.data() + p.mass_offset[static_cast<std::size_t>(map.node)];
  for (int c = 0; c < map.size; ++c) {
    const double f = impulse * (map.X == nullptr ? J[c] : Eigen::Map<const Vec6>(map.X + 6 * c).dot(J));
    for (int r = 0; r < map.size; ++r) u[map.offset + r] += f * W[c * map.size + r];
  }
}

}  // namespace

double dof_rate(const Coordinates& coordinates, const DofRow& row, const VecX& u) {
  return body_rate(coordinates, row.base, row.J_base, u) + body_rate(coordinates, row.follower, row.J_follower, u);
}

double dof_rate(const Coordinates& coordinates, const CombinationRow& row, const VecX& u) {
  double sum = 0;
  for (int i = 0; i < row.count; ++i) sum += body_rate(coordinates, row.body[i], row.J[i], u);
  return sum;
}

void add_dof_impulse(const Coordinates& coordinates, const DofRow& row, double impulse, const ConstraintProblem& p,
                     VecX& u) {
  add_body_impulse(coordinates, row.base, row.J_base, impulse, p, u);
  add_body_impulse(coordinates, row.follower, row.J_follower, impulse, p, u);
}

void add_dof_impulse(const Coordinates& coordinates, const CombinationRow& row, double impulse,
                     const ConstraintProblem& p, VecX& u) {
  for (int i = 0; i < row.count; ++i) add_body_impulse(coordinates, row.body[i], row.J[i], impulse, p, u);
}

ConstraintBlock& add_dof_block(const Coordinates& coordinates, BlockKind kind, RowSource source, int index,
                               const DofRow& row, double scale, ConstraintProblem& p) {
  NodeList nodes;
  nodes.add(coordinates, row.base);
  nodes.add(coordinates, row.follower);
  ConstraintBlock& b = add_labelled_block(p, kind, 1, nodes, source, index);
  add_body_row(coordinates, p, b, nodes, row.base, 0, row.J_base, scale);
  add_body_row(coordinates, p, b, nodes, row.follower, 0, row.J_follower, scale);
  return b;
}

ConstraintBlock& add_dof_block(const Coordinates& coordinates, BlockKind kind, RowSource source, int index,
                               const CombinationRow& row, double scale, ConstraintProblem& p) {
  NodeList nodes;
  for (int i = 0; i < row.count; ++i) nodes.add(coordinates, row.body[i]);
  ConstraintBlock& b = add_labelled_block(p, kind, 1, nodes, source, index);
  for (int i = 0; i < row.count; ++i) add_body_row(coordinates, p, b, nodes, row.body[i], 0, row.J[i], scale);
  return b;
}

bool bounces(const Unilateral& row, double restitution_threshold, double dt) {
  return row.restitution > 0 && row.v_minus < -restitution_threshold &&
         row.gap + dt * std::min(row.v_minus, row.v_free) <= 0;
}

bool is_impact(const Unilateral& row, double dt) {
  return !row.sustained && row.v_minus < -2 * std::abs(row.v_free - row.v_minus) &&
         row.gap + dt * std::min(row.v_minus, row.v_free) <= row.slop;
}

double unilateral_bias(const Unilateral& row, const Scheme& scheme, double restitution_threshold, double dt) {
  // Where sustained rows have their law on the mean velocity, what bounces is in an impact step.
  if (scheme.sustained_law == 0 && bounces(row, restitution_threshold, dt)) return row.restitution * row.v_minus;
  const double closed = row.sustained ? row.slop : row.dead_zone;
  if (row.gap > closed) return (row.gap - row.dead_zone) / (scheme.row_pose > 0 ? scheme.position * dt : dt);
  return row.sustained ? scheme.sustained_law * row.v_minus : 0.0;
}

double explicit_passive_force(const Dof& dof, double q, double rate) {
  return dof.armature == 0 ? dof.stiffness * (dof.rest - q) - dof.damping * rate : 0.0;
}

double explicit_servo_force(const Dof& dof, const DriveInput& input, double q, double rate) {
  const Drive& d = dof.drive;
  if (d.mode != DriveMode::position && d.mode != DriveMode::velocity) return 0.0;
  const ServoLaw s = servo_law(dof, input, q, Instant::end);
  return d.clamp_effort(s.kp * s.error + d.kd * (s.target_rate - rate));
}

void add_soft_rows(const RowContext& c, ConstraintProblem& p) {
  for (int i = 0; i < c.model.scalar_count(); ++i) add_servo_row(c, i, p);
  for (int i = 0; i < c.model.scalar_count(); ++i) add_passive_row(c, i, p);
  for (int i = 0; i < c.model.scalar_count(); ++i) add_dry_friction_row(c, i, p);
  add_drag_rows(c, p);
}

LimitViolation add_limit_rows(const RowContext& c, ConstraintProblem& p) {
  LimitViolation violation;
  add_dof_limits(c, true, p, violation);
  add_dof_limits(c, false, p, violation);
  add_swing_limits(c, p, violation);
  add_ropes(c, p, violation);
  return violation;
}

}  // namespace sarrus
