#include "sarrus/robot_files/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/robot_files/findings.h"

namespace sarrus {

std::string_view name_of(ImportSeverity severity) {
  constexpr std::string_view names[] = {"note", "warning", "dropped"};
  return names[static_cast<std::size_t>(severity)];
}

std::string ImportFinding::text() const {
  std::string out = place.empty() ? element : element.empty() ? place : fmt::format("{}: {}", place, element);
  out = printable(fmt::format("{}{}{}", out, out.empty() ? "" : ": ", what), 4000);
  if (!remedy.empty()) out += "; " + printable(remedy, 1000);
  if (count > 1) out += fmt::format(" (and {} more)", count - 1);
  return out;
}

int ImportReport::warnings() const {
  return static_cast<int>(std::count_if(findings.begin(), findings.end(),
                                        [](const ImportFinding& f) { return f.severity != ImportSeverity::note; }));
}

std::string ImportReport::to_text() const {
  std::string out;
  const auto row = [&out](const std::string& label, const std::string& value) {
    fmt::format_to(std::back_inserter(out), "{:<16}{}\n", label, value);
  };
  row("read", fmt::format("{} as {}", source, format));
  for (const auto& [kind, count] : counts) {
    std::string text = fmt::format("{} read", count.read);
    if (count.kept > 0) text += fmt::format(", {} kept", count.kept);
    if (count.merged > 0) text += fmt::format(", {} merged", count.merged);
    if (count.ignored > 0) text += fmt::format(", {} ignored", count.ignored);
    row("  " + kind, text);
  }
  for (const ImportFinding& f : findings) {
    row(std::string(f.severity == ImportSeverity::note ? "note" : "warning"), fmt::format("[{}] {}", f.kind, f.text()));
  }
  return out;
}

std::string ImportReport::to_json() const {
  nlohmann::ordered_json out = {{"source", source}, {"format", format}};
  out["counts"] = nlohmann::ordered_json::object();
  for (const auto& [kind, c] : counts) {
    out["counts"][kind] = {{"read", c.read}, {"kept", c.kept}, {"merged", c.merged}, {"ignored", c.ignored}};
  }
  out["findings"] = nlohmann::ordered_json::array();
  for (const ImportFinding& f : findings) {
    out["findings"].push_back({{"severity", name_of(f.severity)},
                               {"kind", f.kind},
                               {"place", f.place},
                               {"element", f.element},
                               {"what", f.what},
                               {"remedy", f.remedy},
                               {"count", f.count}});
  }
  out["names"] = nlohmann::ordered_json::object();
  for (const auto& [name, n] : names) {
    out["names"][name] = {{"body", n.body},
                          {"p", {n.X_BN.p.x(), n.X_BN.p.y(), n.X_BN.p.z()}},
                          {"q", {n.X_BN.q.w(), n.X_BN.q.x(), n.X_BN.q.y(), n.X_BN.q.z()}}};
  }
  out["coordinates"] = nlohmann::ordered_json::object();
  for (const auto& [name, c] : coordinates) {
    out["coordinates"][name] = {{"coordinate", c.coordinate}, {"sign", c.sign}};
  }
  out["drives"] = drives;
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

namespace robot {

void Findings::add(ImportSeverity severity, const std::string& kind, const std::string& place,
                   const std::string& element, const std::string& what, const std::string& remedy) {
  for (ImportFinding& f : report_.findings) {
    if (f.kind != kind || f.severity != severity) continue;
    ++f.count;
    return;
  }
  report_.findings.push_back({severity, kind, place, element, what, remedy, 1});
}

bool Findings::accepted(const std::string& kind) const {
  return std::any_of(options_.accept.begin(), options_.accept.end(),
                     [&](const std::string& name) { return name == "all" || name == kind; });
}

void Findings::finish() const {
  constexpr std::size_t kShown = 20;
  std::vector<const ImportFinding*> refused;
  std::string kinds;
  bool lost = false;
  for (const ImportFinding& f : report_.findings) {
    const bool dropped = f.severity == ImportSeverity::dropped && !accepted(f.kind);
    if (!dropped && !(options_.strict && f.severity != ImportSeverity::note)) continue;
    refused.push_back(&f);
    if (!dropped) continue;
    kinds += (lost ? "," : "") + f.kind;
    lost = true;
  }
  if (refused.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < std::min(refused.size(), kShown); ++i) {
    text += fmt::format("{}{}", i > 0 ? " | " : "", refused[i]->text());
  }
  if (refused.size() > kShown) text += fmt::format(" | and {} more kinds", refused.size() - kShown);
  throw InputError(report_.source,
                   lost ? fmt::format("forces or constraints of the file cannot be represented: {}; leave them out, or "
                                      "accept that they are missing with --accept {} (or all)",
                                      text, kinds)
                        : fmt::format("{}; correct it, or read it without --strict", text));
}

}  // namespace robot
}  // namespace sarrus
