// The random numbers of the changes: a seed gives the same changes again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace sarrus::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed == 0 ? 1 : seed) { next(); }
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(next() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

inline double odd_number(Random& random) {
  constexpr double kOdd[] = {0,    -0.0, 1,    -1,    0.5,   1e-300, 1e300, -1e300,     5e-324,       1e-12, 1e-6,
                             1e-3, 1e3,  1e6,  1e12,  1e18,  90,     180,   2147483647, -2147483648., 1e154, 1e-162,
                             3,    2,    1e-9, 65536, 1e100, 360,    4,     -1e-9,      0.1,          7,     1e9};
  return kOdd[random.below(std::size(kOdd))];
}

inline std::uint64_t odd_whole_number(Random& random) {
  constexpr std::uint64_t kOdd[] = {0,
                                    1,
                                    2,
                                    3,
                                    4,
                                    8,
                                    0x7f,
                                    0xff,
                                    0xffff,
                                    0x7fffffff,
                                    1U << 20,
                                    4096,
                                    4097,
                                    0x8000,
                                    1U << 31,
                                    65536,
                                    0xffffffff,
                                    ~std::uint64_t{0},
                                    ~std::uint64_t{0} >> 1};
  return kOdd[random.below(std::size(kOdd))];
}

}  // namespace sarrus::fuzz
