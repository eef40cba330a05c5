// Numbers of a model that look as if they were given in other units than metres, kilograms and radians.
#pragma once

#include <string>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus {

// Appends a warning for each kind of mistake, with an example and what to do.
//   degrees      an angle (limit, spring rest, target of a position drive, phase, offset of a coupling) that is a
//                multiple of 0.5 from 10 to 1080 rad: nobody means 14 turns by 90
//   radians      an angle that is a simple fraction of pi as a number of degrees: 1.5708 degrees
//   millimetres  a body that is longer than 20 m and lighter than 1 g/m^3 of the cube of its length, or than 100 m;
//                what counts is its shapes, its joint anchors and its radius of gyration
//   grams        all bodies that have shapes are denser than 100000 kg/m^3 of the boxes around them, four times as
//                dense as anything on earth
// Rates have no such bounds: motors turn at hundreds of radians per second.
void add_unit_warnings(const Model& model, std::vector<std::string>& warnings);

}  // namespace sarrus
