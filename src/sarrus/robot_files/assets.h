// Scenes whose meshes stay files: the JSON names them instead of holding their points.
//
// What a scene with its meshes runs like is what the model runs like, bit for bit: each file is read back, and one
// whose points differ in a bit from those of the model is not named; those points are written into the scene.
#pragma once

#include <filesystem>
#include <string>

#include "sarrus/robot_files/load.h"

namespace sarrus {

struct SceneWithAssets {
  std::string json;
  int copied = 0;    // files that were copied into the folder
  int written = 0;   // points that no file has (moved, given as numbers, of a JSON scene), as OBJ files there
  int named = 0;     // files that stay where they are
  int in_scene = 0;  // hulls and meshes with their points in the scene
};

// Paths in the scene are relative to `scene_folder`. With an empty `assets` the files are named where they are; else
// they are copied into that folder, which is made if need be. Files appear whole; if one cannot be written, those of
// this call are removed again. Throws InputError.
SceneWithAssets scene_with_assets(const ImportResult& import, const std::filesystem::path& scene_folder,
                                  const std::filesystem::path& assets);

}  // namespace sarrus
