// Values that many elements of a scene have: directions, orientations and frames (docs/scene-format.md, "Frames"), and
// the "compliance" object, of which only the parameters of the chosen model are known keys.
#pragma once

#include <optional>
#include <string_view>

#include "sarrus/files/json.h"
#include "sarrus/model/compliance.h"
#include "sarrus/model/model.h"

namespace sarrus::scene {

using json::Json;
using json::ObjectReader;
using json::OrderedJson;

// The unit vector under the key; its length may be off by 1e-3.
Vec3 read_direction(ObjectReader& r, std::string_view key);

// A quaternion [w, x, y, z] under `quaternion_key`, "euler_xyz" (angles times `angle_unit` are radians), or one
// or two of "x_axis", "y_axis", "z_axis"; nothing if none of them is given.
std::optional<Quat> read_orientation(ObjectReader& r, std::string_view quaternion_key, double angle_unit);

// {"p": [x, y, z], orientation}, both optional.
Pose read_frame(ObjectReader r, double angle_unit);

// [red, green, blue] or [red, green, blue, alpha] under "rgba", each from 0 to 1.
Colour read_colour(ObjectReader& r);

// The value of the key "compliance", or the fallback if it is missing.
Compliance read_compliance(ObjectReader& owner, const Compliance& fallback = {});
// All parameters of the model, so that loading restores their bits.
OrderedJson compliance_json(const Compliance& compliance);

}  // namespace sarrus::scene
