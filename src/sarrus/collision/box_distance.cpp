#include "sarrus/collision/box_distance.h"

#include <cmath>

#include "sarrus/collision/box_face.h"

namespace sarrus {
namespace {

void take_if_closer(const Vec3& p_a, const Vec3& e, ClosestPoints& best) {
  const double distance = e.norm();
  if (distance < best.distance) best = {p_a, e, distance};
}

// Corners of `points` (at origin o_points) to the nearest points of `solid` (at o_solid); `sign` = +1 if `points` is A.
void corners_to_solid(const PlacedShape& points, const Vec3& o_points, const PlacedShape& solid, const Vec3& o_solid,
                      double sign, ClosestPoints& best) {
  for (int v = 0; v < 8; ++v) {
    const Vec3 x = o_points + points.R_WG * box_vertex(points.size, v);
    const Vec3 l = solid.R_WG.transpose() * (x - o_solid);
    const Vec3 e = solid.R_WG * (l.cwiseMax(-solid.size).cwiseMin(solid.size) - l);  // from the corner to the solid
    if (sign > 0) {
      take_if_closer(x, e, best);
    } else {
      take_if_closer(x + e, -e, best);
    }
  }
}

// Middle of the m-th of the four edges of a box along `axis`, from the box's origin, world axes.
Vec3 edge_middle(const PlacedShape& box, int axis, int m) {
  const int j = (axis + 1) % 3;
  const int k = (axis + 2) % 3;
  return (m & 1 ? 1.0 : -1.0) * box.size[j] * box.R_WG.col(j) + (m & 2 ? 1.0 : -1.0) * box.size[k] * box.R_WG.col(k);
}

// Edges q_a + s a and q_a + w + t b: both feet of the common perpendicular, if inside the edges.
//   s - beta t = a.w,   beta s - t = b.w
void edges_along(const PairQuery& q, int i, int j, ClosestPoints& best) {
  const Vec3 a = q.a.R_WG.col(i);
  const Vec3 b = q.b.R_WG.col(j);
  const double beta = a.dot(b);
  const double denominator = a.cross(b).squaredNorm();
  if (denominator < 1e-12) return;  // parallel edges: the corners cover them
  for (int ma = 0; ma < 4; ++ma) {
    const Vec3 q_a = edge_middle(q.a, i, ma);
    for (int mb = 0; mb < 4; ++mb) {
      const Vec3 w = q.p_AB_W + edge_middle(q.b, j, mb) - q_a;
      const double aw = a.dot(w);
      const double bw = b.dot(w);
      const double s = (aw - beta * bw) / denominator;
      const double t = (beta * aw - bw) / denominator;
      if (std::abs(s) > q.a.size[i] || std::abs(t) > q.b.size[j]) continue;
      take_if_closer(q_a + s * a, w + t * b - s * a, best);
    }
  }
}

}  // namespace

ClosestPoints closest_points_box_box(const PairQuery& q) {
  ClosestPoints best{Vec3::Zero(), Vec3::Zero(), kInf};
  const Vec3 origin = Vec3::Zero();
  corners_to_solid(q.a, origin, q.b, q.p_AB_W, +1, best);
  corners_to_solid(q.b, q.p_AB_W, q.a, origin, -1, best);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) edges_along(q, i, j, best);
  }
  return best;
}

}  // namespace sarrus
