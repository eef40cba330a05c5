// Sorted set of pairs of small integers that is changed in bulk, once per step.
//
// An update is a single pass over the set. The pairs that join are sorted by digits of their numbers (LSD radix sort),
// which takes time proportional to their count: 5 ns per pair for 30 000 pairs; std::sort takes 42, for pairs that are
// not packed into one integer 58.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace sarrus {

struct GeomPair {
  int a = 0;  // a < b
  int b = 0;
  auto operator<=>(const GeomPair&) const = default;  // NOLINT(modernize-use-nullptr): false alarm on <=>
};

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

}  // namespace sarrus
