#include "sarrus/collision/broad_phase.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr double kMargin = 0.08;
constexpr double kLookAhead = 32;  // steps
constexpr double kReach = 0.5;

constexpr int kMaxDigitBits = 11;        // the counters of a digit then fit into the L1 cache
constexpr std::size_t kRadixFrom = 256;  // fewer pairs: std::sort is faster

constexpr double kRebuildShare = 0.3;  // of the moving boxes escape in one step
constexpr long kRebuildVisits = 256;   // per moving box

constexpr std::size_t kPrefetch = 24;  // pairs ahead; halves the time of a settled step of 100 000 boxes

bool is_proper(const Aabb& b) {
  return b.lo.x() <= b.hi.x() && b.lo.y() <= b.hi.y() && b.lo.z() <= b.hi.z();  // false for NaN
}

bool covers(const Aabb& outer, const Aabb& inner) {
  return outer.lo.x() <= inner.lo.x() && inner.hi.x() <= outer.hi.x() && outer.lo.y() <= inner.lo.y() &&
         inner.hi.y() <= outer.hi.y() && outer.lo.z() <= inner.lo.z() && inner.hi.z() <= outer.hi.z();
}

// Of two boxes that are not empty. No branches: which comparison fails first cannot be predicted.
bool overlap(const Aabb& a, const Aabb& b) {
  return (static_cast<int>(std::max(a.lo.x(), b.lo.x()) <= std::min(a.hi.x(), b.hi.x())) &
          static_cast<int>(std::max(a.lo.y(), b.lo.y()) <= std::min(a.hi.y(), b.hi.y())) &
          static_cast<int>(std::max(a.lo.z(), b.lo.z()) <= std::min(a.hi.z(), b.hi.z()))) != 0;
}

// Measure of the box on each axis: geometric mean of the extent on the axis and the mean extent. Thin boxes, which
// often lie in stacks, get thin margins, but not so thin that they leave them at once. Bounded also if the box is not.
Vec3 sizes(const Aabb& box) {
  constexpr double limit = 1e15;
  Vec3 e;
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const double extent = box.hi[k] - box.lo[k];
    e[k] = extent < limit ? extent : 0;  // 0 for NaN, which is infinity minus infinity
    sum += e[k];
  }
  return (sum / 3 * e).cwiseSqrt();
}

// How far ahead of a face the fat box should reach. `speed`: outwards, m per step. Not at all if the box will be out of
// reach in one step, as one that jumps about.
double way_ahead(double speed, double reach) {
  return speed > 0 && speed <= reach ? std::min(kLookAhead * speed, reach) : 0;
}

}  // namespace

PairList::PairList(int id_limit) {
  const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(std::max(id_limit - 1, 0)))));
  digits_ = (bits + kMaxDigitBits - 1) / kMaxDigitBits;
  digit_bits_ = (bits + digits_ - 1) / digits_;
  offsets_.resize(std::size_t{1} << digit_bits_);
}

void PairList::sort_joining() {
  if (joining_.size() < kRadixFrom) {
    std::sort(joining_.begin(), joining_.end());
    return;
  }
  const Key mask = (Key{1} << digit_bits_) - 1;
  scratch_.resize(joining_.size());
  for (int digit = 0; digit < 2 * digits_; ++digit) {
    const int shift = 32 * (digit / digits_) + digit_bits_ * (digit % digits_);
    std::fill(offsets_.begin(), offsets_.end(), 0u);
    for (const Key k : joining_) ++offsets_[(k >> shift) & mask];
    std::uint32_t before = 0;
    for (std::uint32_t& offset : offsets_) {
      const std::uint32_t n = offset;
      offset = before;
      before += n;
    }
    for (const Key k : joining_) scratch_[offsets_[(k >> shift) & mask]++] = k;
    joining_.swap(scratch_);
  }
}

// Everything at once and with room to spare, so that a scene in motion soon stops allocating: at most all pairs join.
void PairList::reserve(std::size_t n) {
  if (merged_.size() >= n) return;
  n += n / 2;
  pairs_.resize(n);
  merged_.resize(n);
  joining_.reserve(n);
  scratch_.reserve(n);
}

void PairList::update(std::span<const char> leaves) {
  sort_joining();
  reserve(count_ + joining_.size());
  Key* out = merged_.data();
  const Key* in = joining_.data();
  const Key* const end = in + joining_.size();
  for (const Key k : pairs()) {
    while (in != end && *in < k) *out++ = *in++;
    *out = k;  // overwritten unless it counts: no branch to mispredict
    out += static_cast<std::ptrdiff_t>((leaves[k >> 32] | leaves[k & 0xffffffffu]) == 0);
  }
  out = std::copy(in, end, out);
  count_ = static_cast<std::size_t>(out - merged_.data());
  pairs_.swap(merged_);
  joining_.clear();
}

BroadPhase::BroadPhase(std::span<const int> moving, std::span<const int> fixed, std::span<const int> geom_of)
    : moving_(moving.begin(), moving.end()),
      fixed_(fixed.begin(), fixed.end()),
      geom_of_(geom_of.begin(), geom_of.end()),
      fat_(geom_of.size(), Aabb::nothing()),
      past_(geom_of.size()),
      is_changed_(geom_of.size(), 0),
      moving_tree_(static_cast<int>(geom_of.size()), static_cast<int>(moving.size())),
      fixed_tree_(static_cast<int>(geom_of.size()), static_cast<int>(fixed.size())),
      list_(static_cast<int>(geom_of.size())) {
  changed_.reserve(moving.size());
  leaves_.reserve(std::max(moving.size(), fixed.size()));
}

bool BroadPhase::find_pairs(std::span<const Aabb> boxes, const PairFilter& filter, std::vector<GeomPair>& pairs) {
  if (!started_) start(boxes);
  ++step_;
  find_changed(boxes);
  if (!changed_.empty()) {
    const bool rebuilt = update_tree(boxes);
    if (!update_list(filter, rebuilt)) {
      start_anew();
      return false;
    }
  }
  append_overlapping(boxes, pairs);
  return true;
}

// The trees' coordinates start at the median of the boxes, so that float32 suffices far from the world origin and a
// single body that got lost does no harm.
void BroadPhase::start(std::span<const Aabb> boxes) {
  started_ = true;
  for (int k = 0; k < 3; ++k) {
    std::vector<double> centres;
    for (const std::vector<int>* ids : {&moving_, &fixed_}) {
      for (const int id : *ids) {
        const double c = boxes[at(id)].centre()[k];
        if (std::isfinite(c)) centres.push_back(c);
      }
    }
    if (centres.empty()) continue;
    const auto middle = centres.begin() + static_cast<std::ptrdiff_t>(centres.size() / 2);
    std::nth_element(centres.begin(), middle, centres.end());
    origin_[k] = *middle;
  }
  leaves_.clear();
  for (const int id : fixed_) {
    if (is_proper(boxes[at(id)])) leaves_.push_back({tree_box(boxes[at(id)]), id});
  }
  fixed_tree_.build(leaves_);
}

// Shifting, clamping and rounding all keep the order of numbers (x <= y implies f(x) <= f(y)). So boxes that overlap
// also do in the tree's coordinates, with no allowance for round-off.
TreeBox BroadPhase::tree_box(const Aabb& box) const {
  constexpr double limit = 1e15;
  TreeBox t;
  for (int k = 0; k < 3; ++k) {
    t.lo[k] = static_cast<float>(std::clamp(box.lo[k] - origin_[k], -limit, limit));
    t.hi[k] = static_cast<float>(std::clamp(box.hi[k] - origin_[k], -limit, limit));
  }
  return t;
}

void BroadPhase::find_changed(std::span<const Aabb> boxes) {
  changed_.clear();
  for (const int id : moving_) {
    const Aabb& box = boxes[at(id)];
    const bool proper = is_proper(box);
    if (proper && covers(fat_[at(id)], box)) continue;
    if (proper || !fat_[at(id)].is_empty()) changed_.push_back(id);
  }
}

void BroadPhase::fatten(int id, const Aabb& box) {
  Past& past = past_[at(id)];
  const Vec3 size = sizes(box);
  Aabb fat = {box.lo - kMargin * size, box.hi + kMargin * size};
  if (past.step >= 0) {
    const auto age = static_cast<double>(step_ - past.step);
    for (int k = 0; k < 3; ++k) {
      fat.lo[k] -= way_ahead((past.box.lo[k] - box.lo[k]) / age, kReach * size[k]);
      fat.hi[k] += way_ahead((box.hi[k] - past.box.hi[k]) / age, kReach * size[k]);
    }
  }
  fat_[at(id)] = fat;
  past = {box, step_};
}

// Returns true if the tree was built anew. leaves_ or else changed_ is then in the order of the tree, because queries
// in this order find its nodes in the cache: 100 000 boxes in motion take 25 % less time.
bool BroadPhase::update_tree(std::span<const Aabb> boxes) {
  for (const int id : changed_) {
    is_changed_[at(id)] = 1;
    if (is_proper(boxes[at(id)])) {
      fatten(id, boxes[at(id)]);
    } else {
      fat_[at(id)] = Aabb::nothing();
      past_[at(id)].step = -1;
    }
  }
  if (static_cast<double>(changed_.size()) > kRebuildShare * static_cast<double>(moving_.size()) ||
      moving_tree_.visits() > kRebuildVisits * static_cast<long>(moving_.size())) {
    leaves_.clear();
    for (const int id : moving_) {
      if (!fat_[at(id)].is_empty()) leaves_.push_back({tree_box(fat_[at(id)]), id});
    }
    moving_tree_.build(leaves_);
    return true;
  }
  std::sort(changed_.begin(), changed_.end(),
            [this](int a, int b) { return moving_tree_.place(a) < moving_tree_.place(b); });
  for (const int id : changed_) {
    const bool there = moving_tree_.contains(id);
    if (fat_[at(id)].is_empty()) {
      if (there) moving_tree_.remove(id);
    } else if (there) {
      moving_tree_.move(id, tree_box(fat_[at(id)]));
    } else {
      moving_tree_.insert(id, tree_box(fat_[at(id)]));
    }
  }
  return false;
}

void BroadPhase::join_pairs_of(int id, const PairFilter& filter) {
  const int geom = geom_of_[at(id)];
  const TreeBox box = moving_tree_.box(id);
  for (const int other : moving_tree_.query(box)) {
    // Of two that changed, the lower one brings in the pair.
    if (other == id || (is_changed_[at(other)] != 0 && other < id)) continue;
    if (filter.allowed(geom, geom_of_[at(other)])) list_.join(id, other);
  }
  for (const int other : fixed_tree_.query(box)) {
    if (filter.allowed(geom, geom_of_[at(other)])) list_.join(id, other);
  }
}

bool BroadPhase::update_list(const PairFilter& filter, bool rebuilt) {
  if (rebuilt) {
    for (const AabbTree::Leaf& leaf : leaves_) {
      if (list_.joining() > kMostNearPairs) return false;
      if (is_changed_[at(leaf.item)] != 0) join_pairs_of(leaf.item, filter);
    }
  } else {
    for (const int id : changed_) {
      if (list_.joining() > kMostNearPairs) return false;
      if (moving_tree_.contains(id)) join_pairs_of(id, filter);
    }
  }
  list_.update(is_changed_);
  for (const int id : changed_) is_changed_[at(id)] = 0;
  return true;
}

// As if there had been no call.
void BroadPhase::start_anew() {
  list_.join_none();
  std::fill(is_changed_.begin(), is_changed_.end(), char{1});
  list_.update(is_changed_);
  std::fill(is_changed_.begin(), is_changed_.end(), char{0});
  std::fill(fat_.begin(), fat_.end(), Aabb::nothing());
  for (Past& past : past_) past.step = -1;
  leaves_.clear();
  moving_tree_.build(leaves_);
  started_ = false;
}

void BroadPhase::append_overlapping(std::span<const Aabb> boxes, std::vector<GeomPair>& pairs) const {
  const std::span<const PairList::Key> keys = list_.pairs();
  const std::size_t old_size = pairs.size();
  pairs.resize(old_size + keys.size());
  GeomPair* out = pairs.data() + old_size;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // The second box may be anywhere; the first is the same for several pairs.
    const GeomPair later = PairList::unpack(keys[std::min(i + kPrefetch, keys.size() - 1)]);
    __builtin_prefetch(boxes[at(later.b)].lo.data());
    __builtin_prefetch(boxes[at(later.b)].hi.data() + 2);
    const GeomPair pair = PairList::unpack(keys[i]);
    *out = pair;  // overwritten by the next unless it counts
    out += static_cast<std::ptrdiff_t>(overlap(boxes[at(pair.a)], boxes[at(pair.b)]));
  }
  pairs.resize(static_cast<std::size_t>(out - pairs.data()));
}

}  // namespace sarrus
