#include "sarrus/io/scene_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sarrus/io/scene_reader.h"
#include "sarrus/math/error.h"

namespace sarrus::scene {
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

}  // namespace

Json parse_strict_json(std::string_view text) {
  StrictBuilder builder(text);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace sarrus::scene
