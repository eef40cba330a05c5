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

namespace {

std::ofstream open_table(const std::filesystem::path& file) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!out) throw InputError(file.string(), "cannot be opened for writing; check the folder and its permissions");
  return out;
}

void check_table(const std::ostream& out, const std::filesystem::path& file) {
  if (!out) throw InputError(file.string(), "could not be written completely; check the free space on its disk");
}

void close_table(std::ofstream& out, const std::filesystem::path& file) {
  out.close();
  check_table(out, file);
}

bool has_reaction(const Joint& joint) { return joint.type != JointType::free; }
bool has_effort(const Dof& dof) { return dof.drive.mode != DriveMode::none; }

}  // namespace

CsvLog::CsvLog(std::filesystem::path file, const Model& model)
    : model_(model), file_(std::move(file)), out_(open_table(file_)) {
  line_ =
      "time,status,iterations,contacts,rows,natural_map,natural_map_relative,joint_gap,joint_angle,"
      "limit_violation,penetration,kinetic,potential,energy,us";
  for (int dof = 0; dof < model.dof_count(); ++dof) line_ += ',' + csv_field(model.dof_name(dof));
  for (int dof = 0; dof < model.dof_count(); ++dof) line_ += ',' + csv_field(model.dof_name(dof) + ".rate");
  for (int dof = 0; dof < model.dof_count(); ++dof) {
    if (has_effort(model.dofs()[static_cast<std::size_t>(dof)])) {
      line_ += ',' + csv_field(model.dof_name(dof) + ".effort");
    }
  }
  for (const Combination& c : model.combinations()) {
    line_ += ',' + csv_field(c.name) + ',' + csv_field(c.name + ".rate");
    if (has_effort(c.law)) line_ += ',' + csv_field(c.name + ".effort");
  }
  for (const Joint& j : model.joints()) {
    if (has_reaction(j)) line_ += ',' + csv_field(j.name + ".force") + ',' + csv_field(j.name + ".torque");
  }
  out_ << line_ << '\n';
}

void CsvLog::add(const State& state, const StepReport& report, const Energy& energy, const StepForces& forces) {
  line_.clear();
  fmt::format_to(std::back_inserter(line_), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.3f}", state.time,
                 name_of(report.status), report.iterations, report.contacts, report.rows, report.residuals.natural_map,
                 report.residuals.error(), report.joint_gap, report.joint_angle, report.limit_violation,
                 report.penetration, energy.kinetic, energy.potential, energy.total(), 1e6 * report.seconds_total);
  const auto add_number = [this](double x) { fmt::format_to(std::back_inserter(line_), ",{}", x); };
  for (const double q : state.q) add_number(q);
  for (const double rate : forces.joint_rates) add_number(rate);
  for (std::size_t i = 0; i < forces.drive_efforts.size(); ++i) {
    if (has_effort(model_.dofs()[i])) add_number(forces.drive_efforts[i]);
  }
  for (std::size_t i = 0; i < forces.combination_lengths.size(); ++i) {
    add_number(forces.combination_lengths[i]);
    add_number(forces.combination_rates[i]);
    if (has_effort(model_.combinations()[i].law)) add_number(forces.combination_efforts[i]);
  }
  for (std::size_t i = 0; i < forces.joint_reactions.size(); ++i) {
    if (!has_reaction(model_.joints()[i])) continue;
    add_number(forces.joint_reactions[i].head<3>().norm());
    add_number(forces.joint_reactions[i].tail<3>().norm());
  }
  line_ += '\n';
  out_ << line_;
  check_table(out_, file_);
}

void CsvLog::flush() { check_table(out_.flush(), file_); }
void CsvLog::close() { close_table(out_, file_); }

ContactCsvLog::ContactCsvLog(std::filesystem::path file, const Model& model)
    : model_(model), file_(std::move(file)), out_(open_table(file_)) {
  out_ << "time,body_a,body_b,geom_a,geom_b,x,y,z,nx,ny,nz,gap,fx,fy,fz\n";
}

void ContactCsvLog::add(double time, std::span<const Contact> contacts, const StepForces& forces) {
  const auto body = [this](int i) {
    return i == kWorld ? std::string("world") : csv_field(model_.bodies()[static_cast<std::size_t>(i)].name);
  };
  const auto geom = [this](int i) { return csv_field(model_.geoms()[static_cast<std::size_t>(i)].name); };
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    const Vec3& f = forces.contact_forces[i];
    line_.clear();
    fmt::format_to(std::back_inserter(line_), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", time, body(c.body_a),
                   body(c.body_b), geom(c.geom_a), geom(c.geom_b), c.p_W.x(), c.p_W.y(), c.p_W.z(), c.n_W.x(),
                   c.n_W.y(), c.n_W.z(), c.gap, f.x(), f.y(), f.z());
    out_ << line_;
  }
  check_table(out_, file_);
}

void ContactCsvLog::flush() { check_table(out_.flush(), file_); }
void ContactCsvLog::close() { close_table(out_, file_); }

}  // namespace sarrus
