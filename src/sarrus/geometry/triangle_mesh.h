// Triangle meshes for collision: welded, with adjacency and a static bounding volume hierarchy
// (docs/theory/collision.md §6).
//
// Triangles are one-sided: CCW seen from outside. Building welds vertices closer than 1e-9 of the box diagonal, drops
// triangles with an area below 1e-14 diagonal^2 and duplicates of a triangle, and keeps the order of what is left, so
// a triangle's index is a stable feature id.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sarrus/geometry/aabb.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/mass_properties.h"
#include "sarrus/geometry/surface_part.h"
#include "sarrus/math/types.h"

namespace sarrus {

inline constexpr int kMaxMeshTriangles = 5'000'000;
inline constexpr int kMaxMeshVertices = 5'000'000;
// Of the diagonal. Parts of a mesh are described in single precision: of a flat face all would have to be asked for the
// last digits.
inline constexpr double kSupportSlack = 3e-7;

// How a triangulated surface goes on across an edge (docs/theory/collision.md §6).
// A dent is concave by less than 30 degrees, a ridge is convex by more, a border is an edge without a neighbour.
enum class Bend : std::uint8_t { flat, dent, concave, convex, ridge, border };

// Turns of less than this, as a tangent, are flat: over a body of size L they move the surface by less than 5e-6 L.
inline constexpr double kFlatBend = 1e-6;
inline constexpr double kSteepBend = 0.57735026918962576;  // 30 degrees

// Across the edge through x of a triangle with unit normal n, to a neighbour with the far corner y. `outward` points
// across the edge in the plane of the triangle and is as long as the edge.
inline Bend bend_across(const Vec3& n, const Vec3& x, const Vec3& outward, const Vec3& y) {
  const double rise = n.dot(y - x);
  const double reach = outward.dot(y - x);  // rise |outward| / reach is the tangent
  const double rise2 = rise * rise * outward.squaredNorm();
  if (rise2 <= kFlatBend * kFlatBend * reach * reach) return reach > 0 ? Bend::flat : Bend::ridge;  // or folded back
  const bool steep = reach <= 0 || rise2 > kSteepBend * kSteepBend * reach * reach;
  if (rise > 0) return steep ? Bend::concave : Bend::dent;
  return steep ? Bend::ridge : Bend::convex;
}

// Static hierarchy of boxes over triangles: binned surface-area heuristic, flat array, depth first: the left child
// follows its parent.
struct BvhNode {
  Aabb box;
  int first;  // of a leaf: of its items in the item array; of an inner node: index of the right child
  int count;  // items of a leaf, 0 for an inner node
};

// No path from the root is longer: traversal needs no more than this many open nodes.
inline constexpr int kMaxBvhDepth = 64;

// `boxes` must not be empty. `items` becomes a permutation of their indices.
void build_bvh(std::span<const Aabb> boxes, std::vector<BvhNode>& nodes, std::vector<int>& items);

class TriangleMesh {
 public:
  using Triangle = std::array<int, 3>;

  // What the surface is, as far as its mass is concerned.
  enum class Surface : std::uint8_t { closed, inverted, open };

  // Throws InputError(element, ...) for no usable triangle, an index out of range, non-finite or huge coordinates, or
  // more than the limits above; the message names the remedy.
  static std::shared_ptr<const TriangleMesh> build(std::span<const Vec3> vertices, std::span<const Triangle> triangles,
                                                   const std::string& element);

  int triangle_count() const { return static_cast<int>(triangles_.size()); }
  std::span<const Vec3> vertices() const { return vertices_; }
  std::span<const Triangle> triangles() const { return triangles_; }
  const Vec3& vertex(int v) const { return vertices_[static_cast<std::size_t>(v)]; }
  const Triangle& triangle(int t) const { return triangles_[static_cast<std::size_t>(t)]; }
  const Vec3& corner(int t, int k) const { return vertex(triangle(t)[static_cast<std::size_t>(k)]); }
  Aabb triangle_box(int t) const {
    const Vec3& a = corner(t, 0);
    const Vec3& b = corner(t, 1);
    const Vec3& c = corner(t, 2);
    return {a.cwiseMin(b).cwiseMin(c), a.cwiseMax(b).cwiseMax(c)};
  }
  // Outward unit normal.
  const Vec3& normal(int t) const { return normals_[static_cast<std::size_t>(t)]; }
  // Triangle on the other side of the edge from corner k to corner k+1: -1 at a border and at edges that more than
  // two triangles share or that two traverse in the same direction.
  int neighbour(int t, int k) const { return neighbours_[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)]; }
  // Towards that neighbour.
  Bend bend(int t, int k) const { return bends_[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)]; }
  // Triangles around a vertex, ascending.
  std::span<const int> triangles_of(int vertex) const { return row(ring_begin_, ring_, vertex); }
  // Vertices connected to a vertex by an edge, ascending.
  std::span<const int> vertex_neighbours(int vertex) const { return row(link_begin_, link_, vertex); }

  // Appends the triangles whose boxes overlap or touch `box` (mesh frame), in ascending order. No allocation beyond
  // the growth of `found`.
  void find_triangles(const Aabb& box, std::vector<int>& found) const;
  // The same without the triangles of parts that keep(part) is false for. It is asked about a part only after all
  // larger ones around it. Parts are measured from part_origin().
  template <class Keep>
  void find_triangles(const Aabb& box, const Keep& keep, std::vector<int>& found) const;

  // A vertex with the largest l.x, or one that is as far up to kSupportSlack; l need not be unit. `guess` is any
  // vertex: a good one saves time, and of several that are equally far it is preferred. `visited` grows by the number
  // of parts looked at.
  int support(const Vec3& l, int guess, long& visited) const;
  // Calls visit(v) for the vertices with n.x <= limit, some of them several times, until it returns false.
  template <class Visit>
  void visit_vertices_below(const Vec3& n, double limit, const Visit& visit, long& visited) const;

  Vec3 part_origin() const { return box_.centre(); }
  const Aabb& box() const { return box_; }
  double outer_radius() const { return outer_radius_; }  // farthest vertex from the frame's origin, m
  int dropped_triangles() const { return dropped_; }     // degenerate or repeated ones left out by build()
  Surface surface() const { return surface_; }
  // For an open surface: one of its edges that is not used once in each direction, for messages. A surface that
  // encloses no volume (triangles back to back) counts as open too.
  std::array<Vec3, 2> open_edge() const { return open_edge_; }
  // Of the solid inside. Throws InputError(element, ...) if the surface is open or inverted, naming the remedy.
  MassProperties mass_properties(const std::string& element) const;
  // Its convex hull; null if all vertices lie in a plane. One that would need more than kMaxHullVertices vertices is
  // the hull of as many far ones: of a sphere it is inside by 4e-5 of the radius.
  const std::shared_ptr<const ConvexHull>& hull() const { return hull_; }
  bool hull_is_whole() const { return hull_ != nullptr && outline_.empty(); }
  // Far vertices, ascending: of a flat mesh those that no others surround; of one whose hull is not whole those of the
  // hull, in its order; of others none.
  std::span<const int> outline() const { return outline_; }

 private:
  friend class MeshBuilder;
  struct alignas(64) Node {
    SurfacePart part;
    int first;  // as in BvhNode
    int count;
  };
  // Calls visit(triangles) for every leaf that enter(part) leads to, the left child first.
  template <class Enter, class Visit>
  void descend(const Enter& enter, const Visit& visit) const;
  static std::span<const int> row(const std::vector<int>& begin, const std::vector<int>& x, int i) {
    const auto k = static_cast<std::size_t>(i);
    return std::span<const int>(x).subspan(static_cast<std::size_t>(begin[k]),
                                           static_cast<std::size_t>(begin[k + 1] - begin[k]));
  }

  std::vector<Vec3> vertices_;
  std::vector<Triangle> triangles_;
  std::vector<Vec3> normals_;
  std::vector<std::array<int, 3>> neighbours_;
  std::vector<std::array<Bend, 3>> bends_;
  std::vector<int> ring_begin_;
  std::vector<int> ring_;
  std::vector<int> link_begin_;
  std::vector<int> link_;
  std::vector<Node> nodes_;
  std::vector<int> leaf_triangles_;
  Aabb box_;
  double outer_radius_ = 0;
  int dropped_ = 0;
  Surface surface_ = Surface::open;
  bool encloses_nothing_ = false;  // every edge is paired, but the volume is zero: counted as open
  std::array<Vec3, 2> open_edge_ = {Vec3::Zero(), Vec3::Zero()};
  std::shared_ptr<const ConvexHull> hull_;
  std::vector<int> outline_;
};

template <class Enter, class Visit>
void TriangleMesh::descend(const Enter& enter, const Visit& visit) const {
  std::array<int, kMaxBvhDepth> open{};  // right children still to visit
  std::size_t open_count = 0;
  int n = 0;
  for (;;) {
    const Node& node = nodes_[static_cast<std::size_t>(n)];
    if (enter(node.part)) {
      if (node.count == 0) {
        open[open_count++] = node.first;
        ++n;
        continue;
      }
      visit(std::span<const int>(leaf_triangles_)
                .subspan(static_cast<std::size_t>(node.first), static_cast<std::size_t>(node.count)));
    }
    if (open_count == 0) return;
    n = open[--open_count];
  }
}

template <class Visit>
void TriangleMesh::visit_vertices_below(const Vec3& n, double limit, const Visit& visit, long& visited) const {
  bool goes_on = true;
  const double part_limit = limit - n.dot(part_origin());
  const auto enter = [&](const SurfacePart& part) {
    ++visited;
    return goes_on && -part.reach(-n) <= part_limit;
  };
  descend(enter, [&](std::span<const int> triangles) {
    for (const int t : triangles) {
      for (const int v : triangle(t)) {
        if (goes_on && n.dot(vertex(v)) <= limit) goes_on = visit(v);
      }
    }
  });
}

template <class Keep>
void TriangleMesh::find_triangles(const Aabb& box, const Keep& keep, std::vector<int>& found) const {
  const auto start = static_cast<std::ptrdiff_t>(found.size());
  const Aabb from_origin = {box.lo - part_origin(), box.hi - part_origin()};
  const auto enter = [&](const SurfacePart& part) { return boxes_near(part.box(), from_origin, 0) && keep(part); };
  descend(enter, [&](std::span<const int> triangles) {
    for (const int t : triangles) {
      if (boxes_near(triangle_box(t), box, 0)) found.push_back(t);
    }
  });
  std::sort(found.begin() + start, found.end());
}

}  // namespace sarrus
