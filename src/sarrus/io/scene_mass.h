// Mass and inertia of a body of a scene: as given, or from its shapes (docs/scene-format.md, "Mass").
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sarrus/io/scene_reader.h"
#include "sarrus/model/model.h"

namespace sarrus::scene {

// One solid of a body: a shape, or a child of a compound.
struct SolidPart {
  Shape shape;
  Pose X_BS;
  std::string label;  // for messages
};

// Reads mass, density, inertia and recenter into the body. Shapes are homogeneous solids whose volumes add up. Their
// common centre of mass must be the body origin, or with recenter is returned (body frame, m) for the origin to be
// moved there; the inertia is about it.
Vec3 read_mass(ObjectReader& r, std::optional<double> default_density, std::span<const SolidPart> parts, Body& body);

}  // namespace sarrus::scene
