// Which parts of a triangulated surface a convex body may touch (docs/theory/collision.md §6). Private to the mesh
// pairs.
//
// A contact at a place y of the surface has a normal n of the surface at y, a gap s <= margin and a point x of the body
// with
//   x = y + s n                                                                                                   (1)
// where x is either a support point of the body along -n or a corner of its feature along -n (feature.h). A part of the
// surface gives a box for y and a cone |n - m| <= spread for n; the cone gives the support points and corners that the
// body may show to it. If no choice of them satisfies (1), to within the tolerances of mesh_pairs.cpp, the part has no
// contact, and so a smooth mesh of a million triangles costs what the few near a contact cost:
//   parts on the wrong side, or whose normals do not lead to the body, are passed over at once
//   flat parts count only where a corner of the body is over them: no other point of a floor ever carries one
// Equation (1) is asked as d x n = 0, d.n <= margin for d = x - y, with intervals for all components of d and n, in the
// frame of the body.
#pragma once

#include "sarrus/collision/feature.h"
#include "sarrus/collision/manifold.h"
#include "sarrus/geometry/surface_part.h"

namespace sarrus {

class MeshCull {
 public:
  // `body` is convex, with its pose in the frame of the surface; parts are measured from `part_origin` there.
  MeshCull(const PlacedShape& body, const Vec3& part_origin, double margin, double tol);

  // False if a box, in the axes of the surface and from `part_origin`, does not come near the body's own box. Asked of
  // boxes near that of the body in the axes of the surface, which may be far larger.
  bool is_near(const Aabb& box) const { return !is_tilted_ || is_near_tilted(box); }
  // False if that is true of all boxes.
  bool is_tilted() const { return is_tilted_; }
  // False if there is no contact with a part that is near.
  bool may_touch(const SurfacePart& part);

 private:
  // All points x with |x - centre| <= half, in the body's frame, m. Not set to zero: lists of them are made often.
  struct Region {
    Vec3 centre;
    Vec3 half;
  };
  // All vectors with |l - axis| <= spread, in the body's frame.
  struct Cone {
    Vec3 axis;
    double spread;
  };
  using Regions = FixedList<Region, 64>;

  bool is_near_tilted(const Aabb& box) const;
  Region region_of(const Vec3& middle, const Vec3& half) const;
  static Cone widened(const Cone& n);
  static Region side_region(const Cone& n, const Vec3& h);
  bool meets(const Region& x, const Region& y, const Cone& n) const;
  Region support_region(const Cone& n) const;
  Region rim_region(const Cone& n, double z, double half_z) const;
  Region ellipsoid_region(const Cone& n) const;
  Region hull_support(const Cone& n) const;
  void find_corners(const Cone& n);
  void add_capsule_ends(const Cone& n);
  void add_box_corners(const Cone& n);
  void add_cylinder_corners(const Cone& n);
  void add_hull_corners(const Cone& n);
  bool find_lowest(const Cone& n, double band, VertexList& found) const;
  bool find_hull_corners(const Cone& n);

  PlacedShape body_;
  Mat3 R_AB_;  // from the axes of the surface to those of the body
  Mat3 abs_R_AB_;
  Region local_box_;
  bool is_tilted_;
  double reach_;   // beyond its box, m
  double margin_;  // of the core of a sphere or capsule: with its radius
  double tol_;
  Regions corners_;
  // Of a hull: the corners that it shows to the cone `seen_`.
  Cone seen_ = {Vec3::Zero(), -1};
  bool seen_all_ = false;  // its whole box
  VertexList seen_corners_;
};

}  // namespace sarrus
