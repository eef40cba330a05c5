#include "sarrus/collision/feature.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/clip.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// Faces with a smaller normal component along n are seen too much from the side to carry heights.
constexpr double kMinFaceCosine = 0.05;

Feature point_feature(const Vec3& p, int vertex) {
  Feature f;
  f.corners.push({p, vertex, 0});
  return f;
}

Feature segment_feature(const Vec3& p0, int v0, const Vec3& p1, int v1, int edge) {
  Feature f;
  f.corners.push({p0, v0, edge});
  f.corners.push({p1, v1, edge});
  return f;
}

Feature capsule_feature(const Convex& x, const Vec3& n, double tol) {
  const CapsuleSide side = capsule_side(x.radius, x.size[1], x.R.col(2), x.p, n, tol);
  return side.size == 1 ? point_feature(side.p[0], side.end) : segment_feature(side.p[0], 0, side.p[1], 1, 0);
}

Feature box_feature(const Convex& x, const Vec3& l) {
  const BoxFace& face = box_support_face(l);
  Feature f;
  f.normal = face.positive ? Vec3(x.R.col(face.axis)) : Vec3(-x.R.col(face.axis));
  for (std::size_t k = 0; k < 4; ++k) {
    const int vertex = face.forward.vertex[k];
    f.corners.push({x.p + x.R * box_vertex(x.size, vertex), vertex, face.forward.edge[k]});
  }
  return f;
}

Feature cylinder_feature(const Convex& x, const Vec3& l, double tol) {
  const double r = x.size[0];
  const double h = x.size[1];
  const bool top = l.z() >= 0;
  if (std::abs(l.z()) >= kMinCapCosine) {
    const RimCorners rim = rim_corners(l);
    Feature f;
    f.normal = top ? Vec3(x.R.col(2)) : Vec3(-x.R.col(2));
    for (int k = 0; k < 8; ++k) {
      const int i = top ? k : (8 - k) % 8;  // counter-clockwise seen from below: backwards
      const int edge = top ? i : (i + 7) % 8;
      f.corners.push({x.p + x.R * rim.point(r, h, i, top), rim.id(i, top), rim_id(edge, top)});
    }
    return f;
  }
  const Vec2 across = r * l.head<2>().normalized();
  const Vec3 upper = x.p + x.R * Vec3(across.x(), across.y(), h);
  const Vec3 lower = x.p + x.R * Vec3(across.x(), across.y(), -h);
  if (std::abs(l.z()) <= kMaxSegmentSlope && 2 * h > tol) {
    return segment_feature(upper, kDeepestRimTop, lower, kDeepestRimBottom, kSideLine);
  }
  return top ? point_feature(upper, kDeepestRimTop) : point_feature(lower, kDeepestRimBottom);
}

// The face of the hull for a feature along l (§4.1): most corners within `band` of the support, then alignment, then
// lowest id, among the faces at the lowest of the vertices there. If those are very many, a face with many corners
// looks along l, and alignment finds it.
int hull_support_face(const ConvexHull& hull, const Vec3& l, double band) {
  const int support = hull.support(l);
  const double level = l.dot(hull.vertex(support)) - band;
  VertexList highest;
  const bool counted = vertices_above(hull, l, support, level, highest) && highest.size() > 1;
  int best = -1;
  int best_count = 0;
  double best_cosine = -kInf;
  for (const int face : hull.faces_of(counted ? highest[0] : support)) {
    int count = 0;
    if (counted) {
      for (const int v : hull.face_vertices(face)) count += l.dot(hull.vertex(v)) >= level ? 1 : 0;
    }
    const double cosine = l.dot(hull.faces()[static_cast<std::size_t>(face)].normal);
    if (best < 0 || count > best_count || (count == best_count && cosine > best_cosine + 1e-9)) {
      best = face;
      best_count = count;
      best_cosine = cosine;
    }
  }
  return best;
}

// A polygon that n sees from the side: its flattest edge at the farthest corner if that lies across n, else the corner.
Feature steep_feature(const Feature& polygon, const Vec3& n, double tol) {
  const int count = polygon.corners.size();
  int top = 0;
  for (int k = 1; k < count; ++k) {
    if (n.dot(polygon.corners[k].p - polygon.corners[top].p) > 0) top = k;
  }
  const Feature::Corner& a = polygon.corners[top];
  const Feature::Corner& before = polygon.corners[(top + count - 1) % count];
  const Feature::Corner& after = polygon.corners[(top + 1) % count];
  const Vec3 e0 = before.p - a.p;
  const Vec3 e1 = after.p - a.p;
  const double slope0 = -n.dot(e0) / std::max(e0.norm(), tol);
  const double slope1 = -n.dot(e1) / std::max(e1.norm(), tol);
  const Feature::Corner& b = slope0 < slope1 ? before : after;
  if (std::min(slope0, slope1) > kMaxSegmentSlope || (b.p - a.p).norm() <= tol) return point_feature(a.p, a.vertex);
  const int edge = slope0 < slope1 ? before.edge : a.edge;
  // The order of the ends belongs to the body, not to which of them is higher now.
  return a.vertex < b.vertex ? segment_feature(a.p, a.vertex, b.p, b.vertex, edge)
                             : segment_feature(b.p, b.vertex, a.p, a.vertex, edge);
}

Feature hull_feature(const Convex& x, const Vec3& l, const Vec3& n, double tol) {
  const ConvexHull& hull = *x.hull;
  const int face = hull_support_face(hull, l, 0.01 * tol);
  Feature f;
  f.normal = x.R * hull.faces()[static_cast<std::size_t>(face)].normal;
  const auto vertices = hull.face_vertices(face);
  const auto edges = hull.face_edges(face);
  for (const int k : hull.contact_corners(face)) {
    const int v = vertices[static_cast<std::size_t>(k)];
    f.corners.push({x.p + x.R * hull.vertex(v), v, edges[static_cast<std::size_t>(k)]});
  }
  return f.normal.dot(n) < kMinFaceCosine ? steep_feature(f, n, tol) : f;
}

Feature triangle_feature(const Convex& x, const Vec3& n, double tol) {
  Feature f;
  for (int k = 0; k < 3; ++k) f.corners.push({x.p + x.R * x.corner[k], k, k});
  f.normal = x.R * (x.corner[1] - x.corner[0]).cross(x.corner[2] - x.corner[0]).normalized();
  return f.normal.dot(n) < kMinFaceCosine ? steep_feature(f, n, tol) : f;
}

Outline outline_of(const Feature& f, const ProjectionFrame& frame, bool of_a) {
  Outline out;
  out.set_plane(f.normal, f.corners[0].p, frame);
  out.size = f.corners.size();
  for (int k = 0; k < out.size; ++k) {
    // What looks against n runs clockwise about it: backwards, each corner with the edge before it.
    const int i = of_a ? k : out.size - 1 - k;
    const Feature::Corner& c = f.corners[i];
    out.x[k] = frame.t.dot(c.p);
    out.y[k] = frame.o.dot(c.p);
    out.vertex[k] = c.vertex;
    out.edge[k] = of_a ? c.edge : f.corners[i > 0 ? i - 1 : out.size - 1].edge;
  }
  return out;
}

SegmentOutline segment_of(const Feature& f, const ProjectionFrame& frame) {
  SegmentOutline out;
  for (int k = 0; k < 2; ++k) out.set_end(k, f.corners[k].p, f.corners[k].vertex, frame);
  out.edge = f.corners[0].edge;
  return out;
}

// The end of a segment nearest to parameter x, or the point there.
Vec3 segment_point(const Feature& f, double x) {
  return f.corners[0].p + std::clamp(x, 0.0, 1.0) * (f.corners[1].p - f.corners[0].p);
}

// The corner farthest along n, and whether no other one is as far: to within 1e-5 of the feature's size.
struct Summit {
  Vec3 p;
  bool lone;
};

Summit summit(const Feature& f, const Vec3& n) {
  const Feature::Corner* top = &f.corners[0];
  double size = 0;
  for (const Feature::Corner& c : f.corners) {
    if (n.dot(c.p - top->p) > 0) top = &c;
    size = std::max(size, (c.p - f.corners[0].p).norm());
  }
  int level = 0;
  for (const Feature::Corner& c : f.corners) level += n.dot(top->p - c.p) <= 1e-5 * size ? 1 : 0;
  return {top->p, level == 1};
}

// How far p is from a segment, or from a polygon that looks along n: outside its sides or, along n, off its plane.
double distance_from(const Feature& f, const Vec3& n, const Vec3& p) {
  const int count = f.corners.size();
  const Vec3 x = p - f.corners[0].p;
  if (count == 2) {
    const Vec3 e = f.corners[1].p - f.corners[0].p;
    return (x - std::clamp(x.dot(e) / e.squaredNorm(), 0.0, 1.0) * e).norm();
  }
  double farthest = std::abs(f.normal.dot(x) / f.normal.dot(n));
  for (int k = 0; k < count; ++k) {
    const Vec3 outward = (f.corners[k + 1 < count ? k + 1 : 0].p - f.corners[k].p).cross(n);
    const double length = outward.norm();
    if (length > 0) farthest = std::max(farthest, outward.dot(p - f.corners[k].p) / length);
  }
  return farthest;
}

}  // namespace

bool vertices_above(const ConvexHull& hull, const Vec3& l, int top, double level, VertexList& found) {
  found.clear();
  found.push(top);
  bool alone = true;
  for (const int v : hull.neighbours(top)) alone = alone && l.dot(hull.vertex(v)) < level;
  if (alone) return true;
  IdSet seen;
  seen.insert(top);
  for (int k = 0; k < found.size(); ++k) {
    for (const int v : hull.neighbours(found[k])) {
      if (l.dot(hull.vertex(v)) < level || !seen.insert(v)) continue;
      if (found.size() == VertexList::capacity()) return false;
      found.push(v);
    }
  }
  std::sort(found.begin(), found.end());
  return true;
}

Feature support_feature(const Convex& x, const Vec3& n, double tol) {
  const Vec3 l = x.R.transpose() * n;
  switch (x.core) {
    case CoreKind::segment:
      return capsule_feature(x, n, tol);
    case CoreKind::box:
      return box_feature(x, l);
    case CoreKind::cylinder:
      return cylinder_feature(x, l, tol);
    case CoreKind::hull:
      return hull_feature(x, l, n, tol);
    case CoreKind::triangle:
      return triangle_feature(x, n, tol);
    case CoreKind::point:
    case CoreKind::ellipsoid:
      break;
  }
  return point_feature(x.support(n), 0);
}

double intersect_features(const Feature& a, const Feature& b, const Vec3& n, double margin, double tol,
                          Manifold& manifold) {
  const int size_a = a.corners.size();
  const int size_b = b.corners.size();
  if (size_a < 2 || size_b < 2) return kInf;
  const ProjectionFrame frame(n);
  const ClipTarget target{frame, margin, tol, manifold};
  if (size_a > 2 && size_b > 2) return clip_polygons(outline_of(a, frame, true), outline_of(b, frame, false), target);
  if (size_a > 2) return clip_segment(segment_of(b, frame), false, outline_of(a, frame, true), target);
  if (size_b > 2) return clip_segment(segment_of(a, frame), true, outline_of(b, frame, false), target);
  return clip_segments(segment_of(a, frame), segment_of(b, frame), target);
}

ManifoldPoint witness_point(const Feature& a, const Feature& b, const Vec3& n, double d, const Vec3& p_A) {
  if (b.corners.size() == 1) return {b.corners[0].p - d * n, n, d, kWitness};
  if (a.corners.size() == 1) return {a.corners[0].p, n, d, kWitness};
  if (a.corners.size() == 2 && b.corners.size() == 2) {
    const ProjectionFrame frame(n);
    double s = 0;
    double t = 0;
    if (cross_segments(segment_of(a, frame), segment_of(b, frame), s, t)) {
      const bool beyond_b = t < 0 || t > 1;
      const Vec3 p = beyond_b ? Vec3(segment_point(b, t) - d * n) : segment_point(a, s);
      return {p, n, d, make_key(FeatureKind::edge_edge, a.corners[0].edge, b.corners[0].edge)};
    }
  }
  const Summit top_a = summit(a, n);
  const Summit top_b = summit(b, -n);
  const Vec3 candidates[3] = {top_b.p - d * n, top_a.p, p_A};
  // A corner over something flat is the place. Else it is the candidate that is on both features.
  if (top_b.lone != top_a.lone) return {candidates[top_b.lone ? 0 : 1], n, d, kWitness};
  Vec3 best = candidates[0];
  double least = kInf;
  for (const Vec3& p : candidates) {
    const double error = std::max(distance_from(a, n, p), distance_from(b, -n, p + d * n));
    if (error < least) {
      least = error;
      best = p;
    }
  }
  return {best, n, d, kWitness};
}

}  // namespace sarrus
