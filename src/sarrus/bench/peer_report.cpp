// Reports of the comparison with other engines: JSON for programs, tables for people.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "sarrus/bench/peers.h"
#include "sarrus/math/error.h"
#include "sarrus/math/statistics.h"

namespace sarrus {
namespace {

using nlohmann::ordered_json;

ordered_json number(double x) { return std::isfinite(x) ? ordered_json(x) : ordered_json(nullptr); }

double number(const ordered_json& j, const char* name) {
  const ordered_json& x = j.at(name);
  return x.is_null() ? kNotMeasured : x.get<double>();
}

ordered_json to_json(const PeerRun& r) {
  return {{"engine", r.engine},
          {"version", r.version},
          {"setting", r.setting},
          {"setting_text", r.setting_text},
          {"scene", r.scene},
          {"status", r.status},
          {"level", r.level},
          {"dt", r.dt},
          {"sim_time", r.sim_time},
          {"gap", number(r.gap)},
          {"angle", number(r.angle)},
          {"penetration", number(r.penetration)},
          {"energy_drift", number(r.energy_drift)},
          {"energy_rise", number(r.energy_rise)},
          {"displacement", number(r.displacement)},
          {"us_per_step", number(r.us_per_step)},
          {"us_per_step_p95", number(r.us_per_step_p95)},
          {"real_time_factor", number(r.real_time_factor)}};
}

PeerRun peer_run(const ordered_json& j) {
  PeerRun r;
  r.engine = j.at("engine").get<std::string>();
  r.version = j.at("version").get<std::string>();
  r.setting = j.at("setting").get<std::string>();
  r.setting_text = j.at("setting_text").get<std::string>();
  r.scene = j.at("scene").get<std::string>();
  r.status = j.at("status").get<std::string>();
  r.level = j.at("level").get<int>();
  r.dt = j.at("dt").get<double>();
  r.sim_time = j.at("sim_time").get<double>();
  r.gap = number(j, "gap");
  r.angle = number(j, "angle");
  r.penetration = number(j, "penetration");
  r.energy_drift = number(j, "energy_drift");
  r.energy_rise = number(j, "energy_rise");
  r.displacement = number(j, "displacement");
  r.us_per_step = number(j, "us_per_step");
  r.us_per_step_p95 = number(j, "us_per_step_p95");
  r.real_time_factor = number(j, "real_time_factor");
  return r;
}

ordered_json to_json(const FclibRun& r) {
  return {{"solver", r.solver},         {"problem", r.problem},         {"contacts", r.contacts},
          {"equalities", r.equalities}, {"status", r.status},           {"success", r.success},
          {"error", number(r.error)},   {"seconds", number(r.seconds)}, {"iterations", number(r.iterations)}};
}

FclibRun fclib_run(const ordered_json& j) {
  FclibRun r;
  r.solver = j.at("solver").get<std::string>();
  r.problem = j.at("problem").get<std::string>();
  r.contacts = j.at("contacts").get<int>();
  r.equalities = j.at("equalities").get<int>();
  r.status = j.at("status").get<std::string>();
  r.success = j.at("success").get<bool>();
  r.error = number(j, "error");
  r.seconds = number(j, "seconds");
  r.iterations = number(j, "iterations");
  return r;
}

std::string cell(double x, const char* format = "{:.1e}") {
  return std::isfinite(x) ? fmt::format(fmt::runtime(format), x) : "-";
}

void scene_tables(const std::vector<PeerRun>& runs, fmt::memory_buffer& out) {
  const auto to = std::back_inserter(out);
  std::string scene;
  for (const PeerRun& r : runs) {
    if (r.scene != scene) {
      scene = r.scene;
      fmt::format_to(to, "\n{}, dt = {:.4g} s, {:.3g} s\n", scene, r.dt, r.sim_time);
      fmt::format_to(to, "{:<9}{:<9}{:>9}{:>11}{:>15}{:>11}{:>11}{:>9}{:>10}{:>10}  {}\n", "engine", "setting", "gap m",
                     "angle rad", "penetration m", "drift", "rise", "moved m", "us/step", "p95", "status");
    }
    fmt::format_to(to, "{:<9}{:<9}{:>9}{:>11}{:>15}{:>11}{:>11}{:>9}{:>10}{:>10}  {}{}\n", r.engine, r.setting,
                   cell(r.gap), cell(r.angle), cell(r.penetration), cell(r.energy_drift, "{:+.1e}"),
                   cell(r.energy_rise, "{:+.1e}"), cell(r.displacement, "{:.2g}"), cell(r.us_per_step, "{:.1f}"),
                   cell(r.us_per_step_p95, "{:.1f}"), r.status, r.level > 0 ? fmt::format(" (level {})", r.level) : "");
  }
  fmt::format_to(to, "\nsettings\n");
  std::map<std::string, bool> said;
  for (const PeerRun& r : runs) {
    const std::string line = fmt::format("{} {} {}: {}", r.engine, r.version, r.setting, r.setting_text);
    if (!r.setting_text.empty() && said.emplace(line, true).second) fmt::format_to(to, "  {}\n", line);
  }
}

struct SolverTotal {
  int problems = 0;
  int solved = 0;
  std::vector<double> seconds;  // of the solved ones
};

void fclib_tables(const std::vector<FclibRun>& runs, fmt::memory_buffer& out) {
  const auto to = std::back_inserter(out);
  std::string problem;
  std::map<std::string, SolverTotal> totals;
  for (const FclibRun& r : runs) {
    if (r.problem != problem) {
      problem = r.problem;
      fmt::format_to(to, "\n{}: {} contacts, {} equality rows\n", problem, r.contacts, r.equalities);
    }
    fmt::format_to(to, "  {:<16}{:>10}{:>12} ms{:>9} iterations  {}\n", r.solver, cell(r.error),
                   cell(1e3 * r.seconds, "{:.3f}"), cell(r.iterations, "{:.0f}"),
                   r.status != "ok" ? r.status
                   : r.success      ? "solved"
                                    : "not solved");
    SolverTotal& t = totals[r.solver];
    ++t.problems;
    if (r.success) {
      ++t.solved;
      t.seconds.push_back(r.seconds);
    }
  }
  fmt::format_to(to, "\n{:<16}{:>9}{:>9}{:>20}\n", "solver", "problems", "solved", "median ms (solved)");
  for (const auto& [solver, t] : totals) {
    fmt::format_to(to, "{:<16}{:>9}{:>9}{:>20.3f}\n", solver, t.problems, t.solved, 1e3 * median(t.seconds));
  }
}

}  // namespace

std::string to_json_text(const PeerReport& report) {
  ordered_json j = {{"format", "sarrus-peers"}, {"version", 1}, {"command", report.command}};
  j["scenes"] = ordered_json::array();
  for (const PeerRun& r : report.scenes) j["scenes"].push_back(to_json(r));
  j["fclib"] = ordered_json::array();
  for (const FclibRun& r : report.fclib) j["fclib"].push_back(to_json(r));
  return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

PeerReport peer_report_from_json(const std::string& text) {
  try {
    const ordered_json j = ordered_json::parse(text);
    if (j.at("format") != "sarrus-peers") throw InputError("peers", "the text is no report of sarrus bench peers");
    PeerReport report;
    report.command = j.at("command").get<std::string>();
    for (const ordered_json& r : j.at("scenes")) report.scenes.push_back(peer_run(r));
    for (const ordered_json& r : j.at("fclib")) report.fclib.push_back(fclib_run(r));
    return report;
  } catch (const nlohmann::json::exception& e) {
    throw InputError("peers",
                     fmt::format("the text is no report of sarrus bench peers ({}); write it again", e.what()));
  }
}

std::string to_csv(const PeerReport& report) {
  std::string out =
      "scene,engine,version,setting,status,dt_s,sim_time_s,gap_m,angle_rad,penetration_m,energy_drift,energy_rise,"
      "displacement_m,us_per_step,us_per_step_p95,real_time_factor\n";
  for (const PeerRun& r : report.scenes) {
    std::string status = r.status;  // free text of other programs
    std::ranges::replace(status, '"', '\'');
    std::ranges::replace(status, '\n', ' ');
    out += fmt::format("{},{},{},{},\"{}\",{},{},{},{},{},{},{},{},{},{},{}\n", r.scene, r.engine, r.version, r.setting,
                       status, r.dt, r.sim_time, r.gap, r.angle, r.penetration, r.energy_drift, r.energy_rise,
                       r.displacement, r.us_per_step, r.us_per_step_p95, r.real_time_factor);
  }
  return out;
}

std::string to_text(const PeerReport& report) {
  fmt::memory_buffer out;
  if (!report.scenes.empty()) scene_tables(report.scenes, out);
  if (!report.fclib.empty()) fclib_tables(report.fclib, out);
  return fmt::to_string(out);
}

}  // namespace sarrus
