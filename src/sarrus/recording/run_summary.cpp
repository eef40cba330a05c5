#include "sarrus/recording/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sarrus/math/statistics.h"

namespace sarrus {
namespace {

double largest(const std::vector<double>& values) {
  return values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
}

// Counts print as integers where they are: a median may end in .5.
nlohmann::ordered_json count(double value) {
  if (value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

// NaN must survive: a plain comparison would silently drop it.
void raise(double& worst, double value) {
  if (!std::isnan(worst) && !(value <= worst)) worst = value;
}

// JSON has no infinity: energies beyond all numbers, and what is left between them, are the largest number there is.
double in_range(double energy) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  return std::isnan(energy) ? kLargest : std::clamp(energy, -kLargest, kLargest);
}

nlohmann::ordered_json options_json(const SimulationOptions& o) {
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
  for (const auto& [key, value] : o.solver_parameters) parameters[key] = value;
  return {{"solver_parameters", parameters},
          {"fallback", o.fallback},
          {"tolerance", o.tolerance},
          {"acceptable", o.acceptable},
          {"budget", o.budget},
          {"max_step_time", o.max_step_time},
          {"criterion", name_of(o.criterion)},
          {"max_substep_depth", o.max_substep_depth},
          {"projection", o.projection},
          {"projection_tolerance", o.projection_tolerance},
          {"acceptable_gap", o.acceptable_gap},
          {"erp_joint", o.rows.erp_joint},
          {"erp_limit", o.rows.erp_limit},
          {"erp_contact", o.rows.erp_contact},
          {"contact_slop", o.rows.contact_slop},
          {"push_out_speed", o.rows.push_out_speed},
          {"restitution_law", o.rows.restitution == RestitutionLaw::sequential ? "sequential" : "simultaneous"},
          {"warm_start", o.warm_start}};
}

}  // namespace

RunSummary::RunSummary(RunInfo info, const State& initial, const Energy& initial_energy,
                       std::vector<std::string> overlaps)
    : info_(std::move(info)),
      initial_energy_(initial_energy),
      final_energy_(initial_energy),
      max_kinetic_(initial_energy.kinetic),
      min_potential_(initial_energy.potential),
      overlaps_(std::move(overlaps)),
      start_time_(initial.time),
      end_time_(initial.time),
      hash_(initial.hash()) {}

void RunSummary::add(const StepReport& report, const Energy& energy) {
  if (report.status == StepStatus::failed) {
    failed_ = true;
    message_ = std::string(report.message);
    return;
  }
  microseconds_.push_back(1e6 * report.seconds_total);
  iterations_.push_back(report.iterations);
  contacts_.push_back(report.contacts);
  accepted_ += report.status == StepStatus::accepted;
  fallback_ += report.status == StepStatus::fallback;
  substepped_ += report.status == StepStatus::substepped;
  non_converged_ += !report.met_tolerance;
  if (!report.stage.empty()) ++stages_[std::string(report.stage)];
  raise(worst_.joint_gap, report.joint_gap);
  raise(worst_.joint_angle, report.joint_angle);
  raise(worst_.limit_violation, report.limit_violation);
  raise(worst_.penetration, report.penetration);
  raise(worst_.natural_map, report.residuals.natural_map);
  raise(worst_.natural_map_relative, report.residuals.error(Law::ncp, info_.options.criterion));
  seconds_.collision += report.seconds_collision;
  seconds_.assembly += report.seconds_assembly;
  seconds_.solve += report.seconds_solve;
  seconds_.projection += report.seconds_projection;
  seconds_.total += report.seconds_total;
  final_energy_ = energy;
  raise(max_kinetic_, energy.kinetic);
  min_potential_ = std::min(min_potential_, energy.potential);
  flow_ += report.energy;
  creates_energy_ = report.creates_energy;  // a sum over the run: what a later step loses again was no gain
  restitution_scale_ = std::min(restitution_scale_, report.restitution_scale);
  if (!report.locked_joint.empty() && locked_joint_.empty()) {
    locked_joint_ = std::string(report.locked_joint);
    locked_at_ = start_time_ + static_cast<double>(microseconds_.size()) * info_.options.dt;
  }
}

void RunSummary::finish(const State& last, double energy_bound) {
  energy_bound_ = energy_bound;
  end_time_ = last.time;
  hash_ = last.hash();
}

std::string RunSummary::status() const {
  if (failed_) return "failed";
  if (interrupted_) return "interrupted";
  const bool warnings = accepted_ + fallback_ + substepped_ + non_converged_ > 0 || creates_energy_ ||
                        !overlaps_.empty() || !locked_joint_.empty();
  return warnings ? "ok_with_warnings" : "ok";
}

double RunSummary::drift_relative() const {
  if (max_kinetic_ == 0) return 0;
  const double available = initial_energy_.kinetic + (initial_energy_.potential - min_potential_) +
                           std::max(0.0, flow_.drives) + std::max(0.0, flow_.external);
  const double change = final_energy_.total() - initial_energy_.total();
  const double rounding = 1e-9 * (std::abs(initial_energy_.potential) + std::abs(final_energy_.potential));
  if (std::abs(change) <= rounding && available <= rounding) return 0;
  return change / (available > 0 ? available : max_kinetic_);
}

double RunSummary::real_time_factor() const {
  return seconds_.total > 0 ? (end_time_ - start_time_) / seconds_.total : 0;
}

std::string RunSummary::to_json_text() const {
  nlohmann::ordered_json j;
  j["status"] = status();
  if (failed_) {
    j["message"] = message_;
    j["failed_at"] = end_time_;
  } else if (interrupted_) {
    j["interrupted_at"] = end_time_;
  }
  j["scene"] = info_.scene;
  j["solver"] = info_.options.solver;
  j["integrator"] = std::string(name_of(*info_.options.integrator));
  j["dt"] = info_.options.dt;
  j["duration"] = info_.duration;
  j["steps"] = microseconds_.size();
  j["sim_time"] = end_time_ - start_time_;
  j["us_per_step"] = {{"median", median(microseconds_)},
                      {"p95", percentile(microseconds_, 0.95)},
                      {"p99", percentile(microseconds_, 0.99)},
                      {"max", largest(microseconds_)}};
  j["real_time_factor"] = real_time_factor();
  const double total = seconds_.total > 0 ? seconds_.total : 1;
  j["timing_shares"] = {
      {"collision", seconds_.collision / total},
      {"assembly", seconds_.assembly / total},
      {"solve", seconds_.solve / total},
      {"projection", seconds_.projection / total},
      {"other",
       (seconds_.total - seconds_.collision - seconds_.assembly - seconds_.solve - seconds_.projection) / total}};
  j["iterations"] = {{"median", count(median(iterations_))},
                     {"p99", count(percentile(iterations_, 0.99))},
                     {"max", count(largest(iterations_))}};
  j["non_converged_steps"] = non_converged_;
  j["accepted_steps"] = accepted_;
  j["fallback_steps"] = fallback_;
  j["substepped_steps"] = substepped_;
  j["steps_by_stage"] = stages_;
  j["max"] = {{"joint_gap_m", worst_.joint_gap},           {"joint_angle_rad", worst_.joint_angle},
              {"limit_violation", worst_.limit_violation}, {"penetration_m", worst_.penetration},
              {"natural_map", worst_.natural_map},         {"natural_map_relative", worst_.natural_map_relative}};
  j["energy"] = {
      {"initial", in_range(initial_energy_.total())},
      {"final", in_range(final_energy_.total())},
      {"max_kinetic", in_range(max_kinetic_)},
      {"drift_relative", in_range(drift_relative())},
      {"kinetic", {{"initial", in_range(initial_energy_.kinetic)}, {"final", in_range(final_energy_.kinetic)}}},
      {"potential", {{"initial", in_range(initial_energy_.potential)}, {"final", in_range(final_energy_.potential)}}},
      {"work_in", {{"drives", in_range(flow_.drives)}, {"external", in_range(flow_.external)}}},
      {"dissipated",
       {{"friction", in_range(-flow_.friction)},
        {"impacts", in_range(-flow_.impacts)},
        {"damping", in_range(-flow_.damping)}}},
      {"correction", in_range(flow_.correction)},
      {"unaccounted", in_range(flow_.unaccounted)},
      {"unaccounted_bound", in_range(energy_bound_)},
      {"created", creates_energy_}};
  if (restitution_scale_ < 1) j["restitution_scale"] = restitution_scale_;
  if (!locked_joint_.empty()) j["locked_joint"] = {{"name", locked_joint_}, {"at", locked_at_}};
  j["initial_overlaps"] = overlaps_;
  j["contacts"] = {{"median", count(median(contacts_))}, {"max", count(largest(contacts_))}};
  j["state_hash"] = fmt::format("{:016x}", hash_);
  j["options"] = options_json(info_.options);
  j["version"] = info_.version;
  return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string RunSummary::energy_text() const {
  const auto share = [&](double x, std::string_view name) {
    return x != 0 ? fmt::format("{}{:.4g} {}", name.empty() ? "" : " ", x, name) : std::string();
  };
  std::string text = fmt::format("work in {:.4g} J, dissipated {:.4g} J", flow_.work_in(), flow_.dissipated() + 0.0);
  if (flow_.dissipated() != 0) {
    text += " (" + share(-flow_.friction, "friction") + share(-flow_.impacts, "impacts") +
            share(-flow_.damping, "damping") + " )";
  }
  if (flow_.correction != 0) text += fmt::format(", correction {:.3g} J", flow_.correction);
  return text + fmt::format(", unaccounted {:+.3g} J", flow_.unaccounted);
}

std::string RunSummary::to_text() const {
  fmt::memory_buffer out;
  const auto row = [&out](std::string_view label, const std::string& value) {
    fmt::format_to(std::back_inserter(out), "{:<16}{}\n", label, value);
  };
  row("scene", info_.scene);
  row("solver",
      fmt::format("{}, {}, dt {:g} s", info_.options.solver, name_of(*info_.options.integrator), info_.options.dt));
  row("status", status());
  if (failed_) row("", message_);
  if (creates_energy_) {
    row("", fmt::format("energy was created: {:.3g} J are not accounted for, {:.3g} J are the scheme's bound",
                        flow_.unaccounted, energy_bound_));
  }
  if (!locked_joint_.empty()) {
    row("",
        fmt::format("joint '{}' came next to its lock at {:.6g} s, where two of its axes fall together: what acts on "
                    "its coordinates acts wrongly there",
                    locked_joint_, locked_at_));
  }
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(kShown, overlaps_.size()); ++i) row("", "at the start " + overlaps_[i]);
  if (overlaps_.size() > kShown) row("", fmt::format("and {} more overlaps", overlaps_.size() - kShown));
  row("steps", fmt::format("{}", microseconds_.size()));
  row("simulated", fmt::format("{:.6g} s", end_time_ - start_time_));
  row("time per step",
      fmt::format("{:.1f} us median, {:.1f} us p95, {:.1f} us p99, {:.1f} us max", median(microseconds_),
                  percentile(microseconds_, 0.95), percentile(microseconds_, 0.99), largest(microseconds_)));
  row("real time", fmt::format("{:.3g} x", real_time_factor()));
  row("iterations", fmt::format("{:g} median, {:g} max", median(iterations_), largest(iterations_)));
  row("not converged", fmt::format("{} steps, {} accepted", non_converged_, accepted_));
  row("fallback", fmt::format("{} steps", fallback_));
  row("substepped", fmt::format("{} steps", substepped_));
  row("joint gap", fmt::format("{:.3g} m, {:.3g} rad (worst)", worst_.joint_gap, worst_.joint_angle));
  row("limit violation", fmt::format("{:.3g} m or rad (worst)", worst_.limit_violation));
  row("penetration", fmt::format("{:.3g} m (worst)", worst_.penetration));
  row("natural map", fmt::format("{:.3g}, error {:.3g} by criterion {} (worst)", worst_.natural_map,
                                 worst_.natural_map_relative, name_of(info_.options.criterion)));
  row("energy", fmt::format("{:.6g} J -> {:.6g} J: kinetic {:.6g} -> {:.6g}, potential {:.6g} -> {:.6g}",
                            initial_energy_.total(), final_energy_.total(), initial_energy_.kinetic,
                            final_energy_.kinetic, initial_energy_.potential, final_energy_.potential));
  row("energy flow", energy_text());
  row("contacts", fmt::format("{:g} median, {:g} max", median(contacts_), largest(contacts_)));
  row("state hash", fmt::format("{:016x}", hash_));
  return fmt::to_string(out);
}

}  // namespace sarrus
