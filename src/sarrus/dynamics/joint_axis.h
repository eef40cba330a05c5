// Frames of a joint, and its directions as unit wrenches.
#pragma once

#include "sarrus/math/types.h"

namespace sarrus {

struct JointFrame {
  Vec3 p_B_W = Vec3::Zero();  // base anchor
  Vec3 p_F_W = Vec3::Zero();  // follower anchor
  Vec3 r_B_W = Vec3::Zero();  // centre of mass of the base (0 for the world)
  Vec3 r_F_W = Vec3::Zero();
  Mat3 A_B = Mat3::Identity();
  Mat3 A_F = Mat3::Identity();
};

// One scalar direction of a joint as a unit wrench on the follower at p_F, world axes. A constrained row and a
// degree of freedom are both of this form: rate = linear . (relative velocity at p_F) + angular . (relative
// angular velocity).
struct JointAxis {
  Vec3 linear = Vec3::Zero();
  Vec3 angular = Vec3::Zero();
};

}  // namespace sarrus
