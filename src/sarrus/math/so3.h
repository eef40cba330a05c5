// SO(3): exponential, logarithm, swing and twist (docs/theory/conventions.md §2).
//
//   exp(phi):  a = |phi|;  w = cos(a/2);  x = phi * (sin(a/2)/a)
//   log(q):    phi with |phi| <= pi and exp(phi) = +-q
//   pose step: q+ = normalize(exp(dt * omega_W) * q)      left product, omega in world axes
#pragma once

#include <cmath>
#include <numbers>

#include "sarrus/math/types.h"

namespace sarrus {

// phi [rad], any frame -> unit quaternion in that frame.
inline Quat so3_exp(const Vec3& phi) {
  const double h2 = 0.25 * phi.squaredNorm();  // (a/2)^2
  double c, s;
  if (h2 < 1e-2) {  // what a step turns by: the next terms of the series are below 3e-17
    c = 1 - h2 / 2 * (1 - h2 / 12 * (1 - h2 / 30 * (1 - h2 / 56)));
    s = 0.5 - h2 / 12 * (1 - h2 / 20 * (1 - h2 / 42 * (1 - h2 / 72)));
  } else {
    const double h = std::sqrt(h2);
    c = std::cos(h);
    s = 0.5 * std::sin(h) / h;
  }
  return Quat(c, s * phi.x(), s * phi.y(), s * phi.z());
}

// Cayley map of phi: the rotation with  R = (1 - [phi]x/2)^-1 (1 + [phi]x/2),  equal to exp up to third order.
inline Quat so3_cayley(const Vec3& phi) { return Quat(1, 0.5 * phi.x(), 0.5 * phi.y(), 0.5 * phi.z()).normalized(); }

// Rotation vector of q, |result| <= pi.
inline Vec3 so3_log(Quat q) {
  if (q.w() < 0) q.coeffs() = -q.coeffs();
  const double s = q.vec().norm();
  const double f = s < 1e-9 ? 2.0 / q.w() : 2.0 * std::atan2(s, q.w()) / s;
  return f * q.vec();
}

// Angle moved to (-pi, pi].
inline double wrap_angle(double a) {
  return a - 2.0 * std::numbers::pi * std::ceil(a / (2.0 * std::numbers::pi) - 0.5);
}

// Swing of the rotation Q that carries the axis e onto Q e, as a rotation vector:
//   a = e x Q e,   r = a/|a| * atan2(|a|, e . Q e)        (perpendicular to e)
inline Vec3 swing_log(const Vec3& e, const Vec3& Qe) {
  const Vec3 a = e.cross(Qe);
  const double s = a.norm();
  const double c = e.dot(Qe);
  if (s < 1e-12) return c > 0 ? a : Vec3(std::numbers::pi * e.unitOrthogonal());
  return a * (std::atan2(s, c) / s);
}

// Twist of Q about coordinate axis k (0 = x, 1 = y, 2 = z), in (-pi, pi].
inline double twist_angle(const Quat& Q, int k) { return wrap_angle(2.0 * std::atan2(Q.coeffs()[k], Q.w())); }

// Moves a pose by a twist (world axes, at the centre of mass) over dt; the quaternion stays normalised.
template <class Map = Quat (*)(const Vec3&)>
Pose integrate_pose(const Pose& X, const Vec6& twist, double dt, Map rotation = so3_exp) {
  return {X.p + dt * twist.head<3>(), (rotation(dt * twist.tail<3>()) * X.q).normalized()};
}

// Frame whose x (or z) column is the given unit axis; the other columns are chosen deterministically.
inline Quat frame_with_x(const Vec3& x) {
  const Vec3 u = x.normalized();
  const Vec3 helper = std::abs(u.y()) < 0.9 ? Vec3::UnitY() : Vec3::UnitZ();
  const Vec3 z = u.cross(helper).normalized();
  Mat3 R;
  R << u, z.cross(u), z;
  return Quat(R).normalized();
}
inline Quat frame_with_z(const Vec3& z) {
  const Vec3 w = z.normalized();
  const Vec3 helper = std::abs(w.x()) < 0.9 ? Vec3::UnitX() : Vec3::UnitY();
  const Vec3 y = w.cross(helper).normalized();
  Mat3 R;
  R << y.cross(w), y, w;
  return Quat(R).normalized();
}
// Frame with x along the first axis and y as close to the second as a right-handed frame allows.
inline Quat frame_with_xy(const Vec3& x, const Vec3& y) {
  const Vec3 u = x.normalized();
  const Vec3 z = u.cross(y).normalized();
  Mat3 R;
  R << u, z.cross(u), z;
  return Quat(R).normalized();
}

}  // namespace sarrus
