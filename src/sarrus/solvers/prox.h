// Proximal point iteration with Gauss-Seidel updates, SORprox (spec/solvers.md §5).
//
//   joint    lambda <- lambda - r D_kk^-1 sigma                (block_joints = 0: lambda - r sigma / lambda_max(D_kk))
//   soft     lambda <- clamp(lambda - r sigma / D_ii),         limit alike with [0, inf)
//   contact  lambda_N <- max(0, lambda_N - r sigma_N / G_nn)
//            lambda_T <- P_disk(mu lambda_N)(lambda_T - r sigma_T / lambda_max(G_TT))
//
// The fixed points obey Coulomb's law without a De Saxce term. r <= 1 is one factor for all rows: a sweep that changes
// lambda by more than `growth` times the change of the sweep before is taken back and r shrinks by nu, unless it has
// reached r_min; after ten accepted sweeps it grows by a tenth. growth = 1 is the text's rule. It takes back harmless
// sweeps, since the changes of a converging iteration do not fall monotonically, and r then stays small. N s, m/s.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

std::vector<ParameterInfo> prox_parameter_info();
std::unique_ptr<Solver> make_prox(const SolverParameters& parameters);

}  // namespace sarrus
