// Built-in scenes, shared by the command line, tests, benchmarks and examples.
#pragma once

#include <string_view>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus {

struct SceneInfo {
  std::string_view name;
  std::string_view summary;
  Model (*make)();
};

const std::vector<SceneInfo>& scene_registry();
bool is_builtin_scene(std::string_view name);
// Throws InputError with the nearest known name.
Model make_scene(std::string_view name);

}  // namespace sarrus
