// Plots as SVG text: lines or points over axes that may be logarithmic, with labelled ticks and a legend beside the
// plot. Colours follow the reader's light or dark setting; prints are light. No script, no font, no file from
// elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sarrus/files/picture.h"  // escape_xml()

namespace sarrus {

enum class Scale : std::uint8_t { linear, logarithmic };

struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;     // values that are not finite, or <= 0 on a logarithmic axis, are left out
  bool points_only = false;  // no line between them
  bool background = false;   // thin and grey: for comparison
  int look = -1;             // colour, dash and mark (plot_frame.h); -1: the place among the series
  bool cloud = false;        // small faint points in one element, not in the legend
  bool no_legend = false;
  bool no_marks = false;
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
  bool legend = true;
  double mark_radius = 2.6;  // px
};

// A whole SVG document with its style sheet.
std::string to_svg(const Plot& plot);

// The <svg> element alone for use inside an HTML page that has `plot_style` once. Its rules hold inside of pictures
// only (svg.sp).
std::string to_inline_svg(const Plot& plot);
std::string plot_style();

// A legend of its own, in columns, for a row of plots that share it.
struct LegendEntry {
  std::string name;
  int look = 0;
};
std::string legend_svg(const std::vector<LegendEntry>& entries, int width, bool marks = true);

// Ticks of an axis from `lower` to `upper`: decades (or 1, 2, 5 of them), or multiples of 1, 2, 5 x 10^k.
std::vector<double> axis_ticks(double lower, double upper, Scale scale);

}  // namespace sarrus
