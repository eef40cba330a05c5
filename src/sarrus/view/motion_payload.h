// Scenes and motions as viewers read them: gzipped SRV1 containers (docs/motion-format.md).
#pragma once

#include <string>

#include "sarrus/view/motion.h"
#include "sarrus/view/scene_view.h"

namespace sarrus::view {

// Kind `scene`: what a live view shows.
std::string scene_payload(const Scene& scene, const RunFacts& facts);

// Kind `motion`, of all frames.
std::string motion_payload(const Scene& scene, const RunFacts& facts, const Motion& motion);

// Likewise, with as many frames as fit: all in 4 MiB, else 240 or 120 a second, and fewer only where those take more
// than 16 MiB. A motion whose rate was chosen is taken as it is.
std::string fitted_payload(const Scene& scene, const RunFacts& facts, Motion motion);

}  // namespace sarrus::view
