// The stages of building a hull: Qhull's facets, faces merged where they are coplanar, the tables of a ConvexHull.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sarrus/geometry/convex_hull.h"

namespace sarrus {

// A surface of polygons over numbered vertices: what the stages pass on.
struct Polygons {
  std::vector<int> begin = {0};  // of the corners of each face
  std::vector<int> corner;       // vertex ids, CCW from outside

  int count() const { return static_cast<int>(begin.size()) - 1; }
  std::span<const int> of(int face) const {
    const auto f = static_cast<std::size_t>(face);
    return std::span<const int>(corner).subspan(static_cast<std::size_t>(begin[f]),
                                                static_cast<std::size_t>(begin[f + 1] - begin[f]));
  }
  void add(std::span<const int> corners) {
    corner.insert(corner.end(), corners.begin(), corners.end());
    begin.push_back(static_cast<int>(corner.size()));
  }
};

// Facets of the hull of the points as vertex cycles, CCW from outside. `options` are Qhull's, without the program name.
// `outside`: Qhull's own bound on how far a point lies above a facet or a vertex below its facets. False if Qhull
// reports an error or a facet is not a simple cycle. Prints nothing.
bool qhull_facets(std::span<Vec3> points, const char* options, Polygons& facets, double& outside);

// Area times normal (Newell), from differences of positions.
Vec3 area_vector(std::span<const Vec3> points, std::span<const int> corners);

// Qhull merges what its own round-off cannot tell apart. Points that were rotated, moved or stored in single precision
// before carry more noise than that: their flat faces arrive crumpled into slivers, useless as contact features.
// Grows regions of faces whose corners lie within `tolerance` of one plane, from the largest faces on, then
// drops vertices that fewer than three regions share. False if the faces are not a closed surface (every edge used
// once in each direction) or a region is not bounded by one simple polygon.
bool merge_coplanar(std::span<const Vec3> points, const Polygons& faces, double tolerance, Polygons& merged);

// From a checked list of polygons to a ConvexHull with all its tables (convex_hull.cpp).
class HullFiller {
 public:
  // `faces`: closed surface that uses every vertex. `links`: faces whose edges support() climbs along. Null if a vertex
  // lies above the plane of a face by more than `tolerance`, a face has no area, or V - E + F != 2.
  static std::shared_ptr<const ConvexHull> fill(std::vector<Vec3> vertices, const Polygons& faces,
                                                const Polygons& links, double tolerance);

 private:
  explicit HullFiller(ConvexHull& hull) : h_(hull) {}

  void number_faces(const Polygons& faces);
  bool number_edges();
  void fill_links(const Polygons& links);
  void fill_starts();
  void fill_vertex_faces();
  bool place_planes(double tolerance);
  void measure();
  void choose_contact_corners();

  ConvexHull& h_;
};

}  // namespace sarrus
