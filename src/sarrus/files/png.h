// Grey values of PNG images, for terrain: any colour type and depth without interlacing. Of colours the red one counts.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace sarrus::png {

inline constexpr int kMaxSide = 16384;

struct Image {
  int width = 0;
  int height = 0;
  std::vector<double> grey;  // row by row from the top, 0 to 255
};

// Throws InputError, with a remedy, for anything else.
Image parse(std::string_view bytes);
Image read(const std::filesystem::path& file);

}  // namespace sarrus::png
