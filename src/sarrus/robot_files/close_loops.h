// The start of an imported model: loops that the file leaves open are closed, limits that it violates are met, by the
// nearest pose (assembly/assembly.h).
#pragma once

#include "sarrus/dynamics/state.h"
#include "sarrus/model/model.h"
#include "sarrus/robot_files/findings.h"

namespace sarrus::robot {

// The model with a start in which its joints meet; as given where they do, or if ImportOptions::assemble says never.
// Throws InputError for loops that cannot close; limits that cannot be met are a warning.
Model assembled(const Model& model, Findings& findings);

// The model with the axes of loops made parallel that are so within ImportOptions::snap_angle, where that frees the
// loop (assembly/snap_axes.h), and a warning for each.
Model snapped(const Model& model, const State& closed, Findings& findings);

// How far joints are open, m or rad.
double open_by(const Model& model, const State& state);

}  // namespace sarrus::robot
