#include "sarrus/geometry/weld.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace sarrus {
namespace {

using Cell = std::array<std::int64_t, 3>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

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

}  // namespace sarrus
