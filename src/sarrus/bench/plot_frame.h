// What every picture of this folder shares: the frame that maps values to pixels, axes, colours, dashes and marks.
//
// A solver keeps one look over all pictures of a page, given by one index: colour = index mod 8, dash and shape of the
// mark = index / 8 mod 4, so that 32 are told apart.
#pragma once

#include <string>
#include <string_view>

#include "sarrus/bench/plot.h"

namespace sarrus {

inline constexpr double kPlotCharacter = 6.6;  // px, mean width of a letter at 12 px
inline constexpr double kLegendLine = 16;      // px

struct PlotFrame {
  double left = 0, top = 0, right = 0, bottom = 0;  // px
  double x_lower = 0, x_upper = 1, y_lower = 0, y_upper = 1;
  Scale x_scale = Scale::linear, y_scale = Scale::linear;

  double px(double v) const;
  double py(double v) const;
};

bool drawable(double v, Scale scale);

// The range of an axis: the one it asks for, else that of the data, to whole decades if logarithmic.
struct AxisRange {
  double lower = 0;
  double upper = 0;
};
AxisRange axis_range(const Axis& axis, double data_lower, double data_upper);

std::string tick_label(double v, Scale scale);
// Letters, not bytes, of a UTF-8 text: for widths.
std::size_t letters(std::string_view text);

// Grid lines, labels that keep clear of each other, the label of the axis; the y axis also draws the frame.
void draw_x_axis(const PlotFrame& frame, const std::string& label, std::string& out);
void draw_y_axis(const PlotFrame& frame, const std::string& label, std::string& out);
void draw_title(const PlotFrame& frame, const std::string& title, std::string& out);

// Attributes of a line, and a mark of a look.
std::string line_style(int look, bool background);
void draw_mark(int look, double x, double y, double radius, std::string& out);
// A mark as a piece of a path, for clouds of points in one element; `cloud_style` has the attributes of that path.
void append_cloud_mark(int look, double x, double y, std::string& path);
std::string cloud_style(int look);

// The opening tag; a standalone picture brings its name space and style sheet.
std::string svg_open(double width, double height, const std::string& title, bool standalone);

}  // namespace sarrus
