// Collada files: the little of them that a rigid shape needs. The XML is read by tinyxml2, which gets nothing that
// could keep it busy: the number of elements, and of attributes of each, is looked at first.
#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <numbers>
#include <unordered_map>

#include "sarrus/files/xml.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/scene_files/mesh_reader.h"

namespace sarrus::mesh {
namespace {

using Element = tinyxml2::XMLElement;

constexpr std::size_t kMaxElements = 4'000'000;
constexpr int kMaxNodeDepth = 500;  // with instanced nodes
constexpr int kMaxNodes = 1'000'000;
constexpr std::size_t kMostInstanced = 250'000;  // vertices that instances may make of a small file

[[noreturn]] void fail(const Element& at, const std::string& problem_and_remedy) {
  fail_at_line(at.GetLineNum(), problem_and_remedy);
}

std::string_view attribute(const Element& element, const char* key) {
  const char* value = element.Attribute(key);
  return value == nullptr ? std::string_view() : value;
}

bool is(const Element& element, std::string_view name) { return element.Name() == name; }

// Null if the parent is.
const Element* child(const Element* parent, const char* name) {
  return parent == nullptr ? nullptr : parent->FirstChildElement(name);
}

// Calls f(child) for the child elements with this name, or all.
template <class F>
void each_child(const Element& parent, const char* name, F f) {
  for (const Element* c = parent.FirstChildElement(name); c != nullptr; c = c->NextSiblingElement(name)) f(*c);
}

// The first child with this name whose attribute has this value, or null.
const Element* child_with(const Element& parent, const char* name, const char* key, std::string_view value) {
  const Element* c = parent.FirstChildElement(name);
  while (c != nullptr && attribute(*c, key) != value) c = c->NextSiblingElement(name);
  return c;
}

// Calls f(word) for the words of an element's own text, which comments may interrupt.
template <class F>
void each_word(const Element& element, F f) {
  constexpr std::string_view blanks = " \t\r\n";
  for (const tinyxml2::XMLNode* node = element.FirstChild(); node != nullptr; node = node->NextSibling()) {
    const std::string_view text = node->ToText() == nullptr ? std::string_view() : node->Value();
    for (std::size_t begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
      const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
      f(text.substr(begin, end - begin));
      begin = text.find_first_not_of(blanks, end);
    }
  }
}

std::vector<double> numbers_of(const Element& element) {
  std::vector<double> numbers;
  each_word(element, [&](std::string_view word) {
    if (parse_number(word, numbers.emplace_back())) return;
    fail(element,
         fmt::format("{} in <{}> is not a finite number; export the file again", in_quotes(word), element.Name()));
  });
  return numbers;
}

int to_index(const Element& element, std::string_view word) {
  int index = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (error != std::errc() || end != word.data() + word.size() || index < 0) {
    fail(element,
         fmt::format("{} in <{}> is no index or count; export the file again", in_quotes(word), element.Name()));
  }
  return index;
}

std::vector<int> indices_of(const Element& element) {
  std::vector<int> indices;
  each_word(element, [&](std::string_view word) { indices.push_back(to_index(element, word)); });
  return indices;
}

std::int64_t count_attribute(const Element& element, const char* key, std::int64_t fallback) {
  const std::string_view value = attribute(element, key);
  return value.empty() ? fallback : to_index(element, value);
}

// The id that a reference like "#id" names.
std::string_view reference(const Element& element, const char* key) {
  const std::string_view value = attribute(element, key);
  if (value.size() < 2 || value[0] != '#') {
    fail(element, fmt::format("{} in <{}> is no reference within the file; export everything into one file",
                              in_quotes(value), element.Name()));
  }
  return value.substr(1);
}

// Places of the X, Y and Z parameters among the numbers of one vertex.
std::array<std::int64_t, 3> places_of(const Element& accessor, std::int64_t stride) {
  std::array<std::int64_t, 3> places = {0, 1, 2};
  std::int64_t place = 0;
  each_child(accessor, "param", [&](const Element& param) {
    const std::string_view name = attribute(param, "name");
    const std::size_t axis = name.size() == 1 ? std::string_view("XYZ").find(name) : std::string_view::npos;
    if (axis != std::string_view::npos) places[axis] = place;
    ++place;
  });
  if (*std::max_element(places.begin(), places.end()) >= stride) {
    fail(accessor, fmt::format("a vertex has {} numbers, too few for its coordinates; export the file again", stride));
  }
  return places;
}

// The points and triangles of one geometry.
class ColladaMesh {
 public:
  explicit ColladaMesh(const Element& mesh) : mesh_(mesh) {
    each_child(mesh, nullptr, [this](const Element& primitive) {
      if (is(primitive, "triangles")) read_groups(primitive, [](std::size_t) { return 3; });
      if (is(primitive, "polylist")) read_polylist(primitive);
      if (is(primitive, "polygons")) read_polygons(primitive);
      if (is(primitive, "trifans") || is(primitive, "tristrips")) read_strips(primitive, is(primitive, "trifans"));
    });
  }

  Surface take() { return std::move(surface_); }

 private:
  void read_positions(const Element& at) {
    if (!surface_.points.empty()) return;
    const Element* vertices = mesh_.FirstChildElement("vertices");
    const Element* input = vertices == nullptr ? nullptr : child_with(*vertices, "input", "semantic", "POSITION");
    if (input == nullptr) fail(at, "the mesh has no vertices with positions; export the file again");
    const Element* source = child_with(mesh_, "source", "id", reference(*input, "source"));
    const Element* accessor = child(child(source, "technique_common"), "accessor");
    const Element* array = child(source, "float_array");
    if (accessor == nullptr || array == nullptr || reference(*accessor, "source") != attribute(*array, "id")) {
      fail(*input, "the positions name no source with numbers; export the file again");
    }
    const std::vector<double> numbers = numbers_of(*array);
    const auto size = static_cast<std::int64_t>(numbers.size());
    if (count_attribute(*array, "count", size) != size) {
      fail(*array, fmt::format("{} numbers are announced as {}; export the file again", size,
                               in_quotes(attribute(*array, "count"))));
    }
    const std::int64_t count = count_attribute(*accessor, "count", 0);
    const std::int64_t stride = count_attribute(*accessor, "stride", 1);
    const std::int64_t offset = count_attribute(*accessor, "offset", 0);
    const std::array<std::int64_t, 3> places = places_of(*accessor, stride);
    if (offset + count * stride > size) {
      fail(*accessor, fmt::format("{} vertices are announced, but there are numbers for {}; export the file again",
                                  count, std::max<std::int64_t>(0, size - offset) / stride));
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const double* vertex = numbers.data() + offset + i * stride;
      surface_.points.emplace_back(vertex[places[0]], vertex[places[1]], vertex[places[2]]);
    }
  }

  // Vertex numbers of a list of indices, which interleaves those of vertices, normals and so on.
  std::vector<int> vertices_of(const Element& primitive, const Element& list) {
    read_positions(primitive);
    const Element* vertex = child_with(primitive, "input", "semantic", "VERTEX");
    if (vertex == nullptr) {
      fail(primitive, fmt::format("<{}> has no vertices; export the file again", primitive.Name()));
    }
    std::int64_t last = 0;
    each_child(primitive, "input",
               [&](const Element& input) { last = std::max(last, count_attribute(input, "offset", 0)); });
    const auto stride = static_cast<std::size_t>(last + 1);
    const std::vector<int> all = indices_of(list);
    if (all.size() % stride != 0) {
      fail(list, fmt::format("{} indices for groups of {}; export the file again", all.size(), stride));
    }
    std::vector<int> result;
    result.reserve(all.size() / stride);
    for (auto i = static_cast<std::size_t>(count_attribute(*vertex, "offset", 0)); i < all.size(); i += stride) {
      if (all[i] >= static_cast<int>(surface_.points.size())) {
        fail(list, fmt::format("a face has the vertex {}, but the mesh has {}; export the file again", all[i],
                               surface_.points.size()));
      }
      result.push_back(all[i]);
    }
    return result;
  }

  // Polygons one after the other in each list, the k-th one with size(k) corners.
  template <class Size>
  void read_groups(const Element& primitive, Size size) {
    std::size_t group = 0;
    each_child(primitive, "p", [&](const Element& list) {
      const std::vector<int> corners = vertices_of(primitive, list);
      for (std::size_t begin = 0; begin < corners.size(); ++group) {
        const auto n = static_cast<std::size_t>(size(group));
        if (begin + n > corners.size()) {
          fail(list, fmt::format("{} corners do not fill the faces; export the file again", corners.size()));
        }
        surface_.add_polygon(std::span(corners).subspan(begin, n));
        begin += n;
      }
    });
    if (count_attribute(primitive, "count", static_cast<std::int64_t>(group)) != static_cast<std::int64_t>(group)) {
      fail(primitive, fmt::format("{} faces are announced as {}; export the file again", group,
                                  in_quotes(attribute(primitive, "count"))));
    }
  }

  void read_polylist(const Element& primitive) {
    const Element* counts = primitive.FirstChildElement("vcount");
    const std::vector<int> sizes = counts == nullptr ? std::vector<int>() : indices_of(*counts);
    read_groups(primitive, [&](std::size_t group) {
      if (group >= sizes.size() || sizes[group] < 1) {
        fail(primitive, fmt::format("<vcount> has no size for face {}; export the file again", group));
      }
      return sizes[group];
    });
  }

  void read_polygons(const Element& primitive) {
    each_child(primitive, "ph",
               [](const Element& list) { fail(list, "a face has a hole; cut it into triangles before exporting"); });
    each_child(primitive, "p", [&](const Element& list) { surface_.add_polygon(vertices_of(primitive, list)); });
  }

  void read_strips(const Element& primitive, bool fan) {
    each_child(primitive, "p", [&](const Element& list) {
      const std::vector<int> v = vertices_of(primitive, list);
      for (std::size_t i = 2; i < v.size(); ++i) {
        const bool odd = !fan && i % 2 == 1;
        const int triangle[] = {fan ? v[0] : v[i - (odd ? 1 : 2)], fan ? v[i - 1] : v[i - (odd ? 2 : 1)], v[i]};
        surface_.add_polygon(triangle);
      }
    });
  }

  const Element& mesh_;
  Surface surface_;
};

class Collada {
 public:
  Collada(const Element& root, std::size_t file_bytes, Surface& out)
      : root_(root), most_points_(std::min<std::size_t>(kMaxMeshVertices, kMostInstanced + file_bytes)), out_(out) {
    if (!is(root, "COLLADA")) {
      fail(root, fmt::format("the root element is <{}>, not <COLLADA>; give a Collada file", printable(root.Name())));
    }
    read_geometries();
    collect_nodes(root);
    Eigen::Affine3d X = Eigen::Affine3d::Identity();
    X.scale(unit());
    if (const Element* scene = visual_scene()) add_children(*scene, X, 0);
  }

 private:
  // m; the up axis is left alone.
  double unit() const {
    const Element* unit = child(root_.FirstChildElement("asset"), "unit");
    if (unit == nullptr || attribute(*unit, "meter").empty()) return 1;
    double metres = 0;
    if (!parse_number(attribute(*unit, "meter"), metres) || !(metres > 0)) {
      fail(*unit, fmt::format("the unit is {} m; export the file again", in_quotes(attribute(*unit, "meter"))));
    }
    return metres;
  }

  void read_geometries() {
    each_child(root_, "library_geometries", [this](const Element& library) {
      each_child(library, "geometry", [this](const Element& geometry) {
        const Element* mesh = geometry.FirstChildElement("mesh");
        if (mesh == nullptr) return;
        const std::string_view id = attribute(geometry, "id");
        if (geometries_.emplace(id, ColladaMesh(*mesh).take()).second) return;
        fail(geometry, fmt::format("another geometry has the id {}; export the file again", in_quotes(id)));
      });
    });
  }

  void collect_nodes(const Element& element) {
    each_child(element, nullptr, [this](const Element& c) {
      if (is(c, "node") && !attribute(c, "id").empty()) nodes_.emplace(attribute(c, "id"), &c);
      const bool holds_nodes =
          is(c, "node") || is(c, "visual_scene") || std::string_view(c.Name()).starts_with("library_");
      if (holds_nodes) collect_nodes(c);
    });
  }

  // The one that the file instances, or the first.
  const Element* visual_scene() const {
    const Element* instance = child(root_.FirstChildElement("scene"), "instance_visual_scene");
    const Element* found = nullptr;
    each_child(root_, "library_visual_scenes", [&](const Element& library) {
      if (found != nullptr) return;
      found = instance == nullptr ? library.FirstChildElement("visual_scene")
                                  : child_with(library, "visual_scene", "id", reference(*instance, "url"));
    });
    return found;
  }

  void add_children(const Element& parent, const Eigen::Affine3d& X, int depth) {
    if (depth > kMaxNodeDepth) fail(parent, "nodes contain each other or are nested too deeply; flatten the scene");
    each_child(parent, nullptr, [&](const Element& c) {
      if (is(c, "node")) add_node(c, X, depth);
      if (is(c, "instance_node")) add_node(*named(nodes_, c, "nothing in"), X, depth);
      if (is(c, "instance_geometry")) add_geometry(c, named(geometries_, c, "no mesh of"), X);
      if (is(c, "instance_controller")) {
        fail(c, "a mesh is deformed by a skeleton, but a shape is rigid; export the file without it");
      }
    });
  }

  template <class Library>
  static const typename Library::mapped_type& named(const Library& library, const Element& instance,
                                                    const char* missing) {
    const auto it = library.find(reference(instance, "url"));
    if (it != library.end()) return it->second;
    fail(instance, fmt::format("{} names {} this file; export everything into one file",
                               in_quotes(attribute(instance, "url")), missing));
  }

  void add_node(const Element& node, Eigen::Affine3d X, int depth) {
    if (++node_count_ > kMaxNodes) fail(node, "has more than a million nodes with its instances; join them");
    each_child(node, nullptr, [&](const Element& c) { transform(c, X); });
    add_children(node, X, depth + 1);
  }

  static void transform(const Element& e, Eigen::Affine3d& X) {
    if (is(e, "skew") || is(e, "lookat")) {
      fail(e, fmt::format("<{}> is not supported; apply the transforms of the objects before exporting", e.Name()));
    }
    const std::size_t expected = is(e, "matrix")                        ? 16
                                 : is(e, "rotate")                      ? 4
                                 : is(e, "translate") || is(e, "scale") ? 3
                                                                        : 0;
    if (expected == 0) return;
    const std::vector<double> x = numbers_of(e);
    if (x.size() != expected) {
      fail(e, fmt::format("<{}> has {} numbers, not {}; export the file again", e.Name(), x.size(), expected));
    }
    const Eigen::Map<const Vec3> v(x.data());
    if (is(e, "rotate") && v.isZero(0)) fail(e, "<rotate> has an axis of length 0; export the file again");
    if (is(e, "matrix")) {
      X = X * Eigen::Affine3d(Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(x.data()));
    } else if (is(e, "rotate")) {
      X.rotate(Eigen::AngleAxisd(x[3] * std::numbers::pi / 180, v.stableNormalized()));
    } else if (is(e, "translate")) {
      X.translate(v);
    } else {
      X.scale(v);
    }
  }

  void add_geometry(const Element& instance, const Surface& part, const Eigen::Affine3d& X) {
    if (part.triangles.empty()) return;
    if (out_.points.size() + part.points.size() > most_points_) {
      fail(instance, fmt::format("has more than {} vertices with its instances, in a file of this size; store what is "
                                 "instanced as a mesh",
                                 most_points_));
    }
    if (out_.points.size() + part.points.size() > kMaxMeshVertices ||
        out_.triangles.size() + part.triangles.size() > kMaxMeshTriangles) {
      fail(instance, fmt::format("has more than {} vertices or {} triangles with its instances; simplify it",
                                 kMaxMeshVertices, kMaxMeshTriangles));
    }
    const auto first = static_cast<int>(out_.points.size());
    const bool mirrored = X.linear().determinant() < 0;
    for (const Vec3& p : part.points) out_.points.push_back(X * p);
    for (const auto& [a, b, c] : part.triangles) {
      out_.add_triangle(first + a, first + (mirrored ? c : b), first + (mirrored ? b : c));
    }
  }

  const Element& root_;
  std::size_t most_points_;
  Surface& out_;
  std::unordered_map<std::string_view, Surface> geometries_;
  std::unordered_map<std::string_view, const Element*> nodes_;
  int node_count_ = 0;
};

// The root element of a document that has one and nothing else that means anything.
const Element& root_of(const tinyxml2::XMLDocument& document) {
  const Element* root = nullptr;
  for (const tinyxml2::XMLNode* node = document.FirstChild(); node != nullptr; node = node->NextSibling()) {
    const int line = node->GetLineNum();
    if (node->ToText() != nullptr) {
      fail_at_line(line, "text stands outside of all elements, so this is no Collada file; export it again");
    }
    if (node->ToUnknown() != nullptr && std::string_view(node->Value()).find('[') != std::string_view::npos) {
      fail_at_line(line, "the document type declares names of its own; export the file again without them");
    }
    if (node->ToElement() == nullptr) continue;
    if (root != nullptr) fail_at_line(line, "has more than one root element; export it again");
    root = node->ToElement();
  }
  if (root == nullptr) throw InputError("", "is no XML file with one root element; export it again");
  return *root;
}

}  // namespace

void read_collada(std::string_view text, Surface& out) {
  xml::require_bounded(text, kMaxElements);
  tinyxml2::XMLDocument document;
  switch (document.Parse(text.data(), text.size())) {
    case tinyxml2::XML_SUCCESS:
      break;
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
      fail_at_line(document.ErrorLineNum(),
                   fmt::format("elements are nested more than {} deep; flatten the scene before "
                               "exporting it",
                               TINYXML2_MAX_ELEMENT_DEPTH));
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
      fail_at_line(document.ErrorLineNum(), "a tag closes no element, or one is missing; export the file again");
    case tinyxml2::XML_ERROR_PARSING_COMMENT:
      fail_at_line(document.ErrorLineNum(), "the file is cut off within a comment; export it again");
    default:
      fail_at_line(document.ErrorLineNum(), "is cut off or damaged here, or no Collada file; export it again");
  }
  Collada(root_of(document), text.size(), out);
}

}  // namespace sarrus::mesh
