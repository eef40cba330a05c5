#include "sarrus/dynamics/mass.h"

#include <Eigen/LU>

#include "sarrus/math/so3.h"

namespace sarrus {

void body_mass_blocks(const Body& body, const Mat3& inertia_inverse_B, const Quat& q_WB, double* mass,
                      double* mass_inverse) {
  const Mat3 R = q_WB.toRotationMatrix();
  Eigen::Map<Mat6> M(mass);
  Eigen::Map<Mat6> W(mass_inverse);
  M.setZero();
  W.setZero();
  M.topLeftCorner<3, 3>().diagonal().setConstant(body.mass);
  W.topLeftCorner<3, 3>().diagonal().setConstant(1.0 / body.mass);
  const Mat3 I = R * body.inertia_B * R.transpose();
  const Mat3 Y = R * inertia_inverse_B * R.transpose();
  M.bottomRightCorner<3, 3>() = 0.5 * (I + I.transpose());
  W.bottomRightCorner<3, 3>() = 0.5 * (Y + Y.transpose());
}

Vec3 gyroscopic_explicit(const Mat3& inertia_B, const Mat3& inertia_inverse_B, const Quat& q_WB, const Vec3& w_W,
                         double dt) {
  const Vec3 w = q_WB.conjugate() * w_W;
  const Vec3 Iw = inertia_B * w;
  return q_WB * Vec3(w - dt * (inertia_inverse_B * w.cross(Iw)));
}

Vec3 gyroscopic_implicit(const Mat3& inertia_B, const Quat& q_WB, const Vec3& w_W, double dt) {
  const Vec3 w = q_WB.conjugate() * w_W;
  const Vec3 Iw = inertia_B * w;
  const Mat3 A = inertia_B + dt * (skew(w) * inertia_B - skew(Iw));
  return q_WB * Vec3(w - A.partialPivLu().solve(dt * w.cross(Iw)));
}

Vec3 gyroscopic_midpoint(const Mat3& inertia_B, const Mat3& inertia_inverse_B, const Quat& q_WB, const Vec3& w_W,
                         double dt) {
  const Vec3 w = q_WB.conjugate() * w_W;
  Vec3 x = w - dt * (inertia_inverse_B * w.cross(inertia_B * w));
  for (int i = 0; i < 8; ++i) {
    const Vec3 m = 0.5 * (w + x);
    const Vec3 Im = inertia_B * m;
    const Vec3 residual = inertia_B * (x - w) + dt * m.cross(Im);
    const Mat3 A = inertia_B + 0.5 * dt * (skew(m) * inertia_B - skew(Im));
    const Vec3 dx = A.partialPivLu().solve(residual);
    x -= dx;
    if (dx.norm() <= 1e-15 * (1 + x.norm())) break;
  }
  return q_WB * x;
}

Vec3 free_rotation(const Mat3& inertia_B, const Quat& q_WB, const Vec3& w_W, const Vec3& torque_W, double dt,
                   const Theta& theta, Quat& q_theta) {
  Vec3 x = w_W;
  for (int i = 0; i < 20; ++i) {
    const Vec3 w_pos = theta.position * x + (1 - theta.position) * w_W;
    const Vec3 w_theta = theta.force * x + (1 - theta.force) * w_W;
    q_theta = (so3_exp(dt * theta.force * w_pos) * q_WB).normalized();
    const Mat3 R = q_theta.toRotationMatrix();
    const Mat3 I = R * inertia_B * R.transpose();
    const Vec3 Iw = I * w_theta;
    const Vec3 residual = I * (x - w_W) + dt * (w_theta.cross(Iw) - torque_W);
    // The turning of I with x is left out: it is of second order in dt and costs an iteration at most.
    const Mat3 A = I + dt * theta.force * (skew(w_theta) * I - skew(Iw));
    const Vec3 dx = A.partialPivLu().solve(residual);
    x -= dx;
    if (dx.norm() <= 1e-15 * (1 + x.norm())) break;
  }
  return x;
}

}  // namespace sarrus
