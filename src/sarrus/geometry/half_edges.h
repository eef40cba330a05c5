// Pairing the sides of polygons into undirected edges: shared by the builders of hulls and meshes.
#pragma once

#include <span>
#include <vector>

namespace sarrus {

// One side of one polygon, running from `lo` to `hi` if `forward`, else from `hi` to `lo`.
struct EdgeUse {
  int lo;
  int hi;
  int side;  // index of the side in the caller's numbering
  bool forward;

  bool same_edge(const EdgeUse& other) const { return lo == other.lo && hi == other.hi; }
};

// Side k runs from tail[k] to head[k] != tail[k]; ids are in [0, vertex_count). Returns all sides in the order of
// (lo, hi, side): uses of one edge are adjacent, and edges appear in lexicographic order.
std::vector<EdgeUse> sorted_edge_uses(std::span<const int> tail, std::span<const int> head, int vertex_count);

// The edges of such a list without repeats, as rows of linked vertices per vertex, ascending.
void link_rows(std::span<const EdgeUse> uses, int vertex_count, std::vector<int>& begin, std::vector<int>& links);

}  // namespace sarrus
