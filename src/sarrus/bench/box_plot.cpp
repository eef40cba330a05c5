#include "sarrus/bench/box_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "sarrus/bench/plot_frame.h"
#include "sarrus/bench/statistics.h"

namespace sarrus {
namespace {

constexpr double kNarrowest = 11;     // px per box: a turned line of 10 px text fits
constexpr double kSmallLetter = 5.6;  // px at 10 px
constexpr double kTurn = 40;          // degrees
constexpr int kMostOutliers = 12;     // drawn per box

struct Counted {
  std::vector<double> shown;
  int failed = 0;
  int total() const { return static_cast<int>(shown.size()) + failed; }
};

Counted counted(const Box& box, Scale scale) {
  Counted c;
  c.failed = box.failed;
  for (const double v : box.values) {
    if (drawable(v, scale)) {
      c.shown.push_back(v);
    } else {
      ++c.failed;
    }
  }
  return c;
}

struct Layout {
  PlotFrame frame;
  double slot = 0;      // px per category
  double box = 0;       // px per box
  bool turned = false;  // category labels
  bool upright = true;  // failure labels run along x
  double label_depth = 0;
  double legend_top = 0;
  double width = 0, height = 0;
};

std::string failure_text(const Counted& c) { return fmt::format("{}/{} failed", c.failed, c.total()); }

Layout layout_of(const BoxPlot& plot) {
  Layout l;
  double lower = std::numeric_limits<double>::infinity();
  double upper = -lower;
  std::size_t longest_failure = 0, longest_label = 1, longest_name = 0;
  for (const BoxSeries& s : plot.series) {
    longest_name = std::max(longest_name, letters(s.name));
    for (const Box& b : s.boxes) {
      const Counted c = counted(b, plot.y.scale);
      for (const double v : c.shown) {
        lower = std::min(lower, v);
        upper = std::max(upper, v);
      }
      if (c.failed > 0) longest_failure = std::max(longest_failure, failure_text(c).size());
    }
  }
  for (const std::string& c : plot.categories) longest_label = std::max(longest_label, letters(c));
  const double categories = static_cast<double>(std::max<std::size_t>(1, plot.categories.size()));
  const double series = static_cast<double>(std::max<std::size_t>(1, plot.series.size()));
  PlotFrame& f = l.frame;
  f.left = 66;
  l.width = std::max<double>(plot.width, f.left + 16 + categories * (series * kNarrowest + 8));
  f.right = l.width - 16;
  l.slot = (f.right - f.left) / categories;
  l.box = std::min(46.0, (l.slot - 8) / series);
  const double failure_length = kSmallLetter * static_cast<double>(longest_failure);
  l.upright = failure_length + 4 <= l.box;
  const double band = longest_failure == 0 ? 0 : l.upright ? 16 : failure_length + 8;
  f.top = (plot.title.empty() ? 14 : 34) + band;
  f.bottom = plot.height + band - 46;
  const double label_length = kPlotCharacter * static_cast<double>(longest_label);
  l.turned = label_length + 8 > l.slot;
  l.label_depth = l.turned ? 14 + label_length * std::sin(kTurn * 3.14159265358979 / 180) + 8 : 26;
  // A turned label ends at its box; the first one must not run out of the picture.
  if (l.turned) {
    const double reach = label_length * std::cos(kTurn * 3.14159265358979 / 180) - 0.5 * l.slot;
    const double shift = std::max(0.0, reach - f.left + 4);
    f.left += shift;
    f.right += shift;
    l.width += shift;
  }
  l.legend_top = f.bottom + l.label_depth + 10;
  l.height = l.legend_top;
  if (plot.series.size() > 1) {
    const double column = 40 + kPlotCharacter * static_cast<double>(longest_name);
    const double columns = std::max(1.0, std::floor((f.right - f.left) / column));
    l.height += kLegendLine * std::ceil(series / columns) + 6;
  }
  const AxisRange y = axis_range(plot.y, lower, upper);
  f.y_lower = y.lower;
  f.y_upper = y.upper;
  f.y_scale = plot.y.scale;
  return l;
}

void draw_box(const Layout& l, const Counted& c, const std::string& name, int look, double x, std::string& out) {
  const auto to = std::back_inserter(out);
  const PlotFrame& f = l.frame;
  const auto y = [&f](double v) { return f.py(std::clamp(v, f.y_lower, f.y_upper)); };
  const double half = std::max(2.5, 0.5 * l.box - 1.5);
  fmt::format_to(to, "<g class=\"c{}\"><title>{}: {} of {}</title>", look % 8, escape_xml(name), c.shown.size(),
                 c.total());
  if (!c.shown.empty()) {
    const BoxStatistics b = box_statistics(c.shown);
    fmt::format_to(to, "<path class=\"w c{0} p{0}\" d=\"M{1:.1f} {2:.1f}V{3:.1f}M{1:.1f} {4:.1f}V{5:.1f}", look % 8, x,
                   y(b.low), y(b.quarter), y(b.three_quarters), y(b.high));
    fmt::format_to(to, "M{:.1f} {:.1f}h{:.1f}V{:.1f}h-{:.1f}z\"/>", x - half, y(b.quarter), 2 * half,
                   y(b.three_quarters), 2 * half);
    fmt::format_to(to, "<path class=\"c{}\" stroke-width=\"2.6\" d=\"M{:.1f} {:.1f}h{:.1f}\"/>", look % 8, x - half,
                   y(b.median), 2 * half);
    // The extreme ones at both ends; the many in between would only add ink.
    std::string dots;
    const int n = static_cast<int>(b.outliers.size());
    for (int i = 0; i < n; ++i) {
      if (i >= kMostOutliers / 2 && i < n - kMostOutliers / 2) continue;
      fmt::format_to(std::back_inserter(dots), "M{:.1f} {:.1f}h0", x, y(b.outliers[static_cast<std::size_t>(i)]));
    }
    if (n > 0) {
      fmt::format_to(to, "<path class=\"c{}\" stroke-linecap=\"round\" stroke-width=\"2.8\" d=\"{}\"/>", look % 8,
                     dots);
    }
  }
  if (c.failed > 0) {
    const double top = f.top - 5;
    if (l.upright) {
      fmt::format_to(to, "<text class=\"n\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", x, top,
                     failure_text(c));
    } else {
      fmt::format_to(
          to, "<text class=\"n\" x=\"{0:.1f}\" y=\"{1:.1f}\" transform=\"rotate(-90 {0:.1f} {1:.1f})\">{2}</text>",
          x + 3.5, top, failure_text(c));
    }
  }
  out += "</g>\n";
}

void draw_categories(const BoxPlot& plot, const Layout& l, std::string& out) {
  const auto to = std::back_inserter(out);
  const PlotFrame& f = l.frame;
  for (std::size_t k = 0; k < plot.categories.size(); ++k) {
    const double x = f.left + l.slot * (static_cast<double>(k) + 0.5);
    if (k > 0) fmt::format_to(to, "<path class=\"g\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", x - 0.5 * l.slot, f.top, f.bottom);
    const std::string label = escape_xml(plot.categories[k]);
    if (l.turned) {
      fmt::format_to(to,
                     "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"end\" transform=\"rotate(-{2} {0:.1f} "
                     "{1:.1f})\">{3}</text>\n",
                     x + 4, f.bottom + 14, kTurn, label);
    } else {
      fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, f.bottom + 17, label);
    }
  }
}

void draw_legend(const BoxPlot& plot, const Layout& l, std::string& out) {
  if (plot.series.size() < 2) return;
  std::size_t longest = 1;
  for (const BoxSeries& s : plot.series) longest = std::max(longest, letters(s.name));
  const double column = 40 + kPlotCharacter * static_cast<double>(longest);
  const std::size_t columns =
      static_cast<std::size_t>(std::max(1.0, std::floor((l.frame.right - l.frame.left) / column)));
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const double x = l.frame.left + column * static_cast<double>(i % columns);
    const double y = l.legend_top + 8 + kLegendLine * static_cast<double>(i / columns);
    out += fmt::format(
        "<path class=\"w c{0} p{0}\" d=\"M{1:.1f} {2:.1f}h14v9h-14z\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>\n",
        plot.series[i].look % 8, x, y - 5, x + 20, y + 4, escape_xml(plot.series[i].name));
  }
}

std::string draw(const BoxPlot& plot, bool standalone) {
  const Layout l = layout_of(plot);
  std::string out = svg_open(l.width, l.height, plot.title, standalone);
  draw_title(l.frame, plot.title, out);
  draw_y_axis(l.frame, plot.y.label, out);
  draw_categories(plot, l, out);
  const double half = 0.5 * static_cast<double>(plot.series.size());
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const BoxSeries& s = plot.series[i];
    for (std::size_t k = 0; k < std::min(s.boxes.size(), plot.categories.size()); ++k) {
      const Counted c = counted(s.boxes[k], plot.y.scale);
      if (c.total() == 0) continue;
      const double x =
          l.frame.left + l.slot * (static_cast<double>(k) + 0.5) + l.box * (static_cast<double>(i) + 0.5 - half);
      const int look = s.boxes[k].look >= 0 ? s.boxes[k].look : s.look;
      draw_box(l, c, s.name.empty() ? plot.categories[k] : s.name + ", " + plot.categories[k], look, x, out);
    }
  }
  draw_legend(plot, l, out);
  return out + "</svg>\n";
}

}  // namespace

std::string to_inline_svg(const BoxPlot& plot) { return draw(plot, false); }
std::string to_svg(const BoxPlot& plot) { return draw(plot, true); }

}  // namespace sarrus
