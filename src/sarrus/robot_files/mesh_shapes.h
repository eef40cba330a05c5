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

namespace sarrus::robot {

enum class MeshUse : std::uint8_t { hull, triangles };

class MeshShapes {
 public:
  // Throws InputError "place: element: problem; remedy". More than kMostFiles files are refused.
  Shape shape(const std::filesystem::path& file, const Vec3& scale, MeshUse use, const xml::Node& at);

  static constexpr std::size_t kMostFiles = 100'000;

 private:
  using Key = std::pair<std::string, std::array<double, 3>>;
  struct Mesh {
    MeshFile surface;
    std::shared_ptr<const ConvexHull> hull;
    std::shared_ptr<const TriangleMesh> triangles;
  };
  std::map<Key, Mesh> meshes_;
};

}  // namespace sarrus::robot
