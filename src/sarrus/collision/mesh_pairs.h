// Triangle meshes and height fields against planes and convex bodies (docs/theory/collision.md §6).
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

#include <cstddef>
#include <vector>

#include "sarrus/collision/manifold.h"

namespace sarrus {

// A patch is the contact of the body X with one triangle, edge or vertex T of a mesh: a direction n from T to X, and
// points with the normal -n.
struct MeshPatch {
  Vec3 n;          // unit, from the surface to the body
  double lowest;   // min over the body of n.x, m
  Vec3 corner[3];  // of T; repeated for edges and vertices
  int first;       // of its points
  int count;
  double gap;      // the smallest of its points, m
  bool tentative;  // not a local minimum of the distance: only worth keeping beside one
  int cluster;
};

struct MeshCluster {
  Vec3 n;  // of its first patch
  double gap;
  int first_patch;
};

// Keep their size between queries.
struct MeshMergeBuffers {
  std::vector<MeshPatch> patches;
  std::vector<ManifoldPoint> points;  // of all patches
  std::vector<int> order;             // of patches, then of clusters
  std::vector<MeshCluster> clusters;
  Manifold cluster_points;

  void clear();
  // Opens a patch at the end of the points so far.
  void begin_patch() { first_ = static_cast<int>(points.size()); }
  int open_count() const { return static_cast<int>(points.size()) - first_; }
  // Closes it; without points it leaves no trace.
  void end_patch(const Vec3& n, double lowest, const Vec3& x0, const Vec3& x1, const Vec3& x2, bool tentative);

 private:
  int first_ = 0;
};

inline constexpr double kPatchCosine = 0.9995;  // of directions that count as one

struct MeshMergeLimits {
  int per_cluster;        // 1, 2 or 4
  double cluster_cosine;  // of the directions of a cluster
  double margin;
  double tol;
};

// From contacts with single triangles to the points of a pair (mesh_merge.cpp).
// 1. Gives up tentative patches without a firm one of nearly their direction (1.8 degrees).
// 2. Gives up overlapping patches that another direction resolves better. Moving X out along n_o clears T if
//      s_o(T) = min over X of n_o.x - max over T of n_o.x >= 0,
//    so a patch goes if s_o(T) is larger than its smallest gap for a kept n_o: at any depth, a box that lies on a table
//    and overhangs its edge feels the top, not the side below the edge.
void drop_patches(MeshMergeBuffers& buffers, double tol);

// Gathers nearly equal directions in clusters, drops points that coincide, and reduces each of the eight deepest
// clusters: points near the smallest gap come first, the others fill up. Fills `manifold`, in key order and in the
// frame of the patches. A single cluster may keep twice per_cluster points if that is 4: the rim of a standing cylinder
// has eight.
void merge_patches(MeshMergeBuffers& buffers, const MeshMergeLimits& limits, Manifold& manifold);

// A triangle whose plane the body reaches.
struct NearTriangle {
  int id;
  bool front;          // the body's centre is in front of its plane
  bool settled;        // it touches with its own normal and not deep: its edges have nothing to add
  std::uint8_t sharp;  // bits of its convex and border edges
  std::uint8_t climb;  // bits of the edges beyond which the body's lowest point along its normal lies
};

// What queries have looked at so far, for tests and benchmarks.
struct MeshWork {
  long parts = 0;      // of surfaces
  long triangles = 0;  // that parts led to
  long vertices = 0;   // of a mesh or its hull, as contact points with a plane
};

// Buffers that keep their size between queries.
struct MeshWorkspace {
  std::vector<int> triangles;  // candidates of one query
  std::vector<int> vertices;   // likewise
  std::vector<NearTriangle> near;
  std::vector<int> near_slot;  // hash table: position in `near`, or -1
  std::vector<int> stamp;      // per vertex: the query that reached it last
  int query = 0;
  MeshMergeBuffers merge;
  MeshWork work;
  // From this many triangles near the body on, parts of the surface are asked whether they may touch (mesh_cull.h): to
  // collide with a triangle takes about as long as to ask about a part. It changes the time, not the result.
  std::size_t many_triangles = 96;
  // From this many triangles that may touch on, a box is a plane for a mesh that lies within one of its faces.
  std::size_t many_on_face = 128;
};

// A = convex shape, B = mesh or height field. Points of up to 8 clusters of normals, each reduced to 1 (sphere,
// ellipsoid), 2 (capsule) or 4; a single cluster may have 8. If A is a box, the whole box of the mesh lies beyond one
// of its faces and within the sides of this face, and many triangles may touch, the points are those of
// collide_plane_mesh with the plane of this face.
void collide_convex_mesh(const PairQuery& query, MeshWorkspace& workspace, Manifold& manifold);

// A = plane, B = mesh: vertices of the mesh's convex hull within the margin; no other vertex can carry anything. A flat
// mesh has its outline instead, and one without a whole hull (triangle_mesh.h) all its vertices. Each counts for the
// hull face around it that looks most against the plane; reduced to 4 per cluster of 10 degrees of these faces'
// normals, 8 for a single cluster.
// If more than 64 vertices are within the margin, a fine mesh has them by the thousand, the choice is among
//   those within tol, 4 tol, 16 tol ... of the deepest one, until they are at least 16, unless they become too many
//   for each of four directions t along the plane, the farthest vertex of the hull along t - 4^k n with the smallest
//   k = 0 ... 10 that has it within the margin; if there are too many within tol, for each of eight, and within tol too
// so that neither the deepest point nor a far foot that is about to touch is missed.
void collide_plane_mesh(const PairQuery& query, MeshWorkspace& workspace, Manifold& manifold);

}  // namespace sarrus
