#include "sarrus/recording/scene_parts.h"

#include <unordered_map>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"

namespace sarrus {
namespace {

class Collector {
 public:
  void add(int body, int geom, const Shape& shape, const Pose& X_B, const std::optional<Colour>& colour) {
    if (shape.kind == ShapeKind::compound) {
      for (const CompoundChild& child : *shape.children) add(body, geom, child.shape, X_B * child.X_SC, colour);
      return;
    }
    ScenePart part{.body = body, .geom = geom, .kind = shape.kind, .size = shape.size, .X_B = X_B, .colour = colour};
    if (shape.kind == ShapeKind::hull) part.mesh = mesh(*shape.hull);
    if (shape.kind == ShapeKind::mesh) part.mesh = mesh(*shape.mesh);
    if (shape.kind == ShapeKind::height_field) part.height_field = field(*shape.height_field);
    out.parts.push_back(part);
  }

  SceneParts out;

 private:
  // Index of a surface; what several shapes share is stored once.
  template <class Surface>
  int mesh(const Surface& surface) {
    const auto [it, is_new] = index_.try_emplace(&surface, static_cast<int>(out.meshes.size()));
    if (is_new) {
      const auto& triangles = surface.triangles();
      out.meshes.push_back({{surface.vertices().begin(), surface.vertices().end()}, {}});
      for (const auto& t : triangles) out.meshes.back().triangles.push_back({t[0], t[1], t[2]});
    }
    return it->second;
  }
  int field(const HeightField& field) {
    const auto [it, is_new] = index_.try_emplace(&field, static_cast<int>(out.height_fields.size()));
    if (is_new) {
      out.height_fields.push_back(
          {field.columns(), field.rows(), field.dx(), field.dy(), {field.heights().begin(), field.heights().end()}});
    }
    return it->second;
  }

  std::unordered_map<const void*, int> index_;
};

}  // namespace

SceneParts scene_parts(const Model& model) {
  Collector collector;
  for (std::size_t g = 0; g < model.geoms().size(); ++g) {
    const Geom& geom = model.geoms()[g];
    collector.add(geom.body, static_cast<int>(g), geom.shape, geom.X_BG, geom.colour);
  }
  for (const Visual& v : model.visuals()) collector.add(v.body, -1, v.shape, v.X_BG, v.colour);
  return std::move(collector.out);
}

}  // namespace sarrus
