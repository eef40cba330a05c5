#include "sarrus/collision/box_box.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/box_distance.h"
#include "sarrus/collision/clip.h"

namespace sarrus {
namespace {

enum class AxisKind : std::uint8_t { face_a, face_b, edges };

struct SatAxis {
  AxisKind kind;
  int i;     // axis of A (face_a, edges)
  int j;     // axis of B (face_b, edges)
  Vec3 n;    // unit, world axes, from A to B
  double s;  // support distance along n
};

double sign(double x) { return x >= 0 ? 1.0 : -1.0; }

// False if an axis shows a gap above the margin.
bool face_axes(const PairQuery& q, const Mat3& absC, SatAxis& best) {
  const Vec3 T_A = q.a.R_WG.transpose() * q.p_AB_W;
  const Vec3 T_B = q.b.R_WG.transpose() * q.p_AB_W;
  const Vec3 s_A = T_A.cwiseAbs() - q.a.size - absC * q.b.size;
  const Vec3 s_B = T_B.cwiseAbs() - q.b.size - absC.transpose() * q.a.size;
  if (std::max(s_A.maxCoeff(), s_B.maxCoeff()) > q.margin) return false;
  // Ties go to the first axis: a later one must be better by 0.1 tol, so noise does not turn the normal.
  best = {AxisKind::face_a, 0, 0, sign(T_A[0]) * q.a.R_WG.col(0), s_A[0]};
  for (int i = 1; i < 3; ++i) {
    if (s_A[i] > best.s + 0.1 * q.tol) best = {AxisKind::face_a, i, 0, sign(T_A[i]) * q.a.R_WG.col(i), s_A[i]};
  }
  for (int j = 0; j < 3; ++j) {
    if (s_B[j] > best.s + 0.1 * q.tol) best = {AxisKind::face_b, 0, j, sign(T_B[j]) * q.b.R_WG.col(j), s_B[j]};
  }
  return true;
}

bool edge_axes(const PairQuery& q, const Mat3& C, SatAxis& best) {
  const Vec3 T_A = q.a.R_WG.transpose() * q.p_AB_W;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const Vec3 c_A = Vec3::Unit(i).cross(C.col(j));
      const double length = c_A.norm();
      if (length < 1e-6) continue;  // parallel edges: a face axis covers them
      const double x = c_A.dot(T_A);
      const double reach = q.a.size.dot(c_A.cwiseAbs()) + q.b.size.dot((C.transpose() * c_A).cwiseAbs());
      const double s = (std::abs(x) - reach) / length;
      if (s > q.margin) return false;
      if (s > best.s + q.tol) {
        best = {AxisKind::edges, i, j, q.a.R_WG * c_A * (sign(x) / length), s};
      }
    }
  }
  return true;
}

// The deepest point of a pair whose clipped points missed it (only when axes tie within tol): the crossing of the
// two supporting edges, or the support vertex over the face.
ManifoldPoint sat_witness(const PairQuery& q, const SatAxis& axis) {
  const Vec3 l_A = q.a.R_WG.transpose() * axis.n;
  const Vec3 l_B = q.b.R_WG.transpose() * -axis.n;
  Vec3 x_A = box_vertex(q.a.size, box_support_vertex(l_A));
  Vec3 x_B = box_vertex(q.b.size, box_support_vertex(l_B));
  if (axis.kind != AxisKind::edges) {
    const Vec3 p =
        axis.kind == AxisKind::face_b ? Vec3(q.a.R_WG * x_A) : Vec3(q.p_AB_W + q.b.R_WG * x_B - axis.s * axis.n);
    return {p, axis.n, axis.s, make_key(FeatureKind::witness, 0, 0)};
  }
  x_A[axis.i] = 0;
  x_B[axis.j] = 0;
  const Vec3 a = q.a.R_WG.col(axis.i);
  const Vec3 b = q.b.R_WG.col(axis.j);
  const Vec3 ab = a.cross(b);
  const Vec3 w = q.p_AB_W + q.b.R_WG * x_B - q.a.R_WG * x_A;
  const double h = q.a.size[axis.i];
  const double s = std::clamp(w.cross(b).dot(ab) / ab.squaredNorm(), -h, h);
  const FeatureKey key = make_key(FeatureKind::edge_edge, box_support_edge(l_A, axis.i), box_support_edge(l_B, axis.j));
  return {q.a.R_WG * x_A + s * a, axis.n, axis.s, key};
}

// Points between the faces best aligned with n; returns the smallest gap.
double clip_along(const PairQuery& q, const Vec3& n, Manifold& manifold) {
  const BoxFace face_a = box_support_face(q.a, Vec3::Zero(), n);
  const BoxFace face_b = box_support_face(q.b, q.p_AB_W, -n);
  return clip_faces(face_a, face_b, n, q.margin, q.tol, manifold);
}

// Second pass of an open pair whose axis n did not reach the distance.
void collide_apart(const PairQuery& q, const SatAxis& axis, Manifold& manifold) {
  const ClosestPoints closest = closest_points_box_box(q);
  const FeatureKey key = make_key(FeatureKind::witness, 0, 0);
  // Points closer than tol have no steady direction, and there the axis is as good to within tol.
  if (closest.distance <= q.tol) {
    manifold.push({closest.p_a, axis.n, axis.s, key});
    return;
  }
  manifold.clear();
  if (closest.distance > q.margin) return;
  const Vec3 n = closest.e / closest.distance;
  if (clip_along(q, n, manifold) <= closest.distance + q.tol) return;
  manifold.push({closest.p_a, n, closest.distance, key});
}

}  // namespace

void collide_box_box(const PairQuery& q, Manifold& manifold) {
  const Mat3 C = q.a.R_WG.transpose() * q.b.R_WG;
  SatAxis axis;
  if (!face_axes(q, C.cwiseAbs(), axis) || !edge_axes(q, C, axis)) return;
  if (clip_along(q, axis.n, manifold) <= axis.s + q.tol) return;
  if (axis.s > 0) {
    collide_apart(q, axis, manifold);
  } else {
    manifold.push(sat_witness(q, axis));
  }
}

}  // namespace sarrus
