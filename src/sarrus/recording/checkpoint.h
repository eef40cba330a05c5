// Checkpoints: a snapshot of a simulation as a file, from which a run goes on in the same bits.
//
//   "SARRUSCP", version (u32), length (u64), the snapshot, FNV-1a hash of all before (u64); little-endian
// A file is replaced as a whole or not at all, so that the last checkpoint is there whatever happens.
#pragma once

#include <filesystem>

#include "sarrus/step/simulation.h"

namespace sarrus {

// Throws InputError naming the file, which is then as it was.
void save_checkpoint(const std::filesystem::path& file, const Snapshot& snapshot);
// Throws InputError naming the file if it is none, cut off, damaged, or of another version.
Snapshot load_checkpoint(const std::filesystem::path& file);

}  // namespace sarrus
