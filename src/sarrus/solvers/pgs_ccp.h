// Projected Gauss-Seidel on cones (spec/solvers.md §2.1; Tsounis et al. Alg. 2 and 5).
//
//   lambda_k <- P_K(lambda_k - r (sigma_k + s)),   r = min(3 / tr G_k, 1.5 / lambda_max(G_k)),   G_k = D_kk + R_k
//
// The printed step 3 / tr G_k alone diverges where one eigenvalue holds more than two thirds of the trace.
// s = 0 solves the convex relaxation (CCP), whose sliding contacts lift with v_N = mu |v_T|. With the De Saxce term of
// the last velocity, s = (0, 0, mu |sigma_T|), the fixed points are those of Coulomb's law (NCP). N s, m/s.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

std::vector<ParameterInfo> pgs_ccp_parameter_info();
std::unique_ptr<Solver> make_pgs_ccp(bool with_de_saxce, const SolverParameters& parameters);

}  // namespace sarrus
