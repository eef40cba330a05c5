#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/scene_files/scene_loader.h"
#include "sarrus/scene_files/scene_values.h"

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

Ccd read_ccd(ObjectReader& r, Ccd fallback) {
  if (!r.has("ccd")) return fallback;
  constexpr std::array all = {Ccd::off, Ccd::speculative, Ccd::cast};
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const Ccd ccd : all) names.emplace_back(name_of(ccd));
  return all[r.choice("ccd", names)];
}

std::string point_text(const Vec3& x) { return fmt::format("[{:.12g}, {:.12g}, {:.12g}]", x[0], x[1], x[2]); }

Mat3 read_inertia(ObjectReader& r) {
  const std::vector<double> x = r.numbers("inertia", {3, 6, 9});
  Mat3 I = Mat3::Zero();
  if (x.size() == 9) {
    I << x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8];
    return I;
  }
  I.diagonal() << x[0], x[1], x[2];
  if (x.size() == 6) {
    I(0, 1) = I(1, 0) = x[3];
    I(0, 2) = I(2, 0) = x[4];
    I(1, 2) = I(2, 1) = x[5];
  }
  return I;
}

}  // namespace

void SceneLoader::read_header(ObjectReader& r) {
  if (r.text("format", "sarrus-scene") != "sarrus-scene") {
    r.fail("format is not \"sarrus-scene\"; this is not a sarrus scene file");
  }
  const double version = r.number("version");
  if (version != 1) r.fail(fmt::format("version {} is not supported; this program reads version 1", version));
  if (!r.has("angle_unit")) {
    r.fail_missing({"angle_unit"},
                   "key 'angle_unit' is missing; add \"angle_unit\": \"deg\" or \"angle_unit\": \"rad\"");
  }
  angle_unit_ = r.choice("angle_unit", {"rad", "deg"}) == 0 ? 1.0 : std::numbers::pi / 180.0;
  shape_reader_.set_angle_unit(angle_unit_);
}

void SceneLoader::read_run(ObjectReader r) {
  RunDefaults run;
  if (r.has("dt")) run.dt = r.positive("dt");
  if (r.has("duration")) run.duration = r.positive("duration");
  run.integrator = r.text_or("integrator", run.integrator);
  run.erp_joint = r.number("erp_joint", run.erp_joint);
  run.erp_limit = r.number("erp_limit", run.erp_limit);
  run.erp_contact = r.number("erp_contact", run.erp_contact);
  run.contact_slop = r.number("contact_slop", run.contact_slop);
  run.push_out_speed = r.number("push_out_speed", run.push_out_speed);
  if (r.has("restitution_law")) {
    run.restitution = static_cast<RestitutionLaw>(r.choice("restitution_law", {"simultaneous", "sequential"}));
  }
  r.finish();
  builder_.set_defaults(run);
}

void SceneLoader::read_materials(ObjectReader& r) {
  r.each("materials", "material", "", [this](ObjectReader m, std::size_t i) {
    Material material;
    material.name = read_name(m, "material", "steel", materials_, i);
    material.mu = m.number("mu", material.mu);
    material.restitution = m.number("restitution", material.restitution);
    material.compliance = read_compliance(m);
    m.finish();
    if (i > 0) builder_.add_material({}, 0);
    builder_.material(static_cast<int>(i)) = std::move(material);
  });
  if (materials_.empty()) materials_.emplace(data().materials[0].name, 0);
  r.each("material_pairs", "material pair", "",
         [this](ObjectReader pair, std::size_t) { read_material_pair(std::move(pair)); });
}

void SceneLoader::read_material_pair(ObjectReader r) {
  const std::vector<std::string> names = r.strings("materials", 2);
  const int index_a = resolve_material(r, "materials[0]", names[0]);
  const int index_b = resolve_material(r, "materials[1]", names[1]);
  const Material& a = builder_.material(index_a);
  const Material& b = builder_.material(index_b);
  const double mu = r.number("mu", std::sqrt(a.mu * b.mu));
  const double restitution = r.number("restitution", std::max(a.restitution, b.restitution));
  std::optional<Compliance> compliance;
  if (r.has("compliance")) compliance = read_compliance(r);
  r.finish();
  builder_.set_material_pair(index_a, index_b, mu, restitution, compliance);
}

// What is left out is that of the materials of the two shapes.
void SceneLoader::read_contact_pair(ObjectReader r) {
  const std::vector<std::string> names = r.strings("shapes", 2);
  ContactPair p;
  p.a = resolve_shape(r, "shapes[0]", names[0]);
  p.b = resolve_shape(r, "shapes[1]", names[1]);
  const int a = data().geoms[static_cast<std::size_t>(p.a)].material;
  const int b = data().geoms[static_cast<std::size_t>(p.b)].material;
  const Material& m = data().materials[static_cast<std::size_t>(a)];
  const Material& n = data().materials[static_cast<std::size_t>(b)];
  p.mu = std::sqrt(m.mu * n.mu);
  p.restitution = std::max(m.restitution, n.restitution);
  p.compliance = combine_compliances(m.compliance, n.compliance);
  for (const MaterialPair& known : data().material_pairs) {
    if (std::minmax(known.a, known.b) != std::minmax(a, b)) continue;
    p.mu = known.mu;
    p.restitution = known.restitution;
    p.compliance = known.compliance.value_or(p.compliance);
  }
  p.mu = r.number("mu", p.mu);
  p.restitution = r.number("restitution", p.restitution);
  p.compliance = read_compliance(r, p.compliance);
  if (r.has("margin")) {
    p.margin = r.number("margin");
    if (!(p.margin >= 0)) r.fail(fmt::format("{} is {}; give a length >= 0", r.full("margin"), p.margin));
  }
  r.finish();
  builder_.add_contact_pair(std::move(p));
}

void SceneLoader::read_defaults(ObjectReader r) {
  if (r.has("body")) {
    ObjectReader body = r.object("body");
    if (body.has("density")) defaults_.density = body.positive("density");
    defaults_.ccd = read_ccd(body, defaults_.ccd);
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
    read_contact_keys(shape, defaults_.shape);
    shape.finish();
  }
  r.finish();
}

void SceneLoader::read_body(ObjectReader r) {
  Body body;
  body.name = read_name(r, "body", "rod", bodies_, data().bodies.size());
  if (body.name == "world") r.fail("the name 'world' is reserved; choose another");
  if (r.has("pose")) body.X_WB0 = read_frame(r.object("pose"), angle_unit_);
  body.v0_W = r.vec3("velocity", Vec3::Zero());
  body.w0_W = r.vec3("angular_velocity", Vec3::Zero()) * angle_unit_;
  body.ccd = read_ccd(r, defaults_.ccd);
  body.gravity_scale = r.number("gravity_scale", body.gravity_scale);
  body.linear_damping = r.number("linear_damping", 0);
  body.angular_damping = r.number("angular_damping", 0);
  const int index = builder_.add_body(std::move(body));
  recentred_.emplace_back(Vec3::Zero());
  const std::size_t first_shape = data().geoms.size();
  read_shapes(r, "shapes", index);
  read_visuals(r, "visuals", index);
  read_frames(r, index);
  read_mass(r, index, data().geoms.size() > first_shape);
  r.finish();
}

// As given, or from the shapes, homogeneous solids whose common centre of mass must be the body origin unless
// "recenter" moves the origin there.
void SceneLoader::read_mass(ObjectReader& r, int body, bool has_shapes) {
  const bool recenter = r.flag("recenter", false);
  const auto label = [this](int geom, int child) {
    const std::string& shape = shape_labels_[static_cast<std::size_t>(geom)];
    const Shape& whole = builder_.geom(geom).shape;
    if (child < 0) return shape_reader_.describe(shape, whole);
    return shape_reader_.describe(fmt::format("{}, child {}", shape, child),
                                  (*whole.children)[static_cast<std::size_t>(child)].shape);
  };
  double mass = 0;
  if (r.has("mass")) {
    r.reject("density", "is given together with mass; keep one of them");
    mass = r.positive("mass");
    if (r.has("inertia")) {
      if (recenter) {
        r.fail("recenter takes the centre of mass from the shapes, but the inertia is given; remove one of them");
      }
      builder_.body(body).mass = mass;
      builder_.body(body).inertia_B = read_inertia(r);
      return;
    }
    if (!has_shapes) {
      r.fail_missing({"inertia", "shapes"},
                     "has a mass, but neither inertia nor shapes; add \"inertia\": [ixx, iyy, izz] or \"shapes\"");
    }
  } else {
    if (r.has("inertia")) {
      r.fail_missing({"mass"}, "inertia is given without mass; add mass (density computes both from the shapes)");
    }
    if (!r.has("density") && !defaults_.density) {
      r.fail_missing({"mass", "density"}, "has no mass; add mass, or density and shapes");
    }
    const double density = r.has("density") ? r.positive("density") : *defaults_.density;
    if (!has_shapes) {
      r.fail_missing({"mass", "shapes"},
                     "has a density, but no shapes to take the volume from; add shapes, or mass and inertia");
    }
    mass = density * builder_.volume_of_shapes(body, label);
  }
  const Vec3 centre_B = builder_.set_mass_of_shapes(body, mass, label);
  if (centre_B.isZero(0)) return;
  if (!recenter) {
    r.fail(fmt::format(
        "the centre of mass of its shapes is at {} of the body frame, whose origin must be the centre "
        "of mass; set \"recenter\": true, or add {} to the pose.p of every shape and {} to the pose.p of "
        "the body",
        point_text(centre_B), point_text(Vec3::Zero() - centre_B), point_text(builder_.body(body).X_WB0.q * centre_B)));
  }
  builder_.move_origin(body, centre_B);
  recentred_.back() = centre_B;
}

void SceneLoader::read_shapes(ObjectReader& r, std::string_view key, int body) {
  const bool world = body == kWorld;
  const std::string suffix = world ? "" : " of " + label_of(builder_.body(body));
  r.each(key, world ? "world shape" : "shape", suffix, [this, body](ObjectReader shape, std::size_t) {
    builder_.add_geom(read_shape(shape, body));
    shape_labels_.push_back(shape.element());
    shape.finish();
  });
}

Geom SceneLoader::read_shape(ObjectReader& r, int body) {
  Geom g = defaults_.shape;
  g.body = body;
  g.name = r.text_or("name", "");
  g.shape = shape_reader_.read(r, body == kWorld);
  if (r.has("pose")) g.X_BG = read_frame(r.object("pose"), angle_unit_);
  if (r.has("material")) g.material = resolve_material(r, "material", r.text("material", "steel"));
  read_contact_keys(r, g);
  if (r.has("rgba")) g.colour = read_colour(r);
  return g;
}

// What is seen alone: shapes without the keys of contact.
void SceneLoader::read_visuals(ObjectReader& r, std::string_view key, int body) {
  const bool world = body == kWorld;
  const std::string suffix = world ? "" : " of " + label_of(builder_.body(body));
  r.each(key, world ? "world visual" : "visual", suffix, [this, body](ObjectReader shape, std::size_t) {
    for (const std::string_view contact : {"material", "group", "collides_with", "margin"}) {
      shape.reject(contact, "belongs to shapes that collide; remove it, or move the visual to the shapes");
    }
    Visual v;
    v.body = body;
    v.name = shape.text_or("name", "");
    v.shape = shape_reader_.read(shape, body == kWorld);
    if (shape.has("pose")) v.X_BG = read_frame(shape.object("pose"), angle_unit_);
    if (shape.has("rgba")) v.colour = read_colour(shape);
    shape.finish();
    builder_.add_visual(std::move(v));
  });
}

void SceneLoader::read_frames(ObjectReader& r, int body) {
  const bool world = body == kWorld;
  const std::string suffix = world ? "" : " of " + label_of(builder_.body(body));
  r.each(world ? "world_frames" : "frames", world ? "world frame" : "frame", suffix,
         [this, body](ObjectReader frame, std::size_t) {
           const std::string name = read_name(frame, "frame", "tool", frames_, data().frames.size());
           builder_.add_frame(name, body, frame.has("pose") ? read_frame(frame.object("pose"), angle_unit_) : Pose{});
           frame.finish();
         });
}

void SceneLoader::read_contact_keys(ObjectReader& r, Geom& geom) {
  geom.group = r.bits("group", geom.group);
  geom.collides_with = r.bits("collides_with", geom.collides_with);
  if (!r.has("margin")) return;
  geom.margin = r.number("margin");
  if (!(geom.margin >= 0)) r.fail(fmt::format("{} is {}; give a length >= 0", r.full("margin"), geom.margin));
}

// Shapes are listed by owner in the file, but the model may have any order; contacts come in that order.
void SceneLoader::read_shape_order(ObjectReader& r) {
  if (!r.has("shape_order")) return;
  const std::vector<std::string> order = r.strings("shape_order", 0);
  const std::vector<std::string> known = names_of(data().geoms);
  Names position;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].empty()) r.fail("shape_order needs named shapes, but one has no name; name every shape");
    position.emplace(known[i], static_cast<int>(i));
  }
  std::vector<int> sorted;
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
    sorted.push_back(it->second);
  }
  if (sorted.size() != known.size()) {
    const auto missing = static_cast<std::size_t>(std::find(used.begin(), used.end(), false) - used.begin());
    r.fail(fmt::format("shape_order leaves out shape {}; name every shape once, or remove shape_order",
                       in_quotes(known[missing])));
  }
  builder_.reorder_geoms(sorted);
}

template <class Add>
void SceneLoader::read_body_pairs(ObjectReader& r, std::string_view key, Add add) {
  const Json& list = r.array(key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = fmt::format("{}[{}]", key, i);
    const bool two_names =
        list[i].is_array() && list[i].size() == 2 && list[i][0].is_string() && list[i][1].is_string();
    if (!two_names) r.fail(fmt::format("{} must be two body names; write it like [\"base\", \"world\"]", where));
    const int a = resolve_body(r, where, list[i][0].get<std::string>());
    add(a, resolve_body(r, where, list[i][1].get<std::string>()));
  }
}

Model SceneLoader::load(const Json& document) {
  ObjectReader r(document, "scene");
  read_header(r);
  builder_.set_name(r.text_or("name", ""), r.text_or("description", ""));
  builder_.set_gravity(r.vec3("gravity", data().gravity));
  builder_.set_self_collision(r.flag("self_collision", data().self_collision));
  if (r.has("run")) read_run(r.object("run"));
  read_materials(r);
  if (r.has("defaults")) read_defaults(r.object("defaults"));
  r.each("bodies", "body", "", [this](ObjectReader body, std::size_t) { read_body(std::move(body)); });
  read_shapes(r, "world_shapes", kWorld);
  read_visuals(r, "world_visuals", kWorld);
  read_frames(r, kWorld);
  read_shape_order(r);
  r.each("joints", "joint", "", [this](ObjectReader joint, std::size_t) { read_joint(std::move(joint)); });
  name_dofs();
  r.each("couplings", "coupling", "",
         [this](ObjectReader coupling, std::size_t) { read_coupling(std::move(coupling)); });
  r.each("combinations", "combination", "",
         [this](ObjectReader combination, std::size_t) { read_combination(std::move(combination)); });
  r.each("contact_pairs", "contact pair", "",
         [this](ObjectReader pair, std::size_t) { read_contact_pair(std::move(pair)); });
  read_body_pairs(r, "excludes", [this](int a, int b) { builder_.exclude(a, b); });
  read_body_pairs(r, "includes", [this](int a, int b) { builder_.include(a, b); });
  r.finish();
  return builder_.build();
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
  std::vector<std::string> known = names_of(data().bodies);
  known.emplace_back("world");
  r.fail(fmt::format("{} names body {}, which does not exist; {}", r.full(key), in_quotes(name),
                     suggestion(name, known, "body")));
}

int SceneLoader::resolve_shape(const ObjectReader& r, std::string_view key, const std::string& name) const {
  const std::vector<std::string> known = names_of(data().geoms);
  const auto it = name.empty() ? known.end() : std::find(known.begin(), known.end(), name);
  if (it != known.end()) return static_cast<int>(it - known.begin());
  r.fail(fmt::format("{} names shape {}, which does not exist; {}", r.full(key), in_quotes(name),
                     suggestion(name, known, "shape")));
}

int SceneLoader::resolve_material(const ObjectReader& r, std::string_view key, const std::string& name) const {
  const auto it = materials_.find(name);
  if (it != materials_.end()) return it->second;
  r.fail(fmt::format("{} names material {}, which does not exist; {}", r.full(key), in_quotes(name),
                     suggestion(name, names_of(data().materials), "material")));
}

}  // namespace sarrus::scene
