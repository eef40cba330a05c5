// A convex body that rolls on the plane z = 0 without slip, as an ordinary differential equation: with rho from the
// centre of mass to the contact point (the support point downwards), g the gravity and I the inertia in world axes,
//
//   c' = -w x rho,     (I + m (rho^2 - rho rho')) w' = -w x I w + m rho x (g z - w x drho/dt)
//
// by the method of Runge and Kutta of fourth order. Nothing of the engine is in it but vectors and quaternions.
#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>

#include "sarrus/math/so3.h"

namespace sarrus::testing {

struct RollingBody {
  double mass = 1;                           // kg
  Vec3 inertia_B = Vec3::Ones();             // kg m^2, principal axes
  double gravity = 9.81;                     // m/s^2
  std::function<Vec3(const Vec3&)> support;  // the farthest point along a direction, both in body axes

  struct Motion {
    Vec3 p = Vec3::Zero();  // centre of mass
    Quat q = Quat::Identity();
    Vec3 w = Vec3::Zero();  // world axes
  };

  // From the centre of mass to the contact point.
  Vec3 arm(const Quat& q) const { return q * support(q.conjugate() * Vec3(-Vec3::UnitZ())); }
  Vec3 velocity(const Motion& m) const { return -m.w.cross(arm(m.q)); }
  double energy(const Motion& m) const {
    const Vec3 w_B = m.q.conjugate() * m.w;
    return 0.5 * mass * velocity(m).squaredNorm() + 0.5 * w_B.dot(inertia_B.cwiseProduct(w_B)) +
           mass * gravity * m.p.z();
  }
  // What the body needs to be on the plane.
  void place(Motion& m) const { m.p.z() = -arm(m.q).z(); }

  Motion after(const Motion& start, double duration, int steps) const {
    const double h = duration / steps;
    Numbers y = pack(start);
    for (int i = 0; i < steps; ++i) {
      const Numbers a = slope(y);
      const Numbers b = slope(y + h / 2 * a);
      const Numbers c = slope(y + h / 2 * b);
      const Numbers d = slope(y + h * c);
      y += h / 6 * (a + 2 * b + 2 * c + d);
    }
    return unpack(y);
  }

 private:
  using Numbers = Eigen::Matrix<double, 10, 1>;  // p, quaternion, w

  static Numbers pack(const Motion& m) {
    Numbers y;
    y << m.p, m.q.coeffs(), m.w;
    return y;
  }
  static Motion unpack(const Numbers& y) {
    Motion m;
    m.p = y.head<3>();
    m.q.coeffs() = y.segment<4>(3).normalized();
    m.w = y.tail<3>();
    return m;
  }
  Numbers slope(const Numbers& y) const {
    const Motion m = unpack(y);
    const Quat w(0, m.w.x(), m.w.y(), m.w.z());
    Numbers rate;
    rate << velocity(m), 0.5 * (w * m.q).coeffs(), angular_acceleration(m.q, m.w);
    return rate;
  }
  Vec3 angular_acceleration(const Quat& q, const Vec3& w) const {
    const double h = 1e-5 / std::max(1.0, w.norm());  // s, of the central difference
    const Vec3 rho = arm(q);
    const Vec3 rate = (arm(so3_exp(h * w) * q) - arm(so3_exp(-h * w) * q)) / (2 * h);
    const Mat3 R = q.toRotationMatrix();
    const Mat3 I = R * inertia_B.asDiagonal() * R.transpose();
    const Mat3 A = I + mass * (rho.squaredNorm() * Mat3::Identity() - rho * rho.transpose());
    const Vec3 torque = mass * rho.cross(gravity * Vec3::UnitZ() - w.cross(rate));
    return A.inverse() * (torque - w.cross(I * w));
  }
};

}  // namespace sarrus::testing
