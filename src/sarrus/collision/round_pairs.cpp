// Spheres and capsules against each other and against boxes, cylinders and ellipsoids: closed forms.
#include <algorithm>
#include <cmath>

#include "sarrus/collision/clip.h"
#include "sarrus/collision/feature.h"
#include "sarrus/collision/shape_pairs.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// The point of a surface that is nearest to a given point (docs/theory/collision.md §1, "Points to surfaces").
//
// The given point c is in the shape's frame. d is the distance of c to the surface, negative inside; n is the outward
// unit normal at the nearest point, which is c - d n.
struct SurfaceDistance {
  Vec3 n;
  double d;  // m
};

// n = (c - q)/|c - q| with q = clamp(c, +-h) outside; a point closer than `coincident` or inside leaves through the
// face with the largest |c_i| - h_i, because the direction of c - q is round-off there.
SurfaceDistance distance_to_box(const Vec3& c, const Vec3& half_extents, double coincident) {
  const Vec3 e = c - c.cwiseMax(-half_extents).cwiseMin(half_extents);
  const double distance = e.norm();
  if (distance > coincident) return {e / distance, distance};
  int axis = 0;
  const double d = (c.cwiseAbs() - half_extents).maxCoeff(&axis);
  return {(c[axis] >= 0 ? 1.0 : -1.0) * Vec3::Unit(axis), d};
}

// alpha = |c_xy| - r, beta = |c_z| - h: both <= 0, the larger one; else d = hypot(alpha+, beta+).
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

// The nearest point is q_i = e_i^2 c_i / (t + e_i^2), where t > -min e^2 is the largest root of
//   sum (e_i c_i / (t + e_i^2))^2 = 1,
// so w_i = c_i / (t + e_i^2) is along the normal and d = t |w|. The sum is convex and falls, so Newton's method from
// its left converges without overshooting. A point on the plane across the smallest semi-axis and close to the centre
// has t = -min e^2.
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

// Directions of vectors shorter than this times tol are round-off: 5e-10 of the smaller shape.
constexpr double kCoincident = 1e-4;

// Balls with the radii of the two shapes at x_a and x_a + e; `fallback` is the normal if the centres coincide.
ManifoldPoint ball_ball(const PairQuery& q, const Vec3& x_a, const Vec3& e, const Vec3& fallback,
                        const FeatureKey& key) {
  const double ra = q.a.size[0];
  const double rb = q.b.size[0];
  const double length = e.norm();
  const Vec3 n = length > kCoincident * q.tol ? Vec3(e / length) : fallback;
  return {x_a + ra * n, n, length - ra - rb, key};
}

void push_if_near(const PairQuery& q, const ManifoldPoint& point, Manifold& manifold) {
  if (point.gap <= q.margin) manifold.push(point);
}

Vec3 centre_in_b(const PairQuery& q) { return -(q.b.R_WG.transpose() * q.p_AB_W); }

// The sphere against a surface of B, whose distance to the sphere's centre is given in B's frame.
void push_surface_point(const PairQuery& q, const SurfaceDistance& surface, Manifold& manifold) {
  const double r = q.a.size[0];
  if (surface.d - r > q.margin) return;
  const Vec3 n = -(q.b.R_WG * surface.n);
  manifold.push({r * n, n, surface.d - r, kWitness});
}

}  // namespace

void collide_sphere_sphere(const PairQuery& q, Manifold& manifold) {
  const Vec3 origin = Vec3::Zero();
  push_if_near(q, ball_ball(q, origin, q.p_AB_W, Vec3::UnitZ(), kWitness), manifold);
}

void collide_sphere_capsule(const PairQuery& q, Manifold& manifold) {
  const Vec3 u = q.b.R_WG.col(2);
  const double s = std::clamp(-u.dot(q.p_AB_W), -q.b.size[1], q.b.size[1]);
  const Vec3 e = q.p_AB_W + s * u;
  push_if_near(q, ball_ball(q, Vec3::Zero(), e, u.unitOrthogonal(), kWitness), manifold);
}

void collide_sphere_box(const PairQuery& q, Manifold& manifold) {
  push_surface_point(q, distance_to_box(centre_in_b(q), q.b.size, kCoincident * q.tol), manifold);
}

void collide_sphere_cylinder(const PairQuery& q, Manifold& manifold) {
  push_surface_point(q, distance_to_cylinder(centre_in_b(q), q.b.size[0], q.b.size[1]), manifold);
}

void collide_sphere_ellipsoid(const PairQuery& q, Manifold& manifold) {
  push_surface_point(q, distance_to_ellipsoid(centre_in_b(q), q.b.size), manifold);
}

namespace {

// Core segments a + s u, |s| <= ha and b + t v, |t| <= hb; A's origin is a = 0.
class CapsulePair {
 public:
  CapsulePair(const PairQuery& query, Manifold& manifold)
      : q_(query),
        out_(manifold),
        u_(query.a.R_WG.col(2)),
        v_(query.b.R_WG.col(2)),
        ha_(query.a.size[1]),
        hb_(query.b.size[1]),
        beta_(u_.dot(v_)),
        across_(normal_across()) {}

  void collide() {
    const ManifoldPoint closest = closest_point();
    if (closest.gap > q_.margin) return;
    if (std::abs(beta_) >= 0.995) push_ends();
    for (const ManifoldPoint& point : out_) {
      if (point.gap <= closest.gap + q_.tol) return;
    }
    push_new(closest);
  }

 private:
  // Normal for touching cores: across both axes, towards B; any direction across u if they are parallel.
  Vec3 normal_across() const {
    const Vec3 c = u_.cross(v_);
    const double length = c.norm();
    if (length < 1e-6) return u_.unitOrthogonal();
    return c * ((c.dot(q_.p_AB_W) >= 0 ? 1.0 : -1.0) / length);
  }

  // Feature of a core point: 0 the + end, 1 the - end, 2 between.
  int feature(double s, double h) const {
    if (s >= h - q_.tol) return 0;
    return s <= -h + q_.tol ? 1 : 2;
  }

  ManifoldPoint point(double s, double t) const {
    const int fa = feature(s, ha_);
    const int fb = feature(t, hb_);
    FeatureKind kind = FeatureKind::edge_edge;
    if (fa < 2) {
      kind = FeatureKind::vertex_a;
    } else if (fb < 2) {
      kind = FeatureKind::vertex_b;
    }
    const Vec3 e = q_.p_AB_W + t * v_ - s * u_;
    return ball_ball(q_, s * u_, e, across_, make_key(kind, fa, fb));
  }

  // Minimum of |p_AB + t v - s u|^2 over the two segments.
  ManifoldPoint closest_point() const {
    const double D = u_.dot(q_.p_AB_W);
    const double E = v_.dot(q_.p_AB_W);
    const double denominator = u_.cross(v_).squaredNorm();  // 1 - beta^2 without its cancellation
    double s = std::clamp(denominator < 1e-14 ? D : (D - beta_ * E) / denominator, -ha_, ha_);
    const double free_t = beta_ * s - E;
    const double t = std::clamp(free_t, -hb_, hb_);
    if (t != free_t) s = std::clamp(D + beta_ * t, -ha_, ha_);
    return point(s, t);
  }

  void push_ends() {
    for (const double s : {ha_, -ha_}) {
      const double t = v_.dot(s * u_ - q_.p_AB_W);
      if (std::abs(t) <= hb_ + q_.tol) push_new(point(s, std::clamp(t, -hb_, hb_)));
    }
    for (const double t : {hb_, -hb_}) {
      const double s = u_.dot(q_.p_AB_W + t * v_);
      if (std::abs(s) <= ha_ + q_.tol) push_new(point(std::clamp(s, -ha_, ha_), t));
    }
  }

  void push_new(const ManifoldPoint& point) {
    for (const ManifoldPoint& other : out_) {
      if (other.key == point.key) return;
    }
    if (point.gap <= q_.margin) out_.push(point);
  }

  const PairQuery& q_;
  Manifold& out_;
  Vec3 u_, v_;
  double ha_, hb_;
  double beta_;
  Vec3 across_;
};

}  // namespace

void collide_capsule_capsule(const PairQuery& q, Manifold& manifold) { CapsulePair(q, manifold).collide(); }

namespace {

// The core segment of a capsule in the frame of a box.
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
  const bool apart = distance > kCoincident * q.tol;  // else the direction of e is round-off
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
    const Outline face = box_outline(q.b.size, frame.in_axes(R_WB), frame.components(q.p_AB_W), false);
    if (clip_segment(segment, true, face, {frame, q.margin, q.tol, manifold}) <= d0 + q.tol) return;
  }
  const Vec3 witness = side.size == 1 ? side.p[0] : Vec3(t * q.a.R_WG.col(2) + r * n);
  manifold.push({witness, n, d0, kWitness});
}

}  // namespace sarrus
