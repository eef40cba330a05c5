// Checks of STL and OBJ files before assimp reads them. Internal to mesh_file.
//
// Each function returns what assimp shall read instead of the file, empty if there is no triangle, and throws
// InputError without the file's name: "line 12: problem; remedy".
#pragma once

#include <string>
#include <string_view>

namespace sarrus::mesh_text {

// A binary STL file with finite coordinates and without normals, from a binary one that has the size which its
// triangle count asks for, or from text of the grammar
//   { solid [name] { facet normal x y z  outer loop  vertex x y z  (three of them)  endloop  endfacet } endsolid [name]
//   }
std::string reduced_stl(std::string bytes);

// Only vertices and faces, "v x y z" and "f i j k ...", with all indices of vertices checked and made absolute.
std::string reduced_obj(std::string_view text);

// A number of a text file that is finite in single precision; false if the word is none.
bool parse_number(std::string_view word, double& value);

}  // namespace sarrus::mesh_text
