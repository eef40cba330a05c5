#include "sarrus/collision/capsule_capsule.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/ball_ball.h"

namespace sarrus {
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

}  // namespace sarrus
