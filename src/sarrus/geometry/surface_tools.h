// What the builders of hulls and meshes share: limits of coordinates, welding of points, pairing of edges.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sarrus/math/types.h"

namespace sarrus {

// Beyond this distance from the shape's origin, double precision leaves less than 1e-10 m for contact gaps.
inline constexpr double kMaxShapeCoordinate = 1e6;  // m
// Smaller shapes are always a mistaken unit; contact tolerances relative to them would drown in round-off.
inline constexpr double kMinShapeSize = 1e-9;  // m

// Throws InputError(element, ...) at the first point that is not finite or beyond the limit.
void check_coordinates(std::span<const Vec3> points, const std::string& element);

// Joining of points that coincide up to round-off: for each point the index of its representative: the first earlier
// representative found within `distance` >= 0, else itself. Representatives are more than `distance` apart. Points with
// `used` false are left alone.
std::vector<int> weld_points(std::span<const Vec3> points, const std::vector<bool>& used, const Vec3& corner,
                             double distance);

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
