// Constraint problems as the simulator meets them: a built-in scene runs and the problem of every k-th step is copied.
// The run is solved by ADMM, so that the problems do not change with the default solver: bounds of the tests were
// measured on them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sarrus/problem/constraint_problem.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/step/simulation.h"

namespace sarrus::testing {

struct Recorded {
  std::string scene;
  int step = 0;
  ConstraintProblem problem;
};

// Runs `skip` steps, then copies the problem of every k-th of the next `steps` steps. Problems without rows are
// left out: there is nothing to solve.
inline std::vector<Recorded> record_scene(std::string_view scene, int skip, int steps, int every) {
  SimulationOptions options;
  options.solver = "admm-ncp-sa";
  options.fallback = "admm-ncp-la";
  options.tolerance = 1e-8;
  Simulation sim(make_scene(scene), options);
  std::vector<Recorded> out;
  for (int i = 0; i < skip + steps; ++i) {
    sim.step();
    if (i >= skip && (i - skip) % every == 0 && sim.problem().rows() > 0) {
      out.push_back({std::string(scene), i, sim.problem()});
    }
  }
  return out;
}

// Largest |a - b| over velocities u = u_f + M^-1 J' lambda of two answers to one problem.
inline double velocity_difference(const ConstraintProblem& p, const std::vector<double>& a,
                                  const std::vector<double>& b) {
  JudgeWorkspace wa;
  JudgeWorkspace wb;
  judge(p, a, wa);
  judge(p, b, wb);
  return (wa.u - wb.u).cwiseAbs().maxCoeff();
}

}  // namespace sarrus::testing
