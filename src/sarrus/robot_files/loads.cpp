#include "sarrus/robot_files/loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "sarrus/math/text.h"

namespace sarrus::robot {
namespace {

using Key = std::pair<int, int>;  // joint, coordinate
Key key(const CoordinateRef& ref) { return {ref.joint, ref.k}; }

struct Line {
  Key other;
  double ratio;
  double offset;  // q_other = ratio q + offset
};

using Ties = std::multimap<Key, Line>;

Ties ties_of(const Graph& graph) {
  Ties ties;
  for (const Coupling& c : graph.couplings) {
    const double offset = c.c.empty() ? 0 : c.c[0];
    const double ratio = c.c.size() > 1 ? c.c[1] : 0;
    const bool linear = std::none_of(c.c.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, c.c.size())),
                                     c.c.end(), [](double x) { return x != 0; });
    if (!linear || ratio == 0) continue;
    ties.emplace(key(c.b), Line{key(c.a), ratio, offset});
    ties.emplace(key(c.a), Line{key(c.b), 1 / ratio, -offset / ratio});
  }
  return ties;
}

// L = c q + d for the first coordinate q of a combination, if couplings tie the others to it.
std::optional<std::pair<double, double>> in_first(const Combination& combination, const Ties& ties) {
  std::map<Key, std::pair<double, double>> known = {{key(combination.terms[0].q), {1.0, 0.0}}};
  std::vector<Key> todo = {key(combination.terms[0].q)};
  while (!todo.empty()) {
    const Key here = todo.back();
    todo.pop_back();
    const auto [ratio, offset] = known.at(here);
    const auto [begin, end] = ties.equal_range(here);
    for (auto tie = begin; tie != end; ++tie) {
      const Line& line = tie->second;
      if (known.try_emplace(line.other, line.ratio * ratio, line.ratio * offset + line.offset).second) {
        todo.push_back(line.other);
      }
    }
  }
  double c = 0;
  double d = combination.offset;
  for (const Combination::Term& term : combination.terms) {
    const auto found = known.find(key(term.q));
    if (found == known.end()) return std::nullopt;
    c += term.c * found->second.first;
    d += term.c * found->second.second;
  }
  if (c == 0) return std::nullopt;
  return std::pair{c, d};
}

bool acts(const Coordinate& c) {
  const Dof& dof = c.dof;
  return dof.limit.active() || dof.drive.mode != DriveMode::none || dof.armature != 0 || dof.stiffness != 0 ||
         dof.damping != 0 || dof.dry_friction != 0;
}

// The force of a drive at rest at the coordinate 0, as a signal.
Signal force_at_zero(const Drive& d) {
  Signal f = d.target;
  const double gain = d.mode == DriveMode::position ? d.kp : d.mode == DriveMode::velocity ? d.kd : 1.0;
  f.offset *= gain;
  f.rate *= gain;
  f.amplitude *= gain;
  for (TablePoint& p : f.table) p.value *= gain;
  return f;
}

}  // namespace

void add_drive(Drive& drive, const Drive& added, Findings& findings, const xml::Place& place,
               const std::string& element) {
  if (added.mode == DriveMode::none) return;
  if (drive.mode == DriveMode::none) {
    drive = added;
    return;
  }
  if (drive.largest_effort() < kUnlimited || added.largest_effort() < kUnlimited ||
      drive.least_effort() > -kUnlimited || added.least_effort() > -kUnlimited) {
    findings.add(ImportSeverity::warning, "summed-drives", place.text(), element,
                 "is one of several drives of a coordinate: their gains and their bounds are added", "");
  }
  const Signal a = force_at_zero(drive);
  const Signal b = force_at_zero(added);
  drive.kp = (drive.mode == DriveMode::position ? drive.kp : 0) + (added.mode == DriveMode::position ? added.kp : 0);
  drive.kd = (drive.mode != DriveMode::force ? drive.kd : 0) + (added.mode != DriveMode::force ? added.kd : 0);
  drive.mode = drive.kp > 0 ? DriveMode::position : drive.kd > 0 ? DriveMode::velocity : DriveMode::force;
  const double lower = drive.least_effort() + added.least_effort();
  const double upper = drive.largest_effort() + added.largest_effort();
  const bool even = lower == -upper;
  drive.effort_limit = even ? upper : kUnlimited;
  drive.effort_lower = even ? -kUnlimited : lower;
  drive.effort_upper = even ? kUnlimited : upper;
  drive.target_lower = -kUnlimited;
  drive.target_upper = kUnlimited;
  const double gain = drive.mode == DriveMode::position ? drive.kp : drive.mode == DriveMode::velocity ? drive.kd : 1.0;
  drive.target = {};
  drive.target.offset = (a.offset + b.offset) / gain;
  drive.target.rate = (a.rate + b.rate) / gain;
}

void add_load(Coordinate& q, const Coordinate& acts_on, double c, double d, Findings& findings, const xml::Place& place,
              const std::string& element) {
  const Dof& load = acts_on.dof;
  Dof& dof = q.dof;
  if (load.limit.active()) {
    double lower = (load.limit.lower - d) / c;
    double upper = (load.limit.upper - d) / c;
    if (lower > upper) std::swap(lower, upper);
    dof.limit.lower = std::max(dof.limit.lower, lower);
    dof.limit.upper = std::min(dof.limit.upper, upper);
    if (load.limit.compliance.compliant()) dof.limit.compliance = load.limit.compliance;
  }
  if (load.stiffness > 0) {
    const double k = load.stiffness * c * c;
    dof.rest = (dof.stiffness * dof.rest + k * (load.rest - d) / c) / (dof.stiffness + k);
    dof.stiffness += k;
  }
  dof.damping += load.damping * c * c;
  dof.armature += load.armature * c * c;
  dof.dry_friction += load.dry_friction * std::abs(c);
  Drive drive = load.drive;
  drive.kp *= c * c;
  drive.kd *= c * c;
  drive.effort_limit *= std::abs(c);
  Signal& t = drive.target;
  const double scale = drive.mode == DriveMode::force ? c : 1 / c;
  const double shift = drive.mode == DriveMode::position ? d : 0;
  drive.effort_lower *= c;
  drive.effort_upper *= c;
  if (c < 0) std::swap(drive.effort_lower, drive.effort_upper);
  drive.target_lower = (drive.target_lower - shift) * scale;
  drive.target_upper = (drive.target_upper - shift) * scale;
  if (scale < 0) std::swap(drive.target_lower, drive.target_upper);
  t.offset = (t.offset - shift) * scale;
  t.rate *= scale;
  t.amplitude *= scale;
  for (TablePoint& p : t.table) p.value *= scale;
  add_drive(dof.drive, drive, findings, place, element);
  if (!acts_on.drive_name.empty()) q.drive_name = acts_on.drive_name;
}

void fold_loads(Graph& graph, Findings& findings) {
  const Ties ties = ties_of(graph);
  std::vector<Combination> left;
  for (const Combination& combination : graph.combinations) {
    ImportCount& count = findings.count("tendon");
    ++count.read;
    if (!acts(combination.acts) || combination.terms.empty()) {
      ++count.ignored;
      continue;
    }
    const std::string element = fmt::format("tendon {}", in_quotes(combination.name));
    if (const auto line = in_first(combination, ties)) {
      ++count.merged;
      add_load(graph.at(combination.terms[0].q), combination.acts, line->first, line->second, findings,
               combination.place, element);
      continue;
    }
    left.push_back(combination);
  }
  graph.combinations = std::move(left);
}

}  // namespace sarrus::robot
