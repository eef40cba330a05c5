#include "sarrus/collision/point_surface.h"

#include <algorithm>
#include <cmath>

namespace sarrus {
namespace {

double sign(double x) { return x >= 0 ? 1.0 : -1.0; }

// Root of sum (k_i / (tau + delta_i))^2 = 1, tau = t + min e^2, with all k_i, delta_i >= 0.
double ellipsoid_root(const Vec3& k, const Vec3& delta) {
  double tau = std::max((k - delta).maxCoeff(), 0.0);  // here one term alone reaches 1: left of the root
  for (int i = 0; i < 60; ++i) {
    double sum = 0;
    double slope = 0;
    for (int j = 0; j < 3; ++j) {
      if (k[j] == 0) continue;
      const double inverse = 1 / (tau + delta[j]);
      const double term = k[j] * inverse * k[j] * inverse;
      sum += term;
      slope += 2 * term * inverse;
    }
    const double next = tau + (sum - 1) / slope;
    if (!(next > tau)) break;  // at the root to the last digits
    tau = next;
  }
  return tau;
}

}  // namespace

SurfaceDistance distance_to_cylinder(const Vec3& c, double radius, double half_length) {
  const double rho = std::sqrt(c.x() * c.x() + c.y() * c.y());
  const Vec3 across = rho > 0 ? Vec3(c.x() / rho, c.y() / rho, 0) : Vec3::UnitX();
  const Vec3 along(0, 0, sign(c.z()));
  const double alpha = rho - radius;
  const double beta = std::abs(c.z()) - half_length;
  if (alpha <= 0 && beta <= 0) return alpha > beta ? SurfaceDistance{across, alpha} : SurfaceDistance{along, beta};
  const double a = std::max(alpha, 0.0);
  const double b = std::max(beta, 0.0);
  const double d = std::sqrt(a * a + b * b);
  return {(a / d) * across + (b / d) * along, d};
}

SurfaceDistance distance_to_ellipsoid(const Vec3& c, const Vec3& e) {
  const int m = e[2] <= e[0] && e[2] <= e[1] ? 2 : (e[1] <= e[0] ? 1 : 0);
  const Vec3 k = e.cwiseProduct(c.cwiseAbs());
  const Vec3 delta((e[0] - e[m]) * (e[0] + e[m]), (e[1] - e[m]) * (e[1] + e[m]), (e[2] - e[m]) * (e[2] + e[m]));
  // At tau = 0 the axes with delta = 0 have no finite term; without them the sum may stay below 1.
  double rest = 0;
  bool on_plane = true;
  for (int i = 0; i < 3; ++i) {
    if (delta[i] > 0) {
      rest += (k[i] / delta[i]) * (k[i] / delta[i]);
    } else {
      on_plane = on_plane && k[i] == 0;
    }
  }
  if (on_plane && rest < 1) {
    Vec3 w = Vec3::Zero();
    for (int i = 0; i < 3; ++i) {
      if (delta[i] > 0) w[i] = c[i] / delta[i];
    }
    w[m] = sign(c[m]) * std::sqrt(1 - rest) / e[m];
    const double length = w.norm();
    return {w / length, -e[m] * e[m] * length};
  }
  const double tau = ellipsoid_root(k, delta);
  const Vec3 w = c.array() / (tau + delta.array());
  const double length = w.norm();
  return {w / length, (tau - e[m] * e[m]) * length};
}

}  // namespace sarrus
