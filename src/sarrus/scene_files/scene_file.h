// The native scene format: JSON, documented in docs/scene-format.md, schema in docs/scene.schema.json.
// Saving and loading is lossless: save(load(save(m))) == save(m) byte for byte and every double keeps its bits.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus {

// Throws InputError "file: element: problem; remedy".
Model load_scene(const std::filesystem::path& file);
// Relative paths of mesh files start in `folder`, empty for the current one; load_scene takes that of the scene.
Model parse_scene(std::string_view json_text, const std::string& source_name, const std::filesystem::path& folder = {});

// Angles of orientations in a scene file that look like the other unit than its angle_unit, a message each: the model
// keeps quaternions, so that analyse() cannot tell. Empty for text that is no scene.
std::vector<std::string> suspicious_orientations(std::string_view json_text);

// A mesh file whose points, times the factors, are those of a hull or mesh; by the address of its data
// (Shape::hull.get(), Shape::mesh.get()).
struct MeshSource {
  std::filesystem::path file;
  Vec3 scale = Vec3::Ones();
};
using MeshSources = std::map<const void*, MeshSource>;

// Hulls, meshes and height fields are written with their points, so that the file needs no others, but for those that
// have a source, which is named as it stands there.
std::string scene_to_json(const Model& model, const MeshSources& sources = {});
// Writes to a temporary file beside the target and renames it, so that nothing is half-written.
void save_scene(const Model& model, const std::filesystem::path& file);

}  // namespace sarrus
