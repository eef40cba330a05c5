// The comparison in words and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sarrus/bench/compare.h"
#include "sarrus/bench/report_table.h"

namespace sarrus {
namespace {

constexpr std::size_t kNamed = 8;  // entries of a list that are written out

std::string list(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(kNamed, names.size()); ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kNamed) out += fmt::format(" and {} more", names.size() - kNamed);
  return out;
}

const char* start_word(Start s) { return s == Start::cold ? "cold" : "warm"; }

std::string group_title(const GroupComparison& g) {
  return fmt::format("{} at {}, {}", g.solver, power_text(g.tolerance), start_word(g.start));
}

std::string ratio_text(const RatioTest& t) {
  if (t.pairs == 0) return "-";
  if (!std::isfinite(t.upper)) return fmt::format("{:.3f} ({} pairs: too few)", t.ratio, t.pairs);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", t.ratio, t.lower, t.upper);
}

void group_changes(const GroupComparison& g, Verdict wanted, std::string& out) {
  const auto to = std::back_inserter(out);
  const bool worse = wanted == Verdict::worse;
  const std::vector<std::string>& solved = worse ? g.lost : g.gained;
  const std::vector<std::string>& accuracy = worse ? g.less_accurate : g.more_accurate;
  if (!solved.empty()) {
    fmt::format_to(to, "  {}: {} {} sample{} ({})\n", group_title(g), worse ? "lost" : "gained", solved.size(),
                   solved.size() == 1 ? "" : "s", list(solved));
  }
  if (g.time_verdict == wanted) fmt::format_to(to, "  {}: time x {}\n", group_title(g), ratio_text(g.time));
  if (g.iterations_verdict == wanted) {
    fmt::format_to(to, "  {}: iterations x {}\n", group_title(g), ratio_text(g.iterations));
  }
  if (!accuracy.empty()) {
    fmt::format_to(to, "  {}: residual {} by more than {:g} times on {} sample{} ({})\n", group_title(g),
                   worse ? "larger" : "smaller", kAccuracyFactor, accuracy.size(), accuracy.size() == 1 ? "" : "s",
                   list(accuracy));
  }
}

void changes(const Comparison& c, Verdict wanted, std::string& out) {
  std::string lines;
  for (const GroupComparison& g : c.groups) group_changes(g, wanted, lines);
  for (const std::vector<ValueChange>* values : {&c.runs, &c.scaling}) {
    for (const ValueChange& v : *values) {
      if (v.verdict == wanted) lines += fmt::format("  {}: {} {:.3g} -> {:.3g}\n", v.what, v.quantity, v.a, v.b);
    }
  }
  out += fmt::format("Got {} beyond noise:{}", name_of(wanted), lines.empty() ? " nothing\n" : "\n" + lines);
}

void group_table(const Comparison& c, std::string& out) {
  if (c.groups.empty()) return;
  std::size_t width = 6;
  for (const GroupComparison& g : c.groups) width = std::max(width, g.solver.size());
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "\n{:<{}}  {:<6}  {:<5}  {:>7}  {:>9}  {:>9}  {:<24}  {:<12}  {:<24}  {}\n", "solver", width,
                 "toler.", "start", "samples", "solved A", "solved B", "time B/A [noise]", "", "iterations B/A [noise]",
                 "");
  for (const GroupComparison& g : c.groups) {
    fmt::format_to(to, "{:<{}}  {:<6}  {:<5}  {:>7}  {:>9}  {:>9}  {:<24}  {:<12}  {:<24}  {}\n", g.solver, width,
                   power_text(g.tolerance), start_word(g.start), g.samples, g.solved_a, g.solved_b, ratio_text(g.time),
                   name_of(g.time_verdict), ratio_text(g.iterations), name_of(g.iterations_verdict));
  }
}

nlohmann::json finite_or_text(double v) {
  if (std::isfinite(v)) return v;
  return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}

nlohmann::json json_of(const RatioTest& t, Verdict verdict) {
  return {{"ratio", finite_or_text(t.ratio)},
          {"lower", finite_or_text(t.lower)},
          {"upper", finite_or_text(t.upper)},
          {"pairs", t.pairs},
          {"verdict", name_of(verdict)}};
}

nlohmann::json json_of(const std::vector<ValueChange>& values) {
  nlohmann::json out = nlohmann::json::array();
  for (const ValueChange& v : values) {
    out.push_back({{"what", v.what},
                   {"quantity", v.quantity},
                   {"a", finite_or_text(v.a)},
                   {"b", finite_or_text(v.b)},
                   {"verdict", name_of(v.verdict)}});
  }
  return out;
}

}  // namespace

std::string to_text(const Comparison& c) {
  std::string out;
  const auto to = std::back_inserter(out);
  if (!c.same_machine) {
    fmt::format_to(to, "Different machines: times are not compared.\n  A: {}\n  B: {}\n", c.machine_a, c.machine_b);
  }
  if (!c.changed_samples.empty()) {
    fmt::format_to(to,
                   "The problem itself changed in {} sample{}: results are not comparable there and left out ({}).\n",
                   c.changed_samples.size(), c.changed_samples.size() == 1 ? "" : "s", list(c.changed_samples));
  }
  if (!c.only_a.empty()) fmt::format_to(to, "Only in A ({}): {}\n", c.only_a.size(), list(c.only_a));
  if (!c.only_b.empty()) fmt::format_to(to, "Only in B ({}): {}\n", c.only_b.size(), list(c.only_b));
  changes(c, Verdict::worse, out);
  changes(c, Verdict::better, out);
  if (c.same_machine && c.groups.size() > 1) {
    fmt::format_to(
        to,
        "Median time ratio B/A over all groups: {:.3f}. If it is far from 1 and all groups are alike, rather "
        "the machine changed than the code.\n",
        c.overall_time);
  }
  group_table(c, out);
  return out;
}

std::string to_json(const Comparison& c) {
  nlohmann::json groups = nlohmann::json::array();
  for (const GroupComparison& g : c.groups) {
    groups.push_back({{"solver", g.solver},
                      {"tolerance", g.tolerance},
                      {"start", start_word(g.start)},
                      {"samples", g.samples},
                      {"solved_a", g.solved_a},
                      {"solved_b", g.solved_b},
                      {"solved_verdict", name_of(g.solved_verdict)},
                      {"lost", g.lost},
                      {"gained", g.gained},
                      {"less_accurate", g.less_accurate},
                      {"more_accurate", g.more_accurate},
                      {"accuracy_verdict", name_of(g.accuracy_verdict)},
                      {"time", json_of(g.time, g.time_verdict)},
                      {"iterations", json_of(g.iterations, g.iterations_verdict)}});
  }
  const nlohmann::json out = {{"same_machine", c.same_machine},
                              {"machine_a", c.machine_a},
                              {"machine_b", c.machine_b},
                              {"changed_samples", c.changed_samples},
                              {"only_a", c.only_a},
                              {"only_b", c.only_b},
                              {"overall_time_ratio", finite_or_text(c.overall_time)},
                              {"worse", c.worse},
                              {"better", c.better},
                              {"groups", groups},
                              {"runs", json_of(c.runs)},
                              {"scaling", json_of(c.scaling)}};
  return out.dump(2) + "\n";
}

}  // namespace sarrus
