#include "sarrus/scene_files/scene_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sarrus/geometry/height_field.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/scene_files/scene_values.h"

namespace sarrus::scene {
namespace {

constexpr std::array<ShapeKind, kShapeKindCount> kKinds = {
    ShapeKind::sphere, ShapeKind::capsule, ShapeKind::box,      ShapeKind::cylinder, ShapeKind::ellipsoid,
    ShapeKind::hull,   ShapeKind::mesh,    ShapeKind::compound, ShapeKind::plane,    ShapeKind::height_field};

bool needs_data(ShapeKind kind) {
  return kind == ShapeKind::hull || kind == ShapeKind::mesh || kind == ShapeKind::height_field;
}

Vec3 read_sizes(ObjectReader& r, std::string_view key) {
  Vec3 sizes = r.vec3(key);
  if (!(sizes.minCoeff() > 0)) r.fail(fmt::format("{} has an entry <= 0; give three sizes > 0", r.full(key)));
  return sizes;
}

bool is_three_numbers(const Json& x) {
  return x.is_array() && x.size() == 3 && x[0].is_number() && x[1].is_number() && x[2].is_number();
}

std::vector<Vec3> read_points(ObjectReader& r, std::string_view key) {
  const Json& list = r.array(key);
  std::vector<Vec3> points;
  points.reserve(list.size());
  for (const Json& x : list) {
    if (!is_three_numbers(x)) {
      r.fail(
          fmt::format("{}[{}] must be an array of 3 numbers; write it like [0.1, 0, 0.2]", r.full(key), points.size()));
    }
    points.emplace_back(x[0].get<double>(), x[1].get<double>(), x[2].get<double>());
  }
  return points;
}

bool is_index(const Json& x) {
  return x.is_number_unsigned() && x.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMaxMeshVertices);
}

std::vector<TriangleMesh::Triangle> read_triangles(ObjectReader& r, std::string_view key) {
  const Json& list = r.array(key);
  std::vector<TriangleMesh::Triangle> triangles;
  triangles.reserve(list.size());
  for (const Json& x : list) {
    if (!x.is_array() || x.size() != 3 || !std::all_of(x.begin(), x.end(), is_index)) {
      r.fail(fmt::format("{}[{}] must be an array of 3 vertex numbers; write it like [0, 1, 2]", r.full(key),
                         triangles.size()));
    }
    triangles.push_back({x[0].get<int>(), x[1].get<int>(), x[2].get<int>()});
  }
  return triangles;
}

int read_count(ObjectReader& r, std::string_view key) {
  const double x = r.number(key);
  if (!(x >= 2 && x <= kMaxHeightFieldSamples && x == std::floor(x))) {
    r.fail(fmt::format("{} is {}; give a whole number from 2 to {}", r.full(key), x, kMaxHeightFieldSamples));
  }
  return static_cast<int>(x);
}

// Heights as one list, or as a list of rows, which then tells the number of columns and rows.
std::vector<double> read_heights(ObjectReader& r, int& columns, int& rows) {
  if (!r.has("heights")) r.fail("key 'heights' is missing; add it, one list of numbers or one list for each row");
  const Json& list = r.array("heights");
  std::vector<double> heights;
  const auto add = [&](const Json& x, std::size_t row) {
    if (!x.is_number()) r.fail(fmt::format("heights[{}] is not made of numbers; give numbers or rows of them", row));
    heights.push_back(x.get<double>());
  };
  const bool by_rows = !list.empty() && list[0].is_array();
  for (std::size_t j = 0; j < list.size(); ++j) {
    if (!by_rows) {
      add(list[j], j);
      continue;
    }
    if (!list[j].is_array() || list[j].size() != list[0].size()) {
      r.fail(fmt::format("heights[{}] is not a row of {} numbers like the first; give rows of equal length", j,
                         list[0].size()));
    }
    for (const Json& x : list[j]) add(x, j);
  }
  const auto limited = [](std::size_t n) {
    return static_cast<int>(std::min(n, std::size_t{kMaxHeightFieldSamples} + 1));
  };
  columns = !by_rows || r.has("columns") ? read_count(r, "columns") : limited(list[0].size());
  rows = !by_rows || r.has("rows") ? read_count(r, "rows") : limited(list.size());
  return heights;
}

bool read_mass_from_hull(ObjectReader& r) {
  return r.has("mass_from") && r.choice("mass_from", {"solid", "hull"}) == 1;
}

MeshFileOptions read_file_options(ObjectReader& r, bool may_flip) {
  MeshFileOptions options;
  if (r.has("scale")) {
    if (r.is_number("scale")) {
      options.scale.setConstant(r.number("scale"));
    } else {
      options.scale = r.vec3("scale");
    }
    if ((options.scale.array() == 0).any()) r.fail(r.full("scale") + " has a factor 0; give factors other than 0");
  }
  if (may_flip) options.flip = r.flag("flip", false);
  return options;
}

std::string file_key(const std::string& path, const MeshFileOptions& options) {
  std::string key = path;
  for (const double s : options.scale) key += fmt::format("|{:016x}", std::bit_cast<std::uint64_t>(s));
  return key + (options.flip ? "|flip" : "");
}

}  // namespace

Shape ShapeReader::read(ObjectReader& r, bool on_world) {
  std::vector<std::string> names;
  names.reserve(kKinds.size());
  for (const ShapeKind k : kKinds) names.emplace_back(name_of(k));
  const ShapeKind kind = kKinds[r.choice("type", names)];
  if (!on_world && (kind == ShapeKind::plane || kind == ShapeKind::height_field)) {
    r.fail(fmt::format("a {} can only belong to the world; move it to world_shapes, or use a box", name_of(kind)));
  }
  Shape shape = read_kind(r, kind);
  const std::string own_name = r.text_or("name", "");
  if (needs_data(kind) && !own_name.empty()) named_.emplace(own_name, shape);
  return shape;
}

Shape ShapeReader::read_kind(ObjectReader& r, ShapeKind kind) {
  switch (kind) {
    case ShapeKind::plane:
      return Shape::plane();
    case ShapeKind::sphere:
      return Shape::sphere(r.positive("radius"));
    case ShapeKind::capsule: {
      const double radius = r.positive("radius");
      return Shape::capsule(radius, r.positive("half_length"));
    }
    case ShapeKind::box:
      return Shape::box(read_sizes(r, "half_extents"));
    case ShapeKind::cylinder: {
      const double radius = r.positive("radius");
      return Shape::cylinder(radius, r.positive("half_length"));
    }
    case ShapeKind::ellipsoid:
      return Shape::ellipsoid(read_sizes(r, "semi_axes"));
    case ShapeKind::hull:
      return read_hull(r);
    case ShapeKind::mesh:
      return read_mesh(r);
    case ShapeKind::height_field:
      if (const Shape* same = read_reference(r, kind)) return *same;
      return read_height_field(r);
    case ShapeKind::compound:
      break;
  }
  return read_compound(r);
}

const Shape* ShapeReader::read_reference(ObjectReader& r, ShapeKind kind) const {
  if (!r.has("same_as")) return nullptr;
  const std::string other = r.text("same_as", "wheel");
  std::vector<std::string> known;
  for (const auto& [shape_name, shape] : named_) {
    if (shape.kind != kind) continue;
    if (shape_name == other) return &shape;
    known.push_back(shape_name);
  }
  r.fail(fmt::format("same_as names {}, which is no {} before this shape; {}", in_quotes(other), name_of(kind),
                     suggestion(other, known, std::string(name_of(kind)) + " before it")));
}

ShapeReader::FileData& ShapeReader::read_file(ObjectReader& r, bool may_flip) {
  const std::string name = r.text("file", "part.stl");
  if (name.find('\0') != std::string::npos) r.fail(r.full("file") + " goes on after a zero byte; correct the name");
  const std::filesystem::path path = (folder_ / name).lexically_normal();
  const MeshFileOptions options = read_file_options(r, may_flip);
  const auto [it, is_new] = files_.try_emplace(file_key(path.string(), options));
  FileData& data = it->second;
  if (!is_new) return data;
  data.path = path.string();
  try {
    data.file = load_mesh_file(path, options);
  } catch (const InputError& error) {
    r.fail(fmt::format("{} {}", r.full("file"), error.what()));
  }
  return data;
}

Shape ShapeReader::read_hull(ObjectReader& r) {
  const std::string both = "is given together with file; keep one of them";
  if (const Shape* same = read_reference(r, ShapeKind::hull)) return *same;
  if (!r.has("file")) {
    if (!r.has("points")) r.fail("has neither points nor file; add \"points\": [[x, y, z], ...] or \"file\"");
    r.reject("scale", "goes with file; scale the points, or remove it");
    return Shape::convex(ConvexHull::build(read_points(r, "points"), r.element()));
  }
  r.reject("points", both);
  FileData& data = read_file(r, false);
  if (data.hull == nullptr) {
    data.hull = ConvexHull::build(data.file.vertices, fmt::format("{}, file {}", r.element(), data.path));
    file_of_.emplace(data.hull.get(), data.path);
  }
  return Shape::convex(data.hull);
}

Shape ShapeReader::read_mesh(ObjectReader& r) {
  const bool from_hull = read_mass_from_hull(r);
  if (const Shape* same = read_reference(r, ShapeKind::mesh)) return Shape::triangles(same->mesh, from_hull);
  if (!r.has("file")) {
    if (!r.has("vertices") && !r.has("triangles")) {
      r.fail("has neither triangles nor file; add \"file\", or \"vertices\" and \"triangles\"");
    }
    r.reject("scale", "goes with file; scale the vertices, or remove it");
    const std::vector<Vec3> vertices = read_points(r, "vertices");
    std::vector<TriangleMesh::Triangle> triangles = read_triangles(r, "triangles");
    if (r.flag("flip", false)) {
      for (auto& t : triangles) std::swap(t[1], t[2]);
    }
    return Shape::triangles(TriangleMesh::build(vertices, triangles, r.element()), from_hull);
  }
  for (const char* key : {"vertices", "triangles"}) r.reject(key, "is given together with file; keep one of them");
  FileData& data = read_file(r, true);
  if (data.mesh == nullptr) {
    const std::string element = fmt::format("{}, file {}", r.element(), data.path);
    data.mesh = TriangleMesh::build(data.file.vertices, data.file.triangles, element);
    file_of_.emplace(data.mesh.get(), data.path);
  }
  return Shape::triangles(data.mesh, from_hull);
}

Shape ShapeReader::read_height_field(ObjectReader& r) {
  int columns = 0;
  int rows = 0;
  const std::vector<double> heights = read_heights(r, columns, rows);
  const std::vector<double> spacing = r.numbers("spacing", {2});
  return Shape::terrain(HeightField::build(columns, rows, spacing[0], spacing[1], heights, r.element()));
}

Shape ShapeReader::read_compound(ObjectReader& r) {
  const Json& list = r.array("children");
  if (list.empty()) r.fail("a compound needs at least one child; add \"children\": [{\"type\": ...}, ...]");
  std::vector<CompoundChild> children;
  for (const Json& x : list) {
    ObjectReader child(x, fmt::format("{}, child {}", r.element(), children.size()));
    const std::string type = child.text("type", "sphere");
    if (type == "plane" || type == "height_field" || type == "compound") {
      child.fail(fmt::format("a {} cannot be part of a compound; make it a shape of its own", type));
    }
    child.reject("name", "belongs to whole shapes; remove it");
    CompoundChild& c = children.emplace_back();
    c.shape = read(child, false);
    if (child.has("pose")) c.X_SC = read_frame(child.object("pose"), angle_unit_);
    child.finish();
  }
  return Shape::compound(std::move(children));
}

std::string ShapeReader::describe(const std::string& label, const Shape& shape) const {
  const void* data = shape.kind == ShapeKind::hull ? static_cast<const void*>(shape.hull.get()) : shape.mesh.get();
  const auto it = file_of_.find(data);
  return it == file_of_.end() ? label : fmt::format("{}, file {}", label, it->second);
}

}  // namespace sarrus::scene
