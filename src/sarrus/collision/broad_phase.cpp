#include "sarrus/collision/broad_phase.h"

#include <algorithm>

namespace sarrus {

BroadPhase::BroadPhase(std::span<const int> geoms) {
  entries_.resize(geoms.size());
  for (std::size_t i = 0; i < geoms.size(); ++i) entries_[i].geom = geoms[i];
}

// Axis of largest variance of the box centres; the present one stays until another is 1.5 times better, because a
// change costs a full sort.
int BroadPhase::choose_axis(std::span<const Aabb> boxes) const {
  Vec3 sum = Vec3::Zero();
  Vec3 sum2 = Vec3::Zero();
  int n = 0;
  Vec3 origin = Vec3::Zero();  // subtracted first: variances far from the world origin keep their digits
  for (const Entry& e : entries_) {
    const Aabb& box = boxes[static_cast<std::size_t>(e.geom)];
    const Vec3 centre = 0.5 * (box.lo + box.hi);
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

void BroadPhase::sort_entries(bool nearly_sorted) {
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

void BroadPhase::find_pairs(std::span<const Aabb> boxes, const PairFilter& filter, std::vector<GeomPair>& pairs) {
  const int axis = choose_axis(boxes);
  const int second = (axis + 1) % 3;
  const int third = (axis + 2) % 3;
  for (Entry& e : entries_) {
    const Aabb& box = boxes[static_cast<std::size_t>(e.geom)];
    e = {box.lo[axis], box.hi[axis], box.lo[second], box.hi[second], box.lo[third], box.hi[third], e.geom};
  }
  sort_entries(axis == axis_);
  axis_ = axis;

  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& x = entries_[i];
    for (std::size_t k = i + 1; k < entries_.size() && entries_[k].lo <= x.hi; ++k) {
      const Entry& y = entries_[k];
      if (y.hi < x.lo || x.hi2 < y.lo2 || y.hi2 < x.lo2 || x.hi3 < y.lo3 || y.hi3 < x.lo3) continue;
      if (filter.allowed(x.geom, y.geom)) pairs.push_back({std::min(x.geom, y.geom), std::max(x.geom, y.geom)});
    }
  }
}

}  // namespace sarrus
