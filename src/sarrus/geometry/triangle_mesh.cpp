#include "sarrus/geometry/triangle_mesh.h"

#include <fmt/format.h>

#include <algorithm>

#include "sarrus/math/error.h"

namespace sarrus {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string text(const Vec3& x) { return fmt::format("({:.6g}, {:.6g}, {:.6g})", x.x(), x.y(), x.z()); }

}  // namespace

void TriangleMesh::find_triangles(const Aabb& box, std::vector<int>& found) const {
  const std::size_t start = found.size();
  std::array<int, kMaxBvhDepth> open{};  // right children still to visit
  int open_count = 0;
  int n = 0;
  for (;;) {
    const BvhNode& node = nodes_[at(n)];
    if (near(node.box, box, 0)) {
      if (node.count == 0) {
        open[at(open_count++)] = node.first;
        ++n;
        continue;
      }
      for (int k = node.first; k < node.first + node.count; ++k) {
        const int t = leaf_triangles_[at(k)];
        const Vec3& a = corner(t, 0);
        const Vec3& b = corner(t, 1);
        const Vec3& c = corner(t, 2);
        if (near({a.cwiseMin(b).cwiseMin(c), a.cwiseMax(b).cwiseMax(c)}, box, 0)) found.push_back(t);
      }
    }
    if (open_count == 0) break;
    n = open[at(--open_count)];
  }
  std::sort(found.begin() + static_cast<std::ptrdiff_t>(start), found.end());
}

MassProperties TriangleMesh::mass_properties(const std::string& element) const {
  if (encloses_nothing_) {
    throw InputError(element,
                     "the mesh encloses no volume; remove back-to-back triangles, give the mass and inertia, "
                     "or set \"mass_from\": \"hull\"");
  }
  if (surface_ == Surface::open) {
    throw InputError(element,
                     fmt::format("the mesh is not closed: the edge from {} to {} does not have one triangle on each "
                                 "side; close the mesh, give the mass and inertia, or set \"mass_from\": \"hull\"",
                                 text(open_edge_[0]), text(open_edge_[1])));
  }
  if (surface_ == Surface::inverted) {
    throw InputError(element,
                     "the mesh is inside out: its triangles run clockwise seen from outside; reverse them with "
                     "\"flip\": true, or set \"mass_from\": \"hull\"");
  }
  return surface_mass_properties(vertices_, triangles_);
}

}  // namespace sarrus
