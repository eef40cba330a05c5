#include "sarrus/io/recording_geoms.h"

#include <cstdint>
#include <unordered_map>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"

namespace sarrus {
namespace {

using hdf5::File;
using hdf5::Table;
using hdf5::Wxyz;

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
    kinds.emplace_back(name(shape.kind));
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

}  // namespace

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

}  // namespace sarrus
