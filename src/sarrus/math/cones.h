// Euclidean projections on the sets of the constraint problem (docs/theory/problem.md §2).
//
//   K_mu  = { (t,o,n) : |(t,o)| <= mu n }        friction cone, order [t, o, n]
//   K*_mu = { (t,o,n) : mu |(t,o)| <= n }        its dual
//   Moreau: x = P_K(x) - P_K*(-x).  Case tests are products, so mu = 0 is safe.
#pragma once

#include <algorithm>
#include <cmath>

#include "sarrus/math/types.h"

namespace sarrus {

// |(x, y)|. Not std::hypot: it guards against overflow beyond 1e154, at ten times the cost in the hottest loops.
inline double length2(double x, double y) { return std::sqrt(x * x + y * y); }

inline Vec3 project_cone(const Vec3& x, double mu) {
  const double t = length2(x[0], x[1]);
  const double n = x[2];
  if (mu * t <= -n) return Vec3::Zero();
  if (t <= mu * n) return x;
  const double s = (mu * t + n) / (1.0 + mu * mu);
  const double f = s * mu / t;
  return Vec3(f * x[0], f * x[1], s);
}

// Projection on K_mu in the metric diag(w_t, w_t, w_n), w > 0: the minimiser over K of |x - y|_W. With
//   mu^ = mu w_t / w_n,  mu~^2 = mu^2 w_t / w_n:   y_N <= -mu^ |y_T| -> 0;   |y_T| <= mu y_N -> y;
//   else x_N = (y_N + mu^ |y_T|) / (1 + mu~^2),  x_T = mu x_N y_T / |y_T|
inline Vec3 project_cone_metric(const Vec3& y, double mu, double w_t, double w_n) {
  const double t = length2(y[0], y[1]);
  const double mu_hat = mu * w_t / w_n;
  if (t <= mu * y[2]) return y;
  if (y[2] <= -mu_hat * t) return Vec3::Zero();
  const double n = (y[2] + mu_hat * t) / (1.0 + mu * mu_hat);
  const double f = mu * n / t;
  return Vec3(f * y[0], f * y[1], n);
}

inline Vec3 project_dual_cone(const Vec3& x, double mu) {
  const double t = length2(x[0], x[1]);
  const double n = x[2];
  if (mu * t <= n) return x;
  if (t <= -mu * n) return Vec3::Zero();
  const double s = (t + mu * n) / (1.0 + mu * mu);
  const double f = s / t;
  return Vec3(f * x[0], f * x[1], s * mu);
}

inline double project_interval(double x, double lower, double upper) { return std::clamp(x, lower, upper); }

// De Saxce correction of a contact velocity: Gamma(v) = (0, 0, mu |v_T|).
inline double de_saxce(const Vec3& v, double mu) { return mu * length2(v[0], v[1]); }

}  // namespace sarrus
