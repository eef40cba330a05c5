#include "sarrus/collision/capsule_box.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/clip.h"

namespace sarrus {
namespace {

// The core segment in the box frame.
struct Core {
  Vec3 c;
  Vec3 u;
  double H;
  Vec3 h;  // half extents of the box

  Vec3 at(double t) const { return c + t * u; }
  // From the nearest point of the box to x; zero inside.
  Vec3 outside(const Vec3& x) const { return x - x.cwiseMax(-h).cwiseMin(h); }
};

// Sorted parameters between which the set of box faces that the segment is beyond does not change.
FixedList<double, 8> breakpoints(const Core& core) {
  FixedList<double, 8> knots;
  knots.push(-core.H);
  for (int i = 0; i < 3; ++i) {
    if (core.u[i] == 0) continue;
    for (const double side : {-core.h[i], core.h[i]}) {
      const double t = (side - core.c[i]) / core.u[i];
      if (std::abs(t) < core.H) knots.push(t);
    }
  }
  knots.push(core.H);
  std::sort(knots.begin(), knots.end());
  return knots;
}

// Parameter of the core point nearest to the box.
double nearest_parameter(const Core& core) {
  const FixedList<double, 8> knots = breakpoints(core);
  double best_t = 0;
  double best_f = kInf;
  for (int k = 0; k + 1 < knots.size(); ++k) {
    const double middle = 0.5 * (knots[k] + knots[k + 1]);
    const Vec3 x = core.at(middle);
    double a = 0;
    double b = 0;
    for (int i = 0; i < 3; ++i) {
      if (std::abs(x[i]) <= core.h[i]) continue;
      a += core.u[i] * core.u[i];
      b += core.u[i] * (core.c[i] - std::copysign(core.h[i], x[i]));
    }
    const double t = a > 0 ? std::clamp(-b / a, knots[k], knots[k + 1]) : middle;
    const double f = core.outside(core.at(t)).squaredNorm();
    if (f < best_f) {
      best_f = f;
      best_t = t;
    }
  }
  return best_t;
}

struct Axis {
  Vec3 outward;  // box frame, from the box to the core
  double s;      // support distance along it
};

// Best separating direction of a core that meets the box. The first axes win ties, so resting poses keep theirs.
Axis least_overlap(const Core& core, double tol) {
  Axis best{Vec3::UnitZ(), -kInf};
  const auto consider = [&](const Vec3& k, double bias) {
    const double x = k.dot(core.c);
    const double s = std::abs(x) - core.h.dot(k.cwiseAbs()) - core.H * std::abs(k.dot(core.u));
    if (s > best.s + bias) best = {x >= 0 ? k : Vec3(-k), s};
  };
  for (int i = 0; i < 3; ++i) consider(Vec3::Unit(i), 0.1 * tol);
  for (int i = 0; i < 3; ++i) {
    const Vec3 k = core.u.cross(Vec3::Unit(i));
    const double length = k.norm();
    if (length > 1e-6) consider(k / length, tol);
  }
  return best;
}

}  // namespace

void collide_capsule_box(const PairQuery& q, Manifold& manifold) {
  const double r = q.a.size[0];
  const Mat3& R_WB = q.b.R_WG;
  const Vec3 c = -(R_WB.transpose() * q.p_AB_W);
  const Vec3 u = R_WB.transpose() * q.a.R_WG.col(2);
  const Core core{c, u, q.a.size[1], q.b.size};
  const double t = nearest_parameter(core);
  const Vec3 e = core.outside(core.at(t));
  const double distance = e.norm();
  const bool apart = distance > 1e-4 * q.tol;  // else the direction of e is round-off
  const Axis axis = apart ? Axis{e / distance, distance} : least_overlap(core, q.tol);
  const double d0 = axis.s - r;
  if (d0 > q.margin) return;

  const Vec3 n = -(R_WB * axis.outward);
  const CapsuleSide side = capsule_support_side(q.a, Vec3::Zero(), n);
  const BoxFace face = box_support_face(q.b, q.p_AB_W, -n);
  if (clip_side(side, face, n, q.margin, q.tol, manifold) <= d0 + q.tol) return;
  const Vec3 witness = side.size == 1 ? side.p[0] : Vec3(t * q.a.R_WG.col(2) + r * n);
  manifold.push({witness, n, d0, make_key(FeatureKind::witness, 0, 0)});
}

}  // namespace sarrus
