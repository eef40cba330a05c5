#include "sarrus/geometry/convex_hull.h"

#include <cmath>

#include "sarrus/geometry/cube_map.h"

namespace sarrus {
namespace {

int best_of_all(std::span<const Vec3> vertices, const Vec3& l) {
  int best = 0;
  double height = l.dot(vertices[0]);
  for (std::size_t v = 1; v < vertices.size(); ++v) {
    const double h = l.dot(vertices[v]);
    if (h > height) {
      height = h;
      best = static_cast<int>(v);
    }
  }
  return best;
}

}  // namespace

int ConvexHull::support(const Vec3& l) const {
  if (vertex_count() <= kMaxTryAll) return best_of_all(vertices_, l);
  int v = start_vertex_[at(cube_map_cell(l, start_cells_))];
  // A step must rise by more than its round-off: it then rises truly, and the climb cannot go round in circles on the
  // plateau of a face.
  const double length = l.lpNorm<1>();
  for (;;) {
    const Link* const end = link_.data() + link_begin_[at(v) + 1];
    int next = -1;
    double best = 0;
    for (const Link* link = link_.data() + link_begin_[at(v)]; link != end; ++link) {
      const double rise = l.x() * link->x + l.y() * link->y + l.z() * link->z - length * link->noise;
      if (rise > best) {
        best = rise;
        next = link->vertex;
      }
    }
    if (next < 0) return v;
    v = next;
  }
}

std::vector<std::array<int, 3>> ConvexHull::triangles() const {
  std::vector<std::array<int, 3>> out;
  out.reserve(corner_vertex_.size() - 2 * faces_.size());
  for (int f = 0; f < face_count(); ++f) {
    const std::span<const int> v = face_vertices(f);
    for (std::size_t k = 1; k + 1 < v.size(); ++k) out.push_back({v[0], v[k], v[k + 1]});
  }
  return out;
}

}  // namespace sarrus
