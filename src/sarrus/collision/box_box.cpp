// Box against box by separating axes, clipping and, for some open pairs, closest points.
#include <algorithm>
#include <cmath>

#include "sarrus/collision/clip.h"
#include "sarrus/collision/feature.h"
#include "sarrus/collision/shape_pairs.h"
#include "sarrus/math/tools.h"

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

// A projection frame in the axes of the world and of both boxes, with B's origin along t, o and n from A's.
struct PairFrame {
  ProjectionFrame world;
  ProjectionFrame in_a;
  ProjectionFrame in_b;
  Vec3 origin_b;
};

PairFrame frame_along(const PairQuery& q, const Vec3& n) {
  const ProjectionFrame frame(n);
  return {frame, frame.in_axes(q.a.R_WG), frame.in_axes(q.b.R_WG), frame.components(q.p_AB_W)};
}

// The columns of R with n = s column i and t x o = n.
template <class Columns>
ProjectionFrame frame_of_columns(const Columns& column, int i, double s) {
  const int j = (i + 1) % 3;
  const int k = (i + 2) % 3;
  return s > 0 ? ProjectionFrame(column(j), column(k), column(i)) : ProjectionFrame(column(k), column(j), -column(i));
}

// The separating axis test. C = R_A^T R_B, T = p_B - p_A in the axes of A and of B.
class AxisTest {
 public:
  explicit AxisTest(const PairQuery& query)
      : q_(query),
        C_(query.a.R_WG.transpose() * query.b.R_WG),
        abs_C_(C_.cwiseAbs()),
        T_A_(query.a.R_WG.transpose() * query.p_AB_W),
        T_B_(query.b.R_WG.transpose() * query.p_AB_W) {}

  // False if an axis shows a gap above the margin.
  bool find_best(SatAxis& best) const { return face_axes(best) && edge_axes(best); }

  // For the normal of a face nothing is left to compute.
  PairFrame frame_of(const SatAxis& axis) const {
    if (axis.kind == AxisKind::edges) return frame_along(q_, axis.n);
    const bool of_a = axis.kind == AxisKind::face_a;
    const int i = of_a ? axis.i : axis.j;
    const Vec3& T = of_a ? T_A_ : T_B_;
    const double s = sign(T[i]);
    const Mat3& R = of_a ? q_.a.R_WG : q_.b.R_WG;
    const ProjectionFrame world = frame_of_columns([&](int k) { return Vec3(R.col(k)); }, i, s);
    const ProjectionFrame own = frame_of_columns([](int k) { return Vec3(Vec3::Unit(k)); }, i, s);
    const auto in_other = [&](int k) { return of_a ? Vec3(C_.row(k)) : Vec3(C_.col(k)); };
    const ProjectionFrame other = frame_of_columns(in_other, i, s);
    const Vec3 origin_b(own.t.dot(T), own.o.dot(T), s * T[i]);
    return {world, of_a ? own : other, of_a ? other : own, origin_b};
  }

 private:
  bool face_axes(SatAxis& best) const {
    const Vec3 s_A = T_A_.cwiseAbs() - q_.a.size - abs_C_ * q_.b.size;
    const Vec3 s_B = T_B_.cwiseAbs() - q_.b.size - abs_C_.transpose() * q_.a.size;
    if (std::max(s_A.maxCoeff(), s_B.maxCoeff()) > q_.margin) return false;
    // Ties go to the first axis: a later one must be better by 0.1 tol, so noise does not turn the normal.
    const double bias = 0.1 * q_.tol;
    int axis = 0;
    double s = s_A[0];
    for (int k = 1; k < 6; ++k) {
      const double other = k < 3 ? s_A[k] : s_B[k - 3];
      const bool better = other > s + bias;
      axis = better ? k : axis;
      s = better ? other : s;
    }
    if (axis < 3) {
      best = {AxisKind::face_a, axis, 0, sign(T_A_[axis]) * q_.a.R_WG.col(axis), s};
    } else {
      best = {AxisKind::face_b, 0, axis - 3, sign(T_B_[axis - 3]) * q_.b.R_WG.col(axis - 3), s};
    }
    return true;
  }

  bool edge_axes(SatAxis& best) const {
    const Vec3& h_A = q_.a.size;
    const Vec3& h_B = q_.b.size;
    const double least = std::min(best.s + q_.tol, 0.0);
    for (int i = 0; i < 3; ++i) {
      const int i1 = (i + 1) % 3;
      const int i2 = (i + 2) % 3;
      for (int j = 0; j < 3; ++j) {
        const int j1 = (j + 1) % 3;
        const int j2 = (j + 2) % 3;
        // c = a_i x b_j = C_i1,j a_i2 - C_i2,j a_i1, not normalised: s = numerator / |c|, |c| <= 1.
        const double x = C_(i1, j) * T_A_[i2] - C_(i2, j) * T_A_[i1];
        const double reach =
            h_A[i1] * abs_C_(i2, j) + h_A[i2] * abs_C_(i1, j) + h_B[j1] * abs_C_(i, j2) + h_B[j2] * abs_C_(i, j1);
        const double numerator = std::abs(x) - reach;
        if (numerator <= least) continue;  // then s is not larger than that either
        if (!consider_edges(i, j, x, numerator, best)) return false;
      }
    }
    return true;
  }

  bool consider_edges(int i, int j, double x, double numerator, SatAxis& best) const {
    const int i1 = (i + 1) % 3;
    const int i2 = (i + 2) % 3;
    const double length2 = C_(i1, j) * C_(i1, j) + C_(i2, j) * C_(i2, j);
    if (length2 < 1e-12) return true;  // parallel edges: a face axis covers them
    const double length = std::sqrt(length2);
    const double s = numerator / length;
    if (s > q_.margin) return false;
    if (s > best.s + q_.tol) {
      const Vec3 c = C_(i1, j) * q_.a.R_WG.col(i2) - C_(i2, j) * q_.a.R_WG.col(i1);
      best = {AxisKind::edges, i, j, (sign(x) / length) * c, s};
    }
    return true;
  }

  const PairQuery& q_;
  Mat3 C_;
  Mat3 abs_C_;
  Vec3 T_A_;
  Vec3 T_B_;
};

// Exact closest points of two separated boxes, for the gaps that separating axes underestimate
// (docs/theory/collision.md §4.3: vertex-vertex and vertex-edge neighbours, 4 % of open poses).
//
// The closest points of two disjoint polytopes can always be chosen as a vertex of one and a point of the other, or
// as interior points of two edges with n across both. So the distance is the smallest of: 8 corners of A to B,
// 8 corners of B to A (clamping), and the common perpendiculars of the 12 x 12 edges that have both feet inside.
struct ClosestPoints {
  Vec3 p_a;  // on A, world axes, A's origin
  Vec3 e;    // p_b - p_a
  double distance;
};

void take_if_closer(const Vec3& p_a, const Vec3& e, ClosestPoints& best) {
  const double distance = e.norm();
  if (distance < best.distance) best = {p_a, e, distance};
}

// Corners of `points` (at origin o_points) to the nearest points of `solid` (at o_solid); either may be A.
void corners_to_solid(const PlacedShape& points, const Vec3& o_points, const PlacedShape& solid, const Vec3& o_solid,
                      bool of_a, ClosestPoints& best) {
  for (int v = 0; v < 8; ++v) {
    const Vec3 x = o_points + points.R_WG * box_vertex(points.size, v);
    const Vec3 l = solid.R_WG.transpose() * (x - o_solid);
    const Vec3 e = solid.R_WG * (l.cwiseMax(-solid.size).cwiseMin(solid.size) - l);  // from the corner to the solid
    if (of_a) {
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

// The boxes must not overlap.
ClosestPoints closest_points(const PairQuery& q) {
  ClosestPoints best{Vec3::Zero(), Vec3::Zero(), kInf};
  const Vec3 origin = Vec3::Zero();
  corners_to_solid(q.a, origin, q.b, q.p_AB_W, true, best);
  corners_to_solid(q.b, q.p_AB_W, q.a, origin, false, best);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) edges_along(q, i, j, best);
  }
  return best;
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
    return {p, axis.n, axis.s, kWitness};
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
double clip_faces(const PairQuery& q, const PairFrame& frame, Manifold& manifold) {
  const Outline face_a = box_outline(q.a.size, frame.in_a, Vec3::Zero(), true);
  const Outline face_b = box_outline(q.b.size, frame.in_b, frame.origin_b, false);
  return clip_polygons(face_a, face_b, {frame.world, q.margin, q.tol, manifold});
}

// Second pass of an open pair whose axis n did not reach the distance.
void collide_apart(const PairQuery& q, const SatAxis& axis, Manifold& manifold) {
  const ClosestPoints closest = closest_points(q);
  // Points closer than tol have no steady direction, and there the axis is as good to within tol.
  if (closest.distance <= q.tol) {
    manifold.push({closest.p_a, axis.n, axis.s, kWitness});
    return;
  }
  manifold.clear();
  if (closest.distance > q.margin) return;
  const Vec3 n = closest.e / closest.distance;
  if (clip_faces(q, frame_along(q, n), manifold) <= closest.distance + q.tol) return;
  manifold.push({closest.p_a, n, closest.distance, kWitness});
}

}  // namespace

void collide_box_box(const PairQuery& q, Manifold& manifold) {
  const AxisTest test(q);
  SatAxis axis;
  if (!test.find_best(axis)) return;
  if (clip_faces(q, test.frame_of(axis), manifold) <= axis.s + q.tol) return;
  if (axis.s > 0) {
    collide_apart(q, axis, manifold);
  } else {
    manifold.push(sat_witness(q, axis));
  }
}

}  // namespace sarrus
