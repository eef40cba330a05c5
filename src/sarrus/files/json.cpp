#include "sarrus/files/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus::json {
namespace {

// A scene needs eight levels; the bound keeps recursion over the document (ours and the library's) shallow.
constexpr std::size_t kMaxDepth = 32;

std::string line_and_column(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position > 0 ? position - 1 : 0);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return fmt::format("line {}, column {}", line, column);
}

// "[json.exception...] parse error at ...: syntax error while parsing value - PROBLEM; last read: 'TOKEN'".
// The token is dropped: it can be as long as the file and need not be valid UTF-8.
std::string problem_of(const std::string& what) {
  const std::size_t dash = what.find(" - ");
  std::string problem = dash == std::string::npos ? what : what.substr(dash + 3);
  return problem.substr(0, problem.find("; last read"));
}

std::string syntax_error(std::string_view text, std::size_t position, const std::string& what) {
  if (what.find("number overflow") != std::string::npos) {
    return "a number is too large for a double; give a finite number (leave the key out for 'unlimited')";
  }
  const std::string problem = problem_of(what);
  const char at = position > 0 && position <= text.size() ? text[position - 1] : '\0';
  const char before = position > 1 && position <= text.size() ? text[position - 2] : '\0';
  std::string_view remedy = "correct the JSON there";
  if (problem.find("UTF-8") != std::string::npos) {
    remedy = "save the file as UTF-8";
  } else if (at == '/' || before == '/' || at == '#') {
    remedy = "remove the comment, JSON has none (use 'description')";
  } else if (problem == "invalid literal") {
    remedy = "use a number, a quoted string, true or false (JSON has no NaN or infinity: leave the key out)";
  } else if (problem.find("unexpected end of input") != std::string::npos) {
    remedy = "the file is cut off, complete it";
  }
  return fmt::format("JSON syntax error, {}; {}", problem, remedy);
}

// Builds the document like the library's own builder, and refuses what that one lets pass.
class StrictBuilder final : public nlohmann::json_sax<Json> {
 public:
  explicit StrictBuilder(std::string_view text) : text_(text) {}

  Json take() { return std::move(root_); }

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(number_integer_t value) override { return scalar(value); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(value); }
  bool number_float(number_float_t value, const string_t&) override { return scalar(value); }
  bool string(string_t& value) override { return scalar(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    if (level.value->contains(name)) {
      throw InputError(path(), fmt::format("key {} appears twice; keep one of them", in_quotes(name)));
    }
    level.slot = &(*level.value)[name];
    level.key = name;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override {
    throw InputError(line_and_column(text_, position), syntax_error(text_, position, error.what()));
  }

 private:
  struct Level {
    Json* value;
    Json* slot;  // objects: where the value of the current key goes
    std::string key;
  };

  Json* add(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = levels_.back();
    if (level.value->is_array()) {
      level.value->push_back(std::move(value));
      return &level.value->back();
    }
    *level.slot = std::move(value);
    return level.slot;
  }

  bool scalar(Json value) {
    add(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (levels_.size() == kMaxDepth) {
      throw InputError(path(), fmt::format("objects and arrays are nested more than {} deep; no scene element is, "
                                           "remove the inner ones",
                                           kMaxDepth));
    }
    levels_.push_back({add(std::move(value)), nullptr, {}});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  // Where the current container is: "bodies[2].shapes[0]".
  std::string path() const {
    std::string result;
    for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
      const Level& level = levels_[i];
      if (level.value->is_array()) {
        result += fmt::format("[{}]", level.value->size() - 1);
      } else {
        if (!result.empty()) result += '.';
        result += printable(level.key);
      }
    }
    return result.empty() ? "scene" : result;
  }

  std::string_view text_;
  Json root_;
  std::vector<Level> levels_;
};

constexpr std::size_t kLineWidth = 100;
constexpr std::size_t kIndent = 2;

// Vectors, quaternions and inertias stay on one line whatever its width.
bool is_vector(const OrderedJson& value) {
  constexpr std::size_t kMaxNumbers = 9;
  return value.is_array() && !value.empty() && value.size() <= kMaxNumbers &&
         std::all_of(value.begin(), value.end(), [](const OrderedJson& x) { return x.is_number_float(); });
}

// Lists of numbers, points and triangles: as many entries go on a line as fit.
bool is_data(const OrderedJson& value) {
  const auto is_number = [](const OrderedJson& x) { return x.is_number(); };
  const auto is_entry = [&](const OrderedJson& x) {
    return x.is_number() || (x.is_array() && std::all_of(x.begin(), x.end(), is_number));
  };
  return value.is_array() && std::all_of(value.begin(), value.end(), is_entry);
}

// Appends the value on one line; false as soon as the line would exceed the width.
bool print_line(const OrderedJson& value, std::string& out, std::size_t line_start, std::size_t max_width) {
  if (!value.is_structured()) {
    out += value.dump();
    return out.size() - line_start <= max_width;
  }
  const bool object = value.is_object();
  out += object ? '{' : '[';
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (!first) out += ", ";
    first = false;
    if (object) out += OrderedJson(it.key()).dump() + ": ";
    if (!print_line(*it, out, line_start, max_width)) return false;
  }
  out += object ? '}' : ']';
  return out.size() - line_start <= max_width;
}

void print_data(const OrderedJson& value, std::size_t indent, std::string& out) {
  constexpr std::size_t unlimited = std::string::npos;
  out += '[';
  std::size_t line_start = out.size();
  std::string entry;
  for (auto it = value.begin(); it != value.end(); ++it) {
    entry.clear();
    print_line(*it, entry, 0, unlimited);
    const bool first = it == value.begin();
    if (first || out.size() - line_start + 3 + entry.size() > kLineWidth) {
      out += first ? "\n" : ",\n";
      line_start = out.size();
      out.append(indent + kIndent, ' ');
    } else {
      out += ", ";
    }
    out += entry;
  }
  out += '\n';
  out.append(indent, ' ');
  out += ']';
}

void print_value(const OrderedJson& value, std::size_t indent, std::string& out) {
  const std::size_t start = out.size();
  const std::size_t newline = out.rfind('\n');
  const std::size_t line_start = newline == std::string::npos ? 0 : newline + 1;
  if (!value.is_structured()) {
    out += value.dump();
    return;
  }
  const std::size_t max_width = is_vector(value) ? std::string::npos : kLineWidth;
  if (indent > 0 && print_line(value, out, line_start, max_width)) return;
  out.resize(start);
  if (is_data(value)) {
    print_data(value, indent, out);
    return;
  }
  const bool object = value.is_object();
  out += object ? '{' : '[';
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(indent + kIndent, ' ');
    if (object) out += OrderedJson(it.key()).dump() + ": ";
    print_value(*it, indent + kIndent, out);
  }
  out += '\n';
  out.append(indent, ' ');
  out += object ? '}' : ']';
}

std::string type_of(const Json& value) {
  std::string type = value.type_name();
  if (type == "null") return type;
  return (type == "object" || type == "array" ? "an " : "a ") + type;
}

}  // namespace

Json parse_strict(std::string_view text) {
  StrictBuilder builder(text);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string print(const OrderedJson& document) {
  std::string out;
  try {
    print_value(document, 0, out);
  } catch (const OrderedJson::type_error&) {
    throw InputError("model", "a name or the description is not UTF-8; rename it before saving");
  }
  out += '\n';
  return out;
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
  fail_missing({key}, fmt::format("key '{}' is missing; add it, for example \"{}\": {}", full(key), key, example));
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

void ObjectReader::fail_missing(std::initializer_list<std::string_view> keys,
                                const std::string& problem_and_remedy) const {
  for (const std::string_view key : keys) {
    for (const auto& [found, value] : value_->items()) {
      if (std::find(known_.begin(), known_.end(), found) != known_.end() || !is_misspelt(found, key)) continue;
      fail(fmt::format("'{}{}' is unknown; did you mean the required '{}'?", path_, printable(found), full(key)));
    }
  }
  fail(problem_and_remedy);
}

void ObjectReader::wrong_type(std::string_view key, std::string_view expected, const Json& value,
                              std::string_view example) const {
  fail(fmt::format("{} must be {}, is {}; write it like {}", full(key), expected, type_of(value), example));
}

}  // namespace sarrus::json
