// Mass and inertia of a body of a scene: as given, or from its shapes (docs/scene-format.md, "Mass").
#pragma once

#include <optional>
#include <span>

#include "sarrus/io/scene_reader.h"
#include "sarrus/model/model.h"

namespace sarrus::scene {

// Reads mass, density and inertia into the body. Shapes are homogeneous solids whose volumes add up; their
// common centre of mass must be the body origin.
void read_mass(ObjectReader& r, std::optional<double> default_density, std::span<const Geom> shapes, Body& body);

}  // namespace sarrus::scene
