// Check of Collada files before assimp reads them. Internal to mesh_file.
#pragma once

#include <string>
#include <string_view>

namespace sarrus {

// A Collada file with only the triangles, polygons, nodes and unit of the given one: positions as one plain array per
// mesh, all primitives as lists of polygons with checked indices, instanced nodes copied to where they are used.
// Empty if the scene of the file has no triangle. Throws InputError without the file's name: "line 12: problem;
// remedy".
std::string reduced_collada(std::string_view text);

}  // namespace sarrus
