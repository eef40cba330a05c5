// The group /geoms of a recording: everything that a viewer needs to draw the bodies (recording.h). Internal to the
// recording writer.
#pragma once

#include "sarrus/io/recording_hdf5.h"
#include "sarrus/model/model.h"

namespace sarrus {

void write_geoms(const hdf5::File& file, const Model& model);

}  // namespace sarrus
