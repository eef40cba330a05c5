#include <algorithm>
#include <limits>

#include "sarrus/collision/mesh_pairs.h"

namespace sarrus {
namespace {

constexpr double kFaceClusterCosine = 0.98480775301220806;  // 10 degrees
// Faces whose slopes against the plane differ by less than this count as equal: the first one stands for the vertex.
constexpr double kSameSlope = 1e-3;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Vertices v of the hull with n.v <= limit, breadth first from the lowest: sublevel sets of a polytope's graph are
// connected.
void vertices_below(const ConvexHull& hull, const Vec3& n, double limit, MeshWorkspace& w) {
  std::vector<int>& found = w.triangles;
  const int lowest = hull.support(-n);
  if (!(n.dot(hull.vertex(lowest)) <= limit)) return;
  if (w.stamp.size() < at(hull.vertex_count())) w.stamp.resize(at(hull.vertex_count()), 0);
  if (w.query == std::numeric_limits<int>::max()) {
    std::fill(w.stamp.begin(), w.stamp.end(), 0);
    w.query = 0;
  }
  ++w.query;
  found.push_back(lowest);
  w.stamp[at(lowest)] = w.query;
  for (std::size_t k = 0; k < found.size(); ++k) {
    for (const int v : hull.neighbours(found[k])) {
      if (w.stamp[at(v)] == w.query || n.dot(hull.vertex(v)) > limit) continue;
      w.stamp[at(v)] = w.query;
      found.push_back(v);
    }
  }
  std::sort(found.begin(), found.end());
}

// Normal of the face around v that looks most along -n.
Vec3 lowest_face(const ConvexHull& hull, int v, const Vec3& n) {
  double least = std::numeric_limits<double>::infinity();
  for (const int f : hull.faces_of(v)) least = std::min(least, n.dot(hull.faces()[at(f)].normal));
  for (const int f : hull.faces_of(v)) {
    const Vec3& normal = hull.faces()[at(f)].normal;
    if (n.dot(normal) <= least + kSameSlope) return normal;
  }
  return -n;
}

}  // namespace

void collide_plane_mesh(const PairQuery& q, MeshWorkspace& w, Manifold& manifold) {
  const Vec3 n = q.a.R_WG.col(2);
  const Vec3 n_B = q.b.R_WG.transpose() * n;
  const double height = n.dot(q.p_AB_W);
  const ConvexHull* hull = q.b.mesh->hull().get();
  w.triangles.clear();
  w.merge.clear();
  if (hull != nullptr) {
    vertices_below(*hull, n_B, q.margin - height, w);
  } else {  // a flat mesh has no hull
    for (int v = 0; v < static_cast<int>(q.b.mesh->vertices().size()); ++v) w.triangles.push_back(v);
  }
  for (const int v : w.triangles) {
    const Vec3& x = hull != nullptr ? hull->vertex(v) : q.b.mesh->vertex(v);
    const double gap = height + n_B.dot(x);
    if (!(gap <= q.margin)) continue;
    w.merge.begin_patch();
    w.merge.points.push_back({q.p_AB_W + (q.b.R_WG * x - gap * n), n, gap, make_key(FeatureKind::vertex_b, 0, v)});
    const Vec3 face = hull != nullptr ? lowest_face(*hull, v, n_B) : Vec3(-n_B);
    w.merge.end_patch(face, 0, x, x, x, false);
  }
  merge_patches(w.merge, {4, kFaceClusterCosine, q.margin, q.tol}, manifold);
}

}  // namespace sarrus
