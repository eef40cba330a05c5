// The scene `fourbar_swing` in one coordinate, computed independently of the engine: circle intersection for the
// pose, loop closure for the velocities, Lagrange's equation for the motion.
//
//   m(t) t'' + 1/2 m'(t) t'^2 + V'(t) = 0,    m = sum (m_i |dc_i/dt|^2 + I_i (da_i/dt)^2),   V = g sum m_i z_i
//
// t is the angle of the crank from its start, about +y (z turns towards x). Coordinates are (x, z).
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "sarrus/math/types.h"

namespace sarrus::testing {

class FourBarReference {
 public:
  static constexpr double kCrank = 0.4, kCoupler = 0.8, kRocker = 0.6;  // m
  static constexpr double kLineDensity = 2.0;                           // kg/m
  static constexpr double kSection = 0.05;                              // m
  static constexpr double kGravity = 9.81;

  // Angles at multiples of `interval` from rest at t = 0, by RK4 with `substeps` per interval.
  static std::vector<double> angles(double interval, int count, int substeps) {
    std::vector<double> out = {0.0};
    Vec2 y(0, 0);
    const double h = interval / substeps;
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < substeps; ++k) y = runge_kutta(y, h);
      out.push_back(y[0]);
    }
    return out;
  }

  static double energy(double angle, double rate) {
    const Terms t = terms(angle);
    return 0.5 * t.mass * rate * rate + t.potential;
  }

 private:
  struct Terms {
    double mass;       // effective, kg m^2
    double potential;  // J
  };

  static Vec2 turned(const Vec2& v, double a) {  // about +y: z towards x
    return {v.x() * std::cos(a) + v.y() * std::sin(a), -v.x() * std::sin(a) + v.y() * std::cos(a)};
  }
  static Vec2 spin(const Vec2& v) { return {v.y(), -v.x()}; }  // d turned / da

  static Terms terms(double angle) {
    const Vec2 A(0, 1);
    const Vec2 D(0.7, 1);
    const double start = std::numbers::pi / 3;
    const Vec2 crank = turned(kCrank * Vec2(-std::sin(start), -std::cos(start)), angle);
    const Vec2 B = A + crank;
    // C on the circles about B and D, on the lower side of BD.
    const Vec2 BD = D - B;
    const double distance = BD.norm();
    const double along = (distance * distance + kCoupler * kCoupler - kRocker * kRocker) / (2 * distance);
    const double height = std::sqrt(kCoupler * kCoupler - along * along);
    const Vec2 C = B + along / distance * BD + height / distance * Vec2(BD.y(), -BD.x());
    const Vec2 coupler = C - B;
    const Vec2 rocker = C - D;
    // Loop closure: spin(crank) + w2 spin(coupler) = w3 spin(rocker).
    Eigen::Matrix2d closure;
    closure << spin(coupler), -spin(rocker);
    const double det = closure(0, 0) * closure(1, 1) - closure(0, 1) * closure(1, 0);
    const Vec2 rhs = -spin(crank);
    const double w2 = (rhs.x() * closure(1, 1) - closure(0, 1) * rhs.y()) / det;
    const double w3 = (closure(0, 0) * rhs.y() - rhs.x() * closure(1, 0)) / det;

    Terms t{0, 0};
    const auto add = [&](double length, const Vec2& centre, const Vec2& velocity, double w) {
      const double mass = kLineDensity * length;
      const double inertia = mass / 12 * (length * length + kSection * kSection);
      t.mass += mass * velocity.squaredNorm() + inertia * w * w;
      t.potential += mass * kGravity * centre.y();
    };
    add(kCrank, A + 0.5 * crank, 0.5 * spin(crank), 1);
    add(kCoupler, B + 0.5 * coupler, spin(crank) + 0.5 * w2 * spin(coupler), w2);
    add(kRocker, D + 0.5 * rocker, 0.5 * w3 * spin(rocker), w3);
    return t;
  }

  static double acceleration(double angle, double rate) {
    constexpr double h = 1e-3;  // fourth-order differences: error about 1e-12
    const Terms p1 = terms(angle + h), m1 = terms(angle - h), p2 = terms(angle + 2 * h), m2 = terms(angle - 2 * h);
    const auto slope = [&](double Terms::*x) { return (8 * (p1.*x - m1.*x) - (p2.*x - m2.*x)) / (12 * h); };
    return -(0.5 * slope(&Terms::mass) * rate * rate + slope(&Terms::potential)) / terms(angle).mass;
  }

  static Vec2 derivative(const Vec2& y) { return {y[1], acceleration(y[0], y[1])}; }
  static Vec2 runge_kutta(const Vec2& y, double h) {
    const Vec2 a = derivative(y);
    const Vec2 b = derivative(y + 0.5 * h * a);
    const Vec2 c = derivative(y + 0.5 * h * b);
    const Vec2 d = derivative(y + h * c);
    return y + h / 6 * (a + 2 * b + 2 * c + d);
  }
};

}  // namespace sarrus::testing
