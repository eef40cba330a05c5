// How joints connect the bodies of a model, for messages.
#pragma once

#include <string>
#include <vector>

#include "sarrus/model/joint_graph.h"
#include "sarrus/model/model.h"

namespace sarrus {

// The shortest loop through a joint; empty if the joint is in none.
Loop shortest_loop(const Model& model, int joint);

// "the loop of joints 'a', 'b', 'c' and bodies 'x', 'y', world"; long ones are cut.
std::string loop_text(const Model& model, const Loop& loop);

}  // namespace sarrus
