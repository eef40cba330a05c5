#include "sarrus/io/mesh_file.h"

#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <fmt/format.h>

#include <algorithm>
#include <assimp/Importer.hpp>
#include <bit>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/io/mesh_collada.h"
#include "sarrus/io/mesh_text.h"
#include "sarrus/io/scene_reader.h"
#include "sarrus/math/error.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

enum class Format { stl, obj, dae };

Format format_of(const fs::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".stl") return Format::stl;
  if (extension == ".obj") return Format::obj;
  if (extension == ".dae") return Format::dae;
  throw InputError("", fmt::format("the extension '{}' is not that of a mesh file; give an .stl, .obj or .dae file",
                                   scene::printable(extension)));
}

// The size is looked at before anything is opened: a huge file costs nothing.
std::string read_bytes(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) throw InputError("", "the file does not exist; check the path");
  if (fs::is_directory(status)) throw InputError("", "is a directory; give the path of a mesh file");
  if (!fs::is_regular_file(status)) throw InputError("", "is not a regular file; give the path of a mesh file");
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > kMaxMeshFileBytes) {
    throw InputError("", fmt::format("has {} MB, more than the limit of {} MB; simplify the mesh", size >> 20,
                                     kMaxMeshFileBytes >> 20));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(error ? 0 : static_cast<std::size_t>(size), '\0');
  if (error || !stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    throw InputError("", "cannot read the file; check its permissions");
  }
  if (bytes.empty()) throw InputError("", "is empty; export it again");
  return bytes;
}

std::string reduced(std::string bytes, Format format) {
  switch (format) {
    case Format::stl:
      return mesh_text::reduced_stl(std::move(bytes));
    case Format::obj:
      return mesh_text::reduced_obj(bytes);
    case Format::dae:
      break;
  }
  return reduced_collada(bytes);
}

Eigen::Affine3d to_eigen(const aiMatrix4x4& m) {
  Eigen::Affine3d X;
  X.matrix() << m.a1, m.a2, m.a3, m.a4, m.b1, m.b2, m.b3, m.b4, m.c1, m.c2, m.c3, m.c4, 0, 0, 0, 1;
  return X;
}

void reverse(std::array<int, 3>& triangle) { std::swap(triangle[1], triangle[2]); }

// Appends a mesh of the scene; faces with other than three corners are points and lines.
void add_mesh(const aiMesh& mesh, const Eigen::Affine3d& X, MeshFile& out) {
  const auto first = static_cast<int>(out.vertices.size());
  const bool mirrored = X.linear().determinant() < 0;
  for (unsigned i = 0; i < mesh.mNumVertices; ++i) {
    const aiVector3D& v = mesh.mVertices[i];
    out.vertices.push_back(X * Vec3(v.x, v.y, v.z));
  }
  for (unsigned i = 0; i < mesh.mNumFaces; ++i) {
    const aiFace& face = mesh.mFaces[i];
    if (face.mNumIndices != 3) continue;
    std::array<int, 3> triangle{};
    for (unsigned k = 0; k < 3; ++k) triangle[k] = first + static_cast<int>(face.mIndices[k]);
    if (mirrored) reverse(triangle);
    out.triangles.push_back(triangle);
  }
}

void add_node(const aiScene& scene, const aiNode& node, const Eigen::Affine3d& X_parent, MeshFile& out) {
  const Eigen::Affine3d X = X_parent * to_eigen(node.mTransformation);
  for (unsigned i = 0; i < node.mNumMeshes; ++i) add_mesh(*scene.mMeshes[node.mMeshes[i]], X, out);
  for (unsigned i = 0; i < node.mNumChildren; ++i) add_node(scene, *node.mChildren[i], X, out);
}

// Importing from memory opens no further files: what could name some has been left out.
MeshFile import(const std::string& bytes, Format format) {
  constexpr const char* hints[] = {"stl", "obj", "dae"};
  Assimp::Importer importer;
  importer.SetPropertyInteger(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
  importer.SetPropertyInteger(AI_CONFIG_IMPORT_NO_SKELETON_MESHES, 1);
  const aiScene* scene = nullptr;
  std::string reason;
  try {
    scene = importer.ReadFileFromMemory(bytes.data(), bytes.size(), aiProcess_Triangulate,
                                        hints[static_cast<std::size_t>(format)]);
    if (scene == nullptr) reason = importer.GetErrorString();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  MeshFile out;
  if (scene != nullptr && scene->mRootNode != nullptr) {
    add_node(*scene, *scene->mRootNode, Eigen::Affine3d::Identity(), out);
  } else {
    throw InputError("", fmt::format("cannot be imported, assimp says {}; export it again", scene::in_quotes(reason)));
  }
  return out;
}

std::uint64_t hash_of(const Vec3& v) {
  std::uint64_t h = 0;
  for (const double x : v) {
    h = (h ^ std::bit_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15ULL;
    h ^= h >> 29;
  }
  return h;
}

// assimp gives every corner of every triangle a vertex of its own: joins those that are equal, in order of first use.
void join_equal_vertices(MeshFile& mesh) {
  const std::size_t mask = std::bit_ceil(2 * mesh.vertices.size() + 1) - 1;
  std::vector<int> slots(mask + 1, -1);
  std::vector<int> joined(mesh.vertices.size());
  int count = 0;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vec3 v = mesh.vertices[i];
    std::size_t slot = hash_of(v) & mask;
    while (slots[slot] >= 0 && mesh.vertices[static_cast<std::size_t>(slots[slot])] != v) slot = (slot + 1) & mask;
    if (slots[slot] < 0) {
      slots[slot] = count;
      mesh.vertices[static_cast<std::size_t>(count++)] = v;
    }
    joined[i] = slots[slot];
  }
  mesh.vertices.resize(static_cast<std::size_t>(count));
  for (auto& triangle : mesh.triangles) {
    for (int& v : triangle) v = joined[static_cast<std::size_t>(v)];
  }
}

void apply(const MeshFileOptions& options, MeshFile& mesh) {
  // Adding 0 leaves no negative zeros, which are equal to zeros but have other bits.
  for (Vec3& v : mesh.vertices) v = v.cwiseProduct(options.scale) + Vec3::Zero();
  if ((options.scale.prod() < 0) != options.flip) std::for_each(mesh.triangles.begin(), mesh.triangles.end(), reverse);
}

MeshFile load(const fs::path& file, const MeshFileOptions& options) {
  if (!options.scale.allFinite() || (options.scale.array() == 0).any()) {
    throw InputError("", fmt::format("scale is [{}, {}, {}]; give finite factors other than 0", options.scale.x(),
                                     options.scale.y(), options.scale.z()));
  }
  const Format format = format_of(file);
  const std::string text = reduced(read_bytes(file), format);
  MeshFile mesh = text.empty() ? MeshFile() : import(text, format);
  if (mesh.triangles.empty()) throw InputError("", "has no triangles; export the surface of a solid");
  apply(options, mesh);
  if (!std::all_of(mesh.vertices.begin(), mesh.vertices.end(), [](const Vec3& v) { return v.allFinite(); })) {
    throw InputError("", "a coordinate is not finite; export it again, or correct the scale");
  }
  join_equal_vertices(mesh);
  return mesh;
}

}  // namespace

MeshFile load_mesh_file(const fs::path& file, const MeshFileOptions& options) {
  try {
    return load(file, options);
  } catch (const InputError& error) {
    throw InputError(file.string(), error.what());
  }
}

}  // namespace sarrus
