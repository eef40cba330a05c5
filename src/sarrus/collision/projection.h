// Projection along a contact normal onto a plane with orthonormal axes t, o, where t x o = n (spec/model.md §5):
//   s = sign(n_z),  a = -1/(s + n_z),  b = n_x n_y a,  t = (1 + s n_x^2 a, s b, -s n_x),  o = (b, s + n_y^2 a, -n_y)
#pragma once

#include "sarrus/math/types.h"

namespace sarrus {

struct ProjectionFrame {
  Vec3 t;
  Vec3 o;
  Vec3 n;

  explicit ProjectionFrame(const Vec3& normal) : n(normal) {
    const double s = n.z() >= 0 ? 1.0 : -1.0;
    const double a = -1.0 / (s + n.z());
    const double b = n.x() * n.y() * a;
    t = Vec3(1 + s * n.x() * n.x() * a, s * b, -s * n.x());
    o = Vec3(b, s + n.y() * n.y() * a, -n.y());
  }
  // Any orthonormal t, o with t x o = n.
  ProjectionFrame(const Vec3& first, const Vec3& second, const Vec3& normal) : t(first), o(second), n(normal) {}

  // The same frame seen from axes R: components along its columns.
  ProjectionFrame in_axes(const Mat3& R) const { return {R.transpose() * t, R.transpose() * o, R.transpose() * n}; }
  Vec2 project(const Vec3& x) const { return {t.dot(x), o.dot(x)}; }
  Vec3 lift(const Vec2& u, double height) const { return u.x() * t + u.y() * o + height * n; }
};

}  // namespace sarrus
