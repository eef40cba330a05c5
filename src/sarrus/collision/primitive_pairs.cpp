#include "sarrus/collision/primitive_pairs.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/clip.h"

namespace sarrus {
namespace {

// Directions of vectors shorter than this times tol are round-off: 5e-10 of the smaller shape.
constexpr double kCoincident = 1e-4;

const FeatureKey kSinglePoint = make_key(FeatureKind::witness, 0, 0);

void push_if_near(const PairQuery& q, const ManifoldPoint& point, Manifold& manifold) {
  if (point.gap <= q.margin) manifold.push(point);
}

// Two balls of radii ra, rb at x_a and x_a + e; `fallback` is the normal if the centres coincide.
ManifoldPoint ball_ball(const PairQuery& q, const Vec3& x_a, double ra, const Vec3& e, double rb, const Vec3& fallback,
                        const FeatureKey& key) {
  const double length = e.norm();
  const Vec3 n = length > kCoincident * q.tol ? Vec3(e / length) : fallback;
  return {x_a + ra * n, n, length - ra - rb, key};
}

// Candidate x of B, relative to B's origin, against the plane A. The heights of B's origin and of x over it are
// added last, so a large distance to the plane's origin does not cost digits of x.
void push_plane_point(const PairQuery& q, const Vec3& x, const FeatureKey& key, Manifold& manifold) {
  const Vec3 n = q.a.R_WG.col(2);
  const double gap = n.dot(q.p_AB_W) + n.dot(x);
  push_if_near(q, {q.p_AB_W + (x - gap * n), n, gap, key}, manifold);
}

}  // namespace

void collide_plane_sphere(const PairQuery& q, Manifold& manifold) {
  push_plane_point(q, -q.b.size[0] * q.a.R_WG.col(2), kSinglePoint, manifold);
}

void collide_plane_capsule(const PairQuery& q, Manifold& manifold) {
  const Vec3 end = q.b.size[1] * q.b.R_WG.col(2);
  const Vec3 down = -q.b.size[0] * q.a.R_WG.col(2);
  push_plane_point(q, down + end, make_key(FeatureKind::vertex_b, 0, 0), manifold);
  push_plane_point(q, down - end, make_key(FeatureKind::vertex_b, 0, 1), manifold);
}

void collide_plane_box(const PairQuery& q, Manifold& manifold) {
  const Vec3 n = q.a.R_WG.col(2);
  const Vec3 n_B = q.b.R_WG.transpose() * n;
  const double height = n.dot(q.p_AB_W);
  for (int v = 0; v < 8; ++v) {
    const Vec3 x_B = box_vertex(q.b.size, v);
    const double gap = height + n_B.dot(x_B);
    if (gap > q.margin) continue;
    manifold.push({q.p_AB_W + (q.b.R_WG * x_B - gap * n), n, gap, make_key(FeatureKind::vertex_b, 0, v)});
  }
}

void collide_sphere_sphere(const PairQuery& q, Manifold& manifold) {
  const Vec3 origin = Vec3::Zero();
  push_if_near(q, ball_ball(q, origin, q.a.size[0], q.p_AB_W, q.b.size[0], Vec3::UnitZ(), kSinglePoint), manifold);
}

void collide_sphere_capsule(const PairQuery& q, Manifold& manifold) {
  const Vec3 u = q.b.R_WG.col(2);
  const double s = std::clamp(-u.dot(q.p_AB_W), -q.b.size[1], q.b.size[1]);
  const Vec3 e = q.p_AB_W + s * u;
  push_if_near(q, ball_ball(q, Vec3::Zero(), q.a.size[0], e, q.b.size[0], u.unitOrthogonal(), kSinglePoint), manifold);
}

void collide_sphere_box(const PairQuery& q, Manifold& manifold) {
  const double r = q.a.size[0];
  const Vec3& h = q.b.size;
  const Vec3 c = -(q.b.R_WG.transpose() * q.p_AB_W);  // the sphere's centre in the box frame
  const Vec3 e = c - c.cwiseMax(-h).cwiseMin(h);
  const double distance = e.norm();
  Vec3 outward;
  double d;
  if (distance > kCoincident * q.tol) {
    outward = e / distance;
    d = distance;
  } else {
    int axis = 0;
    d = (c.cwiseAbs() - h).maxCoeff(&axis);
    outward = (c[axis] >= 0 ? 1.0 : -1.0) * Vec3::Unit(axis);
  }
  const Vec3 n = -(q.b.R_WG * outward);
  push_if_near(q, {r * n, n, d - r, kSinglePoint}, manifold);
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
    return ball_ball(q_, s * u_, q_.a.size[0], e, q_.b.size[0], across_, make_key(kind, fa, fb));
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
    push_if_near(q_, point, out_);
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

}  // namespace sarrus
