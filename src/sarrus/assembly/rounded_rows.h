// Joint rows that a model can do without, where redundant loops contradict each other in the last digits of their
// numbers (docs/theory/assembly.md §6).
//
// The rows of a mechanism, scaled to length 1 in the metric of the masses, have singular values. Those of redundant
// rows are 0; numbers that were rounded make them 1e-9 or 1e-6, and a freedom that the mechanism is meant to have
// becomes a direction in which the rows still resist: at unbounded impulses, or with gaps that no step can close. As
// many rows as there are such values, and zeros, may follow from the others: those that a pivoted QR factorisation
// takes last. They are left out if they do follow: if the mechanism, moved by 0.2 rad along each such direction, both
// ways, and closed without them, meets them to 1e-6 rad. What is left has the rank, and the freedom, of the mechanism
// that is meant.
//
// A singular posture (a dead point) has small values, too; moved away from it, its rows open by far more: all stay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/model/model.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

inline constexpr double kRounded = 1e-5;      // of the largest singular value
inline constexpr int kMostRoundedRows = 400;  // of a mechanism; larger ones are left as they are

// By joint row of set_position_rows(): 1 for those that can be left out. Empty: none. At the reference pose, which has
// to be closed; deterministic. Each mechanism is judged by itself. None of models in which joints give way: rows of the
// problem are others there.
std::vector<std::uint8_t> rounded_rows(const Model& model);

// Leaves them out of a problem whose first rows they are, before their diagonal is measured: as a damper of a millionth
// of what would stop the bodies within the step, R = 1e6 D_ii, without a bias: it takes next to nothing, and creates no
// energy.
void release_rows(std::span<const std::uint8_t> rows, ConstraintProblem& problem);

}  // namespace sarrus
