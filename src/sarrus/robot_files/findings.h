// Where readers put what they find in a file, and what decides whether it may pass (report.h).
#pragma once

#include <string>

#include "sarrus/files/xml.h"
#include "sarrus/robot_files/options.h"
#include "sarrus/robot_files/report.h"

namespace sarrus::robot {

// Collects what readers find. dropped() and warn() return; finish() throws if something must not pass.
class Findings {
 public:
  Findings(const ImportOptions& options, ImportReport& report) : options_(options), report_(report) {}

  void note(const std::string& kind, const xml::Node& at, const std::string& what, const std::string& remedy = {}) {
    add(ImportSeverity::note, kind, at.place.text(), xml::describe(at), what, remedy);
  }
  void warn(const std::string& kind, const xml::Node& at, const std::string& what, const std::string& remedy = {}) {
    add(ImportSeverity::warning, kind, at.place.text(), xml::describe(at), what, remedy);
  }
  void dropped(const std::string& kind, const xml::Node& at, const std::string& what, const std::string& remedy = {}) {
    add(ImportSeverity::dropped, kind, at.place.text(), xml::describe(at), what, remedy);
  }
  void add(ImportSeverity severity, const std::string& kind, const std::string& place, const std::string& element,
           const std::string& what, const std::string& remedy);

  ImportCount& count(const std::string& kind) { return report_.counts[kind]; }
  ImportReport& report() { return report_; }
  const ImportOptions& options() const { return options_; }

  // Throws InputError that lists what is dropped and not accepted, or, if strict, the warnings.
  void finish() const;

 private:
  bool accepted(const std::string& kind) const;

  const ImportOptions& options_;
  ImportReport& report_;
};

}  // namespace sarrus::robot
