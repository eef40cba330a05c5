#include "sarrus/bench/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

namespace sarrus {
namespace {

// Colours that are told apart on white and on black, also by most colour-blind readers; beyond them dashes repeat.
constexpr int kColours = 8;
constexpr std::array<const char*, kColours> kLight = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#8a6d00", "#56a4d9", "#7d3ac1", "#555555"};
constexpr std::array<const char*, kColours> kDark = {"#4aa8e0", "#ff8a3d", "#35d0a0", "#f0a0cc",
                                                     "#e0c040", "#9ad0f5", "#b98cf0", "#c0c0c0"};
constexpr std::array<const char*, 4> kDashes = {"", "7 4", "2 3", "9 3 2 3"};

constexpr double kCharacter = 6.6;  // width of a letter at 12 px

struct Frame {
  double left, top, right, bottom;  // px
  double x_lower, x_upper, y_lower, y_upper;
  Scale x_scale, y_scale;

  static double part(double v, double lower, double upper, Scale scale) {
    if (scale == Scale::linear) return (v - lower) / (upper - lower);
    return std::log(v / lower) / std::log(upper / lower);
  }
  double px(double v) const { return left + (right - left) * part(v, x_lower, x_upper, x_scale); }
  double py(double v) const { return bottom - (bottom - top) * part(v, y_lower, y_upper, y_scale); }
};

bool drawable(double v, Scale scale) { return std::isfinite(v) && (scale == Scale::linear || v > 0); }

void fit(const Plot& plot, bool along_x, double& lower, double& upper) {
  const Axis& axis = along_x ? plot.x : plot.y;
  if (axis.lower < axis.upper) {
    lower = axis.lower;
    upper = axis.upper;
    return;
  }
  lower = std::numeric_limits<double>::infinity();
  upper = -lower;
  for (const Series& s : plot.series) {
    for (std::size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
      if (!drawable(s.x[i], plot.x.scale) || !drawable(s.y[i], plot.y.scale)) continue;
      const double v = along_x ? s.x[i] : s.y[i];
      lower = std::min(lower, v);
      upper = std::max(upper, v);
    }
  }
  if (!(lower <= upper)) lower = upper = 1;
  if (axis.scale == Scale::logarithmic) {
    lower = std::pow(10, std::floor(std::log10(lower) + 1e-9));
    upper = std::pow(10, std::ceil(std::log10(upper) - 1e-9));
    if (lower == upper) upper *= 10;
  } else if (lower == upper) {
    lower -= 0.5;
    upper += 0.5;
  }
}

std::string tick_label(double v, Scale scale) {
  if (v == 0) return "0";
  const double exponent = std::log10(std::abs(v));
  const bool decade = scale == Scale::logarithmic && std::abs(exponent - std::round(exponent)) < 1e-9;
  if (std::abs(v) >= 0.01 && std::abs(v) < 1e5) return fmt::format("{:g}", v);
  return decade ? fmt::format("1e{:.0f}", exponent) : fmt::format("{:g}", v);
}

void draw_axes(const Plot& plot, const Frame& f, std::string& out) {
  const auto to = std::back_inserter(out);
  for (const double v : axis_ticks(f.x_lower, f.x_upper, f.x_scale)) {
    const double x = f.px(v);
    fmt::format_to(to, "<path class=\"g\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", x, f.top, f.bottom);
    fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, f.bottom + 16,
                   tick_label(v, f.x_scale));
  }
  for (const double v : axis_ticks(f.y_lower, f.y_upper, f.y_scale)) {
    const double y = f.py(v);
    fmt::format_to(to, "<path class=\"g\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", f.left, y, f.right);
    fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", f.left - 6, y + 4,
                   tick_label(v, f.y_scale));
  }
  fmt::format_to(to, "<path class=\"a\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", f.left, f.top, f.bottom, f.right);
  fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", 0.5 * (f.left + f.right),
                 f.bottom + 34, escape_xml(plot.x.label));
  const double middle = 0.5 * (f.top + f.bottom);
  fmt::format_to(
      to, "<text x=\"14\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {0:.1f})\">{1}</text>\n",
      middle, escape_xml(plot.y.label));
}

std::string style_of(int index, bool background) {
  if (background) return "class=\"b\"";
  const char* dash = kDashes[static_cast<std::size_t>(index / kColours) % kDashes.size()];
  return fmt::format("class=\"s c{}\"{}", index % kColours,
                     *dash == '\0' ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", dash));
}

void draw_series(const Plot& plot, const Frame& f, const Series& s, int index, std::string& out) {
  const auto to = std::back_inserter(out);
  std::string path, marks;
  bool pen_down = false;
  for (std::size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
    if (!drawable(s.x[i], plot.x.scale) || !drawable(s.y[i], plot.y.scale)) {
      pen_down = false;
      continue;
    }
    const double x = f.px(std::clamp(s.x[i], f.x_lower, f.x_upper));
    const double y = f.py(std::clamp(s.y[i], f.y_lower, f.y_upper));
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x, y);
    if (!s.background)
      marks += fmt::format("<circle class=\"p{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"/>", index % kColours, x, y);
    pen_down = true;
  }
  if (!s.points_only && !path.empty()) fmt::format_to(to, "<path {} d=\"{}\"/>\n", style_of(index, s.background), path);
  // Marks only where there are few: a step function with hundreds of corners is a line.
  if (s.points_only || s.x.size() <= 40) out += marks + "\n";
}

void draw_legend(const Plot& plot, const Frame& f, std::string& out) {
  const auto to = std::back_inserter(out);
  double y = f.top + 8;
  int index = 0;
  for (const Series& s : plot.series) {
    const double x = f.right + 12;
    fmt::format_to(to, "<path {} d=\"M{:.1f} {:.1f}h18\"/>", style_of(index, s.background), x, y);
    if (!s.background) {
      fmt::format_to(to, "<circle class=\"p{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"/>", index % kColours, x + 9, y);
      ++index;
    }
    fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 24, y + 4, escape_xml(s.name));
    y += 16;
  }
}

std::string style_sheet() {
  const auto rules = [](const std::array<const char*, kColours>& colours, const char* text, const char* grid) {
    std::string css = fmt::format(
        "text{{fill:{0}}}.a{{stroke:{0};fill:none}}.g{{stroke:{1}}}.b{{stroke:{1};fill:none;stroke-width:2}}", text,
        grid);
    for (std::size_t i = 0; i < colours.size(); ++i) {
      css += fmt::format(".c{0}{{stroke:{1}}}.p{0}{{fill:{1}}}", i, colours[i]);
    }
    return css;
  };
  return "<style>text{font:12px system-ui,sans-serif}.t{font-weight:600;font-size:14px}.s{fill:none;stroke-width:1.8}" +
         rules(kLight, "#222", "#d8d8d8") + "@media(prefers-color-scheme:dark){" + rules(kDark, "#ddd", "#444") +
         "}</style>\n";
}

}  // namespace

std::string escape_xml(const std::string& text) {
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
        out += c;
    }
  }
  return out;
}

std::vector<double> axis_ticks(double lower, double upper, Scale scale) {
  std::vector<double> ticks;
  const double slack = 1e-9;
  if (scale == Scale::logarithmic) {
    const double decades = std::log10(upper / lower);
    const int every = std::max(1, static_cast<int>(std::ceil(decades / 9)));
    const int first = static_cast<int>(std::ceil(std::log10(lower) - slack));
    for (int e = first; e <= std::log10(upper) + slack; e += every) ticks.push_back(std::pow(10.0, e));
    if (ticks.size() >= 3) return ticks;
    ticks.clear();
    for (int e = static_cast<int>(std::floor(std::log10(lower))); e <= std::log10(upper) + slack; ++e) {
      for (const double m : {1.0, 2.0, 5.0}) {
        const double v = m * std::pow(10.0, e);
        if (v >= lower * (1 - slack) && v <= upper * (1 + slack)) ticks.push_back(v);
      }
    }
    return ticks;
  }
  const double rough = (upper - lower) / 6;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = rough / power <= 1   ? power
                      : rough / power <= 2 ? 2 * power
                      : rough / power <= 5 ? 5 * power
                                           : 10 * power;
  for (double k = std::ceil(lower / step - slack); k * step <= upper + slack * step; k += 1) {
    ticks.push_back(k == 0 ? 0.0 : k * step);
  }
  return ticks;
}

std::string to_svg(const Plot& plot) {
  std::size_t longest = 0;
  for (const Series& s : plot.series) longest = std::max(longest, s.name.size());
  Frame f{};
  f.left = 66;
  f.top = plot.title.empty() ? 14 : 34;
  f.right = plot.width - 44 - kCharacter * static_cast<double>(longest);
  f.bottom = plot.height - (plot.note.empty() ? 46 : 64);
  f.x_scale = plot.x.scale;
  f.y_scale = plot.y.scale;
  fit(plot, true, f.x_lower, f.x_upper);
  fit(plot, false, f.y_lower, f.y_upper);
  // A long legend makes the picture taller instead of running out of it.
  const int height =
      std::max(plot.height, static_cast<int>(f.top + 16.0 * static_cast<double>(plot.series.size()) + 24));

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n",
      plot.width, height);
  out += style_sheet();
  const auto to = std::back_inserter(out);
  if (!plot.title.empty()) {
    fmt::format_to(to, "<text class=\"t\" x=\"{:.1f}\" y=\"20\">{}</text>\n", f.left, escape_xml(plot.title));
  }
  draw_axes(plot, f, out);
  for (const Series& s : plot.series) {
    if (s.background) draw_series(plot, f, s, 0, out);
  }
  int index = 0;
  for (const Series& s : plot.series) {
    if (!s.background) draw_series(plot, f, s, index++, out);
  }
  draw_legend(plot, f, out);
  if (!plot.note.empty()) {
    fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", f.left, plot.height - 10, escape_xml(plot.note));
  }
  out += "</svg>\n";
  return out;
}

}  // namespace sarrus
