#include "sarrus/solvers/local_contact.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

#include "sarrus/math/cones.h"
#include "sarrus/math/tools.h"
#include "sarrus/problem/judge.h"

namespace sarrus {
namespace {

// --- roots -----------------------------------------------------------------------------------------------

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

// --- one contact -----------------------------------------------------------------------------------------

// Lower Cholesky factor; false if a pivot is not clearly positive. Eigen's own works on blocks of run-time size even
// here, whose sums depend on the address of the matrix: runs would not repeat bit by bit.
bool cholesky(const Mat3& A, double smallest_pivot, Mat3& L) {
  L.setZero();
  for (int j = 0; j < 3; ++j) {
    double pivot = A(j, j);
    for (int k = 0; k < j; ++k) pivot -= L(j, k) * L(j, k);
    if (!(pivot > smallest_pivot)) return false;
    L(j, j) = std::sqrt(pivot);
    for (int i = j + 1; i < 3; ++i) {
      double x = A(i, j);
      for (int k = 0; k < j; ++k) x -= L(i, k) * L(j, k);
      L(i, j) = x / L(j, j);
    }
  }
  return true;
}

Vec3 cholesky_solve(const Mat3& L, const Vec3& b) {
  const double y0 = b[0] / L(0, 0);
  const double y1 = (b[1] - L(1, 0) * y0) / L(1, 1);
  const double y2 = (b[2] - L(2, 0) * y0 - L(2, 1) * y1) / L(2, 2);
  const double x2 = y2 / L(2, 2);
  const double x1 = (y1 - L(2, 1) * x2) / L(1, 1);
  return {(y0 - L(1, 0) * x1 - L(2, 0) * x2) / L(0, 0), x1, x2};
}

// Point of the slip curve in the direction t = (x, y). Not valid if g <= 0.
struct SlipPoint {
  SlipPoint(const LocalContact& c, const Vec3& b, double x, double y)
      : g(c.G(2, 2) + c.mu * (c.G(0, 2) * x + c.G(1, 2) * y)), lambda(c.mu * x, c.mu * y, 1.0) {
    lambda *= -b[2] / g;
  }
  bool valid() const { return g > 0 && lambda.allFinite(); }

  double g;
  Vec3 lambda;
};

// Which mode the contact is in, as far as this is known without the slip curve.
struct Mode {
  bool done = false;
  Vec3 lambda = Vec3::Zero();  // the answer if done, else the sticking impulse, which is outside of the cone
};

Mode open_or_stick(const LocalContact& c, const Vec3& b) {
  Mode m;
  m.done = true;
  if (!(b[2] < 0) || !(c.G(2, 2) > 0)) return m;
  if (!(c.mu > 0)) {
    m.lambda[2] = -b[2] / c.G(2, 2);
    return m;
  }
  m.lambda = c.stick(b);
  // With a singular G sticking may be impossible; the shifted equations then have a large solution, which is none.
  const bool sticks = (c.G * m.lambda + b).cwiseAbs().maxCoeff() <= 1e-6 * b.cwiseAbs().maxCoeff();
  m.done = sticks && length2(m.lambda[0], m.lambda[1]) <= c.mu * m.lambda[2];
  return m;
}

TrigonometricQuartic coulomb_quartic(const LocalContact& c, const Vec3& b) {
  const double mu = c.mu;
  const double xx = c.G(0, 0), xy = c.G(0, 1), yy = c.G(1, 1), xn = c.G(0, 2), yn = c.G(1, 2), nn = c.G(2, 2);
  TrigonometricQuartic q;
  q.cos2 = -mu * b[2] * xy + 0.5 * mu * (xn * b[1] + yn * b[0]);
  q.sin2 = -0.5 * mu * b[2] * (yy - xx) + 0.5 * mu * (yn * b[1] - xn * b[0]);
  q.cos1 = -b[2] * yn + nn * b[1];
  q.sin1 = b[2] * xn - nn * b[0];
  q.constant = 0.5 * mu * (xn * b[1] - yn * b[0]);
  return q;
}

// E(theta) = Q / g^2 with Q, g trigonometric of degree 2 and 1; the numerator of dE/dtheta is Q'g - 2 Q g', whose terms
// of degree 3 cancel.
TrigonometricQuartic energy_quartic(const LocalContact& c, const Vec3& b, double s_n) {
  const double mu = c.mu;
  const double xx = c.G(0, 0), xy = c.G(0, 1), yy = c.G(1, 1), xn = c.G(0, 2), yn = c.G(1, 2), nn = c.G(2, 2);
  const double h = 0.5 * b[2] * b[2];
  const double bs = b[2] + s_n;
  const double q0 = h * (0.5 * mu * mu * (xx + yy) + nn) - b[2] * (nn * bs + 0.5 * mu * mu * (xn * b[0] + yn * b[1]));
  const double c1 = 2 * h * mu * xn - b[2] * mu * (nn * b[0] + xn * bs);
  const double s1 = 2 * h * mu * yn - b[2] * mu * (nn * b[1] + yn * bs);
  const double c2 = 0.5 * mu * mu * (h * (xx - yy) - b[2] * (xn * b[0] - yn * b[1]));
  const double s2 = mu * mu * (h * xy - 0.5 * b[2] * (xn * b[1] + yn * b[0]));
  const double gc = mu * xn;
  const double gs = mu * yn;
  TrigonometricQuartic q;
  q.cos2 = 2 * nn * s2 - 0.5 * (c1 * gs + s1 * gc);
  q.sin2 = -2 * nn * c2 + 0.5 * (c1 * gc - s1 * gs);
  q.cos1 = nn * s1 - 2 * q0 * gs + 2 * (s2 * gc - c2 * gs);
  q.sin1 = -nn * c1 + 2 * q0 * gc - 2 * (c2 * gc + s2 * gs);
  q.constant = 1.5 * (s1 * gc - c1 * gs);
  return q;
}

// Where sticking lies outside of the cone, its direction meets the slip curve: a point to fall back on.
Vec3 slip_towards(const LocalContact& c, const Vec3& b, const Vec3& outside) {
  const double length = length2(outside[0], outside[1]);
  if (length > 0) {
    const SlipPoint p(c, b, outside[0] / length, outside[1] / length);
    if (p.valid()) return p.lambda;
  }
  return Vec3::Zero();
}

double coulomb_residual(const LocalContact& c, const Vec3& b, const Vec3& lambda) {
  return natural_map(lambda, c.G * lambda + b, c.mu, Law::ncp);
}

// A natural map below this is as good as zero.
double rounding(const Vec3& b, const Vec3& lambda) {
  return 1e-13 * std::max(b.cwiseAbs().maxCoeff(), lambda.cwiseAbs().maxCoeff());
}

// dE/dtheta / (mu lambda_N) on the slip curve.
double energy_slope(const LocalContact& c, const Vec3& b, double s_n, double x, double y, const SlipPoint& p) {
  const Vec3 v = c.G * p.lambda + b;
  const double along = c.mu * (x * v[0] + y * v[1]) + s_n;
  return (x * v[1] - y * v[0]) - (x * c.G(1, 2) - y * c.G(0, 2)) / p.g * along;
}

double energy(const LocalContact& c, const Vec3& b, double s_n, const Vec3& l) {
  return 0.5 * l.dot(c.G * l) + l.dot(b) + s_n * l[2];
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

void LocalContact::set_exact(const Mat3& matrix, double friction) {
  G = matrix;
  mu = friction;
  const double trace = G.trace();
  if (!cholesky(G, 1e-13 * trace, factor) && !cholesky(G + 1e-12 * trace * Mat3::Identity(), 0.0, factor)) {
    factor.setIdentity();
  }
}

void LocalContact::set(const Mat3& matrix, double friction) {
  set_exact(matrix, friction);
  const double trace = G.trace();
  const auto inverse = [](double x) { return x > 0 ? 1.0 / x : 0.0; };
  const double half = 0.5 * (G(0, 0) + G(1, 1));
  const double largest = half + length2(0.5 * (G(0, 0) - G(1, 1)), G(0, 1));
  const double smallest = std::min(G(0, 0), G(1, 1));
  const double spectral_radius =
      Eigen::SelfAdjointEigenSolver<Mat3>().computeDirect(G, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
  ccp_step = inverse(std::max(trace / 3, spectral_radius / 1.5));
  normal_step = inverse(G(2, 2));
  spectral_step = inverse(largest);
  tangent_step = inverse(largest < 1.5 * smallest ? smallest : largest);
}

Vec3 LocalContact::stick(const Vec3& b) const {
  const Vec3 l = -cholesky_solve(factor, b);
  return l - cholesky_solve(factor, G * l + b);
}

Vec3 solve_contact_ncp(const LocalContact& c, const Vec3& b, const Vec3& near) {
  const Mode mode = open_or_stick(c, b);
  if (mode.done) return mode.lambda;
  const TrigonometricQuartic quartic = coulomb_quartic(c, b);
  const double length = length2(near[0], near[1]);
  if (length > 0) {  // most of the sweeps change little: the root next to the old direction, without all the others
    double x = near[0] / length;
    double y = near[1] / length;
    refine_root(quartic, 5, 0.1, x, y);
    const SlipPoint p(c, b, x, y);
    if (p.valid() && coulomb_residual(c, b, p.lambda) <= rounding(b, p.lambda)) return p.lambda;
  }
  TrigonometricRoots roots;
  find_roots(quartic, roots);
  Vec3 best = slip_towards(c, b, mode.lambda);
  double smallest = coulomb_residual(c, b, best);
  for (int i = 0; i < roots.count; ++i) {
    const SlipPoint p(c, b, roots.cosine[i], roots.sine[i]);
    if (!p.valid()) continue;
    const double residual = coulomb_residual(c, b, p.lambda);
    // Solutions to rounding are told apart by `near`, not by their last bits.
    const bool both = std::max(residual, smallest) <= rounding(b, p.lambda);
    if (both ? (p.lambda - near).squaredNorm() < (best - near).squaredNorm() : residual < smallest) {
      smallest = residual;
      best = p.lambda;
    }
  }
  return best;
}

Vec3 solve_contact_energy(const LocalContact& c, const Vec3& b, double s_n) {
  const Mode mode = open_or_stick(c, b);
  if (mode.done) return mode.lambda;
  TrigonometricRoots roots;
  find_roots(energy_quartic(c, b, s_n), roots);
  Vec3 best = slip_towards(c, b, mode.lambda);
  double smallest = best[2] > 0 ? energy(c, b, s_n, best) : kInf;
  for (int i = 0; i < roots.count; ++i) {
    const SlipPoint p(c, b, roots.cosine[i], roots.sine[i]);
    if (!p.valid()) continue;
    const double value = energy(c, b, s_n, p.lambda);
    if (value < smallest) {
      smallest = value;
      best = p.lambda;
    }
  }
  return best;
}

// The minimiser of E in the plane v_N = 0 is -G^-1 (b + s) + (s_n / G_nn) e_n. If it is outside of the cone, the part
// of the curve that it sees has exactly one critical point of E, and the point of the curve in its own direction is on
// that part.
Vec3 bisect_contact_energy(const LocalContact& c, const Vec3& b, double s_n) {
  const Mode mode = open_or_stick(c, b);
  if (mode.done) return mode.lambda;
  Vec3 target = mode.lambda;
  if (s_n != 0) {
    target = c.stick(b + Vec3(0, 0, s_n));
    target[2] += s_n / c.G(2, 2);
  }
  const double length = length2(target[0], target[1]);
  if (!(length > c.mu * target[2])) return solve_contact_energy(c, b, s_n);

  const auto rotated = [&](double angle, double& x, double& y) {
    const double cosine = std::cos(angle);
    const double sine = std::sin(angle);
    x = (target[0] * cosine - target[1] * sine) / length;
    y = (target[0] * sine + target[1] * cosine) / length;
    return SlipPoint(c, b, x, y);
  };
  double x = 0;
  double y = 0;
  const SlipPoint start = rotated(0, x, y);
  if (!start.valid()) return solve_contact_energy(c, b, s_n);
  const double slope = energy_slope(c, b, s_n, x, y, start);
  if (slope == 0) return start.lambda;

  // Widen the step until the slope changes its sign, shorten it where it leaves the visible part.
  constexpr double kFirst = 1e-2, kShorten = 0.5, kWiden = 1.3;
  double step = slope > 0 ? -kFirst : kFirst;
  double low = 0;
  double high = 0;
  for (int i = 0; i < 300 && high == 0; ++i) {
    const SlipPoint p = rotated(low + step, x, y);
    const Vec3 d = target - p.lambda;
    const bool visible = p.valid() && x * d[0] + y * d[1] - c.mu * d[2] >= 0;
    if (!visible) {
      step *= kShorten;
    } else if (energy_slope(c, b, s_n, x, y, p) * slope > 0) {
      low += step;
      step *= kWiden;
    } else {
      high = low + step;
    }
  }
  if (high == 0) high = low + 2 * step;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    const SlipPoint p = rotated(middle, x, y);
    const bool same = p.valid() && energy_slope(c, b, s_n, x, y, p) * slope > 0;
    (same ? low : high) = middle;
  }
  return rotated(low, x, y).lambda;
}

Vec3 contact_step_ccp(const LocalContact& c, const Vec3& lambda, const Vec3& v, double s_n) {
  return project_cone(lambda - c.ccp_step * (v + Vec3(0, 0, s_n)), c.mu);
}

Vec3 contact_step_disk(const LocalContact& c, const Vec3& lambda, const Vec3& v, double normal, double tangent) {
  Vec3 l = lambda;
  l[2] = std::max(0.0, lambda[2] - normal * v[2]);
  // The tangential velocity that the new normal impulse causes, not the old one.
  const double d = l[2] - lambda[2];
  l[0] -= tangent * (v[0] + c.G(0, 2) * d);
  l[1] -= tangent * (v[1] + c.G(1, 2) * d);
  const double length = length2(l[0], l[1]);
  const double radius = c.mu * l[2];
  if (length > radius) l.head<2>() *= radius / length;
  return l;
}

}  // namespace sarrus
