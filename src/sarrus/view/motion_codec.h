// How series of numbers become few bytes (docs/motion-format.md, "Codecs"). All are plain transforms; what makes them
// small is that gzip finds long runs of equal bytes in the result.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sarrus::view {

// A transformed section. value = lo[c] + scale[c] q
struct Quantised {
  std::string bytes;
  std::vector<double> lo;
  std::vector<double> scale;  // 0: constant channel, exact
  int bits = 0;               // of d2, as the next
  int planes = 0;             // byte planes
};

// d2: `values` are rows of `channels` series in time; each channel is rounded to `bits` bits of its own range, but not
// to steps below its `least` (none given: 0), and its second differences in time are stored. The error is at most scale
// / 2 but for the rounding of doubles.
inline constexpr int kDeltaBits = 16;
Quantised delta2(std::span<const double> values, std::size_t channels, std::span<const double> least = {},
                 int bits = kDeltaBits);

// q2: rows of `columns`, each column rounded to 16 bits of its range; no order is made use of.
Quantised quantise16(std::span<const double> values, std::size_t columns);

// l1: sizes by their logarithms, one byte each, `steps` to a decade: the least byte v with 10^(v/steps) >= |x|, and
// -128 for 0. Column by column. What is beyond 10^(127/steps) is that; what is not a number too: nothing bad looks
// better.
std::string logarithm1(std::span<const double> values, std::size_t columns, int steps);
std::int8_t log_byte(double value, int steps);

}  // namespace sarrus::view
