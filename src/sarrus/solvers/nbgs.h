// Nonsmooth block Gauss-Seidel: every contact is solved exactly in its turn (spec/solvers.md §3; Tsounis et al. Alg.
// 4).
//
//   nbgs        least energy on the part of the cone without normal velocity. This is Coulomb's law only where normal
//   and
//               tangential directions are uncoupled (G_Tn = 0); elsewhere it is not maximally dissipative
//   nbgs-exact  Coulomb's law itself, by the roots of its own quartic
//
// Equations in local_contact.h.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

std::vector<ParameterInfo> nbgs_parameter_info();
std::unique_ptr<Solver> make_nbgs(bool exact, const SolverParameters& parameters);

}  // namespace sarrus
