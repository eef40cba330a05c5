#include "sarrus/dynamics/serial_joint.h"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr double kTolerance = 1e-13;  // of e_P
constexpr double kLargestTurn = 0.5;  // rad per iteration
constexpr int kNewtonSteps = 60;      // from values far away; one or two from those of the last step
constexpr double kWellChosen = 1e-2;  // pivots below ask for singular values
constexpr double kGoodEnough = 1e-9;  // what does not become better from here is round-off

}  // namespace

SerialJoint::SerialJoint(const Joint& joint) : axes_(joint.axes), dofs_(static_cast<int>(joint.axes.size())) {
  double length = 0;
  for (const SerialAxis& a : axes_) {
    for (const SerialAxis& b : axes_) {
      const Vec3 apart = b.p_J - a.p_J;
      if (a.angular && b.angular) length = std::max(length, (apart - apart.dot(a.axis_J) * a.axis_J).norm());
    }
  }
  if (length > 0) length_ = length;
}

SerialJoint::Place SerialJoint::place(const double* q) const {
  Place at;
  at.R.setIdentity();
  at.p.setZero();
  at.S.resize(6, dofs_);
  Vec3 axis[kMaxJointDofs], point[kMaxJointDofs];
  for (int k = 0; k < dofs_; ++k) {
    const SerialAxis& a = axes_[static_cast<std::size_t>(k)];
    axis[k] = at.R * a.axis_J;
    point[k] = at.p + at.R * a.p_J;
    const double way = q[k] - a.reference;
    if (a.angular) {
      const Mat3 E = so3_exp(way * a.axis_J).toRotationMatrix();
      at.p += at.R * (a.p_J - E * a.p_J);
      at.R = at.R * E;
    } else {
      at.p += way * axis[k];
    }
  }
  for (int k = 0; k < dofs_; ++k) {
    const bool angular = axes_[static_cast<std::size_t>(k)].angular;
    const Vec3 arm = at.p - point[k];
    const Vec3 linear = angular ? Vec3(axis[k].cross(arm)) : axis[k];
    at.S.col(k).head<3>() = linear / length_;
    at.S.col(k).tail<3>() = angular ? axis[k] : Vec3(Vec3::Zero());
  }
  return at;
}

Vec6 SerialJoint::error(const Place& at, const Vec3& p, const Mat3& R) const {
  return spatial((p - at.p) / length_, so3_log(Quat(Mat3(R * at.R.transpose()))));
}

SerialJoint::Choice SerialJoint::choose(const Axes& S) const {
  Choice c{};
  Axes A = S;
  bool taken[6] = {};
  bool used[kMaxJointDofs] = {};
  c.smallest = 1;
  for (int i = 0; i < dofs_; ++i) {
    int row = -1, column = -1;
    for (int k = 0; k < dofs_; ++k) {
      for (int r = 5; r >= 0 && !used[k]; --r) {
        // Ties of rounding must not change the choice: another one is better by more than that.
        if (!taken[r] && (row < 0 || std::abs(A(r, k)) > 1.01 * std::abs(A(row, column)))) row = r, column = k;
      }
    }
    taken[row] = used[column] = true;
    c.in[i] = row;
    const double pivot = A(row, column);
    c.smallest = std::min(c.smallest, std::abs(pivot));
    if (!(std::abs(pivot) > 1e-12)) continue;
    for (int k = 0; k < dofs_; ++k) {
      if (!used[k]) A.col(k) -= A(row, k) / pivot * A.col(column);
    }
  }
  std::sort(c.in, c.in + dofs_);
  int n = 0;
  for (int r = 0; r < 6; ++r) {
    if (!taken[r]) c.out[n++] = r;
  }
  return c;
}

SerialJoint::Square SerialJoint::inverse(const Axes& S, const Choice& choice, double& conditioning) const {
  Square A(dofs_, dofs_);
  for (int i = 0; i < dofs_; ++i) A.row(i) = S.row(choice.in[i]);
  conditioning = 1;
  if (choice.smallest > kWellChosen) return A.partialPivLu().inverse();
  const Eigen::JacobiSVD<Square> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
  conditioning = svd.singularValues()[dofs_ - 1];
  Square VS = svd.matrixV();
  for (int k = 0; k < dofs_; ++k) VS.col(k) /= std::max(svd.singularValues()[k], kLeast);
  return VS * svd.matrixU().transpose();
}

void SerialJoint::solve(const JointFrame& f, const double* near, SerialSolution& out) const {
  const Vec3 p = f.A_B.transpose() * (f.p_F_W - f.p_B_W);
  const Mat3 R = f.A_B.transpose() * f.A_F;
  std::copy_n(near, dofs_, out.q);
  Place at = place(out.q);
  Vec6 e = error(at, p, R);
  const Choice choice = choose(at.S);
  const auto largest = [&](const Vec6& x) {
    double most = 0;
    for (int i = 0; i < dofs_; ++i) most = std::max(most, std::abs(x[choice.in[i]]));
    return most;
  };
  const double tolerance = kTolerance * (1 + p.norm() / length_);
  Square B = inverse(at.S, choice, out.conditioning);
  double now = largest(e);
  for (int i = 0; i < kNewtonSteps && now > tolerance; ++i) {
    double step[kMaxJointDofs];
    double turn = 0;
    for (int k = 0; k < dofs_; ++k) {
      step[k] = 0;
      for (int j = 0; j < dofs_; ++j) step[k] += B(k, j) * e[choice.in[j]];
      if (axes_[static_cast<std::size_t>(k)].angular) turn = std::max(turn, std::abs(step[k]));
    }
    double share = std::min(1.0, kLargestTurn / std::max(turn, 1e-300));
    bool better = false;
    for (int half = 0; half < 8 && !better; ++half, share *= 0.5) {
      double q[kMaxJointDofs];
      for (int k = 0; k < dofs_; ++k) q[k] = out.q[k] + share * step[k];
      const Place next = place(q);
      const Vec6 next_e = error(next, p, R);
      better = largest(next_e) < now;
      if (!better && now < kGoodEnough) break;
      if (!better) continue;
      at = next;
      e = next_e;
      now = largest(e);
      std::copy_n(q, dofs_, out.q);
    }
    if (!better) break;
    B = inverse(at.S, choice, out.conditioning);
  }

  const int rows = 6 - dofs_;
  const auto to_world = [&](const Vec6& x) { return JointAxis{f.A_B * x.head<3>(), f.A_B * x.tail<3>()}; };
  for (int k = 0; k < dofs_; ++k) {
    Vec6 x = Vec6::Zero();
    for (int j = 0; j < dofs_; ++j) x[choice.in[j]] = B(k, j) * scale(choice.in[j]);
    out.dof_axes[k] = to_world(x);
  }
  out.translational = 0;
  for (int r = 0; r < rows; ++r) {
    const int c = choice.out[r];
    const double unit = scale(c);
    Vec6 x = Vec6::Zero();
    x[c] = 1;
    double residual = e[c];
    for (int j = 0; j < dofs_; ++j) {
      double w = 0;
      for (int k = 0; k < dofs_; ++k) w -= at.S(c, k) * B(k, j);
      residual += w * e[choice.in[j]];
      x[choice.in[j]] = w * scale(choice.in[j]) / unit;
    }
    out.row_axes[r] = to_world(x);
    out.residual[r] = residual / unit;
    out.translational += c < 3;
  }
}

}  // namespace sarrus
