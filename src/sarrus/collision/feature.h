// Features of convex bodies along a normal, and their intersection in projection along it
// (docs/theory/collision.md §4.1, §4.2).
//
// The feature of X along the outward direction n is a polygon, a segment or a point of its surface: the part that may
// touch another body along n. Two features are intersected in projection along n (clip.h).
//
// Ids of features are fixed in the body, so that a contact keeps its key while the body moves.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sarrus/collision/convex_distance.h"
#include "sarrus/collision/manifold.h"

namespace sarrus {

// Box: vertex = sign bits of its coordinates (x 1, y 2, z 4; set on the positive side),
// edge = 8 axis + sign bits of its two fixed coordinates.

struct BoxFace {
  struct Ids {
    std::array<int, 4> vertex;
    std::array<int, 4> edge;  // from corner k to the next
  };
  int axis;
  bool positive;  // on the positive side of `axis`
  int first;      // axes of the face
  int second;
  Ids forward;   // corners (+,+) (-,+) (-,-) (+,-) along (first, second): counter-clockwise seen from outside
  Ids backward;  // (+,-) (-,-) (-,+) (+,+): clockwise
};

constexpr BoxFace make_box_face(int axis, bool positive) {
  const int j = (axis + 1) % 3;
  const int k = (axis + 2) % 3;
  // Counter-clockwise about -axis the other two change places.
  BoxFace face{axis, positive, positive ? j : k, positive ? k : j, {}, {}};
  const int base = positive ? 1 << axis : 0;
  const int plus_first = 1 << face.first;
  const int plus_second = 1 << face.second;
  face.forward.vertex = {base | plus_first | plus_second, base | plus_second, base, base | plus_first};
  for (std::size_t c = 0; c < 4; ++c) {
    const int along = c % 2 == 0 ? face.first : face.second;
    face.forward.edge[c] = 8 * along + (face.forward.vertex[c] & ~(1 << along));
  }
  for (std::size_t c = 0; c < 4; ++c) {
    face.backward.vertex[c] = face.forward.vertex[3 - c];
    face.backward.edge[c] = face.forward.edge[(6 - c) % 4];
  }
  return face;
}

inline constexpr BoxFace kBoxFaces[6] = {make_box_face(0, false), make_box_face(0, true),  make_box_face(1, false),
                                         make_box_face(1, true),  make_box_face(2, false), make_box_face(2, true)};

// The face that is best aligned with the outward direction l (box frame).
inline const BoxFace& box_support_face(const Vec3& l) {
  const double x = std::abs(l[0]);
  const double y = std::abs(l[1]);
  int axis = y > x ? 1 : 0;
  axis = std::abs(l[2]) > std::max(x, y) ? 2 : axis;
  return kBoxFaces[2 * axis + (l[axis] >= 0 ? 1 : 0)];
}

// The vertex, or the edge along `axis`, that is extreme along l (box frame; sign(0) = +).
inline int box_support_vertex(const Vec3& l) { return (l[0] >= 0 ? 1 : 0) | (l[1] >= 0 ? 2 : 0) | (l[2] >= 0 ? 4 : 0); }
inline int box_support_edge(const Vec3& l, int axis) { return 8 * axis + (box_support_vertex(l) & ~(1 << axis)); }

// Coordinates in the box frame of the vertex with sign bits `vertex`.
inline Vec3 box_vertex(const Vec3& half_extents, int vertex) {
  return {(vertex & 1) != 0 ? half_extents[0] : -half_extents[0],
          (vertex & 2) != 0 ? half_extents[1] : -half_extents[1],
          (vertex & 4) != 0 ? half_extents[2] : -half_extents[2]};
}

// Capsule: end 0 is at +z, 1 at -z.

// Segments whose direction has a larger component than this along n count as points.
inline constexpr double kMaxSegmentSlope = 0.1;

// Two points on the surface, first at the + end, if the capsule lies across n; else the support point at one end.
struct CapsuleSide {
  Vec3 p[2];
  int size;
  int end;  // of the support point: 0 = +, 1 = -
};

// Radius r, core ends at p +- h axis; shorter cores than tol are points.
inline CapsuleSide capsule_side(double r, double h, const Vec3& axis, const Vec3& p, const Vec3& n, double tol) {
  const double lz = axis.dot(n);
  const Vec3 end = h * axis;
  CapsuleSide side;
  side.end = lz >= 0 ? 0 : 1;
  if (std::abs(lz) > kMaxSegmentSlope || 2 * h <= tol) {
    side.size = 1;
    side.p[0] = p + (lz >= 0 ? end : Vec3(-end)) + r * n;
    return side;
  }
  // The near end touches with its cap along n; at the far end only the cylinder's rim is on the surface.
  const Vec3 across = (n - lz * axis).normalized();
  side.size = 2;
  side.p[0] = p + end + r * (lz >= 0 ? n : across);
  side.p[1] = p - end + r * (lz >= 0 ? across : n);
  return side;
}

// Cylinder: rim point k at angle k pi/4 has id k on the top rim, 8 + k on the bottom rim, and so has the edge from
// k to k + 1; the deepest rim point is 16 on top, 17 at the bottom; the side line is edge 16. A cap touches with its
// eight rim points. If it is tilted, the deepest point of the rim takes the place of the nearest of them: the deepest
// gap is then exact, and the count stays eight.

// A cylinder whose axis is within 25.8 degrees of the normal touches with a cap.
inline constexpr double kMinCapCosine = 0.9;
// Sine of the tilt from which on the deepest rim point is one of the eight.
inline constexpr double kMinCapTilt = 1e-4;

inline constexpr int kDeepestRimTop = 16;
inline constexpr int kDeepestRimBottom = 17;
inline constexpr int kSideLine = 16;

constexpr int rim_id(int k, bool top) { return top ? k : 8 + k; }

// The eight corners of a cap that looks along the unit vector l (cylinder frame).
struct RimCorners {
  double cosine[8];
  double sine[8];
  int deepest;  // which of them is the deepest rim point; -1: none

  int id(int k, bool top) const {
    if (k == deepest) return top ? kDeepestRimTop : kDeepestRimBottom;
    return rim_id(k, top);
  }
  // Of a cylinder with radius r and half length h, own frame.
  Vec3 point(double r, double h, int k, bool top) const { return {r * cosine[k], r * sine[k], top ? h : -h}; }
};

inline RimCorners rim_corners(const Vec3& l) {
  constexpr double kHalfRoot = std::numbers::sqrt2 / 2;
  RimCorners rim{{1, kHalfRoot, 0, -kHalfRoot, -1, -kHalfRoot, 0, kHalfRoot},
                 {0, kHalfRoot, 1, kHalfRoot, 0, -kHalfRoot, -1, -kHalfRoot},
                 -1};
  const double across = std::sqrt(l.x() * l.x() + l.y() * l.y());
  if (across <= kMinCapTilt) return rim;
  double nearest = -1;
  for (int k = 0; k < 8; ++k) {
    const double aligned = rim.cosine[k] * l.x() + rim.sine[k] * l.y();
    if (aligned > nearest) {
      nearest = aligned;
      rim.deepest = k;
    }
  }
  rim.cosine[rim.deepest] = l.x() / across;
  rim.sine[rim.deepest] = l.y() / across;
  return rim;
}

using VertexList = FixedList<int, Manifold::capacity()>;

// A set of at most VertexList::capacity() ids with four times as many slots, so that looking up takes few steps.
class IdSet {
 public:
  IdSet() { std::fill_n(slot_, kSlots, -1); }
  // False if it was there already.
  bool insert(int id) {
    unsigned at = (static_cast<unsigned>(id) * 2654435761u) >> 24;  // spreads neighbouring ids
    while (slot_[at] >= 0) {
      if (slot_[at] == id) return false;
      at = (at + 1) % kSlots;
    }
    slot_[at] = id;
    return true;
  }

 private:
  static constexpr unsigned kSlots = 256;
  static_assert(kSlots >= 4 * static_cast<unsigned>(VertexList::capacity()));
  int slot_[kSlots];
};

// The vertices with l.x >= level in ascending order; `top` is one with the largest l.x. They are connected by edges,
// because superlevel sets of a polytope's graph are, so a flood from `top` reaches them all whatever it starts with.
// False, with some of them, if the list is too short.
bool vertices_above(const ConvexHull& hull, const Vec3& l, int top, double level, VertexList& found);

struct Feature {
  struct Corner {
    Vec3 p;      // common frame, m
    int vertex;  // id of the vertex (make_key)
    int edge;    // id of the edge to the next corner; of the segment itself if there are two corners
  };
  FixedList<Corner, kMaxFaceCorners> corners;  // 1, 2, or a convex polygon CCW seen from outside
  Vec3 normal = Vec3::Zero();                  // outward, polygons only: unit
};

// Box: best aligned face. Hull: face around the support vertex (flood fill within 0.01 tol, §4.1). Cylinder: cap
// octagon for |l_z| >= 0.9, side line for |l_z| <= 0.1, else the rim point. Capsule: side line for |l_z| <= 0.1, else a
// point. Triangle: itself. Sphere and ellipsoid: the support point. Faces of hulls and triangles that n sees almost
// from the side (N.n < 0.05) are replaced by their edge across n, if there is one, or the farthest corner.
Feature support_feature(const Convex& x, const Vec3& n, double tol);

// Appends the points of the intersection with gap <= margin, keys as in manifold.h; returns the smallest gap appended
// (infinity if none). Nothing for two single points or a point and something larger: the caller's witness covers those.
double intersect_features(const Feature& a, const Feature& b, const Vec3& n, double margin, double tol,
                          Manifold& manifold);

// The point to add, or to put in place of the one with its key, when no clipped point has gap <= d + tol: the single
// point of A's or B's feature; where the lines of two segments cross, the point of the segments nearest to the
// crossing, with the key of the crossing, so that a contact at the end of a segment keeps it; else the farthest corner
// of A or B along n, if one of them has only one, or whichever of these and `p_A` is closest to both features.
ManifoldPoint witness_point(const Feature& a, const Feature& b, const Vec3& n, double d, const Vec3& p_A);

}  // namespace sarrus
