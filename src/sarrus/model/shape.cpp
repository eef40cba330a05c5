#include "sarrus/model/shape.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "sarrus/geometry/aabb.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/mass_properties.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/error.h"

namespace sarrus {

std::string_view name_of(ShapeKind kind) {
  constexpr std::array<std::string_view, kShapeKindCount> names = {
      "plane", "sphere", "capsule", "box", "cylinder", "ellipsoid", "hull", "mesh", "height_field", "compound"};
  return names[static_cast<std::size_t>(kind)];
}

Shape Shape::make(ShapeKind kind, const Vec3& size) {
  Shape shape;
  shape.kind = kind;
  shape.size = size;
  return shape;
}

Shape Shape::convex(std::shared_ptr<const ConvexHull> hull) {
  Shape shape = make(ShapeKind::hull, Vec3::Zero());
  shape.hull = std::move(hull);
  return shape;
}

Shape Shape::triangles(std::shared_ptr<const TriangleMesh> mesh, bool mass_from_hull) {
  Shape shape = make(ShapeKind::mesh, Vec3::Zero());
  shape.mesh = std::move(mesh);
  shape.mass_from_hull = mass_from_hull;
  return shape;
}

Shape Shape::terrain(std::shared_ptr<const HeightField> field) {
  Shape shape = make(ShapeKind::height_field, Vec3::Zero());
  shape.height_field = std::move(field);
  return shape;
}

Shape Shape::compound(std::vector<CompoundChild> children) {
  Shape shape = make(ShapeKind::compound, Vec3::Zero());
  shape.children = std::make_shared<const std::vector<CompoundChild>>(std::move(children));
  return shape;
}

namespace {

double capsule_volume(const Vec3& s) { return std::numbers::pi * s[0] * s[0] * (2 * s[1] + 4.0 / 3.0 * s[0]); }

// Principal moments of the solids with closed forms.
Vec3 primitive_moments(const Shape& shape, double mass) {
  const Vec3& s = shape.size;
  const Vec3 s2 = s.cwiseAbs2();
  switch (shape.kind) {
    case ShapeKind::sphere:
      return Vec3::Constant(0.4 * mass * s2[0]);
    case ShapeKind::capsule: {
      const double r = s[0];
      const double h = s[1];
      const double cylinder = 2 * r * r * h;  // volumes over pi
      const double ball = 4.0 / 3.0 * r * r * r;
      const double mc = mass * cylinder / (cylinder + ball);
      const double ms = mass - mc;
      const double across = mc * (r * r / 4 + h * h / 3) + ms * (0.4 * r * r + h * h + 0.75 * h * r);
      return {across, across, 0.5 * mc * r * r + 0.4 * ms * r * r};
    }
    case ShapeKind::box:
      return mass / 3 * Vec3(s2[1] + s2[2], s2[0] + s2[2], s2[0] + s2[1]);
    case ShapeKind::cylinder: {
      const double across = mass * (s2[0] / 4 + s2[1] / 3);
      return {across, across, 0.5 * mass * s2[0]};
    }
    case ShapeKind::ellipsoid:
      return mass / 5 * Vec3(s2[1] + s2[2], s2[0] + s2[2], s2[0] + s2[1]);
    default:
      return Vec3::Zero();
  }
}

double primitive_volume(const Shape& shape) {
  const Vec3& s = shape.size;
  constexpr double pi = std::numbers::pi;
  switch (shape.kind) {
    case ShapeKind::sphere:
      return 4.0 / 3.0 * pi * s[0] * s[0] * s[0];
    case ShapeKind::capsule:
      return capsule_volume(s);
    case ShapeKind::box:
      return 8 * s[0] * s[1] * s[2];
    case ShapeKind::cylinder:
      return 2 * pi * s[0] * s[0] * s[1];
    case ShapeKind::ellipsoid:
      return 4.0 / 3.0 * pi * s[0] * s[1] * s[2];
    default:
      return 0;
  }
}

MassProperties mesh_mass(const Shape& shape, const std::string& element) {
  if (!shape.mass_from_hull) return shape.mesh->mass_properties(element);
  if (shape.mesh->hull() == nullptr) {
    throw InputError(element, "its mesh is flat, so its hull has no volume; give mass and inertia");
  }
  return shape.mesh->hull()->mass_properties();
}

MassProperties compound_mass(const Shape& shape, const std::string& element) {
  MassProperties sum;
  for (const CompoundChild& child : *shape.children) {
    const MassProperties part = mass_properties(child.shape, element).in_frame(child.X_SC);
    sum = sum.volume > 0 ? combine_masses(sum, part) : part;
  }
  return sum;
}

}  // namespace

MassProperties mass_properties(const Shape& shape, const std::string& element) {
  switch (shape.kind) {
    case ShapeKind::plane:
    case ShapeKind::height_field:
      throw InputError(element, "has no volume to take a mass from; give the body's mass and inertia");
    case ShapeKind::hull:
      return shape.hull->mass_properties();
    case ShapeKind::mesh:
      return mesh_mass(shape, element);
    case ShapeKind::compound:
      return compound_mass(shape, element);
    default: {
      MassProperties m;
      m.volume = primitive_volume(shape);
      m.inertia = primitive_moments(shape, m.volume).asDiagonal();
      return m;
    }
  }
}

Mat3 solid_inertia(const Shape& shape, double mass) {
  if (shape.kind < ShapeKind::hull) return primitive_moments(shape, mass).asDiagonal();
  const MassProperties m = mass_properties(shape);
  return (mass / m.volume) * m.inertia;
}

double shape_volume(const Shape& shape) {
  if (shape.kind < ShapeKind::hull) return primitive_volume(shape);
  return shape.kind == ShapeKind::height_field ? 0 : mass_properties(shape).volume;
}

Aabb shape_box(const Shape& shape) {
  const Vec3& s = shape.size;
  const auto centred = [](const Vec3& e) { return Aabb{-e, e}; };
  switch (shape.kind) {
    case ShapeKind::plane:
      break;
    case ShapeKind::sphere:
      return centred(Vec3::Constant(s[0]));
    case ShapeKind::capsule:
      return centred({s[0], s[0], s[0] + s[1]});
    case ShapeKind::cylinder:
      return centred({s[0], s[0], s[1]});
    case ShapeKind::box:
    case ShapeKind::ellipsoid:
      return centred(s);
    case ShapeKind::hull:
      return shape.hull->box();
    case ShapeKind::mesh:
      return shape.mesh->box();
    case ShapeKind::height_field:
      return shape.height_field->box();
    case ShapeKind::compound: {
      Aabb box = Aabb::nothing();
      for (const CompoundChild& c : *shape.children) {
        box.add(transformed_box(shape_box(c.shape), c.X_SC.R(), c.X_SC.p));
      }
      return box;
    }
  }
  return centred(Vec3::Constant(std::numeric_limits<double>::infinity()));
}

}  // namespace sarrus
