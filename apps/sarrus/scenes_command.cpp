// `sarrus scenes`: lists the built-in scenes and exports them as scene files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "commands.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/scene_files/scene_file.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::app {
namespace {

struct ScenesArguments {
  std::string json;
  std::string export_folder;
};

void export_scenes(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw InputError(fmt::format("--export {}", folder.string()),
                     fmt::format("cannot be created ({}); give a folder that you may write to", error.message()));
  }
  for (const SceneInfo& s : scene_registry()) save_scene(s.make(), folder / fmt::format("{}.json", s.name));
}

void list_scenes(const ScenesArguments& arguments) {
  OutputFile json("--json", arguments.json);
  if (!arguments.export_folder.empty()) export_scenes(arguments.export_folder);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::size_t width = 0;
  for (const SceneInfo& s : scene_registry()) {
    list.push_back({{"name", s.name}, {"summary", s.summary}});
    width = std::max(width, s.name.size());
  }
  json.write(list.dump(2) + "\n");
  for (const SceneInfo& s : scene_registry()) fmt::print("{:<{}}  {}\n", s.name, width, s.summary);
}

}  // namespace

void add_scenes_command(CLI::App& app) {
  auto arguments = std::make_shared<ScenesArguments>();
  CLI::App* command = app.add_subcommand("scenes", "List the built-in scenes");
  command->add_option("--json", arguments->json, "Write the list as JSON")->type_name("FILE");
  command->add_option("--export", arguments->export_folder, "Write every built-in scene as a JSON scene file")
      ->type_name("DIR");
  command->callback([arguments] { list_scenes(*arguments); });
}

}  // namespace sarrus::app
