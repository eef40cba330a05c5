// Per-contact bisection (spec/solvers.md §1, §3.4; Hwangbo, Lee, Hutter 2018, "Per-contact iteration method for solving
// contact dynamics"; De Saxce variants by Tsounis et al.).
//
//   raisim        least energy E = lambda'G lambda / 2 + lambda'b on the slip curve; the fixed points of nbgs
//   raisim-ds     the same with s_n = mu |v_T| of the last velocity in E: fixed points obey Coulomb's law
//   raisim-ds-es  raisim-ds, ended early once the objective f = lambda'(D + R) lambda / 2 + lambda'v_f changes by less
//                 than epsilon_f tr M per sweep
//
// Relaxation omega <- (1 - gamma) omega_min + gamma omega, as in the original.
//
// Coulomb's law is a fixed point of raisim-ds, but not every fixed point is Coulomb's law: with phi the angle between
// v_T and -t, stationary energy says sin phi = (mu g'/g)(1 - cos phi), that is phi = 0 or tan(phi/2) = g / (mu g'). The
// second one occurs on hyperbolic slip curves. Therefore, if the unrelaxed change of lambda has not fallen by a tenth
// in 20 sweeps, or lambda has come to rest away from a solution, contacts are solved by the exact quartic from then on.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

enum class RaisimVariant : std::uint8_t { plain, de_saxce, early_stop };

std::vector<ParameterInfo> raisim_parameter_info(RaisimVariant variant);
std::unique_ptr<Solver> make_raisim(RaisimVariant variant, const SolverParameters& parameters);

}  // namespace sarrus
