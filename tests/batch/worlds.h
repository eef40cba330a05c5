// Worlds that differ, for the tests of batches.
#pragma once

#include <vector>

#include "sarrus/batch/batch.h"
#include "sarrus/math/random.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::testing {

// Small pushes, other ones in each world: worlds x bodies x 6.
inline std::vector<double> pushes(const Model& model, int worlds, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> out;
  for (int w = 0; w < worlds; ++w) {
    for (const Body& b : model.bodies()) {
      for (int k = 0; k < 6; ++k) out.push_back(random.uniform(-1, 1) * b.mass * (k < 3 ? 2 : 0.02));
    }
  }
  return out;
}

inline void push(Simulation& simulation, const std::vector<double>& pushes, int world) {
  const int n = simulation.model().body_count();
  for (int i = 0; i < n; ++i) {
    simulation.set_body_wrench(i, Eigen::Map<const Vec6>(pushes.data() + 6 * (world * n + i)));
  }
}

}  // namespace sarrus::testing
