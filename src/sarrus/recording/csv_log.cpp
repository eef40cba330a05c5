#include "sarrus/recording/csv_log.h"

#include <fmt/format.h>

#include <iterator>

#include "sarrus/math/error.h"

namespace sarrus {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

CsvLog::CsvLog(std::filesystem::path file, const Model& model)
    : file_(std::move(file)), out_(file_, std::ios::binary | std::ios::trunc) {
  if (!out_) throw InputError(file_.string(), "cannot be opened for writing; check the folder and its permissions");
  line_ =
      "time,status,iterations,contacts,rows,natural_map,natural_map_relative,joint_gap,joint_angle,"
      "limit_violation,penetration,kinetic,potential,energy,us";
  for (int dof = 0; dof < model.dof_count(); ++dof) line_ += ',' + csv_field(model.dof_name(dof));
  out_ << line_ << '\n';
}

void CsvLog::add(const State& state, const StepReport& report, const Energy& energy) {
  line_.clear();
  fmt::format_to(std::back_inserter(line_), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.3f}", state.time,
                 name_of(report.status), report.iterations, report.contacts, report.rows, report.residuals.natural_map,
                 report.residuals.error(), report.joint_gap, report.joint_angle, report.limit_violation,
                 report.penetration, energy.kinetic, energy.potential, energy.total(), 1e6 * report.seconds_total);
  for (const double q : state.q) fmt::format_to(std::back_inserter(line_), ",{}", q);
  line_ += '\n';
  out_ << line_;
}

void CsvLog::close() {
  out_.close();
  if (!out_) throw InputError(file_.string(), "could not be written completely; check the free space on its disk");
}

}  // namespace sarrus
