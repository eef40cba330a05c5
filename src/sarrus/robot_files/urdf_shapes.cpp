// Shapes of URDF: <collision> and <visual>, their meshes and materials.
#include <fmt/format.h>

#include <algorithm>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/urdf_reader.h"

namespace sarrus::robot {

void UrdfReader::read_materials() {
  const auto read_one = [&](const xml::Node& material) {
    const xml::Node* colour = material.child("color");
    if (colour == nullptr) return;
    const auto rgba = numbers_of(*colour, "rgba", 4);
    if (!rgba) xml::fail(*colour, "has no attribute 'rgba'; give four numbers");
    std::array<double, 4> c{};
    for (std::size_t i = 0; i < 4; ++i) c[i] = std::clamp((*rgba)[i], 0.0, 1.0);
    colours_[material.get("name")] = c;
  };
  root_.each("material", read_one);
  root_.each("link", [&](const xml::Node& link) {
    link.each("visual", [&](const xml::Node& visual) { visual.each("material", read_one); });
  });
  root_.each("gazebo", [&](const xml::Node& gazebo) {
    const std::string reference = gazebo.get("reference");
    const xml::Node* mu = gazebo.child("mu1");
    if (reference.empty() || mu == nullptr) return;
    double value = 0;
    const std::string text = mu->has("value") ? mu->get("value") : mu->text;
    if (!xml::parse_number(text, value) || value < 0)
      xml::fail(*mu, "is no coefficient of friction; give a number from 0 on");
    link_mu_[reference] = value;
  });
}

int UrdfReader::material_of(const xml::Node& element, int link) {
  double mu = -1;
  if (const xml::Node* properties = element.child("drake:proximity_properties")) {
    for (const char* tag : {"drake:mu_static", "drake:mu_dynamic"}) {
      if (const xml::Node* m = properties->child(tag)) mu = require_number(*m, "value");
    }
    if (mu < 0 && (properties->child("drake:mu_static") != nullptr || properties->child("drake:mu_dynamic") != nullptr))
      xml::fail(*properties, "has a negative coefficient of friction; give one from 0 on");
  }
  const std::string name = link == kWorld ? "world" : g_.links[at(link)].name;
  if (mu < 0 && link_mu_.contains(name)) mu = link_mu_.at(name);
  if (mu < 0) return 0;
  const auto [it, is_new] = material_of_mu_.try_emplace(mu, static_cast<int>(g_.materials.size()));
  if (is_new) g_.materials.push_back({fmt::format("mu_{:g}", mu), mu, 0, {}});
  return it->second;
}

bool UrdfReader::read_mesh(const xml::Node& mesh, bool world, bool collides, LinkShape& shape) {
  std::string address = require_text(mesh, "filename");
  std::vector<std::filesystem::path> bases = {folders_.folder()};
  if (!mesh_folder_.empty()) {
    bases.insert(bases.begin(), folders_.folder() / mesh_folder_);
    if (strip_path_) address = std::filesystem::path(address).filename().string();
  }
  std::filesystem::path file;
  std::string tried;
  bool found = false;
  try {
    found = folders_.find(address, bases, file, tried);
  } catch (const InputError& error) {
    if (collides) throw InputError(mesh.place.text(), error.what());
    tried = error.what();
  }
  if (!found) {
    if (collides) {
      xml::fail(mesh, fmt::format("file {} is not there (tried: {}); correct the path, or name its package with "
                                  "--package FOLDER",
                                  in_quotes(address), printable(tried, 500)));
    }
    findings_.note("missing-visual", mesh, fmt::format("file {} is not there; it is not drawn", in_quotes(address)));
    return false;
  }
  const bool exact = world || !collides || findings_.options().mesh == ImportMesh::exact;
  const Vec3 scale = vector_or(mesh, "scale", Vec3::Ones());
  try {
    shape.shape = meshes_.shape(file, scale, exact ? MeshUse::triangles : MeshUse::hull, mesh);
  } catch (const InputError& error) {
    if (collides) throw;
    findings_.note("bad-visual", mesh, fmt::format("cannot be drawn: {}", error.what()));
    return false;
  }
  return true;
}

bool UrdfReader::read_geometry(const xml::Node& element, const xml::Node& geometry, bool world, bool collides,
                               LinkShape& shape) {
  const auto positive = [](const xml::Node& node, const char* attribute) {
    const double x = require_number(node, attribute);
    if (!(x > 0)) xml::fail(node, fmt::format("{} is not positive; give a size in metres", attribute));
    return x;
  };
  for (const xml::Node& child : geometry.children) {
    if (child.name == "sphere") {
      shape.shape = Shape::sphere(positive(child, "radius"));
    } else if (child.name == "box") {
      const auto size = numbers_of(child, "size", 3);
      if (!size) xml::fail(child, "has no attribute 'size'; give three lengths");
      const Vec3 half = 0.5 * Vec3((*size)[0], (*size)[1], (*size)[2]);
      if (!(half.minCoeff() > 0)) xml::fail(child, "a size is not positive; give lengths in metres");
      shape.shape = Shape::box(half);
    } else if (child.name == "cylinder") {
      shape.shape = Shape::cylinder(positive(child, "radius"), 0.5 * positive(child, "length"));
    } else if (child.name == "capsule" || child.name == "drake:capsule") {
      shape.shape = Shape::capsule(positive(child, "radius"), 0.5 * positive(child, "length"));
    } else if (child.name == "drake:ellipsoid") {
      shape.shape = Shape::ellipsoid({positive(child, "a"), positive(child, "b"), positive(child, "c")});
    } else if (child.name == "mesh") {
      return read_mesh(child, world, collides, shape);
    } else {
      continue;
    }
    return true;
  }
  xml::fail(element, "has no shape that is known; use box, cylinder, capsule, sphere or mesh");
}

void UrdfReader::add_shape(const xml::Node& element, int link, bool collides) {
  const xml::Node* geometry = element.child("geometry");
  if (geometry == nullptr) xml::fail(element, "has no <geometry>; give one");
  LinkShape shape;
  shape.name = element.get("name");
  shape.place = element.place;
  shape.X_LS = origin_of(element.child("origin"));
  shape.collides = collides;
  shape.visible = !collides;
  if (!read_geometry(element, *geometry, is_world(link), collides, shape)) return;
  if (collides) {
    shape.material = material_of(element, link);
  } else if (const xml::Node* material = element.child("material")) {
    const auto colour = colours_.find(material->get("name"));
    if (colour != colours_.end()) shape.rgba = colour->second;
  }
  (link == kWorld ? g_.world_shapes : g_.links[at(link)].shapes).push_back(std::move(shape));
}

void UrdfReader::read_shapes() {
  read_materials();
  root_.each("link", [&](const xml::Node& node) {
    const int link = links_.at(node.get("name"));
    node.each("collision", [&](const xml::Node& c) { add_shape(c, link, true); });
    if (findings_.options().visuals) node.each("visual", [&](const xml::Node& v) { add_shape(v, link, false); });
  });
}

}  // namespace sarrus::robot
