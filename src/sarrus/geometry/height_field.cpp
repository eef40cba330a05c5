#include "sarrus/geometry/height_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/geometry/surface_tools.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// Coordinate of grid line i of n. One rounding, and symmetric about the origin.
double line(int i, int n, double spacing) { return (i - 0.5 * (n - 1)) * spacing; }

void check_axis(int n, double spacing, const char* count_name, const char* spacing_name, const std::string& element) {
  if (n < 2) {
    throw InputError(element, fmt::format("the height field has {} = {}; give at least 2", count_name, n));
  }
  if (!(spacing >= kMinShapeSize && std::isfinite(spacing))) {
    throw InputError(element, fmt::format("the height field has {} = {} m; give a spacing of at least {} m",
                                          spacing_name, spacing, kMinShapeSize));
  }
  if (-line(0, n, spacing) > kMaxShapeCoordinate) {
    throw InputError(element, fmt::format("the height field reaches {} m from its centre along {}; keep it within {} m",
                                          -line(0, n, spacing), spacing_name, kMaxShapeCoordinate));
  }
}

void check_samples(int columns, int rows, std::span<const double> heights, const std::string& element) {
  const long long samples = static_cast<long long>(columns) * rows;
  if (samples > kMaxHeightFieldSamples) {
    throw InputError(element, fmt::format("the height field has {} samples; use at most {}, or several fields", samples,
                                          kMaxHeightFieldSamples));
  }
  if (samples != static_cast<long long>(heights.size())) {
    throw InputError(
        element, fmt::format("{} heights for {} columns x {} rows; give {}", heights.size(), columns, rows, samples));
  }
  for (std::size_t k = 0; k < heights.size(); ++k) {
    if (std::abs(heights[k]) <= kMaxShapeCoordinate) continue;
    throw InputError(element, fmt::format("height {} (column {}, row {}) is {}; give finite heights within {} m", k,
                                          k % at(columns), k / at(columns), heights[k], kMaxShapeCoordinate));
  }
}

// Cells 0 .. n-2 of the n grid lines that [lo, hi] overlaps or touches: [first, last], empty if first > last.
struct CellRange {
  int first, last;
};

CellRange cells_between(double lo, double hi, int n, double spacing) {
  if (!(lo <= line(n - 1, n, spacing) && hi >= line(0, n, spacing))) return {0, -1};
  // Clamped as doubles: the quotients of far or infinite boxes do not fit into an int. They are off by a rounding at
  // most, which the comparisons with the lines themselves put right.
  const auto estimate = [&](double x) {
    return static_cast<int>(std::clamp(std::floor(x / spacing + 0.5 * (n - 1)), 0.0, static_cast<double>(n - 2)));
  };
  CellRange r{estimate(lo), estimate(hi)};
  while (r.first > 0 && line(r.first, n, spacing) >= lo) --r.first;
  while (r.first < n - 2 && line(r.first + 1, n, spacing) < lo) ++r.first;
  while (r.last < n - 2 && line(r.last + 1, n, spacing) <= hi) ++r.last;
  while (r.last > 0 && line(r.last, n, spacing) > hi) --r.last;
  return r;
}

}  // namespace

std::shared_ptr<const HeightField> HeightField::build(int columns, int rows, double dx, double dy,
                                                      std::span<const double> heights, const std::string& element) {
  check_axis(columns, dx, "columns", "dx", element);
  check_axis(rows, dy, "rows", "dy", element);
  check_samples(columns, rows, heights, element);
  const auto field = std::make_shared<HeightField>();
  field->columns_ = columns;
  field->rows_ = rows;
  field->dx_ = dx;
  field->dy_ = dy;
  field->heights_.assign(heights.begin(), heights.end());
  field->box_ = Aabb::nothing();
  double radius2 = 0;
  for (int v = 0; v < columns * rows; ++v) {
    const Vec3 x = field->vertex(v);
    field->box_.add(x);
    radius2 = std::max(radius2, x.squaredNorm());
  }
  field->outer_radius_ = std::sqrt(radius2);
  field->cell_range_.reserve(at(columns - 1) * at(rows - 1));
  for (int j = 0; j + 1 < rows; ++j) {
    for (int i = 0; i + 1 < columns; ++i) {
      const std::size_t k = at(j * columns + i);
      const auto [lo, hi] =
          std::minmax({heights[k], heights[k + 1], heights[k + at(columns)], heights[k + at(columns) + 1]});
      field->cell_range_.push_back({lo, hi});
    }
  }
  return field;
}

Vec3 HeightField::vertex(int v) const {
  return {line(v % columns_, columns_, dx_), line(v / columns_, rows_, dy_), heights_[at(v)]};
}

std::array<int, 3> HeightField::triangle(int t) const {
  const int cell = t / 2;
  const int v = cell / (columns_ - 1) * columns_ + cell % (columns_ - 1);
  if (t % 2 == 0) return {v, v + 1, v + columns_ + 1};
  return {v, v + columns_ + 1, v + columns_};
}

Vec3 HeightField::normal(int t) const {
  const std::array<int, 3> v = triangle(t);
  const double a = heights_[at(v[0])];
  const double b = heights_[at(v[1])];
  const double c = heights_[at(v[2])];
  // Half 0 runs along x, then y; half 1 along the diagonal, then back along x.
  const double slope_x = t % 2 == 0 ? (b - a) / dx_ : (b - c) / dx_;
  const double slope_y = t % 2 == 0 ? (c - b) / dy_ : (c - a) / dy_;
  return Vec3(-slope_x, -slope_y, 1).normalized();
}

int HeightField::neighbour(int t, int k) const {
  const int cell = t / 2;
  const int i = cell % (columns_ - 1);
  const int j = cell / (columns_ - 1);
  if (t % 2 == 0) {
    if (k == 0) return j > 0 ? t - 2 * (columns_ - 1) + 1 : -1;
    if (k == 1) return i + 2 < columns_ ? t + 3 : -1;
    return t + 1;
  }
  if (k == 0) return t - 1;
  if (k == 1) return j + 2 < rows_ ? t + 2 * (columns_ - 1) - 1 : -1;
  return i > 0 ? t - 3 : -1;
}

int HeightField::triangles_of(int vertex, std::array<int, 6>& out) const {
  const int i = vertex % columns_;
  const int j = vertex / columns_;
  int n = 0;
  const auto add = [&](int ci, int cj, int half) {
    if (ci < 0 || cj < 0 || ci > columns_ - 2 || cj > rows_ - 2) return;
    out[at(n++)] = 2 * (cj * (columns_ - 1) + ci) + half;
  };
  add(i - 1, j - 1, 0);
  add(i - 1, j - 1, 1);
  add(i, j - 1, 1);
  add(i - 1, j, 0);
  add(i, j, 0);
  add(i, j, 1);
  return n;
}

int HeightField::vertex_neighbours(int vertex, std::array<int, 6>& out) const {
  constexpr std::array<std::array<int, 2>, 6> steps = {{{-1, -1}, {0, -1}, {-1, 0}, {1, 0}, {0, 1}, {1, 1}}};
  const int i = vertex % columns_;
  const int j = vertex / columns_;
  int n = 0;
  for (const auto& [di, dj] : steps) {
    if (i + di < 0 || j + dj < 0 || i + di >= columns_ || j + dj >= rows_) continue;
    out[at(n++)] = vertex + dj * columns_ + di;
  }
  return n;
}

void HeightField::find_triangles(const Aabb& box, std::vector<int>& found) const {
  if (!boxes_near(box, box_, 0)) return;
  const CellRange x = cells_between(box.lo.x(), box.hi.x(), columns_, dx_);
  const CellRange y = cells_between(box.lo.y(), box.hi.y(), rows_, dy_);
  for (int j = y.first; j <= y.last; ++j) {
    for (int i = x.first; i <= x.last; ++i) {
      const int cell = j * (columns_ - 1) + i;
      const Range& z = cell_range_[at(cell)];
      if (z.lo > box.hi.z() || z.hi < box.lo.z()) continue;
      found.push_back(2 * cell);
      found.push_back(2 * cell + 1);
    }
  }
}

bool HeightField::height_at(double x, double y, double& height) const {
  const double u = x / dx_ + 0.5 * (columns_ - 1);
  const double v = y / dy_ + 0.5 * (rows_ - 1);
  if (!(u >= 0 && u <= columns_ - 1 && v >= 0 && v <= rows_ - 1)) return false;
  const int i = std::min(static_cast<int>(u), columns_ - 2);
  const int j = std::min(static_cast<int>(v), rows_ - 2);
  const double s = u - i;
  const double t = v - j;
  const double* h = &heights_[at(j * columns_ + i)];
  const double h00 = h[0];
  const double h10 = h[1];
  const double h01 = h[columns_];
  const double h11 = h[columns_ + 1];
  height = s >= t ? h00 + s * (h10 - h00) + t * (h11 - h10) : h00 + t * (h01 - h00) + s * (h11 - h01);
  return true;
}

}  // namespace sarrus
