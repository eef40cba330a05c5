#include "sarrus/bench/compare_builds.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "sarrus/bench/child_process.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus {
namespace {

using Run = BuildComparison::Run;

constexpr std::uintmax_t kMaxSummary = 1 << 24;  // bytes

// Best of both for what a clock measured; the rest as it was first.
Run better(const Run& first, const Run& next) {
  Run r = first;
  for (double Run::*t : {&Run::median, &Run::p95, &Run::p99, &Run::worst}) r.*t = std::min(first.*t, next.*t);
  return r;
}

std::string ratio(double later, double earlier) { return earlier > 0 ? fmt::format("{:.2f}", later / earlier) : "-"; }

nlohmann::ordered_json to_object(const Run& r) {
  return {{"us_median", r.median}, {"us_p95", r.p95},        {"us_p99", r.p99},  {"us_worst", r.worst},
          {"joint_gap_m", r.gap},  {"residual", r.residual}, {"drift", r.drift}, {"missed_steps", r.missed}};
}

}  // namespace

Run build_run_from_json(std::string_view text, std::string_view source) {
  try {
    const nlohmann::json j = nlohmann::json::parse(text);
    const nlohmann::json& us = j.at("us_per_step");
    const nlohmann::json& most = j.at("max");
    const auto number = [](const nlohmann::json& value) {
      return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
    };
    Run r;
    r.median = number(us.at("median"));
    r.p95 = number(us.at("p95"));
    r.worst = number(us.at("max"));
    r.p99 = us.contains("p99") ? number(us["p99"]) : number(nullptr);  // summaries of early builds have none
    r.gap = number(most.at("joint_gap_m"));
    r.residual = number(most.at("natural_map_relative"));
    r.drift = number(j.at("energy").at("drift_relative"));
    r.missed = j.at("non_converged_steps");
    if (j.value("status", "ok") == "failed") {
      const auto message = j.find("message");
      r.failure = message != j.end() && message->is_string() ? message->get<std::string>() : "failed";
    }
    return r;
  } catch (const nlohmann::json::exception& e) {
    throw InputError(std::string(source), fmt::format("is no summary of `sarrus run --json`: {}", e.what()));
  }
}

BuildComparison compare_builds(const BuildComparisonOptions& options,
                               const std::function<void(const BuildComparison::Row&)>& done) {
  const ScratchFolder scratch;
  const std::filesystem::path summary = scratch.path() / "summary.json";
  for (const std::filesystem::path& command : {options.old_command, options.new_command}) {
    const ChildResult r = run_child(command, {"--version"}, options.timeout, scratch.path());
    if (!r.ok) {
      throw InputError(command.string(),
                       fmt::format("cannot be run ({}); give the path of a sarrus command", r.status));
    }
  }
  BuildComparison all{options.old_command.string(), options.new_command.string(), options.rounds, options.duration, {}};
  std::vector<std::string> scenes = options.scenes;
  if (scenes.empty()) {
    for (const SceneInfo& s : scene_registry()) scenes.emplace_back(s.name);
  }
  for (const std::string& scene : scenes) {
    BuildComparison::Row row;
    row.scene = scene;
    std::optional<Run> best[2];
    for (int round = 0; round < options.rounds && row.problem.empty(); ++round) {
      for (int build = 0; build < 2; ++build) {
        std::vector<std::string> arguments = {"run", scene, "--quiet", "--json", summary.string()};
        if (options.duration > 0)
          arguments.insert(arguments.end(), {"--duration", fmt::format("{}", options.duration)});
        std::filesystem::remove(summary);
        const auto& command = build == 0 ? options.old_command : options.new_command;
        const ChildResult r = run_child(command, arguments, options.timeout, scratch.path());
        if (!std::filesystem::exists(summary)) {
          row.problem = fmt::format("{} build: {}", build == 0 ? "first" : "second", r.ok ? "no summary" : r.status);
          break;
        }
        const Run run = build_run_from_json(read_file(summary.string(), "a summary", kMaxSummary), command.string());
        if (!run.failure.empty()) {
          row.problem = fmt::format("{} build: {}", build == 0 ? "first" : "second", run.failure);
          break;
        }
        best[build] = best[build] ? better(*best[build], run) : run;
      }
    }
    if (row.problem.empty() && best[0] && best[1]) {
      row.old_build = *best[0];
      row.new_build = *best[1];
    }
    done(row);
    all.rows.push_back(row);
  }
  return all;
}

std::string markdown_head() {
  return "| scene | median | p95 | p99 | worst | gap, m | residual | drift | missed "
         "|\n|---|---|---|---|---|---|---|---|---|\n";
}

std::string to_markdown(const BuildComparison::Row& r) {
  if (!r.problem.empty()) return fmt::format("| {} | {} | | | | | | | |\n", r.scene, r.problem);
  const Run& a = r.old_build;
  const Run& b = r.new_build;
  return fmt::format("| {} | {} | {} | {} | {} | {:.2g} → {:.2g} | {:.2g} → {:.2g} | {:.2g} → {:.2g} | {} → {} |\n",
                     r.scene, ratio(b.median, a.median), ratio(b.p95, a.p95), ratio(b.p99, a.p99),
                     ratio(b.worst, a.worst), a.gap, b.gap, a.residual, b.residual, a.drift, b.drift, a.missed,
                     b.missed);
}

std::string to_json(const BuildComparison& c) {
  nlohmann::ordered_json j;
  j["format"] = "sarrus-builds";
  j["old"] = c.old_command;
  j["new"] = c.new_command;
  j["rounds"] = c.rounds;
  j["duration_s"] = c.duration;
  j["scenes"] = nlohmann::ordered_json::array();
  for (const BuildComparison::Row& r : c.rows) {
    nlohmann::ordered_json row = {{"scene", r.scene}};
    if (r.problem.empty()) {
      row["old"] = to_object(r.old_build);
      row["new"] = to_object(r.new_build);
    } else {
      row["problem"] = r.problem;
    }
    j["scenes"].push_back(std::move(row));
  }
  return j.dump(2) + "\n";
}

}  // namespace sarrus
