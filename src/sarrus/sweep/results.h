// The results of a sweep as one HDF5 file (docs/batch.md has the list of its data sets).
#pragma once

#include <string>
#include <vector>

#include "sarrus/sweep/units.h"

namespace sarrus {

struct SweepCounts {
  int finished = 0, failed = 0, refused = 0;
  int creates_energy = 0;
  std::string first_message;  // of a run that did not finish
  int first_run = -1;
};

// Throws InputError naming the file. `csv`, if it is wanted, gets a row for each run, of what does not depend on the
// machine.
SweepCounts write_sweep(const SweepPlan& plan, const std::vector<WorkUnit>& units, const std::string& file,
                        const std::string& version, std::string* csv = nullptr);

}  // namespace sarrus
