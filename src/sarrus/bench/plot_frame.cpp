#include "sarrus/bench/plot_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "sarrus/files/picture.h"

namespace sarrus {
namespace {

using picture::kLines;
using picture::kLinesOnBlack;
constexpr int kColours = static_cast<int>(kLines.size());  // beyond them dashes repeat
constexpr std::array<const char*, 4> kDashes = {"", "7 4", "2 3", "9 3 2 3"};

int colour_of(int look) { return look % kColours; }
std::size_t group_of(int look) { return static_cast<std::size_t>(look / kColours) % kDashes.size(); }

double part(double v, double lower, double upper, Scale scale) {
  if (scale == Scale::linear) return (v - lower) / (upper - lower);
  return std::log(v / lower) / std::log(upper / lower);
}

std::string superscript(int exponent) {
  static constexpr std::array<const char*, 10> kDigits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out = exponent < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(exponent))) out += kDigits[static_cast<std::size_t>(c - '0')];
  return out;
}

// Every n-th tick gets its label: the smallest n for which labels keep clear of each other.
std::size_t label_stride(const PlotFrame& f, const std::vector<double>& ticks) {
  const auto half_width = [&f](double v) {
    return 0.5 * kPlotCharacter * static_cast<double>(letters(tick_label(v, f.x_scale)));
  };
  for (std::size_t stride = 1; stride < ticks.size(); ++stride) {
    bool clear = true;
    for (std::size_t i = stride; i < ticks.size(); i += stride) {
      const double between = f.px(ticks[i]) - f.px(ticks[i - stride]);
      clear = clear && between >= half_width(ticks[i]) + half_width(ticks[i - stride]) + 6;
    }
    if (clear) return stride;
  }
  return std::max<std::size_t>(1, ticks.size());
}

std::string rules(const std::array<const char*, kLines.size()>& colours, const char* text, const char* grid,
                  const char* middle) {
  std::string css = fmt::format(
      "svg.sp text{{fill:{0}}}svg.sp .a{{stroke:{0};fill:none}}svg.sp .g{{stroke:{1}}}"
      "svg.sp .b{{stroke:{2};fill:none;stroke-width:2}}",
      text, grid, middle);
  for (std::size_t i = 0; i < colours.size(); ++i) {
    css += fmt::format("svg.sp .c{0}{{stroke:{1}}}svg.sp .p{0}{{fill:{1}}}", i, colours[i]);
  }
  return css;
}

}  // namespace

double PlotFrame::px(double v) const { return left + (right - left) * part(v, x_lower, x_upper, x_scale); }
double PlotFrame::py(double v) const { return bottom - (bottom - top) * part(v, y_lower, y_upper, y_scale); }

bool drawable(double v, Scale scale) { return std::isfinite(v) && (scale == Scale::linear || v > 0); }

AxisRange axis_range(const Axis& axis, double lower, double upper) {
  if (axis.lower < axis.upper) return {axis.lower, axis.upper};
  if (!(lower <= upper)) lower = upper = 1;
  if (axis.scale == Scale::logarithmic) {
    lower = std::pow(10, std::floor(std::log10(lower) + 1e-9));
    upper = std::pow(10, std::ceil(std::log10(upper) - 1e-9));
    if (lower == upper) upper *= 10;
  } else if (lower == upper) {
    lower -= 0.5;
    upper += 0.5;
  }
  return {lower, upper};
}

std::string tick_label(double v, Scale scale) {
  if (v == 0) return "0";
  const double exponent = std::log10(std::abs(v));
  const bool decade = scale == Scale::logarithmic && std::abs(exponent - std::round(exponent)) < 1e-9;
  if (std::abs(v) >= 0.01 && std::abs(v) < (decade ? 1e4 : 1e5)) return fmt::format("{:g}", v);
  return decade ? "10" + superscript(static_cast<int>(std::lround(exponent))) : fmt::format("{:g}", v);
}

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

void draw_x_axis(const PlotFrame& f, const std::string& label, std::string& out) {
  const auto to = std::back_inserter(out);
  const std::vector<double> ticks = axis_ticks(f.x_lower, f.x_upper, f.x_scale);
  const std::size_t stride = label_stride(f, ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double x = f.px(ticks[i]);
    fmt::format_to(to, "<path class=\"g\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", x, f.top, f.bottom);
    if (i % stride != 0) continue;
    fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, f.bottom + 16,
                   tick_label(ticks[i], f.x_scale));
  }
  fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", 0.5 * (f.left + f.right),
                 f.bottom + 34, escape_xml(label));
}

void draw_y_axis(const PlotFrame& f, const std::string& label, std::string& out) {
  const auto to = std::back_inserter(out);
  double free_below = 1e9;
  for (const double v : axis_ticks(f.y_lower, f.y_upper, f.y_scale)) {
    const double y = f.py(v);
    fmt::format_to(to, "<path class=\"g\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", f.left, y, f.right);
    if (y > free_below) continue;
    free_below = y - 14;
    fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", f.left - 6, y + 4,
                   tick_label(v, f.y_scale));
  }
  fmt::format_to(to, "<path class=\"a\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", f.left, f.top, f.bottom, f.right);
  const double middle = 0.5 * (f.top + f.bottom);
  fmt::format_to(
      to, "<text x=\"14\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {0:.1f})\">{1}</text>\n",
      middle, escape_xml(label));
}

void draw_title(const PlotFrame& f, const std::string& title, std::string& out) {
  if (title.empty()) return;
  out += fmt::format("<text class=\"t\" x=\"{:.1f}\" y=\"20\">{}</text>\n", f.left, escape_xml(title));
}

std::string line_style(int look, bool background) {
  if (background) return "class=\"b\"";
  const char* dash = kDashes[group_of(look)];
  return fmt::format("class=\"s c{}\"{}", colour_of(look),
                     *dash == '\0' ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", dash));
}

void draw_mark(int look, double x, double y, double r, std::string& out) {
  const auto to = std::back_inserter(out);
  const int c = colour_of(look);
  switch (group_of(look)) {
    case 0:
      fmt::format_to(to, "<circle class=\"p{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\"/>", c, x, y, r);
      break;
    case 1:
      fmt::format_to(to, "<path class=\"p{}\" d=\"M{:.1f} {:.1f}h{:g}v{:g}h-{:g}z\"/>", c, x - 0.9 * r, y - 0.9 * r,
                     1.8 * r, 1.8 * r, 1.8 * r);
      break;
    case 2:
      fmt::format_to(to, "<path class=\"p{}\" d=\"M{:.1f} {:.1f}l{:g} {:g}h-{:g}z\"/>", c, x, y - 1.2 * r, 1.2 * r,
                     2.1 * r, 2.4 * r);
      break;
    default:
      fmt::format_to(to, "<path class=\"p{0}\" d=\"M{1:.1f} {2:.1f}l{3:g} {3:g}l-{3:g} {3:g}l-{3:g} -{3:g}z\"/>", c, x,
                     y - 1.3 * r, 1.3 * r);
  }
}

void append_cloud_mark(int look, double x, double y, std::string& path) {
  const auto to = std::back_inserter(path);
  switch (group_of(look)) {
    case 0:  // drawn by the round or square ends of a line without length
    case 1:
      fmt::format_to(to, "M{:.1f} {:.1f}h0", x, y);
      break;
    case 2:
      fmt::format_to(to, "M{:.1f} {:.1f}l1.5 2.6h-3z", x, y - 1.6);
      break;
    default:
      fmt::format_to(to, "M{:.1f} {:.1f}l1.8 1.8-1.8 1.8-1.8-1.8z", x, y - 1.8);
  }
}

std::string cloud_style(int look) {
  const int c = colour_of(look);
  switch (group_of(look)) {
    case 0:
      return fmt::format("class=\"f c{}\" stroke-linecap=\"round\" stroke-width=\"3\"", c);
    case 1:
      return fmt::format("class=\"f c{}\" stroke-linecap=\"square\" stroke-width=\"2.4\"", c);
    default:
      return fmt::format("class=\"f p{}\"", c);
  }
}

std::string plot_style() {
  return "svg.sp text{font:12px system-ui,sans-serif;stroke:none}svg.sp .t{font-weight:600;font-size:14px}"
         "svg.sp .n{font-size:10px}svg.sp .s{fill:none;stroke-width:1.8}svg.sp .f{opacity:.35}"
         "svg.sp g:hover>.s{stroke-width:4}svg.sp g:hover>.f{opacity:1}"
         "svg.sp .w{fill-opacity:.22;stroke-width:1.3}" +
         rules(kLines, "#222", "#dcdcdc", "#a0a0a0") + "@media screen and (prefers-color-scheme:dark){" +
         rules(kLinesOnBlack, "#ddd", "#3a3d44", "#84888f") + "}";
}

std::string svg_open(double width, double height, const std::string& title, bool standalone) {
  std::string out = fmt::format(
      "<svg {3}class=\"sp\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "role=\"img\" aria-label=\"{2}\">\n",
      width, height, escape_xml(title.empty() ? "plot" : title),
      standalone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "");
  if (standalone) out += "<style>" + plot_style() + "</style>\n";
  return out;
}

std::vector<double> axis_ticks(double lower, double upper, Scale scale) {
  std::vector<double> ticks;
  const double slack = 1e-9;
  if (scale == Scale::logarithmic) {
    const double decades = std::log10(upper / lower);
    const int every = std::max(1, static_cast<int>(std::ceil(decades / 9)));
    // Multiples of `every`, so that 1 is among them.
    const int first = static_cast<int>(std::ceil((std::log10(lower) - slack) / every)) * every;
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

}  // namespace sarrus
