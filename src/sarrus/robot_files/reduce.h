// From the graph of a robot's file to the data of a model, for all formats alike:
//   links that are fixed to each other become one body, those fixed to the world part of the world;
//   body frames move to the centre of mass, with the axes of the first link of the group;
//   inertias that no body can have are repaired or refused;
//   chains of axes that no joint of the model has get light bodies between them;
//   everything gets a unique name.
#pragma once

#include "sarrus/robot_files/findings.h"
#include "sarrus/robot_files/graph.h"

namespace sarrus::robot {

// What falls out of the reduction goes to the findings. Throws InputError for what cannot move at all.
ModelData reduce(Graph graph, Findings& findings);

}  // namespace sarrus::robot
