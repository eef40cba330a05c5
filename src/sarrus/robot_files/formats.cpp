#include "sarrus/robot_files/formats.h"

#include <array>

namespace sarrus::robot {
namespace {

constexpr std::array<Format, 0> kFormats = {};

}  // namespace

const Format* format_of(std::string_view root) {
  for (const Format& f : kFormats) {
    if (root == f.root) return &f;
  }
  return nullptr;
}

}  // namespace sarrus::robot
