// The default solver (spec/newton.md §6): semismooth Newton from the warm start, then interior point methods polished
// by it, then ADMM2 polished by it. Each stage starts from its own point; the best iterate of all counts.
//
//   1  semismooth Newton: an attempt from the warm start; without one a quick pass from zero, if impulses may be unique
//   2  interior point in variants (coupling in the matrix, fraction of the step to the boundary, slack reset), in an
//   order
//      chosen by the kind of problem: more joint rows than contact rows, or not; semismooth Newton is tried whenever
//      the natural map has fallen far enough, and from the best point of each
//   3  ADMM2 from zero with semismooth Newton attempts at growing intervals
// Problems of joints alone are linear: two Newton steps.
#pragma once

#include <memory>
#include <vector>

#include "sarrus/solvers/solver.h"

namespace sarrus {

std::vector<ParameterInfo> cascade_parameter_info();
std::unique_ptr<Solver> make_cascade(const SolverParameters& parameters);

}  // namespace sarrus
