#include "scene_argument.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "sarrus/dynamics/scheme.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/scene_files/scene_file.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::app {
namespace {

namespace fs = std::filesystem;

// The built-in names, and the scene files beside the one that was asked for, as the user would write them.
std::vector<std::string> known_scenes(const std::string& argument) {
  std::vector<std::string> known;
  for (const SceneInfo& s : scene_registry()) known.emplace_back(s.name);
  const fs::path folder = fs::path(argument).parent_path();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, error)) {
    if (entry.path().extension() == ".json") known.push_back((folder / entry.path().filename()).string());
  }
  return known;
}

}  // namespace

Model resolve_scene(const std::string& argument) {
  std::error_code error;
  const bool directory = fs::is_directory(argument, error);
  if (!directory && fs::exists(argument, error)) {
    Model model = load_scene(argument);
    recommended_integrator(model);  // a name that is none is an error of the file, whatever the command does with it
    return model;
  }
  if (is_builtin_scene(argument)) return make_scene(argument);
  const std::string element = fmt::format("scene '{}'", argument);
  if (directory) throw InputError(element, "is a directory; give a scene file or a built-in name, see sarrus scenes");
  const std::string near = nearest_name(argument, known_scenes(argument));
  throw InputError(element, fmt::format("neither a file nor a built-in scene; {}",
                                        near.empty() ? "sarrus scenes lists the built-in ones"
                                                     : fmt::format("did you mean '{}'?", near)));
}

}  // namespace sarrus::app
