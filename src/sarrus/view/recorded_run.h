// A recording (recording/recording.h) as a viewer needs it: the same scene and motion that a live run would have given.
#pragma once

#include <filesystem>

#include "sarrus/view/motion.h"
#include "sarrus/view/scene_view.h"

namespace sarrus::view {

struct RecordedRun {
  Scene scene;
  RunFacts facts;
  Motion motion{Layout{}};
};

// Of version 1 or 2; what an older recording does not have is named in Motion::missing. `rate`: frames per second that
// are kept, 0: every sample. Throws InputError naming the file and what is missing or damaged in it.
RecordedRun load_recorded_run(const std::filesystem::path& file, double rate = 0);

}  // namespace sarrus::view
