#include "sarrus/geometry/surface_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

using Cell = std::array<std::int64_t, 3>;

std::uint64_t hash(const Cell& c) {
  std::uint64_t h = 0;
  for (const std::int64_t x : c) {
    h = (h ^ static_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15ULL;
    h ^= h >> 32;
  }
  return h;
}

// Representatives by grid cell: open addressing over cells, then a list through the representatives of a cell.
class CellMap {
 public:
  explicit CellMap(std::size_t points)
      : slots_(std::bit_ceil(2 * points + 2), -1), next_(points, -1), cells_(points), mask_(slots_.size() - 1) {}

  // The newest representative of the cell, or -1; older ones by next().
  int first(const Cell& cell) const { return slots_[slot(cell)]; }
  int next(int representative) const { return next_[at(representative)]; }

  void add(int representative, const Cell& cell) {
    const std::size_t s = slot(cell);
    next_[at(representative)] = slots_[s];
    cells_[at(representative)] = cell;
    slots_[s] = representative;
  }

 private:
  std::size_t slot(const Cell& cell) const {
    std::size_t s = hash(cell) & mask_;
    while (slots_[s] >= 0 && cells_[at(slots_[s])] != cell) s = (s + 1) & mask_;
    return s;
  }

  std::vector<int> slots_;
  std::vector<int> next_;
  std::vector<Cell> cells_;
  std::size_t mask_;
};

}  // namespace

void check_coordinates(std::span<const Vec3> points, const std::string& element) {
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Vec3& x = points[k];
    if ((x.array().abs() <= kMaxShapeCoordinate).all()) continue;
    if (!x.allFinite()) {
      throw InputError(element,
                       fmt::format("point {} is ({}, {}, {}); give finite coordinates", k, x.x(), x.y(), x.z()));
    }
    throw InputError(
        element, fmt::format("point {} is ({}, {}, {}), beyond {} m; check the unit of length or move the origin", k,
                             x.x(), x.y(), x.z(), kMaxShapeCoordinate));
  }
}

std::vector<int> weld_points(std::span<const Vec3> points, const std::vector<bool>& used, const Vec3& corner,
                             double distance) {
  // Cells of 8 distances: most points look into one cell only, and a cell holds few representatives. A point welds to
  // one in the next cell if it lies within the distance (with some slack for round-off) of the common wall.
  const double size = 8 * distance;
  const double reach = 1.001 / 8;
  CellMap map(points.size());
  std::vector<int> representative(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    representative[k] = static_cast<int>(k);
    if (!used[k]) continue;
    const Vec3 s = (points[k] - corner) / size;
    Cell lo;
    Cell hi;
    Cell own;
    for (int axis = 0; axis < 3; ++axis) {
      lo[at(axis)] = static_cast<std::int64_t>(std::floor(s[axis] - reach));
      hi[at(axis)] = static_cast<std::int64_t>(std::floor(s[axis] + reach));
      own[at(axis)] = static_cast<std::int64_t>(std::floor(s[axis]));
    }
    int best = -1;
    for (std::int64_t x = lo[0]; x <= hi[0]; ++x) {
      for (std::int64_t y = lo[1]; y <= hi[1]; ++y) {
        for (std::int64_t z = lo[2]; z <= hi[2]; ++z) {
          for (int r = map.first({x, y, z}); r >= 0; r = map.next(r)) {
            if ((points[at(r)] - points[k]).norm() <= distance && (best < 0 || r < best)) best = r;
          }
        }
      }
    }
    if (best >= 0) {
      representative[k] = best;
    } else {
      map.add(static_cast<int>(k), own);
    }
  }
  return representative;
}

// Buckets by the lower vertex first, so that only the few sides of one vertex have to be compared.
std::vector<EdgeUse> sorted_edge_uses(std::span<const int> tail, std::span<const int> head, int vertex_count) {
  std::vector<int> begin(at(vertex_count) + 1, 0);
  for (std::size_t k = 0; k < tail.size(); ++k) ++begin[at(std::min(tail[k], head[k])) + 1];
  for (std::size_t v = 0; v < at(vertex_count); ++v) begin[v + 1] += begin[v];
  std::vector<int> next(begin.begin(), begin.end() - 1);
  std::vector<EdgeUse> uses(tail.size());
  for (std::size_t k = 0; k < tail.size(); ++k) {
    const int lo = std::min(tail[k], head[k]);
    uses[at(next[at(lo)]++)] = {lo, std::max(tail[k], head[k]), static_cast<int>(k), tail[k] < head[k]};
  }
  for (std::size_t v = 0; v < at(vertex_count); ++v) {
    std::sort(uses.begin() + begin[v], uses.begin() + begin[v + 1],
              [](const EdgeUse& a, const EdgeUse& b) { return std::tie(a.hi, a.side) < std::tie(b.hi, b.side); });
  }
  return uses;
}

void link_rows(std::span<const EdgeUse> uses, int vertex_count, std::vector<int>& begin, std::vector<int>& links) {
  const auto is_first = [&](std::size_t k) { return k == 0 || !uses[k].same_edge(uses[k - 1]); };
  begin.assign(at(vertex_count) + 1, 0);
  for (std::size_t k = 0; k < uses.size(); ++k) {
    if (!is_first(k)) continue;
    ++begin[at(uses[k].lo) + 1];
    ++begin[at(uses[k].hi) + 1];
  }
  for (std::size_t v = 0; v < at(vertex_count); ++v) begin[v + 1] += begin[v];
  std::vector<int> next(begin.begin(), begin.end() - 1);
  links.assign(at(begin.back()), 0);
  // Lexicographic order of the edges fills every row in ascending order: first the lower ends, then the higher ones.
  for (std::size_t k = 0; k < uses.size(); ++k) {
    if (!is_first(k)) continue;
    links[at(next[at(uses[k].lo)]++)] = uses[k].hi;
    links[at(next[at(uses[k].hi)]++)] = uses[k].lo;
  }
}

}  // namespace sarrus
