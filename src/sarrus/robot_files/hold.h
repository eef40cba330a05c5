// Keeps a model in the pose in which it begins.
#pragma once

#include "sarrus/model/model.h"

namespace sarrus {

struct HeldModel {
  Model model;
  int kept = 0;    // position drives, of combinations too, that now aim at where they begin
  int servos = 0;  // that were added, where there was none
};

// Position drives aim at the coordinates of the start, those of combinations at the sums of them. A model without any
// gets servos in place of its motors, or, if it has none either, on all single coordinates of its tree of joints that
// nothing else decides (locks, couplings):
//
//   kp = I w^2,  kd = 2 I w,  w = 2 pi frequency
//
// I: mass, or inertia about the axis, of all that the coordinate moves in the tree at the start, and its armature; a
// robot in gravity sags by some g/(l w^2). The bounds of a motor's effort stay.
HeldModel held(const Model& model, double frequency = 5);

}  // namespace sarrus
