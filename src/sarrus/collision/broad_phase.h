// Broad phase: the geom pairs whose boxes overlap and that the filter allows (spec/collision.md §3).
//
// Sort-and-sweep along the axis on which the box centres vary most. The sorted order is kept between calls because
// bodies move little in a step. Which pairs are found depends on the boxes alone, their order also on history: the
// caller sorts. Cost: n + pairs that overlap on the sweep axis, good for some 1000 geoms.
#pragma once

#include <compare>
#include <span>
#include <vector>

#include "sarrus/collision/filter.h"
#include "sarrus/collision/shapes.h"

namespace sarrus {

struct GeomPair {
  int a = 0;  // a < b
  int b = 0;
  auto operator<=>(const GeomPair&) const = default;  // NOLINT(modernize-use-nullptr): false alarm on <=>
};

class BroadPhase {
 public:
  // `geoms`: the geoms to sweep, by id (planes are unbounded and stay outside).
  explicit BroadPhase(std::span<const int> geoms);

  // Appends to `pairs` the allowed pairs of swept geoms whose boxes overlap or touch, each once, in no particular
  // order. `boxes` is indexed by geom id. A box with lo > hi is empty and meets nothing; bounds may be infinite but not
  // NaN.
  void find_pairs(std::span<const Aabb> boxes, const PairFilter& filter, std::vector<GeomPair>& pairs);

 private:
  struct Entry {
    double lo, hi;    // on the sweep axis
    double lo2, hi2;  // on the other two
    double lo3, hi3;
    int geom;
  };

  int choose_axis(std::span<const Aabb> boxes) const;
  void sort_entries(bool nearly_sorted);

  int axis_ = -1;  // none yet
  std::vector<Entry> entries_;
};

}  // namespace sarrus
