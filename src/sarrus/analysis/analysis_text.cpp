#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iterator>

#include "sarrus/analysis/analysis.h"

namespace sarrus {
namespace {

// "3 box, 1 mesh", in the order of the kinds.
std::string kinds_text(const ModelAnalysis& a) {
  std::vector<std::string> counts;
  for (std::size_t k = 0; k < a.geoms_by_kind.size(); ++k) {
    if (a.geoms_by_kind[k] == 0) continue;
    counts.push_back(fmt::format("{} {}", a.geoms_by_kind[k], name_of(static_cast<ShapeKind>(k))));
  }
  if (a.mesh_triangles > 0) counts.push_back(fmt::format("{} triangles", a.mesh_triangles));
  return counts.empty() ? "" : fmt::format(": {}", fmt::join(counts, ", "));
}

}  // namespace

std::string to_text(const Model& model, const ModelAnalysis& a) {
  std::string out;
  const auto row = [&out](std::string_view label, const std::string& value) {
    fmt::format_to(std::back_inserter(out), "{:<16}{}\n", label, value);
  };
  row("scene", model.name());
  row("bodies", fmt::format("{}, mass ratio {:.4g}, {} not connected to the world by joints", a.bodies, a.mass_ratio,
                            a.floating_components == 1 ? "1 group" : fmt::format("{} groups", a.floating_components)));
  row("joints", fmt::format("{}, {} closing loops, {} couplings", a.joints, a.loops, a.couplings));
  row("coordinates", fmt::format("{}, {} driven, {} limited", a.coordinates, a.drives, a.limits));
  row("geoms", fmt::format("{}{}", a.geoms, kinds_text(a)));
  if (a.compliant_joints + a.compliant_limits + a.compliant_materials > 0) {
    row("compliant", fmt::format("{} joints and couplings, {} limits, {} materials and pairs", a.compliant_joints,
                                 a.compliant_limits, a.compliant_materials));
  }
  if (a.rank >= 0) {
    row("constraint rows", fmt::format("{}, rank {}, {} redundant", a.rows, a.rank, a.redundant_rows));
    row("mobility", fmt::format("{} of {} velocity components", a.mobility, a.velocity_dofs));
  } else {
    row("constraint rows", fmt::format("{}, rank not computed", a.rows));
  }
  row("condition", std::isfinite(a.condition) ? fmt::format("{:.3g} (of J M^-1 J' without its null space)", a.condition)
                                              : "not computed");
  row("joint gap", fmt::format("{:.3g} m, {:.3g} rad at the reference pose", a.joint_gap, a.joint_angle));
  row("contacts", fmt::format("{} at the reference pose, deepest {:.3g} m", a.initial_contacts, a.initial_penetration));
  for (const std::string& w : a.warnings) row("warning", w);
  return out;
}

}  // namespace sarrus
