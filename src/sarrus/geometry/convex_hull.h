// Convex polytopes: vertices, polygonal faces, edges, and support by hill climbing (docs/theory/collision.md §1).
//
// Built with Qhull (merged facets, so the faces of a box stay quadrilaterals). Points inside or on faces are dropped.
// Faces are planar polygons, CCW from outside, starting at their lowest vertex id; edges are undirected and numbered.
// Support is the vertex with the largest l . x. Small hulls try all; larger ones climb: steepest ascent over neighbours
// from a start vertex looked up in a 6 x k x k cube map of directions, k = 5 .. 64 growing with the vertex count. No
// memory of earlier queries, so equal queries give equal answers.
//
// Points need not be exact: vertices closer than 2e-7 of the length become one, and so do faces flat within that, with
// the vertices between them dropped. Coordinates rounded to single precision thus keep the faces of their CAD part.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sarrus/geometry/aabb.h"
#include "sarrus/geometry/mass_properties.h"
#include "sarrus/math/types.h"

namespace sarrus {

inline constexpr int kMaxHullVertices = 65535;
inline constexpr int kMaxHullInputPoints = 5'000'000;
// Faces with more corners than this have a contact polygon: a body-fixed subset of their corners.
inline constexpr int kMaxFaceCorners = 32;

class ConvexHull {
 public:
  struct Face {
    int first;    // of its corners in the corner arrays
    int size;     // number of corners, 3 or more
    Vec3 normal;  // outward, unit (Newell)
    // normal . x on the face, m. No vertex lies above it by more than round-off; its own corners lie below it by 8e-7
    // of the hull's length at most, and only where points are not exact.
    double offset;
  };

  // The hull of points that span a volume. Throws InputError(element, ...) for fewer than four points, non-finite or
  // huge coordinates, flat or degenerate sets, or too many points or vertices; the message names the remedy.
  static std::shared_ptr<const ConvexHull> build(std::span<const Vec3> points, const std::string& element);

  int vertex_count() const { return static_cast<int>(vertices_.size()); }
  int face_count() const { return static_cast<int>(faces_.size()); }
  int edge_count() const { return static_cast<int>(edges_.size()); }
  std::span<const Vec3> vertices() const { return vertices_; }
  const Vec3& vertex(int v) const { return vertices_[static_cast<std::size_t>(v)]; }
  std::span<const Face> faces() const { return faces_; }
  // Ends of each undirected edge, lower vertex first; edges in lexicographic order.
  std::span<const std::array<int, 2>> edges() const { return edges_; }

  // Corner k of a face: its vertex, and the edge from it to the next corner.
  std::span<const int> face_vertices(int face) const { return slice(corner_vertex_, faces_[at(face)]); }
  std::span<const int> face_edges(int face) const { return slice(corner_edge_, faces_[at(face)]); }
  // At most kMaxFaceCorners of the face's corners, as positions 0 .. size-1 in ascending order, spread so that the
  // polygon keeps as much area as the count allows; all corners of faces that have no more.
  std::span<const int> contact_corners(int face) const {
    const std::size_t b = at(contact_begin_[at(face)]);
    return std::span<const int>(contact_corner_).subspan(b, at(contact_begin_[at(face) + 1]) - b);
  }
  // Sorted.
  std::span<const int> neighbours(int vertex) const { return row(neighbour_begin_, neighbour_, vertex); }
  std::span<const int> faces_of(int vertex) const { return row(vertex_face_begin_, vertex_face_, vertex); }

  // Vertex id with the largest l . x; l need not be unit. Ties within round-off go to either.
  int support(const Vec3& l) const;

  const Aabb& box() const { return box_; }
  // Radius of the largest ball around the centre of volume that fits inside, m.
  double inner_radius() const { return inner_radius_; }
  // Largest distance of a vertex from the origin of the hull's frame, m.
  double outer_radius() const { return outer_radius_; }
  const MassProperties& mass_properties() const { return mass_; }
  // The surface as triangles (fans over the faces), CCW from outside: for files, pictures and tests.
  std::vector<std::array<int, 3>> triangles() const;

 private:
  friend class HullFiller;
  // Up to here trying all vertices (5 ns for 8, 20 ns for 32) beats the climb, whose branches are unpredictable.
  static constexpr int kMaxTryAll = 32;
  struct Link {
    double x, y, z;  // step to the neighbour: more exact than a difference of heights where positions are close
    float noise;     // round-off of the rise along it, for a unit direction
    int vertex;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static std::span<const int> slice(const std::vector<int>& x, const Face& f) {
    return std::span<const int>(x).subspan(at(f.first), at(f.size));
  }
  static std::span<const int> row(const std::vector<int>& begin, const std::vector<int>& x, int i) {
    return std::span<const int>(x).subspan(at(begin[at(i)]), at(begin[at(i) + 1] - begin[at(i)]));
  }

  std::vector<Vec3> vertices_;
  std::vector<Face> faces_;
  std::vector<int> corner_vertex_;
  std::vector<int> corner_edge_;
  std::vector<int> contact_begin_;
  std::vector<int> contact_corner_;
  std::vector<std::array<int, 2>> edges_;
  std::vector<int> neighbour_begin_;
  std::vector<int> neighbour_;
  std::vector<int> vertex_face_begin_;
  std::vector<int> vertex_face_;
  // Empty for small hulls. The climb uses the edges of the faces before coplanar ones were merged: a diagonal across a
  // face that is flat only up to noise may be the one way up.
  std::vector<int> link_begin_;
  std::vector<Link> link_;
  int start_cells_ = 0;  // k of the 6 x k x k start vertices
  std::vector<int> start_vertex_;
  Aabb box_;
  double inner_radius_ = 0;
  double outer_radius_ = 0;
  MassProperties mass_;
};

}  // namespace sarrus
