// What of a recording does not change with time: its attributes, bodies, joints, shapes, drives and loops. Internal to
// recording.cpp.
#pragma once

#include <filesystem>

#include "sarrus/files/hdf5.h"
#include "sarrus/model/model.h"
#include "sarrus/recording/run_summary.h"

namespace sarrus {

// A new file with all of that, and the groups for what changes. `every`: steps from one sample to the next.
hdf5::File create_recording(const std::filesystem::path& path, const Model& model, const RunInfo& info, int every);

}  // namespace sarrus
