// `sarrus inverse`: the efforts and contact impulses behind a recorded motion.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/inverse/inverse_dynamics.h"
#include "sarrus/math/error.h"
#include "sarrus/recording/csv_log.h"
#include "sarrus/recording/recording.h"
#include "scene_argument.h"

namespace sarrus::app {
namespace {

struct InverseArguments {
  SceneArgument scene;
  std::string reference;
  std::string law = "ncp";
  std::string method = "proximal";
  std::string contacts = "recorded";
  std::optional<std::string> integrator;
  double rho = ContactInverseOptions{}.rho;
  double tolerance = ContactInverseOptions{}.tolerance;
  double velocity_tolerance = InverseOptions{}.velocity_tolerance;
  bool all_actuated = false;
  std::string csv;
  std::string json;
};

template <class T>
T one_of(const char* option, const std::string& text, std::initializer_list<std::pair<const char*, T>> choices) {
  std::string known;
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw InputError(option, fmt::format("'{}' is unknown; give one of {}", text, known));
}

InverseOptions inverse_options(const InverseArguments& a, const Model& model, double dt) {
  for (const auto& [option, value] : {std::pair{"--rho", a.rho}, std::pair{"--tol", a.tolerance},
                                      std::pair{"--velocity-tolerance", a.velocity_tolerance}}) {
    if (!(value > 0 && std::isfinite(value))) {
      throw InputError(option, fmt::format("is {}; give a finite number > 0", value));
    }
  }
  InverseOptions o;
  o.step.dt = dt;
  o.step.integrator = a.integrator ? integrator_from_name(*a.integrator) : recommended_integrator(model);
  o.contact.law = one_of<Law>("--law", a.law, {{"ncp", Law::ncp}, {"ccp", Law::ccp}});
  o.contact.rho = a.rho;
  o.contact.tolerance = a.tolerance;
  o.velocity_tolerance = a.velocity_tolerance;
  o.method = one_of<InverseMethod>("--method", a.method,
                                   {{"proximal", InverseMethod::proximal}, {"analytical", InverseMethod::analytical}});
  o.minimum_torque = one_of<bool>("--contacts", a.contacts, {{"recorded", false}, {"minimum-torque", true}});
  o.all_actuated = a.all_actuated;
  return o;
}

// The recorded impulses in the order of the contacts detected now; a contact that was not recorded starts at zero.
std::vector<Vec3> recorded_start(std::span<const Contact> now, const std::vector<RecordedContact>& recorded) {
  std::vector<Vec3> start(now.size(), Vec3::Zero());
  std::vector<bool> used(recorded.size(), false);
  for (std::size_t i = 0; i < now.size(); ++i) {
    for (std::size_t k = 0; k < recorded.size(); ++k) {
      if (used[k] || recorded[k].geom_a != now[i].geom_a || recorded[k].geom_b != now[i].geom_b) continue;
      used[k] = true;
      start[i] = recorded[k].impulse_W;
      break;
    }
  }
  return start;
}

// One line per step, and what the whole run amounts to.
struct InverseLog {
  std::string csv;
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  int count[4] = {};
  double unrealised = 0;
  std::vector<double> peak;     // by scalar of the model
  std::vector<double> squares;  // by scalar, summed
  std::string message;          // the first that is not a realised step
  double message_time = 0;

  void begin(const Model& model) {
    csv = "time,status,unrealised,contact_residual,iterations,contacts,infeasible_rows";
    for (int i = 0; i < model.scalar_count(); ++i) csv += "," + csv_field(model.dof_name(i));
    csv += "\n";
    peak.assign(static_cast<std::size_t>(model.scalar_count()), 0.0);
    squares = peak;
  }
  void add(double time, const InverseResult& r) {
    csv += fmt::format("{:.9g},{},{:.6g},{:.6g},{},{},{}", time, name_of(r.status), r.unrealised, r.contact_residual,
                       r.iterations, r.contacts, r.infeasible_rows);
    for (std::size_t i = 0; i < peak.size(); ++i) {
      csv += fmt::format(",{:.9g}", r.effort[i]);
      peak[i] = std::max(peak[i], std::abs(r.effort[i]));
      squares[i] += r.effort[i] * r.effort[i];
    }
    csv += "\n";
    ++count[static_cast<std::size_t>(r.status)];
    unrealised = std::max(unrealised, r.unrealised);
    if (message.empty() && !r.message.empty()) {
      message = r.message;
      message_time = time;
    }
    steps.push_back({{"time", time},
                     {"status", name_of(r.status)},
                     {"unrealised", r.unrealised},
                     {"contact_residual", r.contact_residual},
                     {"infeasible_rows", r.infeasible_rows},
                     {"effort", r.effort}});
  }
};

void print_summary(const Model& model, const InverseDynamics& inverse, const InverseLog& log, int steps) {
  fmt::print("{} steps: {} realised, {} underactuated, {} infeasible, {} not converged\n", steps, log.count[0],
             log.count[1], log.count[2], log.count[3]);
  fmt::print("force that no actuator gives: {:.3g} N or N m (worst)\n", log.unrealised);
  if (!log.message.empty()) fmt::print("first complaint, t = {:.6g} s: {}\n", log.message_time, log.message);
  fmt::print("\n{:<28} {:>14} {:>14}\n", "actuated dof", "peak [N, N m]", "rms [N, N m]");
  for (std::size_t i = 0; i < log.peak.size(); ++i) {
    if (!inverse.actuated()[i]) continue;
    fmt::print("{:<28} {:>14.6g} {:>14.6g}\n", model.dof_name(static_cast<int>(i)), log.peak[i],
               std::sqrt(log.squares[i] / std::max(1, steps)));
  }
}

void run_inverse(const InverseArguments& a, int& exit_code) {
  ImportReport report;
  const Model model = resolve_scene(a.scene, &report);
  print_warnings(report);
  const RecordedMotion recording = load_recording(a.reference, model);
  OutputFile csv("--csv", a.csv);
  OutputFile json("--json", a.json);
  InverseDynamics inverse(model, inverse_options(a, model, recording.dt));
  InverseLog log;
  log.begin(model);
  const auto samples = recording.states.size();
  if (samples < 2) throw InputError(a.reference, "has fewer than two samples; record a run of at least one step");
  for (std::size_t i = 0; i + 1 < samples; ++i) {
    const State& before = recording.states[i];
    const State& after = recording.states[i + 1];
    if (std::abs(after.time - before.time - recording.dt) > 1e-6 * recording.dt) {
      throw InputError(a.reference,
                       fmt::format("samples {} and {} are {:.6g} s apart, the step is {:.6g} s; record every step "
                                   "(--record-every 1)",
                                   i, i + 1, after.time - before.time, recording.dt));
    }
    inverse.set_state(before);
    log.add(before.time, inverse.solve(after.twist, recorded_start(inverse.contacts(), recording.contacts[i + 1])));
  }
  const int steps = static_cast<int>(samples) - 1;
  csv.write(log.csv);
  const nlohmann::ordered_json summary = {{"scene", model.name()},
                                          {"dt", recording.dt},
                                          {"law", a.law},
                                          {"method", a.method},
                                          {"contacts", a.contacts},
                                          {"realised", log.count[0]},
                                          {"underactuated", log.count[1]},
                                          {"infeasible", log.count[2]},
                                          {"not_converged", log.count[3]},
                                          {"unrealised", log.unrealised},
                                          {"message", log.message},
                                          {"steps", log.steps}};
  if (json.wanted()) json.write(summary.dump(2) + "\n");
  if (!OutputFile::is_standard_output(a.json)) print_summary(model, inverse, log, steps);
  if (log.count[2] + log.count[3] > 0) exit_code = kExitSimulationFailed;
}

}  // namespace

void add_inverse_command(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<InverseArguments>();
  CLI::App* command = app.add_subcommand(
      "inverse", "Efforts and contact impulses that produce a recorded motion, and whether it is possible");
  a->scene.add_to(*command);
  a->scene.import.visuals = false;  // nothing is drawn
  command->add_option("--reference", a->reference, "Recording of the motion (sarrus run --record)")
      ->required()
      ->type_name("FILE");
  command->add_option("--law", a->law, "Contact law: ncp (Coulomb) or ccp (convex)")->type_name("LAW");
  command->add_option("--method", a->method, "proximal, or analytical (compliant contacts only)")->type_name("NAME");
  command
      ->add_option("--contacts", a->contacts,
                   "Impulses of rigid contacts, which the motion does not determine: recorded (nearest to the recorded "
                   "ones) or minimum-torque")
      ->type_name("CHOICE");
  command->add_option("--integrator", a->integrator, "Of the forward step; default: the scene's")->type_name("NAME");
  command->add_option("--rho", a->rho, "Proximal weight [1/kg]")->type_name("X")->capture_default_str();
  command->add_option("--tol", a->tolerance, "Tolerance of the proximal iteration [N s]")
      ->type_name("X")
      ->capture_default_str();
  command->add_option("--velocity-tolerance", a->velocity_tolerance, "Contact velocities below count as zero [m/s]")
      ->type_name("X")
      ->capture_default_str();
  command->add_flag("--all-actuated", a->all_actuated, "Take every joint coordinate as actuated");
  command->add_option("--csv", a->csv, "Write a line per step: status, residuals, effort by dof")->type_name("FILE");
  command->add_option("--json", a->json, "Write summary and steps as JSON")->type_name("FILE");
  command->callback([a, &exit_code] { run_inverse(*a, exit_code); });
}

}  // namespace sarrus::app
