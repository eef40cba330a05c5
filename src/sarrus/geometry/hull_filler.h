// From a checked list of polygons to a ConvexHull with all its tables.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/polygons.h"

namespace sarrus {

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
