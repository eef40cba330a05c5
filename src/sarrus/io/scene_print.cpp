#include "sarrus/io/scene_print.h"

#include <algorithm>
#include <cstddef>

#include "sarrus/math/error.h"

namespace sarrus::scene {
namespace {

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
