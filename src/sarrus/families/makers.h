// The generators behind the list of families.cpp.
#pragma once

#include <cstdint>

#include "sarrus/problem/constraint_problem.h"

namespace sarrus::families {

ConstraintProblem fourbar_chain(std::uint64_t seed);
ConstraintProblem stewart(std::uint64_t seed);
ConstraintProblem ring20(std::uint64_t seed);

ConstraintProblem walker31(std::uint64_t seed);
ConstraintProblem gazelle38(std::uint64_t seed);
ConstraintProblem ironman54(std::uint64_t seed);

ConstraintProblem stack15_heavy_sliding(std::uint64_t seed);
ConstraintProblem stack15_heavy_resting(std::uint64_t seed);
ConstraintProblem stack15_light_sliding(std::uint64_t seed);
ConstraintProblem stack15_light_resting(std::uint64_t seed);
ConstraintProblem pile200(std::uint64_t seed);
ConstraintProblem pile200_ratio1e3(std::uint64_t seed);
ConstraintProblem pile500(std::uint64_t seed);

}  // namespace sarrus::families
