// From contacts with single triangles to the points of a pair (spec/collision.md §6).
//
// A patch is the contact of the body X with one triangle, edge or vertex T of a mesh: a direction n from T to X, and
// points with the normal -n.
//   drop_patches   1. gives up tentative patches without a firm one of nearly their direction (1.8 degrees),
//                  2. gives up overlapping patches that another direction resolves better. Moving X out along n_o
//                  clears
//                     T if  s_o(T) = min over X of n_o.x - max over T of n_o.x >= 0,  so a patch goes if s_o(T) is
//                     larger than its smallest gap for a kept n_o: at any depth, a box that lies on a table and
//                     overhangs its edge feels the top, not the side below the edge.
//   merge_patches  gathers nearly equal directions in clusters, drops points that coincide, and reduces each of the
//   eight
//                  deepest clusters. Points near the smallest gap come first, the others fill up.
// Private to the mesh pairs.
#pragma once

#include <vector>

#include "sarrus/collision/manifold.h"

namespace sarrus {

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

void drop_patches(MeshMergeBuffers& buffers, double tol);

// Fills `manifold`, in key order and in the frame of the patches. A single cluster may keep twice per_cluster points
// if that is 4: the rim of a standing cylinder has eight.
void merge_patches(MeshMergeBuffers& buffers, const MeshMergeLimits& limits, Manifold& manifold);

}  // namespace sarrus
