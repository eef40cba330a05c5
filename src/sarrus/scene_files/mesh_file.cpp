#include "sarrus/scene_files/mesh_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/scene_files/mesh_reader.h"

namespace sarrus {
namespace mesh {
namespace {

constexpr std::size_t kStlHeader = 84;  // bytes: 80 of text, then the number of triangles
constexpr std::size_t kStlTriangle = 50;
constexpr std::size_t kStlNormal = 12;         // bytes at the start of a triangle
constexpr std::int64_t kMaxCutting = 1 << 29;  // corners looked at to cut the faces of one file into triangles

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

bool same_word(std::string_view word, std::string_view keyword) {
  return std::equal(word.begin(), word.end(), keyword.begin(), keyword.end(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

// Some editors put a mark in front of UTF-8 text.
std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

// The words of a text, with the line of the last one.
class Words {
 public:
  explicit Words(std::string_view text) : text_(without_mark(text)) {}

  // Empty at the end of the text.
  std::string_view next() {
    for (; at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n'); ++at_) line_ += text_[at_] == '\n';
    return take();
  }
  // Empty at the end of the line. A backslash before the end continues the line.
  std::string_view next_in_line() {
    for (;;) {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      if (at_ >= text_.size() || text_[at_] == '\n') return {};
      const std::string_view word = take();
      if (word != "\\") return word;
      skip_line();
      if (at_ < text_.size()) ++at_, ++line_;
    }
  }
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  int line() const { return line_; }

 private:
  std::string_view take() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '\n') ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

double number_of(std::string_view word, int line) {
  double value = 0;
  if (word.empty()) fail_at_line(line, "the file is cut off within a vector; export it again");
  if (!parse_number(word, value)) {
    fail_at_line(line, fmt::format("{} is not a finite number; export the file again", in_quotes(word)));
  }
  return value;
}

std::uint32_t little_endian(const char* bytes) {
  std::uint32_t x = 0;
  for (int k = 3; k >= 0; --k) x = x << 8 | static_cast<unsigned char>(bytes[k]);
  return x;
}

// { solid [name] { facet normal x y z  outer loop  vertex x y z  (three of them)  endloop  endfacet } endsolid [name] }
class StlText {
 public:
  StlText(std::string_view text, Surface& out) : words_(text), out_(out) {
    while (read_keyword({"solid", ""}) == 0) {
      words_.skip_line();
      while (read_keyword({"facet", "endsolid"}) == 0) read_facet();
      words_.skip_line();
    }
  }

 private:
  // Index of the keyword that is next; "" stands for the end of the file.
  std::size_t read_keyword(std::initializer_list<std::string_view> keywords) {
    const std::string_view word = words_.next();
    const auto found = std::find_if(keywords.begin(), keywords.end(),
                                    [&](std::string_view keyword) { return same_word(word, keyword); });
    if (found != keywords.end()) return static_cast<std::size_t>(found - keywords.begin());
    std::vector<std::string_view> due(keywords);
    std::erase(due, "");
    const std::string expected = fmt::format("'{}'", fmt::join(due, "' or '"));
    if (word.empty())
      fail_at_line(words_.line(), fmt::format("the file is cut off before {}; export it again", expected));
    fail_at_line(words_.line(),
                 fmt::format("{} stands where {} is due; export the file again", in_quotes(word), expected));
  }

  void read_facet() {
    read_keyword({"normal"});
    for (int k = 0; k < 3; ++k) words_.next();  // exporters write all kinds of text for nan
    read_keyword({"outer"});
    read_keyword({"loop"});
    for (int corner = 0; corner < 3; ++corner) {
      read_keyword({"vertex"});
      Vec3& p = out_.points.emplace_back();
      for (int k = 0; k < 3; ++k) {
        const std::string_view word = words_.next();
        p[k] = number_of(word, words_.line());
      }
    }
    read_keyword({"endloop"});
    read_keyword({"endfacet"});
    out_.add_last_three();
  }

  Words words_;
  Surface& out_;
};

bool has_binary_size(std::string_view bytes) {
  return bytes.size() >= kStlHeader &&
         bytes.size() == kStlHeader + kStlTriangle * std::uint64_t{little_endian(bytes.data() + kStlHeader - 4)};
}

void read_binary_stl(std::string_view bytes, Surface& out) {
  if (bytes.size() < kStlHeader) {
    throw InputError("", fmt::format("has {} bytes, too few for an STL file; export it again", bytes.size()));
  }
  const std::uint64_t count = little_endian(bytes.data() + kStlHeader - 4);
  if (!has_binary_size(bytes)) {
    throw InputError("", fmt::format("is no whole STL file: the {} triangles of its header need {} bytes, it has {}; "
                                     "export it again",
                                     count, kStlHeader + kStlTriangle * count, bytes.size()));
  }
  for (std::uint64_t t = 0; t < count; ++t) {
    const char* next = bytes.data() + kStlHeader + kStlTriangle * t + kStlNormal;
    for (int corner = 0; corner < 3; ++corner) {
      Vec3& p = out.points.emplace_back();
      for (int k = 0; k < 3; ++k, next += 4) p[k] = std::bit_cast<float>(little_endian(next));
      if (p.allFinite()) continue;
      throw InputError("", fmt::format("triangle {} has a coordinate that is not finite; export it again", t));
    }
    out.add_last_three();
  }
}

void read_stl(std::string_view bytes, Surface& out) {
  // Binary files may start with the word as well; only the size tells.
  if (same_word(Words(bytes).next().substr(0, 5), "solid") && !has_binary_size(bytes)) {
    StlText(bytes, out);
  } else {
    read_binary_stl(bytes, out);
  }
}

// Vertices and faces, "v x y z" and "f i j k ...".
class Obj {
 public:
  Obj(std::string_view text, Surface& out) : words_(text), out_(out) {
    for (std::string_view word = words_.next(); !word.empty(); word = words_.next()) {
      if (word == "v") read_vertex();
      if (word == "f") read_face();
      words_.skip_line();
    }
    if (largest_ > vertices()) {
      fail_at_line(largest_line_,
                   fmt::format("a face has the vertex {}, but the file has {}; export it again", largest_, vertices()));
    }
    for (std::size_t begin = 0, f = 0; f < face_end_.size(); begin = face_end_[f++]) {
      out_.add_polygon(std::span(corners_).subspan(begin, face_end_[f] - begin));
    }
  }

 private:
  int vertices() const { return static_cast<int>(out_.points.size()); }

  // Weights and colours may follow the coordinates.
  void read_vertex() {
    Vec3 p;
    for (int k = 0; k < 3; ++k) {
      const std::string_view word = words_.next_in_line();
      if (word.empty())
        fail_at_line(words_.line(), fmt::format("a vertex has {} coordinates; export the file again", k));
      p[k] = number_of(word, words_.line());
    }
    if (vertices() == kMaxMeshVertices) {
      throw InputError("", fmt::format("has more than {} vertices; simplify it or split it", kMaxMeshVertices));
    }
    out_.points.push_back(p);
  }

  void read_face() {
    for (std::string_view word = words_.next_in_line(); !word.empty() && word[0] != '#'; word = words_.next_in_line()) {
      corners_.push_back(corner_of(word));
    }
    face_end_.push_back(corners_.size());
  }

  // "vertex", "vertex/texture", "vertex//normal" or "vertex/texture/normal"; negative numbers count from the last one.
  int corner_of(std::string_view word) {
    const std::string_view digits = word.substr(0, word.find('/'));
    int index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (index < 0 && index >= -vertices()) index += vertices() + 1;
    if (error != std::errc() || end != digits.data() + digits.size() || index < 1) {
      fail_at_line(words_.line(),
                   fmt::format("a face has the corner {}, which is no vertex; export the file again", in_quotes(word)));
    }
    if (index > largest_) {
      largest_ = index;
      largest_line_ = words_.line();
    }
    return index - 1;
  }

  Words words_;
  Surface& out_;
  std::vector<int> corners_;           // of all faces, cut at the end: faces may come before their vertices
  std::vector<std::size_t> face_end_;  // in corners_
  int largest_ = 0;                    // vertex of a face
  int largest_line_ = 0;
};

// Twice the area of the triangle, > 0 counter-clockwise.
double turn(const Vec2& a, const Vec2& b, const Vec2& c) {
  const Vec2 u = b - a;
  const Vec2 v = c - a;
  return u.x() * v.y() - u.y() * v.x();
}

bool in_triangle(const Vec2& p, const Vec2& a, const Vec2& b, const Vec2& c) {
  if (p == a || p == b || p == c) return false;
  return turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0;
}

// The corners seen along the polygon's normal, counter-clockwise.
std::vector<Vec2> flattened(std::span<const Vec3> points, const std::vector<int>& corners) {
  const auto at = [&](std::size_t i) { return points[static_cast<std::size_t>(corners[i % corners.size()])]; };
  Vec3 normal = Vec3::Zero();
  for (std::size_t i = 1; i + 1 < corners.size(); ++i) normal += (at(i) - at(0)).cross(at(i + 1) - at(0));
  Eigen::Index axis = 0;
  normal.cwiseAbs().maxCoeff(&axis);
  const int x = static_cast<int>(axis + (normal[axis] < 0 ? 2 : 1)) % 3;
  const int y = static_cast<int>(axis + (normal[axis] < 0 ? 1 : 2)) % 3;
  std::vector<Vec2> flat;
  flat.reserve(corners.size());
  for (std::size_t i = 0; i < corners.size(); ++i) flat.emplace_back(at(i)[x], at(i)[y]);
  return flat;
}

std::uint64_t hash_of(const Vec3& v) {
  std::uint64_t h = 0;
  for (const double x : v) {
    h = (h ^ std::bit_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15ULL;
    h ^= h >> 29;
  }
  return h;
}

// The vertices that triangles use, equal ones once, in order of first use.
MeshFile joined(const Surface& surface) {
  const std::size_t mask = std::bit_ceil(2 * surface.points.size() + 1) - 1;
  std::vector<int> slots(mask + 1, -1);
  MeshFile mesh;
  mesh.triangles = surface.triangles;
  for (auto& triangle : mesh.triangles) {
    for (int& corner : triangle) {
      const Vec3& v = surface.points[static_cast<std::size_t>(corner)];
      std::size_t slot = hash_of(v) & mask;
      while (slots[slot] >= 0 && mesh.vertices[static_cast<std::size_t>(slots[slot])] != v) slot = (slot + 1) & mask;
      if (slots[slot] < 0) {
        slots[slot] = static_cast<int>(mesh.vertices.size());
        mesh.vertices.push_back(v);
      }
      corner = slots[slot];
    }
  }
  return mesh;
}

using Read = void (*)(std::string_view bytes, Surface& out);

Read reader_of(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  if (same_word(extension, ".stl")) return read_stl;
  if (same_word(extension, ".obj")) return [](std::string_view text, Surface& out) { Obj(text, out); };
  if (same_word(extension, ".dae")) return read_collada;
  throw InputError("", fmt::format("the extension '{}' is not that of a mesh file; give an .stl, .obj or .dae file",
                                   printable(extension)));
}

void apply(const MeshFileOptions& options, Surface& surface) {
  for (Vec3& v : surface.points) {
    // Adding 0 leaves no negative zeros, which are equal to zeros but have other bits.
    v = v.cwiseProduct(options.scale) + Vec3::Zero();
    if (!v.allFinite()) throw InputError("", "a coordinate is not finite; export it again, or correct the scale");
  }
  if ((options.scale.prod() < 0) == options.flip) return;
  for (auto& triangle : surface.triangles) std::swap(triangle[1], triangle[2]);
}

}  // namespace

void fail_at_line(int line, const std::string& problem_and_remedy) {
  throw InputError(fmt::format("line {}", line), problem_and_remedy);
}

bool parse_number(std::string_view word, double& value) {
  if (word.starts_with('+')) word.remove_prefix(1);
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, value);
  if (error == std::errc::result_out_of_range && end == last) {
    value = 0;  // underflow, which only a negative exponent gives
    return word.find("e-") != std::string_view::npos || word.find("E-") != std::string_view::npos;
  }
  return error == std::errc() && end == last && std::abs(value) <= std::numeric_limits<float>::max();
}

void Surface::add_triangle(int a, int b, int c) {
  if (triangles.size() == kMaxMeshTriangles) {
    throw InputError("", fmt::format("has more than {} triangles; simplify it or split it", kMaxMeshTriangles));
  }
  triangles.push_back({a, b, c});
}

void Surface::add_last_three() {
  const int n = static_cast<int>(points.size());
  add_triangle(n - 3, n - 2, n - 1);
}

// Cuts ears: corners that turn left and whose triangle holds no other corner. Convex polygons become fans.
void Surface::add_polygon(std::span<const int> polygon) {
  std::vector<int> corners(polygon.begin(), polygon.end());
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  while (corners.size() > 1 && corners.front() == corners.back()) corners.pop_back();
  if (corners.size() < 3) return;  // no area
  std::vector<Vec2> flat = flattened(points, corners);
  const auto is_ear = [&](std::size_t i) {
    const std::size_t n = flat.size();
    const Vec2& a = flat[(i + n - 1) % n];
    const Vec2& b = flat[i];
    const Vec2& c = flat[(i + 1) % n];
    if (!(turn(a, b, c) > 0)) return false;
    cutting += static_cast<std::int64_t>(n);
    return std::none_of(flat.begin(), flat.end(), [&](const Vec2& p) { return in_triangle(p, a, b, c); });
  };
  while (corners.size() > 3) {
    // What crosses itself or has no area may have no ear: any corner is as good as another.
    std::size_t ear = 1;
    while (ear <= corners.size() && !is_ear(ear % corners.size())) ++ear;
    ear = ear > corners.size() ? 1 : ear % corners.size();
    const std::size_t n = corners.size();
    add_triangle(corners[(ear + n - 1) % n], corners[ear], corners[(ear + 1) % n]);
    corners.erase(corners.begin() + static_cast<std::ptrdiff_t>(ear));
    flat.erase(flat.begin() + static_cast<std::ptrdiff_t>(ear));
    cutting += static_cast<std::int64_t>(n);
    if (cutting > kMaxCutting) {
      throw InputError("", "its faces have too many corners; cut them into triangles before exporting");
    }
  }
  add_triangle(corners[0], corners[1], corners[2]);
}

}  // namespace mesh

MeshFile load_mesh_file(const std::filesystem::path& file, const MeshFileOptions& options) {
  try {
    if (!options.scale.allFinite() || (options.scale.array() == 0).any()) {
      throw InputError("", fmt::format("scale is [{}, {}, {}]; give finite factors other than 0", options.scale.x(),
                                       options.scale.y(), options.scale.z()));
    }
    const mesh::Read read = mesh::reader_of(file);
    const std::string bytes = read_file(file, "a mesh file", kMaxMeshFileBytes, "simplify the mesh");
    if (bytes.empty()) throw InputError("", "is empty; export it again");
    mesh::Surface surface;
    read(bytes, surface);
    if (surface.triangles.empty()) throw InputError("", "has no triangles; export the surface of a solid");
    mesh::apply(options, surface);
    return mesh::joined(surface);
  } catch (const InputError& error) {
    if (error.element() == file.string()) throw;
    throw InputError(file.string(), error.what());
  }
}

}  // namespace sarrus
