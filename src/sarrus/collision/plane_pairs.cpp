// Planes against convex shapes.
#include <algorithm>
#include <cmath>

#include "sarrus/collision/feature.h"
#include "sarrus/collision/shape_pairs.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// The plane seen from B: gaps of points given in B's frame.
class PlaneOverB {
 public:
  PlaneOverB(const PairQuery& query, Manifold& manifold)
      : n(query.a.R_WG.col(2)),
        n_B(query.b.R_WG.transpose() * n),
        height(n.dot(query.p_AB_W)),
        q_(query),
        out_(manifold) {}

  // The heights of B's origin and of x over it are added last, so a large distance to the plane's origin does not
  // cost digits of x.
  double gap(const Vec3& x_B) const { return height + n_B.dot(x_B); }
  // x in world axes, from B's origin.
  void push_point(const Vec3& x, double gap, const FeatureKey& key) {
    if (gap <= q_.margin) out_.push({q_.p_AB_W + (x - gap * n), n, gap, key});
  }
  void push_vertex(const Vec3& x_B, int vertex) {
    push_point(q_.b.R_WG * x_B, gap(x_B), make_key(FeatureKind::vertex_b, 0, vertex));
  }

  Vec3 n;
  Vec3 n_B;
  double height;  // of B's origin

 private:
  const PairQuery& q_;
  Manifold& out_;
};

}  // namespace

void collide_plane_sphere(const PairQuery& q, Manifold& manifold) {
  const Vec3 n = q.a.R_WG.col(2);
  const double gap = n.dot(q.p_AB_W) - q.b.size[0];
  if (gap <= q.margin) manifold.push({q.p_AB_W - (q.b.size[0] + gap) * n, n, gap, kWitness});
}

void collide_plane_capsule(const PairQuery& q, Manifold& manifold) {
  const Vec3 n = q.a.R_WG.col(2);
  const Vec3 end = q.b.size[1] * q.b.R_WG.col(2);
  const double middle = n.dot(q.p_AB_W) - q.b.size[0];
  const double rise = n.dot(end);
  const auto push = [&](const Vec3& x, double gap, int id) {
    if (gap > q.margin) return;
    manifold.push({q.p_AB_W + (x - (q.b.size[0] + gap) * n), n, gap, make_key(FeatureKind::vertex_b, 0, id)});
  };
  push(end, middle + rise, 0);
  push(-end, middle - rise, 1);
}

void collide_plane_box(const PairQuery& q, Manifold& manifold) {
  const Vec3 n = q.a.R_WG.col(2);
  const Vec3 rise = (q.b.R_WG.transpose() * n).cwiseProduct(q.b.size);
  const double height = n.dot(q.p_AB_W);
  if (height - rise.cwiseAbs().sum() > q.margin) return;
  const Vec3 x = q.b.size[0] * q.b.R_WG.col(0);
  const Vec3 y = q.b.size[1] * q.b.R_WG.col(1);
  const Vec3 z = q.b.size[2] * q.b.R_WG.col(2);
  for (int v = 0; v < 8; ++v) {
    const double sx = (v & 1) != 0 ? 1.0 : -1.0;
    const double sy = (v & 2) != 0 ? 1.0 : -1.0;
    const double sz = (v & 4) != 0 ? 1.0 : -1.0;
    const double gap = height + (sx * rise[0] + sy * rise[1] + sz * rise[2]);
    if (gap > q.margin) continue;
    manifold.push({q.p_AB_W + (sx * x + sy * y + sz * z - gap * n), n, gap, make_key(FeatureKind::vertex_b, 0, v)});
  }
}

void collide_plane_ellipsoid(const PairQuery& q, Manifold& manifold) {
  PlaneOverB plane(q, manifold);
  const Vec3 en = q.b.size.cwiseProduct(plane.n_B);
  const double reach = en.norm();
  const Vec3 x_B = q.b.size.cwiseProduct(en) / -reach;
  plane.push_point(q.b.R_WG * x_B, plane.height - reach, kWitness);
}

void collide_plane_cylinder(const PairQuery& q, Manifold& manifold) {
  PlaneOverB plane(q, manifold);
  const double r = q.b.size[0];
  const double h = q.b.size[1];
  const Vec3 l = -plane.n_B;
  if (std::abs(l.z()) > kMinCapCosine) {
    const bool top = l.z() >= 0;
    const RimCorners rim = rim_corners(l);
    const Vec3 x = r * q.b.R_WG.col(0);
    const Vec3 y = r * q.b.R_WG.col(1);
    const Vec3 z = (top ? h : -h) * q.b.R_WG.col(2);
    for (int k = 0; k < 8; ++k) {
      const double gap = plane.height - (r * (rim.cosine[k] * l.x() + rim.sine[k] * l.y()) + h * std::abs(l.z()));
      plane.push_point(rim.cosine[k] * x + rim.sine[k] * y + z, gap,
                       make_key(FeatureKind::vertex_b, 0, rim.id(k, top)));
    }
    return;
  }
  const Vec2 across = r * l.head<2>().normalized();
  plane.push_vertex({across.x(), across.y(), h}, kDeepestRimTop);
  plane.push_vertex({across.x(), across.y(), -h}, kDeepestRimBottom);
}

void collide_plane_hull(const PairQuery& q, Manifold& manifold) {
  PlaneOverB plane(q, manifold);
  const ConvexHull& hull = *q.b.hull;
  const Vec3 down = -plane.n_B;
  const int lowest = hull.support(down);
  const double deepest = plane.gap(hull.vertex(lowest));
  if (deepest > q.margin) return;
  VertexList found;
  const auto find_within = [&](double span) {
    return vertices_above(hull, down, lowest, plane.height - deepest - span, found);
  };
  double span = q.margin - deepest;
  bool complete = find_within(span);
  if (!complete && find_within(q.tol)) {
    while (!complete) complete = find_within(span *= 0.25);
  }
  if (complete) {
    for (const int v : found) plane.push_vertex(hull.vertex(v), v);
    return;
  }
  // Dozens of vertices at one height are a face: its corners, and the lowest vertex if none of them is as low.
  const Convex body = convex_of(q.b, q.p_AB_W);
  double lowest_corner = kInf;
  for (const Feature::Corner& corner : support_feature(body, -plane.n, q.tol).corners) {
    const Vec3& x_B = hull.vertex(corner.vertex);
    plane.push_vertex(x_B, corner.vertex);
    lowest_corner = std::min(lowest_corner, plane.gap(x_B));
  }
  if (lowest_corner > deepest + q.tol) plane.push_vertex(hull.vertex(lowest), lowest);
}

}  // namespace sarrus
