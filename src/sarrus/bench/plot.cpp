#include "sarrus/bench/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "sarrus/bench/plot_frame.h"

namespace sarrus {
namespace {

constexpr int kLegendLength = 26;       // px, of a line in the legend: shows a whole dash
constexpr int kLegendGap = 26;          // px: the last label of the x axis ends before
constexpr std::size_t kFewPoints = 40;  // up to so many points a line also gets marks

AxisRange fit(const Plot& plot, bool along_x) {
  double lower = std::numeric_limits<double>::infinity();
  double upper = -lower;
  for (const Series& s : plot.series) {
    for (std::size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
      if (!drawable(s.x[i], plot.x.scale) || !drawable(s.y[i], plot.y.scale)) continue;
      const double v = along_x ? s.x[i] : s.y[i];
      lower = std::min(lower, v);
      upper = std::max(upper, v);
    }
  }
  return axis_range(along_x ? plot.x : plot.y, lower, upper);
}

// Marks only where there are few: a step function with hundreds of corners is a line.
bool has_marks(const Series& s) { return !s.background && !s.no_marks && (s.points_only || s.x.size() <= kFewPoints); }

struct Point {
  double x = 0, y = 0;
  bool joined = false;  // to the point before
};

std::vector<Point> points_of(const Plot& plot, const PlotFrame& f, const Series& s) {
  std::vector<Point> points;
  bool pen_down = false;
  for (std::size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
    if (!drawable(s.x[i], plot.x.scale) || !drawable(s.y[i], plot.y.scale)) {
      pen_down = false;
      continue;
    }
    points.push_back(
        {f.px(std::clamp(s.x[i], f.x_lower, f.x_upper)), f.py(std::clamp(s.y[i], f.y_lower, f.y_upper)), pen_down});
    pen_down = true;
  }
  return points;
}

// Steps are written as H and V: half the text of a profile.
std::string path_of(const std::vector<Point>& points) {
  std::string path, last_x, last_y;
  for (const Point& p : points) {
    const std::string x = fmt::format("{:.1f}", p.x);
    const std::string y = fmt::format("{:.1f}", p.y);
    if (!p.joined) {
      path += fmt::format("M{} {}", x, y);
    } else if (x == last_x && y == last_y) {
      continue;
    } else if (y == last_y) {
      path += "H" + x;
    } else if (x == last_x) {
      path += "V" + y;
    } else {
      path += fmt::format("L{} {}", x, y);
    }
    last_x = x;
    last_y = y;
  }
  return path;
}

void draw_series(const Plot& plot, const PlotFrame& f, const Series& s, int look, std::string& out) {
  const std::vector<Point> points = points_of(plot, f, s);
  if (points.empty()) return;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "<g><title>{}</title>", escape_xml(s.name));
  if (s.cloud) {
    std::string path;
    for (const Point& p : points) append_cloud_mark(look, p.x, p.y, path);
    fmt::format_to(to, "<path {} d=\"{}\"/>", cloud_style(look), path);
  } else {
    if (!s.points_only) fmt::format_to(to, "<path {} d=\"{}\"/>\n", line_style(look, s.background), path_of(points));
    if (has_marks(s)) {
      for (const Point& p : points) draw_mark(look, p.x, p.y, plot.mark_radius, out);
    }
  }
  out += "</g>\n";
}

void draw_legend_entry(const Series& s, int look, double x, double y, std::string& out) {
  const auto to = std::back_inserter(out);
  if (!s.points_only || s.background)
    fmt::format_to(to, "<path {} d=\"M{:.1f} {:.1f}h{}\"/>", line_style(look, s.background), x, y, kLegendLength);
  if (has_marks(s)) draw_mark(look, x + 0.5 * kLegendLength, y, s.points_only ? 3.4 : 2.6, out);
  fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + kLegendLength + 6, y + 4, escape_xml(s.name));
}

std::vector<int> looks_of(const Plot& plot) {
  std::vector<int> looks;
  int next = 0;
  for (const Series& s : plot.series) looks.push_back(s.look >= 0 ? s.look : s.background ? 0 : next++);
  return looks;
}

bool in_legend(const Plot& plot, const Series& s) { return plot.legend && !s.cloud && !s.no_legend; }

std::string draw(const Plot& plot, bool standalone) {
  std::size_t longest = 0, entries = 0;
  for (const Series& s : plot.series) {
    if (!in_legend(plot, s)) continue;
    longest = std::max(longest, letters(s.name));
    ++entries;
  }
  PlotFrame f;
  f.left = 66;
  f.top = plot.title.empty() ? 14 : 34;
  f.right = plot.width -
            (entries == 0 ? 20 : kLegendGap + kLegendLength + 10 + kPlotCharacter * static_cast<double>(longest));
  f.bottom = plot.height - (plot.note.empty() ? 46 : 64);
  f.x_scale = plot.x.scale;
  f.y_scale = plot.y.scale;
  const AxisRange x = fit(plot, true), y = fit(plot, false);
  f.x_lower = x.lower;
  f.x_upper = x.upper;
  f.y_lower = y.lower;
  f.y_upper = y.upper;
  // A long legend makes the picture taller instead of running out of it.
  const double height = std::max<double>(plot.height, f.top + kLegendLine * static_cast<double>(entries) + 24);

  std::string out = svg_open(plot.width, height, plot.title, standalone);
  draw_title(f, plot.title, out);
  draw_x_axis(f, plot.x.label, out);
  draw_y_axis(f, plot.y.label, out);
  const std::vector<int> looks = looks_of(plot);
  // What is for comparison lies below, clouds under lines and single points.
  for (const int layer : {0, 1, 2}) {
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      const Series& s = plot.series[i];
      if ((s.background ? 0 : s.cloud ? 1 : 2) == layer) draw_series(plot, f, s, looks[i], out);
    }
  }
  double line = f.top + 8;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    if (!in_legend(plot, plot.series[i])) continue;
    draw_legend_entry(plot.series[i], looks[i], f.right + kLegendGap, line, out);
    line += kLegendLine;
  }
  if (!plot.note.empty()) {
    fmt::format_to(std::back_inserter(out), "<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", f.left, plot.height - 10,
                   escape_xml(plot.note));
  }
  out += "</svg>\n";
  return out;
}

}  // namespace

std::string to_svg(const Plot& plot) { return draw(plot, true); }
std::string to_inline_svg(const Plot& plot) { return draw(plot, false); }

std::string legend_svg(const std::vector<LegendEntry>& entries, int width, bool marks) {
  std::size_t longest = 1;
  for (const LegendEntry& e : entries) longest = std::max(longest, letters(e.name));
  const double column = kLegendLength + 26 + kPlotCharacter * static_cast<double>(longest);
  const std::size_t columns = static_cast<std::size_t>(std::max(1.0, std::floor(width / column)));
  const std::size_t rows = (entries.size() + columns - 1) / columns;
  std::string out = svg_open(width, kLegendLine * static_cast<double>(rows) + 8, "legend", false);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Series s;
    s.name = entries[i].name;
    s.no_marks = !marks;
    draw_legend_entry(s, entries[i].look, 4 + column * static_cast<double>(i % columns),
                      12 + kLegendLine * static_cast<double>(i / columns), out);
  }
  return out + "</svg>\n";
}

}  // namespace sarrus
