// Drumwright's compliant unilateral constraints without friction (spec/solvers.md §11 DRUM-U, spec/problem.md §6, [D]).
//
//   literal = 0:  0 <= lambda  perp  (D + R) lambda + v_f >= 0    on limits and contact normals, joints and soft rows
//                 beside them; block pivoting (block_pivoting.h)
//   literal = 1:  min 1/2 |lambda|^2   s.t.  lambda >= 0,  (1 + R^-1 D) lambda >= -R^-1 v_f,   the paper's QP, R^-1 =
//                 h^2 K + h B; joints and soft rows eliminated (bilateral_reduction.h)
// lambda are impulses (N s). The QP is another law as soon as rows are coupled: it may push where nothing is
// compressed. It is solved through its dual, an LCP: with G = [R + D; 1] (rows scaled to length 1) and r = [-v_f; 0]
// likewise,
//   lambda = G'y,   0 <= y  perp  G G' y - r >= 0.
// Friction impulses are zero. The judge measures by Coulomb's law (NCP): the status is converged only if it agrees,
// else stalled when the method solved its own problem.
#pragma once

#include <memory>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct DrumUnilateralParameters {
  bool literal = false;    // the paper's QP instead of the complementarity law
  int p_max = 10;          // as for bpp
  int max_iterations = 0;  // pivots, 0: no limit
};

std::vector<ParameterInfo> drum_unilateral_parameter_info();
std::unique_ptr<Solver> make_drum_unilateral(const SolverParameters& parameters);

}  // namespace sarrus
