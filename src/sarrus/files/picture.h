// What all pictures share, the page of motions (viewer/src/theme.ts has the same colours), the SVG strip and the
// benchmark report: colours, and text of users within markup.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace sarrus::picture {

// Mid-tones that keep their hue; neighbours differ. One for each limb of a mechanism.
inline constexpr std::array<const char*, 8> kLimbs = {"#5b8fc4", "#e2994f", "#6faa78", "#cc6f68",
                                                      "#9382bd", "#55a9a5", "#d8b146", "#c282a9"};
inline constexpr const char* kHub = "#58616f";
inline constexpr const char* kShaft = "#343a44";
// A joint that closes a loop is a disc in a ring.
inline constexpr const char* kDisc = "#fbfbfa";
inline constexpr const char* kRing = "#20242c";
inline constexpr const char* kContact = "#d62f2f";
inline constexpr const char* kAccent = "#0b5cad";

// Lines that are told apart on white and on black, also by most colour-blind readers.
inline constexpr std::array<const char*, 8> kLines = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#8a6d00", "#56a4d9", "#7d3ac1", "#555555"};
inline constexpr std::array<const char*, 8> kLinesOnBlack = {"#4aa8e0", "#ff8a3d", "#35d0a0", "#f0a0cc",
                                                             "#e0c040", "#9ad0f5", "#b98cf0", "#c0c0c0"};

// "#rrggbb" of red, green and blue from 0 to 1.
std::string hex(double red, double green, double blue);
// A colour "#rrggbb" with so much of it (0 to 1) replaced by white, or by black.
std::string tint(std::string_view colour, double white);
std::string shade(std::string_view colour, double black);

}  // namespace sarrus::picture

namespace sarrus {

// The five characters that XML reserves, escaped; control characters that it has no way to write become spaces.
std::string escape_xml(std::string_view text);

}  // namespace sarrus
