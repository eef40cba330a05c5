#include "sarrus/collision/sphere_pairs.h"

#include <algorithm>

#include "sarrus/collision/ball_ball.h"
#include "sarrus/collision/point_surface.h"

namespace sarrus {
namespace {

const FeatureKey kSinglePoint = make_key(FeatureKind::witness, 0, 0);

void push_if_near(const PairQuery& q, const ManifoldPoint& point, Manifold& manifold) {
  if (point.gap <= q.margin) manifold.push(point);
}

Vec3 centre_in_b(const PairQuery& q) { return -(q.b.R_WG.transpose() * q.p_AB_W); }

// The sphere against a surface of B, whose distance to the sphere's centre is given in B's frame.
void push_surface_point(const PairQuery& q, const SurfaceDistance& surface, Manifold& manifold) {
  const double r = q.a.size[0];
  if (surface.d - r > q.margin) return;
  const Vec3 n = -(q.b.R_WG * surface.n);
  manifold.push({r * n, n, surface.d - r, kSinglePoint});
}

}  // namespace

void collide_sphere_sphere(const PairQuery& q, Manifold& manifold) {
  const Vec3 origin = Vec3::Zero();
  push_if_near(q, ball_ball(q, origin, q.p_AB_W, Vec3::UnitZ(), kSinglePoint), manifold);
}

void collide_sphere_capsule(const PairQuery& q, Manifold& manifold) {
  const Vec3 u = q.b.R_WG.col(2);
  const double s = std::clamp(-u.dot(q.p_AB_W), -q.b.size[1], q.b.size[1]);
  const Vec3 e = q.p_AB_W + s * u;
  push_if_near(q, ball_ball(q, Vec3::Zero(), e, u.unitOrthogonal(), kSinglePoint), manifold);
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

}  // namespace sarrus
