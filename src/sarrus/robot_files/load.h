// Models from files of any format: Sarrus' own JSON, MJCF, URDF and SDF, told apart by what they begin with.
//
//   Model model = sarrus::load("robot.xml");
//
// What the readers do with each element: docs/robots.md.
#pragma once

#include <filesystem>

#include "sarrus/model/model.h"
#include "sarrus/robot_files/options.h"
#include "sarrus/robot_files/report.h"
#include "sarrus/scene_files/scene_file.h"

namespace sarrus {

struct ImportResult {
  Model model;
  ImportReport report;
  MeshSources meshes;  // files that have the points of its hulls and meshes (scene_file.h, assets.h)
};

// Throws InputError "file:line: element: problem; remedy". Prints nothing.
ImportResult import_model(const std::filesystem::path& file, const ImportOptions& options = {});
Model load(const std::filesystem::path& file, const ImportOptions& options = {});

}  // namespace sarrus
