#include "scene_argument.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include "sarrus/dynamics/scheme.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/robot_files/hold.h"
#include "sarrus/robot_files/load.h"
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
    const fs::path ending = entry.path().extension();
    if (ending == ".json" || ending == ".xml" || ending == ".urdf" || ending == ".sdf")
      known.push_back((folder / entry.path().filename()).string());
  }
  return known;
}

ImportResult read_scene(const SceneArgument& a) {
  const std::string& argument = a.scene;
  std::error_code error;
  const bool directory = fs::is_directory(argument, error);
  if (!directory && fs::exists(argument, error)) {
    ImportResult result = import_model(argument, a.import);
    recommended_integrator(result.model);  // a name that is none is an error of the file, whatever the command does
    return result;
  }
  if (is_builtin_scene(argument)) return {make_scene(argument), {}, {}};
  const std::string element = fmt::format("scene '{}'", argument);
  if (directory) throw InputError(element, "is a directory; give a scene file or a built-in name, see sarrus scenes");
  const std::string near = nearest_name(argument, known_scenes(argument));
  throw InputError(element, fmt::format("neither a file nor a built-in scene; {}",
                                        near.empty() ? "sarrus scenes lists the built-in ones"
                                                     : fmt::format("did you mean '{}'?", near)));
}

template <class Enum>
void add_choice(CLI::App& command, const std::string& option, Enum& value, std::map<std::string, Enum> choices,
                const std::string& help) {
  std::string names;
  for (const auto& [name, v] : choices) names += (names.empty() ? "" : "|") + name;
  command.add_option(option, value, help)
      ->transform(CLI::Transformer(choices))
      ->check(CLI::IsMember(choices))
      ->type_name(names)
      ->group("Robots' files");
}

}  // namespace

void SceneArgument::add_to(CLI::App& command) {
  command.add_option("scene", scene, "Scene (JSON), robot (MJCF, URDF, SDF), or built-in name, see `sarrus scenes`")
      ->required()
      ->type_name("SCENE");
  command.add_flag("--hold", hold,
                   "Keep the pose in which the scene begins: by position drives, or servos if there are none");
  const std::string group = "Robots' files";
  command.add_option("--key", import.key, "MJCF: keyframe that is the initial state, by name or number")
      ->type_name("NAME")
      ->group(group);
  add_choice(command, "--base", import.base, {{"fixed", ImportBase::fixed}, {"free", ImportBase::free}},
             "URDF: what the root link does");
  command.add_option("--package", import.packages, "Folder in which package:// and model:// addresses are looked for")
      ->type_name("FOLDER")
      ->group(group);
  command
      .add_option("--loops-from", import.loops_from,
                  "URDF: closes loops between links called closing_X_1 and closing_X_2 (names), or by a YAML file")
      ->type_name("names|FILE")
      ->group(group);
  command.add_option("--accept", import.accept, "Kinds of forces and constraints that may be left out, or all")
      ->delimiter(',')
      ->type_name("KIND")
      ->group(group);
  command.add_flag("--strict", import.strict, "What is approximated is an error")->group(group);
  command.add_flag("--allow-outside", import.allow_outside, "Read files outside of the folders of the model")
      ->group(group);
  command.add_flag("!--no-merge", import.merge_fixed, "Keep bodies apart that are fixed to each other")->group(group);
  command.add_flag("!--no-repair", import.repair_inertia, "Refuse inertias that no mass has")->group(group);
  if (command.get_name() != "pose") {
    command.add_flag("--snap", import.snap_scene, "JSON: axes of a loop that are parallel but for 1e-3 rad become so")
        ->group(group);
    add_choice(
        command, "--assemble", import.assemble,
        {{"auto", ImportAssembly::automatic}, {"always", ImportAssembly::always}, {"never", ImportAssembly::never}},
        "Close loops and meet limits at the start: if they are not, always, or never");
  }
  add_choice(command, "--mesh", import.mesh, {{"hull", ImportMesh::hull}, {"exact", ImportMesh::exact}},
             "Meshes collide as their convex hull, or triangle by triangle");
  add_choice(command, "--compliance", import.compliance,
             {{"none", ImportCompliance::none}, {"source", ImportCompliance::source}},
             "Soft constraints are rigid, or as soft as the file says");
  add_choice(command, "--loops", import.loops,
             {{"auto", ImportLoops::automatic}, {"as_written", ImportLoops::as_written}},
             "Two points that two bodies share become a hinge, or two balls");
}

ImportResult resolve_import(const SceneArgument& argument) {
  ImportResult result = read_scene(argument);
  if (!argument.hold) return result;
  HeldModel model = held(result.model);
  if (model.servos > 0) {
    result.report.findings.push_back({ImportSeverity::note, "held", "", "",
                                      fmt::format("no drive holds a position; {} servos of 5 Hz do", model.servos), "",
                                      1});
  }
  result.model = std::move(model.model);
  return result;
}

Model resolve_scene(const SceneArgument& argument, ImportReport* report) {
  ImportResult result = resolve_import(argument);
  if (report != nullptr) *report = std::move(result.report);
  return std::move(result.model);
}

void print_warnings(const ImportReport& report) {
  for (const ImportFinding& f : report.findings) {
    if (f.severity == ImportSeverity::note) continue;
    fmt::print(stderr, "sarrus: warning: [{}] {}\n", f.kind, f.text());
  }
}

}  // namespace sarrus::app
