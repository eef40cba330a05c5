#include "sarrus/robot_files/load.h"

#include <fmt/format.h>

#include "sarrus/assembly/snap_axes.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/robot_files/close_loops.h"
#include "sarrus/robot_files/folders.h"
#include "sarrus/robot_files/formats.h"
#include "sarrus/robot_files/overlaps.h"
#include "sarrus/robot_files/reduce.h"
#include "sarrus/scene_files/scene_file.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

// Scenes are run as they are written. Loops that rounded axes lock are told, or freed on demand.
Model with_axes(Model model, robot::Findings& findings) {
  const ImportOptions& options = findings.options();
  if (model.loop_joints().empty() || !(options.snap_angle > 0)) return model;
  const State start = State::initial(model);
  constexpr double kOpen = 1e-9;  // joints given by local anchors may meet elsewhere
  if (robot::open_by(model, start) > kOpen) return model;
  const auto name = [&](const SnappedLoop& loop) {
    return fmt::format("joint '{}'", model.joints()[static_cast<std::size_t>(loop.joints.at(0))].name);
  };
  if (options.snap_scene) return robot::snapped(model, start, findings);
  for (const SnappedLoop& loop : locked_loops(model, start, options.snap_angle)) {
    findings.add(
        ImportSeverity::warning, "locked-loop", "", name(loop),
        fmt::format("the axes of its loop are parallel but for {:.2g} rad, which as it is written locks it, or "
                    "opens it as it moves",
                    loop.angle),
        "write axes with all digits, or make them parallel with --snap");
  }
  return model;
}

ImportResult import_json(const std::string& text, const fs::path& file, const ImportOptions& options) {
  ImportReport report;
  report.source = file.string();
  report.format = "JSON";
  robot::Findings findings(options, report);
  Model model = with_axes(parse_scene(text, file.string(), file.parent_path()), findings);
  findings.finish();
  return {std::move(model), std::move(report), {}};
}

ImportResult import_xml(const std::string& text, const fs::path& file, const std::string& root,
                        const ImportOptions& options) {
  const robot::Format* format = robot::format_of(root);
  if (format == nullptr) {
    throw InputError(file.string(), fmt::format("its root element is {}; give a scene (JSON), MJCF (<mujoco>), URDF "
                                                "(<robot>) or SDF (<sdf>)",
                                                in_quotes(root)));
  }
  ImportReport report;
  report.source = file.string();
  report.format = format->name;
  robot::Findings findings(options, report);
  const robot::Folders folders(file, options);
  robot::Graph graph = format->read(xml::parse(text, file.string()), folders, findings);
  if (graph.name.empty()) graph.name = file.stem().string();
  MeshSources meshes = std::move(graph.meshes);
  ModelData data = robot::reduce(std::move(graph), findings);
  findings.finish();
  Model model = finish_model(std::move(data));
  model = robot::assembled(model, findings);
  if (!format->has_filters) model = robot::exclude_overlaps(std::move(model), findings);
  findings.finish();
  return {std::move(model), std::move(report), std::move(meshes)};
}

}  // namespace

ImportResult import_model(const fs::path& file, const ImportOptions& options) {
  const std::string text = read_file(file, "a scene or robot file", xml::kMaxFileBytes);
  const std::string root = xml::root_name(text);
  try {
    return root.empty() ? import_json(text, file, options) : import_xml(text, file, root, options);
  } catch (const InputError& error) {
    // On one line, whatever the file quotes, and with its name in front.
    std::string what = error.what();
    if (what.starts_with(file.string() + ": ")) what.erase(0, file.string().size() + 2);
    constexpr std::size_t kMaxMessage = 8000;
    if (what.starts_with(file.string() + ":")) throw InputError("", printable(what, kMaxMessage));
    throw InputError(file.string(), printable(what, kMaxMessage));
  }
}

Model load(const fs::path& file, const ImportOptions& options) { return import_model(file, options).model; }

}  // namespace sarrus
