// How much of its work a test does. The sanitizers slow the code down ten times and look for other things than rare
// numbers do: `make test` sets SARRUS_SAMPLE_DIVISOR=20 there, and a twentieth of the samples is enough. `make
// sanitize` takes all of them.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace sarrus::test {

inline int sample_divisor() {
  const char* text = std::getenv("SARRUS_SAMPLE_DIVISOR");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

inline int samples(int wanted) { return std::max(1, wanted / sample_divisor()); }

}  // namespace sarrus::test

// For a test whose claim needs its full length: the short run leaves it out, and others of its folder take the same way
// through the code.
#define SARRUS_FULL_SIZE_ONLY()                                                    \
  do {                                                                             \
    if (sarrus::test::sample_divisor() > 1) GTEST_SKIP() << "needs its full size"; \
  } while (false)
