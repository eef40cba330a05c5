// Scalar, vector and pose types shared by every folder.
//
// Conventions (docs/theory/conventions.md): SI units, right-handed frames, world z up. Rotations are active and map
// body coordinates to world coordinates. Quaternions are Hamilton quaternions with scalar part w; they are
// *stored in memory* by Eigen as (x, y, z, w) but every file format of this project writes (w, x, y, z).
// Twists and wrenches are 6-vectors with the linear part first, in world axes, taken at the centre of mass.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace sarrus {

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using VecX = Eigen::VectorXd;
using Mat3 = Eigen::Matrix3d;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using MatX = Eigen::MatrixXd;
using Quat = Eigen::Quaterniond;

// Rigid transform from frame B to frame A: x_A = p + R(q) x_B. As `X_WB`: the pose of B in the world.
struct Pose {
  Vec3 p = Vec3::Zero();
  Quat q = Quat::Identity();

  Vec3 operator*(const Vec3& x_B) const { return p + q * x_B; }
  Pose operator*(const Pose& X_BC) const { return {p + q * X_BC.p, q * X_BC.q}; }
  Pose inverse() const {
    const Quat qi = q.conjugate();
    return {-(qi * p), qi};
  }
  Mat3 R() const { return q.toRotationMatrix(); }
};

}  // namespace sarrus
