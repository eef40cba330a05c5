#include "sarrus/io/recording.h"

#include "sarrus/io/recording_geoms.h"
#include "sarrus/io/recording_hdf5.h"

namespace sarrus {
namespace {

using hdf5::Column;
using hdf5::File;
using hdf5::Table;
using hdf5::Wxyz;

// Samples and contacts that are collected before they go to the file together.
constexpr std::size_t kBatchSamples = 256;
constexpr std::size_t kBatchContacts = 16384;
constexpr std::int8_t kNoStep = -1;  // status of the initial state

void write_root(const File& file, const Model& model, const RunInfo& info) {
  file.attribute(file.id(), "format", std::string("sarrus-recording"));
  file.attribute(file.id(), "version", 1);
  file.attribute(file.id(), "scene", info.scene);
  file.attribute(file.id(), "dt", info.dt);
  file.attribute(file.id(), "solver", info.options.solver);
  file.attribute(file.id(), "integrator", std::string(name(info.integrator)));
  file.attribute(file.id(), "gravity", std::span<const double>(model.gravity().data(), 3));
  file.attribute(file.id(), "sarrus_version", info.version);
}

void write_bodies(const File& file, const Model& model) {
  std::vector<std::string> names;
  Table<double> mass;
  for (const Body& b : model.bodies()) {
    names.push_back(b.name);
    mass.values.push_back(b.mass);
  }
  file.strings("/bodies/names", names, {"", "names of the bodies"});
  mass.write(file, "/bodies/mass", {"kg", "masses of the bodies"});
}

void write_joints(const File& file, const Model& model) {
  std::vector<std::string> names, types, coordinates;
  Table<std::int32_t> base, follower;
  Table<double> anchor_base{3, {}}, anchor_follower{3, {}}, axes_base{4, {}}, axes_follower{4, {}}, length;
  Table<std::int8_t> loop;
  for (const Joint& j : model.joints()) {
    names.push_back(j.name);
    types.emplace_back(j.type == JointType::distance && j.rope ? "rope" : info(j.type).name);
    base.values.push_back(j.base);
    follower.values.push_back(j.follower);
    anchor_base.add(j.p_BJ);
    anchor_follower.add(j.p_FJ);
    axes_base.add(Wxyz(j.q_BJ));
    axes_follower.add(Wxyz(j.q_FJ));
    length.values.push_back(j.length);
    loop.values.push_back(0);
  }
  for (const int j : model.loop_joints()) loop.values[static_cast<std::size_t>(j)] = 1;
  for (int dof = 0; dof < model.dof_count(); ++dof) coordinates.push_back(model.dof_name(dof));

  file.strings("/joints/names", names, {"", "names of the joints"});
  file.strings("/joints/type", types, {"", "joint types; 'rope' is a distance joint that only pulls"});
  base.write(file, "/joints/base", {"1", "index of the base body, -1: world"});
  follower.write(file, "/joints/follower", {"1", "index of the follower body"});
  anchor_base.write(file, "/joints/anchor_base", {"m", "anchor in the base body's frame"});
  anchor_follower.write(file, "/joints/anchor_follower", {"m", "anchor in the follower body's frame"});
  axes_base.write(file, "/joints/axes_base_wxyz", {"1", "joint axes in the base body's frame"});
  axes_follower.write(file, "/joints/axes_follower_wxyz", {"1", "joint axes in the follower body's frame"});
  length.write(file, "/joints/length", {"m", "length of rods and ropes, 0 for other joints"});
  loop.write(file, "/joints/closes_loop", {"1", "1: joint beyond a spanning tree, closes a loop; 0: other"});
  file.strings("/joints/coordinate_names", coordinates, {"", "names of the joint coordinates"});
}

// Groups have to exist before the datasets in them.
File create(const std::filesystem::path& path, const Model& model, const RunInfo& info) {
  File file(path.string());
  for (const char* g : {"/bodies", "/joints", "/contacts", "/residuals", "/energy"}) file.group(g);
  write_root(file, model, info);
  write_bodies(file, model);
  write_joints(file, model);
  write_geoms(file, model);
  return file;
}

hsize_t to_size(int n) { return static_cast<hsize_t>(n); }

}  // namespace

struct RecordingWriter::Impl {
  Impl(const std::filesystem::path& path, const Model& model, const RunInfo& info)
      : file(create(path, model, info)), n(to_size(model.body_count())), nq(to_size(model.dof_count())) {
    offset.push(0);
    offset.flush(1);
  }

  void add_state(const State& state, const Energy& e) {
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
    kinetic.push(e.kinetic);
    potential.push(e.potential);
  }

  void add_report(const StepReport& r, std::int8_t step_status) {
    natural_map.push(r.residuals.natural_map);
    joint_gap.push(r.joint_gap);
    joint_angle.push(r.joint_angle);
    penetration.push(r.penetration);
    limit_violation.push(r.limit_violation);
    iterations.push(r.iterations);
    status.push(step_status);
  }

  void add_contact(const Contact& c, const Vec3& impulse) {
    point.push_vector(c.p_W);
    normal.push_vector(c.n_W);
    impulse_world.push_vector(impulse);
    gap.push(c.gap);
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
    for (Column<double>* c :
         {&time, &position, &quaternion, &linear_velocity, &angular_velocity, &coordinates, &kinetic, &potential,
          &natural_map, &joint_gap, &joint_angle, &penetration, &limit_violation}) {
      f(*c);
    }
    f(iterations);
    f(status);
    f(offset);
  }

  template <class F>
  void each_contact_column(F f) {
    for (Column<double>* c : {&point, &normal, &impulse_world, &gap}) f(*c);
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
  hsize_t n;
  hsize_t nq;
  Column<double> time{file, "/time", {}, {"s", "time of the samples"}};
  Column<double> position{file, "/bodies/position", {n, 3}, {"m", "centres of mass in the world"}};
  Column<double> quaternion{
      file, "/bodies/quaternion_wxyz", {n, 4}, {"1", "orientations, body axes to world axes, scalar part first"}};
  Column<double> linear_velocity{
      file, "/bodies/linear_velocity", {n, 3}, {"m/s", "velocities of the centres of mass, world axes"}};
  Column<double> angular_velocity{file, "/bodies/angular_velocity", {n, 3}, {"rad/s", "world axes"}};
  Column<double> coordinates{
      file, "/joints/coordinates", {nq}, {"m or rad", "joint coordinates; 0 for the dofs of spherical joints"}};
  Column<double> kinetic{file, "/energy/kinetic", {}, {"J", "kinetic energy"}};
  Column<double> potential{file, "/energy/potential", {}, {"J", "gravity (zero at z = 0) plus joint springs"}};
  Column<double> natural_map{
      file, "/residuals/natural_map", {}, {"SI, mixed", "judged residual of the step that led to the sample"}};
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
  Column<double> gap{file, "/contacts/gap", {}, {"m", "distance along the normal, negative: penetrating"}};
  Column<std::int32_t> body_a{file, "/contacts/body_a", {}, {"1", "index of body a, -1: world"}};
  Column<std::int32_t> body_b{file, "/contacts/body_b", {}, {"1", "index of body b, -1: world"}};
  Column<std::int32_t> geom_a{file, "/contacts/geom_a", {}, {"1", "index of the geom of body a"}};
  Column<std::int32_t> geom_b{file, "/contacts/geom_b", {}, {"1", "index of the geom of body b"}};
  std::size_t buffered_samples = 0;
  std::size_t buffered_contacts = 0;
  std::uint64_t total_contacts = 0;
};

RecordingWriter::RecordingWriter(const std::filesystem::path& file, const Model& model, const RunInfo& info)
    : impl_(std::make_unique<Impl>(file, model, info)) {}
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;
RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::add_initial(const State& state, const Energy& energy) {
  impl_->add_state(state, energy);
  impl_->add_report(StepReport{}, kNoStep);
  impl_->end_sample();
}

void RecordingWriter::add(const State& state, const StepReport& report, const Energy& energy,
                          std::span<const Contact> contacts, std::span<const Vec3> impulses_W) {
  impl_->add_state(state, energy);
  impl_->add_report(report, static_cast<std::int8_t>(report.status));
  for (std::size_t i = 0; i < contacts.size(); ++i) impl_->add_contact(contacts[i], impulses_W[i]);
  impl_->end_sample();
}

void RecordingWriter::close() { impl_->close(); }

}  // namespace sarrus
