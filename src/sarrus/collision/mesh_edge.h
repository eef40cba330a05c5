// The direction that separates a convex body best from an edge of a mesh (spec/collision.md §6).
//
// For the edge E = [a, b] and the body X, with n from E to X:  s(n) = min over X of n.x - max(n.a, n.b).
// Apart, the closest points give the largest s(n), and it is the only local maximum. Overlapping, there are several,
// and only the caller knows which of them are normals of the surface at E. The search climbs from one seed after the
// other, the best first, by proximal steps (§5 step 4): X is moved along n until it is clear of E, and the closest
// points there give the next n, with s never smaller. Private to the mesh pairs.
#pragma once

#include "sarrus/collision/convex.h"
#include "sarrus/collision/fixed_list.h"

namespace sarrus {

struct MeshEdge {
  Vec3 a, b;
  Vec3
      n[2];  // normals of the faces on both sides; at a border the second one points outwards in the plane of the first
};

struct EdgeDirection {
  Vec3 n;    // unit, from the edge to the body
  double s;  // s(n), m
  double t;  // the nearest point of the edge is a + t (b - a)
};

class EdgeSearch {
 public:
  // `centre` is a point inside the body.
  EdgeSearch(const Convex& x, const Vec3& centre, const MeshEdge& edge, double margin, double tol);

  // The next local maximum with s <= margin; false if there is none, or if some direction proves s > margin.
  bool next(EdgeDirection& found);

 private:
  struct Seed {
    Vec3 n;
    double s;
  };
  struct Nearest;

  double s(const Vec3& n) const;
  Vec3 core_support(const Vec3& n) const;
  double parameter(const Vec3& y) const;
  void add_seed(const Vec3& n);
  void add_face_seed(const Vec3& n);
  void add_seeds();
  bool take_seed(EdgeDirection& found);
  bool take_global(EdgeDirection& found);
  Convex segment() const;
  Nearest nearest(const Vec3& shift) const;
  void climb(EdgeDirection& found) const;

  const Convex& x_;
  Vec3 centre_;
  const MeshEdge& edge_;
  Vec3 u_;  // b - a
  double margin_;
  double tol_;
  FixedList<Seed, 8> seeds_;
  FixedList<Vec3, 9> tried_;  // directions handed out
  bool global_left_ = false;
};

}  // namespace sarrus
