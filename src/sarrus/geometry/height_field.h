// Terrain as heights over a regular grid (docs/theory/collision.md §6).
//
// Sample (i, j), 0 <= i < columns, 0 <= j < rows, lies at (x0 + i dx, y0 + j dy, height(i, j)) of the field's frame,
// with x0 = -(columns-1) dx / 2 and y0 = -(rows-1) dy / 2: the grid is centred on the origin. The ground is below.
// Each cell (i, j) is cut along the diagonal (i, j)-(i+1, j+1) into two triangles, CCW from above:
//   half 0: (i,j) (i+1,j) (i+1,j+1)        half 1: (i,j) (i+1,j+1) (i,j+1)
// Triangle id = 2 (j (columns-1) + i) + half.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sarrus/geometry/aabb.h"
#include "sarrus/math/types.h"

namespace sarrus {

inline constexpr int kMaxHeightFieldSamples = 25'000'000;

class HeightField {
 public:
  // `heights` row by row: heights[j * columns + i]. Throws InputError(element, ...) for fewer than 2 x 2 samples, a
  // wrong count, spacings that are not > 0, non-finite heights, or more samples than the limit.
  static std::shared_ptr<const HeightField> build(int columns, int rows, double dx, double dy,
                                                  std::span<const double> heights, const std::string& element);

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  double dx() const { return dx_; }
  double dy() const { return dy_; }
  std::span<const double> heights() const { return heights_; }
  int triangle_count() const { return 2 * (columns_ - 1) * (rows_ - 1); }
  // Vertices of the grid are numbered like the samples.
  Vec3 vertex(int v) const;
  std::array<int, 3> triangle(int t) const;
  Vec3 normal(int t) const;
  // Triangle across the edge from corner k to corner k+1; -1 at the border.
  int neighbour(int t, int k) const;
  // Triangles around a vertex (at most 6) and vertices linked to it (at most 6), ascending; returns how many.
  int triangles_of(int vertex, std::array<int, 6>& out) const;
  int vertex_neighbours(int vertex, std::array<int, 6>& out) const;

  // Appends the triangles of the cells whose boxes overlap or touch `box` (field frame), in ascending order.
  void find_triangles(const Aabb& box, std::vector<int>& found) const;
  // Surface height at (x, y) of the frame; false outside the grid.
  bool height_at(double x, double y, double& height) const;

  const Aabb& box() const { return box_; }
  double outer_radius() const { return outer_radius_; }

 private:
  struct Range {
    double lo, hi;
  };
  int columns_ = 0;
  int rows_ = 0;
  double dx_ = 0;
  double dy_ = 0;
  std::vector<double> heights_;
  std::vector<Range> cell_range_;  // lowest and highest corner of each cell
  Aabb box_;
  double outer_radius_ = 0;
};

}  // namespace sarrus
