#include "sarrus/problem/joint_rows.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/so3.h"
#include "sarrus/problem/compliance_rows.h"

namespace sarrus {
namespace {

// Stable identity; ascending in the order of emission within a segment, so that warm starts match by merging.
std::uint64_t row_id(RowSource kind, int source) {
  return static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint32_t>(source);
}

ConstraintBlock& add_labelled_block(ConstraintProblem& p, BlockKind kind, int rows, std::span<const int> nodes,
                                    RowSource source_kind, int source) {
  ConstraintBlock& b = p.add_block(kind, rows, nodes);
  b.source_kind = source_kind;
  b.source = source;
  b.id = row_id(source_kind, source);
  return b;
}

// In maximal coordinates the node of a body is its index; the world has none.
struct NodeList {
  int node[kMaxBlockNodes];
  int count = 0;

  void add(int body) {
    if (body == kWorld) return;
    for (int k = 0; k < count; ++k) {
      if (node[k] == body) return;
    }
    node[count++] = body;
  }
  int find(int body) const {
    for (int k = 0; k < count; ++k) {
      if (node[k] == body) return k;
    }
    return -1;
  }
  std::span<const int> span() const { return {node, static_cast<std::size_t>(count)}; }
};

// Adds scale * row to the Jacobian of a body; nothing for the world.
void add_body_row(ConstraintProblem& p, const ConstraintBlock& b, const NodeList& nodes, int body, int r,
                  const Vec6& row, double scale = 1.0) {
  const int k = nodes.find(body);
  if (k < 0) return;
  double* J = p.jacobian_row(b, k, r);
  for (int c = 0; c < 6; ++c) J[c] += scale * row[c];
}

void write_dof_row(ConstraintProblem& p, const ConstraintBlock& b, const NodeList& nodes, const DofRow& row,
                   double scale) {
  add_body_row(p, b, nodes, row.base, 0, row.J_base, scale);
  add_body_row(p, b, nodes, row.follower, 0, row.J_follower, scale);
}

// Block of one row along a dof.
ConstraintBlock& add_dof_block(ConstraintProblem& p, BlockKind kind, RowSource source_kind, int dof, const DofRow& row,
                               double scale = 1.0) {
  NodeList nodes;
  nodes.add(row.base);
  nodes.add(row.follower);
  ConstraintBlock& b = add_labelled_block(p, kind, 1, nodes.span(), source_kind, dof);
  write_dof_row(p, b, nodes, row, scale);
  return b;
}

// Distance joints: each body uses its own anchor; n points from base to follower (spec/model.md §2.2).
void write_distance_rows(ConstraintProblem& p, const ConstraintBlock& b, const NodeList& nodes, const Joint& j,
                         const JointFrame& f, double scale) {
  const Vec3 d = f.p_F_W - f.p_B_W;
  const double length = d.norm();
  const Vec3 n = length > 1e-12 ? Vec3(d / length) : Vec3::UnitZ();
  const Vec3 moment_F = Vec3(f.p_F_W - f.r_F_W).cross(n);
  const Vec3 moment_B = Vec3(f.p_B_W - f.r_B_W).cross(n);
  add_body_row(p, b, nodes, j.base, 0, spatial(-n, -moment_B), scale);
  add_body_row(p, b, nodes, j.follower, 0, spatial(n, moment_F), scale);
}

NodeList joint_nodes(const Joint& j) {
  NodeList nodes;
  nodes.add(j.base);
  nodes.add(j.follower);
  return nodes;
}

bool locked(const Dof& dof) { return dof.limit.upper - dof.limit.lower < 1e-9; }

// --- bilateral rows: joints, locked dofs, couplings ------------------------------------------------------

ConstraintBlock& add_joint_block(const Model& model, const JointKinematics& kin, int i, ConstraintProblem& p) {
  const Joint& j = model.joints()[static_cast<std::size_t>(i)];
  const JointFrame& f = kin.frame(i);
  const NodeList nodes = joint_nodes(j);
  const int rows = info(j.type).rows;
  ConstraintBlock& b = add_labelled_block(p, BlockKind::joint, rows, nodes.span(), RowSource::joint, i);
  if (j.type == JointType::distance) {
    write_distance_rows(p, b, nodes, j, f, 1.0);
    return b;
  }
  JointAxis axes[6];
  joint_constraint_axes(j, f, axes);
  for (int r = 0; r < rows; ++r) {
    add_body_row(p, b, nodes, j.base, r, base_row(f, axes[r]));
    add_body_row(p, b, nodes, j.follower, r, follower_row(f, axes[r]));
  }
  return b;
}

ConstraintBlock& add_coupling_block(const Model& model, const JointKinematics& kin, int i, ConstraintProblem& p) {
  const Coupling& c = model.couplings()[static_cast<std::size_t>(i)];
  const DofRow a = dof_row(model, kin, c.dof_a);
  const DofRow b = dof_row(model, kin, c.dof_b);
  NodeList nodes;
  for (const int body : {a.base, a.follower, b.base, b.follower}) nodes.add(body);
  ConstraintBlock& block = add_labelled_block(p, BlockKind::joint, 1, nodes.span(), RowSource::coupling, i);
  write_dof_row(p, block, nodes, a, 1.0);
  write_dof_row(p, block, nodes, b, -c.ratio);
  return block;
}

// Returns how many of the rows are in the units of the compliance itself: all of a locked dof or coupling, the
// translational ones of a joint.
int bilateral_residual(const Model& model, const ConstraintBlock& b, const JointKinematics& kin,
                       std::span<const double> q, double* r) {
  switch (b.source_kind) {
    case RowSource::coupling: {
      const Coupling& c = model.couplings()[static_cast<std::size_t>(b.source)];
      const double qa = kin.coordinate(c.dof_a, q[static_cast<std::size_t>(c.dof_a)]);
      const double qb = kin.coordinate(c.dof_b, q[static_cast<std::size_t>(c.dof_b)]);
      r[0] = qa - c.ratio * qb - c.offset;
      return 1;
    }
    case RowSource::locked_dof: {
      const Limit& l = model.dofs()[static_cast<std::size_t>(b.source)].limit;
      r[0] = kin.coordinate(b.source, q[static_cast<std::size_t>(b.source)]) - 0.5 * (l.lower + l.upper);
      return 1;
    }
    default:
      return joint_residual(model.joints()[static_cast<std::size_t>(b.source)], kin.frame(b.source), r);
  }
}

// Calls f(block) for every bilateral block whose compliance is wanted, in id order: joints, locked dofs, couplings.
template <class Wanted, class F>
void for_each_bilateral(const Model& model, const JointKinematics& kin, ConstraintProblem& p, Wanted wanted, F f) {
  for (int i = 0; i < model.joint_count(); ++i) {
    const Joint& j = model.joints()[static_cast<std::size_t>(i)];
    if (info(j.type).rows > 0 && !j.rope && wanted(j.compliance)) f(add_joint_block(model, kin, i, p));
  }
  for (int i = 0; i < model.dof_count(); ++i) {
    const Dof& dof = model.dofs()[static_cast<std::size_t>(i)];
    if (!locked(dof) || !wanted(dof.limit.compliance)) continue;
    f(add_dof_block(p, BlockKind::joint, RowSource::locked_dof, i, dof_row(model, kin, i)));
  }
  for (int i = 0; i < static_cast<int>(model.couplings().size()); ++i) {
    if (wanted(model.couplings()[static_cast<std::size_t>(i)].compliance)) f(add_coupling_block(model, kin, i, p));
  }
}

double bilateral_erp(const Model& model, const ConstraintBlock& b, double fallback) {
  double erp = kUseDefault;
  if (b.source_kind == RowSource::joint) erp = model.joints()[static_cast<std::size_t>(b.source)].erp;
  if (b.source_kind == RowSource::coupling) erp = model.couplings()[static_cast<std::size_t>(b.source)].erp;
  if (b.source_kind == RowSource::locked_dof) erp = model.dofs()[static_cast<std::size_t>(b.source)].limit.erp;
  return erp == kUseDefault ? fallback : erp;
}

// ERP and curvature, or the tangent condition at the midpoint.
void set_rigid_joint(const RowContext& c, const ConstraintBlock& b, ConstraintProblem& p) {
  const double dt = c.options.dt;
  const double erp = bilateral_erp(c.model, b, c.options.erp_joint);
  // Positions move with theta_vq u+ + (1 - theta_vq) u-, and J u- = 0: kappa / theta_vq brings them onto the manifold.
  // Explicit Euler moves them with u- alone; there 2 kappa makes u+ tangent at the new pose.
  const double curvature = 1.0 / std::max(0.5, theta_of(c.options.integrator).position);
  double r_start[kMaxBlockRows];
  double r_predicted[kMaxBlockRows];
  bilateral_residual(c.model, b, c.start, c.q, r_start);
  bilateral_residual(c.model, b, c.predicted, c.q, r_predicted);
  for (int r = 0; r < b.rows; ++r) {
    const double v_minus = row_velocity(p, b, r, c.u_minus);
    double& bias = p.bias[static_cast<std::size_t>(b.row + r)];
    bias = erp * r_start[r] / dt;
    bias += c.options.integrator == Integrator::moreau ? v_minus
                                                       : curvature * ((r_predicted[r] - r_start[r]) / dt - v_minus);
  }
}

// Residuals where the rows are; a spring needs neither curvature nor ERP to find the end of the step.
void set_compliant_joint(const RowContext& c, const Compliance& compliance, const ConstraintBlock& b,
                         ConstraintProblem& p) {
  double residual[kMaxBlockRows];
  const int translational = bilateral_residual(c.model, b, c.kinematics, c.q, residual);
  const BlockMatrix D = block_delassus(p, b);
  for (int r = 0; r < b.rows; ++r) {
    const auto i = static_cast<std::size_t>(b.row + r);
    const RowMotion state{c.options.dt, residual[r], row_velocity(p, b, r, c.u_minus), row_velocity(p, b, r, p.u_free),
                          D(r, r)};
    const CompliantRow row = bilateral_row(compliance, state, r >= translational);
    p.R[i] = row.R;
    p.bias[i] = row.bias;
  }
}

// --- soft rows -------------------------------------------------------------------------------------------

void set_soft_row(ConstraintProblem& p, const ConstraintBlock& b, double rho, double momentum, double bound) {
  const auto i = static_cast<std::size_t>(b.row);
  p.R[i] = 1.0 / rho;
  p.bias[i] = -momentum / rho;
  p.lower[i] = -bound;
  p.upper[i] = bound;
}

// A servo pulls with kp error + kd (target_rate - rate), all of the coordinate as it is now.
struct ServoLaw {
  double kp = 0;
  double error = 0;
  double target_rate = 0;
};

ServoLaw servo_law(const Dof& dof, const DriveInput& in, double q) {
  const bool position = dof.drive.mode == DriveMode::position;
  ServoLaw s;
  s.kp = position ? dof.drive.kp : 0.0;
  s.error = in.target - q;
  if (dof.wrapped) s.error = wrap_angle(s.error);
  s.target_rate = position ? in.target_rate : in.target;
  return s;
}

void add_servo_row(const RowContext& c, int i, ConstraintProblem& p) {
  const Dof& dof = c.model.dofs()[static_cast<std::size_t>(i)];
  const Drive& d = dof.drive;
  if (d.mode != DriveMode::position && d.mode != DriveMode::velocity) return;
  const double dt = c.options.dt;
  const Theta theta = theta_of(c.options.integrator);
  if (theta.force == 0) return;  // explicit_servo_force() instead
  const ServoLaw s = servo_law(dof, c.inputs[static_cast<std::size_t>(i)], c.q[static_cast<std::size_t>(i)]);
  const double rho = dt * theta.force * d.kd + dt * dt * theta.force * theta.position * s.kp;
  ConstraintBlock& b = add_dof_block(p, BlockKind::soft, RowSource::servo, i, dof_row(c.model, c.kinematics, i));
  // What the scheme takes at the start of the step: nothing but for the midpoint.
  const double rate = theta.force < 1 ? row_velocity(p, b, 0, c.u_minus) : 0.0;
  const double error = s.error - dt * theta.force * (1 - theta.position) * rate;
  const double target_rate = s.target_rate - (1 - theta.force) * rate;
  set_soft_row(p, b, rho, dt * (s.kp * error + d.kd * target_rate), dt * d.effort_limit);
}

// Moreau takes a spring that its step resolves (omega dt < 1) at the mean of the positions before and after the step,
// q_m + dt/4 (u+ - u-): it then neither loses nor gains energy. Stiffer springs and all dampers stay fully implicit,
// since the mean would make them ring.
void add_passive_row(const RowContext& c, int i, ConstraintProblem& p) {
  const Dof& dof = c.model.dofs()[static_cast<std::size_t>(i)];
  const double dt = c.options.dt;
  if (!(dof.armature + dof.damping + dof.stiffness > 0)) return;
  if (theta_of(c.options.integrator).force == 0 && dof.armature == 0) return;  // explicit_passive_force() instead
  ConstraintBlock& b = add_dof_block(p, BlockKind::soft, RowSource::passive, i, dof_row(c.model, c.kinematics, i));
  const double rate = row_velocity(p, b, 0, c.u_minus);
  const Theta theta = theta_of(c.options.integrator);
  const bool mean =
      c.options.integrator == Integrator::moreau && dt * dt * dof.stiffness * block_delassus(p, b)(0, 0) < 1.0;
  const double spring_weight = mean ? 0.25 : theta.force * theta.position;
  const double rho = dof.armature + dt * theta.force * dof.damping + spring_weight * dt * dt * dof.stiffness;
  const double moved = mean ? -0.25 * dt * rate : theta.force * (1 - theta.position) * dt * rate;
  const double q = c.q[static_cast<std::size_t>(i)] + moved;
  const double force = dof.stiffness * (dof.rest - q) - (1 - theta.force) * dof.damping * rate;
  set_soft_row(p, b, rho, dof.armature * rate + dt * force, kInf);
}

void add_dry_friction_row(const RowContext& c, int i, ConstraintProblem& p) {
  const double bound = c.options.dt * c.model.dofs()[static_cast<std::size_t>(i)].dry_friction;
  if (!(bound > 0)) return;
  ConstraintBlock& b = add_dof_block(p, BlockKind::soft, RowSource::dry_friction, i, dof_row(c.model, c.kinematics, i));
  p.lower[static_cast<std::size_t>(b.row)] = -bound;
  p.upper[static_cast<std::size_t>(b.row)] = bound;
}

// --- limits ----------------------------------------------------------------------------------------------

// Whether the limit can matter in this step; rows far from their limit are not built at all.
bool limit_in_reach(const RowContext& c, const ConstraintProblem& p, const DofRow& row, double gap) {
  if (gap <= c.options.limit_margin) return true;
  double rate = 0;
  double free_rate = 0;
  const auto add = [&](int body, const Vec6& J) {
    if (body == kWorld) return;
    const int o = p.node_offset[static_cast<std::size_t>(body)];
    rate += J.dot(c.u_minus.segment<6>(o));
    free_rate += J.dot(p.u_free.segment<6>(o));
  };
  add(row.base, row.J_base);
  add(row.follower, row.J_follower);
  return gap <= c.options.limit_margin + 2 * c.options.dt * std::max(std::abs(rate), std::abs(free_rate));
}

void set_limit_law(const RowContext& c, ConstraintProblem& p, const ConstraintBlock& b, double gap, double restitution,
                   double erp, const Compliance& compliance) {
  const auto i = static_cast<std::size_t>(b.row);
  const double v_minus = row_velocity(p, b, 0, c.u_minus);
  const double v_free = row_velocity(p, b, 0, p.u_free);
  if (compliance.compliant()) {
    const CompliantRow row =
        unilateral_row(compliance, {c.options.dt, gap, v_minus, v_free, block_delassus(p, b)(0, 0)});
    p.R[i] = row.R;
    p.bias[i] = row.bias;
    return;
  }
  p.bias[i] = unilateral_bias(gap, 0.0, v_minus, v_free, restitution, erp == kUseDefault ? c.options.erp_limit : erp,
                              c.options);
}

double add_dof_limits(const RowContext& c, bool lower, ConstraintProblem& p) {
  double violation = 0;
  const RowSource source = lower ? RowSource::limit_lower : RowSource::limit_upper;
  for (int i = 0; i < c.model.dof_count(); ++i) {
    const Dof& dof = c.model.dofs()[static_cast<std::size_t>(i)];
    const Limit& l = dof.limit;
    const double bound = lower ? l.lower : l.upper;
    if (!std::isfinite(bound) || locked(dof)) continue;
    const double q = c.q[static_cast<std::size_t>(i)];
    const double gap = lower ? q - bound : bound - q;
    violation = std::max(violation, -gap);
    const DofRow row = dof_row(c.model, c.kinematics, i);
    if (!limit_in_reach(c, p, row, gap - l.compliance.margin)) continue;
    const ConstraintBlock& b = add_dof_block(p, BlockKind::limit, source, i, row, lower ? 1.0 : -1.0);
    set_limit_law(c, p, b, gap, l.restitution, l.erp, l.compliance);
  }
  return violation;
}

double add_swing_limits(const RowContext& c, ConstraintProblem& p) {
  double violation = 0;
  for (int i = 0; i < c.model.joint_count(); ++i) {
    const Joint& j = c.model.joints()[static_cast<std::size_t>(i)];
    if (!std::isfinite(j.swing_limit)) continue;
    const Vec3 s = joint_swing_W(c.kinematics.frame(i));
    const double swing = s.norm();
    const double gap = j.swing_limit - swing;
    violation = std::max(violation, -gap);
    if (swing < 1e-9) continue;  // the direction is undefined there, and the limit is far
    DofRow row;
    row.base = j.base;
    row.follower = j.follower;
    row.J_follower.tail<3>() = -s / swing;
    row.J_base.tail<3>() = s / swing;
    if (!limit_in_reach(c, p, row, gap)) continue;
    const ConstraintBlock& b = add_dof_block(p, BlockKind::limit, RowSource::swing_limit, i, row);
    set_limit_law(c, p, b, gap, 0.0, j.erp, {});
  }
  return violation;
}

double add_ropes(const RowContext& c, ConstraintProblem& p) {
  double violation = 0;
  for (int i = 0; i < c.model.joint_count(); ++i) {
    const Joint& j = c.model.joints()[static_cast<std::size_t>(i)];
    if (!j.rope) continue;
    double excess[1];
    joint_residual(j, c.kinematics.frame(i), excess);
    const double gap = -excess[0];
    violation = std::max(violation, -gap);
    const NodeList nodes = joint_nodes(j);
    ConstraintBlock& b = add_labelled_block(p, BlockKind::limit, 1, nodes.span(), RowSource::rope, i);
    write_distance_rows(p, b, nodes, j, c.kinematics.frame(i), -1.0);
    set_limit_law(c, p, b, gap, 0.0, j.erp, j.compliance);
    if (!j.compliance.compliant() && c.options.integrator == Integrator::semi_implicit) {  // curvature, as for joints
      double predicted[1];
      joint_residual(j, c.predicted.frame(i), predicted);
      p.bias[static_cast<std::size_t>(b.row)] +=
          (excess[0] - predicted[0]) / c.options.dt - row_velocity(p, b, 0, c.u_minus);
    }
  }
  return violation;
}

}  // namespace

DofRow dof_row(const Model& model, const JointKinematics& kin, int dof) {
  const int ji = model.joint_of_dof(dof);
  const Joint& j = model.joints()[static_cast<std::size_t>(ji)];
  JointAxis axes[3];
  joint_dof_axes(j, kin.frame(ji), axes);
  const JointAxis& a = axes[dof - j.first_dof];
  return {j.base, j.follower, base_row(kin.frame(ji), a), follower_row(kin.frame(ji), a)};
}

const Compliance& compliance_of(const Model& model, const ConstraintBlock& b) {
  if (b.source_kind == RowSource::coupling) return model.couplings()[static_cast<std::size_t>(b.source)].compliance;
  if (b.source_kind == RowSource::locked_dof) return model.dofs()[static_cast<std::size_t>(b.source)].limit.compliance;
  return model.joints()[static_cast<std::size_t>(b.source)].compliance;
}

void add_position_rows(const Model& model, const JointKinematics& kinematics, std::span<const double> q,
                       ConstraintProblem& problem) {
  for_each_bilateral(
      model, kinematics, problem, [](const Compliance& compliance) { return !compliance.compliant(); },
      [&](const ConstraintBlock& b) { bilateral_residual(model, b, kinematics, q, problem.bias.data() + b.row); });
}

double explicit_passive_force(const Dof& dof, double q, double rate) {
  return dof.armature == 0 ? dof.stiffness * (dof.rest - q) - dof.damping * rate : 0.0;
}

double explicit_servo_force(const Dof& dof, const DriveInput& input, double q, double rate) {
  const Drive& d = dof.drive;
  if (d.mode != DriveMode::position && d.mode != DriveMode::velocity) return 0.0;
  const ServoLaw s = servo_law(dof, input, q);
  return std::clamp(s.kp * s.error + d.kd * (s.target_rate - rate), -d.effort_limit, d.effort_limit);
}

void add_joint_rows(const RowContext& c, ConstraintProblem& p) {
  for_each_bilateral(
      c.model, c.kinematics, p, [](const Compliance&) { return true; },
      [&](const ConstraintBlock& b) {
        const Compliance& compliance = compliance_of(c.model, b);
        compliance.compliant() ? set_compliant_joint(c, compliance, b, p) : set_rigid_joint(c, b, p);
      });
}

void add_soft_rows(const RowContext& c, ConstraintProblem& p) {
  for (int i = 0; i < c.model.dof_count(); ++i) add_servo_row(c, i, p);
  for (int i = 0; i < c.model.dof_count(); ++i) add_passive_row(c, i, p);
  for (int i = 0; i < c.model.dof_count(); ++i) add_dry_friction_row(c, i, p);
}

double add_limit_rows(const RowContext& c, ConstraintProblem& p) {
  double violation = 0;
  violation = std::max(violation, add_dof_limits(c, true, p));
  violation = std::max(violation, add_dof_limits(c, false, p));
  violation = std::max(violation, add_swing_limits(c, p));
  return std::max(violation, add_ropes(c, p));
}

}  // namespace sarrus
