// Signed distances of points to the surfaces of all convex shapes, written independently of the engine: bisection,
// clamping and maxima over faces.
#pragma once

#include <algorithm>
#include <cmath>

#include "collision/oracles.h"

namespace sarrus::oracle {

// Distance of c to the ellipsoid with semi-axes e, by bisection in extended precision for tau = t + min e^2 in
// sum (e_i y_i / (t + e_i^2))^2 = 1, y = |c|; axes with y_i = 0 have no term (docs/theory/collision.md §1).
inline double ellipsoid_distance(const Vec3& c, const Vec3& e) {
  using Real = long double;
  int m = 0;
  for (int i = 1; i < 3; ++i) {
    if (e[i] < e[m]) m = i;
  }
  Real y[3];
  Real delta[3];  // e_i^2 - min e^2
  Real inside = 0;
  Real hi = 0;
  bool hollow = true;  // no term is infinite at tau = 0
  for (int i = 0; i < 3; ++i) {
    y[i] = std::abs(static_cast<Real>(c[i]));
    delta[i] = (static_cast<Real>(e[i]) - e[m]) * (static_cast<Real>(e[i]) + e[m]);
    inside += (y[i] / e[i]) * (y[i] / e[i]);
    hi += e[i] * y[i];
    hollow = hollow && (delta[i] > 0 || y[i] == 0);
  }
  const auto sum = [&](Real tau) {
    Real out = 0;
    for (int i = 0; i < 3; ++i) {
      if (y[i] > 0) out += std::pow(e[i] * y[i] / (tau + delta[i]), 2);
    }
    return out;
  };
  const bool degenerate = hollow && !(sum(0) > 1);
  Real lo = 0;
  for (int k = 0; k < 300 && !degenerate; ++k) {
    const Real tau = 0.5L * (lo + hi);
    (sum(tau) > 1 ? lo : hi) = tau;
  }
  Real q[3] = {0, 0, 0};
  Real rest = 1;
  for (int i = 0; i < 3; ++i) {
    if (y[i] == 0) continue;
    q[i] = static_cast<Real>(e[i]) * e[i] * y[i] / ((degenerate ? 0 : hi) + delta[i]);
    rest -= (q[i] / e[i]) * (q[i] / e[i]);
  }
  if (degenerate) q[m] = e[m] * std::sqrt(std::max(rest, static_cast<Real>(0)));
  Real d2 = 0;
  for (int i = 0; i < 3; ++i) d2 += (y[i] - q[i]) * (y[i] - q[i]);
  return static_cast<double>(inside > 1 ? std::sqrt(d2) : -std::sqrt(d2));
}

// Of any convex shape or plane; for a point outside a hull a lower bound, exact beside its faces.
inline double distance_to_surface(const PlacedShape& s, const Vec3& x_W) {
  const Vec3 x = s.R_WG.transpose() * (x_W - s.p_W);
  switch (s.kind) {
    case ShapeKind::cylinder: {
      const double a = x.head<2>().norm() - s.size[0];
      const double b = std::abs(x.z()) - s.size[1];
      return a > 0 && b > 0 ? std::hypot(a, b) : std::max(a, b);
    }
    case ShapeKind::ellipsoid:
      return ellipsoid_distance(x, s.size);
    case ShapeKind::hull: {
      double d = -1e300;
      for (const ConvexHull::Face& face : s.hull->faces()) d = std::max(d, face.normal.dot(x) - face.offset);
      return d;
    }
    default:
      return surface_distance(s, x_W);
  }
}

}  // namespace sarrus::oracle
