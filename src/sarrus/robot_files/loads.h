// What acts on sums of coordinates, where a single coordinate can carry it: L = c q + d of one coordinate, or of
// several that linear couplings tie to one. With it a limit, spring, damper, friction or drive of L is one of q:
//   k_q = c^2 k,  damping c^2 b,  friction |c| f,  limits (L - d)/c,  force c F.
#pragma once

#include "sarrus/robot_files/findings.h"
#include "sarrus/robot_files/graph.h"

namespace sarrus::robot {

// Adds what acts on L = c q + d to a coordinate q that may have loads of its own.
void add_load(Coordinate& q, const Coordinate& acts, double c, double d, Findings& findings, const xml::Place& place,
              const std::string& element);

// Adds a drive to the one that the coordinate has. Gains add, and so do the forces of the targets.
void add_drive(Drive& drive, const Drive& added, Findings& findings, const xml::Place& place,
               const std::string& element);

// Folds the combinations that can be folded; the others are left in the graph.
void fold_loads(Graph& graph, Findings& findings);

}  // namespace sarrus::robot
