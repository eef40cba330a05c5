// Elastic foundation: a face that presses with one spring per element (docs/theory/rows.md §6.5, [D] 6).
//
//   K = E A_el/depth,   A_el = 4 a b/(n_x n_y)
// for a face of half sizes a, b covered by an elastic layer of modulus E and thickness `depth`. An element is a small
// sphere that touches the face from inside at its centre, so each makes one contact of its own. At rest on a plane the
// face sinks by m g/(E A/depth), and a tilting moment meets the stiffness of the distributed springs.
#pragma once

#include <string>

#include "sarrus/model/builder.h"

namespace sarrus {

struct Foundation {
  int elements_x = 10;
  int elements_y = 10;
  double modulus = 1e6;  // E, Pa
  double depth = 0.01;   // thickness of the layer, m
  double damping = 0;    // B of one element, N s/m
  double friction_damping = kUseDefault;
  double mu = 0.7;
};

// Covers the rectangle |x| <= half_x, |y| <= half_y in the plane z = 0 of the frame X_BF with elements; z points out of
// the body. Adds one material, called `name`, with the spring_damper compliance of an element, and returns its index.
// The body should have no shape of its own there: it would carry the load rigidly. Throws InputError for bad numbers.
int add_foundation(ModelBuilder& builder, const std::string& name, int body, const Pose& X_BF, double half_x,
                   double half_y, const Foundation& foundation);

}  // namespace sarrus
