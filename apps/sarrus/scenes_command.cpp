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
  bool force = false;
};

void export_scenes(const std::filesystem::path& folder, bool force) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw InputError(fmt::format("--export {}", folder.string()),
                     fmt::format("cannot be created ({}); give a folder that you may write to", error.message()));
  }
  const auto file_of = [&](const SceneInfo& s) { return folder / fmt::format("{}.json", s.name); };
  for (const SceneInfo& s : scene_registry()) {
    if (force || !std::filesystem::exists(std::filesystem::symlink_status(file_of(s), error))) continue;
    throw InputError(file_of(s).string(), "is there already; give another folder, or --force to replace such files");
  }
  for (const SceneInfo& s : scene_registry()) save_scene(s.make(), file_of(s));
}

void list_scenes(const ScenesArguments& arguments) {
  OutputFile json("--json", arguments.json);
  if (!arguments.export_folder.empty()) export_scenes(arguments.export_folder, arguments.force);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::size_t width = 0;
  for (const SceneInfo& s : scene_registry()) {
    list.push_back({{"name", s.name}, {"summary", s.summary}});
    width = std::max(width, s.name.size());
  }
  json.write(list.dump(2) + "\n");
  if (OutputFile::is_standard_output(arguments.json)) return;
  for (const SceneInfo& s : scene_registry()) fmt::print("{:<{}}  {}\n", s.name, width, s.summary);
}

}  // namespace

void add_scenes_command(CLI::App& app) {
  auto arguments = std::make_shared<ScenesArguments>();
  CLI::App* command = app.add_subcommand("scenes", "List the built-in scenes");
  command->add_option("--json", arguments->json, "Write the list as JSON")->type_name("FILE");
  command->add_option("--export", arguments->export_folder, "Write every built-in scene as a JSON scene file")
      ->type_name("DIR");
  command->add_flag("--force", arguments->force, "Replace files that --export finds in the folder");
  command->callback([arguments] { list_scenes(*arguments); });
}

}  // namespace sarrus::app
