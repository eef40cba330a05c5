// `sarrus check`: what a model is made of and what looks wrong with it, before anything moves.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "sarrus/analysis/analysis.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/scene_files/scene_file.h"
#include "sarrus/step/simulation.h"
#include "scene_argument.h"

namespace sarrus::app {
namespace {

struct CheckArguments {
  SceneArgument scene;
  std::string json;
};

nlohmann::ordered_json kinds_json(const ModelAnalysis& a) {
  nlohmann::ordered_json counts;
  for (std::size_t k = 0; k < a.geoms_by_kind.size(); ++k) {
    counts[std::string(name_of(static_cast<ShapeKind>(k)))] = a.geoms_by_kind[k];
  }
  return counts;
}

std::string to_json(const Model& model, const ModelAnalysis& a, const ImportReport& report) {
  const auto known = [&](int number) { return a.rank >= 0 ? nlohmann::ordered_json(number) : nullptr; };
  nlohmann::ordered_json j = {{"scene", model.name()},
                              {"bodies", a.bodies},
                              {"joints", a.joints},
                              {"couplings", a.couplings},
                              {"geoms", a.geoms},
                              {"geoms_by_kind", kinds_json(a)},
                              {"mesh_triangles", a.mesh_triangles},
                              {"loops", a.loops},
                              {"floating_components", a.floating_components},
                              {"coordinates", a.coordinates},
                              {"drives", a.drives},
                              {"limits", a.limits},
                              {"compliant_joints", a.compliant_joints},
                              {"compliant_limits", a.compliant_limits},
                              {"compliant_materials", a.compliant_materials},
                              {"velocity_dofs", a.velocity_dofs},
                              {"rows", a.rows},
                              {"rank", known(a.rank)},
                              {"redundant_rows", known(a.redundant_rows)},
                              {"mobility", known(a.mobility)},
                              {"mass_ratio", a.mass_ratio},
                              {"condition", a.condition},
                              {"joint_gap_m", a.joint_gap},
                              {"joint_angle_rad", a.joint_angle},
                              {"initial_contacts", a.initial_contacts},
                              {"initial_penetration_m", a.initial_penetration},
                              {"warnings", a.warnings}};
  if (!report.source.empty()) j["import"] = nlohmann::ordered_json::parse(report.to_json());
  return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// Joints that do not meet are assembled when a simulation starts: tells now whether that works.
void add_assembly_warning(const Model& model, ModelAnalysis& analysis) {
  try {
    if (analysis.joint_gap > 0 || analysis.joint_angle > 0) Simulation(model, {});
  } catch (const InputError& error) {
    analysis.warnings.emplace_back(error.what());
  }
}

void check(const CheckArguments& arguments) {
  ImportReport report;
  const Model model = resolve_scene(arguments.scene, &report);
  OutputFile json("--json", arguments.json);
  ModelAnalysis analysis = analyse(model);
  add_assembly_warning(model, analysis);
  if (report.format == "JSON") {
    const std::string text = read_file(model.source(), "a scene file", std::filesystem::file_size(model.source()));
    for (std::string& warning : suspicious_orientations(text)) analysis.warnings.push_back(std::move(warning));
  }
  json.write(to_json(model, analysis, report));
  if (!OutputFile::is_standard_output(arguments.json))
    fmt::print("{}{}", report.format == "JSON" || report.source.empty() ? "" : report.to_text(),
               to_text(model, analysis));
}

}  // namespace

void add_check_command(CLI::App& app) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command = app.add_subcommand("check", "Tell topology, mobility, redundant rows and what looks wrong");
  arguments->scene.add_to(*command);
  arguments->scene.import.visuals = false;  // nothing is drawn
  command->add_option("--json", arguments->json, "Write the result as JSON")->type_name("FILE");
  command->callback([arguments] { check(*arguments); });
}

}  // namespace sarrus::app
