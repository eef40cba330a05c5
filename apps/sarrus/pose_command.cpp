// `sarrus pose`: closes the loops of a model, and moves it to given coordinates.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "commands.h"
#include "sarrus/assembly/snap_axes.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/recording/svg_strip.h"
#include "sarrus/scene_files/scene_file.h"
#include "sarrus/view/motion_payload.h"
#include "sarrus/view/page.h"
#include "scene_argument.h"

namespace sarrus::app {
namespace {

struct PoseArguments {
  SceneArgument scene;
  std::vector<std::string> set;
  std::vector<std::string> pin;
  bool ignore_limits = false;
  double snap_angle = kSnapAngle;
  std::string json;
  std::string svg;
  std::string html;
  std::string output;
};

bool is_angle(const Model& model, int dof) {
  const Joint& j = model.joints()[static_cast<std::size_t>(model.joint_of_dof(dof))];
  return coordinate_is_angular(j, dof - j.first_dof);
}

// "crank=1.2", "crank=70deg", "slide=5mm".
CoordinateValue parse_value(const Model& model, const std::string& option, const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0)
    throw InputError(fmt::format("{} {}", option, text), "is not of the form JOINT=VALUE, for example crank=30deg");
  CoordinateValue v;
  v.dof = model.dof(text.substr(0, sign));
  std::string number = text.substr(sign + 1);
  const char* begin = number.data() + (number.starts_with('+') ? 1 : 0);
  const char* end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(begin, end, v.value);
  const std::string unit(rest, end);
  const std::map<std::string, double> units =
      is_angle(model, v.dof) ? std::map<std::string, double>{{"", 1}, {"rad", 1}, {"deg", std::numbers::pi / 180}}
                             : std::map<std::string, double>{{"", 1}, {"m", 1}, {"cm", 1e-2}, {"mm", 1e-3}};
  if (error != std::errc() || !std::isfinite(v.value) || !units.contains(unit)) {
    throw InputError(fmt::format("{} {}", option, text),
                     is_angle(model, v.dof) ? "the value is no angle; give a number in rad, or one with 'deg' behind it"
                                            : "the value is no length; give a number in m, or one with 'mm' behind it");
  }
  v.value *= units.at(unit);
  return v;
}

std::vector<CoordinateValue> parse_values(const Model& model, const std::string& option,
                                          const std::vector<std::string>& texts) {
  std::vector<CoordinateValue> values;
  for (const std::string& text : texts) {
    values.push_back(parse_value(model, option, text));
    const auto same = [&](const CoordinateValue& v) { return v.dof == values.back().dof; };
    if (std::count_if(values.begin(), values.end(), same) > 1)
      throw InputError(option,
                       fmt::format("names coordinate '{}' twice; give one value", model.dof_name(values.back().dof)));
  }
  return values;
}

std::vector<std::string> names_of_joints(const Model& model, const std::vector<int>& joints) {
  std::vector<std::string> names;
  for (const int i : joints) names.push_back(model.joints()[static_cast<std::size_t>(i)].name);
  return names;
}

std::string to_text(const Model& model, const AssemblyReport& r, const std::vector<SnappedLoop>& snapped,
                    std::size_t held) {
  std::string out;
  const auto row = [&out](std::string_view label, const std::string& value) {
    fmt::format_to(std::back_inserter(out), "{:<12}{}\n", label, value);
  };
  row("scene", model.name());
  row("status", fmt::format("{}: {}", name_of(r.status), assembly_text(model, r)));
  for (const SnappedLoop& loop : snapped) {
    row("snapped",
        fmt::format("axes of joints {} were off by {:.2g} rad, which locked their loop; they are parallel now",
                    fmt::join(names_of_joints(model, loop.joints), ", "), loop.angle));
  }
  if (r.rank >= 0) {
    row("freedom",
        fmt::format(
            "mobility {}{}, {} rows of rank {}, smallest singular value {:.2g}{}", r.mobility,
            held == 0 ? ""
                      : fmt::format(" with {} held", held == 1 ? "a coordinate" : fmt::format("{} coordinates", held)),
            r.rows, r.loose_rank, r.sigma_min,
            r.rounded ? fmt::format("; {} redundant but for rounding", r.rank - r.loose_rank) : ""));
  }
  if (r.near_singular) {
    row("singular", fmt::format("near a dead point: joints {} can move without the others",
                                fmt::join(names_of_joints(model, r.singular_joints), ", ")));
  }
  for (const AssemblyReport::Moved& m : r.moved) {
    row("moved", fmt::format("{} by {:.4g} mm, {:.4g} deg", model.bodies()[static_cast<std::size_t>(m.body)].name,
                             1e3 * m.distance, 180 / std::numbers::pi * m.angle));
  }
  std::size_t width = 10;
  for (int i = 0; i < model.dof_count(); ++i) width = std::max(width, model.dof_name(i).size());
  fmt::format_to(std::back_inserter(out), "\n{:<{}}  {:>14}  {:>14}  unit\n", "coordinate", width, "before", "after");
  for (int i = 0; i < model.dof_count(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const bool at_limit = std::find(r.limits_reached.begin(), r.limits_reached.end(), i) != r.limits_reached.end();
    fmt::format_to(std::back_inserter(out), "{:<{}}  {:>14.8g}  {:>14.8g}  {}{}\n", model.dof_name(i), width,
                   r.q_before[k], r.q_after[k], is_angle(model, i) ? "rad" : "m", at_limit ? ", at its limit" : "");
  }
  return out;
}

std::string to_json(const Model& model, const Assembly& a, const std::vector<SnappedLoop>& snapped) {
  using Json = nlohmann::ordered_json;
  const AssemblyReport& r = a.report;
  Json coordinates = Json::object();
  for (int i = 0; i < model.dof_count(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    coordinates[model.dof_name(i)] = {{"before", r.q_before[k]}, {"after", r.q_after[k]}};
  }
  Json bodies = Json::object();
  for (std::size_t i = 0; i < a.state.X_WB.size(); ++i) {
    const Pose& X = a.state.X_WB[i];
    bodies[model.bodies()[i].name] = {{"position_m", {X.p.x(), X.p.y(), X.p.z()}},
                                      {"quaternion_wxyz", {X.q.w(), X.q.x(), X.q.y(), X.q.z()}}};
  }
  Json moved = Json::array();
  for (const AssemblyReport::Moved& m : r.moved) {
    moved.push_back({{"body", model.bodies()[static_cast<std::size_t>(m.body)].name},
                     {"distance_m", m.distance},
                     {"angle_rad", m.angle}});
  }
  Json loops = Json::array();
  for (const SnappedLoop& loop : snapped)
    loops.push_back({{"joints", names_of_joints(model, loop.joints)}, {"angle_rad", loop.angle}});
  std::vector<std::string> limits;
  for (const int i : r.limits_reached) limits.push_back(model.dof_name(i));
  const auto known = [&](int n) { return r.rank >= 0 ? Json(n) : Json(nullptr); };
  const Json j = {{"scene", model.name()},
                  {"status", name_of(r.status)},
                  {"message", assembly_text(model, r)},
                  {"iterations", r.iterations},
                  {"gap_before", r.gap_before},
                  {"residual", r.residual},
                  {"reached", r.reached},
                  {"sigma_on_path", r.sigma_on_path},
                  {"rows", r.rows},
                  {"rank", known(r.loose_rank)},
                  {"rank_1e-9", known(r.rank)},
                  {"mobility", known(r.mobility)},
                  {"sigma_min", r.sigma_min},
                  {"near_singular", r.near_singular},
                  {"singular_joints", names_of_joints(model, r.singular_joints)},
                  {"snapped_loops", loops},
                  {"limits_reached", limits},
                  {"moved", moved},
                  {"coordinates", coordinates},
                  {"bodies", bodies}};
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_svg(const Model& model, const State& before, const Assembly& a) {
  SvgStrip strip(model, 0, 1, {.frames = 2, .labels = {"as given", std::string(name_of(a.report.status))}});
  State frame = before;
  frame.time = 0;
  strip.observe(frame, {}, {});
  frame = a.state;
  frame.time = 1;
  strip.finish(frame);
  return strip.to_svg(model.name(),
                      fmt::format("{}, worst joint gap {:.2g} m or rad", model.name(), a.report.residual));
}

// Two frames, a second apart: as given, and closed.
std::string to_page(const Model& model, const State& before, const Assembly& a) {
  const view::Scene scene = view::scene_of(model, a.state.X_WB);
  view::Motion motion{view::Layout(scene)};
  motion.missing = view::absent_in_poses();
  motion.add(view::frame_of(model, before, motion.layout(), 0));
  motion.add(view::frame_of(model, a.state, motion.layout(), 1));
  motion.end(std::string(name_of(a.report.status)), assembly_text(model, a.report));
  view::RunFacts facts;
  facts.version = SARRUS_VERSION;
  return view::written_page(model.name(), view::motion_payload(scene, facts, motion));
}

void pose(const PoseArguments& arguments, int& exit_code) {
  ImportReport report;
  Model model = resolve_scene(arguments.scene, &report);
  print_warnings(report);
  AssemblyOptions options;
  options.limits = !arguments.ignore_limits;
  options.pins = parse_values(model, "--pin", arguments.pin);
  const std::vector<CoordinateValue> wanted = parse_values(model, "--set", arguments.set);
  OutputFile json("--json", arguments.json);
  OutputFile svg("--svg", arguments.svg);
  OutputFile html("--html", arguments.html);
  OutputFile output("-o", arguments.output);

  const State given = State::initial(model);
  Assembly result = assemble(model, given, options);
  std::vector<SnappedLoop> snapped;
  if (result.report.closed() && arguments.snap_angle > 0) {
    SnapResult snap = snap_axes(model, result.state, arguments.snap_angle);
    if (!snap.loops.empty()) {
      model = std::move(snap.model);
      snapped = std::move(snap.loops);
      const Assembly free = assemble(model, result.state, options);
      const AssemblyReport before = result.report;
      result.state = free.state;
      result.report = free.report;
      result.report.status = before.status;
      result.report.gap_before = before.gap_before;
      result.report.moved = before.moved;
      result.report.q_before = before.q_before;
    }
  }
  if (result.report.closed() && !wanted.empty()) {
    const std::vector<double> q_before = result.report.q_before;
    result = forward_kinematics(model, result.state, wanted, options);
    result.report.q_before = q_before;
  }
  json.write(to_json(model, result, snapped));
  if (svg.wanted()) svg.write(to_svg(model, given, result));
  if (html.wanted()) html.write(to_page(model, given, result));
  if (output.wanted()) output.write(scene_to_json(with_reference(model, result.state)));
  if (!OutputFile::is_standard_output(arguments.json))
    fmt::print("{}", to_text(model, result.report, snapped, options.pins.size() + wanted.size()));
  if (!result.report.closed()) exit_code = kExitSimulationFailed;
}

}  // namespace

void add_pose_command(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<PoseArguments>();
  CLI::App* command = app.add_subcommand("pose", "Close the loops of a model, and move it to given coordinates");
  a->scene.add_to(*command);
  a->scene.import.assemble = ImportAssembly::never;  // that is the command itself
  command
      ->add_option("--set", a->set,
                   "Coordinate to move to a value, all others following: JOINT=VALUE in rad or m, or with deg, mm, cm")
      ->type_name("JOINT=VALUE")
      ->allow_extra_args(false);
  command->add_option("--pin", a->pin, "Coordinate that has this value while the loops are closed")
      ->type_name("JOINT=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--ignore-limits", a->ignore_limits, "Close the loops whatever the limits say");
  command
      ->add_option("--snap-angle", a->snap_angle,
                   "Axes of a loop that are parallel within this angle, rad, become so exactly where that frees it; 0: "
                   "never")
      ->check(CLI::Range(0.0, 0.1))
      ->capture_default_str();
  command->add_option("--json", a->json, "Write the result as JSON ('-': standard output)")->type_name("FILE");
  command->add_option("--svg", a->svg, "Draw the model before and after")->type_name("FILE");
  command->add_option("--html", a->html, "Write a page that shows the model as given and closed")->type_name("FILE");
  command->add_option("-o,--output", a->output, "Write the scene with the result as its reference pose")
      ->type_name("FILE");
  command->footer("Exit codes: 0 closed, 2 bad input, 3 the loops do not close or the values are not reached.");
  command->callback([a, &exit_code] { pose(*a, exit_code); });
}

}  // namespace sarrus::app
