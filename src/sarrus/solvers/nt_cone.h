// Nesterov-Todd scaling of one Lorentz cone Q = { |x_T| <= x_n }, order [t, o, n] (docs/theory/newton.md §4).
//
//   x o y = (x_n y_T + y_n x_T, x . y),   det x = x_n^2 - |x_T|^2
//   W: symmetric, W z = W^-1 s = l, for z, s inside Q;   W^2 = zeta^2 (2 q q' - diag(-1, -1, 1))
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "sarrus/math/cones.h"
#include "sarrus/math/types.h"

namespace sarrus {

// As a product: near the boundary the difference of squares would cancel.
inline double lorentz_det(const Vec3& x) {
  const double t = length2(x[0], x[1]);
  return (x[2] - t) * (x[2] + t);
}

inline Vec3 lorentz_product(const Vec3& x, const Vec3& y) {
  return {x[2] * y[0] + y[2] * x[0], x[2] * y[1] + y[2] * x[1], x.dot(y)};
}

// x with l o x = p.
inline Vec3 lorentz_divide(const Vec3& l, const Vec3& p) {
  const double n = (l[2] * p[2] - l[0] * p[0] - l[1] * p[1]) / std::max(lorentz_det(l), 1e-300);
  return {(p[0] - n * l[0]) / l[2], (p[1] - n * l[1]) / l[2], n};
}

struct NtScaling {
  Vec3 q;       // q_n^2 = 1 + |q_T|^2
  double zeta;  // (det s / det z)^(1/4)

  NtScaling() = default;
  NtScaling(const Vec3& z, const Vec3& s) {
    const double dz = std::max(lorentz_det(z), 1e-40);
    const double ds = std::max(lorentz_det(s), 1e-40);
    const Vec3 zb = z / std::sqrt(dz);
    const Vec3 sb = s / std::sqrt(ds);
    const double gamma = std::sqrt(0.5 * (1.0 + zb.dot(sb)));
    q = Vec3(sb[0] - zb[0], sb[1] - zb[1], sb[2] + zb[2]) / (2.0 * gamma);
    q[2] = std::sqrt(1.0 + q[0] * q[0] + q[1] * q[1]);
    zeta = std::sqrt(std::sqrt(ds / dz));
  }

  Vec3 apply(const Vec3& x) const {
    const double t = q[0] * x[0] + q[1] * x[1];
    const double f = x[2] + t / (1.0 + q[2]);
    return zeta * Vec3(x[0] + f * q[0], x[1] + f * q[1], q[2] * x[2] + t);
  }
  Vec3 apply_inverse(const Vec3& x) const {
    const double t = q[0] * x[0] + q[1] * x[1];
    const double f = -x[2] + t / (1.0 + q[2]);
    return Vec3(x[0] + f * q[0], x[1] + f * q[1], q[2] * x[2] - t) / zeta;
  }

  // K^-1 b with K = T (W^2 + delta) T, T = diag(1, 1, mu), in the eigenvectors (q_T, +-1) and (q_T perpendicular, 0) of
  // W^2. Its eigenvalues are zeta^2 (q_n +- |q_T|)^2 and zeta^2; next to the boundary they differ by more than the
  // digits of a number, and a stored K^-1 has lost the small ones.
  Vec3 solve_shifted(const Vec3& b, double mu, double delta) const {
    const double t = length2(q[0], q[1]);
    const double x = t > 0 ? q[0] / t : 1.0;
    const double y = t > 0 ? q[1] / t : 0.0;
    const double z2 = zeta * zeta;
    const double f = (q[2] + t) * (q[2] + t);
    const double normal = b[2] / mu;
    const double along = b[0] * x + b[1] * y;
    const double across = (b[1] * x - b[0] * y) / (z2 + delta);
    const double plus = 0.5 * (normal + along) / (z2 * f + delta);
    const double minus = 0.5 * (normal - along) / (z2 / f + delta);
    return {(plus - minus) * x - across * y, (plus - minus) * y + across * x, (plus + minus) / mu};
  }

  // T K^-1 T with K = T W^2 T + diag(R_t, R_t, R_n) + delta T^2, T = diag(1, 1, mu), without cancellation.
  Mat3 inverse_shifted(double R_t, double R_n, double mu, double delta) const {
    const double t = length2(q[0], q[1]);
    const double z2 = zeta * zeta;
    const double c = z2 * (1.0 + 2.0 * t * t);
    const double o = 2.0 * z2 * q[2] * t;
    const double a = R_n / (mu * mu) + delta;
    const double b = R_t + delta;
    const double d = z2 * z2 + c * (a + b) + a * b;
    const double x = t > 0 ? q[0] / t : 1.0;
    const double y = t > 0 ? q[1] / t : 0.0;
    const double along = (c + a) / d;
    const double across = 1.0 / (z2 + b);
    Mat3 out;
    out(0, 0) = along * x * x + across * y * y;
    out(1, 1) = along * y * y + across * x * x;
    out(0, 1) = out(1, 0) = (along - across) * x * y;
    out(0, 2) = out(2, 0) = -o / d * x;
    out(1, 2) = out(2, 1) = -o / d * y;
    out(2, 2) = (c + b) / d;
    return out;
  }
};

// Largest a with x + a d in Q, for x inside Q.
inline double lorentz_step(const Vec3& x, const Vec3& d) {
  double step = d[2] < 0 ? -x[2] / d[2] : std::numeric_limits<double>::infinity();
  const double k2 = lorentz_det(d);
  const double k1 = x[2] * d[2] - x[0] * d[0] - x[1] * d[1];
  const double k0 = lorentz_det(x);
  const double q = k1 * k1 - k2 * k0;
  if (!(q >= 0)) return step;
  const double k = -(k1 + (k1 >= 0 ? std::sqrt(q) : -std::sqrt(q)));
  for (const double root : {k / k2, k0 / k}) {
    if (root > 0 && root < step) step = root;
  }
  return step;
}

}  // namespace sarrus
