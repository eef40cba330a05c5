// Ids of the corners, edges and faces of a box (spec/collision.md §2).
//
//   vertex = sign bits of its coordinates (x 1, y 2, z 4; set on the positive side)
//   edge   = 8 axis + sign bits of its two fixed coordinates
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "sarrus/math/types.h"

namespace sarrus {

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

}  // namespace sarrus
