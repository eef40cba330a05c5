#include "sarrus/step/modes.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace sarrus {
namespace {

constexpr double kResolved = 0.5;
constexpr double kRoom = 1.5;
constexpr double kStill = 1e-6;
constexpr double kRounding = 1e-8;

// With room for what is not known yet: the free velocity of the rows has the gyroscopic torque, too. An impact step in
// which nothing closes is only of lower order.
bool closes(const Unilateral& row, double restitution_threshold, double dt) {
  return bounces(row, restitution_threshold, kRoom * dt) || is_impact(row, kRoom * dt);
}

double row_rate(const DofRow& row, std::span<const Vec6> twist) {
  double rate = 0;
  if (row.base != kWorld) rate += row.J_base.dot(twist[static_cast<std::size_t>(row.base)]);
  if (row.follower != kWorld) rate += row.J_follower.dot(twist[static_cast<std::size_t>(row.follower)]);
  return rate;
}

// m/s; `size`: of the joint.
double relative_speed(const Joint& j, double size, const State& state) {
  Vec6 u = Vec6::Zero();
  if (j.follower != kWorld) u += state.twist[static_cast<std::size_t>(j.follower)];
  if (j.base != kWorld) u -= state.twist[static_cast<std::size_t>(j.base)];
  return std::hypot(u.head<3>().norm(), size * u.tail<3>().norm());
}

}  // namespace

StepModes::StepModes(const Model& model, const Scheme& scheme)
    : model_(model),
      scheme_(scheme),
      any_curvature_(scheme.curvature != 0),
      stiffness_(model.bodies().size(), 0.0),
      damping_(model.bodies().size(), 0.0),
      parent_(model.bodies().size()),
      stiff_(model.bodies().size()),
      struck_(model.bodies().size()),
      scheme_of_body_(model.bodies().size(), &scheme),
      speed_(model.bodies().size()),
      spin_(model.bodies().size()) {
  for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<int>(i);
  for (const Joint& j : model.joints()) join(j.base, j.follower);
  for (const Coupling& c : model.couplings()) {
    const Joint& a = model.joints()[static_cast<std::size_t>(model.joint_of_dof(c.dof_a))];
    const Joint& b = model.joints()[static_cast<std::size_t>(model.joint_of_dof(c.dof_b))];
    join(a.follower == kWorld ? a.base : a.follower, b.follower == kWorld ? b.base : b.follower);
  }
  for (const Combination& c : model.combinations()) {
    const auto body_of = [&](const CombinationTerm& t) {
      const Joint& j = model.joints()[static_cast<std::size_t>(model.joint_of_dof(t.dof))];
      return j.follower == kWorld ? j.base : j.follower;
    };
    for (const CombinationTerm& t : c.terms) join(body_of(c.terms.front()), body_of(t));
  }
  for (int i = 0; i < static_cast<int>(parent_.size()); ++i) assembly_.push_back(root(i));
  if (scheme.stiff != nullptr) measure_stiffness();
  for (int i = 0; i < model_.scalar_count(); ++i) {
    const Limit& l = model_.scalars()[static_cast<std::size_t>(i)].limit;
    if (l.active() && !l.locked() && !l.compliance.compliant()) limited_.push_back(i);
  }
  for (int i = 0; i < model_.joint_count(); ++i) {
    const Joint& j = model_.joints()[static_cast<std::size_t>(i)];
    if (j.rope || std::isfinite(j.swing_limit)) reaching_.push_back(i);
  }
}

// At the reference pose; D of a coordinate changes little with the pose. The axes of a spherical joint turn in its
// bodies: for them D is the largest that there is about any axis.
void StepModes::measure_stiffness() {
  const State state = State::initial(model_);
  JointKinematics kinematics(model_);
  kinematics.update(state.X_WB, state.q);
  const auto raise = [&](int body, double k, double d) {
    if (body == kWorld) return;
    const auto a = static_cast<std::size_t>(assembly_[static_cast<std::size_t>(body)]);
    stiffness_[a] = std::max(stiffness_[a], k);
    damping_[a] = std::max(damping_[a], d);
  };
  const auto inverse_mass = [&](int body, const Vec6& J) {
    if (body == kWorld) return 0.0;
    const Body& b = model_.bodies()[static_cast<std::size_t>(body)];
    const Vec3 torque_B = state.X_WB[static_cast<std::size_t>(body)].q.conjugate() * J.tail<3>();
    return J.head<3>().squaredNorm() / b.mass + torque_B.dot(b.inertia_B.inverse() * torque_B);
  };
  const auto largest_inverse_inertia = [&](int body) {
    if (body == kWorld) return 0.0;
    const Mat3& I = model_.bodies()[static_cast<std::size_t>(body)].inertia_B;
    return 1 / Eigen::SelfAdjointEigenSolver<Mat3>(I, Eigen::EigenvaluesOnly).eigenvalues()[0];
  };
  for (int i = 0; i < model_.dof_count(); ++i) {
    const Dof& dof = model_.dofs()[static_cast<std::size_t>(i)];
    const DofRow row = dof_row(model_, kinematics, i);
    const bool ball = model_.joints()[static_cast<std::size_t>(model_.joint_of_dof(i))].type == JointType::spherical;
    double D = ball ? largest_inverse_inertia(row.base) + largest_inverse_inertia(row.follower)
                    : inverse_mass(row.base, row.J_base) + inverse_mass(row.follower, row.J_follower);
    D = D / (1 + dof.armature * D);
    const bool position = dof.drive.mode == DriveMode::position;
    const bool servo = position || dof.drive.mode == DriveMode::velocity;
    const double k = std::max(dof.stiffness, position ? dof.drive.kp : 0.0);
    const double d = std::max(dof.damping, servo ? dof.drive.kd : 0.0);
    for (const int body : {row.base, row.follower}) raise(body, k * D, d * D);
  }
  for (int i = model_.dof_count(); i < model_.scalar_count(); ++i) {
    const CombinationRow row = combination_row(model_, kinematics, i);
    double D = 0;
    for (int n = 0; n < row.count; ++n) D += inverse_mass(row.body[n], row.J[n]);
    const Dof& dof = model_.scalars()[static_cast<std::size_t>(i)];
    const bool position = dof.drive.mode == DriveMode::position;
    const bool servo = position || dof.drive.mode == DriveMode::velocity;
    for (int n = 0; n < row.count; ++n) {
      raise(row.body[n], D * std::max(dof.stiffness, position ? dof.drive.kp : 0.0),
            D * std::max(dof.damping, servo ? dof.drive.kd : 0.0));
    }
  }
}

int StepModes::root(int body) {
  auto& p = parent_;
  while (p[static_cast<std::size_t>(body)] != body) {
    p[static_cast<std::size_t>(body)] = p[static_cast<std::size_t>(p[static_cast<std::size_t>(body)])];
    body = p[static_cast<std::size_t>(body)];
  }
  return body;
}

void StepModes::join(int a, int b) {
  if (a == kWorld || b == kWorld) return;
  const int ra = root(a);
  const int rb = root(b);
  parent_[static_cast<std::size_t>(std::max(ra, rb))] = std::min(ra, rb);
}

void StepModes::strike(int a, int b) {
  any_impact_ = true;
  for (const int body : {a, b}) {
    if (body != kWorld) struck_[static_cast<std::size_t>(body)] = 1;
  }
}

// Still: slower than what gravity does in a millionth of a step, or nil but for the rounding of what it is a difference
// of.
void StepModes::try_contacts(const State& state, std::span<const Contact> contacts, const RowOptions& options,
                             double dt) {
  const double slow = kStill * dt * model_.largest_gravity();
  const double fall = dt * model_.largest_gravity();
  const auto gravity_on = [&](int body) { return body == kWorld ? Vec3(Vec3::Zero()) : model_.gravity_on(body); };
  sustained_.assign(contacts.size(), Sustained{});
  near_.assign(contacts.size(), 0);
  if (contacts.empty()) return;
  for (std::size_t i = 0; i < speed_.size(); ++i) {
    speed_[i] = state.twist[i].head<3>().norm();
    spin_[i] = state.twist[i].tail<3>().norm();
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    double speed = 0;
    for (const int body : {c.body_a, c.body_b}) {
      if (body == kWorld) continue;
      const auto k = static_cast<std::size_t>(body);
      speed += speed_[k] + spin_[k] * (c.p_W - state.X_WB[k].p).norm();
    }
    const double slop = contact_slop(options, c);
    near_[i] = c.gap <= slop + kRoom * dt * (speed + fall);
    if (c.compliance >= 0) continue;
    const double still = slow + kRounding * speed;
    const Vec3 v_W = contact_velocity(c, state.twist, state.X_WB);
    const double v = v_W.dot(c.n_W);
    Sustained& s = sustained_[i];
    s.loaded = c.gap <= slop && std::abs(v) <= still;
    s.stuck = s.loaded && (v_W - v * c.n_W).norm() <= still;
    const double v_free = v + dt * (gravity_on(c.body_b) - gravity_on(c.body_a)).dot(c.n_W);
    const Unilateral row{c.gap, slop, v, v_free, c.restitution, s.loaded};
    if (closes(row, options.restitution_threshold, dt)) strike(c.body_a, c.body_b);
  }
}

// Free motion without the joints says nothing of a limit: gravity is the scale of what a step changes.
void StepModes::try_limits(const State& state, const JointKinematics& kinematics, const RowOptions& options,
                           double dt) {
  const double g = dt * model_.largest_gravity();
  limits_.clear();
  const auto try_row = [&](RowSource source, int index, int joint, double reach, double gap, double rate, double e) {
    const Joint& j = model_.joints()[static_cast<std::size_t>(joint)];
    const double size = model_.joint_size(joint);
    const double fall = g / reach;
    const double slop = kLimitSlop * size / reach;
    const double still = kStill * fall + kRounding * relative_speed(j, size, state) / reach;
    const bool sustained = gap <= slop && std::abs(rate) <= still;
    if (sustained) limits_.push_back(block_id(source, index));
    const Unilateral row{gap, slop, rate, rate - fall, e, sustained};
    if (closes(row, options.restitution_threshold / reach, dt)) strike(j.base, j.follower);
  };
  for (const bool lower : {true, false}) {
    for (const int i : limited_) {
      const Limit& l = model_.scalars()[static_cast<std::size_t>(i)].limit;
      const double bound = lower ? l.lower : l.upper;
      if (!std::isfinite(bound)) continue;
      const double q = model_.scalar_value(i, state.q);
      const double rate = kinematics.rate(i, state.twist);
      try_row(lower ? RowSource::limit_lower : RowSource::limit_upper, i, model_.joint_of_dof(i), model_.reach(i),
              lower ? q - bound : bound - q, lower ? rate : -rate, l.restitution);
    }
  }
  for (const RowSource source : {RowSource::swing_limit, RowSource::rope}) {
    for (const int i : reaching_) {
      const Joint& j = model_.joints()[static_cast<std::size_t>(i)];
      const bool rope = source == RowSource::rope;
      if (rope ? !j.rope || j.compliance.compliant() : !std::isfinite(j.swing_limit)) continue;
      const UnilateralJoint u = unilateral_joint(j, kinematics.frame(i));
      const double reach = rope ? 1.0 : model_.joint_size(i);
      if (u.defined) try_row(source, i, i, reach, u.gap, row_rate(u.row, state.twist), 0.0);
    }
  }
}

void StepModes::decide(const State& state, const JointKinematics& kinematics, std::span<const Contact> contacts,
                       const RowOptions& options, double dt) {
  if (scheme_.impact == nullptr) return;
  any_impact_ = any_curvature_ = false;
  all_start_ = !scheme_of_body_.empty();
  std::fill(struck_.begin(), struck_.end(), 0);
  for (std::size_t i = 0; i < stiff_.size(); ++i) {
    const auto a = static_cast<std::size_t>(assembly_[i]);
    stiff_[i] = dt * dt * stiffness_[a] > kResolved || dt * damping_[a] > kResolved;
  }
  try_contacts(state, contacts, options, dt);
  try_limits(state, kinematics, options, dt);
  std::copy(assembly_.begin(), assembly_.end(), parent_.begin());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (near_[i] != 0) join(contacts[i].body_a, contacts[i].body_b);
  }
  for (std::size_t i = 0; i < struck_.size(); ++i) {
    const auto r = static_cast<std::size_t>(root(static_cast<int>(i)));
    struck_[r] |= struck_[i];
    stiff_[r] |= stiff_[i];
  }
  for (std::size_t i = 0; i < struck_.size(); ++i) {
    const auto r = static_cast<std::size_t>(root(static_cast<int>(i)));
    scheme_of_body_[i] = struck_[r] != 0 ? scheme_.impact : stiff_[r] != 0 ? scheme_.stiff : &scheme_;
    all_start_ = all_start_ && starts(static_cast<int>(i));
    any_curvature_ = any_curvature_ || scheme_of_body_[i]->curvature != 0;
  }
}

}  // namespace sarrus
