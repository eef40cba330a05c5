// The native scene format: JSON, documented in docs/scene-format.md, schema in docs/scene.schema.json.
// Saving and loading is lossless: save(load(save(m))) == save(m) byte for byte and every double keeps its bits.
#pragma once

#include <filesystem>
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

std::string scene_to_json(const Model& model);
// Hulls, meshes and height fields are written with their points, so that the file needs no others.
// Writes to a temporary file beside the target and renames it, so that nothing is half-written.
void save_scene(const Model& model, const std::filesystem::path& file);

}  // namespace sarrus
