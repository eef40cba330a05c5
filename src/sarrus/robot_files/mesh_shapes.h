// Meshes that a robot's file names, as shapes: each file is read once for each scale.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "sarrus/files/xml.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/model/shape.h"
#include "sarrus/scene_files/mesh_file.h"
#include "sarrus/scene_files/scene_file.h"

namespace sarrus::robot {

enum class MeshUse : std::uint8_t { hull, triangles };

// What the meshes of a model may hold together: a small file may name a large one a thousand times.
class MeshBudget {
 public:
  void add(const MeshFile& surface, const xml::Node& at);

  static constexpr std::size_t kMostTriangles = 10'000'000;

 private:
  std::size_t triangles_ = 0;
};

class MeshShapes {
 public:
  // Throws InputError "place: element: problem; remedy". More than kMostFiles files are refused.
  Shape shape(const std::filesystem::path& file, const Vec3& scale, MeshUse use, const xml::Node& at);

  // The files of the shapes that were made.
  MeshSources take_sources() { return std::move(sources_); }

  static constexpr std::size_t kMostFiles = 100'000;

 private:
  using Key = std::pair<std::string, std::array<double, 3>>;
  struct Mesh {
    MeshFile surface;
    std::shared_ptr<const ConvexHull> hull;
    std::shared_ptr<const TriangleMesh> triangles;
  };
  std::map<Key, Mesh> meshes_;
  MeshSources sources_;
  MeshBudget budget_;
};

}  // namespace sarrus::robot
