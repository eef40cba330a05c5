// Box plots as SVG: for every category (a system, say) and every series (a solver) a box from the lower to the upper
// quartile, a line at the median, whiskers from 5 % to 95 %, dots beyond them, and above the box how many failed.
#pragma once

#include <string>
#include <vector>

#include "sarrus/bench/plot.h"

namespace sarrus {

struct Box {
  std::vector<double> values;  // that the axis cannot show (not finite, <= 0 if logarithmic) count as failed
  int failed = 0;              // besides; shown as "3/20 failed"
  int look = -1;               // -1: that of the series
};

struct BoxSeries {
  std::string name;
  int look = 0;            // plot_frame.h; colour alone is used
  std::vector<Box> boxes;  // by category
};

struct BoxPlot {
  std::string title;
  Axis y;
  std::vector<std::string> categories;  // their labels are turned where they would touch
  std::vector<BoxSeries> series;        // more than one: a legend below
  int width = 1080;                     // px; grows if the boxes would become too narrow
  int height = 420;                     // px, without turned labels and legend
};

std::string to_inline_svg(const BoxPlot& plot);
std::string to_svg(const BoxPlot& plot);

}  // namespace sarrus
