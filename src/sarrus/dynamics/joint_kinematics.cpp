#include "sarrus/dynamics/joint_kinematics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>

#include "sarrus/math/so3.h"
#include "sarrus/math/workers.h"

namespace sarrus {
namespace {

// Which rows a joint type constrains: translations along base-joint axes, and one of four rotation parts.
enum class RotationRows : std::uint8_t { none, all, swing_x, swing_z, universal };
struct RowPattern {
  bool translation[3];
  RotationRows rotation;
};

constexpr RowPattern pattern(JointType type) {
  switch (type) {
    case JointType::fixed:
      return {{true, true, true}, RotationRows::all};
    case JointType::revolute:
      return {{true, true, true}, RotationRows::swing_x};
    case JointType::prismatic:
      return {{false, true, true}, RotationRows::all};
    case JointType::cylindrical:
      return {{false, true, true}, RotationRows::swing_x};
    case JointType::universal:
      return {{true, true, true}, RotationRows::universal};
    case JointType::spherical:
    case JointType::gimbal:
      return {{true, true, true}, RotationRows::none};
    case JointType::planar:
      return {{false, false, true}, RotationRows::swing_z};
    case JointType::cartesian:
      return {{false, false, false}, RotationRows::all};
    case JointType::free:
    case JointType::distance:
    case JointType::serial:
      break;
  }
  return {{false, false, false}, RotationRows::none};
}

struct GimbalAngles {
  double alpha, beta, gamma;
};
GimbalAngles gimbal_angles(const Mat3& Q) {
  return {std::atan2(-Q(1, 2), Q(2, 2)), std::asin(std::clamp(Q(0, 2), -1.0, 1.0)), std::atan2(-Q(0, 1), Q(0, 0))};
}

// Columns of U^-T, U = [e_x, R_x(a) e_y, R_x(a) R_y(b) e_z]: torque directions of the three gimbal angles and,
// transposed, the map from relative angular velocity to rates. |cos b| is kept above 1e-3 (gimbal lock).
Mat3 gimbal_axes(const Mat3& Q) {
  const GimbalAngles g = gimbal_angles(Q);
  const double ca = std::cos(g.alpha);
  const double sa = std::sin(g.alpha);
  double cb = std::cos(g.beta);
  if (std::abs(cb) < 1e-3) cb = std::copysign(1e-3, cb);
  const double sb = std::sin(g.beta);
  Mat3 U;
  U << 1, 0, sb, 0, ca, -sa * cb, 0, sa, ca * cb;
  return U.inverse().transpose();
}

// Rotation vector from axis k of the base to that of the follower, in base-joint axes. Closed joints have nearly none,
// and need no arctangent.
template <int K>
Vec3 swing(const JointFrame& f) {
  const Vec3 axis = f.A_B.transpose() * f.A_F.col(K);
  const Vec3 e = Vec3::Unit(K);
  const Vec3 a = e.cross(axis);
  const double s2 = a.squaredNorm();
  if (s2 < 1e-8 && axis[K] > 0) return a * (1 + s2 / 6);  // asin(s) / s to 1e-17
  return swing_log(e, axis);
}

// Twist of Q = A_B' A_F about its axis k, in (-pi, pi]: with the quaternion of Q, 2 atan2(q_k, q_w) = atan2(2 q_k q_w,
// q_w^2 - q_k^2), and both arguments are sums of two components of Q.
template <int K>
double twist(const JointFrame& f) {
  constexpr int I = (K + 1) % 3, J = (K + 2) % 3;
  const auto Q = [&](int r, int c) { return f.A_B.col(r).dot(f.A_F.col(c)); };
  const double angle = std::atan2(Q(J, I) - Q(I, J), Q(I, I) + Q(J, J));
  return angle > -std::numbers::pi ? angle : std::numbers::pi;
}

using Columns = Eigen::Matrix<double, 4, 3>;

// An anchor and the joint axes of a body in the world: p = r + R x, A = R X, with whole columns as vectors; the fourth
// component is no one's.
void place(const Columns& R, const Vec3& r, const Vec3& x, const Mat3& X, Vec3& p, Mat3& A) {
  const Eigen::Array4d a = R.col(0), b = R.col(1), c = R.col(2);
  const auto turned = [&](const double* v) { return Eigen::Array4d(v[0] * a + v[1] * b + v[2] * c); };
  p = r + turned(x.data()).head<3>().matrix();
  for (int k = 0; k < 3; ++k) A.col(k) = turned(X.data() + 3 * k).head<3>();
}

}  // namespace

int joint_residual(const Joint& joint, const JointFrame& f, double* residual) {
  if (joint.type == JointType::distance) {
    residual[0] = (f.p_F_W - f.p_B_W).norm() - joint.length;
    return 1;
  }
  if (joint.type == JointType::revolute) {  // nearly all of them: as below, with the sums written out
    const Vec3 d = f.p_F_W - f.p_B_W;
    for (int k = 0; k < 3; ++k) residual[k] = f.A_B.col(k).dot(d);
    const auto x = f.A_F.col(0);
    const double along = f.A_B.col(0).dot(x);
    const double y = f.A_B.col(1).dot(x);
    const double z = f.A_B.col(2).dot(x);
    const double s2 = y * y + z * z;
    const double scale = s2 < 1e-8 && along > 0 ? 1 + s2 / 6 : 0;
    residual[3] = -z * scale;
    residual[4] = y * scale;
    if (scale != 0) return 3;
  }
  const RowPattern rows = pattern(joint.type);
  int n = 0;
  const Vec3 p = f.A_B.transpose() * (f.p_F_W - f.p_B_W);
  for (int k = 0; k < 3; ++k) {
    if (rows.translation[k]) residual[n++] = p[k];
  }
  const int translational = n;
  switch (rows.rotation) {
    case RotationRows::none:
      break;
    case RotationRows::all: {
      const Vec3 phi = so3_log(Quat(Mat3(f.A_B.transpose() * f.A_F)));
      for (int k = 0; k < 3; ++k) residual[n++] = phi[k];
      break;
    }
    case RotationRows::swing_x: {
      const Vec3 s = swing<0>(f);
      residual[n++] = s[1];
      residual[n++] = s[2];
      break;
    }
    case RotationRows::swing_z: {
      const Vec3 s = swing<2>(f);
      residual[n++] = s[0];
      residual[n++] = s[1];
      break;
    }
    case RotationRows::universal:
      residual[n++] = -f.A_B.col(0).dot(f.A_F.col(1));
      break;
  }
  return translational;
}

int joint_constraint_axes(const Joint& joint, const JointFrame& f, JointAxis* axes) {
  const RowPattern rows = pattern(joint.type);
  int n = 0;
  for (int k = 0; k < 3; ++k) {
    if (rows.translation[k]) axes[n++] = {f.A_B.col(k), Vec3::Zero()};
  }
  const int translational = n;
  switch (rows.rotation) {
    case RotationRows::none:
      break;
    case RotationRows::all:
      for (int k = 0; k < 3; ++k) axes[n++] = {Vec3::Zero(), f.A_B.col(k)};
      break;
    case RotationRows::swing_x:
      axes[n++] = {Vec3::Zero(), f.A_B.col(1)};
      axes[n++] = {Vec3::Zero(), f.A_B.col(2)};
      break;
    case RotationRows::swing_z:
      axes[n++] = {Vec3::Zero(), f.A_B.col(0)};
      axes[n++] = {Vec3::Zero(), f.A_B.col(1)};
      break;
    case RotationRows::universal:
      axes[n++] = {Vec3::Zero(), f.A_B.col(0).cross(f.A_F.col(1))};
      break;
  }
  return translational;
}

void joint_dof_axes(const Joint& joint, const JointFrame& f, JointAxis* axes) {
  const auto linear = [&](int k) { return JointAxis{f.A_B.col(k), Vec3::Zero()}; };
  const auto angular = [&](const Vec3& a) { return JointAxis{Vec3::Zero(), a}; };
  switch (joint.type) {
    case JointType::revolute:
      axes[0] = angular(f.A_B.col(0));
      break;
    case JointType::prismatic:
      axes[0] = linear(0);
      break;
    case JointType::cylindrical:
      axes[0] = linear(0);
      axes[1] = angular(f.A_B.col(0));
      break;
    case JointType::universal:
      axes[0] = angular(f.A_B.col(0));
      axes[1] = angular(f.A_F.col(1));
      break;
    case JointType::spherical:
      for (int k = 0; k < 3; ++k) axes[k] = angular(f.A_B.col(k));
      break;
    case JointType::gimbal: {
      const Mat3 S = f.A_B * gimbal_axes(f.A_B.transpose() * f.A_F);
      for (int k = 0; k < 3; ++k) axes[k] = angular(S.col(k));
      break;
    }
    case JointType::planar:
      axes[0] = linear(0);
      axes[1] = linear(1);
      axes[2] = angular(f.A_B.col(2));
      break;
    case JointType::cartesian:
      for (int k = 0; k < 3; ++k) axes[k] = linear(k);
      break;
    case JointType::free:
    case JointType::fixed:
    case JointType::distance:
    case JointType::serial:
      break;
  }
}

void joint_raw_coordinates(const Joint& joint, const JointFrame& f, double* q) {
  if (joint.type == JointType::revolute) {  // nearly all of them
    q[0] = twist<0>(f);
    return;
  }
  const Vec3 p = f.A_B.transpose() * (f.p_F_W - f.p_B_W);
  const Mat3 Q = f.A_B.transpose() * f.A_F;
  switch (joint.type) {
    case JointType::prismatic:
      q[0] = p.x();
      break;
    case JointType::cylindrical:
      q[0] = p.x();
      q[1] = twist<0>(f);
      break;
    case JointType::universal:
      q[0] = std::atan2(Q(2, 1), Q(1, 1));
      q[1] = std::atan2(Q(0, 2), Q(0, 0));
      break;
    case JointType::gimbal: {
      const GimbalAngles g = gimbal_angles(Q);
      q[0] = g.alpha;
      q[1] = g.beta;
      q[2] = g.gamma;
      break;
    }
    case JointType::planar:
      q[0] = p.x();
      q[1] = p.y();
      q[2] = twist<2>(f);
      break;
    case JointType::cartesian:
      for (int k = 0; k < 3; ++k) q[k] = p[k];
      break;
    case JointType::spherical: {
      const Vec3 theta = so3_log(Quat(Q) * joint.q_rest.conjugate());
      for (int k = 0; k < 3; ++k) q[k] = theta[k];
      break;
    }
    case JointType::revolute:
    case JointType::free:
    case JointType::fixed:
    case JointType::distance:
    case JointType::serial:
      break;
  }
}

Vec3 joint_swing_W(const JointFrame& f) { return swing_log(f.A_B.col(0), f.A_F.col(0)); }

namespace {

template <class F>
void for_each_index(std::size_t count, const F& f) {
  constexpr int kLeast = 64;
  Workers::here().ranges(static_cast<int>(count), kLeast, [&f](int begin, int end) {
    for (int i = begin; i < end; ++i) f(static_cast<std::size_t>(i));
  });
}

}  // namespace

JointKinematics::JointKinematics(const Model& model) : model_(model) {
  std::vector<Axes> axes;
  axes.reserve(model.joints().size());
  for (const Joint& j : model.joints()) axes.push_back({j.q_BJ.toRotationMatrix(), j.q_FJ.toRotationMatrix()});
  axes_ = std::make_shared<const std::vector<Axes>>(std::move(axes));
  frames_.resize(model.joints().size());
  for (std::size_t i = 0; i < model.joints().size(); ++i) {
    const Joint& j = model.joints()[i];
    if (j.type != JointType::serial) continue;
    serial_index_.resize(model.joints().size(), -1);
    serial_index_[i] = static_cast<int>(serial_.size());
    serial_joint_.push_back(static_cast<int>(i));
    serial_model_.emplace_back(j);
    SerialSolution& s = serial_.emplace_back();
    for (std::size_t k = 0; k < j.axes.size(); ++k) {
      const std::optional<double>& initial = model.dofs()[static_cast<std::size_t>(j.first_dof) + k].initial;
      s.q[k] = initial.value_or(j.axes[k].reference);
    }
  }
}

void JointKinematics::update(std::span<const Pose> X_WB, std::span<const double> near) {
  if (frames_.empty()) return;
  // By body; a row of zeros makes columns whole vectors. Of no use after this call: one for all that a thread updates.
  thread_local std::vector<Columns> memory;
  if (memory.size() < X_WB.size()) memory.resize(X_WB.size(), Columns::Zero());
  Columns* const R_WB = memory.data();
  const std::vector<Axes>& axes = *axes_;
  for_each_index(X_WB.size(), [&](std::size_t i) { R_WB[i].topRows<3>() = X_WB[i].q.toRotationMatrix(); });
  for_each_index(frames_.size(), [&](std::size_t i) {
    const Joint& j = model_.joints()[i];
    JointFrame& f = frames_[i];
    if (j.base == kWorld) {
      f.r_B_W.setZero();
      f.p_B_W = j.p_BJ;
      f.A_B = axes[i].X_B;
    } else {
      const auto b = static_cast<std::size_t>(j.base);
      f.r_B_W = X_WB[b].p;
      place(R_WB[b], f.r_B_W, j.p_BJ, axes[i].X_B, f.p_B_W, f.A_B);
    }
    const auto b = static_cast<std::size_t>(j.follower);
    f.r_F_W = X_WB[b].p;
    place(R_WB[b], f.r_F_W, j.p_FJ, axes[i].X_F, f.p_F_W, f.A_F);
  });
  update_serial(near);
}

void JointKinematics::update_serial(std::span<const double> near) {
  for (std::size_t i = 0; i < serial_.size(); ++i) {
    const auto joint = static_cast<std::size_t>(serial_joint_[i]);
    const Joint& j = model_.joints()[joint];
    double from[kMaxJointDofs];
    std::copy_n(near.empty() ? serial_[i].q : near.data() + j.first_dof, j.axes.size(), from);
    serial_model_[i].solve(frames_[joint], from, serial_[i]);
  }
}

int JointKinematics::residual(int joint, double* residual) const {
  const auto i = static_cast<std::size_t>(joint);
  const Joint& j = model_.joints()[i];
  const SerialSolution* s = serial(i);
  if (s == nullptr) return joint_residual(j, frames_[i], residual);
  std::copy_n(s->residual, joint_rows(j), residual);
  return s->translational;
}

int JointKinematics::constraint_axes(int joint, JointAxis* axes) const {
  const auto i = static_cast<std::size_t>(joint);
  const Joint& j = model_.joints()[i];
  const SerialSolution* s = serial(i);
  if (s == nullptr) return joint_constraint_axes(j, frames_[i], axes);
  std::copy_n(s->row_axes, joint_rows(j), axes);
  return s->translational;
}

int JointKinematics::translational_rows(int joint) const {
  const auto i = static_cast<std::size_t>(joint);
  const Joint& j = model_.joints()[i];
  if (j.type == JointType::revolute) return 3;  // nearly all of them
  if (j.type == JointType::distance) return 1;
  if (const SerialSolution* s = serial(i)) return s->translational;
  return static_cast<int>(std::ranges::count(pattern(j.type).translation, true));
}

void JointKinematics::dof_axes(int joint, JointAxis* axes) const {
  const auto i = static_cast<std::size_t>(joint);
  const Joint& j = model_.joints()[i];
  const SerialSolution* s = serial(i);
  if (s == nullptr) {
    joint_dof_axes(j, frames_[i], axes);
  } else {
    std::copy_n(s->dof_axes, joint_dofs(j), axes);
  }
}

// Of a gimbal the smallest singular value of its axes x_B, y', z_F: y' is normal to both, x_B . z_F = sin b.
double JointKinematics::conditioning(int joint) const {
  const auto i = static_cast<std::size_t>(joint);
  if (model_.joints()[i].type == JointType::gimbal) {
    const double sine = frames_[i].A_B.col(0).dot(frames_[i].A_F.col(2));
    return std::sqrt(std::max(0.0, 1 - std::abs(sine)));
  }
  const SerialSolution* s = serial(i);
  return s == nullptr ? 1.0 : s->conditioning;
}

double JointKinematics::unwrap(int dof, double raw, double near) const {
  const Joint& j = model_.joints()[static_cast<std::size_t>(model_.joint_of_dof(dof))];
  const int k = dof - j.first_dof;
  // An arcsine never turns over, nor does a part of a rotation vector.
  const bool bounded = (j.type == JointType::gimbal && k == 1) || j.type == JointType::spherical;
  if (j.type == JointType::serial || bounded || !coordinate_is_angular(j, k)) return raw;
  if (model_.dofs()[static_cast<std::size_t>(dof)].wrapped) return wrap_angle(raw);
  // Made of the raw angle alone and whole turns, so that it is the same once more with itself as `near`.
  constexpr double kTurn = 2 * std::numbers::pi;
  return raw + kTurn * std::rint((near - raw) / kTurn);
}

void JointKinematics::update_coordinates(std::span<double> q) const {
  for_each_index(frames_.size(), [&](std::size_t i) {
    const Joint& j = model_.joints()[i];
    const int n = joint_dofs(j);
    if (n == 0) return;
    if (const SerialSolution* s = serial(i)) {
      std::copy_n(s->q, n, q.begin() + j.first_dof);
      return;
    }
    double raw[3];
    joint_raw_coordinates(j, frames_[i], raw);
    for (int k = 0; k < n; ++k) {
      double& qk = q[static_cast<std::size_t>(j.first_dof + k)];
      qk = unwrap(j.first_dof + k, raw[k], qk);
    }
  });
}

double JointKinematics::coordinate(int dof, double near) const {
  const auto ji = static_cast<std::size_t>(model_.joint_of_dof(dof));
  const Joint& j = model_.joints()[ji];
  if (const SerialSolution* s = serial(ji)) return s->q[dof - j.first_dof];
  double raw[3];
  joint_raw_coordinates(j, frames_[ji], raw);
  return unwrap(dof, raw[dof - j.first_dof], near);
}

double JointKinematics::scalar(int scalar, std::span<const double> q) const {
  if (!model_.is_combination(scalar)) return coordinate(scalar, q[static_cast<std::size_t>(scalar)]);
  const Combination& c = model_.combination_of(scalar);
  double sum = c.offset;
  for (const CombinationTerm& t : c.terms) {
    sum += t.coefficient * coordinate(t.dof, q[static_cast<std::size_t>(t.dof)]);
  }
  return sum;
}

double JointKinematics::rate(int dof, std::span<const Vec6> twist) const {
  if (model_.is_combination(dof)) {
    double sum = 0;
    for (const CombinationTerm& t : model_.combination_of(dof).terms) sum += t.coefficient * rate(t.dof, twist);
    return sum;
  }
  const auto ji = static_cast<std::size_t>(model_.joint_of_dof(dof));
  const Joint& j = model_.joints()[ji];
  JointAxis axes[kMaxJointDofs];
  dof_axes(static_cast<int>(ji), axes);
  const JointAxis& a = axes[dof - j.first_dof];
  const double rate = follower_row(frames_[ji], a).dot(twist[static_cast<std::size_t>(j.follower)]);
  return j.base == kWorld ? rate : rate + base_row(frames_[ji], a).dot(twist[static_cast<std::size_t>(j.base)]);
}

namespace {

// What is not a number is closed by no measure; comparisons would pass it over.
double open_by(double residual) {
  return std::isnan(residual) ? std::numeric_limits<double>::infinity() : std::abs(residual);
}

struct Errors {
  JointErrors largest;
  double worst = -1;    // share of the rigid ones
  double longest = -1;  // of the ropes

  void add(const Model& model, const JointKinematics& kinematics, int i) {
    const Joint& j = model.joints()[static_cast<std::size_t>(i)];
    double r[6];
    const int translational = kinematics.residual(i, r);
    const double size = model.joint_size(i);
    const double noise = round_off(kinematics.frame(i));
    if (j.rope) {
      const double stretch = std::isnan(r[0]) ? open_by(r[0]) : r[0];
      if (j.compliance.compliant()) {
        largest.compliant_gap = std::max(largest.compliant_gap, stretch);
        return;
      }
      largest.stretch = std::max(largest.stretch, stretch);
      if (const double share = (stretch - noise) / size; share > longest) {
        longest = share;
        largest.worst_rope = i;
      }
      return;
    }
    const bool compliant = j.compliance.compliant();
    double& gap = compliant ? largest.compliant_gap : largest.gap;
    double& angle = compliant ? largest.compliant_angle : largest.angle;
    for (int k = 0; k < joint_rows(j); ++k) {
      double& most = k < translational ? gap : angle;
      const double off = open_by(r[k]);
      most = std::max(most, off);
      const double share = k < translational ? (off - noise) / size : off;
      if (!compliant && share > worst) {
        worst = share;
        largest.worst_joint = i;
      }
    }
  }

  // In any order: of equal ones the first joint is named.
  void add(const Errors& o) {
    for (double JointErrors::*x : {&JointErrors::gap, &JointErrors::angle, &JointErrors::compliant_gap,
                                   &JointErrors::compliant_angle, &JointErrors::stretch}) {
      largest.*x = std::max(largest.*x, o.largest.*x);
    }
    if (o.longest > longest || (o.longest == longest && o.largest.worst_rope < largest.worst_rope)) {
      longest = o.longest;
      largest.worst_rope = o.largest.worst_rope;
    }
    if (o.worst > worst || (o.worst == worst && o.largest.worst_joint < largest.worst_joint)) {
      worst = o.worst;
      largest.worst_joint = o.largest.worst_joint;
    }
  }
};

}  // namespace

double round_off(const JointFrame& f) {
  constexpr double kUlps = 8 * std::numeric_limits<double>::epsilon();
  const double way = f.p_F_W.lpNorm<1>() + (f.p_F_W - f.r_F_W).lpNorm<1>() + (f.p_B_W - f.r_B_W).lpNorm<1>();
  return way < std::numeric_limits<double>::infinity() ? kUlps * way : 0;  // what is no number excuses nothing
}

JointErrors joint_errors(const Model& model, const JointKinematics& kinematics, std::span<const double> q) {
  constexpr int kLeast = 64;
  Errors all;
  std::mutex mutex;
  Workers::here().ranges(model.joint_count(), kLeast, [&](int begin, int end) {
    Errors part;
    for (int i = begin; i < end; ++i) part.add(model, kinematics, i);
    const std::lock_guard lock(mutex);
    all.add(part);
  });
  JointErrors e = all.largest;
  e.open = std::max(0.0, all.worst);
  e.stretched = std::max(0.0, all.longest);
  // In the units of a coordinate, or of the first one of a combination.
  const auto add = [&](double off, bool compliant, int scalar, int& worst, int i) {
    double& angle = compliant ? e.compliant_angle : e.angle;
    angle = std::max(angle, off);
    if (compliant) return;
    const auto share_of = [&](int dof, double by) {
      const int joint = model.joint_of_dof(dof);
      const Joint& j = model.joints()[static_cast<std::size_t>(joint)];
      if (coordinate_is_angular(j, dof - j.first_dof)) return by;
      return (by - round_off(kinematics.frame(joint))) / model.joint_size(joint);
    };
    double share = std::numeric_limits<double>::infinity();
    if (!model.is_combination(scalar)) {
      share = share_of(scalar, off);
    } else {  // the least that one of its coordinates has to move
      for (const CombinationTerm& t : model.combination_of(scalar).terms)
        share = std::min(share, share_of(t.dof, off / std::abs(t.coefficient)));
    }
    if (!(share > e.open)) return;
    e.open = share;
    e.worst_coupling = e.worst_lock = -1;
    worst = i;
  };
  for (int i = 0; i < model.scalar_count(); ++i) {
    const Limit& l = model.scalars()[static_cast<std::size_t>(i)].limit;
    if (!l.locked()) continue;
    add(open_by(kinematics.scalar(i, q) - 0.5 * (l.lower + l.upper)), l.compliance.compliant(), i, e.worst_lock, i);
  }
  for (std::size_t i = 0; i < model.couplings().size(); ++i) {
    const Coupling& c = model.couplings()[i];
    const double qa = kinematics.coordinate(c.dof_a, q[static_cast<std::size_t>(c.dof_a)]);
    const double qb = kinematics.coordinate(c.dof_b, q[static_cast<std::size_t>(c.dof_b)]);
    add(open_by(c.residual(qa, qb)), c.compliance.compliant(), c.dof_a, e.worst_coupling, static_cast<int>(i));
  }
  return e;
}

}  // namespace sarrus
