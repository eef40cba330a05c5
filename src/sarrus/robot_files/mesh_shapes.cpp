#include "sarrus/robot_files/mesh_shapes.h"

#include <fmt/format.h>

#include "sarrus/math/error.h"

namespace sarrus::robot {

Shape MeshShapes::shape(const std::filesystem::path& file, const Vec3& scale, MeshUse use, const xml::Node& at) {
  if (!(scale.cwiseAbs().minCoeff() > 0)) xml::fail(at, "its scale has a zero; give factors that are not 0");
  const Key key{file.string(), {scale.x(), scale.y(), scale.z()}};
  const auto [it, is_new] = meshes_.try_emplace(key);
  Mesh& mesh = it->second;
  try {
    if (is_new) {
      if (meshes_.size() > kMostFiles)
        xml::fail(at, fmt::format("is one of more than {} meshes; join some of them", kMostFiles));
      mesh.surface = load_mesh_file(file, {scale, false});
    }
    if (use == MeshUse::hull) {
      if (!mesh.hull) mesh.hull = ConvexHull::build(mesh.surface.vertices, file.filename().string());
      return Shape::convex(mesh.hull);
    }
    if (!mesh.triangles)
      mesh.triangles = TriangleMesh::build(mesh.surface.vertices, mesh.surface.triangles, file.filename().string());
    return Shape::triangles(mesh.triangles);
  } catch (const InputError& error) {
    meshes_.erase(key);
    throw InputError(at.place.text(), fmt::format("{}: {}", xml::describe(at), error.what()));
  }
}

}  // namespace sarrus::robot
