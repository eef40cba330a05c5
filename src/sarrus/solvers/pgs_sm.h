// PGS-SM: projected Gauss-Seidel with subspace minimisation on the MLCP with box friction (spec/solvers.md §10;
// Silcowitz, Niebe and Erleben 2010; box_sweep.h, mlcp.h).
//
// One coupling:
//   k_iter sweeps;   sets: x <= l: L,  x >= u: U,  else F
//   up to k_dir times: A_FF x_F = -b_F - A_FL x_L - A_FU x_U;  rows of F outside their bounds are clamped and leave F
// The result of the subspace steps replaces that of the sweeps only if the energy 1/2 x'Ax + x'b is not larger: F only
// shrinks, so a wrong guess could otherwise undo the sweeps for ever. One iteration is one sweep or one subspace solve.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct PgsSmParameters {
  int k_cpl = 5;           // couplings, 0: no limit
  int k_iter = 15;         // sweeps per coupling, 0: no limit
  int k_dir = 5;           // subspace solves per coupling, 0: no limit
  double delta_x = 1e-5;   // N s: the sweeps of a coupling end when no impulse changed by more
  int max_iterations = 0;  // sweeps and subspace solves in all, 0: no limit
};

std::vector<ParameterInfo> pgs_sm_parameter_info();
std::unique_ptr<Solver> make_pgs_sm(const SolverParameters& parameters);

}  // namespace sarrus
