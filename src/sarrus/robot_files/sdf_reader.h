// Reads SDF into the graph of a robot (docs/robots.md), with libsdformat for frames, nesting, includes and old
// versions.
//
// Every joint holds at the initial poses by construction, coordinate 0 there, whatever loops it closes. Models in
// models are flattened: names are a::b. What the installed libsdformat is too old for (mimic, screw_thread_pitch of
// SDF 1.11) is read from the file itself.
#pragma once

#include "sarrus/robot_files/findings.h"
#include "sarrus/robot_files/folders.h"
#include "sarrus/robot_files/graph.h"

namespace sarrus::robot {

Graph read_sdf(xml::Node root, const Folders& folders, Findings& findings);

}  // namespace sarrus::robot
