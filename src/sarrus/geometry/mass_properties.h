// Volume, centre and inertia of homogeneous solids of density one (docs/theory/collision.md §1).
//
// Closed triangle surfaces, CCW from outside, with the mean vertex subtracted first; per triangle (a, b, c),
// S = a + b + c, w = a . (b x c):
//   V = sum w / 6,   c = sum w S / (24 V),
//   C = sum w (a a^T + b b^T + c c^T + S S^T) / 120 - V c c^T,   I = tr(C) 1 - C
#pragma once

#include <array>
#include <span>

#include "sarrus/math/types.h"

namespace sarrus {

struct MassProperties {
  double volume = 0;            // m^3
  Vec3 centre = Vec3::Zero();   // centre of volume in the shape's frame, m
  Mat3 inertia = Mat3::Zero();  // about the centre, shape axes, per unit density: m^5

  // The same solid seen from a frame A in which the shape's frame has pose X_AS.
  MassProperties in_frame(const Pose& X_AS) const;
};

// Of two solids together, both in one frame. Overlaps count twice.
MassProperties combine_masses(const MassProperties& a, const MassProperties& b);

// V < 0 for a surface turned inside out; meaningless for an open one: the caller has checked.
MassProperties surface_mass_properties(std::span<const Vec3> vertices, std::span<const std::array<int, 3>> triangles);

}  // namespace sarrus
