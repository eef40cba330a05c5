// XML files as trees of plain nodes, for readers that copy, move and merge elements before they look at them.
//
// Foreign files are bounded before they cost anything: bytes, elements, attributes of one element, depth. There is no
// network and no document type: entities other than those of XML itself are refused, so that nothing expands.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sarrus::xml {

inline constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxElements = 1'000'000;
inline constexpr int kMaxAttributes = 100;  // of one element; tinyxml2 compares each with all others
inline constexpr int kMaxDepth = 200;       // of elements in elements

// Where something stands in a file.
struct Place {
  std::shared_ptr<const std::string> file;
  int line = 0;

  std::string text() const;  // "robot.xml:42", or empty
};

struct Attribute {
  std::string name;
  std::string value;
};

struct Node {
  std::string name;
  std::vector<Attribute> attributes;
  std::vector<Node> children;
  std::string text;  // of the element itself, without that of its children
  Place place;

  // Null if there is none with this name.
  const std::string* find(std::string_view attribute) const;
  std::string* find(std::string_view attribute);
  // The value, or empty.
  std::string get(std::string_view attribute) const;
  void set(std::string_view attribute, std::string value);
  bool has(std::string_view attribute) const { return find(attribute) != nullptr; }
  // The first child with this name, or null.
  const Node* child(std::string_view child_name) const;
  // Calls f(child) for the children with this name.
  template <class F>
  void each(std::string_view child_name, F f) const {
    for (const Node& c : children) {
      if (c.name == child_name) f(c);
    }
  }
  // This node and all below it.
  std::size_t size() const;
};

// Throws InputError if the text has more elements, or attributes in one of them, than given: before anything is built.
void require_bounded(std::string_view text, std::size_t max_elements, int max_attributes = kMaxAttributes);

// The root element. `name` stands in messages. Throws InputError "name:line: problem; remedy".
Node parse(std::string_view text, const std::string& name);
Node read(const std::filesystem::path& file);

// The name of the root element of a file that begins like XML; empty if it does not.
std::string root_name(std::string_view text);

// Numbers separated by white space: decimal, with an optional sign, whatever the locale. False if a word is none, or is
// not finite.
bool parse_numbers(std::string_view text, std::vector<double>& numbers);
bool parse_number(std::string_view text, double& number);
std::vector<std::string_view> words_of(std::string_view text);

// Throws InputError "file:line: element 'name': message".
[[noreturn]] void fail(const Node& node, const std::string& problem_and_remedy);
// "geom 'foot'", or "geom" for one without a name.
std::string describe(const Node& node);

}  // namespace sarrus::xml
