#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
    build_bvh(boxes, m_.nodes_, m_.leaf_triangles_);
    try {
      m_.hull_ = ConvexHull::build(m_.vertices_, element);
    } catch (const InputError&) {
      m_.hull_ = nullptr;  // flat, or too many vertices: no reason to refuse the mesh
    }
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
