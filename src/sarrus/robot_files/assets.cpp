#include "sarrus/robot_files/assets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <vector>

#include "sarrus/files/whole_file.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/error.h"
#include "sarrus/scene_files/mesh_file.h"
#include "sarrus/scene_files/scene_file.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

// Whether a scene that names the file has the data of the shape.
bool gives(const fs::path& file, const Vec3& scale, const Shape& shape) {
  try {
    const MeshFile read = load_mesh_file(file, {scale, false});
    if (shape.kind == ShapeKind::hull) {
      const auto hull = ConvexHull::build(read.vertices, file.string());
      return same_bits(hull->vertices(), shape.hull->vertices()) && same_bits(hull->edges(), shape.hull->edges()) &&
             hull->face_count() == shape.hull->face_count();
    }
    const auto mesh = TriangleMesh::build(read.vertices, read.triangles, file.string());
    return same_bits<Vec3>(mesh->vertices(), shape.mesh->vertices()) &&
           same_bits<TriangleMesh::Triangle>(mesh->triangles(), shape.mesh->triangles());
  } catch (const InputError&) {
    return false;
  }
}

// Readers number vertices as faces use them first.
bool used_in_order(const std::vector<std::array<int, 3>>& triangles) {
  int next = 0;
  for (const auto& t : triangles) {
    for (const int v : t) {
      if (v > next) return false;
      next = std::max(next, v + 1);
    }
  }
  return true;
}

std::string obj_text(const Shape& shape) {
  std::string text;
  const auto add = [&](std::span<const Vec3> vertices, const auto& triangles) {
    for (const Vec3& v : vertices) text += fmt::format("v {} {} {}\n", v.x(), v.y(), v.z());
    for (const auto& t : triangles) text += fmt::format("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1);
  };
  if (shape.kind == ShapeKind::mesh) {
    add(shape.mesh->vertices(), shape.mesh->triangles());
    return text;
  }
  // Of a hull the points count, and their order: where its faces would give another one, a strip stands for them.
  std::vector<std::array<int, 3>> faces = shape.hull->triangles();
  if (!used_in_order(faces)) {
    text = "# The points of a convex hull, in a strip that is not its surface.\n";
    faces.clear();
    for (int i = 0; i + 2 < shape.hull->vertex_count(); ++i) faces.push_back({i, i + 1, i + 2});
  }
  add(shape.hull->vertices(), faces);
  return text;
}

// Files of a folder, made here and removed again unless kept.
class AssetFolder {
 public:
  // Names of `sources` that are in the folder stay theirs.
  AssetFolder(fs::path folder, const MeshSources& sources) : folder_(std::move(folder)) {
    std::error_code error;
    for (const auto& [data, source] : sources) {
      if (fs::equivalent(fs::absolute(source.file).parent_path(), folder_, error))
        names_.insert(source.file.filename().string());
    }
    if (!fs::is_directory(folder_, error)) {
      if (!fs::create_directories(folder_, error) || error)
        throw InputError("--assets " + folder_.string(),
                         fmt::format("cannot be made ({}); give a folder that can", error.message()));
      made_ = true;
    }
  }
  ~AssetFolder() {
    if (kept_) return;
    std::error_code ignored;
    for (const fs::path& file : files_) fs::remove(file, ignored);
    if (made_) fs::remove(folder_, ignored);  // if it is empty
  }
  AssetFolder(const AssetFolder&) = delete;
  AssetFolder& operator=(const AssetFolder&) = delete;
  void keep() { kept_ = true; }

  // A copy of a file; the file itself if it is in the folder already.
  fs::path copy(const fs::path& source) {
    std::error_code error;
    if (fs::equivalent(fs::absolute(source).parent_path(), folder_, error)) return source;
    const fs::path target = free_name(source.stem().string(), source.extension().string());
    write(target, read_file(source, "a mesh file", kMaxMeshFileBytes));
    return target;
  }
  fs::path write_obj(const std::string& name, const Shape& shape) {
    std::string stem = name;
    for (char& c : stem) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
      if (!plain) c = '_';
    }
    const fs::path target = free_name(stem.substr(0, 100), ".obj");
    write(target, obj_text(shape));
    return target;
  }

 private:
  fs::path free_name(const std::string& stem, const std::string& ending) {
    std::string name = stem + ending;
    for (int k = 2; !names_.insert(name).second; ++k) name = fmt::format("{}_{}{}", stem, k, ending);
    return folder_ / name;
  }
  void write(const fs::path& target, const std::string& bytes) {
    std::error_code error;
    const bool is_new = !fs::exists(target, error);
    OutputFile("--assets", target.string()).write(bytes);
    if (is_new) files_.push_back(target);
  }

  fs::path folder_;
  std::vector<fs::path> files_;
  std::set<std::string> names_;
  bool made_ = false, kept_ = false;
};

struct NamedShape {
  std::string name;
  const Shape* shape;
};

// Each hull and mesh once, in the order of the scene, with the name of its first shape.
std::vector<NamedShape> data_of(const Model& model) {
  std::vector<NamedShape> out;
  std::set<const void*> seen;
  const auto add = [&](const std::string& name, const Shape& shape) {
    const void* data = shape.kind == ShapeKind::hull   ? static_cast<const void*>(shape.hull.get())
                       : shape.kind == ShapeKind::mesh ? static_cast<const void*>(shape.mesh.get())
                                                       : nullptr;
    if (data != nullptr && seen.insert(data).second) out.push_back({name, &shape});
  };
  for (const Geom& g : model.geoms()) add(g.name, g.shape);
  for (const Visual& v : model.visuals()) add(v.name, v.shape);
  return out;
}

}  // namespace

SceneWithAssets scene_with_assets(const ImportResult& import, const fs::path& scene_folder, const fs::path& assets) {
  SceneWithAssets out;
  std::optional<AssetFolder> folder;
  std::map<fs::path, fs::path> copies;  // by source
  MeshSources sources;
  // Links are followed: a path that goes up by ".." would not come back through them.
  const fs::path from = fs::weakly_canonical(fs::absolute(scene_folder.empty() ? fs::path(".") : scene_folder));
  for (const NamedShape& named : data_of(import.model)) {
    const Shape& shape = *named.shape;
    const void* data = shape.kind == ShapeKind::hull ? static_cast<const void*>(shape.hull.get()) : shape.mesh.get();
    const auto source = import.meshes.find(data);
    fs::path file;
    Vec3 scale = Vec3::Ones();
    if (source != import.meshes.end() && gives(source->second.file, source->second.scale, shape)) {
      scale = source->second.scale;
      file = source->second.file;
      if (!assets.empty()) {
        if (!folder) folder.emplace(assets, import.meshes);
        const auto [copy, is_new] = copies.try_emplace(fs::weakly_canonical(file));
        if (is_new) {
          copy->second = folder->copy(file);
          ++out.copied;
        }
        file = copy->second;
      } else {
        ++out.named;
      }
    } else if (!assets.empty()) {
      if (!folder) folder.emplace(assets, import.meshes);
      file = folder->write_obj(named.name, shape);
      if (!gives(file, scale, shape)) file.clear();
      if (!file.empty()) ++out.written;
    }
    if (file.empty()) {
      ++out.in_scene;
      continue;
    }
    const fs::path whole = fs::weakly_canonical(fs::absolute(file));
    fs::path written = whole.lexically_relative(from);
    if (written.empty()) written = whole;
    sources[data] = {written, scale};
  }
  out.json = scene_to_json(import.model, sources);
  if (folder) folder->keep();
  return out;
}

}  // namespace sarrus
