#include "sarrus/recording/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "sarrus/files/hdf5_reader.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"
#include "sarrus/recording/recording_scene.h"

namespace sarrus {
namespace {

using hdf5::Column;
using hdf5::File;
using hdf5::Wxyz;

// Samples and contacts that are collected before they go to the file together.
constexpr std::size_t kBatchSamples = 256;
constexpr std::size_t kBatchContacts = 16384;
constexpr std::int8_t kNoStep = -1;  // status of the initial state

hsize_t to_size(int n) { return static_cast<hsize_t>(n); }

Vec3 vector3(const std::vector<double>& values, std::size_t i) {
  return {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
}

// A recording tells of what it was made: masses, joints and shapes are those of the model, not only as many.
void require_model(const hdf5::Reader& file, const Model& model) {
  constexpr double kEqual = 1e-9;  // relative: scenes may be written with fewer digits
  const auto differs = [&](const char* name, const std::string& what, double there, double here) {
    if (std::abs(there - here) <= kEqual * std::max(std::abs(there), std::abs(here))) return;
    file.fail(name, fmt::format("is of another model: {} has {} there, {} here", what, there, here));
  };
  const auto& bodies = model.bodies();
  const std::vector<double> mass = file.doubles("/bodies/mass", static_cast<std::int64_t>(bodies.size()));
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    differs("/bodies/mass", fmt::format("the mass of body '{}'", bodies[i].name), mass[i], bodies[i].mass);
  }
  const auto& joints = model.joints();
  const auto joint_count = static_cast<std::int64_t>(joints.size());
  const std::vector<int> base = file.ints("/joints/base", joint_count);
  const std::vector<int> follower = file.ints("/joints/follower", joint_count);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    differs("/joints/base", fmt::format("the base of joint '{}'", joints[i].name), base[i], joints[i].base);
    differs("/joints/follower", fmt::format("the follower of joint '{}'", joints[i].name), follower[i],
            joints[i].follower);
  }
  const auto& geoms = model.geoms();
  const std::vector<int> body = file.ints("/geoms/body", static_cast<std::int64_t>(geoms.size()));
  const std::vector<double> size = file.doubles("/geoms/size", 3 * static_cast<std::int64_t>(geoms.size()));
  for (std::size_t i = 0; i < geoms.size(); ++i) {
    differs("/geoms/body", fmt::format("the body of geom '{}'", geoms[i].name), body[i], geoms[i].body);
    for (int k = 0; k < 3; ++k) {
      differs("/geoms/size", fmt::format("the size of geom '{}'", geoms[i].name),
              size[3 * i + static_cast<std::size_t>(k)], geoms[i].shape.size[k]);
    }
  }
}

std::vector<State> read_states(const hdf5::Reader& file, const Model& model) {
  const std::vector<double> time = file.doubles("/time", hdf5::kAnySize);
  const auto samples = static_cast<std::int64_t>(time.size());
  const auto n = static_cast<std::size_t>(model.body_count());
  const auto nq = static_cast<std::size_t>(model.dof_count());
  const auto sizes = [&](std::size_t per_sample) { return samples * static_cast<std::int64_t>(per_sample); };
  const std::vector<double> position = file.doubles("/bodies/position", sizes(3 * n));
  const std::vector<double> quaternion = file.doubles("/bodies/quaternion_wxyz", sizes(4 * n));
  const std::vector<double> linear = file.doubles("/bodies/linear_velocity", sizes(3 * n));
  const std::vector<double> angular = file.doubles("/bodies/angular_velocity", sizes(3 * n));
  const std::vector<double> coordinates =
      nq == 0 ? std::vector<double>{} : file.doubles("/joints/coordinates", sizes(nq));
  // Recordings of older versions have no lags, and neither has the state before the first step.
  const std::vector<double> rate_lag = nq > 0 && file.has("/joints/rate_lag")
                                           ? file.doubles("/joints/rate_lag", sizes(nq))
                                           : std::vector<double>(nq * time.size(), 0.0);
  std::vector<State> states(time.size());
  for (std::size_t s = 0; s < states.size(); ++s) {
    State& state = states[s];
    state.time = time[s];
    for (std::size_t b = s * n; b < (s + 1) * n; ++b) {
      const double* q = quaternion.data() + 4 * b;
      const Quat rotation(q[0], q[1], q[2], q[3]);
      if (std::abs(rotation.squaredNorm() - 1) > 1e-6) {
        file.fail("/bodies/quaternion_wxyz", fmt::format("sample {} is not of unit length", s));
      }
      state.X_WB.push_back({vector3(position, b), rotation});
      state.twist.push_back(spatial(vector3(linear, b), vector3(angular, b)));
    }
    const auto lag = rate_lag.begin() + static_cast<std::ptrdiff_t>(s * nq);
    const bool stepped = std::any_of(lag, lag + static_cast<std::ptrdiff_t>(nq), [](double x) { return x != 0; });
    for (std::size_t k = s * nq; k < (s + 1) * nq; ++k) {
      state.q.push_back(coordinates[k]);
      if (stepped) state.rate_lag.push_back(rate_lag[k]);
    }
  }
  return states;
}

void read_contacts(const hdf5::Reader& file, RecordedMotion& recording) {
  const auto samples = recording.states.size();
  const std::vector<std::uint64_t> offset = file.ids("/contacts/offset", static_cast<std::int64_t>(samples) + 1);
  const std::vector<int> geom_a = file.ints("/contacts/geom_a", hdf5::kAnySize);
  const auto total = static_cast<std::int64_t>(geom_a.size());
  const std::vector<int> geom_b = file.ints("/contacts/geom_b", total);
  const std::vector<double> impulse = file.doubles("/contacts/impulse_world", 3 * total);
  recording.contacts.resize(samples);
  for (std::size_t s = 0; s < samples; ++s) {
    if (offset[s] > offset[s + 1] || offset[s + 1] > static_cast<std::uint64_t>(total)) {
      file.fail("/contacts/offset", fmt::format("the rows of sample {} do not exist", s));
    }
    for (auto k = static_cast<std::size_t>(offset[s]); k < offset[s + 1]; ++k) {
      recording.contacts[s].push_back({geom_a[k], geom_b[k], vector3(impulse, k)});
    }
  }
}

}  // namespace

// Of combinations of coordinates; only in files of models that have some.
struct SumColumns {
  SumColumns(const File& file, const Model& model)
      : lengths(make(file, model, "lengths", {"m or rad", "values of the combinations"})),
        rates(file, "/combinations/rates", {to_size(model.scalar_count() - model.dof_count())},
              {"m/s or rad/s", "their rates"}),
        efforts(file, "/combinations/drive_efforts", {to_size(model.scalar_count() - model.dof_count())},
                {"N or N m", "efforts of their drives in the step"}),
        targets(file, "/combinations/drive_targets", {to_size(model.scalar_count() - model.dof_count())},
                {"of the target", "what their drives aim at, 0 without drive"}) {}

  Column<double> lengths, rates, efforts, targets;

 private:
  // With their names.
  static Column<double> make(const File& file, const Model& model, const char* name, const hdf5::Meaning& meaning) {
    std::vector<std::string> names;
    for (const Combination& c : model.combinations()) names.push_back(c.name);
    file.strings("/combinations/names", names, {"", "names of the combinations of coordinates"});
    return {file, fmt::format("/combinations/{}", name), {to_size(static_cast<int>(names.size()))}, meaning};
  }
};

struct RecordingWriter::Impl {
  Impl(const std::filesystem::path& path, const Model& model, const RunInfo& info, int every)
      : file(create_recording(path, model, info, every)),
        n(to_size(model.body_count())),
        nj(to_size(model.joint_count())),
        nq(to_size(model.dof_count())) {
    if (!model.combinations().empty()) sums.emplace(file, model);
    offset.push(0);
    offset.flush(1);
  }

  void add_state(const State& state, const Energy& e, const StepForces& forces) {
    time.push(state.time);
    for (const Pose& X : state.X_WB) {
      position.push_vector(X.p);
      quaternion.push_vector(Wxyz(X.q));
    }
    for (const Vec6& u : state.twist) {
      linear_velocity.push_vector(u.head<3>());
      angular_velocity.push_vector(u.tail<3>());
    }
    for (const double q : state.q) coordinates.push(q);
    for (std::size_t i = 0; i < state.q.size(); ++i) rate_lag.push(state.rate_lag.empty() ? 0.0 : state.rate_lag[i]);
    for (const double rate : forces.joint_rates) rates.push(rate);
    for (const double effort : forces.drive_efforts) drive_efforts.push(effort);
    for (const double target : forces.drive_targets) drive_targets.push(target);
    for (const JointOpening& open : forces.joint_openings) {
      gaps.push(open.gap);
      angles.push(open.angle);
    }
    if (sums) {
      for (const double x : forces.combination_lengths) sums->lengths.push(x);
      for (const double x : forces.combination_rates) sums->rates.push(x);
      for (const double x : forces.combination_efforts) sums->efforts.push(x);
      for (const double x : forces.combination_targets) sums->targets.push(x);
    }
    for (const Vec6& reaction : forces.joint_reactions) {
      reaction_force.push_vector(reaction.head<3>());
      reaction_torque.push_vector(reaction.tail<3>());
    }
    kinetic.push(e.kinetic);
    potential.push(e.potential);
    work_in.push(forces.energy.work_in());
    dissipated.push(forces.energy.dissipated());
    unaccounted.push(forces.energy.unaccounted);
  }

  void add_report(const StepReport& r, std::int8_t step_status) {
    natural_map.push(r.residuals.natural_map);
    error.push(r.error);
    joint_gap.push(r.joint_gap);
    joint_angle.push(r.joint_angle);
    penetration.push(r.penetration);
    limit_violation.push(r.limit_violation);
    iterations.push(r.iterations);
    status.push(step_status);
  }

  void add_contact(const Contact& c, const Vec3& impulse, const Vec3& force, ContactMode contact_mode) {
    point.push_vector(c.p_W);
    normal.push_vector(c.n_W);
    impulse_world.push_vector(impulse);
    force_world.push_vector(force);
    gap.push(c.gap);
    mu.push(c.mu);
    mode.push(static_cast<std::int8_t>(contact_mode));
    body_a.push(c.body_a);
    body_b.push(c.body_b);
    geom_a.push(c.geom_a);
    geom_b.push(c.geom_b);
    ++buffered_contacts;
    ++total_contacts;
  }

  void end_sample() {
    offset.push(total_contacts);
    ++buffered_samples;
    if (buffered_samples >= kBatchSamples || buffered_contacts >= kBatchContacts) flush();
  }

  template <class F>
  void each_sample_column(F f) {
    for (Column<double>* c : {&time,        &position,  &quaternion,     &linear_velocity, &angular_velocity,
                              &coordinates, &rate_lag,  &rates,          &drive_efforts,   &drive_targets,
                              &gaps,        &angles,    &reaction_force, &reaction_torque, &kinetic,
                              &potential,   &work_in,   &dissipated,     &unaccounted,     &natural_map,
                              &error,       &joint_gap, &joint_angle,    &penetration,     &limit_violation}) {
      f(*c);
    }
    if (sums) {
      for (Column<double>* c : {&sums->lengths, &sums->rates, &sums->efforts, &sums->targets}) f(*c);
    }
    f(iterations);
    f(status);
    f(offset);
  }

  template <class F>
  void each_contact_column(F f) {
    for (Column<double>* c : {&point, &normal, &impulse_world, &force_world, &gap, &mu}) f(*c);
    f(mode);
    for (Column<std::int32_t>* c : {&body_a, &body_b, &geom_a, &geom_b}) f(*c);
  }

  void flush() {
    each_sample_column([this](auto& c) { c.flush(buffered_samples); });
    each_contact_column([this](auto& c) { c.flush(buffered_contacts); });
    buffered_samples = 0;
    buffered_contacts = 0;
  }

  // HDF5 completes a file only when the last of its datasets is closed.
  void close() {
    flush();
    each_sample_column([](auto& c) { c.close(); });
    each_contact_column([](auto& c) { c.close(); });
    file.close();
  }

  File file;
  std::optional<SumColumns> sums;
  hsize_t n;
  hsize_t nj;
  hsize_t nq;
  Column<double> time{file, "/time", {}, {"s", "time of the samples"}};
  Column<double> position{file, "/bodies/position", {n, 3}, {"m", "centres of mass in the world"}};
  Column<double> quaternion{
      file, "/bodies/quaternion_wxyz", {n, 4}, {"1", "orientations, body axes to world axes, scalar part first"}};
  Column<double> linear_velocity{
      file, "/bodies/linear_velocity", {n, 3}, {"m/s", "velocities of the centres of mass, world axes"}};
  Column<double> angular_velocity{file, "/bodies/angular_velocity", {n, 3}, {"rad/s", "world axes"}};
  Column<double> coordinates{
      file,
      "/joints/coordinates",
      {nq},
      {"m or rad", "joint coordinates; spherical joints: rotation vector from q_rest, axes of the base"}};
  Column<double> rate_lag{
      file,
      "/joints/rate_lag",
      {nq},
      {"m/s or rad/s", "rate that the armature of a coordinate carries less its rate by the velocities of the bodies"}};
  Column<double> rates{
      file,
      "/joints/rates",
      {nq},
      {"m/s or rad/s", "rates of the coordinates; spherical joints: angular velocity in the axes of the base's frame"}};
  Column<double> drive_efforts{
      file, "/joints/drive_efforts", {nq}, {"N or N m", "forces and torques of the drives in the step"}};
  Column<double> drive_targets{
      file, "/joints/drive_targets", {nq}, {"of the target", "what the drives aim at, 0 without drive"}};
  Column<double> gaps{
      file,
      "/joints/gap",
      {nj},
      {"m", "largest translational error of the joint; ropes: excess of length; compliant ones: deformation"}};
  Column<double> angles{file, "/joints/angle", {nj}, {"rad", "largest rotational error of the joint"}};
  Column<double> reaction_force{
      file,
      "/joints/reaction_force",
      {nj, 3},
      {"N", "mean force of the joint on its follower over the step, world axes, negated on the base"}};
  Column<double> reaction_torque{
      file,
      "/joints/reaction_torque",
      {nj, 3},
      {"N m", "mean torque of the joint on its follower over the step, world axes, about the follower's anchor"}};
  Column<double> kinetic{file, "/energy/kinetic", {}, {"J", "kinetic energy, that of armature included"}};
  Column<double> potential{file, "/energy/potential", {}, {"J", "gravity (zero at z = 0) plus joint springs"}};
  Column<double> work_in{file, "/energy/work_in", {}, {"J", "work of drives and outer forces since the start"}};
  Column<double> dissipated{
      file, "/energy/dissipated", {}, {"J", "taken by friction, impacts and dampers since the start"}};
  Column<double> unaccounted{file, "/energy/unaccounted", {}, {"J", "error of the scheme since the start"}};
  Column<double> natural_map{
      file, "/residuals/natural_map", {}, {"SI, mixed", "judged residual of the step that led to the sample"}};
  Column<double> error{
      file, "/residuals/error", {}, {"1", "judged error of the step, what is compared with the tolerance"}};
  Column<double> joint_gap{file, "/residuals/joint_gap", {}, {"m", "largest translational joint error"}};
  Column<double> joint_angle{file, "/residuals/joint_angle", {}, {"rad", "largest rotational joint error"}};
  Column<double> penetration{file, "/residuals/penetration", {}, {"m", "deepest contact"}};
  Column<double> limit_violation{
      file, "/residuals/limit_violation", {}, {"m or rad", "largest violation of a joint limit"}};
  Column<std::int32_t> iterations{file, "/residuals/iterations", {}, {"1", "solver iterations of the step"}};
  Column<std::int8_t> status{
      file,
      "/residuals/status",
      {},
      {"1", "-1 no step (initial state), 0 converged, 1 accepted, 2 fallback, 3 substepped, 4 failed"}};
  Column<std::uint64_t> offset{
      file, "/contacts/offset", {}, {"1", "contacts of sample i are the rows offset[i] to offset[i+1]-1"}};
  Column<double> point{file, "/contacts/point", {3}, {"m", "point on the surface of body a, world"}};
  Column<double> normal{file, "/contacts/normal", {3}, {"1", "unit normal from body a to body b, world axes"}};
  Column<double> impulse_world{
      file, "/contacts/impulse_world", {3}, {"N s", "impulse on body b over the step, world axes"}};
  Column<double> force_world{
      file, "/contacts/force_world", {3}, {"N", "mean force on body b over the step, world axes, negated on body a"}};
  Column<double> gap{file, "/contacts/gap", {}, {"m", "distance along the normal, negative: penetrating"}};
  Column<double> mu{file, "/contacts/mu", {}, {"1", "coefficient of friction"}};
  Column<std::int8_t> mode{file, "/contacts/mode", {}, {"1", "0 open (no force), 1 sticking, 2 sliding"}};
  Column<std::int32_t> body_a{file, "/contacts/body_a", {}, {"1", "index of body a, -1: world"}};
  Column<std::int32_t> body_b{file, "/contacts/body_b", {}, {"1", "index of body b, -1: world"}};
  Column<std::int32_t> geom_a{file, "/contacts/geom_a", {}, {"1", "index of the geom of body a"}};
  Column<std::int32_t> geom_b{file, "/contacts/geom_b", {}, {"1", "index of the geom of body b"}};
  std::size_t buffered_samples = 0;
  std::size_t buffered_contacts = 0;
  std::uint64_t total_contacts = 0;
};

RecordingWriter::RecordingWriter(const std::filesystem::path& file, const Model& model, const RunInfo& info, int every)
    : impl_(std::make_unique<Impl>(file, model, info, every)) {}
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;
RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::add_initial(const State& state, const Energy& energy, const StepForces& forces) {
  impl_->add_state(state, energy, forces);
  impl_->add_report(StepReport{}, kNoStep);
  impl_->end_sample();
}

void RecordingWriter::add(const State& state, const StepReport& report, const Energy& energy,
                          std::span<const Contact> contacts, const StepForces& forces) {
  impl_->add_state(state, energy, forces);
  impl_->add_report(report, static_cast<std::int8_t>(report.status));
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    impl_->add_contact(contacts[i], forces.contact_impulses[i], forces.contact_forces[i], forces.contact_modes[i]);
  }
  impl_->end_sample();
}

void RecordingWriter::end(const std::string& status, const std::string& message) {
  impl_->file.attribute(impl_->file.id(), "end_status", status);
  impl_->file.attribute(impl_->file.id(), "end_message", message);
}

void RecordingWriter::flush() {
  impl_->flush();
  impl_->file.flush();
}

void RecordingWriter::close() { impl_->close(); }

RecordedMotion load_recording(const std::filesystem::path& path, const Model& model) {
  const hdf5::Reader file(path, "record the scene again with sarrus run --record");
  for (const char* name : {"/time", "/bodies/position", "/contacts/offset"}) {
    if (!file.has(name)) file.fail(name, "is missing: this is no recording of sarrus");
  }
  RecordedMotion recording;
  recording.dt = file.double_attribute("dt");
  if (!(recording.dt > 0)) file.fail("attribute 'dt'", fmt::format("is {}", recording.dt));
  recording.states = read_states(file, model);
  require_model(file, model);
  read_contacts(file, recording);
  return recording;
}

}  // namespace sarrus
