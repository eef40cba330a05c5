// The one place that talks to Qhull.
#pragma once

#include <span>

#include "sarrus/geometry/polygons.h"
#include "sarrus/math/types.h"

namespace sarrus {

// Facets of the hull of the points as vertex cycles, CCW from outside. `options` are Qhull's, without the program name.
// `outside`: Qhull's own bound on how far a point lies above a facet or a vertex below its facets. False if Qhull
// reports an error or a facet is not a simple cycle. Prints nothing.
bool qhull_facets(std::span<Vec3> points, const char* options, Polygons& facets, double& outside);

}  // namespace sarrus
