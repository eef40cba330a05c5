#include "sarrus/recording/recording_scene.h"

#include <cstdint>
#include <string>
#include <vector>

#include "sarrus/model/joint_graph.h"
#include "sarrus/recording/recording.h"
#include "sarrus/recording/scene_parts.h"

namespace sarrus {
namespace {

using hdf5::File;
using hdf5::Table;
using hdf5::Wxyz;

void write_root(const File& file, const Model& model, const RunInfo& info, int every) {
  file.attribute(file.id(), "format", std::string("sarrus-recording"));
  file.attribute(file.id(), "version", kRecordingVersion);
  file.attribute(file.id(), "scene", info.scene);
  file.attribute(file.id(), "dt", info.options.dt);
  file.attribute(file.id(), "solver", info.options.solver);
  file.attribute(file.id(), "integrator", std::string(name_of(*info.options.integrator)));
  file.attribute(file.id(), "gravity", std::span<const double>(model.gravity().data(), 3));
  file.attribute(file.id(), "sarrus_version", info.version);
  file.attribute(file.id(), "description", model.description());
  file.attribute(file.id(), "tolerance", info.options.tolerance);
  file.attribute(file.id(), "acceptable", info.options.acceptable);
  file.attribute(file.id(), "every", every);
}

void write_bodies(const File& file, const Model& model) {
  std::vector<std::string> names;
  Table<double> mass;
  Table<double> inertia{6, {}};
  for (const Body& b : model.bodies()) {
    const Mat3& I = b.inertia_B;
    names.push_back(b.name);
    mass.values.push_back(b.mass);
    inertia.values.insert(inertia.values.end(), {I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)});
  }
  file.strings("/bodies/names", names, {"", "names of the bodies"});
  mass.write(file, "/bodies/mass", {"kg", "masses of the bodies"});
  inertia.write(file, "/bodies/inertia", {"kg m^2", "xx, yy, zz, xy, xz, yz about the centre of mass, body axes"});
}

void write_joints(const File& file, const Model& model) {
  std::vector<std::string> names, types, coordinates;
  Table<std::int32_t> base, follower;
  Table<double> anchor_base{3, {}}, anchor_follower{3, {}}, axes_base{4, {}}, axes_follower{4, {}}, length;
  Table<std::int8_t> loop;
  Table<std::int32_t> first_coordinate, coordinate_count, axis_joint;
  Table<std::int8_t> axis_angular;
  Table<double> axis_position{3, {}}, axis{3, {}};
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
    first_coordinate.values.push_back(j.first_dof);
    coordinate_count.values.push_back(joint_dofs(j));
    for (const SerialAxis& a : j.axes) {
      axis_joint.values.push_back(static_cast<std::int32_t>(names.size()) - 1);
      axis_angular.values.push_back(a.angular ? 1 : 0);
      axis_position.add(a.p_J);
      axis.add(a.axis_J);
    }
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
  first_coordinate.write(file, "/joints/first_coordinate", {"1", "index of the first coordinate of the joint"});
  coordinate_count.write(file, "/joints/coordinate_count", {"1", "number of coordinates of the joint"});
  if (axis.values.empty()) return;
  file.group("/joints/axes");
  axis_joint.write(file, "/joints/axes/joint", {"1", "index of the serial joint, that nearest its base first"});
  axis_angular.write(file, "/joints/axes/angular", {"1", "1: turns about the axis, 0: slides along it"});
  axis_position.write(file, "/joints/axes/position", {"m", "point of the axis in the joint frame"});
  axis.write(file, "/joints/axes/axis", {"1", "unit vector in the joint frame"});
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

  void add(ShapeKind kind, const Vec3& size_of, const Pose& X_B) {
    kinds.emplace_back(name_of(kind));
    size.add(size_of);
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

// What to draw: geoms, children of compounds, and what is only seen.
void write_parts(const File& file, const SceneParts& drawn) {
  Table<std::int32_t> geom, body, mesh, height_field;
  Table<double> colour{4, {}};
  ShapeTable shapes;
  for (const ScenePart& part : drawn.parts) {
    geom.values.push_back(part.geom);
    body.values.push_back(part.body);
    shapes.add(part.kind, part.size, part.X_B);
    mesh.values.push_back(part.mesh);
    height_field.values.push_back(part.height_field);
    const Colour none{-1, -1, -1, -1};
    const Colour c = part.colour.value_or(none);
    colour.values.insert(colour.values.end(), {c.red, c.green, c.blue, c.alpha});
  }
  const std::string group = "/geoms/parts";
  file.group(group);
  geom.write(file, group + "/geom", {"1", "index of the geom, -1: the part is only seen"});
  body.write(file, group + "/body", {"1", "index of the body that carries the part, -1: world"});
  shapes.write(file, group, "kinds as of the geoms, without compound");
  mesh.write(file, group + "/mesh", {"1", "hull, mesh: index into /geoms/meshes; else -1"});
  height_field.write(file, group + "/height_field", {"1", "height_field: index into /geoms/height_fields; else -1"});
  colour.write(file, group + "/colour", {"1", "red, green, blue, opacity from 0 to 1; -1: none given"});
}

void write_meshes(const File& file, const std::vector<SceneMesh>& meshes) {
  Table<std::uint64_t> vertex_offset{1, {0}};
  Table<std::uint64_t> triangle_offset{1, {0}};
  Table<double> vertices{3, {}};
  Table<std::int32_t> triangles{3, {}};
  for (const SceneMesh& mesh : meshes) {
    for (const Vec3& v : mesh.vertices) vertices.add(v);
    for (const auto& t : mesh.triangles) triangles.values.insert(triangles.values.end(), t.begin(), t.end());
    vertex_offset.values.push_back(vertices.values.size() / 3);
    triangle_offset.values.push_back(triangles.values.size() / 3);
  }
  const std::string group = "/geoms/meshes";
  file.group(group);
  vertex_offset.write(file, group + "/vertex_offset",
                      {"1", "vertices of mesh i are the rows vertex_offset[i] to vertex_offset[i+1]-1"});
  vertices.write(file, group + "/vertices", {"m", "in the frame of the shape"});
  triangle_offset.write(file, group + "/triangle_offset",
                        {"1", "triangles of mesh i are the rows triangle_offset[i] to triangle_offset[i+1]-1"});
  triangles.write(file, group + "/triangles",
                  {"1", "vertices of the mesh, counted from 0, counter-clockwise seen from outside"});
}

void write_height_fields(const File& file, const std::vector<SceneHeightField>& fields) {
  Table<std::int32_t> columns, rows;
  Table<double> spacing{2, {}};
  Table<std::uint64_t> offset{1, {0}};
  Table<double> heights;
  for (const SceneHeightField& field : fields) {
    columns.values.push_back(field.columns);
    rows.values.push_back(field.rows);
    spacing.values.insert(spacing.values.end(), {field.dx, field.dy});
    heights.values.insert(heights.values.end(), field.heights.begin(), field.heights.end());
    offset.values.push_back(heights.values.size());
  }
  const std::string group = "/geoms/height_fields";
  file.group(group);
  columns.write(file, group + "/columns", {"1", "samples along x"});
  rows.write(file, group + "/rows", {"1", "samples along y"});
  spacing.write(file, group + "/spacing", {"m", "distance of samples along x and y; the grid is centred"});
  offset.write(file, group + "/offset", {"1", "heights of field i are the rows offset[i] to offset[i+1]-1"});
  heights.write(file, group + "/heights", {"m", "row by row, x fastest; cells are cut from (i, j) to (i+1, j+1)"});
}

void write_geoms(const File& file, const Model& model) {
  std::vector<std::string> names;
  Table<std::int32_t> body;
  ShapeTable shapes;
  for (const Geom& g : model.geoms()) {
    names.push_back(g.name);
    body.values.push_back(g.body);
    shapes.add(g.shape.kind, g.shape.size, g.X_BG);
  }
  file.group("/geoms");
  file.strings("/geoms/names", names, {"", "names of the geoms"});
  shapes.write(file, "/geoms",
               "plane (z <= 0 of its frame), sphere, capsule, box, cylinder (axes z), ellipsoid, hull, mesh, "
               "height_field or compound");
  body.write(file, "/geoms/body", {"1", "index of the body that carries the geom, -1: world"});
  const SceneParts drawn = scene_parts(model);
  write_parts(file, drawn);
  write_meshes(file, drawn.meshes);
  write_height_fields(file, drawn.height_fields);
}

// Joint coordinates and, after them, combinations: what may have a limit and a drive.
void write_scalars(const File& file, const Model& model) {
  constexpr const char* kModes[] = {"none", "force", "position", "velocity"};
  std::vector<std::string> names, modes, drives;
  Table<std::int32_t> joint;
  Table<std::int8_t> angular;
  Table<double> lower, upper, target_lower, target_upper, effort_lower, effort_upper;
  for (int i = 0; i < model.scalar_count(); ++i) {
    const Dof& dof = model.scalars()[static_cast<std::size_t>(i)];
    const int first = model.is_combination(i) ? model.combination_of(i).terms.front().dof : i;
    const Joint& j = model.joints()[static_cast<std::size_t>(model.joint_of_dof(first))];
    names.push_back(model.dof_name(i));
    joint.values.push_back(model.is_combination(i) ? -1 : model.joint_of_dof(i));
    angular.values.push_back(coordinate_is_angular(j, first - j.first_dof) ? 1 : 0);
    modes.emplace_back(kModes[static_cast<std::size_t>(dof.drive.mode)]);
    drives.push_back(dof.drive.name);
    lower.values.push_back(dof.limit.lower);
    upper.values.push_back(dof.limit.upper);
    target_lower.values.push_back(dof.drive.target_lower);
    target_upper.values.push_back(dof.drive.target_upper);
    effort_lower.values.push_back(dof.drive.least_effort());
    effort_upper.values.push_back(dof.drive.largest_effort());
  }
  file.group("/scalars");
  file.strings("/scalars/names", names, {"", "joint coordinates and, after them, combinations of coordinates"});
  joint.write(file, "/scalars/joint", {"1", "index of the joint, -1: combination"});
  angular.write(file, "/scalars/angular", {"1", "1: an angle (of combinations their first term), 0: a length"});
  file.strings("/scalars/drive_mode", modes, {"", "none, force, position or velocity"});
  file.strings("/scalars/drive_name", drives, {"", "name of the actuator, may be empty"});
  lower.write(file, "/scalars/lower", {"m or rad", "limit, may be infinite"});
  upper.write(file, "/scalars/upper", {"m or rad", "limit, may be infinite"});
  target_lower.write(file, "/scalars/target_lower", {"of the target", "least target of the drive, may be infinite"});
  target_upper.write(file, "/scalars/target_upper", {"of the target", "largest target of the drive, may be infinite"});
  effort_lower.write(file, "/scalars/effort_lower", {"N or N m", "least effort of the drive, may be infinite"});
  effort_upper.write(file, "/scalars/effort_upper", {"N or N m", "largest effort of the drive, may be infinite"});
}

void write_couplings(const File& file, const Model& model) {
  std::vector<std::string> names;
  Table<std::int32_t> a, b;
  for (const Coupling& c : model.couplings()) {
    names.push_back(c.name);
    a.values.push_back(c.dof_a);
    b.values.push_back(c.dof_b);
  }
  file.group("/couplings");
  file.strings("/couplings/names", names, {"", "names of the couplings of two coordinates"});
  a.write(file, "/couplings/coordinate_a", {"1", "index of the coordinate a = P(b)"});
  b.write(file, "/couplings/coordinate_b", {"1", "index of the coordinate b"});
}

void write_loops(const File& file, const Model& model) {
  const JointGraph graph(model);
  Table<std::uint64_t> offset{1, {0}};
  Table<std::int32_t> joints, bodies;
  for (const int i : model.loop_joints()) {
    const Loop loop = graph.shortest_loop(i);
    joints.values.insert(joints.values.end(), loop.joints.begin(), loop.joints.end());
    bodies.values.insert(bodies.values.end(), loop.bodies.begin(), loop.bodies.end());
    offset.values.push_back(joints.values.size());
  }
  file.group("/loops");
  offset.write(file, "/loops/offset",
               {"1",
                "the shortest cycle through the i-th joint that closes a loop is in the rows "
                "offset[i] to offset[i+1]-1"});
  joints.write(file, "/loops/joints",
               {"1",
                "index of the joint to the body in the next row, in the last row to the "
                "first body: the one that closes the loop"});
  bodies.write(file, "/loops/bodies", {"1", "index of the body, -1: world"});
}

}  // namespace

// Groups have to exist before the datasets in them.
File create_recording(const std::filesystem::path& path, const Model& model, const RunInfo& info, int every) {
  File file(path.string());
  for (const char* g : {"/bodies", "/joints", "/contacts", "/residuals", "/energy"}) file.group(g);
  if (!model.combinations().empty()) file.group("/combinations");
  write_root(file, model, info, every);
  write_bodies(file, model);
  write_joints(file, model);
  write_geoms(file, model);
  write_scalars(file, model);
  write_couplings(file, model);
  write_loops(file, model);
  return file;
}

}  // namespace sarrus
