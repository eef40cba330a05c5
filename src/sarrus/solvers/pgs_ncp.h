// Projected Gauss-Seidel on Coulomb's law, normal and tangential impulses one after the other (spec/solvers.md §2.2;
// Tsounis et al. Alg. 3).
//
//   lambda_N <- max(0, lambda_N - sigma_N / G_nn)
//   lambda_T <- P_disk(mu lambda_N)(lambda_T - r (sigma_T + G_Tn (change of lambda_N)))
//
// r = 1 / min(G_tt, G_oo) as printed only while that is below 1.5 / lambda_max(G_TT); else r = 1 / lambda_max(G_TT),
// since steps beyond 2 / lambda_max diverge. Impulses in N s, velocities in m/s.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

std::vector<ParameterInfo> pgs_ncp_parameter_info();
std::unique_ptr<Solver> make_pgs_ncp(const SolverParameters& parameters);

}  // namespace sarrus
