#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "sarrus/io/scene_frames.h"
#include "sarrus/io/scene_loader.h"
#include "sarrus/io/scene_mass.h"

namespace sarrus::scene {
namespace {

template <class Elements>
std::vector<std::string> names_of(const Elements& elements) {
  std::vector<std::string> names;
  names.reserve(elements.size());
  for (const auto& e : elements) names.push_back(e.name);
  return names;
}

std::string label_of(const Body& body) { return "body " + in_quotes(body.name); }

}  // namespace

ModelData SceneLoader::load(const Json& document) {
  ObjectReader r(document, "scene");
  read_header(r);
  d_.name = r.text_or("name", "");
  d_.description = r.text_or("description", "");
  d_.gravity = r.vec3("gravity", d_.gravity);
  if (r.has("run")) read_run(r.object("run"));
  read_materials(r);
  if (r.has("defaults")) read_defaults(r.object("defaults"));
  r.each("bodies", "body", "", [this](ObjectReader body, std::size_t) { read_body(std::move(body)); });
  read_shapes(r, "world_shapes", kWorld);
  read_shape_order(r);
  r.each("joints", "joint", "", [this](ObjectReader joint, std::size_t) { read_joint(std::move(joint)); });
  name_dofs();
  r.each("couplings", "coupling", "",
         [this](ObjectReader coupling, std::size_t) { read_coupling(std::move(coupling)); });
  read_body_pairs(r, "excludes", d_.excludes);
  read_body_pairs(r, "includes", d_.includes);
  r.finish();
  return std::move(d_);
}

void SceneLoader::read_header(ObjectReader& r) {
  if (r.text("format", "sarrus-scene") != "sarrus-scene") {
    r.fail("format is not \"sarrus-scene\"; this is not a sarrus scene file");
  }
  const double version = r.number("version");
  if (version != 1) r.fail(fmt::format("version {} is not supported; this program reads version 1", version));
  if (!r.has("angle_unit")) {
    r.fail("key 'angle_unit' is missing; add \"angle_unit\": \"deg\" or \"angle_unit\": \"rad\"");
  }
  angle_unit_ = r.choice("angle_unit", {"rad", "deg"}) == 0 ? 1.0 : std::numbers::pi / 180.0;
}

void SceneLoader::read_run(ObjectReader r) {
  RunDefaults& run = d_.defaults;
  if (r.has("dt")) run.dt = r.positive("dt");
  if (r.has("duration")) run.duration = r.positive("duration");
  if (r.has("integrator")) {
    const std::vector<Integrator> all = {Integrator::semi_implicit, Integrator::moreau};
    run.integrator = all[r.choice("integrator", {std::string(name(all[0])), std::string(name(all[1]))})];
  }
  r.finish();
}

void SceneLoader::read_materials(ObjectReader& r) {
  r.each("materials", "material", "", [this](ObjectReader m, std::size_t i) {
    Material material;
    material.name = read_name(m, "material", "steel", materials_, i);
    material.mu = m.number("mu", material.mu);
    material.restitution = m.number("restitution", material.restitution);
    m.finish();
    d_.materials.push_back(std::move(material));
  });
  if (d_.materials.empty()) {
    d_.materials.push_back({"default", 0.7, 0.0});
    materials_.emplace("default", 0);
  }
  r.each("material_pairs", "material pair", "",
         [this](ObjectReader pair, std::size_t) { read_material_pair(std::move(pair)); });
}

void SceneLoader::read_material_pair(ObjectReader r) {
  const std::vector<std::string> names = r.strings("materials", 2);
  MaterialPair pair;
  pair.a = resolve_material(r, "materials[0]", names[0]);
  pair.b = resolve_material(r, "materials[1]", names[1]);
  const Material& a = d_.materials[static_cast<std::size_t>(pair.a)];
  const Material& b = d_.materials[static_cast<std::size_t>(pair.b)];
  pair.mu = r.number("mu", std::sqrt(a.mu * b.mu));
  pair.restitution = r.number("restitution", std::max(a.restitution, b.restitution));
  r.finish();
  d_.material_pairs.push_back(pair);
}

void SceneLoader::read_defaults(ObjectReader r) {
  if (r.has("body")) {
    ObjectReader body = r.object("body");
    if (body.has("density")) defaults_.density = body.positive("density");
    body.finish();
  }
  if (r.has("joint")) {
    ObjectReader joint = r.object("joint");
    defaults_.erp = joint.number("erp", defaults_.erp);
    defaults_.dof.damping = joint.number("damping", 0);
    defaults_.dof.dry_friction = joint.number("dry_friction", 0);
    defaults_.dof.armature = joint.number("armature", 0);
    if (joint.has("limit")) {
      ObjectReader limit = joint.object("limit");
      defaults_.limit.restitution = limit.number("restitution", 0);
      defaults_.limit.erp = limit.number("erp", kUseDefault);
      limit.finish();
    }
    joint.finish();
  }
  if (r.has("shape")) {
    ObjectReader shape = r.object("shape");
    if (shape.has("material")) {
      defaults_.shape.material = resolve_material(shape, "material", shape.text("material", "steel"));
    }
    defaults_.shape.group = shape.bits("group", defaults_.shape.group);
    defaults_.shape.collides_with = shape.bits("collides_with", defaults_.shape.collides_with);
    shape.finish();
  }
  r.finish();
}

void SceneLoader::read_body(ObjectReader r) {
  const int index = static_cast<int>(d_.bodies.size());
  Body body;
  body.name = read_name(r, "body", "rod", bodies_, d_.bodies.size());
  if (body.name == "world") r.fail("the name 'world' is reserved; choose another");
  if (r.has("pose")) body.X_WB0 = read_frame(r.object("pose"), angle_unit_);
  body.v0_W = r.vec3("velocity", Vec3::Zero());
  body.w0_W = r.vec3("angular_velocity", Vec3::Zero()) * angle_unit_;
  d_.bodies.push_back(body);
  const std::size_t first_shape = d_.geoms.size();
  read_shapes(r, "shapes", index);
  const std::span<const Geom> shapes = std::span<const Geom>(d_.geoms).subspan(first_shape);
  read_mass(r, defaults_.density, shapes, d_.bodies.back());
  r.finish();
}

void SceneLoader::read_shapes(ObjectReader& r, std::string_view key, int body) {
  const bool world = body == kWorld;
  const std::string suffix = world ? "" : " of " + label_of(d_.bodies[static_cast<std::size_t>(body)]);
  r.each(key, world ? "world shape" : "shape", suffix, [this, body](ObjectReader shape, std::size_t) {
    d_.geoms.push_back(read_shape(shape, body));
    shape.finish();
  });
}

Geom SceneLoader::read_shape(ObjectReader& r, int body) {
  const std::vector<ShapeKind> kinds = {ShapeKind::sphere, ShapeKind::capsule, ShapeKind::box, ShapeKind::plane};
  std::vector<std::string> kind_names(kinds.size());
  std::transform(kinds.begin(), kinds.end(), kind_names.begin(), [](ShapeKind k) { return std::string(name(k)); });
  Geom g = defaults_.shape;
  g.body = body;
  g.name = r.text_or("name", "");
  g.shape.kind = kinds[r.choice("type", kind_names)];
  switch (g.shape.kind) {
    case ShapeKind::plane:
      if (body != kWorld) r.fail("a plane can only belong to the world; move it to world_shapes, or use a box");
      break;
    case ShapeKind::sphere:
      g.shape = Shape::sphere(r.positive("radius"));
      break;
    case ShapeKind::capsule:
      g.shape = Shape::capsule(r.positive("radius"), r.positive("half_length"));
      break;
    case ShapeKind::box:
      g.shape = Shape::box(r.vec3("half_extents"));
      if (!(g.shape.size.minCoeff() > 0)) r.fail("half_extents has an entry <= 0; give three sizes > 0");
      break;
  }
  if (r.has("pose")) g.X_BG = read_frame(r.object("pose"), angle_unit_);
  if (r.has("material")) g.material = resolve_material(r, "material", r.text("material", "steel"));
  g.group = r.bits("group", g.group);
  g.collides_with = r.bits("collides_with", g.collides_with);
  return g;
}

// Shapes are listed by owner in the file, but the model may have any order; contacts come in that order.
void SceneLoader::read_shape_order(ObjectReader& r) {
  if (!r.has("shape_order")) return;
  const std::vector<std::string> order = r.strings("shape_order", 0);
  const std::vector<std::string> known = names_of(d_.geoms);
  Names position;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].empty()) r.fail("shape_order needs named shapes, but one has no name; name every shape");
    position.emplace(known[i], static_cast<int>(i));
  }
  std::vector<Geom> sorted;
  std::vector<bool> used(known.size(), false);
  for (const std::string& shape : order) {
    const auto it = position.find(shape);
    if (it == position.end()) {
      r.fail(fmt::format("shape_order names shape {}, which does not exist; {}", in_quotes(shape),
                         suggestion(shape, known, "shape")));
    }
    const auto i = static_cast<std::size_t>(it->second);
    if (used[i]) r.fail(fmt::format("shape_order names shape {} twice; name every shape once", in_quotes(shape)));
    used[i] = true;
    sorted.push_back(d_.geoms[i]);
  }
  if (sorted.size() != d_.geoms.size()) {
    const auto missing = static_cast<std::size_t>(std::find(used.begin(), used.end(), false) - used.begin());
    r.fail(fmt::format("shape_order leaves out shape {}; name every shape once, or remove shape_order",
                       in_quotes(known[missing])));
  }
  d_.geoms = std::move(sorted);
}

void SceneLoader::read_body_pairs(ObjectReader& r, std::string_view key, std::vector<BodyPair>& pairs) {
  const Json& list = r.array(key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = fmt::format("{}[{}]", key, i);
    const bool two_names =
        list[i].is_array() && list[i].size() == 2 && list[i][0].is_string() && list[i][1].is_string();
    if (!two_names) r.fail(fmt::format("{} must be two body names; write it like [\"base\", \"world\"]", where));
    pairs.push_back(
        {resolve_body(r, where, list[i][0].get<std::string>()), resolve_body(r, where, list[i][1].get<std::string>())});
  }
}

// Names are checked here and not only by finish_model: references to a wrong name would hide the cause.
std::string SceneLoader::read_name(ObjectReader& r, std::string_view kind, std::string_view example, Names& names,
                                   std::size_t index) {
  std::string name = r.text("name", example);
  if (name.empty()) r.fail(fmt::format("its name is empty; give every {} a unique name", kind));
  if (!names.emplace(name, static_cast<int>(index)).second) {
    r.fail(fmt::format("another {} has the same name; rename one of them", kind));
  }
  return name;
}

int SceneLoader::resolve_body(const ObjectReader& r, std::string_view key, const std::string& name) const {
  if (name == "world") return kWorld;
  const auto it = bodies_.find(name);
  if (it != bodies_.end()) return it->second;
  std::vector<std::string> known = names_of(d_.bodies);
  known.emplace_back("world");
  r.fail(fmt::format("{} names body {}, which does not exist; {}", r.full(key), in_quotes(name),
                     suggestion(name, known, "body")));
}

int SceneLoader::resolve_material(const ObjectReader& r, std::string_view key, const std::string& name) const {
  const auto it = materials_.find(name);
  if (it != materials_.end()) return it->second;
  r.fail(fmt::format("{} names material {}, which does not exist; {}", r.full(key), in_quotes(name),
                     suggestion(name, names_of(d_.materials), "material")));
}

}  // namespace sarrus::scene
