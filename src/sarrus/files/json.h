// JSON as files of users need it: strict parsing with messages that tell where, checked access to objects, and text
// that people read.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/math/types.h"

namespace sarrus::json {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// A syntax error names its line and column; duplicate keys, deep nesting and numbers that overflow a double are errors.
// Throws InputError without a file name, which the caller adds.
Json parse_strict(std::string_view text);

// Whatever fits on a line stays on one, the rest is indented. Numbers are written with enough digits to keep their
// bits. Throws InputError if a string is not UTF-8.
std::string print(const OrderedJson& document);

// Checked access to one JSON object. Every key that is asked for becomes a known key; finish()
// refuses the others, so the set of allowed keys is stated once, by the code that reads them.
class ObjectReader {
 public:
  // `element` names what the object describes in messages ("body 'rod'"); `path` is where in the element the object
  // is ("limit."). Throws if the value is not an object.
  ObjectReader(const Json& value, std::string element, std::string path = {});

  const std::string& element() const { return element_; }

  // Whether the key is there; makes it a known key.
  bool has(std::string_view key) { return find(key) != nullptr; }
  bool has_object(std::string_view key);
  bool is_number(std::string_view key);

  // Readers without a fallback refuse a missing key. Numbers are finite: JSON has no others.
  double number(std::string_view key);
  double number(std::string_view key, double fallback);
  double positive(std::string_view key);  // a size, > 0
  bool flag(std::string_view key, bool fallback);
  std::string text(std::string_view key, std::string_view example);
  std::string text_or(std::string_view key, std::string fallback);
  Vec3 vec3(std::string_view key);
  Vec3 vec3(std::string_view key, const Vec3& fallback);
  // As many numbers as one of the sizes.
  std::vector<double> numbers(std::string_view key, const std::vector<std::size_t>& sizes);
  // `count` strings (0: any number).
  std::vector<std::string> strings(std::string_view key, std::size_t count);
  // Index of the string among the names.
  std::size_t choice(std::string_view key, const std::vector<std::string>& names);
  // Bits 0..31 as a list of bit numbers, "all" or "none".
  std::uint32_t bits(std::string_view key, std::uint32_t fallback);
  ObjectReader object(std::string_view key);
  // The same object, named as another element in messages (a coordinate of a joint).
  ObjectReader object_as(std::string_view key, std::string element);
  // An array; empty if the key is missing.
  const Json& array(std::string_view key);

  // Calls f(ObjectReader, index) for every object of an array. The element is named by its own "name" if it
  // has one: "body 'rod'", else "body #3"; `suffix` follows.
  template <class F>
  void each(std::string_view key, std::string_view kind, std::string_view suffix, F f) {
    const Json& list = array(key);
    for (std::size_t i = 0; i < list.size(); ++i) f(ObjectReader(list[i], label(list[i], kind, i, suffix)), i);
  }

  // The key is known, but does not belong here: an error if it is there.
  void reject(std::string_view key, std::string_view problem_and_remedy);
  // Refuses every key that was not asked for.
  void finish();

  // Throws InputError(element, problem_and_remedy).
  [[noreturn]] void fail(const std::string& problem_and_remedy) const;
  // The same for keys that are missing, of which one is required: if the object has an unknown key that looks like one
  // of them, that is the problem.
  [[noreturn]] void fail_missing(std::initializer_list<std::string_view> keys,
                                 const std::string& problem_and_remedy) const;
  // The key as messages name it: "limit.upper".
  std::string full(std::string_view key) const { return path_ + std::string(key); }
  // The object itself as messages name it: "limit", or "it" for the whole element.
  std::string self() const { return path_.empty() ? "it" : path_.substr(0, path_.size() - 1); }

 private:
  static std::string label(const Json& value, std::string_view kind, std::size_t index, std::string_view suffix);
  const Json* find(std::string_view key);
  const Json& require(std::string_view key, std::string_view example);
  double as_number(const Json& value, std::string_view key) const;
  [[noreturn]] void wrong_type(std::string_view key, std::string_view expected, const Json& value,
                               std::string_view example) const;

  const Json* value_;
  std::string element_;
  std::string path_;
  std::vector<std::string> known_;
};

}  // namespace sarrus::json
