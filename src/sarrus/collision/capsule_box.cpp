#include "sarrus/collision/capsule_box.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/capsule_side.h"
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

// Parameter of a core point nearest to the box. The slope of f grows along the segment, so each breakpoint shrinks the
// interval that holds the minimum, whatever their order; in what is left f is one parabola.
double nearest_parameter(const Core& core) {
  double lo = -core.H;
  double hi = core.H;
  for (int i = 0; i < 3; ++i) {
    if (core.u[i] == 0) continue;
    const double inverse = 1 / core.u[i];
    for (const double side : {-core.h[i], core.h[i]}) {
      const double t = (side - core.c[i]) * inverse;
      if (!(t > lo && t < hi)) continue;
      const double slope = core.u.dot(core.outside(core.at(t)));
      if (slope == 0) return t;
      (slope < 0 ? lo : hi) = t;
    }
  }
  const double middle = 0.5 * (lo + hi);
  const Vec3 x = core.at(middle);
  double a = 0;
  double b = 0;
  for (int i = 0; i < 3; ++i) {
    if (std::abs(x[i]) <= core.h[i]) continue;
    a += core.u[i] * core.u[i];
    b += core.u[i] * (core.c[i] - std::copysign(core.h[i], x[i]));
  }
  return a > 0 ? std::clamp(-b / a, lo, hi) : middle;
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
  const CapsuleSide side = capsule_side(r, q.a.size[1], q.a.R_WG.col(2), Vec3::Zero(), n, q.tol);
  if (side.size == 2) {
    const ProjectionFrame frame(n);
    SegmentOutline segment;
    for (int k = 0; k < 2; ++k) segment.set_end(k, side.p[k], k, frame);
    segment.edge = 0;
    const Vec3 origin_b(frame.t.dot(q.p_AB_W), frame.o.dot(q.p_AB_W), frame.n.dot(q.p_AB_W));
    const Outline face = box_outline(q.b.size, frame.in_axes(R_WB), origin_b, false);
    if (clip_segment(segment, true, face, {frame, q.margin, q.tol, manifold}) <= d0 + q.tol) return;
  }
  const Vec3 witness = side.size == 1 ? side.p[0] : Vec3(t * q.a.R_WG.col(2) + r * n);
  manifold.push({witness, n, d0, make_key(FeatureKind::witness, 0, 0)});
}

}  // namespace sarrus
