// Directions, orientations and frames of a scene (docs/scene-format.md, "Frames").
#pragma once

#include <optional>
#include <string_view>

#include "sarrus/io/scene_reader.h"
#include "sarrus/math/types.h"

namespace sarrus::scene {

// The unit vector under the key; its length may be off by 1e-3.
Vec3 read_direction(ObjectReader& r, std::string_view key);

// A quaternion [w, x, y, z] under `quaternion_key`, "euler_xyz" (angles times `angle_unit` are radians), or one
// or two of "x_axis", "y_axis", "z_axis"; nothing if none of them is given.
std::optional<Quat> read_orientation(ObjectReader& r, std::string_view quaternion_key, double angle_unit);

// {"p": [x, y, z], orientation}, both optional.
Pose read_frame(ObjectReader r, double angle_unit);

}  // namespace sarrus::scene
