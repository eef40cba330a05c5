#include "sarrus/collision/mesh_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sarrus/collision/convex_distance.h"
#include "sarrus/collision/feature.h"
#include "sarrus/collision/mesh_internal.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// A body whose nearest point rises less than this over a triangle, per distance, lies on it: n := n_T (§6).
constexpr double kLevelSlope = 1e-3;
// Deeper than this, in units of tol, a face's own normal may not be the best way out, so its edges are asked as well.
constexpr double kShallow = 20;
// Directions may leave the wedge of an edge or vertex by this much: round-off of the closest points.
constexpr double kWedgeSlack = 1e-5;
constexpr double kCurvedWedgeSlack = 1e-4;
// A vertex that is behind both faces of a concave edge touches both, if it is not deeper than kShallow behind the other
// one, or than this many times its depth behind this one.
constexpr double kDepthRatio = 5;
// A corner that has passed a concave edge may be beside the triangle by so many tol.
constexpr double kBeside = 1000;
// Normals closer than this have the same support feature.
constexpr double kSameDirection = 1e-9;

FeatureKey with_sub(FeatureKey key, std::uint32_t sub_b) {
  key.hi = sub_b;
  return key;
}

// See mesh_pairs.h. Rounded so that the usual normals lie in the middle of their cells.
std::uint32_t direction_code(const Vec3& n) {
  std::uint32_t code = 0;
  for (int i = 0; i < 3; ++i) code = code << 7 | static_cast<std::uint32_t>(std::lround(63 * (n[i] + 1)));
  return code;
}

int points_per_cluster(ShapeKind kind) {
  if (kind == ShapeKind::sphere || kind == ShapeKind::ellipsoid) return 1;
  return kind == ShapeKind::capsule ? 2 : 4;
}

// The body and its support along the last normal asked for, in the mesh's axes, relative to the body's origin.
class ConvexBody {
 public:
  ConvexBody(const PairQuery& q, const Mat3& R_BA) : convex(convex_of(q.a, Vec3::Zero())), tol_(q.tol) {
    convex.R = R_BA;
    if (q.a.kind == ShapeKind::hull) centre = R_BA * q.a.hull->mass_properties().centre;
  }

  // Turns to the side that looks against n.
  void face(const Vec3& n) {
    if ((n - n_).squaredNorm() <= kSameDirection * kSameDirection) return;
    n_ = n;
    extreme = convex.support(-n);
    lowest = n.dot(extreme);
    has_feature_ = false;
  }
  const Feature& feature() {
    if (has_feature_) return feature_;
    feature_ = support_feature(convex, -n_, tol_);
    has_feature_ = true;
    const int count = feature_.corners.size();
    lowest_corner_ = 0;
    for (int k = 1; k < count; ++k) {
      if (n_.dot(corner(k).p) < n_.dot(corner(lowest_corner_).p)) lowest_corner_ = k;
    }
    needs_witness_ = n_.dot(corner(lowest_corner_).p) > lowest + tol_;
    is_level_ = count > 2 && feature_.normal.cross(n_).squaredNorm() <= kLevelSlope * kLevelSlope;
    return feature_;
  }
  // The rest is for the feature asked for last.
  // True if no corner of it is as low as the body: a tilted cylinder touches between two rim points.
  bool needs_witness() const { return needs_witness_; }
  // True if it is a face at right angles to n.
  bool is_level() const { return is_level_; }
  // True if it is the octagon in the cap of a cylinder, beyond which an edge may touch the rest of the disc.
  bool shows_cap() const { return convex.core == CoreKind::cylinder && feature_.corners.size() > 2; }
  const Vec3& lowest_corner() const { return corner(lowest_corner_).p; }
  // True for the two edges at its lowest corner, and their ends.
  bool on_lowest_edge(const FeatureKey& key) const {
    if (kind_of(key) != FeatureKind::edge_edge) return false;
    if (feature_.corners.size() == 2) return true;
    const int edge = static_cast<int>(key.lo >> 30 & ((1u << 30) - 1));
    return edge == corner(lowest_corner_).edge || edge == corner(lowest_corner_ - 1).edge;
  }
  bool next_to_lowest(const Feature::Corner& c) const {
    return c.vertex == corner(lowest_corner_ - 1).vertex || c.vertex == corner(lowest_corner_ + 1).vertex;
  }

  Convex convex;
  Vec3 centre = Vec3::Zero();  // a point inside
  Vec3 extreme;                // the lowest point along n
  double lowest = 0;           // n.extreme

 private:
  const Feature::Corner& corner(int k) const {
    const int count = feature_.corners.size();
    return feature_.corners[(k + count) % count];
  }

  double tol_;
  Vec3 n_ = Vec3::Zero();
  Feature feature_;
  int lowest_corner_ = 0;
  bool has_feature_ = false;
  bool needs_witness_ = false;
  bool is_level_ = false;
};

// The box of the body in its own axes, or the ball that it is: most triangles below a tilted body are far from it,
// though it reaches their planes.
class BodyRoom {
 public:
  // `body` has its pose in the axes of the surface.
  BodyRoom(const PlacedShape& body, double reach) : ball_(body.kind == ShapeKind::sphere) {
    for (int i = 0; i < 3; ++i) axes_[i] << body.R_WG.row(i).transpose().array(), 0;
    if (ball_) {
      reach2_ = (body.size[0] + reach) * (body.size[0] + reach);
      return;
    }
    PlacedShape local = body;
    local.R_WG.setIdentity();
    local.p_W.setZero();
    const Aabb box = body.kind == ShapeKind::hull ? body.hull->box() : shape_aabb(local);
    const Vec3 centre = box.centre();
    const Vec3 half = 0.5 * (box.hi - box.lo) + Vec3::Constant(reach);
    lo_ << centre[0] - half[0], centre[1] - half[1], centre[2] - half[2], 0;
    hi_ << centre[0] + half[0], centre[1] + half[1], centre[2] + half[2], 0;
  }

  bool is_far(const Facet& f) const {
    if (ball_) {
      const Vec3 lo = f.x[0].cwiseMin(f.x[1]).cwiseMin(f.x[2]);
      const Vec3 hi = f.x[0].cwiseMax(f.x[1]).cwiseMax(f.x[2]);
      return lo.cwiseMax(-hi).cwiseMax(0).squaredNorm() > reach2_;
    }
    const Eigen::Array4d a = local(f.x[0]);
    const Eigen::Array4d b = local(f.x[1]);
    const Eigen::Array4d c = local(f.x[2]);
    return (a.min(b).min(c) > hi_).any() || (a.max(b).max(c) < lo_).any();
  }

 private:
  // In the body's axes; a fourth zero makes it a vector of the processor.
  Eigen::Array4d local(const Vec3& x) const { return x[0] * axes_[0] + x[1] * axes_[1] + x[2] * axes_[2]; }

  Eigen::Array4d axes_[3];  // rows of the rotation
  bool ball_;
  double reach2_ = 0;
  Eigen::Array4d lo_, hi_;
};

template <class Surface>
class ConvexMesh {
 public:
  ConvexMesh(const PairQuery& q, const Surface& surface, const Mat3& R_BA, MeshWorkspace& w)
      : surface_(surface), body_(q, R_BA), w_(w), margin_(q.margin), tol_(q.tol) {
    wedge_slack_ = body_.convex.is_polytope() ? kWedgeSlack : kCurvedWedgeSlack;
  }

  // `body` has its pose in the frame of the surface. False if more than `most` triangles may touch, and none was asked.
  bool collide(const PlacedShape& body, std::size_t most) {
    w_.triangles.clear();
    w_.near.clear();
    w_.merge.clear();
    if (!surface_.find_triangles(body, margin_, tol_, most, w_)) return false;
    const BodyRoom room(body, margin_ + kBeside * tol_);
    for (const int t : w_.triangles) collide_triangle(t, room);
    const auto open = [](const NearTriangle& near) { return !near.settled && near.sharp != 0 && near.climb != 0; };
    if (std::none_of(w_.near.begin(), w_.near.end(), open)) return true;
    index_near();
    for (const NearTriangle& near : w_.near) {
      if (!open(near)) continue;
      Facet f;
      surface_.load(near.id, f);
      collide_edges(near, f);
      collide_corners(near, f);
    }
    return true;
  }

 private:
  void collide_triangle(int t, const BodyRoom& room) {
    Facet f;
    surface_.load_corners(t, f);
    if (room.is_far(f)) return;
    surface_.load_plane(f);
    body_.face(f.n);
    if (!(body_.lowest - f.height <= margin_)) return;
    f.find_outward();
    NearTriangle near{t, f.n.dot(body_.centre) >= f.height, false, 0, 0};
    const bool deep = body_.lowest - f.height < -kShallow * tol_;
    std::uint8_t bent = 0;
    for (int k = 0; k < 3; ++k) {
      bend_[k] = surface_.bend(f, k);
      const auto bit = static_cast<std::uint8_t>(1 << k);
      if (bend_[k] > Bend::dent) bent |= bit;
      if (bend_[k] >= Bend::convex) near.sharp |= bit;
      const bool beyond = f.beyond(k, body_.extreme) > -tol_ * f.outward[k].lpNorm<1>();
      if (beyond || (deep && bend_[k] >= Bend::ridge)) near.climb |= bit;
    }
    if (near.front) near.settled = touch_face(f, bent) && !deep;
    w_.near.push_back(near);
  }

  // Contact of the body with the plane of a triangle, inside its edges. True if n_T is the nearest way out of T.
  bool touch_face(const Facet& f, std::uint8_t bent) {
    const Feature& feature = body_.feature();
    MeshMergeBuffers& out = w_.merge;
    const auto push = [&](const Vec3& p, double gap, const FeatureKey& key) {
      out.points.push_back({p, -f.n, gap, with_sub(key, direction_code(f.n))});
    };
    out.begin_patch();
    bool firm = false;
    for (const Feature::Corner& c : feature.corners) {
      const double gap = f.n.dot(c.p) - f.height;
      if (!(gap <= margin_) || !over(f, c.p, gap)) continue;
      push(c.p, gap, make_key(FeatureKind::vertex_a, c.vertex, 0));
      firm = firm || level(f, c.p, gap, body_.next_to_lowest(c));
    }
    if (body_.needs_witness()) {
      const double gap = f.n.dot(body_.extreme) - f.height;
      if (over(f, body_.extreme, gap)) {
        push(body_.extreme, gap, kWitness);
        firm = true;
      }
    }
    if (bent != 0 && may_touch(f, feature)) firm = clip(f, feature, bent, firm) || firm;
    const bool settled = firm && out.open_count() > 0;
    out.end_patch(f.n, body_.lowest, f.x[0], f.x[1], f.x[2], !firm);
    return settled;
  }

  // True if a point of the body over T, on its feature, is as low as its lowest point, up to a small slope: of the
  // whole feature, or of its edge from the lowest corner to this point.
  bool level(const Facet& f, const Vec3& p, double gap, bool on_lowest_edge) const {
    const double rise = gap - (body_.lowest - f.height);
    if (rise <= tol_ || body_.is_level()) return true;
    return on_lowest_edge && rise <= kLevelSlope * (p - body_.lowest_corner()).norm();
  }

  // True if p lies over T along n_T. A vertex at or behind T may have passed a concave edge: it is behind the
  // neighbour.
  bool over(const Facet& f, const Vec3& p, double gap) const {
    for (int k = 0; k < 3; ++k) {
      if (!f.is_beyond(k, p, tol_)) continue;
      if (gap > kShallow * tol_ || !concave(bend_[k]) || !beyond_concave(f, k, p, -gap)) return false;
    }
    return true;
  }
  static bool concave(Bend bend) { return bend == Bend::dent || bend == Bend::concave; }
  // For p beyond the concave edge k of T: the neighbour has pushed T's border back. Faces that meet at a large angle
  // both stop the body; in a dent the face in which p is deeper has it, up to the plane that halves the angle. Round
  // bodies touch where their cores are.
  bool beyond_concave(const Facet& f, int k, const Vec3& p, double depth) const {
    if (body_.convex.radius > 0) return false;
    Facet other;
    surface_.load(surface_.neighbour(f.id, k), other);
    if (other.n.dot(body_.centre) < other.height) return false;
    const double other_depth = other.height - other.n.dot(p);
    if (other_depth < 0) return false;
    for (int j = 0; j < 3; ++j) {  // over the neighbour too, but for the edge between them
      const bool shared = other.v[j] == f.v[(k + 1) % 3];
      if (!shared && other.beyond(j, p) > tol_ * other.outward[j].norm()) return false;
    }
    if (bend_[k] == Bend::concave) return other_depth <= std::max(kDepthRatio * depth, kShallow * tol_);
    const double cosine = other.n.dot(f.n);
    const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
    return depth >= other_depth - tol_ && f.beyond(k, p) <= f.outward[k].norm() * (depth * sine / cosine + tol_);
  }

  // False if the body's face rises over T too much for level(): most triangles of a bumpy ground.
  bool may_touch(const Facet& f, const Feature& feature) const {
    if (feature.corners.size() < 2) return false;
    if (feature.corners.size() == 2) return true;
    const double scale = 1 / feature.normal.dot(f.n);
    double rise = kInf;
    double distance2 = 0;
    for (const Vec3& x : f.x) {
      rise = std::min(rise, scale * feature.normal.dot(feature.corners[0].p - x));
      distance2 = std::max(distance2, (x - body_.extreme).squaredNorm());
    }
    return rise <= body_.lowest - f.height + 2 * tol_ + kLevelSlope * std::sqrt(distance2);
  }

  // Points on the bent edges and their ends; flat edges end nothing. Appends them if the triangle is firm.
  bool clip(const Facet& f, const Feature& feature, std::uint8_t bent, bool firm) {
    Feature triangle;
    for (int k = 0; k < 3; ++k) triangle.corners.push({f.x[k], k, k});
    triangle.normal = f.n;
    Manifold& m = w_.merge.cluster_points;
    m.clear();
    intersect_features(feature, triangle, -f.n, margin_, tol_, m);
    for (const ManifoldPoint& point : m) {
      firm = firm || level(f, point.p, point.gap, body_.on_lowest_edge(point.key));
    }
    if (!firm) return false;
    for (const ManifoldPoint& point : m) {
      if (!on_bent_edge(point.key, bent)) continue;
      w_.merge.points.push_back({point.p, -f.n, point.gap, with_sub(point.key, static_cast<std::uint32_t>(f.id))});
    }
    return true;
  }
  static bool on_bent_edge(const FeatureKey& key, std::uint8_t bent) {
    const auto kind = static_cast<FeatureKind>(key.lo >> 60);
    const unsigned k = static_cast<unsigned>(key.lo) & 3u;
    if (kind == FeatureKind::edge_edge) return (bent >> k & 1) != 0;
    if (kind != FeatureKind::vertex_b) return false;
    return (bent >> k & 1) != 0 || (bent >> (k + 2) % 3 & 1) != 0;
  }

  // Which edges and vertices may touch on their own follows from the lowest points x_T of the body along the normals of
  // the triangles around them, because s(n) = min over X of n.x - n.y has no local maximum but the global one for a
  // point y outside the body. On the way from n_T to the neighbour's normal s rises at first if x_T lies beyond the
  // edge. So
  //   a maximum inside the wedge of an edge needs x_T beyond the edge from both sides;
  //   one inside the cone of a vertex needs, for all triangles around it, x_T beyond one of the two edges there.
  // Overlapping bodies may have more maxima. At blunt edges those that this leaves out are not the shallow ones; ridges
  // and borders of deep triangles are always asked.

  // The sharp edges of a triangle, each once: from its lower side.
  void collide_edges(const NearTriangle& near, const Facet& f) {
    for (int k = 0; k < 3; ++k) {
      if ((near.sharp & near.climb & 1 << k) == 0) continue;
      const int other = surface_.neighbour(near.id, k);
      if (other < 0) {
        if (near.front) collide_edge(f, k);
        continue;
      }
      if (other < near.id) continue;
      // If the neighbour is not near, its plane separates the edge from the body.
      const NearTriangle* next = find_near(other);
      if (next == nullptr || next->settled || !(near.front || next->front)) continue;
      if ((next->climb & 1 << surface_.corner_of(other, f.v[(k + 1) % 3])) != 0) collide_edge(f, k);
    }
  }

  // The corners of a triangle that have sharp edges, each once: from the lowest triangle with one there.
  void collide_corners(const NearTriangle& near, const Facet& f) {
    for (int k = 0; k < 3; ++k) {
      const int at_corner = edges_at(k);
      if ((near.sharp & at_corner) == 0 || (near.climb & at_corner) == 0) continue;
      bool front = false;
      const bool lone = surface_.all_triangles(f, k, [&](int t, int corner) {
        const NearTriangle* other = t == near.id ? &near : find_near(t);
        if (other == nullptr || other->settled) return false;
        const int there = edges_at(corner);
        front = front || other->front;
        return (other->climb & there) != 0 && !(t < near.id && (other->sharp & there) != 0);
      });
      if (lone && front) collide_edge(f, (near.sharp & 1 << k) != 0 ? k : (k + 2) % 3);
    }
  }
  // Bits of the two edges at corner k.
  static int edges_at(int k) { return 1 << k | 1 << (k + 2) % 3; }

  // Open addressing, at most half full.
  void index_near() {
    std::size_t size = 16;
    while (size < 2 * w_.near.size()) size *= 2;
    w_.near_slot.assign(size, -1);
    for (std::size_t i = 0; i < w_.near.size(); ++i) {
      w_.near_slot[slot_of(w_.near[i].id)] = static_cast<int>(i);
    }
  }
  // Where triangle t is, or would be.
  std::size_t slot_of(int t) const {
    const std::size_t mask = w_.near_slot.size() - 1;
    std::size_t slot = static_cast<std::size_t>(t) * 0x9e3779b97f4a7c15u >> 32 & mask;
    while (w_.near_slot[slot] >= 0 && w_.near[static_cast<std::size_t>(w_.near_slot[slot])].id != t) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
  const NearTriangle* find_near(int t) const {
    const int i = w_.near_slot[slot_of(t)];
    return i >= 0 ? &w_.near[static_cast<std::size_t>(i)] : nullptr;
  }

  // Of several ways out that are normals of the surface, the shortest.
  void collide_edge(const Facet& f, int k) {
    const int next = (k + 1) % 3;
    const double length = f.outward[k].norm();
    const int other = surface_.neighbour(f.id, k);
    const bool border = other < 0;
    const MeshEdge edge{f.x[k], f.x[next], {f.n, border ? Vec3(f.outward[k] / length) : surface_.normal(other)}};
    const Vec3* n2 = border ? nullptr : &edge.n[1];
    const Vec3 along = (edge.b - edge.a) / length;
    EdgeSearch search(body_.convex, body_.centre, edge, margin_, tol_);
    EdgeDirection found;
    EdgeDirection best{Vec3::UnitZ(), -kInf, 0};
    bool whole = false;  // the edge touches, not just one of its ends
    while (best.s < -kShallow * tol_ && search.next(found)) {
      if (found.s <= best.s) continue;
      const bool in_edge = in_wedge(f.n, n2, found.n, along);
      if (!in_edge && !(found.t * length <= tol_ && in_cone(f, k, n2, found.n)) &&
          !((1 - found.t) * length <= tol_ && in_cone(f, next, n2, found.n))) {
        continue;
      }
      best = found;
      whole = in_edge;
    }
    if (best.s == -kInf) return;
    if (whole) {
      touch_edge(f, k, edge, best);
    } else {
      touch_vertex(f, best.t < 0.5 ? k : next, best);
    }
  }

  // True if n is a normal of the surface inside an edge: it leads away from both faces, across the edge.
  bool in_wedge(const Vec3& n1, const Vec3* n2, const Vec3& n, const Vec3& along) const {
    if (std::abs(n.dot(along)) > kLevelSlope) return false;
    if (n.dot(n1.cross(along)) > wedge_slack_) return false;
    if (n2 == nullptr) return n.dot(n1) >= -wedge_slack_;
    return n.dot(along.cross(*n2)) <= wedge_slack_;
  }

  // True if n is a normal of the surface at corner k: it leads away from every edge there.
  bool in_cone(const Facet& f, int k, const Vec3* n2, const Vec3& n) const {
    if (n.dot(f.n) < -wedge_slack_ && (n2 == nullptr || n.dot(*n2) < -wedge_slack_)) return false;
    return surface_.all_links(f.v[k], [&](const Vec3& y) {
      const Vec3 e = y - f.x[k];
      return n.dot(e) <= wedge_slack_ * e.norm();
    });
  }

  void touch_edge(const Facet& f, int k, const MeshEdge& edge, const EdgeDirection& best) {
    const Feature feature = support_feature(body_.convex, -best.n, tol_);
    Feature segment;
    segment.corners.push({edge.a, 3 + k, 3 + k});
    segment.corners.push({edge.b, 3 + (k + 1) % 3, 3 + k});
    Manifold& m = w_.merge.cluster_points;
    m.clear();
    double gap = kInf;
    if (feature.corners.size() > 1) gap = intersect_features(feature, segment, -best.n, margin_, tol_, m);
    const auto sub = static_cast<std::uint32_t>(f.id);
    w_.merge.begin_patch();
    for (const ManifoldPoint& point : m) {
      w_.merge.points.push_back({point.p, -best.n, point.gap, with_sub(point.key, sub)});
    }
    if (gap > best.s + tol_) {
      const Vec3 y = edge.a + best.t * (edge.b - edge.a);
      w_.merge.points.push_back(
          {y + best.s * best.n, -best.n, best.s, with_sub(make_key(FeatureKind::witness, 0, 3 + k), sub)});
    }
    close_edge_patch(best, edge.a, edge.b);
  }

  void touch_vertex(const Facet& f, int k, const EdgeDirection& best) {
    const int v = f.v[k];
    const Vec3& x = f.x[k];
    const int first = surface_.first_triangle(v);
    w_.merge.begin_patch();
    w_.merge.points.push_back({x + best.s * best.n, -best.n, best.s,
                               with_sub(make_key(FeatureKind::vertex_b, 0, 3 + surface_.corner_of(first, v)),
                                        static_cast<std::uint32_t>(first))});
    close_edge_patch(best, x, x);
  }

  void close_edge_patch(const EdgeDirection& best, const Vec3& a, const Vec3& b) {
    w_.merge.end_patch(best.n, best.s + std::max(best.n.dot(a), best.n.dot(b)), a, b, b, false);
  }

  const Surface& surface_;
  ConvexBody body_;
  MeshWorkspace& w_;
  double margin_;
  double tol_;
  double wedge_slack_;
  Bend bend_[3];  // of the triangle at hand
};

// False if more than `most` triangles may touch.
template <class Surface>
bool collide_surface(const PairQuery& q, const Surface& surface, const Vec3& p_BA, std::size_t most, MeshWorkspace& w,
                     Manifold& manifold) {
  PlacedShape a = q.a;
  a.R_WG = q.b.R_WG.transpose() * q.a.R_WG;
  a.p_W = p_BA;
  if (!ConvexMesh<Surface>(q, surface, a.R_WG, w).collide(a, most)) return false;
  drop_patches(w.merge, q.tol);
  merge_patches(w.merge, {points_per_cluster(q.a.kind), kPatchCosine, q.margin, q.tol}, manifold);
  for (ManifoldPoint& point : manifold) {
    point.p = q.b.R_WG * point.p;
    point.n = q.b.R_WG * point.n;
  }
  return true;
}

// The face of a box that the whole mesh lies over, as a plane, from the box's origin; false if there is none.
bool face_below(const PlacedShape& box, const PlacedShape& mesh, const Vec3& p_AB_W, PlacedShape& face) {
  const Mat3 R_AW = box.R_WG.transpose();
  const Aabb over = transformed_box(mesh.mesh->box(), R_AW * mesh.R_WG, R_AW * p_AB_W);
  const Vec3 centre = over.centre();
  for (int k = 0; k < 3; ++k) {
    if (!(std::abs(centre[k]) > box.size[k])) continue;
    for (const int side : {(k + 1) % 3, (k + 2) % 3}) {
      if (!(over.lo[side] >= -box.size[side] && over.hi[side] <= box.size[side])) return false;
    }
    const double sign = centre[k] > 0 ? 1 : -1;
    face.kind = ShapeKind::plane;
    face.R_WG.col(2) = sign * box.R_WG.col(k);
    face.R_WG.col(0) = box.R_WG.col((k + 1) % 3);
    face.R_WG.col(1) = face.R_WG.col(2).cross(face.R_WG.col(0));
    face.p_W = box.size[k] * face.R_WG.col(2);
    return true;
  }
  return false;
}

}  // namespace

void collide_convex_mesh(const PairQuery& q, MeshWorkspace& w, Manifold& manifold) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  const Vec3 p_BA = -(q.b.R_WG.transpose() * q.p_AB_W);  // the body's origin in the mesh's frame
  if (q.b.kind != ShapeKind::mesh) {
    collide_surface(q, FieldSurface(*q.b.field, p_BA), p_BA, kAny, w, manifold);
    return;
  }
  PlacedShape face;
  const bool on_face = q.a.kind == ShapeKind::box && face_below(q.a, q.b, q.p_AB_W, face);
  if (collide_surface(q, MeshSurface(*q.b.mesh, p_BA), p_BA, on_face ? w.many_on_face : kAny, w, manifold)) return;
  const double tol = q.tol * q.b.diagonal / q.a.diagonal;
  collide_plane_mesh({face, q.b, q.p_AB_W - face.p_W, q.margin, tol}, w, manifold);
  for (ManifoldPoint& point : manifold) point.p += face.p_W;
}

}  // namespace sarrus
