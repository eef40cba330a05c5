// Broad phase: the pairs of boxes that overlap and that the filter allows (docs/theory/collision.md §3).
//
// A moving box gets a larger, "fat" box that stays where it is until the box leaves it. The fat boxes sit in a dynamic
// tree, the fixed boxes in a second one that is built once. A list holds the allowed pairs whose fat boxes overlap;
// only boxes that leave their fat box cause work on trees and list. The answer is the pairs of the list whose boxes
// proper overlap, in float64. A step with little motion thus costs n + pairs, one in which everything moves n log n.
//
// With e the extents of the box, m their mean and s_k = sqrt(e_k m), the fat box is the box grown by kMargin s, and
// ahead of each face by what it will go in kLookAhead steps at its mean speed so far, at most kReach s. By measurement,
// us per step for 10 000 boxes of 0.2 m and 28 000 pairs, moving 0.2, 2 and 10 mm per step, on a floor (2 mm), settled:
//   margin 0.10, no look-ahead                430   1480   5150   990   195
//   margin 0.20, no look-ahead                410   1140   3650   930   320
//   margin 0.08, look-ahead 16, reach 0.50    440   1010   2310   860   190
//   margin 0.08, look-ahead 32, reach 0.25    430   1030   3000   650   180
//   margin 0.08, look-ahead 32, reach 0.50    350    710   2110   570   180    <- in use
//   margin 0.12, look-ahead 32, reach 0.50    370    840   2470   700   215
// Rotations in the tree made the second column 20 % slower: they cost far more than they save in queries. The tree is
// built anew when many boxes change at once, and when queries have opened kRebuildVisits nodes per box.
// Sort-and-sweep is slower at any number of boxes that move continuously (2 mm per step, 10 boxes: 0.33 us against
// 0.25, 1000: 720 against 60), so there is no threshold below which it is used; it is quicker only for fewer than some
// 700 boxes that all jump in every step. It serves as an oracle in the tests. bench/broad_phase_bench.cpp compares.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/collision/aabb_tree.h"
#include "sarrus/collision/filter.h"
#include "sarrus/geometry/aabb.h"

namespace sarrus {

struct GeomPair {
  int a = 0;  // a < b
  int b = 0;
  auto operator<=>(const GeomPair&) const = default;  // NOLINT(modernize-use-nullptr): false alarm on <=>
};

// Sorted set of pairs of small integers that is changed in bulk, once per step.
//
// An update is a single pass over the set. The pairs that join are sorted by digits of their numbers (LSD radix sort),
// which takes time proportional to their count: 5 ns per pair for 30 000 pairs; std::sort takes 42, for pairs that are
// not packed into one integer 58.
class PairList {
 public:
  using Key = std::uint64_t;  // a in the upper half, b in the lower: the order of keys is the order of pairs

  // Members of pairs are 0 <= id < id_limit.
  explicit PairList(int id_limit);

  // Puts {a, b}, a != b in any order, on the list of those that join at the next update. A pair may join only once and
  // only if it is not in the set or leaves in the same update.
  void join(int a, int b) { joining_.push_back(key(a, b)); }

  // Drops the pairs with a member that `leaves` marks by something other than 0, then takes in those that join.
  void update(std::span<const char> leaves);

  std::size_t joining() const { return joining_.size(); }
  void join_none() { joining_.clear(); }

  std::span<const Key> pairs() const { return {pairs_.data(), count_}; }
  static GeomPair unpack(Key k) { return {static_cast<int>(k >> 32), static_cast<int>(k & 0xffffffffu)}; }

 private:
  static Key key(int a, int b) {
    const auto x = static_cast<Key>(a < b ? a : b);
    const auto y = static_cast<Key>(a < b ? b : a);
    return x << 32 | y;
  }
  void sort_joining();
  void reserve(std::size_t n);

  int digits_ = 1;      // of an id
  int digit_bits_ = 1;  // of a digit
  std::size_t count_ = 0;
  std::vector<Key> pairs_;   // the first count_ of it
  std::vector<Key> merged_;  // the next pairs_
  std::vector<Key> joining_;
  std::vector<Key> scratch_;
  std::vector<std::uint32_t> offsets_;  // by value of a digit
};

inline constexpr std::size_t kMostNearPairs = 10'000'000;

class BroadPhase {
 public:
  // `moving` and `fixed`: indices of boxes, all different. Two fixed boxes never make a pair. `geom_of`: for every box
  // the geom that the filter knows it by. Boxes in neither list (planes are unbounded) stay outside.
  BroadPhase(std::span<const int> moving, std::span<const int> fixed, std::span<const int> geom_of);

  // Appends to `pairs` the allowed pairs of boxes that overlap or touch, each once, sorted. A box with lo > hi on some
  // axis is empty and meets nothing; bounds may be infinite, a box with NaN counts as empty. The answer depends on the
  // arguments alone, provided that the filter and the fixed boxes are the same in every call: the filter is asked only
  // when a pair comes near, fixed boxes are read in the first call. False if more than kMostNearPairs come near at
  // once; nothing is appended then.
  bool find_pairs(std::span<const Aabb> boxes, const PairFilter& filter, std::vector<GeomPair>& pairs);

 private:
  // The box when its fat box was made, and when that was; no step yet: step < 0.
  struct Past {
    Aabb box;
    std::int64_t step = -1;
  };

  void start(std::span<const Aabb> boxes);
  TreeBox tree_box(const Aabb& box) const;
  void find_changed(std::span<const Aabb> boxes);
  void fatten(int id, const Aabb& box);
  bool update_tree(std::span<const Aabb> boxes);
  void join_pairs_of(int id, const PairFilter& filter);
  bool update_list(const PairFilter& filter, bool rebuilt);
  void start_anew();
  void append_overlapping(std::span<const Aabb> boxes, std::vector<GeomPair>& pairs) const;

  std::vector<int> moving_;
  std::vector<int> fixed_;
  std::vector<int> geom_of_;

  bool started_ = false;
  std::int64_t step_ = 0;
  Vec3 origin_ = Vec3::Zero();    // of the trees' coordinates, m
  std::vector<Aabb> fat_;         // by box, empty if it is not in the tree
  std::vector<Past> past_;        // by box
  std::vector<int> changed_;      // boxes that left their fat box, became empty or stopped being empty
  std::vector<char> is_changed_;  // by box, 1 while the trees and the list are out of date
  AabbTree moving_tree_;
  AabbTree fixed_tree_;
  std::vector<AabbTree::Leaf> leaves_;
  PairList list_;
};

}  // namespace sarrus
