// PGS on the MLCP with box friction: scalar projected Gauss-Seidel, friction bounds frozen during the sweeps of a
// coupling (spec/solvers.md §10; box_sweep.h, mlcp.h). One iteration is one sweep.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct PgsBoxParameters {
  int k_cpl = 3;           // couplings, 0: no limit
  int k_iter = 25;         // sweeps per coupling, 0: no limit
  double delta_x = 1e-5;   // N s: a coupling ends when no impulse changed by more
  int max_iterations = 0;  // sweeps in all, 0: no limit
};

std::vector<ParameterInfo> pgs_box_parameter_info();
std::unique_ptr<Solver> make_pgs_box(const SolverParameters& parameters);

}  // namespace sarrus
