// URDF has no word for pairs of links that must not collide, and convex hulls of links that are not neighbours overlap
// in real files: pairs of bodies that overlap where the robot starts are taken as meant to.
#pragma once

#include "sarrus/model/model.h"
#include "sarrus/robot_files/findings.h"

namespace sarrus::robot {

// Excludes them, with a warning.
Model exclude_overlaps(Model model, Findings& findings);

}  // namespace sarrus::robot
