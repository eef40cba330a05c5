// All readers of files that are fuzzed. Another one is a function in targets.h, one in seeds.h, a line here, and a
// folder fuzz/corpus/NAME for what was found.
#pragma once

#include <string_view>

#include "seeds.h"
#include "targets.h"

namespace sarrus::fuzz {

struct Reader {
  std::string_view name;
  Finding (*run)(std::string_view bytes);
  std::vector<std::string> (*seeds)();
  bool slow = false;  // half a second for an input: tests try few
};
inline constexpr Reader kReaders[] = {
    {"scene", scene, scene_seeds},
    {"mjcf", mjcf, mjcf_seeds},
    {"urdf", urdf, urdf_seeds},
    {"sdf", sdf, sdf_seeds, true},
    {"mesh", mesh, mesh_seeds},
    {"problem", problem, problem_seeds},
    {"fclib", fclib, fclib_seeds},
    {"recording", recording, recording_seeds},
    {"checkpoint", checkpoint, checkpoint_seeds},
};

}  // namespace sarrus::fuzz
