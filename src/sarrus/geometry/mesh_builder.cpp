#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "sarrus/geometry/surface_tools.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

using Triangle = TriangleMesh::Triangle;

constexpr double kWeldDistance = 1e-9;  // of the box diagonal
constexpr double kMinArea = 1e-14;      // of its square
// A closed surface whose volume is below this share of area x diagonal is round-off: triangles back to back.
constexpr double kMinVolume = 1e-12;
// Of the diagonal: no thinner set of points has a hull (hull_builder.cpp).
constexpr double kFlatThickness = 1e-6;
// Of the diagonal: corners of an outline that stand out less are on its sides.
constexpr double kRoundOff = 1e-13;

void check_input(std::span<const Vec3> vertices, std::span<const Triangle> triangles, const std::string& element) {
  if (triangles.empty()) throw InputError(element, "the mesh has no triangles; give at least one");
  if (vertices.size() > at(kMaxMeshVertices) || triangles.size() > at(kMaxMeshTriangles)) {
    throw InputError(element, fmt::format("the mesh has {} vertices and {} triangles, more than {} and {}; simplify it "
                                          "or split it into several meshes",
                                          vertices.size(), triangles.size(), kMaxMeshVertices, kMaxMeshTriangles));
  }
  check_coordinates(vertices, element);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (const int v : triangles[t]) {
      if (v >= 0 && at(v) < vertices.size()) continue;
      throw InputError(element, fmt::format("triangle {} refers to vertex {} of {}; use indices from 0 to {}", t, v,
                                            vertices.size(), static_cast<long long>(vertices.size()) - 1));
    }
  }
}

// Rotated so that the lowest index comes first: equal for triangles that are the same up to the choice of corner.
Triangle canonical(const Triangle& t) {
  if (t[1] < t[0] && t[1] < t[2]) return {t[1], t[2], t[0]};
  if (t[2] < t[0] && t[2] < t[1]) return {t[2], t[0], t[1]};
  return t;
}

// Keeps the first of each set of equal triangles.
void drop_repeats(std::vector<Triangle>& triangles) {
  std::vector<int> order(triangles.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<Triangle> key(triangles.size());
  std::transform(triangles.begin(), triangles.end(), key.begin(), canonical);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return key[at(a)] != key[at(b)] ? key[at(a)] < key[at(b)] : a < b; });
  std::vector<bool> repeat(triangles.size(), false);
  for (std::size_t k = 1; k < order.size(); ++k) {
    repeat[at(order[k])] = key[at(order[k])] == key[at(order[k - 1])];
  }
  std::size_t kept = 0;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    if (!repeat[t]) triangles[kept++] = triangles[t];
  }
  triangles.resize(kept);
}

}  // namespace

class MeshBuilder {
 public:
  explicit MeshBuilder(TriangleMesh& mesh) : m_(mesh) {}

  void build(std::span<const Vec3> vertices, std::span<const Triangle> triangles, const std::string& element) {
    check_input(vertices, triangles, element);
    keep_usable(vertices, triangles, element);
    compact(vertices);
    connect();
    classify();
    std::vector<Aabb> boxes(m_.triangles_.size(), Aabb::nothing());
    for (std::size_t t = 0; t < boxes.size(); ++t) {
      for (const int v : m_.triangles_[t]) boxes[t].add(m_.vertex(v));
    }
    std::vector<BvhNode> nodes;
    build_bvh(boxes, nodes, m_.leaf_triangles_);
    describe_parts(nodes);
    build_hull(element);
  }

 private:
  // Triangles in terms of welded input vertices, without degenerate and repeated ones.
  void keep_usable(std::span<const Vec3> vertices, std::span<const Triangle> triangles, const std::string& element) {
    std::vector<bool> used(vertices.size(), false);
    Aabb box = Aabb::nothing();
    for (const Triangle& t : triangles) {
      for (const int v : t) {
        used[at(v)] = true;
        box.add(vertices[at(v)]);
      }
    }
    diagonal_ = box.diagonal();
    if (diagonal_ < kMinShapeSize) {
      throw InputError(element, fmt::format("the mesh is {} m large; check the unit of length", diagonal_));
    }
    const std::vector<int> weld = weld_points(vertices, used, box.lo, kWeldDistance * diagonal_);
    const double min_cross = 2 * kMinArea * diagonal_ * diagonal_;
    m_.triangles_.reserve(triangles.size());
    for (const Triangle& t : triangles) {
      const Triangle w = {weld[at(t[0])], weld[at(t[1])], weld[at(t[2])]};
      const Vec3& a = vertices[at(w[0])];
      if ((vertices[at(w[1])] - a).cross(vertices[at(w[2])] - a).norm() >= min_cross) m_.triangles_.push_back(w);
    }
    drop_repeats(m_.triangles_);
    m_.triangles_.shrink_to_fit();
    m_.dropped_ = static_cast<int>(triangles.size() - m_.triangles_.size());
    if (m_.triangles_.empty()) {
      throw InputError(element, fmt::format("all {} triangles of the mesh have no area; check its vertices and indices",
                                            triangles.size()));
    }
  }

  // Leaves out vertices that no triangle uses.
  void compact(std::span<const Vec3> vertices) {
    std::vector<int> id(vertices.size(), -1);
    for (const Triangle& t : m_.triangles_) {
      for (const int v : t) id[at(v)] = 0;
    }
    m_.box_ = Aabb::nothing();
    for (std::size_t v = 0; v < id.size(); ++v) {
      if (id[v] < 0) continue;
      id[v] = static_cast<int>(m_.vertices_.size());
      m_.vertices_.push_back(vertices[v]);
      m_.box_.add(vertices[v]);
      m_.outer_radius_ = std::max(m_.outer_radius_, vertices[v].norm());
    }
    m_.vertices_.shrink_to_fit();
    m_.normals_.reserve(m_.triangles_.size());
    for (Triangle& t : m_.triangles_) {
      for (int& v : t) v = id[at(v)];
      const Vec3& a = m_.vertex(t[0]);
      m_.normals_.push_back((m_.vertex(t[1]) - a).cross(m_.vertex(t[2]) - a).normalized());
    }
  }

  // Neighbours across edges, rings and links of vertices, and the first edge that is not used once each way.
  void connect() {
    const int vertex_count = static_cast<int>(m_.vertices_.size());
    std::vector<int> tail;
    std::vector<int> head;
    for (const Triangle& t : m_.triangles_) {
      tail.insert(tail.end(), t.begin(), t.end());
      head.insert(head.end(), {t[1], t[2], t[0]});
    }
    const std::vector<EdgeUse> uses = sorted_edge_uses(tail, head, vertex_count);
    m_.neighbours_.assign(m_.triangles_.size(), {-1, -1, -1});
    for (std::size_t k = 0; k < uses.size();) {
      std::size_t end = k + 1;
      while (end < uses.size() && uses[end].same_edge(uses[k])) ++end;
      if (end - k == 2 && uses[k].forward != uses[k + 1].forward) {
        pair(uses[k].side, uses[k + 1].side);
        pair(uses[k + 1].side, uses[k].side);
      } else if (edges_paired_) {
        edges_paired_ = false;
        m_.open_edge_ = {m_.vertex(uses[k].lo), m_.vertex(uses[k].hi)};
      }
      k = end;
    }
    link_rows(uses, vertex_count, m_.link_begin_, m_.link_);
    fill_rings(tail);
    measure_bends();
  }

  void pair(int side, int other) { m_.neighbours_[at(side / 3)][at(side % 3)] = other / 3; }

  void measure_bends() {
    m_.bends_.assign(m_.triangles_.size(), {Bend::border, Bend::border, Bend::border});
    for (int t = 0; t < m_.triangle_count(); ++t) {
      for (int k = 0; k < 3; ++k) {
        const int other = m_.neighbour(t, k);
        if (other < 0) continue;
        const Vec3& x = m_.corner(t, k);
        const Vec3 outward = (m_.corner(t, (k + 1) % 3) - x).cross(m_.normal(t));
        m_.bends_[at(t)][at(k)] = bend_across(m_.normal(t), x, outward, m_.vertex(far_corner(t, k, other)));
      }
    }
  }
  // The corner of `other` that is not on edge k of t.
  int far_corner(int t, int k, int other) const {
    for (const int v : m_.triangle(other)) {
      if (v != m_.triangle(t)[at(k)] && v != m_.triangle(t)[at((k + 1) % 3)]) return v;
    }
    return m_.triangle(other)[0];
  }

  void fill_rings(const std::vector<int>& corners) {
    m_.ring_begin_.assign(m_.vertices_.size() + 1, 0);
    for (const int v : corners) ++m_.ring_begin_[at(v) + 1];
    std::partial_sum(m_.ring_begin_.begin(), m_.ring_begin_.end(), m_.ring_begin_.begin());
    std::vector<int> next(m_.ring_begin_.begin(), m_.ring_begin_.end() - 1);
    m_.ring_.resize(corners.size());
    for (std::size_t k = 0; k < corners.size(); ++k) m_.ring_[at(next[at(corners[k])]++)] = static_cast<int>(k / 3);
  }

  // What the nodes of the tree tell of their triangles.
  void describe_parts(std::span<const BvhNode> tree) {
    const std::vector<Surroundings> around = surroundings();
    m_.nodes_.resize(tree.size());
    std::vector<std::array<int, 2>> range(tree.size());  // of each node in the leaf triangles
    for (std::size_t n = tree.size(); n-- > 0;) {        // children come after their parents
      const BvhNode& node = tree[n];
      range[n] = node.count > 0 ? std::array{node.first, node.first + node.count}
                                : std::array{range[n + 1][0], range[at(node.first)][1]};
      const auto first = at(range[n][0]);
      const auto triangles = std::span<const int>(m_.leaf_triangles_).subspan(first, at(range[n][1]) - first);
      m_.nodes_[n] = {part_of(triangles, node.box, around), node.first, node.count};
    }
  }

  // Of one triangle or vertex.
  struct Surroundings {
    double spread = 0;   // at least the largest |n - own normal| around it; kAnySpread or more where the surface ends
    bool sharp = false;  // see SurfacePart
  };

  std::vector<Surroundings> surroundings() const {
    std::vector<Vec3> mean(m_.vertices_.size());  // of the normals around each vertex
    std::vector<Surroundings> corner(m_.vertices_.size());
    for (int v = 0; v < static_cast<int>(mean.size()); ++v) {
      const std::span<const int> ring = m_.triangles_of(v);
      Vec3 sum = Vec3::Zero();
      for (const int t : ring) sum += m_.normal(t);
      mean[at(v)] = sum / static_cast<double>(ring.size());
      for (const int t : ring) {
        corner[at(v)].spread = std::max(corner[at(v)].spread, (m_.normal(t) - mean[at(v)]).norm());
        for (int k = 0; k < 3; ++k) {
          if (m_.bend(t, k) > Bend::dent) corner[at(v)].sharp = true;
          if (m_.bend(t, k) == Bend::border) corner[at(v)].spread = SurfacePart::kAnySpread;
        }
      }
    }
    std::vector<Surroundings> around(m_.triangles_.size());
    for (int t = 0; t < m_.triangle_count(); ++t) {
      for (const int v : m_.triangle(t)) {
        const double spread = (mean[at(v)] - m_.normal(t)).norm() + corner[at(v)].spread;
        around[at(t)].spread = std::max(around[at(t)].spread, spread);
        around[at(t)].sharp = around[at(t)].sharp || corner[at(v)].sharp;
      }
    }
    return around;
  }

  SurfacePart part_of(std::span<const int> triangles, const Aabb& box, const std::vector<Surroundings>& around) const {
    SurfacePart part;
    const Vec3 origin = m_.part_origin();
    part.set_box({box.lo - origin, box.hi - origin}, diagonal_);
    Vec3 area = Vec3::Zero();
    for (const int t : triangles) {
      const Vec3& a = m_.corner(t, 0);
      area += (m_.corner(t, 1) - a).cross(m_.corner(t, 2) - a);
    }
    if (area.squaredNorm() > 0) part.set_mean(area.normalized());
    const Vec3 mean = part.mean_normal();
    const Vec3 middle = origin + part.middle_point();
    double spread = 0;
    double low = kInf;
    double high = -kInf;
    double rim = 0;
    part.sharp = false;
    for (const int t : triangles) {
      spread = std::max(spread, (m_.normal(t) - mean).norm() + around[at(t)].spread);
      part.sharp = part.sharp || around[at(t)].sharp;
      for (int k = 0; k < 3; ++k) {
        const double height = mean.dot(m_.corner(t, k) - middle);
        low = std::min(low, height);
        high = std::max(high, height);
        if (m_.bend(t, k) != Bend::dent && m_.bend(t, k) != Bend::concave) continue;
        const Vec3& far = m_.vertex(far_corner(t, k, m_.neighbour(t, k)));
        rim = std::max(rim, (box.lo - far).cwiseMax(far - box.hi).maxCoeff());
      }
    }
    part.set_spread(spread);
    part.set_heights(low, high, diagonal_);
    part.set_rim(rim);
    return part;
  }

  // Of all vertices, or of far ones if a hull may not have so many as it would need. Of a flat mesh there is none: no
  // reason to refuse it.
  void build_hull(const std::string& element) {
    const auto try_build = [&](std::span<const Vec3> points) {
      try {
        m_.hull_ = ConvexHull::build(points, element);
      } catch (const InputError&) {
        m_.hull_ = nullptr;
      }
      return m_.hull_ != nullptr;
    };
    // Vertices that are farthest along some direction are vertices of the hull: if they prove that there are too many,
    // the attempt is saved.
    const bool large = m_.vertices_.size() > at(kMaxHullVertices);
    const bool too_large = large && far_vertices(2 * kMaxHullVertices).size() > at(kMaxHullVertices);
    if (!too_large && try_build(m_.vertices_)) return;
    if (large) {
      const std::vector<int> far = far_vertices(kMaxHullVertices);
      std::vector<Vec3> points;
      for (const int v : far) points.push_back(m_.vertex(v));
      if (try_build(points)) return note_hull_vertices(far);
    }
    outline_flat();
  }

  // Vertices in ascending order that are farthest along some of `directions` directions spread evenly over the sphere:
  // points of a spiral with the golden angle between them. As soon as fewer than half of the directions bring in a new
  // one, there is nothing to be gained from more; so they are taken in strides.
  std::vector<int> far_vertices(int directions) const {
    constexpr int few = 1024;
    constexpr long stride = 81001;  // a prime
    const double turn = std::numbers::pi * (3 - std::sqrt(5.0));
    std::vector<bool> found(m_.vertices_.size(), false);
    std::vector<int> far;
    int guess = 0;
    long visited = 0;
    for (int k = 0; k < directions; ++k) {
      const auto i = static_cast<double>(k * stride % directions);
      const double z = 1 - (2 * i + 1) / directions;
      const double r = std::sqrt(1 - z * z);
      guess = m_.support({r * std::cos(turn * i), r * std::sin(turn * i), z}, guess, visited);
      if (!found[at(guess)]) far.push_back(guess);
      found[at(guess)] = true;
      if (k >= few && 2 * far.size() < at(k)) break;
    }
    std::sort(far.begin(), far.end());
    return far;
  }

  // The vertices of the hull are some of the points it was built from, in their order.
  void note_hull_vertices(const std::vector<int>& far) {
    auto next = far.begin();
    for (const Vec3& x : m_.hull_->vertices()) {
      while (m_.vertex(*next) != x) ++next;
      m_.outline_.push_back(*next++);
    }
  }

  // The corners of the convex polygon around a flat mesh; all vertices of one that has no hull and is not flat.
  void outline_flat() {
    const auto farthest = [&](const auto& distance) {
      return *std::max_element(m_.vertices_.begin(), m_.vertices_.end(),
                               [&](const Vec3& x, const Vec3& y) { return distance(x) < distance(y); });
    };
    const Vec3 a = farthest([&](const Vec3& x) { return (x - m_.vertex(0)).norm(); });
    const Vec3 u = (farthest([&](const Vec3& x) { return (x - a).norm(); }) - a).normalized();
    const Vec3 c = farthest([&](const Vec3& x) { return u.cross(x - a).norm(); });
    const Vec3 n = u.cross(c - a).normalized();
    const double thickness = std::abs(n.dot(farthest([&](const Vec3& x) { return std::abs(n.dot(x - a)); }) - a));
    std::vector<int>& corners = m_.outline_;
    corners.resize(m_.vertices_.size());
    std::iota(corners.begin(), corners.end(), 0);
    if (thickness > kFlatThickness * diagonal_) return;
    // Both halves of the polygon by Andrew's chains.
    const Vec3 v = n.cross(u);
    const auto along = [&](int i) { return Vec2(u.dot(m_.vertex(i) - a), v.dot(m_.vertex(i) - a)); };
    std::vector<int> order = corners;
    std::sort(order.begin(), order.end(), [&](int i, int j) {
      const Vec2 x = along(i);
      const Vec2 y = along(j);
      return x.x() != y.x() ? x.x() < y.x() : x.y() < y.y();
    });
    corners.clear();
    for (const double side : {1.0, -1.0}) {
      const std::size_t start = corners.size();
      for (const int i : order) {
        while (corners.size() >= start + 2) {
          const Vec2 e = along(corners.back()) - along(*(corners.end() - 2));
          const Vec2 f = along(i) - along(corners.back());
          if (side * (e.x() * f.y() - e.y() * f.x()) > kRoundOff * diagonal_ * (e + f).norm()) break;
          corners.pop_back();
        }
        corners.push_back(i);
      }
    }
    std::sort(corners.begin(), corners.end());
    corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  }

  void classify() {
    if (!edges_paired_) return;
    double area = 0;
    for (const Triangle& t : m_.triangles_) {
      const Vec3& a = m_.vertex(t[0]);
      area += 0.5 * (m_.vertex(t[1]) - a).cross(m_.vertex(t[2]) - a).norm();
    }
    const double volume = surface_mass_properties(m_.vertices_, m_.triangles_).volume;
    m_.encloses_nothing_ = std::abs(volume) <= kMinVolume * area * diagonal_;
    if (m_.encloses_nothing_) {
      m_.open_edge_ = {m_.corner(0, 0), m_.corner(0, 1)};
    } else {
      m_.surface_ = volume > 0 ? TriangleMesh::Surface::closed : TriangleMesh::Surface::inverted;
    }
  }

  TriangleMesh& m_;
  double diagonal_ = 0;
  bool edges_paired_ = true;
};

std::shared_ptr<const TriangleMesh> TriangleMesh::build(std::span<const Vec3> vertices,
                                                        std::span<const Triangle> triangles,
                                                        const std::string& element) {
  const auto mesh = std::make_shared<TriangleMesh>();
  MeshBuilder(*mesh).build(vertices, triangles, element);
  return mesh;
}

}  // namespace sarrus
