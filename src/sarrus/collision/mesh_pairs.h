// Triangle meshes and height fields against planes and convex bodies (spec/collision.md §6).
//
// Triangles are one-sided. A contact of one triangle counts only if its normal lies in the wedge of normals that the
// surface has at the closest feature, judged with the neighbours across edges and around vertices: a box that slides
// over a flat triangulated floor feels the floor's normal only, never an inner edge.
//
// Keys (contact.h), with sub_B in the lower half of hi:
//   vertex of A       sub_B = code of the triangle's normal, 7 bits per component: the same on every triangle of a flat
//                     region, different for directions that are 1.8 degrees or more apart
//   on a triangle     sub_B = triangle; corner or edge of the triangle 0..2
//   on an edge or vertex that touches on its own, with a normal from its wedge
//                     sub_B = its lowest triangle; corner or edge 3..5
#pragma once

#include <vector>

#include "sarrus/collision/manifold.h"
#include "sarrus/collision/mesh_merge.h"

namespace sarrus {

// A triangle whose plane the body reaches.
struct NearTriangle {
  int id;
  bool front;          // the body's centre is in front of its plane
  bool settled;        // it touches with its own normal and not deep: its edges have nothing to add
  std::uint8_t sharp;  // bits of its convex and border edges
  std::uint8_t climb;  // bits of the edges beyond which the body's lowest point along its normal lies
};

// Buffers that keep their size between queries.
struct MeshWorkspace {
  std::vector<int> triangles;  // candidates of one query
  std::vector<NearTriangle> near;
  std::vector<int> near_slot;  // hash table: position in `near`, or -1
  std::vector<int> stamp;      // per vertex: the query that reached it last
  int query = 0;
  MeshMergeBuffers merge;
};

// A = convex shape, B = mesh or height field. Points of up to 8 clusters of normals, each reduced to 1 (sphere,
// ellipsoid), 2 (capsule) or 4; a single cluster may have 8.
void collide_convex_mesh(const PairQuery& query, MeshWorkspace& workspace, Manifold& manifold);

// A = plane, B = mesh: vertices of the mesh's convex hull within the margin; no other vertex can carry anything.
// Each counts for the hull face around it that looks most against the plane; reduced to 4 per cluster of 10 degrees of
// these faces' normals, 8 for a single cluster.
void collide_plane_mesh(const PairQuery& query, MeshWorkspace& workspace, Manifold& manifold);

}  // namespace sarrus
