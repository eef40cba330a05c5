// Private to this folder: the columns of every record type, in the order of result.h.
#pragma once

#include "sarrus/bench/json_table.h"
#include "sarrus/bench/result.h"

namespace sarrus {

template <class F>
void fields(F& f, SystemInfo& r) {
  f("id", r.id);
  f("group", r.group);
  f("summary", r.summary);
  f("bodies", r.bodies);
  f("joints", r.joints);
  f("loops", r.loops);
  f("joint_rows", r.joint_rows);
  f("joint_rank", r.joint_rank);
  f("mobility", r.mobility);
  f("mass_ratio", r.mass_ratio);
  f("dt_s", r.dt);
  f("duration_s", r.duration);
}

template <class F>
void fields(F& f, SampleInfo& r) {
  f("id", r.id);
  f("system", r.system);
  f("step", r.step);
  f("category", r.category, kProblemCategoryCount + 1);
  f("nodes", r.nodes);
  f("joints", r.joints);
  f("joint_rows", r.joint_rows);
  f("soft_rows", r.soft_rows);
  f("limits", r.limits);
  f("contacts", r.contacts);
  f("rows", r.rows);
  f("compliant", r.compliant);
  f("assembly_s", r.seconds_assembly);
  f("hash", r.hash);
}

template <class F>
void fields(F& f, SolverSetup& r) {
  f("id", r.id);
  f("law", r.law, 3);
  f("summary", r.summary);
  f("limits", r.limits);
}

template <class F>
void fields(F& f, SolveRecord& r) {
  f("sample", r.sample);
  f("solver", r.solver);
  f("level", r.level);
  f("start", r.start, 2);
  f("outcome", r.outcome, kOutcomeCount);
  f("natural_map", r.natural_map);
  f("natural_map_relative", r.natural_map_relative);
  f("own_law_relative", r.own_law_relative);
  f("primal", r.primal);
  f("dual", r.dual);
  f("complementarity", r.complementarity);
  f("equations", r.equations);
  f("joint_velocity", r.joint_velocity);
  f("momentum_error", r.momentum_error);
  f("complementarity_error", r.complementarity_error);
  f("delta_psi", r.delta_psi);
  f("iterations", r.iterations);
  f("factorisations", r.factorisations);
  f("seconds", r.seconds);
  f("seconds_first", r.seconds_first);
  f("instructions", r.instructions);
  f("message", r.message);
}

template <class F>
void fields(F& f, RunRecord& r) {
  f("system", r.system);
  f("solver", r.solver);
  f("steps", r.steps);
  f("planned_steps", r.planned_steps);
  f("not_converged", r.not_converged);
  f("substepped", r.substepped);
  f("natural_map_relative", r.natural_map_relative);
  f("joint_gap_m", r.joint_gap);
  f("joint_angle_rad", r.joint_angle);
  f("limit_violation", r.limit_violation);
  f("penetration_m", r.penetration);
  f("energy_drift", r.energy_drift);
  f("jitter", r.jitter);
  f("iterations_median", r.iterations_median);
  f("iterations_max", r.iterations_max);
  f("contacts_max", r.contacts_max);
  f("step_median_s", r.step_median);
  f("step_p95_s", r.step_p95);
  f("solve_median_s", r.solve_median);
  f("real_time_factor", r.real_time_factor);
  f("message", r.message);
}

template <class F>
void fields(F& f, CurveRecord& r) {
  f("sample", r.sample);
  f("solver", r.solver);
  f("iterations", r.iterations);
  f("residual", r.residual);
}

template <class F>
void fields(F& f, ScalingRecord& r) {
  f("family", r.family);
  f("bodies", r.bodies);
  f("threads", r.threads);
  f("rows", r.rows);
  f("contacts", r.contacts);
  f("steps", r.steps);
  f("not_converged", r.not_converged);
  f("iterations", r.iterations);
  f("step_median_s", r.step_median);
  f("step_p95_s", r.step_p95);
  f("solve_median_s", r.solve_median);
  f("bytes", r.bytes);
  f("message", r.message);
}

}  // namespace sarrus
