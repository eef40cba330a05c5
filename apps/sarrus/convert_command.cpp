// `sarrus convert`: a robot's file as a scene of our own, which runs bit for bit as the file does.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/scene_files/scene_file.h"
#include "scene_argument.h"

namespace sarrus::app {
namespace {

struct ConvertArguments {
  SceneArgument scene;
  std::string output;
  std::string report;
};

void convert(const ConvertArguments& a) {
  OutputFile output("OUT", a.output);
  OutputFile report_file("--report", a.report);
  ImportReport report;
  const Model model = resolve_scene(a.scene, &report);
  output.write(scene_to_json(model));
  report_file.write(report.to_json());
  if (OutputFile::is_standard_output(a.output) || OutputFile::is_standard_output(a.report)) return;
  fmt::print("{}", report.to_text());
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
  command->callback([arguments] { convert(*arguments); });
}

}  // namespace sarrus::app
