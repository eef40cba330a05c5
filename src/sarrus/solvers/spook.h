// SPOOK-style splitting on the MLCP with box friction (spec/solvers.md §10; mlcp.h).
//
//   (a) direct: block pivoting on joints, soft rows, limits and normals, friction impulses held
//   (b) k_iter Gauss-Seidel sweeps over contacts, each a 3x3 box MLCP with its own normal; all other rows held
// It starts with (a), so that the first friction bounds come from a problem without friction (or with that of the warm
// start); each coupling is then bounds, (b), (a). Friction and the rest see each other only through this alternation:
// friction that must be carried through joints builds up slowly and is too small after few couplings.
//
// friction_regulariser C_t > 0 adds C_t 2^-c (1/kg, c = coupling) to the friction rows in (b), against friction
// impulses that balance one another and grow without moving anything. One iteration is one pivot or one sweep.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct SpookParameters {
  int k_cpl = 5;                    // couplings, 0: no limit
  int k_iter = 15;                  // sweeps per coupling, 0: no limit
  int k_dir = 10;                   // pivots per coupling, 0: no limit
  int p_max = 10;                   // as for bpp
  double delta_x = 1e-5;            // N s: the sweeps of a coupling end when no impulse changed by more
  double friction_regulariser = 0;  // C_t, 1/kg
  int max_iterations = 0;           // pivots and sweeps in all, 0: no limit
};

std::vector<ParameterInfo> spook_parameter_info();
std::unique_ptr<Solver> make_spook(const SolverParameters& parameters);

}  // namespace sarrus
