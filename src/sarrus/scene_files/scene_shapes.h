// The shapes of a scene: sizes, points and triangles given in the scene or in mesh files (docs/scene-format.md,
// "Shapes").
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/model/shape.h"
#include "sarrus/scene_files/mesh_file.h"
#include "sarrus/scene_files/scene_values.h"

namespace sarrus::scene {

// One per scene: shapes that use the same file in the same way share its data, which is read and built once.
class ShapeReader {
 public:
  // Relative paths of mesh files start in this folder.
  explicit ShapeReader(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void set_angle_unit(double rad) { angle_unit_ = rad; }

  // Type and geometry of a shape; the other keys are left to the caller. Planes and height fields are for the world.
  Shape read(ObjectReader& r, bool on_world);

  // For messages about the shape's data: its label, and the file if there is one.
  std::string describe(const std::string& label, const Shape& shape) const;

 private:
  // One way to use one file.
  struct FileData {
    std::string path;
    MeshFile file;
    std::shared_ptr<const TriangleMesh> mesh;
    std::shared_ptr<const ConvexHull> hull;
  };

  Shape read_kind(ObjectReader& r, ShapeKind kind);
  Shape read_hull(ObjectReader& r);
  Shape read_mesh(ObjectReader& r);
  static Shape read_height_field(ObjectReader& r);
  Shape read_compound(ObjectReader& r);
  // The shape named by "same_as", or null.
  const Shape* read_reference(ObjectReader& r, ShapeKind kind) const;
  FileData& read_file(ObjectReader& r, bool may_flip);

  std::filesystem::path folder_;
  double angle_unit_ = 1;
  std::map<std::string, FileData> files_;                 // by path and options
  std::unordered_map<const void*, std::string> file_of_;  // by hull or mesh
  std::unordered_map<std::string, Shape> named_;          // hulls, meshes and height fields that have been read
};

}  // namespace sarrus::scene
