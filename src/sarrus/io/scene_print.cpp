#include "sarrus/io/scene_print.h"

#include <algorithm>
#include <cstddef>

#include "sarrus/math/error.h"

namespace sarrus::scene {
namespace {

constexpr std::size_t kLineWidth = 100;
constexpr std::size_t kIndent = 2;

// Vectors and quaternions stay on one line whatever its width.
bool is_vector(const OrderedJson& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const OrderedJson& x) { return x.is_number_float(); });
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

void print(const OrderedJson& value, std::size_t indent, std::string& out) {
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
  const bool object = value.is_object();
  out += object ? '{' : '[';
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(indent + kIndent, ' ');
    if (object) out += OrderedJson(it.key()).dump() + ": ";
    print(*it, indent + kIndent, out);
  }
  out += '\n';
  out.append(indent, ' ');
  out += object ? '}' : ']';
}

}  // namespace

std::string print_json(const OrderedJson& document) {
  std::string out;
  try {
    print(document, 0, out);
  } catch (const OrderedJson::type_error&) {
    throw InputError("model", "a name or the description is not UTF-8; rename it before saving");
  }
  out += '\n';
  return out;
}

}  // namespace sarrus::scene
