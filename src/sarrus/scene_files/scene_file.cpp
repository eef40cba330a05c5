#include "sarrus/scene_files/scene_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "sarrus/files/whole_file.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/unit_hints.h"
#include "sarrus/scene_files/scene_loader.h"
#include "sarrus/scene_files/scene_values.h"

namespace sarrus {
namespace scene {
namespace {

// Negative zero differs from zero here: a value is left out only if loading restores its bits.
bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

bool same_bits(const Vec3& a, const Vec3& b) {
  return same_bits(a[0], b[0]) && same_bits(a[1], b[1]) && same_bits(a[2], b[2]);
}

OrderedJson number(double x) {
  if (!std::isfinite(x)) {
    throw InputError("model",
                     fmt::format("a value is {} where a scene file needs a finite number; correct the model", x));
  }
  return x;
}

OrderedJson list(const Vec3& x) { return OrderedJson::array({number(x[0]), number(x[1]), number(x[2])}); }

OrderedJson list(const Quat& q) {
  return OrderedJson::array({number(q.w()), number(q.x()), number(q.y()), number(q.z())});
}

OrderedJson list(const Colour& c) {
  return OrderedJson::array({number(c.red), number(c.green), number(c.blue), number(c.alpha)});
}

void put(OrderedJson& out, const char* key, double x, double fallback) {
  if (!same_bits(x, fallback)) out[key] = number(x);
}

void put(OrderedJson& out, const Compliance& compliance) {
  if (compliance.compliant()) out["compliance"] = compliance_json(compliance);
}

void put(OrderedJson& out, const char* key, const Vec3& x) {
  if (!same_bits(x, Vec3::Zero())) out[key] = list(x);
}

bool is_identity(const Quat& q) { return same_bits(q.w(), 1) && same_bits(q.vec(), Vec3::Zero()); }

OrderedJson frame(const Vec3& p, const Quat& q) {
  OrderedJson out = OrderedJson::object();
  out["p"] = list(p);
  if (!is_identity(q)) out["q"] = list(q);
  return out;
}

// Three numbers, six, or nine where rounding made the halves differ.
OrderedJson inertia(const Mat3& I) {
  OrderedJson out = list(I.diagonal());
  const Vec3 upper(I(0, 1), I(0, 2), I(1, 2));
  const Vec3 lower(I(1, 0), I(2, 0), I(2, 1));
  if (!same_bits(upper, lower)) {
    out = OrderedJson::array();
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) out.push_back(number(I(row, column)));
    }
  } else if (!same_bits(upper, Vec3::Zero())) {
    for (int k = 0; k < 3; ++k) out.push_back(number(upper[k]));
  }
  return out;
}

OrderedJson bits(std::uint32_t mask) {
  if (mask == ~0u) return "all";
  if (mask == 0) return "none";
  OrderedJson out = OrderedJson::array();
  for (unsigned bit = 0; bit < 32; ++bit) {
    if ((mask >> bit) & 1u) out.push_back(bit);
  }
  return out;
}

// Where points are: in a file, or in the first shape of the scene that has them, which others refer to.
struct DataPlaces {
  const MeshSources& sources;
  std::unordered_map<const void*, std::string> owners;
};

const void* data_of(const Shape& s) {
  if (s.kind == ShapeKind::hull) return s.hull.get();
  if (s.kind == ShapeKind::mesh) return s.mesh.get();
  return s.kind == ShapeKind::height_field ? s.height_field.get() : nullptr;
}

template <class Points>
OrderedJson points(const Points& list_of_points) {
  OrderedJson out = OrderedJson::array();
  for (const Vec3& p : list_of_points) out.push_back(list(p));
  return out;
}

void put_mesh(OrderedJson& out, const TriangleMesh& mesh) {
  out["vertices"] = points(mesh.vertices());
  OrderedJson triangles = OrderedJson::array();
  for (const TriangleMesh::Triangle& t : mesh.triangles()) triangles.push_back(OrderedJson::array({t[0], t[1], t[2]}));
  out["triangles"] = std::move(triangles);
}

void put_height_field(OrderedJson& out, const HeightField& field) {
  out["columns"] = field.columns();
  out["rows"] = field.rows();
  out["spacing"] = OrderedJson::array({number(field.dx()), number(field.dy())});
  OrderedJson heights = OrderedJson::array();
  for (const double h : field.heights()) heights.push_back(number(h));
  out["heights"] = std::move(heights);
}

OrderedJson children(const Shape& compound, const DataPlaces& places);

// The size of a shape, or its points unless another shape or a file has them.
void put_geometry(OrderedJson& out, const Shape& s, bool with_points, const DataPlaces& places) {
  const auto source = places.sources.find(data_of(s));
  if (with_points && source != places.sources.end()) {
    out["file"] = source->second.file.generic_string();
    const Vec3& scale = source->second.scale;
    if (!same_bits(scale, Vec3::Ones())) out["scale"] = list(scale);
    with_points = false;
  }
  switch (s.kind) {
    case ShapeKind::plane:
      break;
    case ShapeKind::sphere:
      out["radius"] = number(s.size[0]);
      break;
    case ShapeKind::capsule:
    case ShapeKind::cylinder:
      out["radius"] = number(s.size[0]);
      out["half_length"] = number(s.size[1]);
      break;
    case ShapeKind::box:
      out["half_extents"] = list(s.size);
      break;
    case ShapeKind::ellipsoid:
      out["semi_axes"] = list(s.size);
      break;
    case ShapeKind::hull:
      if (with_points) out["points"] = points(s.hull->vertices());
      break;
    case ShapeKind::mesh:
      if (s.mass_from_hull) out["mass_from"] = "hull";
      if (with_points) put_mesh(out, *s.mesh);
      break;
    case ShapeKind::height_field:
      if (with_points) put_height_field(out, *s.height_field);
      break;
    case ShapeKind::compound:
      out["children"] = children(s, places);
      break;
  }
}

void put_pose(OrderedJson& out, const Pose& X) {
  OrderedJson pose = frame(X.p, X.q);
  if (pose.contains("q") || !same_bits(X.p, Vec3::Zero())) out["pose"] = std::move(pose);
}

OrderedJson children(const Shape& compound, const DataPlaces& places) {
  OrderedJson out = OrderedJson::array();
  for (const CompoundChild& child : *compound.children) {
    OrderedJson c;
    c["type"] = std::string(name_of(child.shape.kind));
    put_geometry(c, child.shape, true, places);
    put_pose(c, child.X_SC);
    out.push_back(std::move(c));
  }
  return out;
}

OrderedJson shape_of(const std::string& name, const Shape& shape, const Pose& X_BG, DataPlaces& places) {
  OrderedJson out;
  out["name"] = name;
  out["type"] = std::string(name_of(shape.kind));
  const void* data = data_of(shape);
  const bool shared = data != nullptr && !places.owners.try_emplace(data, name).second;
  if (shared) out["same_as"] = places.owners.at(data);
  put_geometry(out, shape, !shared, places);
  put_pose(out, X_BG);
  return out;
}

OrderedJson shape(const Model& model, const Geom& g, DataPlaces& places) {
  OrderedJson out = shape_of(g.name, g.shape, g.X_BG, places);
  if (g.material != 0) out["material"] = model.materials()[static_cast<std::size_t>(g.material)].name;
  if (g.group != Geom{}.group) out["group"] = bits(g.group);
  if (g.collides_with != Geom{}.collides_with) out["collides_with"] = bits(g.collides_with);
  put(out, "margin", g.margin, kUseDefault);
  if (g.colour) out["rgba"] = list(*g.colour);
  return out;
}

OrderedJson visual(const Visual& v, DataPlaces& places) {
  OrderedJson out = shape_of(v.name, v.shape, v.X_BG, places);
  out["rgba"] = list(v.colour);
  return out;
}

OrderedJson frame_on_body(const Frame& f) {
  OrderedJson out;
  out["name"] = f.name;
  put_pose(out, f.X_BF);
  return out;
}

OrderedJson signal(const Signal& s) {
  OrderedJson out = OrderedJson::object();
  put(out, "offset", s.offset, 0);
  put(out, "rate", s.rate, 0);
  put(out, "amplitude", s.amplitude, 0);
  put(out, "frequency", s.frequency, 0);
  put(out, "phase", s.phase, 0);
  if (!s.table.empty()) {
    OrderedJson& table = out["table"] = OrderedJson::array();
    for (const TablePoint& p : s.table) table.push_back(OrderedJson::array({number(p.time), number(p.value)}));
  }
  if (!s.table.empty() && s.interpolation != Interpolation::linear) {
    out["interpolation"] = std::string(name_of(s.interpolation));
  }
  if (out.size() == 1 && out.contains("offset")) return out["offset"];
  return out;
}

OrderedJson drive(const Drive& d) {
  constexpr const char* modes[] = {"none", "force", "position", "velocity"};
  OrderedJson out;
  if (!d.name.empty()) out["name"] = d.name;
  out["mode"] = modes[static_cast<std::size_t>(d.mode)];
  put(out, "kp", d.kp, 0);
  put(out, "kd", d.kd, 0);
  put(out, "effort_limit", d.effort_limit, kInf);
  put(out, "effort_lower", d.effort_lower, -kInf);
  put(out, "effort_upper", d.effort_upper, kInf);
  put(out, "target_lower", d.target_lower, -kInf);
  put(out, "target_upper", d.target_upper, kInf);
  const OrderedJson target = signal(d.target);
  if (!target.empty()) out["target"] = target;
  return out;
}

void put_dof(OrderedJson& out, const Dof& dof) {
  OrderedJson limit = OrderedJson::object();
  put(limit, "lower", dof.limit.lower, -kInf);
  put(limit, "upper", dof.limit.upper, kInf);
  put(limit, "restitution", dof.limit.restitution, 0);
  put(limit, "erp", dof.limit.erp, kUseDefault);
  put(limit, dof.limit.compliance);
  if (!limit.empty()) out["limit"] = limit;
  const OrderedJson d = drive(dof.drive);
  if (dof.drive.mode != DriveMode::none || d.size() > 1) out["drive"] = d;
  put(out, "armature", dof.armature, 0);
  if (!same_bits(dof.stiffness, 0) || !same_bits(dof.rest, 0)) {
    out["spring"] = {{"stiffness", number(dof.stiffness)}};
    put(out["spring"], "rest", dof.rest, 0);
  }
  put(out, "damping", dof.damping, 0);
  put(out, "dry_friction", dof.dry_friction, 0);
  if (dof.wrapped) out["wrapped"] = true;
  if (dof.initial) out["initial"] = number(*dof.initial);
}

// What the three dofs of a spherical joint share is of the joint in a file; `dof` keeps the rest.
void put_ball_spring(OrderedJson& out, const Joint& j, Dof* dof) {
  if (!same_bits(dof[0].stiffness, 0) || !is_identity(j.q_rest)) {
    out["spring"] = {{"stiffness", number(dof[0].stiffness)}};
    if (!is_identity(j.q_rest)) out["spring"]["rest_wxyz"] = list(j.q_rest);
  }
  const double damping = dof[0].damping;
  const bool shared = same_bits(dof[1].damping, damping) && same_bits(dof[2].damping, damping);
  if (shared) put(out, "damping", damping, 0);
  for (int k = 0; k < 3; ++k) {
    dof[k].stiffness = dof[k].rest = 0;
    if (shared) dof[k].damping = 0;
  }
}

std::string body_name(const Model& model, int body) {
  return body == kWorld ? "world" : model.bodies()[static_cast<std::size_t>(body)].name;
}

OrderedJson axis(const SerialAxis& a, const Dof& dof) {
  OrderedJson out;
  if (!a.name.empty()) out["name"] = a.name;
  out["type"] = a.angular ? "revolute" : "prismatic";
  out["at"] = list(a.p_J);
  out["axis"] = list(a.axis_J);
  put(out, "reference", a.reference, 0);
  put_dof(out, dof);
  return out;
}

OrderedJson joint(const Model& model, const Joint& j) {
  const JointTypeInfo& type = joint_type_info(j.type);
  OrderedJson out;
  out["name"] = j.name;
  out["type"] = std::string(type.name);
  out["base"] = body_name(model, j.base);
  out["follower"] = body_name(model, j.follower);
  out["base_frame"] = frame(j.p_BJ, j.q_BJ);
  out["follower_frame"] = frame(j.p_FJ, j.q_FJ);
  if (j.type == JointType::distance) out["length"] = number(j.length);
  if (j.rope) out["rope"] = true;
  put(out, "swing_limit", j.swing_limit, kInf);
  put(out, "erp", j.erp, kUseDefault);
  put(out, j.compliance);
  if (j.type == JointType::serial) {
    for (int k = 0; k < joint_dofs(j); ++k) {
      out["sequence"].push_back(
          axis(j.axes[static_cast<std::size_t>(k)], model.dofs()[static_cast<std::size_t>(j.first_dof + k)]));
    }
    return out;
  }
  Dof dof[3];
  std::copy_n(model.dofs().begin() + j.first_dof, type.dofs, dof);
  if (type.dofs == 1) {
    put_dof(out, dof[0]);
    return out;
  }
  if (j.type == JointType::spherical) put_ball_spring(out, j, dof);
  OrderedJson coordinates = OrderedJson::object();
  for (int k = 0; k < type.dofs; ++k) {
    OrderedJson coordinate = OrderedJson::object();
    put_dof(coordinate, dof[k]);
    if (!coordinate.empty()) coordinates[std::string(type.dof_name[k])] = coordinate;
  }
  if (!coordinates.empty()) out["coordinates"] = coordinates;
  return out;
}

OrderedJson coupling(const Model& model, const Coupling& c) {
  OrderedJson out;
  out["name"] = c.name;
  out["a"] = model.dof_name(c.dof_a);
  out["b"] = model.dof_name(c.dof_b);
  if (c.linear()) {
    out["ratio"] = number(c.ratio);
    put(out, "offset", c.offset, 0);
  } else {
    out["polynomial"] = OrderedJson::array({number(c.offset), number(c.ratio)});
    for (const double x : c.higher) out["polynomial"].push_back(number(x));
  }
  put(out, "erp", c.erp, kUseDefault);
  put(out, c.compliance);
  return out;
}

OrderedJson combination(const Model& model, const Combination& c) {
  OrderedJson out;
  out["name"] = c.name;
  for (const CombinationTerm& t : c.terms) {
    out["terms"].push_back({{"coordinate", model.dof_name(t.dof)}, {"coefficient", number(t.coefficient)}});
  }
  put(out, "offset", c.offset, 0);
  put_dof(out, c.law);
  return out;
}

OrderedJson contact_pair(const Model& model, const ContactPair& p) {
  OrderedJson out;
  const auto name = [&](int geom) { return model.geoms()[static_cast<std::size_t>(geom)].name; };
  out["shapes"] = OrderedJson::array({name(p.a), name(p.b)});
  out["mu"] = number(p.mu);
  out["restitution"] = number(p.restitution);
  out["compliance"] = compliance_json(p.compliance);
  put(out, "margin", p.margin, kUseDefault);
  return out;
}

OrderedJson body(const Body& b) {
  OrderedJson out;
  out["name"] = b.name;
  out["mass"] = number(b.mass);
  out["inertia"] = inertia(b.inertia_B);
  out["pose"] = frame(b.X_WB0.p, b.X_WB0.q);
  put(out, "velocity", b.v0_W);
  put(out, "angular_velocity", b.w0_W);
  if (b.ccd != Body{}.ccd) out["ccd"] = std::string(name_of(b.ccd));
  put(out, "gravity_scale", b.gravity_scale, 1);
  put(out, "linear_damping", b.linear_damping, 0);
  put(out, "angular_damping", b.angular_damping, 0);
  return out;
}

void put_materials(OrderedJson& out, const Model& model) {
  for (const Material& m : model.materials()) {
    OrderedJson material = {{"name", m.name}, {"mu", number(m.mu)}, {"restitution", number(m.restitution)}};
    put(material, m.compliance);
    out["materials"].push_back(std::move(material));
  }
  for (const MaterialPair& p : model.material_pairs()) {
    const std::string& a = model.materials()[static_cast<std::size_t>(p.a)].name;
    const std::string& b = model.materials()[static_cast<std::size_t>(p.b)].name;
    OrderedJson pair;
    pair["materials"] = OrderedJson::array({a, b});
    pair["mu"] = number(p.mu);
    pair["restitution"] = number(p.restitution);
    if (p.compliance) pair["compliance"] = compliance_json(*p.compliance);
    out["material_pairs"].push_back(pair);
  }
}

// Indices of elements by their body; those of the world come last.
template <class Elements>
std::vector<std::vector<int>> by_body(const Model& model, const Elements& elements) {
  std::vector<std::vector<int>> out(static_cast<std::size_t>(model.body_count()) + 1);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const int owner = elements[i].body;
    out[static_cast<std::size_t>(owner == kWorld ? model.body_count() : owner)].push_back(static_cast<int>(i));
  }
  return out;
}

// Bodies with their shapes, the shapes of the world, and the model's order of shapes if it is another one.
void put_bodies(OrderedJson& out, const Model& model, const MeshSources& sources) {
  const std::vector<std::vector<int>> shapes_of = by_body(model, model.geoms());
  const std::vector<std::vector<int>> visuals_of = by_body(model, model.visuals());
  const std::vector<std::vector<int>> frames_of = by_body(model, model.frames());
  std::vector<int> order;
  DataPlaces places{sources, {}};
  const auto shapes = [&](std::size_t owner) {
    OrderedJson result = OrderedJson::array();
    for (const int i : shapes_of[owner]) {
      result.push_back(shape(model, model.geoms()[static_cast<std::size_t>(i)], places));
      order.push_back(i);
    }
    return result;
  };
  const auto seen_only = [&](OrderedJson& to, const char* visuals, const char* frames, std::size_t owner) {
    for (const int i : visuals_of[owner]) {
      to[visuals].push_back(visual(model.visuals()[static_cast<std::size_t>(i)], places));
    }
    for (const int i : frames_of[owner]) {
      to[frames].push_back(frame_on_body(model.frames()[static_cast<std::size_t>(i)]));
    }
  };
  for (std::size_t i = 0; i < model.bodies().size(); ++i) {
    OrderedJson b = body(model.bodies()[i]);
    if (!shapes_of[i].empty()) b["shapes"] = shapes(i);
    seen_only(b, "visuals", "frames", i);
    out["bodies"].push_back(std::move(b));
  }
  OrderedJson world = shapes(model.bodies().size());
  if (!world.empty()) out["world_shapes"] = std::move(world);
  seen_only(out, "world_visuals", "world_frames", model.bodies().size());
  if (!std::is_sorted(order.begin(), order.end())) {
    for (const Geom& g : model.geoms()) out["shape_order"].push_back(g.name);
  }
}

void put_pairs(OrderedJson& out, const char* key, const Model& model, const std::vector<BodyPair>& pairs) {
  for (const BodyPair& p : pairs) {
    out[key].push_back(OrderedJson::array({body_name(model, p.a), body_name(model, p.b)}));
  }
}

// Keys at their default are left out, so that infinities need no notation; angles are in radians and joints have local
// anchors, so that loading repeats no arithmetic.
OrderedJson document_of(const Model& model, const MeshSources& sources) {
  OrderedJson out;
  out["format"] = "sarrus-scene";
  out["version"] = 1;
  out["angle_unit"] = "rad";
  if (!model.name().empty()) out["name"] = model.name();
  if (!model.description().empty()) out["description"] = model.description();
  out["gravity"] = list(model.gravity());
  if (!model.self_collision()) out["self_collision"] = false;
  const RunDefaults& run = model.defaults();
  out["run"] = {{"dt", number(run.dt)}, {"duration", number(run.duration)}};
  out["run"]["integrator"] = run.integrator;
  const RunDefaults usual;
  const auto put = [&](const char* key, double value, double usually) {
    if (value != usually) out["run"][key] = number(value);
  };
  put("erp_joint", run.erp_joint, usual.erp_joint);
  put("erp_limit", run.erp_limit, usual.erp_limit);
  put("erp_contact", run.erp_contact, usual.erp_contact);
  put("contact_slop", run.contact_slop, usual.contact_slop);
  put("push_out_speed", run.push_out_speed, usual.push_out_speed);
  if (run.restitution == RestitutionLaw::sequential) out["run"]["restitution_law"] = "sequential";
  put_materials(out, model);
  put_bodies(out, model, sources);
  for (const Joint& j : model.joints()) out["joints"].push_back(joint(model, j));
  for (const Coupling& c : model.couplings()) out["couplings"].push_back(coupling(model, c));
  for (const Combination& c : model.combinations()) out["combinations"].push_back(combination(model, c));
  for (const ContactPair& p : model.contact_pairs()) out["contact_pairs"].push_back(contact_pair(model, p));
  put_pairs(out, "excludes", model, model.excludes());
  put_pairs(out, "includes", model, model.includes());
  return out;
}

}  // namespace
}  // namespace scene

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{256} << 20;

// Puts the file in front of a message of the reader or of finish_model, which may quote any text of the file:
// escaping keeps it on one line.
InputError in_file(const std::string& source_name, const InputError& error) {
  constexpr std::size_t kMaxMessage = 4000;
  const std::string what = error.what();
  const std::string& element = error.element();
  const std::string message = element.empty() ? what : what.substr(element.size() + 2);
  const std::string place = element.empty() ? source_name : source_name + ": " + element;
  return InputError(printable(place, kMaxMessage), printable(message, kMaxMessage));
}

// Calls f(path, value) for every array of numbers under the key.
template <class F>
void each_array(const json::Json& value, const std::string& path, std::string_view wanted, const F& f) {
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) each_array(value[i], fmt::format("{}[{}]", path, i), wanted, f);
  }
  if (!value.is_object()) return;
  for (const auto& [key, child] : value.items()) {
    const std::string name = path.empty() ? printable(key) : fmt::format("{}.{}", path, printable(key));
    if (key == wanted && child.is_array()) f(name, child);
    each_array(child, name, wanted, f);
  }
}

}  // namespace

std::vector<std::string> suspicious_orientations(std::string_view json_text) {
  std::vector<std::string> messages;
  try {
    const json::Json document = json::parse_strict(json_text);
    if (!document.is_object() || !document.contains("angle_unit")) return {};
    const bool degrees = document["angle_unit"] == "deg";
    each_array(document, "", "euler_xyz", [&](const std::string& path, const json::Json& angles) {
      for (const json::Json& angle : angles) {
        if (!angle.is_number()) continue;
        const double x = angle.get<double>();
        if (!(degrees ? looks_like_radians(x) : looks_like_degrees(x))) continue;
        messages.push_back(fmt::format("{} has {:.6g} {}: looks like {}; set \"angle_unit\": \"{}\", or convert it",
                                       path, x, degrees ? "degrees" : "rad", degrees ? "radians" : "degrees",
                                       degrees ? "rad" : "deg"));
        return;
      }
    });
  } catch (const InputError&) {
    return {};
  }
  return messages;
}

Model parse_scene(std::string_view json_text, const std::string& source_name, const fs::path& folder) {
  try {
    return scene::SceneLoader(source_name, folder).load(json::parse_strict(json_text));
  } catch (const InputError& error) {
    throw in_file(source_name, error);
  }
}

Model load_scene(const fs::path& file) {
  const std::string text = read_file(file, "a scene file", kMaxBytes);
  return parse_scene(text, file.string(), file.parent_path());
}

std::string scene_to_json(const Model& model, const MeshSources& sources) {
  return json::print(scene::document_of(model, sources));
}

void save_scene(const Model& model, const fs::path& file) {
  try {
    const std::string text = scene_to_json(model);
    if (text.size() > kMaxBytes) {
      throw InputError("model", fmt::format("its scene file would have {} MB, more than the {} MB that can be loaded; "
                                            "simplify its meshes",
                                            text.size() >> 20, kMaxBytes >> 20));
    }
    write_file_atomically(file, text);
  } catch (const InputError& error) {
    if (error.element() == file.string()) throw;
    throw in_file(file.string(), error);
  }
}

}  // namespace sarrus
