// A made-up benchmark result for tests of the report and of the comparison: no number in it was measured.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "sarrus/bench/result.h"
#include "sarrus/math/random.h"

namespace sarrus {

// `samples` problems of two systems, three solvers of three laws, two tolerances, cold and warm; times carry 5 % noise.
inline BenchResult fake_result(std::uint64_t seed = 1, int samples = 40) {
  BenchResult r;
  r.command = "sarrus bench suite --quick";
  r.kind = "suite";
  r.machine = {"A processor", 4, "a compiler", "1.0", 1};
  r.tolerances = {1e-6, 1e-9};
  r.solvers = {{"cascade", Law::ncp, "the <best> & \"first\"", "max_iterations=200"},
               {"convex", Law::ccp, "another law", ""},
               {"picky", Law::box, "takes nothing", ""}};
  for (const char* id : {"walker", "stack"}) {
    SystemInfo s;
    s.id = id;
    s.bodies = 3;
    s.dt = 1e-3;
    r.systems.push_back(s);
  }
  Random noise(seed);
  for (int p = 0; p < samples; ++p) {
    SampleInfo s;
    s.system = p % 2;
    s.step = 10 * p;
    s.id = r.systems[static_cast<std::size_t>(s.system)].id + "/" + std::to_string(s.step);
    s.category = static_cast<ProblemCategory>(p % kProblemCategoryCount);
    s.hash = "h" + std::to_string(p);
    r.samples.push_back(s);
    for (int level = 0; level < 2; ++level) {
      for (const Start start : {Start::cold, Start::warm}) {
        for (int solver = 0; solver < 3; ++solver) {
          SolveRecord x;
          x.sample = p;
          x.solver = solver;
          x.level = level;
          x.start = start;
          x.outcome = solver == 2 ? Outcome::refused : Outcome::converged;
          const double tolerance = r.tolerances[static_cast<std::size_t>(level)];
          // The convex law differs from the NCP on every second sample.
          x.own_law_relative = 0.1 * tolerance;
          x.natural_map_relative = solver == 1 && p % 4 < 2 ? 1e-2 : 0.1 * tolerance;
          x.natural_map = 2 * x.natural_map_relative;
          x.iterations = 5 + p % 3 + 10 * solver;
          x.factorisations = 3;
          x.seconds = 1e-5 * (1 + p) * (1 + solver) * std::exp(0.05 * noise.normal());
          x.seconds_first = 0.2 * x.seconds;
          if (solver == 2) {
            x.natural_map = x.natural_map_relative = x.own_law_relative = std::numeric_limits<double>::infinity();
            x.message = "needs compliance: R = 0 in <row> \"3\"";
            x.iterations = 0;
            x.seconds = x.seconds_first = 0;
          }
          r.solves.push_back(x);
        }
      }
    }
  }
  return r;
}

}  // namespace sarrus
