// The part of finish_model that checks shapes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/model/checks.h"

namespace sarrus {
namespace {

// Sizes of the kinds that have some: their names, and how many of Shape::size they use.
struct SizeNames {
  int used;
  std::string_view name[3];
};

SizeNames size_names(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::sphere:
      return {1, {"radius", "", ""}};
    case ShapeKind::capsule:
    case ShapeKind::cylinder:
      return {2, {"radius", "half length", ""}};
    case ShapeKind::box:
      return {3, {"half extent", "half extent", "half extent"}};
    case ShapeKind::ellipsoid:
      return {3, {"semi-axis", "semi-axis", "semi-axis"}};
    default:
      return {0, {}};
  }
}

void check_sizes(const std::string& element, Shape& shape) {
  require_finite(element, "size", shape.size);
  const SizeNames names = size_names(shape.kind);
  for (int k = 0; k < names.used; ++k) {
    if (!(shape.size[k] > 0)) {
      throw InputError(element, fmt::format("{} is {} m; give a size > 0", names.name[k], shape.size[k]));
    }
    if (shape.size[k] > kMaxShapeSize) {
      throw InputError(element, fmt::format("{} is {} m; sizes above {:g} m lose the precision that contact needs, so "
                                            "scale the model",
                                            names.name[k], shape.size[k], kMaxShapeSize));
    }
  }
  // Numbers without a meaning are zeroed, so that a saved and reloaded model is the same to the bit.
  for (int k = names.used; k < 3; ++k) shape.size[k] = 0;
}

void check_shape(const std::string& element, int body, Shape& shape);

void check_children(const std::string& element, int body, Shape& shape) {
  if (shape.children == nullptr || shape.children->empty()) {
    throw InputError(element, "a compound needs at least one child; add children, or remove the shape");
  }
  std::vector<CompoundChild> checked = *shape.children;
  if (checked.size() > kMaxCompoundChildren) {
    throw InputError(element, fmt::format("has {} children, but at most {} are allowed; split it into several shapes",
                                          checked.size(), kMaxCompoundChildren));
  }
  for (std::size_t i = 0; i < checked.size(); ++i) {
    const std::string child = fmt::format("{}, child {}", element, i);
    const ShapeKind kind = checked[i].shape.kind;
    if (kind == ShapeKind::plane || kind == ShapeKind::height_field || kind == ShapeKind::compound) {
      throw InputError(child,
                       fmt::format("a {} cannot be part of a compound; make it a shape of its own", name_of(kind)));
    }
    normalise(child, "pose", checked[i].X_SC);
    check_shape(child, body, checked[i].shape);
  }
  shape.children = std::make_shared<const std::vector<CompoundChild>>(std::move(checked));
}

void check_shape(const std::string& element, int body, Shape& shape) {
  check_sizes(element, shape);
  const auto world_only = [&] {
    if (body != kWorld) {
      throw InputError(element,
                       fmt::format("a {} can only belong to the world; use a box on a body", name_of(shape.kind)));
    }
  };
  const auto need = [&](bool there, std::string_view maker) {
    if (!there)
      throw InputError(element, fmt::format("a {} without data; make it with {}", name_of(shape.kind), maker));
  };
  switch (shape.kind) {
    case ShapeKind::plane:
      return world_only();
    case ShapeKind::hull:
      return need(shape.hull != nullptr, "Shape::convex");
    case ShapeKind::mesh:
      return need(shape.mesh != nullptr, "Shape::triangles");
    case ShapeKind::height_field:
      world_only();
      return need(shape.height_field != nullptr, "Shape::terrain");
    case ShapeKind::compound:
      return check_children(element, body, shape);
    default:
      return;
  }
}

void check_margin(const std::string& element, double margin) {
  if (margin == kUseDefault) return;
  require_non_negative(element, "margin", margin);
}

void check_colour(const std::string& element, const Colour& c) {
  for (const double x : {c.red, c.green, c.blue, c.alpha}) {
    if (x >= 0 && x <= 1) continue;
    throw InputError(element, fmt::format("colour has a component {}; give four numbers from 0 to 1", x));
  }
}

// Names are unique among visuals and geoms together: in a file both may refer to the points of each other.
void check_visuals(ModelData& d) {
  if (d.visuals.empty()) return;
  std::set<std::string> names;
  for (const Geom& g : d.geoms) names.insert(g.name);
  for (std::size_t i = 0; i < d.visuals.size(); ++i) {
    Visual& v = d.visuals[i];
    if (v.name.empty()) v.name = fmt::format("visual{}", i);
    const std::string element = label("visual", v.name, i);
    if (!names.insert(v.name).second) {
      throw InputError(element, "another visual or shape has the same name; rename one of them");
    }
    require_body(element, "body", v.body, d.bodies.size());
    normalise(element, "pose", v.X_BG);
    check_colour(element, v.colour);
    check_shape(element, v.body, v.shape);
  }
}

}  // namespace

void check_shapes(ModelData& d) {
  for (std::size_t i = 0; i < d.geoms.size(); ++i) {
    Geom& g = d.geoms[i];
    if (g.name.empty()) g.name = fmt::format("geom{}", i);
  }
  require_unique_names("shape", d.geoms);
  for (std::size_t i = 0; i < d.geoms.size(); ++i) {
    Geom& g = d.geoms[i];
    const std::string element = label("shape", g.name, i);
    require_body(element, "body", g.body, d.bodies.size());
    if (g.material < 0 || g.material >= static_cast<int>(d.materials.size())) {
      throw InputError(
          element, fmt::format("refers to material {}, but the model has {}; use the index that add_material returned",
                               g.material, d.materials.size()));
    }
    normalise(element, "pose", g.X_BG);
    check_margin(element, g.margin);
    check_shape(element, g.body, g.shape);
    if (g.colour) check_colour(element, *g.colour);
  }
  check_visuals(d);
}

}  // namespace sarrus
