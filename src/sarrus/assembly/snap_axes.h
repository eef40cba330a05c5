// Loops of rounded numbers: joint axes that are parallel but for rounding become exactly parallel
// (docs/theory/assembly.md §5).
//
// A planar loop whose axes are off by 1e-6 rad has three independent rows more on paper, and cannot move. Axes of
// revolute, prismatic, cylindrical and planar joints in one loop that are parallel within an angle take their mean
// direction, if that gives the mechanism a freedom that it does not have as written.
#pragma once

#include <vector>

#include "sarrus/assembly/assembly.h"

namespace sarrus {

struct SnappedLoop {
  std::vector<int> joints;  // whose axes were turned
  double angle = 0;         // rad, by at most this
};

struct SnapResult {
  Model model;  // as given where nothing was to be done
  std::vector<SnappedLoop> loops;
};

inline constexpr double kSnapAngle = 1e-3;  // rad

// Joint frames change, poses do not: `closed` is an assembled state of both models.
SnapResult snap_axes(const Model& model, const State& closed, double snap_angle = kSnapAngle);

// The loops of a model that is run as it is written which such axes lock: those that snap_axes() would free, but for
// those that the step frees for good, whose rows contradict each other in the last digits alone (rounded_rows.h).
std::vector<SnappedLoop> locked_loops(const Model& model, const State& closed, double snap_angle = kSnapAngle);

}  // namespace sarrus
