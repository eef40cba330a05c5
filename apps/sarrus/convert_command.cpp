// `sarrus convert`: a robot's file as a scene of our own, which runs bit for bit as the file does.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "commands.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/robot_files/assets.h"
#include "sarrus/scene_files/scene_file.h"
#include "scene_argument.h"

namespace sarrus::app {
namespace {

struct ConvertArguments {
  SceneArgument scene;
  std::string output;
  std::string report;
  std::string assets;
  bool mesh_files = false;
};

void convert(const ConvertArguments& a) {
  OutputFile output("OUT", a.output);
  OutputFile report_file("--report", a.report);
  const ImportResult import = resolve_import(a.scene);
  SceneWithAssets scene;
  if (a.assets.empty() && !a.mesh_files) {
    scene.json = scene_to_json(import.model);
  } else {
    const bool printed = OutputFile::is_standard_output(a.output);
    scene = scene_with_assets(import, printed ? "" : std::filesystem::path(a.output).parent_path(), a.assets);
  }
  output.write(scene.json);
  report_file.write(import.report.to_json());
  if (OutputFile::is_standard_output(a.output) || OutputFile::is_standard_output(a.report)) return;
  fmt::print("{}", import.report.to_text());
  const auto say = [](int count, const char* what) {
    if (count > 0) fmt::print("meshes: {} {}\n", count, what);
  };
  say(scene.copied, "files copied");
  say(scene.written, "written as OBJ files, since no file has their points");
  say(scene.named, "named where they are");
  say(scene.in_scene, "with their points in the scene");
}

}  // namespace

void add_convert_command(CLI::App& app) {
  auto arguments = std::make_shared<ConvertArguments>();
  CLI::App* command = app.add_subcommand("convert", "Write a robot's file as a scene (JSON)");
  arguments->scene.add_to(*command);
  command->add_option("output", arguments->output, "The scene to write, or - for standard output")
      ->required()
      ->type_name("OUT");
  command->add_option("--report", arguments->report, "Write what was read, merged and ignored as JSON")
      ->type_name("FILE");
  CLI::Option* assets =
      command->add_option("--assets", arguments->assets, "Copy meshes into this folder; the scene names them there")
          ->type_name("FOLDER");
  command
      ->add_flag("--mesh-files", arguments->mesh_files,
                 "The scene names the files of meshes where they are, instead of holding their points")
      ->excludes(assets);
  command->callback([arguments] { convert(*arguments); });
}

}  // namespace sarrus::app
