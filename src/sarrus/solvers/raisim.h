// Per-contact bisection (spec/solvers.md §1, §3.4; Hwangbo, Lee, Hutter 2018, "Per-contact iteration method for solving
// contact dynamics"; De Saxce variants by Tsounis et al.).
//
//   raisim        least energy E = lambda'G lambda / 2 + lambda'b on the slip curve; the fixed points of nbgs
//   raisim-ds     the same with s_n = mu |v_T| of the last velocity in E: fixed points obey Coulomb's law
//   raisim-ds-es  raisim-ds, ended early once the objective f = lambda'(D + R) lambda / 2 + lambda'v_f changes by less
//                 than epsilon_f tr M per sweep
//
// Relaxation omega <- (1 - gamma) omega_min + gamma omega, as in the original. The lagged s can cycle where the slip
// curve is a hyperbola: if the change of lambda has found no new minimum in 20 sweeps, the contacts are solved by the
// exact quartic from then on (same fixed points).
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

enum class RaisimVariant : std::uint8_t { plain, de_saxce, early_stop };

std::vector<ParameterInfo> raisim_parameter_info(RaisimVariant variant);
std::unique_ptr<Solver> make_raisim(RaisimVariant variant, const SolverParameters& parameters);

}  // namespace sarrus
