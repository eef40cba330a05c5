#include "sarrus/sweep/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "sarrus/files/hdf5.h"

namespace sarrus {
namespace {

using hdf5::Column;

constexpr std::size_t kFlush = 64;  // runs
constexpr double kFlushBytes = 64 << 20;

// The numbers that a run has of each kind, or as many zeros.
class Rows {
 public:
  Rows(const hdf5::File& file, const std::string& name, std::vector<hsize_t> shape, const hdf5::Meaning& meaning)
      : column_(file, name, shape, meaning) {
    for (const hsize_t n : shape) width_ *= n;
  }
  void push(const std::vector<double>& values) {
    for (std::size_t i = 0; i < width_; ++i) column_.push(values.size() == width_ ? values[i] : 0.0);
  }
  void push_quaternions(const std::vector<double>& xyzw) {
    for (std::size_t i = 0; i < width_; ++i) {
      column_.push(xyzw.size() == width_ ? xyzw[i - i % 4 + (i + 3) % 4] : 0.0);  // in files: w x y z
    }
  }
  void flush(std::size_t runs) { column_.flush(runs); }
  void close() { column_.close(); }

 private:
  Column<double> column_;
  std::size_t width_ = 1;
};

class Writer {
 public:
  Writer(const SweepPlan& plan, const hdf5::File& file) : plan_(plan), file_(file) {
    const Model& m = plan.model();
    const hsize_t bodies = m.bodies().size(), dofs = m.dofs().size();
    for (const char* group : {"parameters", "model", "runs", "final"}) (void)file.group(group);
    std::vector<std::string> targets, names, coordinates;
    for (const SweepAxis& a : plan.spec().axes) targets.push_back(a.target);
    for (const Body& b : m.bodies()) names.push_back(b.name);
    for (int i = 0; i < m.dof_count(); ++i) coordinates.push_back(m.dof_name(i));
    file.strings("parameters/targets", targets, {"", "what varies"});
    file.strings("model/bodies", names, {"", "names of the bodies"});
    file.strings("model/coordinates", coordinates, {"", "names of the coordinates"});
    values_ = add("parameters/values", {targets.size()}, {"", "of every run: its value, or factor, of each target"});
    status_ = std::make_unique<Column<std::int8_t>>(
        file, "runs/status", std::vector<hsize_t>{},
        hdf5::Meaning{"1", "0 finished, 1 a step failed, 2 values that no model or state may have"});
    const auto count = [&](const char* name, const char* what) {
      counts_.push_back(
          std::make_unique<Column<std::int32_t>>(file, name, std::vector<hsize_t>{}, hdf5::Meaning{"1", what}));
    };
    count("runs/steps", "steps taken");
    count("runs/accepted", "steps whose best answer was within `acceptable` only");
    count("runs/fallback", "steps that the fallback solver solved");
    count("runs/substepped", "steps that were taken in parts");
    count("runs/creates_energy", "1: energy was created");
    iterations_ = std::make_unique<Column<std::uint64_t>>(file, "runs/iterations", std::vector<hsize_t>{},
                                                          hdf5::Meaning{"1", "of the solver, over all steps"});
    time_ = add("runs/time", {}, {"s", "simulated"});
    error_ = add("runs/error", {}, {"1", "largest error of a step, as judged"});
    gap_ = add("runs/joint_gap", {}, {"m", "largest gap of a joint"});
    penetration_ = add("runs/penetration", {}, {"m", "largest"});
    energy_ = add("runs/energy", {2, 2}, {"J", "before and after: kinetic, potential"});
    seconds_ = add("runs/seconds", {}, {"s", "wall clock; differs from run to run"});
    position_ = add("final/position", {bodies, 3}, {"m", "centres of mass at the end"});
    quaternion_ = add("final/quaternion", {bodies, 4}, {"1", "orientation at the end, w x y z"});
    twist_ = add("final/twist", {bodies, 6}, {"m/s, rad/s", "velocity and angular velocity at the end, world axes"});
    q_ = add("final/q", {dofs}, {"m, rad", "joint coordinates at the end"});
    qd_ = add("final/qd", {dofs}, {"m/s, rad/s", "their rates"});
    if (plan.frames() == 0) return;
    (void)file.group("recordings");
    const auto frames = static_cast<hsize_t>(plan.frames());
    const Keep keep = plan.spec().keep;
    frame_time_ = add("recordings/time", {frames}, {"s", "of each frame"});
    const auto record = [&](Keep what, const char* name, std::vector<hsize_t> shape, const hdf5::Meaning& meaning) {
      if (!has(keep, what)) return std::unique_ptr<Rows>();
      shape.insert(shape.begin(), frames);
      return add(fmt::format("recordings/{}", name), shape, meaning);
    };
    frame_position_ = record(Keep::position, "position", {bodies, 3}, {"m", "centres of mass"});
    frame_quaternion_ = record(Keep::quaternion, "quaternion", {bodies, 4}, {"1", "orientation, w x y z"});
    frame_twist_ = record(Keep::twist, "twist", {bodies, 6}, {"m/s, rad/s", "world axes"});
    frame_q_ = record(Keep::q, "q", {dofs}, {"m, rad", "joint coordinates"});
    frame_qd_ = record(Keep::qd, "qd", {dofs}, {"m/s, rad/s", "their rates"});
    frame_force_ = record(Keep::contact_force, "contact_force", {bodies, 3}, {"N", "sum of the contacts on each body"});
    frame_energy_ = record(Keep::energy, "energy", {2}, {"J", "kinetic, potential"});
  }

  void add_run(const SweepRun& r) {
    messages_.push_back(r.message);
    values_->push(plan_.values(r.run));
    status_->push(static_cast<std::int8_t>(r.status));
    const std::int32_t counts[] = {r.steps, r.accepted, r.fallback, r.substepped, r.creates_energy ? 1 : 0};
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i]->push(counts[i]);
    iterations_->push(static_cast<std::uint64_t>(r.iterations));
    time_->push({r.time});
    error_->push({r.error});
    gap_->push({r.joint_gap});
    penetration_->push({r.penetration});
    energy_->push({r.energy_before[0], r.energy_before[1], r.energy_after[0], r.energy_after[1]});
    seconds_->push({r.seconds});
    position_->push(r.position);
    quaternion_->push_quaternions(r.quaternion);
    twist_->push(r.twist);
    q_->push(r.q);
    qd_->push(r.qd);
    if (frame_time_) {
      frame_time_->push(r.recording.time);
      if (frame_position_) frame_position_->push(r.recording.position);
      if (frame_quaternion_) frame_quaternion_->push_quaternions(r.recording.quaternion);
      if (frame_twist_) frame_twist_->push(r.recording.twist);
      if (frame_q_) frame_q_->push(r.recording.q);
      if (frame_qd_) frame_qd_->push(r.recording.qd);
      if (frame_force_) frame_force_->push(r.recording.contact_force);
      if (frame_energy_) frame_energy_->push(r.recording.energy);
    }
    const double recorded =
        8.0 * plan_.frames() * static_cast<double>(recorded_numbers(plan_.model(), plan_.spec().keep));
    if (++waiting_ >= kFlush || static_cast<double>(waiting_) * recorded > kFlushBytes) flush();
  }

  void finish() {
    flush();
    file_.strings("runs/message", messages_, {"", "why a run did not finish"});
    for (Rows* r : all_) r->close();
    status_->close();
    for (auto& c : counts_) c->close();
    iterations_->close();
  }

 private:
  std::unique_ptr<Rows> add(const std::string& name, const std::vector<hsize_t>& shape, const hdf5::Meaning& meaning) {
    auto rows = std::make_unique<Rows>(file_, name, shape, meaning);
    all_.push_back(rows.get());
    return rows;
  }
  void flush() {
    for (Rows* r : all_) r->flush(waiting_);
    status_->flush(waiting_);
    for (auto& c : counts_) c->flush(waiting_);
    iterations_->flush(waiting_);
    waiting_ = 0;
  }

  const SweepPlan& plan_;
  const hdf5::File& file_;
  std::vector<Rows*> all_;
  std::unique_ptr<Rows> values_, time_, error_, gap_, penetration_, energy_, seconds_, position_, quaternion_, twist_,
      q_, qd_;
  std::unique_ptr<Rows> frame_time_, frame_position_, frame_quaternion_, frame_twist_, frame_q_, frame_qd_,
      frame_force_, frame_energy_;
  std::unique_ptr<Column<std::int8_t>> status_;
  std::vector<std::unique_ptr<Column<std::int32_t>>> counts_;
  std::unique_ptr<Column<std::uint64_t>> iterations_;
  std::vector<std::string> messages_;
  std::size_t waiting_ = 0;
};

}  // namespace

namespace {

constexpr std::string_view kStatus[] = {"finished", "failed", "refused"};

std::string csv_head(const SweepPlan& plan) {
  std::string out = "run";
  for (const SweepAxis& a : plan.spec().axes) out += fmt::format(",\"{}\"", a.target);
  return out + ",status,steps,time,iterations,error,joint_gap,penetration,kinetic,potential,message\n";
}

std::string csv_row(const SweepPlan& plan, const SweepRun& r) {
  std::string out = fmt::format("{}", r.run);
  for (const double x : plan.values(r.run)) out += fmt::format(",{}", x);
  std::string message = r.message;
  std::replace(message.begin(), message.end(), '"', '\'');
  return out + fmt::format(",{},{},{},{},{},{},{},{},{},\"{}\"\n", kStatus[static_cast<std::size_t>(r.status)], r.steps,
                           r.time, r.iterations, r.error, r.joint_gap, r.penetration, r.energy_after[0],
                           r.energy_after[1], message);
}

}  // namespace

SweepCounts write_sweep(const SweepPlan& plan, const std::vector<WorkUnit>& units, const std::string& path,
                        const std::string& version, std::string* csv) {
  hdf5::File file(path);
  file.attribute(file.id(), "format", std::string("sarrus-sweep"));
  file.attribute(file.id(), "version", 1);
  file.attribute(file.id(), "written_by", "sarrus " + version);
  file.attribute(file.id(), "scene", plan.spec().scene);
  file.attribute(file.id(), "spec", plan.spec().text);
  file.attribute(file.id(), "dt", plan.dt());
  SweepCounts counts;
  {
    Writer writer(plan, file);
    if (csv != nullptr) *csv = csv_head(plan);
    collect_sweep(plan, units, [&](const SweepRun& r) {
      writer.add_run(r);
      if (csv != nullptr) *csv += csv_row(plan, r);
      int* const count[] = {&counts.finished, &counts.failed, &counts.refused};
      ++*count[static_cast<std::size_t>(r.status)];
      counts.creates_energy += r.creates_energy ? 1 : 0;
      if (r.status != SweepRunStatus::finished && counts.first_run < 0) {
        counts.first_run = r.run;
        counts.first_message = r.message;
      }
    });
    writer.finish();
  }
  file.close();
  return counts;
}

}  // namespace sarrus
