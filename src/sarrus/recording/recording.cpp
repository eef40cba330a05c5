#include "sarrus/recording/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "sarrus/files/hdf5_reader.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"

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
  file.attribute(file.id(), "dt", info.options.dt);
  file.attribute(file.id(), "solver", info.options.solver);
  file.attribute(file.id(), "integrator", std::string(name_of(*info.options.integrator)));
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
    types.emplace_back(j.type == JointType::distance && j.rope ? "rope" : joint_type_info(j.type).name);
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

constexpr const char* kSizeMeaning =
    "sphere: radius; capsule, cylinder: radius, half length (of a capsule's core); box: half extents; ellipsoid: "
    "semi-axes; else 0";

// Kind, size and pose of geoms or of their parts.
struct ShapeTable {
  std::vector<std::string> kinds;
  Table<double> size{3, {}};
  Table<double> position{3, {}};
  Table<double> quaternion{4, {}};

  void add(const Shape& shape, const Pose& X_B) {
    kinds.emplace_back(name_of(shape.kind));
    size.add(shape.size);
    position.add(X_B.p);
    quaternion.add(Wxyz(X_B.q));
  }
  void write(const File& file, const std::string& group, const char* kind_meaning) const {
    file.strings(group + "/kind", kinds, {"", kind_meaning});
    size.write(file, group + "/size", {"m", kSizeMeaning});
    position.write(file, group + "/position", {"m", "origin of the shape in the body frame"});
    quaternion.write(file, group + "/quaternion_wxyz", {"1", "orientation of the shape in the body frame"});
  }
};

// Surfaces of hulls and meshes; what several shapes share is stored once.
class Meshes {
 public:
  // Index of the surface, -1 for shapes without.
  std::int32_t add(const Shape& shape) {
    if (shape.kind == ShapeKind::hull) return add(shape.hull.get(), shape.hull->vertices(), shape.hull->triangles());
    if (shape.kind == ShapeKind::mesh) return add(shape.mesh.get(), shape.mesh->vertices(), shape.mesh->triangles());
    return -1;
  }
  void write(const File& file) const {
    const std::string group = "/geoms/meshes";
    file.group(group);
    vertex_offset_.write(file, group + "/vertex_offset",
                         {"1", "vertices of mesh i are the rows vertex_offset[i] to vertex_offset[i+1]-1"});
    vertices_.write(file, group + "/vertices", {"m", "in the frame of the shape"});
    triangle_offset_.write(file, group + "/triangle_offset",
                           {"1", "triangles of mesh i are the rows triangle_offset[i] to triangle_offset[i+1]-1"});
    triangles_.write(file, group + "/triangles",
                     {"1", "vertices of the mesh, counted from 0, counter-clockwise seen from outside"});
  }

 private:
  template <class Triangles>
  std::int32_t add(const void* data, std::span<const Vec3> vertices, const Triangles& triangles) {
    const auto [it, is_new] = index_.try_emplace(data, static_cast<std::int32_t>(index_.size()));
    if (!is_new) return it->second;
    for (const Vec3& v : vertices) vertices_.add(v);
    for (const auto& t : triangles) {
      for (const int v : t) triangles_.values.push_back(v);
    }
    vertex_offset_.values.push_back(vertices_.values.size() / 3);
    triangle_offset_.values.push_back(triangles_.values.size() / 3);
    return it->second;
  }

  std::unordered_map<const void*, std::int32_t> index_;
  Table<std::uint64_t> vertex_offset_{1, {0}};
  Table<std::uint64_t> triangle_offset_{1, {0}};
  Table<double> vertices_{3, {}};
  Table<std::int32_t> triangles_{3, {}};
};

class HeightFields {
 public:
  std::int32_t add(const Shape& shape) {
    if (shape.kind != ShapeKind::height_field) return -1;
    const HeightField& field = *shape.height_field;
    const auto [it, is_new] = index_.try_emplace(&field, static_cast<std::int32_t>(index_.size()));
    if (!is_new) return it->second;
    columns_.values.push_back(field.columns());
    rows_.values.push_back(field.rows());
    spacing_.values.insert(spacing_.values.end(), {field.dx(), field.dy()});
    heights_.values.insert(heights_.values.end(), field.heights().begin(), field.heights().end());
    offset_.values.push_back(heights_.values.size());
    return it->second;
  }
  void write(const File& file) const {
    const std::string group = "/geoms/height_fields";
    file.group(group);
    columns_.write(file, group + "/columns", {"1", "samples along x"});
    rows_.write(file, group + "/rows", {"1", "samples along y"});
    spacing_.write(file, group + "/spacing", {"m", "distance of samples along x and y; the grid is centred"});
    offset_.write(file, group + "/offset", {"1", "heights of field i are the rows offset[i] to offset[i+1]-1"});
    heights_.write(file, group + "/heights", {"m", "row by row, x fastest; cells are cut from (i, j) to (i+1, j+1)"});
  }

 private:
  std::unordered_map<const void*, std::int32_t> index_;
  Table<std::int32_t> columns_;
  Table<std::int32_t> rows_;
  Table<double> spacing_{2, {}};
  Table<std::uint64_t> offset_{1, {0}};
  Table<double> heights_;
};

// A row per geom, and per child of a compound.
class Parts {
 public:
  void add(std::int32_t geom, const Shape& shape, const Pose& X_B) {
    if (shape.kind == ShapeKind::compound) {
      for (const CompoundChild& child : *shape.children) add(geom, child.shape, X_B * child.X_SC);
      return;
    }
    shapes_.add(shape, X_B);
    geom_.values.push_back(geom);
    mesh_.values.push_back(meshes_.add(shape));
    height_field_.values.push_back(height_fields_.add(shape));
  }
  void write(const File& file) const {
    const std::string group = "/geoms/parts";
    file.group(group);
    geom_.write(file, group + "/geom", {"1", "index of the geom"});
    shapes_.write(file, group, "kinds as of the geoms, without compound");
    mesh_.write(file, group + "/mesh", {"1", "hull, mesh: index into /geoms/meshes; else -1"});
    height_field_.write(file, group + "/height_field", {"1", "height_field: index into /geoms/height_fields; else -1"});
    meshes_.write(file);
    height_fields_.write(file);
  }

 private:
  Table<std::int32_t> geom_;
  ShapeTable shapes_;
  Table<std::int32_t> mesh_;
  Table<std::int32_t> height_field_;
  Meshes meshes_;
  HeightFields height_fields_;
};

void write_geoms(const File& file, const Model& model) {
  std::vector<std::string> names;
  Table<std::int32_t> body;
  ShapeTable shapes;
  Parts parts;
  for (const Geom& g : model.geoms()) {
    parts.add(static_cast<std::int32_t>(names.size()), g.shape, g.X_BG);
    names.push_back(g.name);
    body.values.push_back(g.body);
    shapes.add(g.shape, g.X_BG);
  }
  file.group("/geoms");
  file.strings("/geoms/names", names, {"", "names of the geoms"});
  shapes.write(file, "/geoms",
               "plane (z <= 0 of its frame), sphere, capsule, box, cylinder (axes z), ellipsoid, hull, mesh, "
               "height_field or compound");
  body.write(file, "/geoms/body", {"1", "index of the body that carries the geom, -1: world"});
  parts.write(file);
}

// Groups have to exist before the datasets in them.
File create(const std::filesystem::path& path, const Model& model, const RunInfo& info) {
  File file(path.string());
  for (const char* g : {"/bodies", "/joints", "/contacts", "/residuals", "/energy"}) file.group(g);
  if (!model.combinations().empty()) file.group("/combinations");
  write_root(file, model, info);
  write_bodies(file, model);
  write_joints(file, model);
  write_geoms(file, model);
  return file;
}

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
                {"N or N m", "efforts of their drives in the step"}) {}

  Column<double> lengths, rates, efforts;

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
  Impl(const std::filesystem::path& path, const Model& model, const RunInfo& info)
      : file(create(path, model, info)),
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
    if (sums) {
      for (const double x : forces.combination_lengths) sums->lengths.push(x);
      for (const double x : forces.combination_rates) sums->rates.push(x);
      for (const double x : forces.combination_efforts) sums->efforts.push(x);
    }
    for (const Vec6& reaction : forces.joint_reactions) {
      reaction_force.push_vector(reaction.head<3>());
      reaction_torque.push_vector(reaction.tail<3>());
    }
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

  void add_contact(const Contact& c, const Vec3& impulse, const Vec3& force) {
    point.push_vector(c.p_W);
    normal.push_vector(c.n_W);
    impulse_world.push_vector(impulse);
    force_world.push_vector(force);
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
    for (Column<double>* c : {&time, &position, &quaternion, &linear_velocity, &angular_velocity, &coordinates,
                              &rate_lag, &rates, &drive_efforts, &reaction_force, &reaction_torque, &kinetic,
                              &potential, &natural_map, &joint_gap, &joint_angle, &penetration, &limit_violation}) {
      f(*c);
    }
    if (sums) {
      for (Column<double>* c : {&sums->lengths, &sums->rates, &sums->efforts}) f(*c);
    }
    f(iterations);
    f(status);
    f(offset);
  }

  template <class F>
  void each_contact_column(F f) {
    for (Column<double>* c : {&point, &normal, &impulse_world, &force_world, &gap}) f(*c);
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
  Column<double> force_world{
      file, "/contacts/force_world", {3}, {"N", "mean force on body b over the step, world axes, negated on body a"}};
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
    impl_->add_contact(contacts[i], forces.contact_impulses[i], forces.contact_forces[i]);
  }
  impl_->end_sample();
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
