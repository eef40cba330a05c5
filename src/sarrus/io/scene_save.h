// The JSON document of a model. Keys at their default are left out, so that infinities need no notation;
// angles are in radians and joints have local anchors, so that loading repeats no arithmetic.
#pragma once

#include "sarrus/io/scene_print.h"
#include "sarrus/model/model.h"

namespace sarrus::scene {

OrderedJson document_of(const Model& model);

}  // namespace sarrus::scene
