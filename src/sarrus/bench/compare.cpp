#include "sarrus/bench/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "sarrus/bench/report_table.h"

namespace sarrus {
namespace {

constexpr double kSizeFactor = 2;      // gap, penetration, jitter, ...: beyond it a change of a simulation counts
constexpr double kSmallLength = 1e-9;  // m, rad, -: below it nothing counts
constexpr double kSmallDrift = 1e-6;   // of the energy
constexpr double kSingleTime = 0.15;   // one median against another, without pairs: a coarser limit
constexpr double kMemoryEffect = 0.05;

template <class T>
const T& item(const std::vector<T>& v, int i) {
  return v[static_cast<std::size_t>(i)];
}

Verdict by_ratio(const RatioTest& t) {
  if (!t.beyond_noise) return Verdict::same;
  return t.ratio > 1 ? Verdict::worse : Verdict::better;
}

Verdict by_counts(std::size_t lost, std::size_t gained) {
  if (lost == 0 && gained == 0) return Verdict::same;
  return lost > 0 ? Verdict::worse : Verdict::better;  // a lost sample is not made up for by another
}

using GroupKey = std::tuple<int, double, Start>;  // place of the solver in `a`, tolerance, start

struct Pair {
  const SolveRecord* a = nullptr;
  const SolveRecord* b = nullptr;
};

using SolveKey = std::tuple<std::string, std::string, double, Start>;
SolveKey key_of(const BenchResult& r, const SolveRecord& s) {
  return {item(r.samples, s.sample).id, item(r.solvers, s.solver).id, item(r.tolerances, s.level), s.start};
}

double residual(double v) { return std::isnan(v) ? HUGE_VAL : v; }

void compare_accuracy(const std::string& id, double tolerance, const Pair& p, GroupComparison& g) {
  const double a = residual(p.a->natural_map_relative), b = residual(p.b->natural_map_relative);
  if (b > tolerance && b > kAccuracyFactor * a) g.less_accurate.push_back(id);
  if (a > tolerance && a > kAccuracyFactor * b) g.more_accurate.push_back(id);
}

GroupComparison compare_group(const BenchResult& a, const BenchResult& b, const GroupKey& key,
                              const std::vector<Pair>& pairs, double alpha, bool same_machine) {
  GroupComparison g;
  g.solver = item(a.solvers, std::get<0>(key)).id;
  g.tolerance = std::get<1>(key);
  g.start = std::get<2>(key);
  g.samples = static_cast<int>(pairs.size());
  std::vector<double> time_a, time_b, iterations_a, iterations_b;
  for (const Pair& p : pairs) {
    const std::string& id = item(a.samples, p.a->sample).id;
    const bool in_a = a.solved(*p.a), in_b = b.solved(*p.b);
    g.solved_a += in_a;
    g.solved_b += in_b;
    if (in_a && !in_b) g.lost.push_back(id);
    if (in_b && !in_a) g.gained.push_back(id);
    compare_accuracy(id, g.tolerance, p, g);
    if (!in_a || !in_b) continue;
    if (p.a->seconds > 0 && p.b->seconds > 0) {
      time_a.push_back(p.a->seconds);
      time_b.push_back(p.b->seconds);
    }
    iterations_a.push_back(std::max(1, p.a->iterations));
    iterations_b.push_back(std::max(1, p.b->iterations));
  }
  g.time = compare_ratios(time_a, time_b, kMinimalEffect, alpha);
  g.iterations = compare_ratios(iterations_a, iterations_b, 0, alpha);
  g.solved_verdict = by_counts(g.lost.size(), g.gained.size());
  g.accuracy_verdict = by_counts(g.less_accurate.size(), g.more_accurate.size());
  g.iterations_verdict = by_ratio(g.iterations);
  g.time_verdict = same_machine ? by_ratio(g.time) : Verdict::unknown;
  return g;
}

// Solves of `a` that `b` has not, although it has the sample and the solver.
void report_unmatched(const BenchResult& a, const BenchResult& b, std::vector<std::string>& out) {
  std::set<SolveKey> in_b;
  std::set<std::string> samples, solvers;
  for (const SolveRecord& s : b.solves) in_b.insert(key_of(b, s));
  for (const SampleInfo& s : b.samples) samples.insert(s.id);
  for (const SolverSetup& s : b.solvers) solvers.insert(s.id);
  std::map<std::tuple<std::string, double, Start>, int> missing;
  for (const SolveRecord& s : a.solves) {
    const SolveKey key = key_of(a, s);
    const auto& [sample, solver, tolerance, start] = key;
    if (in_b.count(key) > 0 || samples.count(sample) == 0 || solvers.count(solver) == 0) continue;
    ++missing[{solver, tolerance, start}];
  }
  for (const auto& [key, count] : missing) {
    const auto& [solver, tolerance, start] = key;
    out.push_back(fmt::format("{} solves of {} at {}, {}", count, solver, power_text(tolerance),
                              start == Start::cold ? "cold" : "warm"));
  }
}

void compare_solves(const BenchResult& a, const BenchResult& b, Comparison& c) {
  std::map<std::string, const SampleInfo*> samples_b;
  for (const SampleInfo& s : b.samples) samples_b[s.id] = &s;
  std::set<std::string> changed;
  for (const SampleInfo& s : a.samples) {
    const auto other = samples_b.find(s.id);
    if (other != samples_b.end() && other->second->hash != s.hash) changed.insert(s.id);
  }
  c.changed_samples.assign(changed.begin(), changed.end());
  std::map<SolveKey, const SolveRecord*> solves_b;
  for (const SolveRecord& s : b.solves) solves_b[key_of(b, s)] = &s;
  report_unmatched(a, b, c.only_a);
  report_unmatched(b, a, c.only_b);
  std::map<GroupKey, std::vector<Pair>> groups;
  for (const SolveRecord& s : a.solves) {
    if (changed.count(item(a.samples, s.sample).id) > 0) continue;
    const auto other = solves_b.find(key_of(a, s));
    if (other == solves_b.end()) continue;
    groups[{s.solver, item(a.tolerances, s.level), s.start}].push_back({&s, other->second});
  }
  const double alpha = kNoiseChance / static_cast<double>(std::max<std::size_t>(1, groups.size()));
  for (const auto& [key, pairs] : groups) c.groups.push_back(compare_group(a, b, key, pairs, alpha, c.same_machine));
}

// `limit`: smallest factor that counts; sizes below `small` count as equal.
void add_change(const std::string& what, const char* quantity, double a, double b, double limit, double small,
                std::vector<ValueChange>& out) {
  const double x = std::max(std::abs(residual(a)), small), y = std::max(std::abs(residual(b)), small);
  if (y > limit * x) out.push_back({what, quantity, a, b, Verdict::worse});
  if (x > limit * y) out.push_back({what, quantity, a, b, Verdict::better});
}

void compare_run(const std::string& what, const RunRecord& a, const RunRecord& b, bool times, Comparison& c) {
  const auto size = [&](const char* quantity, double x, double y) {
    add_change(what, quantity, x, y, kSizeFactor, kSmallLength, c.runs);
  };
  size("joint gap [m]", a.joint_gap, b.joint_gap);
  size("joint angle [rad]", a.joint_angle, b.joint_angle);
  size("limit violation [m or rad]", a.limit_violation, b.limit_violation);
  size("penetration [m]", a.penetration, b.penetration);
  size("jitter", a.jitter, b.jitter);
  add_change(what, "energy drift", a.energy_drift, b.energy_drift, kSizeFactor, kSmallDrift, c.runs);
  size("residual", a.natural_map_relative, b.natural_map_relative);
  const int missing_a = a.planned_steps - a.steps, missing_b = b.planned_steps - b.steps;
  if (missing_a != missing_b) {
    c.runs.push_back({what, "steps not taken", static_cast<double>(missing_a), static_cast<double>(missing_b),
                      missing_b > missing_a ? Verdict::worse : Verdict::better});
  }
  if (a.not_converged != b.not_converged) {
    c.runs.push_back({what, "steps not converged", static_cast<double>(a.not_converged),
                      static_cast<double>(b.not_converged),
                      b.not_converged > a.not_converged ? Verdict::worse : Verdict::better});
  }
  if (times) add_change(what, "time per step [s]", a.step_median, b.step_median, 1 + kSingleTime, 1e-7, c.runs);
}

// Matches the entries of two runs by `key`, reports those of one run only, and hands pairs to `both`.
template <class T, class Key, class Both>
void match(const std::vector<T>& a, const std::vector<T>& b, const Key& key_a, const Key& key_b, Comparison& c,
           const char* kind, const Both& both) {
  std::map<std::string, const T*> found;
  for (const T& x : b) found[key_b(x)] = &x;
  std::set<std::string> seen;
  for (const T& x : a) {
    const std::string k = key_a(x);
    seen.insert(k);
    const auto other = found.find(k);
    if (other == found.end()) {
      c.only_a.push_back(fmt::format("{} {}", kind, k));
    } else {
      both(k, x, *other->second);
    }
  }
  for (const auto& entry : found) {
    if (seen.count(entry.first) == 0) c.only_b.push_back(fmt::format("{} {}", kind, entry.first));
  }
}

void compare_rest(const BenchResult& a, const BenchResult& b, Comparison& c) {
  const auto nothing = [](const std::string&, const auto&, const auto&) {};
  const auto id = [](const auto& x) { return x.id; };
  match(a.samples, b.samples, id, id, c, "sample", nothing);
  match(a.solvers, b.solvers, id, id, c, "solver", nothing);
  using RunKey = std::function<std::string(const RunRecord&)>;
  const auto run_key = [](const BenchResult& r) -> RunKey {
    return [&r](const RunRecord& x) { return item(r.systems, x.system).id + ", " + x.solver; };
  };
  match(
      a.runs, b.runs, run_key(a), run_key(b), c, "simulation",
      [&c](const std::string& k, const RunRecord& x, const RunRecord& y) { compare_run(k, x, y, c.same_machine, c); });
  const auto point = [](const ScalingRecord& x) {
    return fmt::format("{}, {} bodies, {} thread{}", x.family, x.bodies, x.threads, x.threads == 1 ? "" : "s");
  };
  match(a.scaling, b.scaling, point, point, c, "scaling point",
        [&c](const std::string& k, const ScalingRecord& x, const ScalingRecord& y) {
          if (c.same_machine) {
            add_change(k, "time per step [s]", x.step_median, y.step_median, 1 + kSingleTime, 1e-7, c.scaling);
          }
          add_change(k, "memory [bytes]", x.bytes, y.bytes, 1 + kMemoryEffect, 1e6, c.scaling);
          if (x.not_converged != y.not_converged) {
            c.scaling.push_back({k, "steps not converged", static_cast<double>(x.not_converged),
                                 static_cast<double>(y.not_converged),
                                 y.not_converged > x.not_converged ? Verdict::worse : Verdict::better});
          }
        });
}

std::string machine_text(const MachineInfo& m) { return fmt::format("{}, {} cores, {}", m.cpu, m.cores, m.compiler); }

void conclude(Comparison& c) {
  std::vector<double> ratios;
  for (const GroupComparison& g : c.groups) {
    if (g.time.pairs > 0) ratios.push_back(g.time.ratio);
  }
  if (!ratios.empty()) c.overall_time = quantile(ratios, 0.5);
  const auto count = [&c](Verdict v) {
    c.worse = c.worse || v == Verdict::worse;
    c.better = c.better || v == Verdict::better;
  };
  for (const GroupComparison& g : c.groups) {
    for (const Verdict v : {g.solved_verdict, g.time_verdict, g.iterations_verdict, g.accuracy_verdict}) count(v);
  }
  for (const ValueChange& v : c.runs) count(v.verdict);
  for (const ValueChange& v : c.scaling) count(v.verdict);
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::better:
      return "better";
    case Verdict::worse:
      return "worse";
    case Verdict::unknown:
      return "not compared";
    case Verdict::same:
      break;
  }
  return "same";
}

Comparison compare(const BenchResult& a, const BenchResult& b) {
  Comparison c;
  // The compiler is part of what may have made a difference; the processor makes times incomparable.
  c.same_machine = a.machine.cpu == b.machine.cpu && a.machine.cores == b.machine.cores;
  c.machine_a = machine_text(a.machine);
  c.machine_b = machine_text(b.machine);
  compare_solves(a, b, c);
  compare_rest(a, b, c);
  conclude(c);
  return c;
}

}  // namespace sarrus
