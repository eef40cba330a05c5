// The runs of a sweep as units of work (work/work_folder.h). A unit is a few runs; each that is finished is appended to
// a file at once, so that whoever takes the unit over after its worker was killed goes on behind the last of them.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "sarrus/sweep/run.h"
#include "sarrus/work/work_folder.h"

namespace sarrus {

// The plan must outlive the units. Units may run in several threads at the same time.
std::vector<WorkUnit> sweep_units(const SweepPlan& plan, const std::filesystem::path& folder);

// Hands over every run of finished units, in the order of runs. Throws InputError that names a damaged file.
void collect_sweep(const SweepPlan& plan, const std::vector<WorkUnit>& units,
                   const std::function<void(const SweepRun&)>& take);

}  // namespace sarrus
