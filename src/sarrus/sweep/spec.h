// What `sarrus batch` reads: a scene, what of it varies and how, what is kept (docs/batch.md, docs/batch.schema.json).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/batch/batch.h"

namespace sarrus {

// One thing that varies. Its target is a parameter of the model (model/parameters.h), `state.q.DOF` (the loops around
// it follow), `state.p.BODY.x|y|z`, `state.v.BODY...`, `state.w.BODY...` (of the body and all that joints connect with
// it, moved as one), or `control.DRIVE`, a constant target.
struct SweepAxis {
  enum class Kind : std::uint8_t { values, uniform, log_uniform, normal };
  std::string target;
  Kind kind = Kind::values;
  bool factor = false;         // multiplies what the model has
  std::vector<double> values;  // of the grid
  double a = 0, b = 0;         // bounds, or mean and standard deviation

  bool is_grid() const { return kind == Kind::values; }
};

enum class Sampling : std::uint8_t { random, latin_hypercube };

struct SweepSpec {
  std::string scene;
  std::uint64_t seed = 1;
  int samples = 1;  // for each point of the grid
  Sampling sampling = Sampling::random;
  double duration = 0;  // s; 0: the scene's
  SimulationOptions options;
  std::vector<SweepAxis> axes;
  int record_every = 0;  // steps; 0: no recordings
  Keep keep = Keep::none;
  std::string text;  // of the file
};

// Throws InputError that names the file, the element and the remedy.
SweepSpec parse_sweep(std::string_view text);
SweepSpec read_sweep(const std::filesystem::path& file);

}  // namespace sarrus
