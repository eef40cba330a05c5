// Drumwright's compliant bilateral constraints: one linear solve (spec/solvers.md §11 DRUM-B, spec/problem.md §6, [D]).
//
//   (D + R) lambda = -v_f,   R = (h^2 K + h B)^-1,   v* = (h K + B)^-1 K phi_0
// on joints and unbounded soft rows: an implicit Euler step of the springs K (N/m) and dampers B (N s/m). Other rows
// get no impulse; if the judge does not accept that (NCP), the status is infeasible: the method knows no inequalities.
// R and v* are part of the problem already. R = 0 (rigid, perhaps redundant rows) works too (bilateral_reduction.h).
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct DrumBilateralParameters {
  double shift = 1e-10;    // of the diagonal, where rigid rows are redundant
  int max_iterations = 6;  // passes of refinement; without redundant rigid rows one is exact
};

std::vector<ParameterInfo> drum_bilateral_parameter_info();
std::unique_ptr<Solver> make_drum_bilateral(const SolverParameters& parameters);

}  // namespace sarrus
