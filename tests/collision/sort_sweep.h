// Sort-and-sweep: the pairs of boxes that overlap, found by walking along one axis. The oracle for the broad phase.
//
// The axis is the one on which the box centres vary most. The sorted order is kept between calls because bodies move
// little in a step. Which pairs are found depends on the boxes alone, their order also on history.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "sarrus/collision/broad_phase.h"
#include "sarrus/collision/filter.h"
#include "sarrus/geometry/aabb.h"

namespace sarrus::oracle {

class SortSweep {
 public:
  // As BroadPhase.
  SortSweep(std::span<const int> moving, std::span<const int> fixed, std::span<const int> geom_of)
      : geom_of_(geom_of.begin(), geom_of.end()) {
    for (const int id : moving) entries_.push_back({0, 0, 0, 0, 0, 0, id, false});
    for (const int id : fixed) entries_.push_back({0, 0, 0, 0, 0, 0, id, true});
  }

  // As BroadPhase::find_pairs.
  void find_pairs(std::span<const Aabb> boxes, const PairFilter& filter, std::vector<GeomPair>& pairs) {
    const int axis = choose_axis(boxes);
    load_entries(boxes, axis);
    sort_entries(axis == axis_);
    axis_ = axis;
    const auto old_size = static_cast<std::ptrdiff_t>(pairs.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& x = entries_[i];
      if (x.lo > x.hi) continue;
      for (std::size_t k = i + 1; k < entries_.size() && entries_[k].lo <= x.hi; ++k) {
        const Entry& y = entries_[k];
        if (y.hi < x.lo || x.hi2 < y.lo2 || y.hi2 < x.lo2 || x.hi3 < y.lo3 || y.hi3 < x.lo3) continue;
        if ((x.fixed && y.fixed) || y.lo > y.hi) continue;
        if (filter.allowed(geom_of_[at(x.id)], geom_of_[at(y.id)])) {
          pairs.push_back({std::min(x.id, y.id), std::max(x.id, y.id)});
        }
      }
    }
    std::sort(pairs.begin() + old_size, pairs.end());
  }

 private:
  struct Entry {
    double lo, hi;    // on the sweep axis
    double lo2, hi2;  // on the other two
    double lo3, hi3;
    int id;
    bool fixed;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // Axis of largest variance of the box centres; the present one stays until another is 1.5 times better, because a
  // change costs a full sort.
  int choose_axis(std::span<const Aabb> boxes) const {
    Vec3 sum = Vec3::Zero();
    Vec3 sum2 = Vec3::Zero();
    int n = 0;
    Vec3 origin = Vec3::Zero();  // subtracted first: variances far from the world origin keep their digits
    for (const Entry& e : entries_) {
      const Vec3 centre = boxes[at(e.id)].centre();
      if (!centre.allFinite()) continue;
      if (n++ == 0) origin = centre;
      sum += centre - origin;
      sum2 += (centre - origin).cwiseAbs2();
    }
    if (n == 0) return std::max(axis_, 0);
    const Vec3 variance = sum2 - sum.cwiseAbs2() / n;
    int best = 0;
    variance.maxCoeff(&best);
    return axis_ >= 0 && variance[best] <= 1.5 * variance[axis_] ? axis_ : best;
  }

  void load_entries(std::span<const Aabb> boxes, int axis) {
    const int second = (axis + 1) % 3;
    const int third = (axis + 2) % 3;
    for (Entry& e : entries_) {
      const Aabb& box = boxes[at(e.id)];
      e = {box.lo[axis], box.hi[axis], box.lo[second], box.hi[second], box.lo[third], box.hi[third], e.id, e.fixed};
      if (e.lo <= e.hi && e.lo2 <= e.hi2 && e.lo3 <= e.hi3) continue;
      e.lo = std::numeric_limits<double>::infinity();  // empty: to the end of the line, out of the way
      e.hi = -e.lo;
    }
  }

  void sort_entries(bool nearly_sorted) {
    const auto less = [](const Entry& x, const Entry& y) { return x.lo < y.lo; };
    if (!nearly_sorted) {
      std::sort(entries_.begin(), entries_.end(), less);
      return;
    }
    for (std::size_t i = 1; i < entries_.size(); ++i) {
      const Entry moving = entries_[i];
      std::size_t k = i;
      for (; k > 0 && less(moving, entries_[k - 1]); --k) entries_[k] = entries_[k - 1];
      entries_[k] = moving;
    }
  }

  std::vector<int> geom_of_;
  int axis_ = -1;  // none yet
  std::vector<Entry> entries_;
};

}  // namespace sarrus::oracle
