// The problems of a run as files, one for each N-th step (`sarrus run --dump-problems`).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "sarrus/step/simulation.h"

namespace sarrus::app {

class ProblemDump {
 public:
  // Creates the folder; throws InputError naming the option. An empty folder: nothing is written.
  ProblemDump(const std::string& folder, const std::string& scene, int every);

  // <folder>/<scene>-<step>.h5 with the warm start and the impulses of the step's (last) solve, for every N-th step
  // and for one that failed.
  void add(const Simulation& sim, std::int64_t step) const;

 private:
  std::filesystem::path folder_;
  std::string scene_;
  int every_;
};

}  // namespace sarrus::app
