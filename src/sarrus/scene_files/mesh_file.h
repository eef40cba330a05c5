// Triangles from mesh files: STL (text and binary), OBJ and Collada (DAE).
//
// A file is taken as it stands: its axes are the axes of the shape (the up axis that a DAE file states is ignored) and
// its numbers are metres, except that a DAE file states its unit, which is applied. All meshes of the file are joined
// with the transforms of their nodes applied, polygons are cut into triangles, and points, lines, normals, colours,
// materials and animations are left out. A damaged file gives a message and neither a crash nor a silently wrong shape,
// and a hostile one no more work than the limits below allow.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "sarrus/math/types.h"

namespace sarrus {

inline constexpr std::uintmax_t kMaxMeshFileBytes = std::uintmax_t{512} << 20;

struct MeshFileOptions {
  Vec3 scale = Vec3::Ones();  // factors on x, y, z of the file, not 0. A mirror image keeps its outside outside.
  bool flip = false;          // reverse all triangles, for files with the inside out

  bool operator==(const MeshFileOptions&) const = default;
};

struct MeshFile {
  std::vector<Vec3> vertices;  // m, no two of them equal
  std::vector<std::array<int, 3>> triangles;
};

// Throws InputError(file, ...), with a remedy, for anything but a file of one of these formats with at least one
// triangle, finite coordinates, at most kMaxMeshFileBytes, kMaxMeshVertices and kMaxMeshTriangles.
MeshFile load_mesh_file(const std::filesystem::path& file, const MeshFileOptions& options = {});

}  // namespace sarrus
