// One number for all of a model that its motion depends on: equal models have equal ones, and others, but for chance,
// do not. What is only seen or told (names of the model, visuals, frames, colours, the file) does not count, nor do run
// defaults, which a simulation has as its options.
#pragma once

#include <cstdint>

#include "sarrus/model/model.h"

namespace sarrus {

std::uint64_t fingerprint(const ModelData& data);
inline std::uint64_t fingerprint(const Model& model) { return fingerprint(model.data()); }

}  // namespace sarrus
