// Rank, mobility and near-dependence of the rows at a closed posture (docs/theory/assembly.md §4).
//
// Singular values of A, the rows scaled to length 1 in the metric of the masses. Between 1e-9 and 1e-4 of the largest
// one lies what is either a singular posture (a dead point: it grows when the mechanism moves on) or a redundant loop
// of rounded numbers (it stays small): a step of 0.05 along its direction tells which.
#pragma once

#include "sarrus/assembly/loop_equations.h"

namespace sarrus {

void find_freedom(LoopEquations& equations, const AssemblyOptions& options, const Posture& posture,
                  AssemblyReport& report);

}  // namespace sarrus
