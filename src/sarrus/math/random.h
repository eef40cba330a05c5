// Random numbers that are the same everywhere: xoshiro256++ seeded by splitmix64.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sarrus/math/types.h"

namespace sarrus {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& s : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      s = z ^ (z >> 31);
    }
  }

  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
  double uniform(double a, double b) { return a + (b - a) * uniform(); }
  double log_uniform(double a, double b) { return a * std::pow(b / a, uniform()); }
  int below(int n) { return static_cast<int>(uniform() * n); }
  bool chance(double p) { return uniform() < p; }
  // Components drawn in order: function arguments would be evaluated in any.
  Vec3 in_box(double half) {
    Vec3 x;
    for (int k = 0; k < 3; ++k) x[k] = uniform(-half, half);
    return x;
  }
  Vec3 direction() {
    for (;;) {
      const Vec3 x = in_box(1.0);
      const double n = x.norm();
      if (n > 0.1 && n <= 1.0) return x / n;
    }
  }
  double normal() {  // Marsaglia's polar method, second value dropped
    for (;;) {
      const double x = uniform(-1, 1);
      const double y = uniform(-1, 1);
      const double s = x * x + y * y;
      if (s > 0 && s < 1) return x * std::sqrt(-2.0 * std::log(s) / s);
    }
  }

 private:
  std::uint64_t state_[4] = {};
};

}  // namespace sarrus
