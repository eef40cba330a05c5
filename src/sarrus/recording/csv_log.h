// A table of a run for spreadsheets and plotting tools: one row per step, RFC 4180 quoting, SI units.
//
// Columns: time, status, iterations, contacts, rows, natural_map, natural_map_relative, joint_gap, joint_angle,
// limit_violation, penetration, kinetic, potential, energy, us, then every joint coordinate by its full name
// ("joint" or "joint.coordinate"; 0 for the velocity-only dofs of spherical joints). Numbers are written with
// the fewest digits that read back to the same double.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sarrus/dynamics/state.h"
#include "sarrus/step/simulation.h"

namespace sarrus {

// A field as RFC 4180 wants it: quoted if it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);

class CsvLog {
 public:
  // Creates the file and writes the header line. Throws InputError naming the file.
  CsvLog(std::filesystem::path file, const Model& model);
  void add(const State& state, const StepReport& report, const Energy& energy);
  // Flushes and reports what went wrong on the way, for example a full disk.
  void close();

 private:
  std::filesystem::path file_;
  std::ofstream out_;
  std::string line_;
};

}  // namespace sarrus
