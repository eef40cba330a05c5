// Tables of a run for spreadsheets and plotting tools, RFC 4180 quoting, SI units: a row per step, and a row per
// contact of each step.
//
// Columns: time, status, iterations, contacts, rows, natural_map, natural_map_relative, joint_gap, joint_angle,
// limit_violation, penetration, kinetic, potential, energy, us, then every joint coordinate by its full name
// ("joint" or "joint.coordinate"; of spherical joints the rotation vector from their rest), then <coordinate>.rate of
// all of them, <coordinate>.effort of those with a drive, and <joint>.force and <joint>.torque, the lengths of the
// reaction (Simulation::joint_reaction()). Numbers are written with the fewest digits that read back to the same
// double.
#pragma once

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "sarrus/dynamics/state.h"
#include "sarrus/recording/step_forces.h"
#include "sarrus/step/simulation.h"

namespace sarrus {

// A field as RFC 4180 wants it: quoted if it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);

class CsvLog {
 public:
  // Creates the file and writes the header line. Throws InputError naming the file.
  CsvLog(std::filesystem::path file, const Model& model);
  void add(const State& state, const StepReport& report, const Energy& energy, const StepForces& forces);
  // Hands all rows to the system; what went wrong on the way, for example a full disk, is an InputError, here and in
  // add().
  void flush();
  void close();

 private:
  Model model_;
  std::filesystem::path file_;
  std::ofstream out_;
  std::string line_;
};

// Columns: time, body_a, body_b ("world" for the world), geom_a, geom_b, x, y, z (the point), nx, ny, nz (from A to B),
// gap, fx, fy, fz (the mean force on body B over the step, N; negated on A).
class ContactCsvLog {
 public:
  ContactCsvLog(std::filesystem::path file, const Model& model);
  void add(double time, std::span<const Contact> contacts, const StepForces& forces);
  void flush();
  void close();

 private:
  Model model_;
  std::filesystem::path file_;
  std::ofstream out_;
  std::string line_;
};

}  // namespace sarrus
