#include "sarrus/io/mesh_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <vector>

#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/io/scene_reader.h"
#include "sarrus/math/error.h"

namespace sarrus::mesh_text {
namespace {

using scene::in_quotes;

constexpr std::size_t kStlHeader = 84;  // bytes: 80 of text, then the number of triangles
constexpr std::size_t kStlTriangle = 50;
constexpr std::size_t kStlNormal = 12;  // bytes at the start of a triangle

[[noreturn]] void fail(std::size_t line, const std::string& problem_and_remedy) {
  throw InputError(fmt::format("line {}", line), problem_and_remedy);
}

void require_room_for_triangles(std::int64_t count) {
  if (count > kMaxMeshTriangles) {
    throw InputError("", fmt::format("has more than {} triangles; simplify it or split it", kMaxMeshTriangles));
  }
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view word, std::string_view keyword) {
  return std::equal(word.begin(), word.end(), keyword.begin(), keyword.end(),
                    [](char a, char b) { return lower(a) == b; });
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
  std::size_t line() const { return line_; }

 private:
  std::string_view take() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '\n') ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

double number_of(std::string_view word, std::size_t line) {
  double value = 0;
  if (word.empty()) fail(line, "the file is cut off within a vector; export it again");
  if (!parse_number(word, value)) {
    fail(line, fmt::format("{} is not a finite number; export the file again", in_quotes(word)));
  }
  return value;
}

void put_little_endian(std::string& out, std::uint32_t x) {
  for (int k = 0; k < 4; ++k) out += static_cast<char>(x >> 8 * k & 0xFF);
}

std::uint32_t little_endian(const char* bytes) {
  std::uint32_t x = 0;
  for (int k = 3; k >= 0; --k) x = x << 8 | static_cast<unsigned char>(bytes[k]);
  return x;
}

// Text to binary.
class StlReducer {
 public:
  explicit StlReducer(std::string_view text) : words_(text) {}

  std::string reduce() {
    out_.assign(kStlHeader, ' ');
    while (read_keyword({"solid", ""}) == 0) {
      words_.skip_line();
      while (read_keyword({"facet", "endsolid"}) == 0) read_facet();
      words_.skip_line();
    }
    if (triangles_ == 0) return {};
    std::string count;
    put_little_endian(count, triangles_);
    out_.replace(kStlHeader - count.size(), count.size(), count);
    return std::move(out_);
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
    if (word.empty()) fail(words_.line(), fmt::format("the file is cut off before {}; export it again", expected));
    fail(words_.line(), fmt::format("{} stands where {} is due; export the file again", in_quotes(word), expected));
  }

  void read_facet() {
    read_keyword({"normal"});
    for (int k = 0; k < 3; ++k) words_.next();  // exporters write all kinds of text for nan
    out_.append(kStlNormal, '\0');
    read_keyword({"outer"});
    read_keyword({"loop"});
    for (int corner = 0; corner < 3; ++corner) {
      read_keyword({"vertex"});
      for (int k = 0; k < 3; ++k) {
        const std::string_view word = words_.next();
        put_little_endian(out_, std::bit_cast<std::uint32_t>(static_cast<float>(number_of(word, words_.line()))));
      }
    }
    read_keyword({"endloop"});
    read_keyword({"endfacet"});
    out_.append(2, '\0');
    require_room_for_triangles(++triangles_);
  }

  Words words_;
  std::string out_;
  std::uint32_t triangles_ = 0;
};

bool has_binary_size(std::string_view bytes) {
  return bytes.size() >= kStlHeader &&
         bytes.size() == kStlHeader + kStlTriangle * std::uint64_t{little_endian(bytes.data() + kStlHeader - 4)};
}

std::string reduced_binary_stl(std::string bytes) {
  if (bytes.size() < kStlHeader) {
    throw InputError("", fmt::format("has {} bytes, too few for an STL file; export it again", bytes.size()));
  }
  const std::uint64_t count = little_endian(bytes.data() + kStlHeader - 4);
  if (!has_binary_size(bytes)) {
    throw InputError("", fmt::format("is no whole STL file: the {} triangles of its header need {} bytes, it has {}; "
                                     "export it again",
                                     count, kStlHeader + kStlTriangle * count, bytes.size()));
  }
  require_room_for_triangles(static_cast<std::int64_t>(count));
  if (count == 0) return {};
  std::fill_n(bytes.begin(), kStlHeader - 4, ' ');  // assimp looks for colours in this text
  for (std::uint64_t t = 0; t < count; ++t) {
    char* record = bytes.data() + kStlHeader + kStlTriangle * t;
    std::memset(record, 0, kStlNormal);
    std::memset(record + kStlTriangle - 2, 0, 2);  // colour
    for (std::size_t k = kStlNormal; k + 4 <= kStlTriangle; k += 4) {
      if (std::isfinite(std::bit_cast<float>(little_endian(record + k)))) continue;
      throw InputError("", fmt::format("triangle {} has a coordinate that is not finite; export it again", t));
    }
  }
  return bytes;
}

class ObjReducer {
 public:
  explicit ObjReducer(std::string_view text) : words_(text) {}

  std::string reduce() {
    for (std::string_view word = words_.next(); !word.empty(); word = words_.next()) {
      if (word == "v") read_vertex();
      if (word == "f") read_face();
      words_.skip_line();
    }
    if (largest_ > vertices_) {
      fail(largest_line_,
           fmt::format("a face has the vertex {}, but the file has {}; export it again", largest_, vertices_));
    }
    return triangles_ > 0 ? std::move(out_) : std::string();
  }

 private:
  // Weights and colours may follow the coordinates.
  void read_vertex() {
    out_ += 'v';
    for (int k = 0; k < 3; ++k) {
      const std::string_view word = words_.next_in_line();
      if (word.empty()) fail(words_.line(), fmt::format("a vertex has {} coordinates; export the file again", k));
      fmt::format_to(std::back_inserter(out_), " {:.9g}", number_of(word, words_.line()));
    }
    out_ += '\n';
    if (++vertices_ > kMaxMeshVertices) {
      throw InputError("", fmt::format("has more than {} vertices; simplify it or split it", kMaxMeshVertices));
    }
  }

  void read_face() {
    corners_.clear();
    for (std::string_view word = words_.next_in_line(); !word.empty() && word[0] != '#'; word = words_.next_in_line()) {
      const int corner = corner_of(word);
      if (corners_.empty() || corner != corners_.back()) corners_.push_back(corner);
    }
    while (corners_.size() > 1 && corners_.front() == corners_.back()) corners_.pop_back();
    if (corners_.size() < 3) return;  // no area
    triangles_ += static_cast<std::int64_t>(corners_.size()) - 2;
    require_room_for_triangles(triangles_);
    out_ += 'f';
    for (const int corner : corners_) fmt::format_to(std::back_inserter(out_), " {}", corner);
    out_ += '\n';
  }

  // "vertex", "vertex/texture", "vertex//normal" or "vertex/texture/normal"; negative numbers count from the last one.
  int corner_of(std::string_view word) {
    const std::string_view digits = word.substr(0, word.find('/'));
    int index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (index < 0 && index >= -vertices_) index += vertices_ + 1;
    if (error != std::errc() || end != digits.data() + digits.size() || index < 1) {
      fail(words_.line(),
           fmt::format("a face has the corner {}, which is no vertex; export the file again", in_quotes(word)));
    }
    if (index > largest_) {
      largest_ = index;
      largest_line_ = words_.line();
    }
    return index;
  }

  Words words_;
  std::string out_;
  std::vector<int> corners_;
  int vertices_ = 0;
  std::int64_t triangles_ = 0;
  int largest_ = 0;  // vertex of a face, compared at the end: faces may come before their vertices
  std::size_t largest_line_ = 0;
};

}  // namespace

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

std::string reduced_stl(std::string bytes) {
  // Binary files may start with the word as well; only the size tells.
  if (same_word(Words(bytes).next().substr(0, 5), "solid") && !has_binary_size(bytes))
    return StlReducer(bytes).reduce();
  return reduced_binary_stl(std::move(bytes));
}

std::string reduced_obj(std::string_view text) { return ObjReducer(text).reduce(); }

}  // namespace sarrus::mesh_text
