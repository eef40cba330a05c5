#include "scene_argument.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include "sarrus/dynamics/scheme.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
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

// Position drives begin with the target that the coordinate has at the start, and keep it.
Model held(const Model& model) {
  const State start = State::initial(model);
  ModelData data = model.data();
  for (std::size_t i = 0; i < data.dofs.size(); ++i) {
    Drive& drive = data.dofs[i].drive;
    if (drive.mode != DriveMode::position) continue;
    drive.target = {};
    drive.target.offset = start.q[i];
  }
  return finish_model(std::move(data));
}

Model read_scene(const SceneArgument& a, ImportReport* report) {
  const std::string& argument = a.scene;
  std::error_code error;
  const bool directory = fs::is_directory(argument, error);
  if (!directory && fs::exists(argument, error)) {
    ImportResult result = import_model(argument, a.import);
    recommended_integrator(result.model);  // a name that is none is an error of the file, whatever the command does
    if (report != nullptr) *report = std::move(result.report);
    return std::move(result.model);
  }
  if (is_builtin_scene(argument)) return make_scene(argument);
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
  command.add_option("scene", scene, "Scene (JSON), robot (MJCF), or built-in name, see `sarrus scenes`")
      ->required()
      ->type_name("SCENE");
  command.add_flag("--hold", hold, "Position drives keep the pose in which the scene begins");
  const std::string group = "Robots' files";
  command.add_option("--key", import.key, "MJCF: keyframe that is the initial state, by name or number")
      ->type_name("NAME")
      ->group(group);
  add_choice(command, "--base", import.base, {{"fixed", ImportBase::fixed}, {"free", ImportBase::free}},
             "URDF: what the root link does");
  command.add_option("--package", import.packages, "Folder in which package:// and model:// addresses are looked for")
      ->type_name("FOLDER")
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

Model resolve_scene(const SceneArgument& argument, ImportReport* report) {
  const Model model = read_scene(argument, report);
  return argument.hold ? held(model) : model;
}

void print_warnings(const ImportReport& report) {
  for (const ImportFinding& f : report.findings) {
    if (f.severity == ImportSeverity::note) continue;
    fmt::print(stderr, "sarrus: warning: [{}] {}\n", f.kind, f.text());
  }
}

}  // namespace sarrus::app
