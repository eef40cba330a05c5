// BPP: block principal pivoting on the MLCP with box friction (spec/solvers.md §10; block_pivoting.h, mlcp.h).
//
// Each coupling solves the MLCP with frozen friction bounds exactly, unless k_dir pivots do not suffice. The reference
// of the other box-friction solvers is BPP without limits: k_cpl = 0, k_dir = 0. Index sets are carried from coupling
// to coupling; the first ones follow from the warm start. One iteration is one pivot (one Cholesky factorisation).
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct BppParameters {
  int k_cpl = 3;           // couplings, 0: no limit
  int k_dir = 30;          // pivots per coupling, 0: no limit
  int p_max = 10;          // block exchanges without a new minimum before single ones
  int max_iterations = 0;  // pivots in all, 0: no limit
};

std::vector<ParameterInfo> bpp_parameter_info();
std::unique_ptr<Solver> make_bpp(const SolverParameters& parameters);

}  // namespace sarrus
