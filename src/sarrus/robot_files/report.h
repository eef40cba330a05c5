// What an import did with a file: what it read, kept, merged and ignored, and what it could not keep.
//
// Severities: `dropped` is a force or a constraint that Sarrus cannot represent: an error that lists all of them,
// unless ImportOptions::accept names the kind, then a warning. `warning`: approximated, or a bound or a filter lost; an
// error if ImportOptions::strict. `note`: no effect on the motion.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/assembly/assembly.h"
#include "sarrus/math/types.h"

namespace sarrus {

enum class ImportSeverity : std::uint8_t { note, warning, dropped };
std::string_view name_of(ImportSeverity severity);

// All findings of one kind are one line, which tells of the first of them.
struct ImportFinding {
  ImportSeverity severity = ImportSeverity::note;
  std::string kind;     // "spatial-tendon": what --accept takes
  std::string place;    // "robot.xml:42"
  std::string element;  // "spatial 'left'"
  std::string what;
  std::string remedy;  // may be empty
  int count = 1;

  // "robot.xml:42: spatial 'left': what; remedy (and 4 more)"
  std::string text() const;
};

// How many elements of a kind the file has (after includes and copies), and what became of them.
struct ImportCount {
  int read = 0;
  int kept = 0;
  int merged = 0;   // into another one
  int ignored = 0;  // the rest
};

// Where a body, frame or link of the file is now.
struct ImportedName {
  std::string body;  // of the model, or "world"
  Pose X_BN;         // its frame in that of the body
};

// A joint of the file and the coordinate that it has become: q = sign q_file.
struct ImportedCoordinate {
  std::string coordinate;  // Model::dof() finds it
  double sign = 1;
};

struct ImportReport {
  std::string source;
  std::string format;                         // "MJCF", "URDF", "SDF", "JSON"
  std::map<std::string, ImportCount> counts;  // by kind: "body", "joint", "geom", ...
  std::vector<ImportFinding> findings;        // in the order in which they were found
  std::map<std::string, ImportedName> names;  // by name of a body or frame in the file
  std::map<std::string, ImportedCoordinate> coordinates;
  std::map<std::string, std::string> drives;  // by name of an actuator: the coordinate that it drives
  std::optional<AssemblyReport> assembly;     // if something was open

  int warnings() const;
  std::string to_text() const;
  std::string to_json() const;
};

}  // namespace sarrus
