// The systems of the benchmark: scenes with their driving, in groups by where they come from
// (docs/theory/benchmarks.md §1-§3, docs/benchmarks.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/bench/result.h"
#include "sarrus/model/model.h"
#include "sarrus/step/simulation.h"

namespace sarrus {

// A constant force of 20 N along +x on one body, from t = 2 s for 0.1 s (docs/theory/benchmarks.md §1.1).
struct Push {
  double force = 20;      // N
  double start = 2;       // s
  double duration = 0.1;  // s
};

struct BenchSystem {
  std::string id;
  std::string_view group;
  std::function<Model()> make;
  bool pushed = false;  // the heaviest body that is not welded to the world is pushed
  bool quick = false;   // part of --quick
  double duration = 0;  // s; 0: the scene's own
};

const std::vector<BenchSystem>& bench_systems();
// Throws InputError with the nearest known id.
const BenchSystem& bench_system(std::string_view id);

// The body that a push acts on: the heaviest one that no fixed joint holds on the world; the first of equals.
int pushed_body(const Model& model);
// Sets the external wrench of the step that starts at the simulation's time.
void apply_push(Simulation& sim, int body, const Push& push = {});

// Counts at the reference pose. Duration and step as a reference run takes them.
SystemInfo describe(const BenchSystem& system, const Model& model);

}  // namespace sarrus
