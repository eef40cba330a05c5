// Planes against meshes, by few of their vertices: all that is asked of a mesh are its lowest vertex, far ones and
// those below a height, which its hull or its tree answer without looking at the others.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sarrus/collision/mesh_pairs.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr double kFaceClusterCosine = 0.98480775301220806;  // 10 degrees
// Faces whose slopes against the plane differ by less than this count as equal: the first one stands for the vertex.
constexpr double kSameSlope = 1e-3;
// More vertices within the margin than this are thinned out before they become patches: 64 cost some 5 us.
constexpr int kMaxCandidates = 64;
constexpr int kFewCandidates = 16;
constexpr int kOutlineDirections = 8;
// Steepest slopes of an outline's vertices against the plane, tried from 1 down to 4^-10.
constexpr int kOutlineSlopes = 11;

// Vertices that were found in this query: each once.
class FoundVertices {
 public:
  FoundVertices(int vertex_count, MeshWorkspace& w) : w_(w) {
    w.vertices.clear();
    if (w.stamp.size() < at(vertex_count)) w.stamp.resize(at(vertex_count), 0);
    if (w.query == std::numeric_limits<int>::max()) {
      std::fill(w.stamp.begin(), w.stamp.end(), 0);
      w.query = 0;
    }
    ++w.query;
  }
  // False if it is one too many.
  bool add(int v) {
    ++w_.work.vertices;
    if (w_.stamp[at(v)] == w_.query) return true;
    if (w_.vertices.size() == at(kMaxCandidates)) return false;
    w_.stamp[at(v)] = w_.query;
    w_.vertices.push_back(v);
    return true;
  }

 private:
  MeshWorkspace& w_;
};

// The vertices of a mesh's hull ...
class HullVertices {
 public:
  HullVertices(const ConvexHull& hull, MeshWorkspace& w) : hull_(hull), w_(w) {}

  const Vec3& vertex(int v) const { return hull_.vertex(v); }
  int far(const Vec3& l) const {
    ++w_.work.vertices;
    return hull_.support(l);
  }
  int lowest(const Vec3& n) const { return far(-n); }

  // Those with n.x <= limit into the workspace, breadth first from the lowest: sublevel sets of a polytope's graph are
  // connected. False, with some of them, if there are too many.
  bool find_below(const Vec3& n, int lowest, double limit) const {
    FoundVertices found(hull_.vertex_count(), w_);
    if (!(n.dot(hull_.vertex(lowest)) <= limit)) return true;
    found.add(lowest);
    for (std::size_t k = 0; k < w_.vertices.size(); ++k) {
      for (const int v : hull_.neighbours(w_.vertices[k])) {
        if (n.dot(hull_.vertex(v)) <= limit && !found.add(v)) return false;
      }
    }
    return true;
  }

  // Normal of the face around v that looks most along -n.
  Vec3 lowest_face(int v, const Vec3& n) const {
    double least = kInf;
    for (const int f : hull_.faces_of(v)) least = std::min(least, n.dot(hull_.faces()[at(f)].normal));
    for (const int f : hull_.faces_of(v)) {
      const Vec3& normal = hull_.faces()[at(f)].normal;
      if (n.dot(normal) <= least + kSameSlope) return normal;
    }
    return -n;
  }

 private:
  const ConvexHull& hull_;
  MeshWorkspace& w_;
};

// ... the corners of a flat mesh's outline ...
class OutlineVertices {
 public:
  OutlineVertices(const TriangleMesh& mesh, MeshWorkspace& w) : mesh_(mesh), w_(w) {}

  const Vec3& vertex(int v) const { return mesh_.vertex(v); }
  int far(const Vec3& l) const {
    w_.work.vertices += static_cast<long>(mesh_.outline().size());
    return *std::max_element(mesh_.outline().begin(), mesh_.outline().end(),
                             [&](int a, int b) { return l.dot(vertex(a)) < l.dot(vertex(b)); });
  }
  int lowest(const Vec3& n) const { return far(-n); }
  bool find_below(const Vec3& n, int, double limit) const {
    FoundVertices found(static_cast<int>(mesh_.vertices().size()), w_);
    return std::all_of(mesh_.outline().begin(), mesh_.outline().end(),
                       [&](int v) { return !(n.dot(vertex(v)) <= limit) || found.add(v); });
  }
  static Vec3 lowest_face(int, const Vec3& n) { return -n; }

 private:
  const TriangleMesh& mesh_;
  MeshWorkspace& w_;
};

// ... and all vertices of a mesh whose hull would have too many: its hull has those of the outline.
class AllVertices {
 public:
  AllVertices(const TriangleMesh& mesh, MeshWorkspace& w) : mesh_(mesh), w_(w) {}

  const Vec3& vertex(int v) const { return mesh_.vertex(v); }
  int far(const Vec3& l) const {
    ++w_.work.vertices;
    return mesh_.outline()[at(mesh_.hull()->support(l))];
  }
  int lowest(const Vec3& n) const { return mesh_.support(-n, far(-n), w_.work.parts); }
  bool find_below(const Vec3& n, int, double limit) const {
    FoundVertices found(static_cast<int>(mesh_.vertices().size()), w_);
    bool complete = true;
    const auto add = [&](int v) { return complete = found.add(v); };
    mesh_.visit_vertices_below(n, limit, add, w_.work.parts);
    return complete;
  }
  static Vec3 lowest_face(int, const Vec3& n) { return -n; }

 private:
  const TriangleMesh& mesh_;
  MeshWorkspace& w_;
};

template <class Vertices>
class PlaneMesh {
 public:
  PlaneMesh(const PairQuery& q, const Vertices& vertices, MeshWorkspace& w)
      : q_(q),
        vertices_(vertices),
        w_(w),
        n_(q.a.R_WG.col(2)),
        n_B_(q.b.R_WG.transpose() * n_),
        height_(n_.dot(q.p_AB_W)) {}

  void collide(Manifold& manifold) {
    w_.merge.clear();
    find_candidates();
    for (const int v : w_.vertices) touch(v);
    merge_patches(w_.merge, {4, kFaceClusterCosine, q_.margin, q_.tol}, manifold);
  }

 private:
  double gap(int v) const { return height_ + n_B_.dot(vertices_.vertex(v)); }

  // In ascending order.
  void find_candidates() {
    const int lowest = vertices_.lowest(n_B_);
    if (!vertices_.find_below(n_B_, lowest, q_.margin - height_)) thin_out(lowest);
    std::sort(w_.vertices.begin(), w_.vertices.end());
    w_.vertices.erase(std::unique(w_.vertices.begin(), w_.vertices.end()), w_.vertices.end());
  }

  void thin_out(int lowest) {
    const double deepest = gap(lowest);
    const auto find_within = [&](double span) { return vertices_.find_below(n_B_, lowest, deepest + span - height_); };
    double span = q_.tol;
    const bool level = !find_within(span);  // a flat part with many vertices
    while (!level && w_.vertices.size() < at(kFewCandidates)) {
      if (find_within(4 * span)) {
        span *= 4;
      } else {
        find_within(span);
        break;
      }
    }
    if (level) w_.vertices.clear();
    bool has_lowest = !level;
    for (int k = 0; k < kOutlineDirections; k += level ? 1 : 2) {
      has_lowest = add_outline(k, deepest, level) || has_lowest;
    }
    if (!has_lowest) w_.vertices.push_back(lowest);
  }

  // The farthest vertex in one direction that is within the margin, and with `level` the farthest of the lowest ones:
  // true if there is one.
  bool add_outline(int k, double deepest, bool level) {
    // Aslant to the axes, along which the sides of flat parts often run: their corners are the farthest then.
    const double angle = (k + 0.3) * 2 * std::numbers::pi / kOutlineDirections;
    const Mat3 frame = contact_frame(n_B_);
    const Vec3 t = std::cos(angle) * frame.col(0) + std::sin(angle) * frame.col(1);
    double slope = 1;
    bool within = false;
    for (int i = 0; i < kOutlineSlopes; ++i) {
      const int v = vertices_.far(slope * t - n_B_);
      slope *= 0.25;
      if (gap(v) > q_.margin) continue;
      if (!within) w_.vertices.push_back(v);
      within = true;
      if (!level) return false;
      if (gap(v) > deepest + q_.tol) continue;
      w_.vertices.push_back(v);
      return true;
    }
    return false;
  }

  void touch(int v) {
    const Vec3& x = vertices_.vertex(v);
    const double d = gap(v);
    if (!(d <= q_.margin)) return;
    w_.merge.begin_patch();
    w_.merge.points.push_back({q_.p_AB_W + (q_.b.R_WG * x - d * n_), n_, d, make_key(FeatureKind::vertex_b, 0, v)});
    w_.merge.end_patch(vertices_.lowest_face(v, n_B_), 0, x, x, x, false);
  }

  const PairQuery& q_;
  const Vertices& vertices_;
  MeshWorkspace& w_;
  Vec3 n_;
  Vec3 n_B_;       // in the mesh's axes
  double height_;  // of the mesh's origin
};

}  // namespace

void collide_plane_mesh(const PairQuery& q, MeshWorkspace& w, Manifold& manifold) {
  const TriangleMesh& mesh = *q.b.mesh;
  if (mesh.hull() == nullptr) {
    PlaneMesh(q, OutlineVertices(mesh, w), w).collide(manifold);
  } else if (mesh.hull_is_whole()) {
    PlaneMesh(q, HullVertices(*mesh.hull(), w), w).collide(manifold);
  } else {
    PlaneMesh(q, AllVertices(mesh, w), w).collide(manifold);
  }
}

}  // namespace sarrus
