#include "sarrus/io/mesh_collada.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/io/mesh_text.h"
#include "sarrus/io/scene_reader.h"
#include "sarrus/io/xml_tree.h"
#include "sarrus/math/error.h"

namespace sarrus {
namespace {

using scene::in_quotes;

constexpr int kMaxNodeDepth = 500;  // with instanced nodes

[[noreturn]] void fail(const XmlElement& at, const std::string& problem_and_remedy) {
  throw InputError(fmt::format("line {}", at.line), problem_and_remedy);
}

template <class F>
void each_word(std::string_view text, F f) {
  constexpr std::string_view blanks = " \t\r\n";
  for (std::size_t begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
    f(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
}

std::vector<double> numbers_of(const XmlElement& element) {
  std::vector<double> numbers;
  each_word(element.text, [&](std::string_view word) {
    double& x = numbers.emplace_back();
    if (!mesh_text::parse_number(word, x)) {
      fail(element,
           fmt::format("{} in <{}> is not a finite number; export the file again", in_quotes(word), element.name));
    }
  });
  return numbers;
}

int to_index(const XmlElement& element, std::string_view word) {
  int index = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (error != std::errc() || end != word.data() + word.size() || index < 0) {
    fail(element, fmt::format("{} in <{}> is no index or count; export the file again", in_quotes(word), element.name));
  }
  return index;
}

std::vector<int> indices_of(const XmlElement& element) {
  std::vector<int> indices;
  each_word(element.text, [&](std::string_view word) { indices.push_back(to_index(element, word)); });
  return indices;
}

int count_attribute(const XmlElement& element, std::string_view key, int fallback) {
  const std::string_view value = element.attribute(key);
  return value.empty() ? fallback : to_index(element, value);
}

// The id that a reference like "#id" names.
std::string_view reference(const XmlElement& element, std::string_view key) {
  const std::string_view value = element.attribute(key);
  if (value.size() < 2 || value[0] != '#') {
    fail(element, fmt::format("{} in <{}> is no reference within the file; export everything into one file",
                              in_quotes(value), element.name));
  }
  return value.substr(1);
}

const XmlElement* input_of(const XmlElement& element, std::string_view semantic) {
  const auto it = std::find_if(element.children.begin(), element.children.end(), [&](const XmlElement& c) {
    return c.name == "input" && c.attribute("semantic") == semantic;
  });
  return it == element.children.end() ? nullptr : &*it;
}

const XmlElement* find_id(const XmlElement& parent, std::string_view name, std::string_view id) {
  const auto it = std::find_if(parent.children.begin(), parent.children.end(),
                               [&](const XmlElement& c) { return c.name == name && c.attribute("id") == id; });
  return it == parent.children.end() ? nullptr : &*it;
}

// Places of the X, Y and Z parameters among the numbers of one vertex.
std::array<int, 3> places_of(const XmlElement& accessor, int stride) {
  std::array<int, 3> places = {0, 1, 2};
  int place = 0;
  for (const XmlElement& child : accessor.children) {
    if (child.name != "param") continue;
    const std::size_t axis = std::string_view("XYZ").find(child.attribute("name"));
    if (child.attribute("name").size() == 1 && axis < 3) places[axis] = place;
    ++place;
  }
  if (*std::max_element(places.begin(), places.end()) >= stride) {
    fail(accessor, fmt::format("a vertex has {} numbers, too few for its coordinates; export the file again", stride));
  }
  return places;
}

// The mesh of one geometry: positions, and polygons as vertex numbers.
class ColladaMesh {
 public:
  explicit ColladaMesh(const XmlElement& mesh) : mesh_(mesh) {
    for (const XmlElement& child : mesh.children) {
      if (child.name == "triangles") read_groups(child, [](std::size_t) { return 3; });
      if (child.name == "polylist") read_polylist(child);
      if (child.name == "polygons") read_polygons(child);
      if (child.name == "trifans" || child.name == "tristrips") read_strips(child, child.name == "trifans");
    }
  }

  std::int64_t triangles() const { return triangles_; }
  std::int64_t vertices() const { return static_cast<std::int64_t>(positions_.size() / 3); }

  void print(std::string& out, int id) const {
    const auto end = std::back_inserter(out);
    fmt::format_to(end, "<geometry id=\"g{0}\"><mesh><source id=\"p{0}\"><float_array id=\"a{0}\" count=\"{1}\">", id,
                   positions_.size());
    for (const double x : positions_) fmt::format_to(end, "{:.9g} ", x);
    fmt::format_to(end,
                   "</float_array><technique_common><accessor source=\"#a{0}\" count=\"{1}\" stride=\"3\">"
                   "<param name=\"X\" type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" "
                   "type=\"float\"/></accessor></technique_common></source><vertices id=\"v{0}\"><input "
                   "semantic=\"POSITION\" source=\"#p{0}\"/></vertices><polylist count=\"{2}\"><input "
                   "semantic=\"VERTEX\" source=\"#v{0}\" offset=\"0\"/><vcount>{3}</vcount><p>{4}</p></polylist>"
                   "</mesh></geometry>\n",
                   id, vertices(), sizes_.size(), fmt::join(sizes_, " "), fmt::join(corners_, " "));
  }

 private:
  void read_positions(const XmlElement& at) {
    if (!positions_.empty()) return;
    const XmlElement* vertices = mesh_.child("vertices");
    const XmlElement* input = vertices == nullptr ? nullptr : input_of(*vertices, "POSITION");
    if (input == nullptr) fail(at, "the mesh has no vertices with positions; export the file again");
    const XmlElement* source = find_id(mesh_, "source", reference(*input, "source"));
    const XmlElement* common = source == nullptr ? nullptr : source->child("technique_common");
    const XmlElement* accessor = common == nullptr ? nullptr : common->child("accessor");
    const XmlElement* array = source == nullptr ? nullptr : source->child("float_array");
    if (accessor == nullptr || array == nullptr || reference(*accessor, "source") != array->attribute("id")) {
      fail(*input, "the positions name no source with numbers; export the file again");
    }
    const std::vector<double> numbers = numbers_of(*array);
    const auto size = static_cast<std::int64_t>(numbers.size());
    if (count_attribute(*array, "count", static_cast<int>(size)) != size) {
      fail(*array, fmt::format("{} numbers are announced as {}; export the file again", size,
                               in_quotes(array->attribute("count"))));
    }
    const std::int64_t count = count_attribute(*accessor, "count", 0);
    const std::int64_t stride = count_attribute(*accessor, "stride", 1);
    const std::int64_t offset = count_attribute(*accessor, "offset", 0);
    const std::array<int, 3> places = places_of(*accessor, static_cast<int>(stride));
    if (offset + count * stride > size) {
      fail(*accessor, fmt::format("{} vertices are announced, but there are numbers for {}; export the file again",
                                  count, std::max<std::int64_t>(0, size - offset) / stride));
    }
    positions_.reserve(static_cast<std::size_t>(3 * count));
    for (std::int64_t i = 0; i < count; ++i) {
      for (const int place : places)
        positions_.push_back(numbers[static_cast<std::size_t>(offset + i * stride + place)]);
    }
  }

  // Vertex numbers of a list of indices, which interleaves those of vertices, normals and so on.
  std::vector<int> vertices_of(const XmlElement& primitive, const XmlElement& list) {
    read_positions(primitive);
    const XmlElement* vertex = input_of(primitive, "VERTEX");
    if (vertex == nullptr) fail(primitive, fmt::format("<{}> has no vertices; export the file again", primitive.name));
    std::size_t stride = 1;
    for (const XmlElement& c : primitive.children) {
      if (c.name != "input") continue;
      stride = std::max(stride, static_cast<std::size_t>(count_attribute(c, "offset", 0)) + 1);
    }
    const std::vector<int> all = indices_of(list);
    if (all.size() % stride != 0) {
      fail(list, fmt::format("{} indices for groups of {}; export the file again", all.size(), stride));
    }
    std::vector<int> result;
    result.reserve(all.size() / stride);
    for (std::size_t i = static_cast<std::size_t>(count_attribute(*vertex, "offset", 0)); i < all.size(); i += stride) {
      if (all[i] >= vertices()) {
        fail(list,
             fmt::format("a face has the vertex {}, but the mesh has {}; export the file again", all[i], vertices()));
      }
      result.push_back(all[i]);
    }
    return result;
  }

  // Polygons one after the other in each list, the k-th one with size(k) corners.
  template <class Size>
  void read_groups(const XmlElement& primitive, Size size) {
    std::size_t group = 0;
    for (const XmlElement& list : primitive.children) {
      if (list.name != "p") continue;
      const std::vector<int> corners = vertices_of(primitive, list);
      for (std::size_t begin = 0; begin < corners.size(); ++group) {
        const auto n = static_cast<std::size_t>(size(group));
        if (begin + n > corners.size()) {
          fail(list, fmt::format("{} corners do not fill the faces; export the file again", corners.size()));
        }
        add_polygon({corners.begin() + static_cast<std::ptrdiff_t>(begin),
                     corners.begin() + static_cast<std::ptrdiff_t>(begin + n)});
        begin += n;
      }
    }
    if (count_attribute(primitive, "count", static_cast<int>(group)) != static_cast<int>(group)) {
      fail(primitive, fmt::format("{} faces are announced as {}; export the file again", group,
                                  in_quotes(primitive.attribute("count"))));
    }
  }

  void read_polylist(const XmlElement& primitive) {
    const XmlElement* counts = primitive.child("vcount");
    const std::vector<int> sizes = counts == nullptr ? std::vector<int>() : indices_of(*counts);
    read_groups(primitive, [&](std::size_t group) {
      if (group >= sizes.size() || sizes[group] < 1) {
        fail(primitive, fmt::format("<vcount> has no size for face {}; export the file again", group));
      }
      return sizes[group];
    });
  }

  void read_polygons(const XmlElement& primitive) {
    for (const XmlElement& list : primitive.children) {
      if (list.name == "ph") fail(list, "a face has a hole; cut it into triangles before exporting");
      if (list.name == "p") add_polygon(vertices_of(primitive, list));
    }
  }

  void read_strips(const XmlElement& primitive, bool fan) {
    for (const XmlElement& list : primitive.children) {
      if (list.name != "p") continue;
      const std::vector<int> v = vertices_of(primitive, list);
      for (std::size_t i = 2; i < v.size(); ++i) {
        const bool odd = !fan && i % 2 == 1;
        add_polygon({fan ? v[0] : v[i - (odd ? 1 : 2)], fan ? v[i - 1] : v[i - (odd ? 2 : 1)], v[i]});
      }
    }
  }

  void add_polygon(std::vector<int> corners) {
    corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
    while (corners.size() > 1 && corners.front() == corners.back()) corners.pop_back();
    if (corners.size() < 3) return;  // no area
    triangles_ += static_cast<std::int64_t>(corners.size()) - 2;
    sizes_.push_back(static_cast<int>(corners.size()));
    corners_.insert(corners_.end(), corners.begin(), corners.end());
  }

  const XmlElement& mesh_;
  std::vector<double> positions_;
  std::vector<int> sizes_;
  std::vector<int> corners_;
  std::int64_t triangles_ = 0;
};

class ColladaReducer {
 public:
  explicit ColladaReducer(const XmlElement& root) : root_(root) {}

  std::string reduce() {
    if (root_.name != "COLLADA") {
      fail(root_,
           fmt::format("the root element is <{}>, not <COLLADA>; give a Collada file", scene::printable(root_.name)));
    }
    out_ =
        fmt::format("<COLLADA version=\"1.4.1\"><asset><unit meter=\"{:.9g}\"/></asset>\n<library_geometries>", unit());
    read_geometries();
    collect_nodes(root_);
    out_ += "</library_geometries>\n<library_visual_scenes><visual_scene id=\"scene\">";
    if (const XmlElement* scene = visual_scene()) print_children(*scene, 0);
    out_ +=
        "</visual_scene></library_visual_scenes>\n<scene><instance_visual_scene url=\"#scene\"/></scene></COLLADA>\n";
    return triangles_ > 0 ? std::move(out_) : std::string();
  }

 private:
  struct Geometry {
    int id;
    std::int64_t vertices;
    std::int64_t triangles;
  };

  double unit() const {
    const XmlElement* asset = root_.child("asset");
    const XmlElement* unit = asset == nullptr ? nullptr : asset->child("unit");
    if (unit == nullptr || unit->attribute("meter").empty()) return 1;
    double metres = 0;
    if (!mesh_text::parse_number(unit->attribute("meter"), metres) || !(metres > 0)) {
      fail(*unit, fmt::format("the unit is {} m; export the file again", in_quotes(unit->attribute("meter"))));
    }
    return metres;
  }

  void read_geometries() {
    for (const XmlElement& library : root_.children) {
      if (library.name != "library_geometries") continue;
      for (const XmlElement& geometry : library.children) {
        const XmlElement* mesh = geometry.child("mesh");
        if (geometry.name != "geometry" || mesh == nullptr) continue;
        const ColladaMesh reduced(*mesh);
        const int id = static_cast<int>(geometries_.size());
        if (reduced.triangles() > 0) reduced.print(out_, id);
        if (!geometries_.emplace(geometry.attribute("id"), Geometry{id, reduced.vertices(), reduced.triangles()})
                 .second) {
          fail(geometry, fmt::format("another geometry has the id {}; export the file again",
                                     in_quotes(geometry.attribute("id"))));
        }
      }
    }
  }

  void collect_nodes(const XmlElement& element) {
    for (const XmlElement& child : element.children) {
      if (child.name == "node" && !child.attribute("id").empty()) nodes_.emplace(child.attribute("id"), &child);
      const bool holds_nodes =
          child.name == "node" || child.name == "visual_scene" || child.name.starts_with("library_");
      if (holds_nodes) collect_nodes(child);
    }
  }

  // The one that the file instances, or the first.
  const XmlElement* visual_scene() const {
    const XmlElement* scene = root_.child("scene");
    const XmlElement* instance = scene == nullptr ? nullptr : scene->child("instance_visual_scene");
    for (const XmlElement& library : root_.children) {
      if (library.name != "library_visual_scenes") continue;
      for (const XmlElement& candidate : library.children) {
        if (candidate.name != "visual_scene") continue;
        if (instance == nullptr || candidate.attribute("id") == reference(*instance, "url")) return &candidate;
      }
    }
    return nullptr;
  }

  void print_children(const XmlElement& parent, int depth) {
    if (depth > kMaxNodeDepth) fail(parent, "nodes contain each other or are nested too deeply; flatten the scene");
    for (const XmlElement& child : parent.children) {
      if (child.name == "node") print_node(child, depth);
      if (child.name == "instance_node") print_node(instanced(nodes_, child), depth);
      if (child.name == "instance_geometry") print_instance(child);
      if (child.name == "instance_controller") {
        fail(child, "a mesh is deformed by a skeleton, but a shape is rigid; export the file without it");
      }
    }
  }

  template <class Library>
  static const XmlElement& instanced(const Library& library, const XmlElement& instance) {
    const auto it = library.find(reference(instance, "url"));
    if (it != library.end()) return *it->second;
    fail(instance, fmt::format("{} names nothing in this file; export everything into one file",
                               in_quotes(instance.attribute("url"))));
  }

  void print_node(const XmlElement& node, int depth) {
    constexpr int kMaxNodes = 1'000'000;
    if (++printed_nodes_ > kMaxNodes) fail(node, "has more than a million nodes with its instances; join them");
    out_ += "<node>";
    for (const XmlElement& child : node.children) print_transform(child);
    print_children(node, depth + 1);
    out_ += "</node>";
  }

  void print_transform(const XmlElement& e) {
    if (e.name == "skew" || e.name == "lookat") {
      fail(e, fmt::format("<{}> is not supported; apply the transforms of the objects before exporting", e.name));
    }
    const std::size_t expected = e.name == "matrix"                           ? 16
                                 : e.name == "rotate"                         ? 4
                                 : e.name == "translate" || e.name == "scale" ? 3
                                                                              : 0;
    if (expected == 0) return;
    const std::vector<double> x = numbers_of(e);
    if (x.size() != expected) {
      fail(e, fmt::format("<{}> has {} numbers, not {}; export the file again", e.name, x.size(), expected));
    }
    out_ += fmt::format("<{0}>{1:.9g}</{0}>", e.name, fmt::join(x, " "));
  }

  void print_instance(const XmlElement& instance) {
    const auto it = geometries_.find(reference(instance, "url"));
    if (it == geometries_.end()) {
      fail(instance, fmt::format("{} names no mesh of this file; export everything into one file",
                                 in_quotes(instance.attribute("url"))));
    }
    const Geometry& g = it->second;
    if (g.triangles == 0) return;
    vertices_ += g.vertices;
    triangles_ += g.triangles;
    if (vertices_ > kMaxMeshVertices || triangles_ > kMaxMeshTriangles) {
      fail(instance, fmt::format("has more than {} vertices or {} triangles with its instances; simplify it",
                                 kMaxMeshVertices, kMaxMeshTriangles));
    }
    out_ += fmt::format("<instance_geometry url=\"#g{}\"/>", g.id);
  }

  const XmlElement& root_;
  std::string out_;
  std::unordered_map<std::string_view, Geometry> geometries_;
  std::unordered_map<std::string_view, const XmlElement*> nodes_;
  int printed_nodes_ = 0;
  std::int64_t vertices_ = 0;
  std::int64_t triangles_ = 0;
};

}  // namespace

std::string reduced_collada(std::string_view text) {
  const XmlElement root = parse_xml(text);
  return ColladaReducer(root).reduce();
}

}  // namespace sarrus
