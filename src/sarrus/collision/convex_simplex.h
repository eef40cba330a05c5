// The point of a vertex, edge or triangle of C that is closest to the origin. Private to GJK and EPA.
#pragma once

#include "sarrus/collision/convex_pair.h"

namespace sarrus {

// The part of a simplex that holds the closest point, by slots of an array of points.
struct Feature {
  int count = 0;
  int slot[3] = {0, 0, 0};
  double weight[3] = {0, 0, 0};
  Vec3 v = Vec3::Zero();  // the closest point

  void set_vertex(int i, const Vec3& x) {
    count = 1;
    slot[0] = i;
    weight[0] = 1;
    v = x;
  }
  // v = x + t e, without its component along the edge e: that much of the direction is known exactly.
  void set_edge(int i, int j, const Vec3& x, const Vec3& e, double t) {
    count = 2;
    slot[0] = i;
    slot[1] = j;
    weight[0] = 1 - t;
    weight[1] = t;
    const Vec3 u = x + t * e;
    v = u - (u.dot(e) / e.squaredNorm()) * e;
  }
};

// The regions of point i are tried first: it should be the newest.
void closest_on_edge(const CorePoint* point, int i, int j, Feature& f);
void closest_on_triangle(const CorePoint* point, int i, int j, int k, Feature& f);
// Of the first `count` points, 1 to 3.
void closest_on_simplex(const CorePoint* point, int count, Feature& f);

}  // namespace sarrus
