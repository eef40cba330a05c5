// Families of constraint problems drawn from a seed: what solvers are tuned on, tested with and compared by
// (docs/theory/benchmarks.md §6).
//
// All are in maximal coordinates with dt = 0.01 s, R = 0, v* = gap/dt on limits and contacts, v* = 0 on joints (loops
// close at the generated pose), and
//   u_f = u- + dt g + noise,   noise uniform in +-nu m/s and +-2 nu rad/s per component.
// The same seed gives the same bits (on one maths library: masses use pow). No <random> distribution is involved, since
// their results differ between standard libraries.
//
//   family            bodies/joints/contacts  rows (rank)  masses                          nu
//   fourbar_chain     16 / 20 / 4             115 (94)     100^U, cranks and rockers x .1  .05
//   stewart           15 / 18 / 8             102 (90)     1/30 ... 300 kg                 .1
//   walker31          31 / 36 / 40            300 (182)    ratio 1e2, torso free           .1
//   gazelle38         38 / 45 / 24            298 (218)    ratio 1e3, torso welded         .1
//   ironman54         54 / 67 / 20            372 (312)    ratio 25 544, torso welded      .1
//   ring20            20 / 20 / 80            340 (120)    10^U(-1,1)                      .3
//   stack15_*         15 / 0 / 60             180 (90)     geometric 1 ... 1e4             .02
//   pile200           50 / 0 / 200            600 (300)    10^U                            .1
//   pile200_ratio1e3  50 / 0 / 200            600 (300)    1000^U, mu = .8                 .05
//   pile500           50 / 0 / 500            1500 (300)   10^U                            .3
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

struct Family {
  std::string_view name;
  std::string_view summary;
  ConstraintProblem (*make)(std::uint64_t seed);
};

std::span<const Family> problem_families();
// Throws InputError listing the known names.
const Family& problem_family(std::string_view name);

// Two problems for warm starts: second is first with u_f + 1e-3 N(0,1) per component (docs/theory/benchmarks.md §6.2).
struct WarmPair {
  ConstraintProblem first;
  ConstraintProblem second;
};
WarmPair warm_pair(const Family& family, std::uint64_t seed);

// Steps with persistent contacts (docs/theory/benchmarks.md §6.3): constraints stay, and u_f of each step is that of
// the step before plus uniform noise of +-.01 m/s, +-.02 rad/s. It does not contain the answer of the step before, so
// that every solver is given the same problems.
inline constexpr int kSequenceSteps = 25;
std::vector<ConstraintProblem> warm_sequence(const Family& family, std::uint64_t seed, int steps = kSequenceSteps);

}  // namespace sarrus
