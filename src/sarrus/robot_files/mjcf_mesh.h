// Meshes of MJCF: their files, what MuJoCo's ways to weigh a surface make of them, and primitives fitted to them.
//
// Ways to weigh (docs/robots.md, "Masses"), with the pyramids over the faces from an apex, c their centroids, v their
// signed volumes: legacy takes |v|, exact v, convex v over the hull, shell the areas of the faces.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/model/shape.h"
#include "sarrus/robot_files/mesh_shapes.h"
#include "sarrus/robot_files/mjcf_tree.h"
#include "sarrus/scene_files/mesh_file.h"

namespace sarrus::robot::mjcf {

enum class MeshMass : std::uint8_t { convex, exact, legacy, shell };

// Of density one, in the frame of the file: volume, or area of a shell.
struct MeshProperties {
  double volume = 0;
  Vec3 centre = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();  // about the centre
};

struct MeshAsset {
  xml::Node node;
  int context = 0;
  MeshMass way = MeshMass::legacy;
  bool missing = false;  // the file is not there: `tried` tells where it was looked for
  std::string tried;
  MeshFile surface;
  std::filesystem::path file;  // whose points times scale the surface is; none of others
  Vec3 scale = Vec3::Ones();
  bool loaded = false;
  std::shared_ptr<const ConvexHull> hull;
  std::shared_ptr<const TriangleMesh> triangles;
  std::unique_ptr<MeshProperties> properties[4];
};

class Meshes {
 public:
  Meshes(const std::vector<Context>& contexts, const Folders& folders);

  // Of a context, by name; throws InputError for an unknown one. Loads the file at first use.
  MeshAsset& require(int context, const std::string& name, const xml::Node& at);
  // False, with the places that were looked at, if the file is not there.
  bool available(MeshAsset& mesh, std::string& tried);
  std::shared_ptr<const ConvexHull> hull(MeshAsset& mesh, const xml::Node& at);
  std::shared_ptr<const TriangleMesh> triangles(MeshAsset& mesh, const xml::Node& at);
  const MeshProperties& properties(MeshAsset& mesh, MeshMass way, const xml::Node& at);
  // The files of the hulls and triangles that were made.
  MeshSources take_sources() { return std::move(sources_); }

 private:
  void load(MeshAsset& mesh);
  void read_inline(MeshAsset& mesh, const Attributes& a);

  const std::vector<Context>& contexts_;
  const Folders& folders_;
  std::map<std::pair<int, std::string>, MeshAsset> meshes_;
  MeshSources sources_;
  MeshBudget budget_;
};

// A primitive of the given kind fitted to a mesh, and its pose in the frame of the file.
Shape fitted_shape(ShapeKind kind, const MeshAsset& mesh, const MeshProperties& properties, bool to_box, double scale,
                   Pose& X_MS);

// Heights of a PNG image in [0, 255], row by row from the top.
std::vector<double> read_png_heights(const Context& context, const Folders& folders, const xml::Node& asset, int& rows,
                                     int& columns);

// Throws InputError unless there is a <hfield> with this name.
Shape height_field(const std::vector<Context>& contexts, int context, const std::string& name, const Folders& folders,
                   const xml::Node& at, Vec3& mass_box);

}  // namespace sarrus::robot::mjcf
