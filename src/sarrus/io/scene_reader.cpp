#include "sarrus/io/scene_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sarrus/math/error.h"
#include "sarrus/model/model.h"

namespace sarrus::scene {
namespace {

constexpr std::size_t kMaxComparedText = 80;

std::string type_of(const Json& value) {
  std::string type = value.type_name();
  if (type == "null") return type;
  return (type == "object" || type == "array" ? "an " : "a ") + type;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_size) {
  std::string result;
  for (const char c : text.substr(0, max_size)) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\x{:02x}", code);
    } else {
      result += c;
    }
  }
  if (text.size() <= max_size) return result;
  // The cut may have split a character: drop its bytes, the message stays valid UTF-8.
  while (!result.empty() && (static_cast<unsigned char>(result.back()) & 0xC0) == 0x80) result.pop_back();
  if (!result.empty() && (static_cast<unsigned char>(result.back()) & 0x80) != 0) result.pop_back();
  return result + "...";
}

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known, std::string_view kind) {
  // Edit distances of long texts cost time and suggest nothing.
  const std::string near = wrong.size() <= kMaxComparedText ? nearest_name(wrong, known) : std::string();
  if (!near.empty()) return fmt::format("did you mean {}?", in_quotes(near));
  if (known.empty()) return fmt::format("there is no {}", kind);
  constexpr std::size_t kMaxListed = 24;
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < std::min(known.size(), kMaxListed); ++i) listed.push_back(printable(known[i]));
  std::sort(listed.begin(), listed.end());
  return fmt::format("use one of {}{}", fmt::join(listed, ", "), known.size() > kMaxListed ? ", ..." : "");
}

ObjectReader::ObjectReader(const Json& value, std::string element, std::string path)
    : value_(&value), element_(std::move(element)), path_(std::move(path)) {
  if (value.is_object()) return;
  fail(fmt::format("{} must be an object, is {}; write {{ ... }}", self(), type_of(value)));
}

const Json* ObjectReader::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  const auto it = value_->find(key);
  return it == value_->end() ? nullptr : &*it;
}

bool ObjectReader::has_object(std::string_view key) {
  const Json* value = find(key);
  return value && value->is_object();
}

bool ObjectReader::is_number(std::string_view key) {
  const Json* value = find(key);
  return value && value->is_number();
}

const Json& ObjectReader::require(std::string_view key, std::string_view example) {
  if (const Json* value = find(key)) return *value;
  fail(fmt::format("key '{}' is missing; add it, for example \"{}\": {}", full(key), key, example));
}

double ObjectReader::as_number(const Json& value, std::string_view key) const {
  if (!value.is_number()) wrong_type(key, "a number", value, "1.5");
  return value.get<double>();
}

double ObjectReader::number(std::string_view key) { return as_number(require(key, "1.5"), key); }

double ObjectReader::number(std::string_view key, double fallback) {
  const Json* value = find(key);
  return value ? as_number(*value, key) : fallback;
}

double ObjectReader::positive(std::string_view key) {
  const double x = number(key);
  if (!(x > 0)) fail(fmt::format("{} is {}; give a number > 0", full(key), x));
  return x;
}

bool ObjectReader::flag(std::string_view key, bool fallback) {
  const Json* value = find(key);
  if (!value) return fallback;
  if (!value->is_boolean()) wrong_type(key, "true or false", *value, "true");
  return value->get<bool>();
}

std::string ObjectReader::text(std::string_view key, std::string_view example) {
  const Json& value = require(key, fmt::format("\"{}\"", example));
  if (!value.is_string()) wrong_type(key, "a string", value, fmt::format("\"{}\"", example));
  return value.get<std::string>();
}

std::string ObjectReader::text_or(std::string_view key, std::string fallback) {
  return has(key) ? text(key, "text") : std::move(fallback);
}

Vec3 ObjectReader::vec3(std::string_view key) {
  const std::vector<double> x = numbers(key, {3});
  return {x[0], x[1], x[2]};
}

Vec3 ObjectReader::vec3(std::string_view key, const Vec3& fallback) { return has(key) ? vec3(key) : fallback; }

std::vector<double> ObjectReader::numbers(std::string_view key, const std::vector<std::size_t>& sizes) {
  const std::string example = fmt::format("[{}]", fmt::join(std::vector<int>(sizes.front(), 1), ", "));
  const std::string expected = fmt::format("an array of {} numbers", fmt::join(sizes, " or "));
  const Json& value = require(key, example);
  if (!value.is_array()) wrong_type(key, expected, value, example);
  if (std::find(sizes.begin(), sizes.end(), value.size()) == sizes.end()) {
    fail(fmt::format("{} must be {}, has {} entries; write it like {}", full(key), expected, value.size(), example));
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < value.size(); ++i) result.push_back(as_number(value[i], fmt::format("{}[{}]", key, i)));
  return result;
}

std::vector<std::string> ObjectReader::strings(std::string_view key, std::size_t count) {
  const Json& value = require(key, R"(["a", "b"])");
  const std::string expected = count > 0 ? fmt::format("an array of {} strings", count) : "an array of strings";
  if (!value.is_array()) wrong_type(key, expected, value, R"(["a", "b"])");
  if (count > 0 && value.size() != count) {
    fail(fmt::format("{} must be {}, has {} entries; name exactly {}", full(key), expected, value.size(), count));
  }
  std::vector<std::string> result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_string()) wrong_type(fmt::format("{}[{}]", key, i), "a string", value[i], "\"a\"");
    result.push_back(value[i].get<std::string>());
  }
  return result;
}

std::size_t ObjectReader::choice(std::string_view key, const std::vector<std::string>& names) {
  const std::string chosen = text(key, names.front());
  const auto it = std::find(names.begin(), names.end(), chosen);
  if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  fail(fmt::format("{} {} is unknown; {}", full(key), in_quotes(chosen), suggestion(chosen, names, key)));
}

std::uint32_t ObjectReader::bits(std::string_view key, std::uint32_t fallback) {
  const Json* value = find(key);
  if (!value) return fallback;
  if (*value == "all") return ~0u;
  if (*value == "none") return 0u;
  if (!value->is_array()) {
    fail(fmt::format("{} must be a list of bit numbers, \"all\" or \"none\"; write it like [0, 3]", full(key)));
  }
  std::uint32_t result = 0;
  for (const Json& bit : *value) {
    if (!bit.is_number_unsigned() || bit.get<std::uint64_t>() > 31) {
      fail(fmt::format("{} has an entry that is no bit number; use integers from 0 to 31", full(key)));
    }
    result |= 1u << bit.get<unsigned>();
  }
  return result;
}

ObjectReader ObjectReader::object(std::string_view key) {
  return ObjectReader(require(key, "{}"), element_, full(key) + ".");
}

ObjectReader ObjectReader::object_as(std::string_view key, std::string element) {
  return ObjectReader(require(key, "{}"), std::move(element));
}

const Json& ObjectReader::array(std::string_view key) {
  static const Json empty = Json::array();
  const Json* value = find(key);
  if (!value) return empty;
  if (!value->is_array()) wrong_type(key, "an array", *value, "[ ... ]");
  return *value;
}

std::string ObjectReader::label(const Json& value, std::string_view kind, std::size_t index, std::string_view suffix) {
  if (value.is_object()) {
    const auto it = value.find("name");
    if (it != value.end() && it->is_string() && !it->get_ref<const std::string&>().empty()) {
      return fmt::format("{} {}{}", kind, in_quotes(it->get_ref<const std::string&>()), suffix);
    }
  }
  return fmt::format("{} #{}{}", kind, index, suffix);
}

void ObjectReader::reject(std::string_view key, std::string_view problem_and_remedy) {
  if (has(key)) fail(fmt::format("{} {}", full(key), problem_and_remedy));
}

void ObjectReader::finish() {
  for (const auto& [key, value] : value_->items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    fail(fmt::format("unknown key '{}{}'; {}", path_, printable(key), suggestion(key, known_, "key")));
  }
}

void ObjectReader::fail(const std::string& problem_and_remedy) const { throw InputError(element_, problem_and_remedy); }

void ObjectReader::wrong_type(std::string_view key, std::string_view expected, const Json& value,
                              std::string_view example) const {
  fail(fmt::format("{} must be {}, is {}; write it like {}", full(key), expected, type_of(value), example));
}

}  // namespace sarrus::scene
