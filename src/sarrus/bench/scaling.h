// Time and memory of a step against the size of the model, and against the number of threads.
//
// Families (scenes/scalable.h): chain, tree, grid of linkages, pile, the same without warm starts (a pile at rest is
// solved by the impulses of the step before, and its steps cost next to nothing), separate islands. Every point is a
// simulation with the default solver: some steps to warm up, then the median of the measured ones. Memory is what the
// heap holds more than before the model was built, simulation and solver included.
#pragma once

#include <string>
#include <vector>

#include "sarrus/bench/result.h"
#include "sarrus/model/model.h"

namespace sarrus {

struct ScalingPoint {
  std::string family;
  int bodies = 0;
  int threads = 1;
};

struct ScalingOptions {
  std::vector<std::string> families;  // none: all
  std::vector<int> sizes = {10, 30, 100, 300, 1000, 3000, 10000};
  std::vector<int> threads = {1, 2, 4};  // of the islands at the largest size but one
  int warm_up_steps = 5;
  int steps = 30;
  double budget = 20;  // s: fewer steps, at least three, once this is spent on a point
};

struct ScalingFamily {
  std::string name;
  std::string summary;
  Model (*make)(int bodies);
  bool warm_start = true;
};
const std::vector<ScalingFamily>& scaling_families();

std::vector<ScalingPoint> scaling_points(const ScalingOptions& options);
ScalingRecord measure_scaling(const ScalingPoint& point, const ScalingOptions& options);

}  // namespace sarrus
