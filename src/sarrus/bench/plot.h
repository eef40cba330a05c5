// Plots as SVG text: lines or points over axes that may be logarithmic, with labelled ticks and a legend beside the
// plot. Colours follow the reader's light or dark setting. No script, no font, no file from elsewhere.
#pragma once

#include <string>
#include <vector>

namespace sarrus {

enum class Scale : std::uint8_t { linear, logarithmic };

struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;     // values that are not finite, or <= 0 on a logarithmic axis, are left out
  bool points_only = false;  // no line between them
  bool background = false;   // thin and grey: for comparison
};

struct Axis {
  std::string label;  // with its unit
  Scale scale = Scale::linear;
  // Fixed range; lower >= upper: from the data.
  double lower = 0;
  double upper = 0;
};

struct Plot {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  int width = 720;  // px
  int height = 400;
  std::string note;  // below the plot: what was run
};

// A whole SVG document, or the <svg> element alone for use inside an HTML page.
std::string to_svg(const Plot& plot);

// Ticks of an axis from `lower` to `upper`: decades (or 1, 2, 5 of them), or multiples of 1, 2, 5 x 10^k.
std::vector<double> axis_ticks(double lower, double upper, Scale scale);

// The five characters that XML reserves, escaped.
std::string escape_xml(const std::string& text);

}  // namespace sarrus
