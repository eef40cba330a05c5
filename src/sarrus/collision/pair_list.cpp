#include "sarrus/collision/pair_list.h"

#include <algorithm>
#include <bit>

namespace sarrus {
namespace {

constexpr int kMaxDigitBits = 11;        // the counters of a digit then fit into the L1 cache
constexpr std::size_t kRadixFrom = 256;  // fewer pairs: std::sort is faster

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

}  // namespace sarrus
