// How many samples a random test takes. The sanitizers slow the code down ten times and look for other things than rare
// numbers do: there a twentieth of the samples is enough.
#pragma once

#include <algorithm>

namespace sarrus::test {

inline int samples(int wanted) { return std::max(1, wanted / SARRUS_SAMPLE_DIVISOR); }

}  // namespace sarrus::test
