// Intersection of two features in projection along a normal (docs/theory/collision.md §4.2).
//
// With n from A to B and u = (t.x, o.x): each point of the intersection has the heights eta_A(u), eta_B(u) of the
// two features, the gap d = eta_B - eta_A and lies at p_A = u t + v o + eta_A n. The clip planes are parallel to n,
// not to a face normal, so p_A is in A, p_B is in B, and no gap is smaller than the support distance
//   s(n) = min_B n.x - max_A n.x.
#pragma once

#include <cmath>

#include "sarrus/collision/manifold.h"
#include "sarrus/geometry/convex_hull.h"

namespace sarrus {

// A convex polygon seen along n: counter-clockwise about n, on the plane of height eta(u) = c0 + slope . u.
struct Outline {
  int size = 0;
  double x[kMaxFaceCorners];  // u of the corners
  double y[kMaxFaceCorners];
  int vertex[kMaxFaceCorners];  // their ids
  int edge[kMaxFaceCorners];    // ids of the edges from each corner to the next
  double slope_x, slope_y;
  double c0;

  double height(double u, double v) const { return c0 + slope_x * u + slope_y * v; }
  // The plane through x0 with normal N; |N.n| must not be small.
  void set_plane(const Vec3& N, const Vec3& x0, const ProjectionFrame& frame);
};

// A segment seen along n; parameters run from 0 at its first end to 1 at its second.
struct SegmentOutline {
  double x[2], y[2];
  double height[2];
  int vertex[2];
  int edge;

  void set_end(int end, const Vec3& p, int id, const ProjectionFrame& frame) {
    x[end] = frame.t.dot(p);
    y[end] = frame.o.dot(p);
    height[end] = frame.n.dot(p);
    vertex[end] = id;
  }
  double length() const { return std::sqrt((x[1] - x[0]) * (x[1] - x[0]) + (y[1] - y[0]) * (y[1] - y[0])); }
  double x_at(double s) const { return x[0] + s * (x[1] - x[0]); }
  double y_at(double s) const { return y[0] + s * (y[1] - y[0]); }
  double height_at(double s) const { return height[0] + s * (height[1] - height[0]); }
};

// Face of a box that looks along n if it belongs to A, against n if to B. `local`: the frame in the box's axes;
// `origin`: the box's origin along t, o and n.
Outline box_outline(const Vec3& half_extents, const ProjectionFrame& local, const Vec3& origin, bool of_a);

// Where to put the points: those with gap <= margin.
struct ClipTarget {
  const ProjectionFrame& frame;
  double margin;
  double tol;
  Manifold& manifold;
};

// All append points to target.manifold in key order and return the smallest gap appended (infinity if none).
//   polygons:  Sutherland-Hodgman, B by the sides of A. Vertices up to tol outside stay, and a crossing is made only
//              between a vertex clearly outside and one clearly inside, so touching features keep their keys under
//              noise.
//   segment:   what the polygon leaves of it, ends within 20 tol of a side counting as inside and pulled onto it; one
//              point if that is shorter.
//   segments:  both ends of the overlap if nearly parallel (|sin| < 5e-3), else the crossing.
double clip_polygons(const Outline& a, const Outline& b, const ClipTarget& target);
double clip_segment(const SegmentOutline& segment, bool segment_is_a, const Outline& polygon, const ClipTarget& target);
double clip_segments(const SegmentOutline& a, const SegmentOutline& b, const ClipTarget& target);

// Parameters (0 at the first end, 1 at the second) where the lines of two segments cross; false if nearly parallel.
bool cross_segments(const SegmentOutline& a, const SegmentOutline& b, double& s, double& t);

}  // namespace sarrus
