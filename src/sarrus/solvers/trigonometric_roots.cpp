#include "sarrus/solvers/trigonometric_roots.h"

#include <algorithm>
#include <cmath>

namespace sarrus {
namespace {

// c[0] + c[1] x + ... + c[Degree] x^Degree on [-1, 1].
template <int Degree>
struct Polynomial {
  double c[Degree + 1];

  double operator()(double x) const {
    double y = c[Degree];
    for (int i = Degree - 1; i >= 0; --i) y = y * x + c[i];
    return y;
  }
  Polynomial<Degree - 1> derivative() const {
    Polynomial<Degree - 1> d;
    for (int i = 1; i <= Degree; ++i) d.c[i - 1] = i * c[i];
    return d;
  }
  double size() const {
    double s = 0;
    for (const double x : c) s += std::abs(x);
    return s;
  }
};

// Root of p in [a, b], p(a) p(b) < 0: Newton steps, halving where they leave the bracket or do not shrink it.
template <int Degree>
double bracketed_root(const Polynomial<Degree>& p, double a, double b) {
  const Polynomial<Degree - 1> d = p.derivative();
  const bool rising = p(a) < 0;
  double x = 0.5 * (a + b);
  double last = b - a;
  for (int i = 0; i < 80; ++i) {
    const double value = p(x);
    if (value == 0) return x;
    ((value < 0) == rising ? a : b) = x;
    const double slope = d(x);
    double next = x - value / slope;
    if (!(next > a && next < b) || std::abs(next - x) > 0.5 * last) next = 0.5 * (a + b);
    last = std::abs(next - x);
    if (next == x || last < 1e-17) return next;
    x = next;
  }
  return x;
}

// Roots in [-1, 1], ascending; returns their number.
int roots_inside(const Polynomial<2>& p, double* out) {
  const double a = p.c[2];
  const double half = 0.5 * p.c[1];
  const double discriminant = half * half - a * p.c[0];
  if (!(discriminant >= 0)) return 0;
  const double q = -(half + std::copysign(std::sqrt(discriminant), half));
  int n = 0;
  for (const double x : {q / a, p.c[0] / q}) {
    if (x >= -1 && x <= 1) out[n++] = x;  // false for a division by zero
  }
  if (n == 2 && out[0] > out[1]) std::swap(out[0], out[1]);
  return n;
}

// `near`: critical points count as roots if |p| is below `near` times the size of p.
template <int Degree>
int roots_inside(const Polynomial<Degree>& p, double* out, double near = 0) {
  double cut[2 * Degree];
  int cuts = 0;
  cut[cuts++] = -1;
  cuts += roots_inside(p.derivative(), cut + 1);
  cut[cuts++] = 1;
  const double threshold = near * p.size();
  int n = 0;
  double left = p(-1.0);
  if (left == 0) out[n++] = -1;
  for (int i = 1; i < cuts; ++i) {
    const double right = p(cut[i]);
    if ((left < 0 && right > 0) || (left > 0 && right < 0)) out[n++] = bracketed_root(p, cut[i - 1], cut[i]);
    if (std::abs(right) <= threshold) out[n++] = cut[i];
    left = right;
  }
  return n;
}

}  // namespace

void refine_root(const TrigonometricQuartic& f, int steps, double largest_turn, double& cosine, double& sine) {
  const auto value = [&](double x, double y) {
    return f.cos2 * (x * x - y * y) + 2 * f.sin2 * x * y + f.cos1 * x + f.sin1 * y + f.constant;
  };
  double now = value(cosine, sine);
  for (int i = 0; i < steps && now != 0; ++i) {
    const double slope =
        -4 * f.cos2 * cosine * sine + 2 * f.sin2 * (cosine * cosine - sine * sine) - f.cos1 * sine + f.sin1 * cosine;
    const double turn = -now / slope;
    if (!(std::abs(turn) < largest_turn)) return;
    const double x = cosine - turn * sine;
    const double y = sine + turn * cosine;
    const double length = std::sqrt(x * x + y * y);
    const double next = value(x / length, y / length);
    if (!(std::abs(next) < std::abs(now))) return;
    cosine = x / length;
    sine = y / length;
    now = next;
  }
}

void find_roots(const TrigonometricQuartic& f, TrigonometricRoots& roots) {
  constexpr double kNear = 1e-11;
  roots.count = 0;
  for (const double side : {1.0, -1.0}) {  // cos theta > 0, cos theta < 0
    const double cos1 = side * f.cos1;
    const double sin1 = side * f.sin1;
    const Polynomial<4> p = {{f.cos2 + cos1 + f.constant, 2 * sin1 + 4 * f.sin2, 2 * f.constant - 6 * f.cos2,
                              2 * sin1 - 4 * f.sin2, f.cos2 - cos1 + f.constant}};
    double tau[TrigonometricRoots::kMost / 2];
    const int n = roots_inside(p, tau, kNear);
    for (int i = 0; i < n; ++i) {
      const double scale = side / (1 + tau[i] * tau[i]);
      double& x = roots.cosine[roots.count];
      double& y = roots.sine[roots.count++];
      x = scale * (1 - tau[i] * tau[i]);
      y = scale * 2 * tau[i];
      refine_root(f, 2, 1e-3, x, y);
    }
  }
}

}  // namespace sarrus
