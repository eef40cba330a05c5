#include "sarrus/files/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sarrus {
namespace picture {
namespace {

std::string mixed(std::string_view colour, double with, double share) {
  std::array<double, 3> c = {};
  for (std::size_t i = 0; i < c.size(); ++i) {
    int value = 0;
    std::from_chars(colour.data() + 1 + 2 * i, colour.data() + 3 + 2 * i, value, 16);
    c[i] = (1 - share) * value / 255.0 + share * with;
  }
  return hex(c[0], c[1], c[2]);
}

}  // namespace

std::string hex(double red, double green, double blue) {
  const auto byte = [](double x) { return static_cast<int>(std::lround(255 * std::clamp(x, 0.0, 1.0))); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(red), byte(green), byte(blue));
}

std::string tint(std::string_view colour, double white) { return mixed(colour, 1, white); }
std::string shade(std::string_view colour, double black) { return mixed(colour, 0, black); }

}  // namespace picture

std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

}  // namespace sarrus
