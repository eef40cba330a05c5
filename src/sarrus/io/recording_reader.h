// Reads the motion back from a recording (recording.h): states, and the contact impulses of the steps between them.
#pragma once

#include <filesystem>
#include <vector>

#include "sarrus/dynamics/state.h"

namespace sarrus {

struct RecordedContact {
  int geom_a = 0;
  int geom_b = 0;
  Vec3 impulse_W = Vec3::Zero();  // N s, on body B
};

struct RecordedMotion {
  double dt = 0;  // s, of the steps
  std::vector<State> states;
  std::vector<std::vector<RecordedContact>> contacts;  // by state: of the step that led to it
};

// Throws InputError naming the file and the data set that is missing, damaged or not of this model.
RecordedMotion load_recording(const std::filesystem::path& file, const Model& model);

}  // namespace sarrus
