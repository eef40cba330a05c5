#include "sarrus/robot_files/closed_loop_lists.h"

#include <fmt/format.h>

#include <map>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus::robot {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The words of a line: what is in quotes, or has no space, bracket or comma in it. A dash alone is no word, and what
// follows # is a comment.
void add_words(std::string_view line, std::vector<std::string>& words) {
  for (std::size_t i = 0; i < line.size();) {
    const char c = line[i];
    if (c == '#') return;
    if (is_space(c) || c == '[' || c == ']' || c == ',') {
      ++i;
      continue;
    }
    if (c == '"' || c == '\'') {
      const std::size_t end = line.find(c, i + 1);
      if (end == std::string_view::npos) throw InputError("", "a quotation does not end in its line; close it");
      words.emplace_back(line.substr(i + 1, end - i - 1));
      i = end + 1;
      continue;
    }
    const std::size_t begin = i;
    while (i < line.size() && !is_space(line[i]) && line[i] != '[' && line[i] != ']' && line[i] != ',') ++i;
    const std::string_view word = line.substr(begin, i - begin);
    if (word != "-") words.emplace_back(word);
  }
}

}  // namespace

std::vector<ListedLoop> read_closed_loops(const std::filesystem::path& file) {
  constexpr std::uintmax_t kMostBytes = 1 << 20;
  const std::string text = read_file(file, "a list of closed loops (YAML)", kMostBytes);
  std::map<std::string, std::vector<std::string>> values;
  try {
    std::string key;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string_view line(text.data() + begin, end - begin);
      begin = end + 1;
      const std::size_t colon = line.find(':');
      const bool is_key = !line.empty() && !is_space(line[0]) && line[0] != '-' && line[0] != '#' && line[0] != '[' &&
                          line[0] != ']' && colon != std::string_view::npos;
      if (is_key) {
        key = line.substr(0, colon);
        line.remove_prefix(colon + 1);
      }
      if (key == "closed_loop" || key == "type") add_words(line, values[key]);
    }
    const std::vector<std::string>& ends = values["closed_loop"];
    const std::vector<std::string>& types = values["type"];
    if (ends.empty() || ends.size() % 2 != 0) {
      throw InputError("", fmt::format("closed_loop names {} frames; give pairs: closed_loop: [[a, b]]", ends.size()));
    }
    if (!types.empty() && types.size() != ends.size() / 2) {
      throw InputError("", fmt::format("there are {} loops and {} types; give as many", ends.size() / 2, types.size()));
    }
    std::vector<ListedLoop> loops;
    for (std::size_t i = 0; i < ends.size() / 2; ++i) {
      const std::string type = types.empty() ? "6d" : types[i];
      if (type != "3d" && type != "6d")
        throw InputError("", fmt::format("the type {} is neither 3d nor 6d; correct it", in_quotes(type)));
      loops.push_back({ends[2 * i], ends[2 * i + 1], type == "6d"});
    }
    return loops;
  } catch (const InputError& error) {
    if (!error.element().empty()) throw;
    throw InputError(file.string(), error.what());
  }
}

}  // namespace sarrus::robot
