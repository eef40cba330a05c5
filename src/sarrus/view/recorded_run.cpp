#include "sarrus/view/recorded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/files/hdf5_reader.h"
#include "sarrus/recording/recording.h"

namespace sarrus::view {
namespace {

using hdf5::Finite;
using hdf5::kAnySize;
using hdf5::Reader;

std::int64_t size_of(std::size_t n) { return static_cast<std::int64_t>(n); }

Vec3 vector3(const std::vector<double>& values, std::size_t i) {
  return {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
}

// What does not change with time.
class SceneReader {
 public:
  explicit SceneReader(const Reader& file) : file_(file) {}

  Scene read() {
    Scene s;
    s.name = file_.string_attribute("scene");
    if (file_.has_attribute("description")) s.description = file_.string_attribute("description");
    const std::vector<double> gravity = file_.doubles_attribute("gravity", 3);
    s.gravity = Vec3(gravity[0], gravity[1], gravity[2]);
    read_bodies(s);
    read_joints(s);
    read_scalars(s);
    read_couplings(s);
    read_geoms(s);
    read_meshes(s);
    read_height_fields(s);
    read_parts(s);
    return s;
  }

 private:
  // Numbers from `least` to below `end`.
  std::vector<int> indices(const std::string& name, std::int64_t size, int least, std::size_t end) const {
    std::vector<int> values = file_.ints(name, size);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] < least || values[i] >= size_of(end)) {
        file_.fail(name, fmt::format("number {} is {}, of which there is none", i, values[i]));
      }
    }
    return values;
  }
  // Ascends from 0 to `end`.
  std::vector<std::size_t> offsets(const std::string& name, std::size_t end) const {
    const std::vector<std::uint64_t> values = file_.ids(name, kAnySize);
    const bool good =
        !values.empty() && values.front() == 0 && values.back() == end && std::is_sorted(values.begin(), values.end());
    if (!good) file_.fail(name, "does not divide what it counts");
    return {values.begin(), values.end()};
  }
  std::vector<Quat> quaternions(const std::string& name, std::size_t count) const {
    const std::vector<double> values = file_.doubles(name, size_of(4 * count));
    std::vector<Quat> out;
    for (std::size_t i = 0; i < count; ++i) {
      out.emplace_back(values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]);
    }
    return out;
  }

  void read_bodies(Scene& s) const {
    const std::vector<double> mass = file_.doubles("/bodies/mass", kAnySize);
    const std::vector<std::string> names = file_.strings("/bodies/names", size_of(mass.size()));
    s.has_inertia = file_.has("/bodies/inertia");
    std::vector<double> inertia;
    if (s.has_inertia) inertia = file_.doubles("/bodies/inertia", size_of(6 * mass.size()));
    for (std::size_t b = 0; b < mass.size(); ++b) {
      s.bodies.push_back({.name = names[b], .mass = mass[b]});
      if (!s.has_inertia) continue;
      const double* i = inertia.data() + 6 * b;
      s.bodies.back().inertia_B << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
    }
  }

  void read_joints(Scene& s) const {
    const std::vector<std::string> names = file_.strings("/joints/names", kAnySize);
    const std::size_t n = names.size();
    const std::vector<std::string> types = file_.strings("/joints/type", size_of(n));
    const std::vector<int> base = indices("/joints/base", size_of(n), kWorld, s.bodies.size());
    const std::vector<int> follower = indices("/joints/follower", size_of(n), kWorld, s.bodies.size());
    const std::vector<double> anchor_base = file_.doubles("/joints/anchor_base", size_of(3 * n));
    const std::vector<double> anchor_follower = file_.doubles("/joints/anchor_follower", size_of(3 * n));
    const std::vector<Quat> axes_base = quaternions("/joints/axes_base_wxyz", n);
    const std::vector<Quat> axes_follower = quaternions("/joints/axes_follower_wxyz", n);
    const std::vector<double> length = file_.doubles("/joints/length", size_of(n));
    const std::vector<int> closes = file_.ints("/joints/closes_loop", size_of(n));
    for (std::size_t i = 0; i < n; ++i) {
      s.joints.push_back({.name = names[i],
                          .type = types[i],
                          .base = base[i],
                          .follower = follower[i],
                          .p_BJ = vector3(anchor_base, i),
                          .p_FJ = vector3(anchor_follower, i),
                          .q_BJ = axes_base[i],
                          .q_FJ = axes_follower[i],
                          .length = length[i],
                          .closes_loop = closes[i] != 0});
    }
    if (!file_.has("/joints/axes")) return;
    const std::vector<int> joint = indices("/joints/axes/joint", kAnySize, 0, n);
    const std::vector<int> angular = file_.ints("/joints/axes/angular", size_of(joint.size()));
    const std::vector<double> position = file_.doubles("/joints/axes/position", size_of(3 * joint.size()));
    const std::vector<double> axis = file_.doubles("/joints/axes/axis", size_of(3 * joint.size()));
    for (std::size_t i = 0; i < joint.size(); ++i) {
      s.joints[static_cast<std::size_t>(joint[i])].axes.push_back(
          {.name = {}, .angular = angular[i] != 0, .p_J = vector3(position, i), .axis_J = vector3(axis, i)});
    }
  }

  void read_scalars(Scene& s) const {
    if (!file_.has("/scalars")) {
      read_old_scalars(s);
      return;
    }
    const std::vector<std::string> names = file_.strings("/scalars/names", kAnySize);
    const auto n = size_of(names.size());
    const std::vector<int> joint = indices("/scalars/joint", n, -1, s.joints.size());
    const std::vector<int> angular = file_.ints("/scalars/angular", n);
    const std::vector<std::string> modes = file_.strings("/scalars/drive_mode", n);
    const std::vector<std::string> drives = file_.strings("/scalars/drive_name", n);
    const auto bounds = [&](const char* name) {
      return file_.doubles(fmt::format("/scalars/{}", name), n, Finite::infinite_allowed);
    };
    const std::vector<double> lower = bounds("lower"), upper = bounds("upper");
    const std::vector<double> target_lower = bounds("target_lower"), target_upper = bounds("target_upper");
    const std::vector<double> effort_lower = bounds("effort_lower"), effort_upper = bounds("effort_upper");
    for (std::size_t i = 0; i < names.size(); ++i) {
      Scalar d{.name = names[i], .angular = angular[i] != 0, .joint = joint[i], .drive = drives[i]};
      d.limit.lower = lower[i];
      d.limit.upper = upper[i];
      d.mode = mode_of(modes[i]);
      d.target_lower = target_lower[i];
      d.target_upper = target_upper[i];
      d.effort_lower = effort_lower[i];
      d.effort_upper = effort_upper[i];
      s.scalars.push_back(std::move(d));
    }
    const std::vector<int> first = file_.ints("/joints/first_coordinate", size_of(s.joints.size()));
    const std::vector<int> count = file_.ints("/joints/coordinate_count", size_of(s.joints.size()));
    for (std::size_t i = 0; i < s.joints.size(); ++i) {
      const bool good = first[i] >= 0 && count[i] >= 0 && count[i] <= kMaxJointDofs &&
                        static_cast<std::int64_t>(first[i]) + count[i] <= n;
      if (!good) file_.fail("/joints/first_coordinate", fmt::format("joint {} has coordinates that do not exist", i));
      s.joints[i].first_dof = first[i];
      s.joints[i].dofs = count[i];
    }
  }
  DriveMode mode_of(const std::string& name) const {
    for (const DriveMode mode : {DriveMode::none, DriveMode::force, DriveMode::position, DriveMode::velocity}) {
      if (name == mode_name(mode)) return mode;
    }
    file_.fail("/scalars/drive_mode", "holds an unknown mode");
  }

  // Recordings of version 1 have names, which are those of their joints with something behind a point.
  void read_old_scalars(Scene& s) const {
    const std::vector<std::string> names = file_.strings("/joints/coordinate_names", kAnySize);
    std::size_t next = 0;
    for (std::size_t i = 0; i < s.joints.size(); ++i) {
      Joint& j = s.joints[i];
      j.first_dof = static_cast<int>(next);
      while (next < names.size() && j.dofs < kMaxJointDofs &&
             (names[next] == j.name || names[next].starts_with(j.name + "."))) {
        s.scalars.push_back({.name = names[next++], .angular = angular_of(j), .joint = static_cast<int>(i)});
        ++j.dofs;
      }
    }
    if (next != names.size()) file_.fail("/joints/coordinate_names", "are not those of the joints");
    if (!file_.has("/combinations")) return;
    for (const std::string& name : file_.strings("/combinations/names", kAnySize)) {
      s.scalars.push_back({.name = name, .joint = -1});
    }
  }
  // Of the next coordinate of a joint, by its type.
  static bool angular_of(const Joint& j) {
    for (int t = 0; t < kPlainJointTypeCount; ++t) {
      const JointTypeInfo& info = joint_type_info(static_cast<JointType>(t));
      if (info.name == j.type && j.dofs < 3) return info.angular[j.dofs];
    }
    return false;
  }

  void read_couplings(Scene& s) const {
    if (!file_.has("/couplings")) return;
    const std::vector<std::string> names = file_.strings("/couplings/names", kAnySize);
    const std::vector<int> a = indices("/couplings/coordinate_a", size_of(names.size()), 0, s.scalars.size());
    const std::vector<int> b = indices("/couplings/coordinate_b", size_of(names.size()), 0, s.scalars.size());
    for (std::size_t i = 0; i < names.size(); ++i) s.couplings.push_back({names[i], a[i], b[i]});
  }

  void read_geoms(Scene& s) const {
    const std::vector<int> body = indices("/geoms/body", kAnySize, kWorld, s.bodies.size());
    const std::vector<std::string> names = file_.strings("/geoms/names", size_of(body.size()));
    for (std::size_t g = 0; g < body.size(); ++g) s.geoms.push_back({names[g], body[g]});
  }

  void read_meshes(Scene& s) const {
    const std::string group = "/geoms/meshes";
    const std::vector<double> vertices = file_.doubles(group + "/vertices", kAnySize);
    const std::vector<int> triangles = file_.ints(group + "/triangles", kAnySize);
    if (vertices.size() % 3 != 0 || triangles.size() % 3 != 0) file_.fail(group, "does not hold rows of three");
    const std::vector<std::size_t> v = offsets(group + "/vertex_offset", vertices.size() / 3);
    const std::vector<std::size_t> t = offsets(group + "/triangle_offset", triangles.size() / 3);
    if (v.size() != t.size()) file_.fail(group, "has other numbers of vertex and triangle lists");
    for (std::size_t m = 0; m + 1 < v.size(); ++m) {
      SceneMesh& mesh = s.drawn.meshes.emplace_back();
      for (std::size_t i = v[m]; i < v[m + 1]; ++i) mesh.vertices.push_back(vector3(vertices, i));
      for (std::size_t i = t[m]; i < t[m + 1]; ++i) {
        mesh.triangles.push_back({triangles[3 * i], triangles[3 * i + 1], triangles[3 * i + 2]});
        for (const int corner : mesh.triangles.back()) {
          if (corner < 0 || corner >= size_of(mesh.vertices.size())) {
            file_.fail(group + "/triangles", fmt::format("triangle {} has a vertex that does not exist", i));
          }
        }
      }
    }
  }

  void read_height_fields(Scene& s) const {
    const std::string group = "/geoms/height_fields";
    const std::vector<int> columns = file_.ints(group + "/columns", kAnySize);
    const std::vector<int> rows = file_.ints(group + "/rows", size_of(columns.size()));
    const std::vector<double> spacing = file_.doubles(group + "/spacing", size_of(2 * columns.size()));
    const std::vector<double> heights = file_.doubles(group + "/heights", kAnySize);
    const std::vector<std::size_t> offset = offsets(group + "/offset", heights.size());
    if (offset.size() != columns.size() + 1) file_.fail(group + "/offset", "is of another number of fields");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::int64_t samples = static_cast<std::int64_t>(columns[i]) * rows[i];
      if (columns[i] < 2 || rows[i] < 2 || samples != size_of(offset[i + 1] - offset[i])) {
        file_.fail(group, fmt::format("field {} has {} heights for {} x {} samples", i, offset[i + 1] - offset[i],
                                      columns[i], rows[i]));
      }
      s.drawn.height_fields.push_back(
          {columns[i],
           rows[i],
           spacing[2 * i],
           spacing[2 * i + 1],
           {heights.begin() + size_of(offset[i]), heights.begin() + size_of(offset[i + 1])}});
    }
  }

  void read_parts(Scene& s) const {
    const std::string group = "/geoms/parts";
    const bool has_body = file_.has(group + "/body");
    const std::vector<int> geom = indices(group + "/geom", kAnySize, has_body ? -1 : 0, s.geoms.size());
    const std::size_t n = geom.size();
    const auto count = size_of(n);
    std::vector<int> body(n);
    for (std::size_t i = 0; !has_body && i < n; ++i) body[i] = s.geoms[static_cast<std::size_t>(geom[i])].body;
    if (has_body) body = indices(group + "/body", count, kWorld, s.bodies.size());
    const std::vector<std::string> kinds = file_.strings(group + "/kind", count);
    const std::vector<double> size = file_.doubles(group + "/size", 3 * count);
    const std::vector<double> position = file_.doubles(group + "/position", 3 * count);
    const std::vector<Quat> quaternion = quaternions(group + "/quaternion_wxyz", n);
    const std::vector<int> mesh = indices(group + "/mesh", count, -1, s.drawn.meshes.size());
    const std::vector<int> field = indices(group + "/height_field", count, -1, s.drawn.height_fields.size());
    std::vector<double> colour(4 * n, -1.0);
    if (file_.has(group + "/colour")) colour = file_.doubles(group + "/colour", 4 * count);
    for (std::size_t i = 0; i < n; ++i) {
      ScenePart part{.body = body[i],
                     .geom = geom[i],
                     .kind = kind_of(kinds[i]),
                     .size = vector3(size, i),
                     .X_B = {vector3(position, i), quaternion[i]},
                     .mesh = mesh[i],
                     .height_field = field[i],
                     .colour = {}};
      const bool surface = part.kind == ShapeKind::hull || part.kind == ShapeKind::mesh;
      if (surface != (part.mesh >= 0) || (part.kind == ShapeKind::height_field) != (part.height_field >= 0)) {
        file_.fail(group + "/mesh", fmt::format("part {} has no surface, or one that it should not have", i));
      }
      const double* c = colour.data() + 4 * i;
      if (c[0] >= 0) part.colour = Colour{c[0], c[1], c[2], c[3]};
      s.drawn.parts.push_back(part);
    }
  }
  ShapeKind kind_of(const std::string& name) const {
    for (int k = 0; k < kShapeKindCount; ++k) {
      const auto kind = static_cast<ShapeKind>(k);
      if (kind != ShapeKind::compound && name == name_of(kind)) return kind;
    }
    file_.fail("/geoms/parts/kind", "holds an unknown kind of shape");
  }

  const Reader& file_;
};

// What changes with time, a column each; an absent one is zero and missing.
class MotionReader {
 public:
  MotionReader(const Reader& file, const Scene& scene)
      : file_(file),
        layout_(scene),
        n_(scene.bodies.size()),
        nj_(scene.joints.size()),
        geoms_(scene.geoms.size()),
        time_(file.doubles("/time", kAnySize)) {
    nq_ = 0;
    for (const Scalar& s : scene.scalars) nq_ += s.joint >= 0 ? 1 : 0;
    ns_ = scene.scalars.size();
    if (time_.empty()) file_.fail("/time", "there is no sample");
    for (std::size_t i = 1; i < time_.size(); ++i) {
      if (!(time_[i] > time_[i - 1])) file_.fail("/time", fmt::format("sample {} is not after the one before", i));
    }
  }

  const std::vector<double>& time() const { return time_; }

  void read() {
    position_ = file_.doubles("/bodies/position", rows(3 * n_));
    quaternion_ = file_.doubles("/bodies/quaternion_wxyz", rows(4 * n_));
    coordinates_ = scalars("coordinates", "lengths", nullptr);
    rates_ = scalars("rates", "rates", "rates");
    efforts_ = scalars("drive_efforts", "drive_efforts", "efforts");
    targets_ = scalars("drive_targets", "drive_targets", "targets");
    gap_ = by_sample("/joints/gap", nj_, "joint_gap");
    angle_ = by_sample("/joints/angle", nj_, "joint_angle");
    force_ = by_sample("/joints/reaction_force", 3 * nj_, "reactions");
    torque_ = by_sample("/joints/reaction_torque", 3 * nj_, nullptr);
    natural_map_ = by_sample("/residuals/natural_map", 1, "residual.natural_map");
    error_ = by_sample("/residuals/error", 1, "residual.error");
    joint_gap_ = by_sample("/residuals/joint_gap", 1, "residual.joint_gap");
    joint_angle_ = by_sample("/residuals/joint_angle", 1, "residual.joint_angle");
    penetration_ = by_sample("/residuals/penetration", 1, "residual.penetration");
    limit_ = by_sample("/residuals/limit_violation", 1, "residual.limit_violation");
    kinetic_ = by_sample("/energy/kinetic", 1, "energy.kinetic");
    potential_ = by_sample("/energy/potential", 1, "energy.potential");
    work_in_ = by_sample("/energy/work_in", 1, "energy.work_in");
    dissipated_ = by_sample("/energy/dissipated", 1, "energy.dissipated");
    unaccounted_ = by_sample("/energy/unaccounted", 1, "energy.unaccounted");
    iterations_ = file_.ints("/residuals/iterations", rows(1));
    status_ = file_.ints("/residuals/status", rows(1));
    read_contacts();
  }

  // Sample i.
  Frame frame(std::size_t i) const {
    Frame f;
    f.time = time_[i];
    f.interval = i == 0 ? 0 : time_[i] - time_[i - 1];
    f.steps = i == 0 ? 0 : 1;
    f.row.reserve(layout_.size());
    append(f.row, position_, i, 3 * n_);
    append(f.row, quaternion_, i, 4 * n_);
    for (const std::vector<double>* x : {&coordinates_, &rates_, &targets_, &efforts_}) append(f.row, *x, i, ns_);
    append(f.row, gap_, i, nj_);
    append(f.row, angle_, i, nj_);
    for (std::size_t j = i * nj_; j < (i + 1) * nj_; ++j) {
      f.row.push_back(vector3(force_, j).norm());
      f.row.push_back(vector3(torque_, j).norm());
    }
    f.natural_map = natural_map_[i];
    f.error = error_[i];
    f.joint_gap = joint_gap_[i];
    f.joint_angle = joint_angle_[i];
    f.penetration = penetration_[i];
    f.limit_violation = limit_[i];
    f.iterations = static_cast<std::uint32_t>(std::max(0, iterations_[i]));
    if (status_[i] < -1 || status_[i] > static_cast<int>(StepStatus::failed)) {
      file_.fail("/residuals/status", fmt::format("sample {} is {}", i, status_[i]));
    }
    f.status = status_[i] < 0 ? kNoStep : static_cast<std::uint8_t>(status_[i]);
    f.kinetic = kinetic_[i];
    f.potential = potential_[i];
    f.work_in = work_in_[i];
    f.dissipated = dissipated_[i];
    f.unaccounted = unaccounted_[i];
    for (auto k = static_cast<std::size_t>(offset_[i]); k < offset_[i + 1]; ++k) {
      // The force of the last step counts for all of the interval, whose other steps are not recorded.
      f.contacts.push_back({geom_a_[k], geom_b_[k], vector3(point_, k), vector3(normal_, k),
                            vector3(contact_force_, k) * f.interval, contact_gap_[k], mu_.empty() ? 0 : mu_[k],
                            mode_.empty() ? ContactMode::unknown : static_cast<ContactMode>(mode_[k])});
    }
    return f;
  }

  std::vector<std::string> missing;

 private:
  std::int64_t rows(std::size_t width) const { return size_of(width * time_.size()); }

  static void append(std::vector<double>& row, const std::vector<double>& values, std::size_t i, std::size_t width) {
    row.insert(row.end(), values.begin() + size_of(i * width), values.begin() + size_of((i + 1) * width));
  }
  // Zeros if there is no such data set.
  std::vector<double> by_sample(const std::string& name, std::size_t width, const char* section) {
    if (width == 0) return {};
    if (file_.has(name)) return file_.doubles(name, rows(width));
    if (section != nullptr) missing.emplace_back(section);
    return std::vector<double>(width * time_.size(), 0.0);
  }
  // Of joint coordinates, and of combinations behind them.
  std::vector<double> scalars(const char* name, const char* combined, const char* section) {
    const std::vector<double> joints = by_sample(fmt::format("/joints/{}", name), nq_, section);
    const std::vector<double> sums = by_sample(fmt::format("/combinations/{}", combined), ns_ - nq_, nullptr);
    std::vector<double> out;
    out.reserve(ns_ * time_.size());
    for (std::size_t i = 0; i < time_.size(); ++i) {
      append(out, joints, i, nq_);
      append(out, sums, i, ns_ - nq_);
    }
    return out;
  }

  void read_contacts() {
    offset_ = file_.ids("/contacts/offset", rows(1) + 1);
    geom_a_ = file_.ints("/contacts/geom_a", kAnySize);
    const auto k = size_of(geom_a_.size());
    geom_b_ = file_.ints("/contacts/geom_b", k);
    if (offset_.front() != 0 || offset_.back() != geom_a_.size() || !std::is_sorted(offset_.begin(), offset_.end())) {
      file_.fail("/contacts/offset", "does not divide the contacts");
    }
    for (const std::vector<int>* geoms : {&geom_a_, &geom_b_}) {
      const auto bad = [this](int g) { return g < 0 || g >= size_of(geoms_); };
      if (std::any_of(geoms->begin(), geoms->end(), bad))
        file_.fail("/contacts/geom_a", "has a geom that is not there");
    }
    point_ = file_.doubles("/contacts/point", 3 * k);
    normal_ = file_.doubles("/contacts/normal", 3 * k);
    contact_force_ = file_.doubles("/contacts/force_world", 3 * k);
    contact_gap_ = file_.doubles("/contacts/gap", k);
    if (!file_.has("/contacts/mu")) {
      missing.emplace_back("contacts.mu");
      return;
    }
    mu_ = file_.doubles("/contacts/mu", k);
    mode_ = file_.ints("/contacts/mode", k);
    for (int& m : mode_) {
      if (m < 0 || m > static_cast<int>(ContactMode::unknown)) m = static_cast<int>(ContactMode::unknown);
    }
  }

  const Reader& file_;
  Layout layout_;
  std::size_t n_, nj_, geoms_, nq_ = 0, ns_ = 0;
  std::vector<double> time_, position_, quaternion_, coordinates_, rates_, targets_, efforts_, gap_, angle_, force_,
      torque_, natural_map_, error_, joint_gap_, joint_angle_, penetration_, limit_, kinetic_, potential_, work_in_,
      dissipated_, unaccounted_;
  std::vector<int> iterations_, status_;
  std::vector<std::uint64_t> offset_;
  std::vector<int> geom_a_, geom_b_, mode_;
  std::vector<double> point_, normal_, contact_force_, contact_gap_, mu_;
};

RunFacts read_facts(const Reader& file) {
  RunFacts facts;
  facts.dt = file.double_attribute("dt");
  if (!(facts.dt > 0)) file.fail("attribute 'dt'", fmt::format("is {}", facts.dt));
  facts.solver = file.string_attribute("solver");
  facts.integrator = file.string_attribute("integrator");
  facts.version = file.string_attribute("sarrus_version");
  if (file.has_attribute("tolerance")) facts.tolerance = file.double_attribute("tolerance");
  if (file.has_attribute("acceptable")) facts.acceptable = file.double_attribute("acceptable");
  return facts;
}

// Version 1 does not say; there the times tell.
bool holds_every_step(const Reader& file, const std::vector<double>& time, double dt) {
  if (file.has_attribute("every")) return file.int_attribute("every") == 1;
  for (std::size_t i = 1; i < time.size(); ++i) {
    if (time[i] - time[i - 1] > 1.5 * dt) return false;
  }
  return true;
}

}  // namespace

RecordedRun load_recorded_run(const std::filesystem::path& path, double rate) {
  const Reader file(path, "record the scene again with sarrus run --record");
  if (!file.has_attribute("format") || file.string_attribute("format") != "sarrus-recording") {
    file.fail("attribute 'format'", "is not that of a recording of sarrus");
  }
  const int version = file.int_attribute("version");
  if (version < 1 || version > kRecordingVersion) {
    file.fail("attribute 'version'", fmt::format("is {}, this program reads 1 to {}", version, kRecordingVersion));
  }
  RecordedRun run;
  run.scene = SceneReader(file).read();
  run.facts = read_facts(file);
  MotionReader reader(file, run.scene);
  reader.read();
  run.motion = Motion(Layout(run.scene), rate);
  for (std::size_t i = 0; i < reader.time().size(); ++i) {
    Frame frame = reader.frame(i);
    if (i == 0) complete(run.scene, poses_of(frame, run.scene.bodies.size()));
    run.motion.add(std::move(frame));
    run.motion.fit_memory();
  }
  run.motion.every_step = holds_every_step(file, reader.time(), run.facts.dt);
  run.motion.missing = std::move(reader.missing);
  if (file.has_attribute("end_status")) {
    run.motion.end(file.string_attribute("end_status"), file.string_attribute("end_message"));
  }
  return run;
}

}  // namespace sarrus::view
