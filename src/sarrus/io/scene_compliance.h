// The "compliance" object of materials, material pairs, joints, couplings and limits (docs/scene-format.md).
// Only the parameters of the chosen model are known keys; their ranges are checked by finish_model.
#pragma once

#include "sarrus/io/scene_print.h"
#include "sarrus/io/scene_reader.h"
#include "sarrus/model/compliance.h"

namespace sarrus::scene {

// The value of the key "compliance", or the fallback if it is missing.
Compliance read_compliance(ObjectReader& owner, const Compliance& fallback = {});
// All parameters of the model, so that loading restores their bits.
OrderedJson compliance_json(const Compliance& compliance);

}  // namespace sarrus::scene
