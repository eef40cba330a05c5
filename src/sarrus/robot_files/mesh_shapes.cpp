#include "sarrus/robot_files/mesh_shapes.h"

#include <fmt/format.h>

#include "sarrus/math/error.h"

namespace sarrus::robot {

void MeshBudget::add(const MeshFile& surface, const xml::Node& at) {
  triangles_ += surface.triangles.size() + surface.vertices.size() / 2;
  if (triangles_ <= kMostTriangles) return;
  xml::fail(at, fmt::format("is one mesh too many: together they have more than {} triangles; simplify or remove some",
                            kMostTriangles));
}

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
      budget_.add(mesh.surface, at);
    }
    if (use == MeshUse::hull) {
      if (!mesh.hull) mesh.hull = ConvexHull::build(mesh.surface.vertices, file.filename().string());
      sources_[mesh.hull.get()] = {file, scale};
      return Shape::convex(mesh.hull);
    }
    if (!mesh.triangles)
      mesh.triangles = TriangleMesh::build(mesh.surface.vertices, mesh.surface.triangles, file.filename().string());
    sources_[mesh.triangles.get()] = {file, scale};
    return Shape::triangles(mesh.triangles);
  } catch (const InputError& error) {
    meshes_.erase(key);
    throw InputError(at.place.text(), fmt::format("{}: {}", xml::describe(at), error.what()));
  }
}

}  // namespace sarrus::robot
