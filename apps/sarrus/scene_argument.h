// The SCENE argument of the commands: a scene file, a robot's file of another format, or the name of a built-in scene.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "sarrus/model/model.h"
#include "sarrus/robot_files/load.h"
#include "sarrus/robot_files/options.h"
#include "sarrus/robot_files/report.h"

namespace sarrus::app {

struct SceneArgument {
  std::string scene;
  ImportOptions import;
  bool hold = false;  // in the pose in which the scene begins

  // SCENE and the options of robots' files.
  void add_to(CLI::App& command);
};

// Throws InputError; for an argument that is neither, with the nearest file or built-in name. The report is of files
// only.
// The same with what was found on the way, and where its meshes are.
ImportResult resolve_import(const SceneArgument& argument);
Model resolve_scene(const SceneArgument& argument, ImportReport* report = nullptr);
// What an import could not keep, a line each on standard error.
void print_warnings(const ImportReport& report);

}  // namespace sarrus::app
